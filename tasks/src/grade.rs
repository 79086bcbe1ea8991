//! Grading: is a patch plausible, is it correct?
//!
//! *Plausible*: in a fresh copy with the patch applied, the tests that failed because of the bug pass
//! and every other test that passed before still does. *Correct*: tests that nobody but the grader has
//! ever seen pass as well. The tool under test is not believed in anything.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tools::Cancel;
use ndbg_tools::git::GitError;
use ndbg_tools::python::environment::Interpreter;
use ndbg_tools::python::pytest::{Cases, Harness, PytestError, Request, RunResults, TestOutcome};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::task::{Origin, Task, TaskError};
use crate::tree::{Tree, TreeError, is_test_path};

/// Why a patch could not be graded at all; a bad patch is no error but a bad grade.
#[derive(Debug, Error)]
pub enum GradeError {
    /// The task is broken.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// The copy could not be made.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// pytest could not be run.
    #[error(transparent)]
    Pytest(#[from] PytestError),
    /// The tests of the task do not run without any patch.
    #[error("`{task}`: the tests do not run even without a patch: {reason}")]
    Baseline {
        /// Its name.
        task: String,
        /// What happened.
        reason: String,
    },
}

impl GradeError {
    /// Whether the cause is an interruption.
    pub fn is_cancelled(&self) -> bool {
        match self {
            Self::Tree(error) => error.is_cancelled(),
            Self::Pytest(error) => error.is_cancelled(),
            Self::Task(_) | Self::Baseline { .. } => false,
        }
    }
}

/// What a patch is worth.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grade {
    /// Passes the tests that the tool could see.
    pub plausible: bool,
    /// By the official rule of SWE-bench; none where the task's format has no such rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<bool>,
    /// Passes tests that the tool has never seen; none when the task has no such tests.
    pub correct: Option<bool>,
    /// Gives the files back as they were before the bug was put in, but for layout and comments; none
    /// when the original is not at hand.
    pub original: Option<bool>,
    /// The first thing that did not hold.
    pub reason: Option<String>,
}

impl Grade {
    fn failed(reason: impl Into<String>) -> Self {
        Self {
            correct: Some(false),
            original: Some(false),
            reason: Some(reason.into()),
            ..Self::default()
        }
    }
}

/// Grades patches with one interpreter.
#[derive(Debug, Clone)]
pub struct Grader {
    /// Runs the tests; has pytest and what the task's program needs.
    pub interpreter: Interpreter,
    /// Least time that one run of all tests may take; a task that is known to need longer gets more.
    pub deadline: Duration,
    /// Memory that tests may use beyond what the interpreter has at start.
    pub memory_limit: Option<u64>,
}

impl Grader {
    /// Grades `patch`, a unified diff with paths relative to the task's repository root.
    pub fn grade(&self, task: &Task, patch: &[u8], cancel: &Cancel) -> Result<Grade, GradeError> {
        if patch.iter().all(u8::is_ascii_whitespace) {
            return Ok(Grade::failed("no patch"));
        }
        let tree = Tree::visible(task, cancel)?;
        let touched = match tree.touched(patch, cancel) {
            Ok(touched) => touched,
            Err(TreeError::Git(GitError::Failed { message, .. })) => {
                return Ok(Grade::failed(format!("no unified diff: {message}")));
            }
            Err(other) => return Err(other.into()),
        };
        if let Some(test) = touched.iter().find(|path| is_test_path(path)) {
            return Ok(Grade::failed(format!("changes the tests: {test}")));
        }
        let bench = Bench {
            harness: tree.harness(&self.interpreter, &pytest_args(task), self.memory_limit)?,
            deadline: self.deadline_of(task),
            paths: task
                .seeded()
                .map(|seeded| seeded.paths.clone())
                .unwrap_or_default(),
        };
        let required = required(task, &bench, cancel)?;
        match tree.apply(patch, cancel) {
            Ok(()) => {}
            Err(TreeError::Git(GitError::Failed { message, .. })) => {
                return Ok(Grade::failed(format!("does not apply: {message}")));
            }
            Err(other) => return Err(other.into()),
        }
        let results = bench.run(bench.paths.clone(), None, cancel)?;
        if let Some(reason) = missing(&required, &results) {
            return Ok(Grade::failed(reason));
        }
        let mut grade = Grade {
            plausible: true,
            original: original(task, &tree, &touched),
            ..Grade::default()
        };
        let hidden = match &task.origin {
            Origin::Bundled => bundled_hidden(task, &tree, &bench, cancel)?,
            Origin::Seeded { repository, .. } => {
                seeded_hidden(task, repository, &tree, self, cancel)?
            }
        };
        match hidden {
            Hidden::None => {}
            Hidden::Passed => grade.correct = Some(true),
            Hidden::Failed(reason) => {
                grade.correct = Some(false);
                grade.reason = Some(reason);
            }
        }
        Ok(grade)
    }

