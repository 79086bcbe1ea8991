//! The whole of seeding: the baseline, then one mutation after another until there are enough bugs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tools::Cancel;
use ndbg_tools::python::environment::Interpreter;
use ndbg_tools::python::pytest::{Harness, PytestError, Request, TestOutcome};
use ndbg_tools::source::SourceFile;
use ndbg_tools::source::syntax::Syntax;
use serde::Serialize;
use thiserror::Error;

use super::baseline::{self, Baseline};
use super::conceal::{Concealment, conceal};
use super::operators;
use super::output::{Kept, write};
use super::place::{Mutant, mutant};
use super::sample::{Random, Sample};
use super::site::Mutation;
use super::split::{Split, split};
use super::trial::{Trial, Trier};
use crate::grade::same_tokens;
use crate::task::{PASSING, PRISTINE, TaskError, write_file, write_toml};
use crate::tree::{Tree, TreeError, copy_folder, is_test_path};

/// Why nothing could be seeded.
#[derive(Debug, Error)]
pub enum SeedError {
    /// The output folder is in use.
    #[error("`{0}` exists and is not empty")]
    OutputInUse(Utf8PathBuf),
    /// No test passes.
    #[error("no test of the repository passes: {0}")]
    NoTests(String),
    /// Other tests fail in every run.
    #[error("the tests fail now and then without any bug, such as {0:?}")]
    Unstable(Vec<String>),
    /// A copy could not be made.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// A task could not be written.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// pytest could not be run.
    #[error(transparent)]
    Pytest(#[from] PytestError),
}

impl SeedError {
    /// Whether the cause is an interruption.
    pub fn is_cancelled(&self) -> bool {
        match self {
            Self::Tree(error) => error.is_cancelled(),
            Self::Pytest(error) => error.is_cancelled(),
            _ => false,
        }
    }
}

/// What to seed.
#[derive(Debug, Clone)]
pub struct SeedSettings {
    /// The repository.
    pub repo: Utf8PathBuf,
    /// Its name in tasks and tables.
    pub name: String,
    /// Bugs wanted.
    pub count: usize,
    /// Folder to write.
    pub out: Utf8PathBuf,
    /// Seed of the sampling.
    pub seed: u64,
    /// Paths that the tests are limited to; empty = the project's own choice.
    pub paths: Vec<String>,
    /// Runs the tests; has pytest and what the project needs.
    pub interpreter: Interpreter,
    /// Memory that tests may use beyond what the interpreter has at start.
    pub memory_limit: Option<u64>,
}

/// What came out; also `seed.toml`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SeedReport {
    /// Version of the output's format.
    pub format: u32,
    /// Name of the repository.
    pub repository: String,
    /// Seed of the sampling.
    pub seed: u64,
    /// Version of Python.
    pub python: String,
    /// Tests that pass without any bug.
    pub passing: usize,
    /// Mutations of code that tests run.
    pub mutations: usize,
    /// Mutants tried.
    pub tried: usize,
    /// Mutants that became tasks.
    pub kept: usize,
    /// Mutants that no test noticed.
    pub survived: usize,
    /// Mutants that could not be imported or took the interpreter down.
    pub broken: usize,
    /// Mutants that looped for ever and were not kept.
    pub hung: usize,
    /// Mutants whose failures were not the same when run again.
    pub unstable: usize,
    /// Test files taken out, since they cannot be collected.
    pub uncollectable: Vec<String>,
    /// Tests taken out, since they fail without any bug.
    pub put_aside: Vec<String>,
}

/// Seeds bugs. `say` gets a line for each mutant kept, and one now and then.
pub fn seed(
    settings: &SeedSettings,
    cancel: &Cancel,
    say: &mut dyn FnMut(&str),
) -> Result<SeedReport, SeedError> {
    let in_use = settings.out.exists()
        && settings
            .out
            .read_dir_utf8()
            .map_err(TaskError::io(&settings.out))?
            .next()
            .is_some();
    if in_use {
        return Err(SeedError::OutputInUse(settings.out.clone()));
    }
    let tree = Tree::copy(&settings.repo, cancel)?;
    let (baseline, harness) = baseline::establish(&tree, settings, cancel, say)?;
    say(&format!(
        "{} tests pass in {:.1} s",
        baseline.passing.len(),
        baseline.suite_seconds
    ));
    copy_folder(tree.top(), &settings.out.join(PRISTINE))?;
    let passing: Vec<&String> = baseline.passing.iter().collect();
    write_file(
        &settings.out.join(PASSING),
        serde_json::to_string_pretty(&passing)
            .unwrap_or_default()
            .as_bytes(),
    )?;
    let mut random = Random::new(settings.seed, &settings.name);
    let (files, mutations) = propose(tree.top(), &baseline);
    let mut seeder = Seeder {
        report: SeedReport {
            format: 1,
            repository: settings.name.clone(),
            seed: settings.seed,
            python: settings.interpreter.version(),
            passing: baseline.passing.len(),
            mutations: mutations.len(),
            uncollectable: baseline.uncollectable.clone(),
            put_aside: baseline.put_aside.clone(),
            ..SeedReport::default()
        },
        settings,
        tree: &tree,
        baseline: &baseline,
        harness: &harness,
        files: &files,
        hanging: 0,
        cancel,
    };
    let mut sample = Sample::new(mutations, &mut random);
    // A repository whose tests notice hardly anything must not be tried for ever.
    let most = settings.count * 30 + 100;
    while seeder.report.kept < settings.count && seeder.report.tried < most {
        let Some(mutation) = sample.next() else {
            break;
        };
        if let Some(line) = seeder.mutation(&mutation, &mut random)? {
            sample.kept(&mutation);
            say(&line);
        }
    }
    let report = seeder.report;
    write_toml(&settings.out.join("seed.toml"), &report)?;
    Ok(report)
}

