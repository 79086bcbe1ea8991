//! `eval reaches`: lines that tests reach, reached again by `infer` without a look at the tests.

mod passed;
mod searched;
mod shown;
mod tested;

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_dataset::random::Random;
use ndbg_tasks::Task;
use ndbg_tools::Cancel;
use ndbg_tools::python::executions::Subject;
use serde::Serialize;

use self::passed::{Form, Judge};
use self::searched::{Searched, Why};
use self::tested::{Function, Origin, Statement, Tested};
use super::crosshair::CrossHair;
use super::{Evaluated, Progress};
use crate::fix::stop::Stop;
use crate::model::Reality;
use crate::outcome::Outcome;
use crate::report::Reporter;

/// What is evaluated.
#[derive(Debug, Clone)]
pub struct ReachesSettings {
    /// Projects with tests.
    pub repos: Vec<Utf8PathBuf>,
    /// A folder of tasks; each is a project, with its fix.
    pub tasks: Option<Utf8PathBuf>,
    /// Functions of each project at most.
    pub count: usize,
    /// Seconds for each function.
    pub seconds: f64,
    /// Draws functions, and all that is drawn in the search.
    pub seed: u64,
    /// Interpreter that runs tests and calls.
    pub python: Option<Utf8PathBuf>,
    /// Where CrossHair is.
    pub crosshair: Option<Utf8PathBuf>,
    /// Functions that CrossHair gets at most.
    pub crosshair_count: usize,
}

/// A function, and who reached what of it.
#[derive(Debug, Serialize)]
struct Entry {
    project: String,
    file: Utf8PathBuf,
    function: String,
    annotated: bool,
    /// What tests reach.
    lines: Vec<Statement>,
    /// What one call that returns reaches.
    one_call: BTreeSet<usize>,
    infer: Searched,
    crosshair: Option<Solved>,
}

impl Entry {
    /// Whether it needs an object, or its class.
    fn is_method(&self) -> bool {
        self.function.contains('.')
    }
}

/// What CrossHair came to.
#[derive(Debug, Serialize)]
struct Solved {
    reached: BTreeSet<usize>,
    calls: Vec<String>,
    seconds: f64,
    /// Whether it had to be ended, and said nothing.
    cut: bool,
}

/// Evaluates.
///
/// # Errors
/// No project, no tests, no CrossHair where one is named, or an interruption.
pub fn reaches(
    settings: &ReachesSettings,
    reporter: &Reporter,
    cancel: &Cancel,
    progress: &mut Progress<'_>,
) -> Evaluated {
    let scratch =
        tempfile::tempdir().map_err(|error| Stop::new(Outcome::Environment, error.to_string()))?;
    let folder = Utf8PathBuf::from_path_buf(scratch.path().to_owned()).unwrap_or_default();
    // Before all that takes time.
    let crosshair = match &settings.crosshair {
        Some(path) => Some(CrossHair::find(path, &folder, cancel)?),
        None => None,
    };
    let origins = origins(settings)?;
    let mut projects = Vec::with_capacity(origins.len());
    for (done, origin) in origins.iter().enumerate() {
        progress("tests", done, origins.len());
        projects.push(tested::tested(
            origin,
            settings.python.as_deref(),
            settings.count,
            settings.seed,
            reporter,
            cancel,
        )?);
    }
    let count = projects.iter().map(|project| project.functions.len()).sum();
    if count == 0 {
        return Err(Stop::new(
            Outcome::Environment,
            "the tests run no function of these projects",
        )
        .hint("functions of test files are left out"));
    }
    let mut entries: Vec<Entry> = Vec::with_capacity(count);
    let mut versions = BTreeSet::new();
    for project in &projects {
        let reality = open(project, cancel)?;
        versions.insert(reality.version.clone());
        for function in &project.functions {
            progress("infer", entries.len(), count);
            entries.push(entry(function, project, settings, &reality)?);
        }
    }
    if let Some(crosshair) = &crosshair {
        let drawn = drawn(count, settings.crosshair_count, settings.seed);
        let (mut at, mut done) = (0, 0);
        for project in &projects {
            let reality = open(project, cancel)?;
            for function in &project.functions {
                if drawn.contains(&at) {
                    progress("CrossHair", done, drawn.len());
                    let seconds = settings.seconds;
                    entries[at].crosshair =
                        Some(solved(function, project, crosshair, seconds, &reality)?);
                    done += 1;
                }
                at += 1;
            }
        }
    }
    let of = projects.iter().map(|project| project.of).sum();
    let versions: Vec<String> = versions.into_iter().collect();
    Ok(shown::evaluation(
        settings,
        &entries,
        of,
        &versions.join(", "),
        crosshair.as_ref(),
    ))
}