    fn deadline_of(&self, task: &Task) -> Duration {
        let known = task.seeded().map_or(0.0, |seeded| seeded.suite_seconds);
        self.deadline.max(Duration::from_secs_f64(
            30.0 + 5.0 * known.clamp(0.0, 3600.0),
        ))
    }
}

/// How the tests of one copy are run.
struct Bench {
    harness: Harness,
    deadline: Duration,
    paths: Vec<String>,
}

impl Bench {
    fn run(
        &self,
        paths: Vec<String>,
        select: Option<Vec<String>>,
        cancel: &Cancel,
    ) -> Result<RunResults, PytestError> {
        let mut request = Request::run(paths);
        request.deadline = self.deadline;
        request.select = select;
        self.harness.run(&request, cancel)
    }
}

/// Tests that a plausible patch must pass.
fn required(task: &Task, bench: &Bench, cancel: &Cancel) -> Result<BTreeSet<String>, GradeError> {
    let mut required: BTreeSet<String> = task.fail_to_pass.iter().cloned().collect();
    if let Some(passing) = task.passing()? {
        // The hidden tests are no part of the visible copy, and those that fail are on the list of
        // passing ones, since that is about the program without the bug.
        let hidden: BTreeSet<String> = task.hidden_tests()?.tests.into_iter().collect();
        required.extend(passing.into_iter().filter(|id| !hidden.contains(id)));
        return Ok(required);
    }
    let before = bench.run(bench.paths.clone(), None, cancel)?;
    if before.tests.is_empty() {
        return Err(GradeError::Baseline {
            task: task.name.clone(),
            reason: before.tail,
        });
    }
    let passed = before
        .tests
        .into_iter()
        .filter(|(_, test)| test.outcome == TestOutcome::Passed);
    required.extend(passed.map(|(id, _)| id));
    Ok(required)
}

/// The first required test that did not pass, in words.
fn missing(required: &BTreeSet<String>, results: &RunResults) -> Option<String> {
    let cases = Cases::of(results, |id| required.contains(id));
    let bad = cases.not_passed(required.iter()).into_iter().next();
    if let Some(id) = bad {
        return Some(match results.tests.get(id) {
            Some(test) if test.outcome == TestOutcome::Skipped => format!("{id} is skipped"),
            Some(_) => format!("{id} fails"),
            None if results.complete => format!("{id} is gone"),
            None => format!("{id} did not run ({})", results.exit),
        });
    }
    (!results.complete).then(|| format!("the tests did not end properly ({})", results.exit))
}

enum Hidden {
    /// The task has no hidden tests.
    None,
    Passed,
    Failed(String),
}

fn bundled_hidden(
    task: &Task,
    tree: &Tree,
    bench: &Bench,
    cancel: &Cancel,
) -> Result<Hidden, GradeError> {
    // They lie next to the visible tests, where they find the same modules and fixtures.
    let visible = Utf8Path::new(task.test.first().map_or("", String::as_str));
    let beside = visible.parent().unwrap_or(Utf8Path::new(""));
    let mut paths = Vec::new();
    let entries = task
        .hidden
        .read_dir_utf8()
        .map_err(TaskError::io(&task.hidden))?;
    for entry in entries {
        let entry = entry.map_err(TaskError::io(&task.hidden))?;
        let name = entry.file_name();
        if name.starts_with("test_") && entry.path().extension() == Some("py") {
            let bytes = fs::read(entry.path()).map_err(TaskError::io(entry.path()))?;
            let path = beside.join(name);
            tree.write(&path, &bytes)?;
            paths.push(path.into_string());
        }
    }
    if paths.is_empty() {
        return Ok(Hidden::None);
    }
    paths.sort();
    let results = bench.run(paths, None, cancel)?;
    let required = results.collected.iter().cloned().collect();
    if let Some(error) = results.collect_errors.first() {
        return Ok(Hidden::Failed(format!(
            "hidden: {} cannot be collected",
            error.id
        )));
    }
    Ok(match missing(&required, &results) {
        Some(reason) => Hidden::Failed(format!("hidden: {reason}")),
        None if required.is_empty() => Hidden::Failed("hidden: nothing was collected".into()),
        None => Hidden::Passed,
    })
}

