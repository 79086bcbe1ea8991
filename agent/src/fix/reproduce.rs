//! Calls that show a failure as small as it gets, and calls that tell plausible patches apart.
//!
//! Both are inferred: what the failing tests gave the function is tried first, so that the smallest call found
//! fails for the reason that they fail for. Nothing here changes what is believed, and nothing that goes wrong here
//! ends a run: where a function cannot be called by itself, or the user does not wait, there is no such call.

use std::fs;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use ndbg_tools::python::executions::{Goal, Outcome as Ended, Subject, root_of};

use super::budget::Budget;
use super::session::Session;
use super::sureness::Compared;
use super::verify::Change;
use crate::dataset::Runner;
use crate::infer::{self, Found, Names, Past, Settings, Sources};
use crate::plan::{Candidate, Facts, Failure};
use crate::report::event::{Example, Shows, VersionResult};
use crate::report::{Event, Reporter};

/// Time and executions for one call.
const SECONDS: f64 = 2.0;
const EXECUTIONS: usize = 6_000;
/// Plausible patches that the verified one is compared with.
const COMPARED: usize = 3;
/// What is left of the run's time at least.
const SPARE: Duration = Duration::from_secs(5);

/// What calls are inferred with.
pub struct Ground<'a> {
    /// The opened project.
    pub session: &'a Session,
    /// What was seen in the failing tests.
    pub facts: &'a Facts,
    /// Where events go.
    pub reporter: &'a Reporter,
}

/// A patch that edits one file.
pub struct Patch<'a> {
    /// The candidate.
    pub candidate: &'a Candidate,
    /// Its change.
    pub change: &'a Change,
}

/// The call that shows what a verified patch mends.
pub fn mended(ground: &Ground<'_>, patch: &Patch<'_>, budget: &Budget) {
    let function = &patch.candidate.qualname;
    let Some((subject, patched)) = ground.versions(patch, "patched") else {
        return;
    };
    let goal = Goal::Differs(patched);
    let begun = Instant::now();
    let Some((found, executions)) = ground.inferred(subject, goal, &patch.change.file, budget)
    else {
        return;
    };
    // Two exceptions are more likely to be about nonsense than about the failure.
    let Some(found) = found.filter(returns) else {
        return;
    };
    let file = &patch.change.file;
    ground.reporter.emit(Event::Example(Example {
        shows: Shows::Failure,
        file: file.clone(),
        function: function.clone(),
        results: results(&found, "before", "patched"),
        call: Some(found.call),
        beside: None,
        executions,
        seconds: begun.elapsed().as_secs_f64(),
    }));
}

/// Calls that tell the verified patch from the other plausible ones, or that there are none to be found.
pub fn told_apart(
    ground: &Ground<'_>,
    patch: &Patch<'_>,
    others: &[Patch<'_>],
    budget: &Budget,
) -> Compared {
    let mut compared = Compared::default();
    let function = &patch.candidate.qualname;
    let comparable = |other: &&Patch<'_>| {
        other.change.file == patch.change.file && other.candidate.qualname == *function
    };
    // A call of one function says nothing about what a patch changes in another one.
    if !ground.is_within(patch) {
        return compared;
    }
    let others = others.iter().filter(comparable);
    for other in others
        .filter(|other| ground.is_within(other))
        .take(COMPARED)
    {
        let (Some((_, verified)), Some((_, another))) = (
            ground.versions(patch, "verified"),
            ground.versions(other, "another"),
        ) else {
            return compared;
        };
        let begun = Instant::now();
        let goal = Goal::Differs(another);
        let Some((found, executions)) = ground.inferred(verified, goal, &patch.change.file, budget)
        else {
            return compared;
        };
        if found.as_ref().is_some_and(|found| !returns(found)) {
            continue;
        }
        match found {
            Some(_) => compared.differ += 1,
            None => compared.agree += 1,
        }
        let results = found
            .as_ref()
            .map(|found| results(found, "verified", "the other"))
            .unwrap_or_default();
        ground.reporter.emit(Event::Example(Example {
            shows: Shows::Difference,
            file: patch.change.file.clone(),
            function: function.clone(),
            call: found.map(|found| found.call),
            results,
            beside: Some(other.candidate.claim.clone()),
            executions,
            seconds: begun.elapsed().as_secs_f64(),
        }));
    }
    compared
}

/// The call that raises what a failing test raised, at the same line, where no patch was found.
pub fn raised(ground: &Ground<'_>, failure: &Failure, budget: &Budget) {
    let facts = ground.facts;
    let last = failure.frames.last();
    let Some(frame) = last.filter(|frame| facts.files.contains_key(&frame.file)) else {
        return;
    };
    let Some(function) = facts.functions.iter().find(|function| {
        function.file == frame.file
            && (function.first_line..=function.last_line).contains(&frame.line)
    }) else {
        return;
    };
    let class = failure.exception.rsplit('.').next().unwrap_or_default();
    let subject = subject(ground.session, &frame.file, &function.qualname);
    let goal = Goal::RaisesAt {
        class: class.to_owned(),
        line: frame.line as u32,
    };
    let begun = Instant::now();
    let Some((Some(found), executions)) = ground.inferred(subject, goal, &frame.file, budget)
    else {
        return;
    };
    ground.reporter.emit(Event::Example(Example {
        shows: Shows::Failure,
        file: frame.file.clone(),
        function: function.qualname.clone(),
        results: vec![VersionResult {
            version: "now".into(),
            result: infer::ending(&found.outcome),
        }],
        call: Some(found.call),
        beside: None,
        executions,
        seconds: begun.elapsed().as_secs_f64(),
    }));
}

