//! Calls for the lines of one function, found by `infer`.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;
use ndbg_tools::python::executions::{Goal, Outcome as Ended, Subject, root_of};
use serde::Serialize;

use super::passed::{Form, Judge};
use super::tested::{Function, Statement};
use crate::fix::stop::Stop;
use crate::infer::{self, Inferred, Settings, Sources};
use crate::model::Reality;
use crate::outcome::Outcome;

/// Executions for a line at most; the time ends sooner.
const EXECUTIONS: usize = 1_000_000;
/// Share of a function's time that a line gets at first; twice as much in each further round.
const FIRST: f64 = 0.2;
/// Seconds that a search needs at least: the start of an interpreter.
const LEAST: f64 = 0.3;
/// Seconds for one call that returns.
const ONE: f64 = 2.0;

/// Why a line was not reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The module cannot be imported by itself.
    Import,
    /// The name is another definition's, or no function's after the import.
    NoTarget,
    /// Calls tried the network, processes, or files outside of their folder.
    Refused,
    /// No call got into the function: its arguments or its object cannot be built.
    Arguments,
    /// Runs of the call did not agree.
    Unsteady,
    /// Python's tracing does not see the verified call, as it is written, pass the line.
    Unconfirmed,
    /// Each test that reaches it replaces parts of the program.
    Replaced,
    /// Time.
    Time,
}

impl Why {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Import => "the module cannot be imported by itself",
            Self::NoTarget => "the name is no function's, or a later definition's",
            Self::Refused => "calls tried what is refused (files, network, processes)",
            Self::Arguments => "no arguments could be built with which it begins",
            Self::Unsteady => "runs of the call did not agree",
            Self::Unconfirmed => "the call, as it is written, does not pass it",
            Self::Replaced => "only tests that replace parts reach it",
            Self::Time => "not found in time",
        }
    }
}

/// What became of a function.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Searched {
    /// Lines that calls reach, and the first such call.
    pub reached: BTreeMap<usize, String>,
    /// Lines that none reaches.
    pub missed: BTreeMap<usize, Why>,
    /// Searches, one for a line each.
    pub searches: usize,
    /// Executions of all searches.
    pub executions: usize,
    /// Seconds of all searches, verification included.
    pub seconds: f64,
    /// Calls that `infer` verified for a line that Python's tracing does not see them pass.
    pub unconfirmed: BTreeMap<usize, String>,
}

/// The function as `infer` names it.
pub fn subject(function: &Function, folder: &Utf8Path) -> Subject {
    let file = folder.join(&function.file);
    Subject {
        root: root_of(&file),
        file,
        function: function.name.clone(),
    }
}

/// Searches line by line, as `infer --reaches` does. A call counts for every line that it passes.
///
/// # Errors
/// No interpreter, or an interruption.
pub fn searched(
    function: &Function,
    subject: &Subject,
    judge: &mut Judge<'_>,
    seconds: f64,
    seed: u64,
    reality: &Reality,
) -> Result<Searched, Stop> {
    let mut done = Searched::default();
    let mut open: BTreeSet<usize> = function.lines.iter().map(|line| line.line).collect();
    let mut share = FIRST * seconds;
    let mut round = 0;
    while !open.is_empty() && done.seconds + LEAST < seconds {
        for line in open.clone() {
            let left = seconds - done.seconds;
            if left < LEAST {
                break;
            }
            // An earlier call of this round may have passed it.
            if !open.contains(&line) {
                continue;
            }
            let goal = Goal::Reaches(line as u32);
            let time = share.max(LEAST).min(left);
            let settings = settings(subject, goal, time, seed.wrapping_add(round));
            let inferred = match infer::infer(&settings, None, reality) {
                Err(stop) if stop.outcome == Outcome::Interrupted => return Err(stop),
                Err(stop) => {
                    let why = if stop.message.contains("import") {
                        Why::Import
                    } else {
                        Why::NoTarget
                    };
                    done.missed.insert(line, why);
                    // What cannot be looked at now cannot be later.
                    open.remove(&line);
                    continue;
                }
                Ok(inferred) => inferred,
            };
            done.searches += 1;
            done.executions += inferred.executions;
            done.seconds += inferred.seconds;
            let call = match (inferred.found.first(), &inferred.nearest) {
                (Some(found), _) => Some(&found.call),
                // On its way it may have passed other lines.
                (None, Some((call, _))) => Some(call),
                (None, None) => None,
            };
            let mut passed = BTreeSet::new();
            if let Some(call) = call {
                passed = statements(&function.lines, &confirmed(judge, Form::Call, call)?);
                for line in &passed {
                    if open.remove(line) {
                        done.reached.insert(*line, call.clone());
                        done.missed.remove(line);
                        done.unconfirmed.remove(line);
                    }
                }
            }
            if !passed.contains(&line) {
                if let Some(found) = inferred.found.first() {
                    done.unconfirmed.insert(line, found.call.clone());
                }
                let why = if done.unconfirmed.contains_key(&line) {
                    Why::Unconfirmed
                } else {
                    why(function, line, &inferred)
                };
                done.missed.insert(line, why);
            }
        }
        share *= 2.0;
        round += 1;
    }
    for line in open {
        done.missed.entry(line).or_insert(Why::Time);
    }
    Ok(done)
}