fn seeded_hidden(
    task: &Task,
    repository: &Utf8Path,
    tree: &Tree,
    grader: &Grader,
    cancel: &Cancel,
) -> Result<Hidden, GradeError> {
    let hidden = task.hidden_tests()?;
    if hidden.tests.is_empty() {
        return Ok(Hidden::None);
    }
    for file in &hidden.files {
        let path = repository.join(file);
        let bytes = fs::read(&path).map_err(TaskError::io(path))?;
        tree.write(file, &bytes)?;
    }
    let bench = Bench {
        // Without the arguments that hide tests.
        harness: tree.harness(&grader.interpreter, &[], grader.memory_limit)?,
        deadline: grader.deadline_of(task),
        paths: Vec::new(),
    };
    let paths = crate::seed::files_of(&hidden.tests);
    let results = bench.run(paths, Some(hidden.tests.clone()), cancel)?;
    let required = hidden.tests.into_iter().collect();
    Ok(match missing(&required, &results) {
        Some(reason) => Hidden::Failed(format!("hidden: {reason}")),
        None => Hidden::Passed,
    })
}

/// Whether the patched files are what they were before the bug, token by token.
fn original(task: &Task, tree: &Tree, touched: &[Utf8PathBuf]) -> Option<bool> {
    let Origin::Seeded { repository, .. } = &task.origin else {
        return None;
    };
    let mut files: BTreeSet<&Utf8Path> = touched.iter().map(Utf8PathBuf::as_path).collect();
    files.insert(&task.bug.file);
    // A file that the patch adds or removes cannot be read on one side.
    Some(files.into_iter().all(|file| {
        let read = |root: &Utf8Path| fs::read(root.join(file)).ok();
        read(repository).is_some_and(|before| {
            read(tree.top()).is_some_and(|after| same_tokens(&before, &after))
        })
    }))
}

/// Whether two Python sources have the same tokens; comments and layout do not count.
pub(crate) fn same_tokens(a: &[u8], b: &[u8]) -> bool {
    fn leaves(bytes: &[u8]) -> Option<Vec<(usize, String)>> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let tree = ndbg_tools::source::syntax::parse_text(&text)?;
        let mut out = Vec::new();
        let mut stack = vec![(tree.root_node(), 0)];
        while let Some((node, depth)) = stack.pop() {
            // The depth stands for indentation: a dedented statement has the same leaves.
            // The parts of a string between its escapes are no nodes.
            if node.child_count() == 0 || node.kind() == "string" {
                if node.kind() != "comment" {
                    out.push((depth, text[node.byte_range()].to_owned()));
                }
                continue;
            }
            let mut cursor = node.walk();
            let children: Vec<_> = node.children(&mut cursor).collect();
            stack.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
        }
        Some(out)
    }
    a == b || leaves(a).is_some_and(|first| leaves(b).is_some_and(|second| first == second))
}

/// Arguments for every run of the visible tests.
fn pytest_args(task: &Task) -> Vec<String> {
    task.seeded()
        .map(|seeded| seeded.pytest_args.clone())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_does_not_make_a_source_another_one() {
        let same = |a: &str, b: &str| same_tokens(a.as_bytes(), b.as_bytes());
        assert!(same("x = f(a, b)\n", "x = f(a,\n      b)  # why\n"));
        assert!(!same("x = f(a, b)\n", "x = f(b, a)\n"));
        assert!(!same("x = 'a\\n'\n", "x = 'b\\n'\n"));
        assert!(!same("if a:\n    b()\n    c()\n", "if a:\n    b()\nc()\n"));
    }
}
