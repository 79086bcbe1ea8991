//! `ndbg-agent bench report`: results as text, as a page and as JSON.
//!
//! Results are read ([`source`]), put in an order that does not depend on the folders
//! ([`belonging`]) and counted ([`figures`], [`summary`]); everything that is shown is made from
//! that.

mod belonging;
mod entry;
mod figures;
mod html;
mod plots;
mod source;
mod summary;
mod text;
mod wording;

use std::fs;

use anyhow::Context as _;
use camino::Utf8PathBuf;
use clap::Args;

pub(super) use belonging::together;
#[cfg(test)]
pub(super) use entry::tests::results as sample;
pub(super) use entry::{End, Entry, Settings};
pub(super) use figures::{first_executions, first_seconds};
pub(super) use source::read;
pub(super) use wording::wrapped;

use super::said;
use crate::fix::stop::Stop;
use crate::outcome::Outcome;
use source::Loaded;
use summary::Summary;

/// Report what a benchmark showed, as text, as a page and as JSON
///
/// Several results are put together: those of the same settings count as one, those of other settings
/// stand beside each other. Plausible, correct and resolved are counted apart, and what
/// infrastructure kept from being judged is counted nowhere else. `report.html` and `report.json`
/// are written into the folder of results, or into `--out`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Folders of results, or files of `bench tasks --json`
    #[arg(required = true, value_name = "DIR")]
    results: Vec<Utf8PathBuf>,
    /// Folder for `report.html` and `report.json`; default: the first folder of results
    #[arg(long, value_name = "DIR")]
    out: Option<Utf8PathBuf>,
}

/// Runs the verb.
pub fn run(arguments: &ReportArguments) -> anyhow::Result<Outcome> {
    let summary = match summarised(&arguments.results) {
        Ok(summary) => summary,
        Err(stop) => return Ok(said(&stop)),
    };
    let folder = match (&arguments.out, arguments.results.first()) {
        (Some(folder), _) => folder.clone(),
        (None, Some(first)) if first.is_dir() => first.clone(),
        (None, first) => first
            .and_then(|file| file.parent())
            .map(Utf8PathBuf::from)
            .unwrap_or_default(),
    };
    if !folder.as_str().is_empty() {
        fs::create_dir_all(&folder).with_context(|| format!("cannot make `{folder}`"))?;
    }
    for (name, contents) in [
        ("report.html", html::render(&summary)?),
        ("report.json", summary.json()?),
    ] {
        let path = folder.join(name);
        fs::write(&path, contents).with_context(|| format!("cannot write `{path}`"))?;
    }
    if let Err(stop) = crate::cli::print(text::render(&summary).as_bytes()) {
        return Ok(super::said(&stop));
    }
    eprintln!(
        "`{}` and `report.json` are written",
        folder.join("report.html")
    );
    Ok(Outcome::Fixed)
}

fn summarised(results: &[Utf8PathBuf]) -> Result<Summary, Stop> {
    let mut loaded = Loaded::default();
    for path in results {
        loaded.extend(read(path)?);
    }
    if loaded.entries.is_empty() {
        return Err(Stop::new(Outcome::Usage, "there are no results to report")
            .hint("a run that goes on adds them as its tasks end"));
    }
    Ok(Summary::of(&together(loaded.entries)?, &loaded.scopes))
}

#[cfg(test)]
mod tests;