/// Lines of one call that returns: what a function gives away without a search for lines.
///
/// # Errors
/// No interpreter, or an interruption.
pub fn one_call(
    function: &Function,
    subject: &Subject,
    judge: &mut Judge<'_>,
    seed: u64,
    reality: &Reality,
) -> Result<BTreeSet<usize>, Stop> {
    let inferred = match infer::infer(&settings(subject, Goal::Any, ONE, seed), None, reality) {
        Err(stop) if stop.outcome == Outcome::Interrupted => return Err(stop),
        Err(_) => return Ok(BTreeSet::new()),
        Ok(inferred) => inferred,
    };
    match inferred.found.first() {
        Some(found) => Ok(statements(
            &function.lines,
            &confirmed(judge, Form::Call, &found.call)?,
        )),
        None => Ok(BTreeSet::new()),
    }
}

fn settings(subject: &Subject, goal: Goal, seconds: f64, seed: u64) -> Settings {
    Settings {
        subject: subject.clone(),
        goal,
        sources: Sources {
            search: true,
            model: false,
        },
        seconds,
        executions: EXECUTIONS,
        call_seconds: infer::CALL_SECONDS,
        count: 1,
        seed,
    }
}

/// Lines that a call passes; none where the process that tells them is lost to it.
pub fn confirmed(judge: &mut Judge<'_>, form: Form, call: &str) -> Result<BTreeSet<usize>, Stop> {
    match judge.lines(form, call) {
        Err(stop) if stop.outcome == Outcome::Interrupted => Err(stop),
        told => Ok(told.unwrap_or_default()),
    }
}

/// Statements of which a line was passed, by their first lines.
pub fn statements(of: &[Statement], passed: &BTreeSet<usize>) -> BTreeSet<usize> {
    of.iter()
        .filter(|line| passed.range(line.line..=line.last).next().is_some())
        .map(|line| line.line)
        .collect()
}

fn why(function: &Function, line: usize, inferred: &Inferred) -> Why {
    let replaced = function
        .lines
        .iter()
        .any(|one| one.line == line && one.replaced);
    let began = inferred
        .nearest
        .as_ref()
        .is_some_and(|(_, execution)| !matches!(execution.outcome, Ended::Unbuildable(_)));
    if function.shadowed {
        Why::NoTarget
    } else if !inferred.refused.is_empty() {
        Why::Refused
    } else if inferred.unsteady.is_some() {
        Why::Unsteady
    } else if replaced {
        Why::Replaced
    } else if !began && inferred.executions > 0 {
        Why::Arguments
    } else {
        Why::Time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_passed_by_any_line_of_its_header() {
        let line = |line: usize, last: usize| Statement {
            line,
            last,
            nested: false,
            replaced: false,
        };
        let of = [line(3, 5), line(6, 6), line(9, 9)];
        assert_eq!(statements(&of, &[4, 7, 9].into()), [3, 9].into());
    }
}