/// Parsed files by path.
type Files = BTreeMap<Utf8PathBuf, Syntax>;

/// All mutations of code that passing tests run.
fn propose(top: &Utf8Path, baseline: &Baseline) -> (Files, Vec<Mutation>) {
    let (mut files, mut all) = (Files::new(), Vec::new());
    for file in baseline.coverage.keys() {
        if is_test_path(file) {
            continue;
        }
        let syntax = fs::read(top.join(file))
            .ok()
            .and_then(|bytes| SourceFile::decode(file.clone(), bytes).ok())
            .and_then(|source| Syntax::parse(source).ok())
            .filter(|syntax| !syntax.has_errors());
        if let Some(syntax) = syntax {
            let found = operators::mutations(&syntax);
            let run = |mutation: &Mutation| !covering(mutation, &syntax, baseline).is_empty();
            all.extend(found.into_iter().filter(run));
            files.insert(file.clone(), syntax);
        }
    }
    (files, all)
}

/// Passing tests that run the lines of a mutation.
fn covering(mutation: &Mutation, syntax: &Syntax, baseline: &Baseline) -> BTreeSet<String> {
    let file = syntax.file();
    let Some(lines) = baseline.coverage.get(file.path()) else {
        return BTreeSet::new();
    };
    let mut out = BTreeSet::new();
    let mut add = |first: usize, last: usize| {
        for (_, tests) in lines.range(first..=last.max(first)) {
            out.extend(tests.iter().cloned());
        }
    };
    if mutation.operator == "wrong-default" {
        // A default is evaluated at import, but it matters to whoever calls the function.
        let function = syntax.functions().iter().find(|function| {
            function.first_line <= mutation.line
                && mutation.line <= function.last_line
                && function.qualname == mutation.function
        });
        if let Some(function) = function {
            let body = file.line_of(function.body.start);
            add(body, function.last_line);
        }
        return out;
    }
    for edit in &mutation.edits {
        let first = file.line_of(edit.start);
        let last = file.line_of(edit.end.saturating_sub(1).max(edit.start));
        add(first, last);
        // A statement over several lines may be seen on another line of it.
        if let Some(index) = syntax.statement_at_line(mutation.line) {
            let statement = &syntax.statements()[index];
            add(statement.first_line, statement.last_line);
        }
    }
    out
}

/// The work on one mutation after another.
struct Seeder<'a> {
    report: SeedReport,
    settings: &'a SeedSettings,
    tree: &'a Tree,
    baseline: &'a Baseline,
    harness: &'a Harness,
    files: &'a Files,
    /// Kept mutants that hang.
    hanging: usize,
    cancel: &'a Cancel,
}

