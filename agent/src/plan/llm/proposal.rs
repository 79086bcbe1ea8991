//! From a hypothesis to a candidate: its edits need places in files that may be edited.

use camino::{Utf8Path, Utf8PathBuf};

use super::answer::Hypothesis;
use super::locate::{Misplaced, Strictness, located, near_names};
use super::prediction::Verdict;
use crate::fix::tampering::tampering;
use crate::plan::{Candidate, Facts};
use ndbg_tools::protected::is_protected;

/// Numbers of candidates begin here, beyond those of other planners.
pub const FIRST_ID: u64 = 1_000_000_000;

/// Why a hypothesis is not tried.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Dropped {
    /// Nothing new.
    #[error("it was proposed before")]
    Repeated,
    /// The recording says otherwise.
    #[error("{}", .0.text())]
    Refuted(Verdict),
    /// Nothing to try.
    #[error("it has no edits")]
    NoEdits,
    /// It names what programs have nothing to do with.
    #[error("`{0}` reaches into what runs the tests, or into other processes")]
    Tampers(&'static str),
    /// It edits a test.
    #[error("`{0}` is a test or configures tests: it cannot be edited")]
    Protected(Utf8PathBuf),
    /// It edits a file that there is not, or that is not of the project.
    #[error("`{file}` cannot be edited; files that can: {near}")]
    Unknown {
        /// As it was named.
        file: Utf8PathBuf,
        /// Names that are near.
        near: String,
    },
    /// An edit has no place.
    #[error("edit of `{file}`: {why}")]
    Misplaced {
        /// Where it was to be.
        file: Utf8PathBuf,
        /// Why.
        why: Misplaced,
    },
}

/// The candidate of a hypothesis, the `number`th of the conversation from 0.
///
/// # Errors
/// Its edits cannot be made.
pub fn candidate(
    facts: &Facts,
    hypothesis: &Hypothesis,
    number: u64,
) -> Result<Candidate, Dropped> {
    let mut edits = Vec::new();
    let mut loose = false;
    for wanted in &hypothesis.edits {
        let path = meant(facts, &wanted.file);
        if let Some(what) = tampers(facts, path, &wanted.new) {
            return Err(Dropped::Tampers(what));
        }
        if is_protected(path) {
            return Err(Dropped::Protected(path.to_owned()));
        }
        let Some(syntax) = facts.files.get(path) else {
            let near = near_names(path.as_str(), facts.files.keys().map(AsRef::as_ref));
            return Err(Dropped::Unknown {
                file: path.to_owned(),
                near: near.join(", "),
            });
        };
        let (edit, strictness) =
            located(syntax.file(), &wanted.old, &wanted.new).map_err(|why| Dropped::Misplaced {
                file: path.to_owned(),
                why,
            })?;
        loose |= strictness != Strictness::Exact;
        edits.push(edit);
    }
    let Some(first) = edits.first() else {
        return Err(Dropped::NoEdits);
    };
    let syntax = facts.files.get(&first.file);
    let line = syntax.map_or(0, |syntax| syntax.file().line_of(first.start));
    let qualname = syntax
        .and_then(|syntax| {
            let at = syntax.function_at_line(line)?;
            Some(syntax.functions()[at].qualname.clone())
        })
        .unwrap_or_default();
    let score = 1.0 / (1.0 + number as f64) * if loose { 0.9 } else { 1.0 };
    Ok(Candidate {
        id: FIRST_ID + number,
        file: first.file.clone(),
        line,
        qualname,
        edits,
        operator: "model".into(),
        claim: hypothesis.claim.clone(),
        // The order in which the model names them; edits that had to be searched for come after.
        score,
        base: score,
    })
}

/// The file that a model means: small ones put folders before a name, or leave them out.
fn meant<'n>(facts: &'n Facts, named: &'n str) -> &'n Utf8Path {
    let named = Utf8Path::new(named.trim().trim_start_matches("./"));
    let is_plain = named
        .components()
        .all(|part| matches!(part, camino::Utf8Component::Normal(_)));
    if facts.files.contains_key(named) || !is_plain {
        return named;
    }
    let mut alike = facts
        .files
        .keys()
        .filter(|known| known.ends_with(named) || named.ends_with(known));
    match (alike.next(), alike.next()) {
        (Some(only), None) => only,
        _ => named,
    }
}

/// What a new text has to do with that its file had nothing to do with before.
fn tampers(facts: &Facts, path: &Utf8Path, new: &str) -> Option<&'static str> {
    let before = facts
        .files
        .get(path)
        .map_or("", |syntax| syntax.file().text());
    tampering(before, new)
}
