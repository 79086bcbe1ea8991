//! Programs that are evaluated on.

use std::fmt;
use std::fs;
use std::str::FromStr;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_dataset::generate::program_at;
use ndbg_dataset::profile::Profile;

use super::items;
use crate::dataset::{self, Runner};
use crate::fix::stop::Stop;
use crate::outcome::Outcome;

/// Where programs come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Data {
    /// Random programs.
    Generated,
    /// Functions with an input: JSON lines with `code` and `input`.
    Items(Utf8PathBuf),
    /// Python files: their plain functions, with inputs that are drawn.
    Files(Utf8PathBuf),
}

impl FromStr for Data {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let path = Utf8PathBuf::from(text);
        Ok(match path.extension() {
            _ if text == "generated" => Self::Generated,
            Some("jsonl" | "json") if !path.is_dir() => Self::Items(path),
            _ => Self::Files(path),
        })
    }
}

impl fmt::Display for Data {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Generated => out.write_str("generated programs"),
            // Where a file lies is nobody's business, and differs from machine to machine.
            Self::Items(path) | Self::Files(path) => {
                out.write_str(path.file_name().unwrap_or(path.as_str()))
            }
        }
    }
}

/// A program and a call in it.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its name.
    pub id: String,
    /// Its module.
    pub code: String,
    /// An expression.
    pub call: String,
}

/// Programs, and how many were asked for but could not be had.
#[derive(Debug)]
pub struct Sources {
    /// Programs.
    pub sources: Vec<Source>,
    /// Where they are from, for reports.
    pub described: String,
}

/// Random programs of a seed.
///
/// # Errors
/// Only if the program was built with a broken profile.
pub fn generated(seed: u64, count: usize) -> Result<Vec<Source>, Stop> {
    let profile = Profile::standard_library()
        .map_err(|error| Stop::new(Outcome::Environment, error.to_string()))?;
    let sources = (0..count as u64).map(|index| Source {
        id: format!("generated/{seed}/{index}"),
        code: program_at(seed, index, &profile).source,
        call: "main()".into(),
    });
    Ok(sources.collect())
}

/// Takes up to `count` programs.
///
/// # Errors
/// A file that cannot be read or is not what it should be; no program at all.
pub fn taken(data: &Data, seed: u64, count: usize, runner: &Runner) -> Result<Sources, Stop> {
    let (mut sources, from) = match data {
        Data::Generated => (generated(seed, count)?, format!("of seed {seed}")),
        Data::Items(path) => {
            let items = items::read(path, false)?;
            let of = items.len();
            let sources = items.into_iter().map(|item| Source {
                call: format!("f({})", item.input),
                id: item.id,
                code: item.code,
            });
            (sources.collect(), format!("of {of} items"))
        }
        Data::Files(path) => {
            let sources = functions(path, seed, runner)?;
            let of = sources.len();
            (
                sources,
                format!("of {of} calls of functions, inputs drawn with seed {seed}"),
            )
        }
    };
    sources.truncate(count);
    if sources.is_empty() {
        return Err(Stop::new(
            Outcome::Usage,
            format!("`{data}` holds no programs to evaluate on"),
        )
        .hint("use `--data generated`, JSON lines with `code` and `input`, or Python files"));
    }
    Ok(Sources {
        described: format!("{data}, {} {from}", sources.len()),
        sources,
    })
}

fn functions(path: &Utf8Path, seed: u64, runner: &Runner) -> Result<Vec<Source>, Stop> {
    fs::metadata(path).map_err(|error| {
        Stop::new(Outcome::Usage, format!("`{path}`: {error}"))
            .hint("`--data` takes `generated`, FILE.jsonl, or a file or folder of Python")
    })?;
    let programs = dataset::functions_in(path, seed, runner)?;
    let sources = programs.into_iter().map(|program| Source {
        call: format!("{}()", program.entry),
        id: program.id,
        code: program.source,
    });
    Ok(sources.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_told_by_its_name() {
        let data = |text: &str| -> Data { text.parse().unwrap() };
        assert_eq!(data("generated"), Data::Generated);
        assert_eq!(data("a/b.jsonl"), Data::Items("a/b.jsonl".into()));
        assert_eq!(data("src"), Data::Files("src".into()));
        assert_eq!(data("/home/me/b.jsonl").to_string(), "b.jsonl");
    }

    #[test]
    fn a_seed_makes_the_same_programs() {
        let (one, other) = (generated(9001, 2).unwrap(), generated(9001, 3).unwrap());
        assert_eq!(one[1].code, other[1].code);
        assert_ne!(one[0].code, other[1].code);
    }
}