impl Seeder<'_> {
    /// Tries a mutation and writes a task when it is caught; the line for people who wait.
    fn mutation(
        &mut self,
        mutation: &Mutation,
        random: &mut Random,
    ) -> Result<Option<String>, SeedError> {
        let Some(syntax) = mutation
            .edits
            .first()
            .and_then(|edit| self.files.get(&edit.file))
        else {
            return Ok(None);
        };
        let file = syntax.file();
        let Some(mutant) = mutant(file, mutation) else {
            return Ok(None);
        };
        if same_tokens(file.bytes(), &mutant.bytes) {
            return Ok(None);
        }
        self.report.tried += 1;
        self.tree.write(file.path(), &mutant.bytes)?;
        let covering = covering(mutation, syntax, self.baseline);
        // Few bugs make a program loop for ever; mutations do so more often.
        let may_hang = self.hanging < (self.settings.count / 10).max(1);
        let trier = Trier {
            harness: self.harness,
            baseline: self.baseline,
            paths: &self.settings.paths,
            cancel: self.cancel,
        };
        let trial = trier.trial(&covering, may_hang);
        self.tree.write(file.path(), file.bytes())?;
        let (tests, hangs) = match trial? {
            Trial::Caught { tests, hangs } => (tests, hangs),
            Trial::Survived => {
                self.report.survived += 1;
                return Ok(None);
            }
            Trial::Broken => {
                self.report.broken += 1;
                return Ok(None);
            }
            Trial::Hung => {
                self.report.hung += 1;
                return Ok(None);
            }
        };
        let hideable = |group: &[String]| {
            let group = group.iter().cloned().collect();
            let how = conceal(self.tree.top(), &group, &self.baseline.collected, true);
            how.also.is_empty()
        };
        let split = split(&tests, random, hideable);
        let Some((split, hidden)) = self.settle(file.path(), &mutant, split, &tests, hangs)? else {
            self.report.unstable += 1;
            return Ok(None);
        };
        self.report.kept += 1;
        self.hanging += usize::from(hangs);
        let name = format!("{}-{:02}", self.settings.name, self.report.kept);
        let kept = Kept {
            name: &name,
            mutation,
            file,
            mutant: &mutant,
            split: &split,
            concealment: &hidden,
            hangs,
        };
        write(self.settings, self.baseline, &kept)?;
        Ok(Some(format!(
            "{name}: {} in {} ({}:{}): {}; caught by {} tests, {} hidden",
            mutation.operator,
            if mutation.function.is_empty() {
                "the module"
            } else {
                &mutation.function
            },
            file.path(),
            mutation.line,
            mutation.summary,
            tests.len(),
            split.hidden.len()
        )))
    }

    /// Hides tests, and makes sure that the visible ones still show the bug and nothing else does. The
    /// fewer means: cutting functions out, deselecting, hiding nothing.
    fn settle(
        &self,
        file: &Utf8Path,
        mutant: &Mutant,
        split: Split,
        catching: &[String],
        hangs: bool,
    ) -> Result<Option<(Split, Concealment)>, SeedError> {
        let hidden: BTreeSet<String> = split.hidden.iter().cloned().collect();
        if !hidden.is_empty() {
            for cut in [true, false] {
                let how = conceal(self.tree.top(), &hidden, &self.baseline.collected, cut);
                if how.also.is_empty() && self.shows(file, mutant, &split, &how, hangs)? {
                    return Ok(Some((split, how)));
                }
            }
        }
        let open = Split {
            visible: catching.to_vec(),
            hidden: Vec::new(),
        };
        let nothing = Concealment::default();
        Ok(self
            .shows(file, mutant, &open, &nothing, hangs)?
            .then_some((open, nothing)))
    }

    /// Whether in the tree as a tool will see it exactly the visible tests fail, and no other is gone.
    fn shows(
        &self,
        file: &Utf8Path,
        mutant: &Mutant,
        split: &Split,
        how: &Concealment,
        hangs: bool,
    ) -> Result<bool, SeedError> {
        let mut before = vec![(file.to_owned(), self.files[file].file().bytes().to_vec())];
        for path in how.files.keys() {
            let bytes = fs::read(self.tree.top().join(path)).map_err(TaskError::io(path))?;
            before.push((path.clone(), bytes));
        }
        self.tree.write(file, &mutant.bytes)?;
        for (path, bytes) in &how.files {
            self.tree.write(path, bytes)?;
        }
        let mut harness = self.harness.clone();
        harness.args.extend(how.args.iter().cloned());
        let mut request = Request::run(self.settings.paths.clone());
        request.deadline =
            std::time::Duration::from_secs_f64(30.0 + 5.0 * self.baseline.suite_seconds);
        if hangs {
            // What hangs was looked at on its own; here it would only use up the time.
            let rest = self.baseline.passing.iter();
            let rest = rest.filter(|id| !split.visible.contains(id) && !split.hidden.contains(id));
            request.select = Some(rest.cloned().collect());
        }
        let results = harness.run(&request, self.cancel);
        for (path, bytes) in before {
            self.tree.write(&path, &bytes)?;
        }
        let results = results?;
        let seen: BTreeSet<&String> = results.all.iter().collect();
        let wanted = self.baseline.collected.iter();
        let complete = wanted
            .filter(|id| !split.hidden.contains(id))
            .all(|id| seen.contains(id));
        let hidden = !split.hidden.iter().any(|id| seen.contains(id));
        let failing: BTreeSet<&String> = self
            .baseline
            .passing
            .iter()
            .filter(|id| {
                let test = results.tests.get(*id);
                test.is_some_and(|test| test.outcome == TestOutcome::Failed)
            })
            .collect();
        let expected: BTreeSet<&String> = if hangs {
            BTreeSet::new()
        } else {
            split.visible.iter().collect()
        };
        Ok(results.complete && complete && hidden && failing == expected)
    }
}