/// Whether one of the versions returns a value.
fn returns(found: &Found) -> bool {
    let is_value = |outcome: &Ended| matches!(outcome, Ended::Returned { .. });
    is_value(&found.outcome) || found.other.as_ref().is_some_and(is_value)
}

fn results(found: &Found, first: &str, second: &str) -> Vec<VersionResult> {
    let ends = [
        (first, Some(&found.outcome)),
        (second, found.other.as_ref()),
    ];
    ends.into_iter()
        .filter_map(|(version, outcome)| {
            Some(VersionResult {
                version: version.into(),
                result: infer::ending(outcome?),
            })
        })
        .collect()
}

impl Ground<'_> {
    /// Whether all that a patch changes is within its function.
    fn is_within(&self, patch: &Patch<'_>) -> bool {
        let candidate = patch.candidate;
        let Some(syntax) = self.facts.files.get(&candidate.file) else {
            return false;
        };
        let mut named = syntax
            .functions()
            .iter()
            .filter(|f| f.qualname == candidate.qualname);
        named.any(|function| {
            candidate.edits.iter().all(|edit| {
                edit.file == candidate.file
                    && function.span.start <= edit.start
                    && edit.end <= function.span.end
            })
        })
    }

    /// The function as it is, and as a patch makes it, in a file of its own under the same name.
    fn versions(&self, patch: &Patch<'_>, name: &str) -> Option<(Subject, Subject)> {
        let function = &patch.candidate.qualname;
        if function.is_empty() {
            return None;
        }
        let subject = subject(self.session, &patch.change.file, function);
        let root = self.session.scratch.path().join("versions").join(name);
        let within = subject
            .root
            .as_deref()
            .and_then(|root| subject.file.strip_prefix(root).ok())
            .unwrap_or(&subject.file);
        let file = root.join(within);
        let folder = file.parent().unwrap_or(&root);
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&file, &patch.change.after))
            .ok()?;
        let patched = Subject {
            file,
            function: function.clone(),
            root: Some(root),
        };
        Some((subject, patched))
    }

    /// What was found within the limits, and after how many executions; none where the function cannot be
    /// called by itself, or no time is left.
    fn inferred(
        &self,
        subject: Subject,
        goal: Goal,
        file: &Utf8Path,
        budget: &Budget,
    ) -> Option<(Option<Found>, usize)> {
        if budget.left() < SPARE {
            return None;
        }
        let runner = runner(self.session)?;
        let calls = self.given(file, &subject.function);
        let settings = Settings {
            subject,
            goal,
            sources: Sources {
                search: true,
                model: false,
            },
            seconds: SECONDS,
            executions: EXECUTIONS,
            count: 1,
            seed: 0,
            call_seconds: infer::CALL_SECONDS,
        };
        let past = Past {
            calls: &calls,
            state: None,
        };
        // A function within another one, a module that needs more than its folder: nothing to say.
        let inferred = infer::infer_from(&settings, None, &runner, past).ok()?;
        Some((inferred.found.into_iter().next(), inferred.executions))
    }

    /// What the failing tests gave a function: the variables before its first line that ran.
    fn given(&self, file: &Utf8Path, function: &str) -> Vec<Names> {
        let facts = self.facts;
        let Some(suspect) = facts
            .functions
            .iter()
            .find(|suspect| suspect.file == file && suspect.qualname == function)
        else {
            return Vec::new();
        };
        let Some(lines) = facts.observations.by_line.get(file) else {
            return Vec::new();
        };
        let mut within = lines.range(suspect.first_line..=suspect.last_line);
        let Some((_, observations)) = within.next() else {
            return Vec::new();
        };
        observations
            .iter()
            .map(|observation| {
                let mut names: Vec<(String, String)> = observation
                    .locals
                    .iter()
                    .map(|(name, value)| (name.clone(), value.text.clone()))
                    .collect();
                // The object of a method is looked for in the first place.
                names.sort_by_key(|(name, _)| name != "self" && name != "cls");
                Names(names)
            })
            .collect()
    }
}

/// A function of the project's worktree.
pub fn subject(session: &Session, file: &Utf8Path, function: &str) -> Subject {
    let path = session.harness.folder.join(file);
    Subject {
        root: root_of(&path),
        file: path,
        function: function.to_owned(),
    }
}

/// How calls of functions are run.
pub fn runner(session: &Session) -> Option<Runner> {
    let harness = &session.harness;
    let scratch = session.scratch.path().join("calls");
    fs::create_dir_all(&scratch).ok()?;
    Some(Runner {
        python: harness.interpreter.path.clone(),
        plugin: harness.plugin.clone(),
        scratch,
        deadline: SECONDS,
        memory_limit: harness.memory_limit,
        cancel: session.cancel.clone(),
    })
}

/// The only file of a patch.
pub fn single(changes: &[Change]) -> Option<&Change> {
    match changes {
        [change] => Some(change),
        _ => None,
    }
}