fn origins(settings: &ReachesSettings) -> Result<Vec<Origin>, Stop> {
    let mut origins: Vec<Origin> = settings.repos.iter().cloned().map(Origin::Folder).collect();
    if let Some(folder) = &settings.tasks {
        let tasks = Task::list(folder, None).map_err(|error| {
            Stop::new(Outcome::Usage, error.to_string())
                .hint("a folder of tasks is `tasks/examples` of this program's repository")
        })?;
        origins.extend(tasks.into_iter().map(|task| Origin::Task(Box::new(task))));
    }
    Ok(origins)
}

/// The interpreter of a project's tests.
fn open(project: &Tested, cancel: &Cancel) -> Result<Reality, Stop> {
    Reality::open(Some(&project.session.harness.interpreter.path), cancel)
}

fn entry(
    function: &Function,
    project: &Tested,
    settings: &ReachesSettings,
    reality: &Reality,
) -> Result<Entry, Stop> {
    let subject = searched::subject(function, &project.session.tree.folder());
    let mut entry = Entry {
        project: function.project.clone(),
        file: function.file.clone(),
        function: function.name.clone(),
        annotated: function.annotated,
        lines: function.lines.clone(),
        one_call: BTreeSet::new(),
        infer: Searched::default(),
        crosshair: None,
    };
    match judge(&subject, reality)? {
        Some(mut judge) => {
            let (seconds, seed) = (settings.seconds, settings.seed);
            entry.one_call = searched::one_call(function, &subject, &mut judge, seed, reality)?;
            entry.infer =
                searched::searched(function, &subject, &mut judge, seconds, seed, reality)?;
        }
        None => {
            let lines = function.lines.iter();
            entry.infer.missed = lines.map(|line| (line.line, Why::Import)).collect();
        }
    }
    Ok(entry)
}

/// The judge of a function's calls; none where the module cannot be imported.
fn judge<'r>(subject: &Subject, reality: &'r Reality) -> Result<Option<Judge<'r>>, Stop> {
    match Judge::start(subject, reality) {
        Ok(judge) => Ok(Some(judge)),
        Err(stop) if stop.outcome == Outcome::Interrupted => Err(stop),
        Err(_) => Ok(None),
    }
}

fn solved(
    function: &Function,
    project: &Tested,
    crosshair: &CrossHair,
    seconds: f64,
    reality: &Reality,
) -> Result<Solved, Stop> {
    let subject = searched::subject(function, &project.session.tree.folder());
    let root = subject.root.clone().unwrap_or_default();
    let target = format!("{}.{}", module(&subject.file, &root), function.name);
    let said = crosshair.cover(&target, &root, seconds)?;
    let mut reached = BTreeSet::new();
    if let Some(mut judge) = judge(&subject, reality)? {
        for call in &said.answer {
            let passed = searched::confirmed(&mut judge, Form::Unbound, call)?;
            reached.extend(searched::statements(&function.lines, &passed));
        }
    }
    Ok(Solved {
        reached,
        calls: said.answer,
        seconds: said.seconds,
        cut: said.cut,
    })
}

/// The dotted name under which a file is imported.
fn module(file: &Utf8Path, root: &Utf8Path) -> String {
    let relative = file.strip_prefix(root).unwrap_or(file).with_extension("");
    let name = relative.as_str().replace(['/', '\\'], ".");
    name.strip_suffix(".__init__").unwrap_or(&name).to_owned()
}

/// Which of `of` functions CrossHair gets.
fn drawn(of: usize, most: usize, seed: u64) -> BTreeSet<usize> {
    let mut random = Random::of(seed, 1);
    let mut left: Vec<usize> = (0..of).collect();
    let mut drawn = BTreeSet::new();
    while drawn.len() < most && !left.is_empty() {
        drawn.insert(left.swap_remove(random.below(left.len())));
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_named_as_they_are_imported() {
        let name = |file: &str| module(Utf8Path::new(file), Utf8Path::new("/r/src"));
        assert_eq!(name("/r/src/pkg/__init__.py"), "pkg");
        assert_eq!(name("/r/src/pkg/sub/m.py"), "pkg.sub.m");
    }

    #[test]
    fn as_many_are_drawn_as_there_are_at_most() {
        assert_eq!(drawn(3, 9, 1), [0, 1, 2].into());
        assert_eq!(drawn(30, 9, 1).len(), 9);
        assert_eq!(drawn(30, 9, 1), drawn(30, 9, 1));
    }
}
