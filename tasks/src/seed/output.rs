//! What seeding writes.
//!
//! ```text
//! OUT/seed.toml                    what was done, for people
//! OUT/repo/                        the repository without any bug; tests that fail there are taken out
//! OUT/passing.json                 node ids of the tests that pass there
//! OUT/tasks/NAME/task.toml         the task
//! OUT/tasks/NAME/bug.patch         puts the bug in
//! OUT/tasks/NAME/conceal.patch     takes the hidden test functions out, where there are any
//! OUT/hidden/NAME/hidden.toml      the hidden tests
//! OUT/hidden/NAME/reference.patch  takes the bug out again
//! ```

use std::fs;

use camino::Utf8PathBuf;
use ndbg_tools::source::{SourceFile, unified_diff};

use super::baseline::Baseline;
use super::conceal::Concealment;
use super::files_of;
use super::place::Mutant;
use super::run::SeedSettings;
use super::site::Mutation;
use super::split::Split;
use crate::task::{
    Bug, DESCRIPTION, Description, HIDDEN, HiddenTests, PRISTINE, Seeded, TaskError, write_file,
    write_toml,
};

/// A mutant that becomes a task.
#[derive(Debug)]
pub struct Kept<'a> {
    pub name: &'a str,
    pub mutation: &'a Mutation,
    /// The file without the bug.
    pub file: &'a SourceFile,
    pub mutant: &'a Mutant,
    pub split: &'a Split,
    pub concealment: &'a Concealment,
    pub hangs: bool,
}

/// Writes the task and its hidden tests.
pub fn write(settings: &SeedSettings, baseline: &Baseline, kept: &Kept) -> Result<(), TaskError> {
    let folder = settings.out.join("tasks").join(kept.name);
    let hidden = settings.out.join("hidden").join(kept.name);
    let path = kept.file.path();
    let (before, after) = (kept.file.bytes(), &kept.mutant.bytes);
    let bug = unified_diff(path, before, after);
    write_file(&folder.join("bug.patch"), &bug)?;
    let reference = unified_diff(path, after, before);
    write_file(&hidden.join("reference.patch"), &reference)?;
    let mut patches = vec![Utf8PathBuf::from("bug.patch")];
    if !kept.concealment.files.is_empty() {
        let mut conceal = Vec::new();
        for (test_file, bytes) in &kept.concealment.files {
            let source = settings.out.join(PRISTINE).join(test_file);
            let whole = fs::read(&source).map_err(TaskError::io(source))?;
            conceal.extend(unified_diff(test_file, &whole, bytes));
        }
        write_file(&folder.join("conceal.patch"), &conceal)?;
        patches.push("conceal.patch".into());
    }
    let mut pytest_args = baseline.args.clone();
    pytest_args.extend(kept.concealment.args.iter().cloned());
    let visible = &kept.split.visible;
    let description = Description {
        name: kept.name.to_owned(),
        summary: match visible.as_slice() {
            [only] => format!("{only} fails."),
            all => format!("{} tests fail.", all.len()),
        },
        kind: kept.mutation.operator.to_owned(),
        difficulty: None,
        test: files_of(visible),
        fail_to_pass: visible.clone(),
        bug: Bug {
            file: path.to_owned(),
            function: kept.mutation.function.clone(),
            lines: kept.mutant.lines.clone(),
        },
        seed: Some(Seeded {
            repository: settings.name.clone(),
            operator: kept.mutation.operator.to_owned(),
            change: kept.mutation.summary.clone(),
            hangs: kept.hangs,
            patches,
            pytest_args,
            paths: settings.paths.clone(),
            suite_seconds: baseline.suite_seconds,
        }),
    };
    write_toml(&folder.join(DESCRIPTION), &description)?;
    let tests = HiddenTests {
        tests: kept.split.hidden.clone(),
        files: kept.concealment.files.keys().cloned().collect(),
    };
    write_toml(&hidden.join(HIDDEN), &tests)
}
