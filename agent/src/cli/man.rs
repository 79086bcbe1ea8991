//! `ndbg-agent man`.

use std::fmt::Write as _;
use std::fs;

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Command};

use super::print;
use super::trace::say;
use crate::outcome::Outcome;

/// Print the manual page, or write one for each verb
///
///   ndbg-agent man | man -l -
///   ndbg-agent man --out ~/.local/share/man/man1     # then: man ndbg-agent-fix
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct ManArguments {
    /// Folder to write the page of every verb to
    #[arg(long, value_name = "DIR")]
    out: Option<Utf8PathBuf>,
}

/// Runs the verb for the program that `command` describes.
pub fn run(arguments: &ManArguments, command: Command) -> anyhow::Result<Outcome> {
    if let Some(folder) = &arguments.out {
        let written = write_all(folder, command)?;
        eprintln!("{written} pages in `{folder}`");
    } else {
        let page = page(command).context("cannot render the page")?;
        if let Err(stop) = print(page.as_bytes()) {
            return Ok(say(&stop));
        }
    }
    Ok(Outcome::Fixed)
}

fn page(command: Command) -> anyhow::Result<String> {
    let mut out = Vec::new();
    clap_mangen::Man::new(command).render(&mut out)?;
    Ok(ascii(&String::from_utf8(out)?))
}

/// Roff reads bytes: whatever is no ASCII becomes an escape, so that the page is the same in every encoding.
fn ascii(roff: &str) -> String {
    let mut out = String::with_capacity(roff.len());
    for letter in roff.chars() {
        if letter.is_ascii() {
            out.push(letter);
        } else {
            let _ = write!(out, "\\[u{:04X}]", letter as u32);
        }
    }
    out
}

/// Writes the page of `command` and of everything below it; says how many they are.
fn write_all(folder: &Utf8Path, command: Command) -> anyhow::Result<usize> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make `{folder}`"))?;
    // `help` has nothing to tell on a page of its own.
    let mut command = command.disable_help_subcommand(true);
    command.build();
    write(folder, &command)
}

fn write(folder: &Utf8Path, command: &Command) -> anyhow::Result<usize> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let path = folder.join(format!("{name}.1"));
    let page = page(command.clone()).with_context(|| format!("cannot render `{name}`"))?;
    fs::write(&path, page).with_context(|| format!("cannot write `{path}`"))?;
    let mut written = 1;
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        written += write(folder, verb)?;
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::super::Arguments;
    use super::*;

    #[test]
    fn every_verb_has_a_page_that_is_the_same_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap().join("man1");
        let written = write_all(&folder, Arguments::command()).unwrap();
        let names: Vec<String> = folder
            .read_dir_utf8()
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_owned())
            .collect();
        assert_eq!(names.len(), written);
        for name in [
            "ndbg-agent.1",
            "ndbg-agent-fix.1",
            "ndbg-agent-bench-tasks.1",
        ] {
            assert!(names.iter().any(|found| found == name), "{name}: {names:?}");
        }
        assert!(!names.iter().any(|name| name.contains("help")), "{names:?}");
        for name in &names {
            let page = fs::read(folder.join(name)).unwrap();
            assert!(page.is_ascii(), "{name}");
        }
        let fix = fs::read_to_string(folder.join("ndbg-agent-fix.1")).unwrap();
        assert!(
            fix.contains("\\-\\-max\\-time") && fix.contains(".SH SYNOPSIS"),
            "{fix}"
        );
        write_all(&folder, Arguments::command()).unwrap();
        assert_eq!(
            fs::read_to_string(folder.join("ndbg-agent-fix.1")).unwrap(),
            fix
        );
    }

    #[test]
    fn the_page_of_the_program_names_its_exit_codes() {
        let page = page(Arguments::command()).unwrap();
        assert!(
            page.contains("Exit codes:") && page.contains("interrupted"),
            "{page}"
        );
    }

    #[test]
    fn letters_beyond_ascii_are_escapes_of_roff() {
        assert_eq!(
            ascii("a\u{2026} \u{e9}\u{1f600}\\-b\n"),
            "a\\[u2026] \\[u00E9]\\[u1F600]\\-b\n"
        );
    }
}
