//! An opened project: its snapshot, a worktree, the interpreter, a way to run its tests.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tools::Cancel;
use ndbg_tools::project::{Base, Project};
use ndbg_tools::python::environment::{self, EnvironmentError, Interpreter};
use ndbg_tools::python::managed::{self, Requirements};
use ndbg_tools::python::plugin;
use ndbg_tools::python::pytest::Harness;
use ndbg_tools::worktree::{Scratch, Worktree};

use super::settings::ProjectSettings;
use super::stop::Stop;
use crate::outcome::Outcome;
use crate::report::{Event, Level, Reporter};
use ndbg_tools::python::requirements::test_requirements;

/// Everything that stays the same while a run lasts.
#[derive(Debug)]
pub struct Session {
    /// The user's project.
    pub project: Project,
    /// Its contents.
    pub base: Base,
    /// Our folder; goes away with the session.
    pub scratch: Arc<Scratch>,
    /// The worktree in which everything but verification runs.
    pub tree: Worktree,
    /// How tests are run in `tree`.
    pub harness: Harness,
    /// Set by Ctrl-C.
    pub cancel: Cancel,
}

/// Opens the project and says what was found.
pub fn open(
    settings: &ProjectSettings,
    reporter: &Reporter,
    cancel: &Cancel,
) -> Result<Session, Stop> {
    let project = Project::open(&settings.repo, cancel)?;
    let scratch = Arc::new(Scratch::new(&project)?);
    let base = project.snapshot(scratch.path(), cancel)?;
    let tree = Worktree::checkout(&scratch, &project, &base, cancel)?;
    reporter.emit(Event::Tree {
        how: if base.commit.is_some() {
            "worktree"
        } else {
            "copy"
        }
        .into(),
        base: base.commit.clone(),
        changed: base.changed.len(),
        untracked: base.untracked.clone(),
        left_out: base.left_out.clone(),
    });
    if !tree.folder().is_dir() {
        let message = format!("`{}` holds no tracked file", project.folder());
        return Err(Stop::new(Outcome::Environment, message)
            .hint("commit the project's files, or add them with `git add`"));
    }
    let interpreter = interpreter(settings, &project, &scratch, &tree, reporter, cancel)?;
    let plugin = plugin::install(&scratch.path().join("plugin")).map_err(|error| {
        Stop::new(
            Outcome::Environment,
            format!("cannot write to `{}`: {error}", scratch.path()),
        )
    })?;
    reporter.emit(Event::Environment {
        python: interpreter.path.clone(),
        version: interpreter.version(),
        rule: interpreter.rule.clone(),
        pytest: interpreter.probe.pytest.clone().unwrap_or_default(),
        managed: interpreter.managed,
        plugins: interpreter.probe.plugins.clone(),
    });
    let harness = Harness {
        interpreter,
        plugin,
        tmp: scratch.tmp(),
        top: tree.top().to_owned(),
        folder: tree.folder(),
        foreign: project.root.clone(),
        env: settings.env.clone(),
        args: settings.pytest_args.clone(),
        memory_limit: settings.memory_limit,
    };
    Ok(Session {
        project,
        base,
        scratch,
        tree,
        harness,
        cancel: cancel.clone(),
    })
}

/// Folders in which an environment is looked for: the project's folder, then the repository's root.
pub fn environment_folders(project: &Project) -> Vec<Utf8PathBuf> {
    let mut folders = vec![project.folder()];
    if project.folder() != project.root {
        folders.push(project.root.clone());
    }
    folders
}

fn interpreter(
    settings: &ProjectSettings,
    project: &Project,
    scratch: &Arc<Scratch>,
    tree: &Worktree,
    reporter: &Reporter,
    cancel: &Cancel,
) -> Result<Interpreter, Stop> {
    let found = environment::discover(
        settings.python.as_deref(),
        &environment_folders(project),
        cancel,
    );
    let (interpreter, passed_over) = environment::choose(&found, &project.root, cancel)?;
    for text in passed_over {
        note(reporter, Level::Warning, text, None);
    }
    if interpreter.probe.pytest.is_some() && !settings.install {
        return Ok(interpreter);
    }
    let text = format!(
        "`{}` (Python {}) {}",
        interpreter.path,
        interpreter.version(),
        if interpreter.probe.pytest.is_some() {
            "is used through a managed environment"
        } else {
            "has no pytest"
        }
    );
    note(reporter, Level::Info, text, None);
    let requirements = if settings.install {
        // Builds write beside the sources: they get a copy of their own.
        let copy = scratch.path().join("install");
        copy_tree(&tree.folder(), &copy).map_err(|error| {
            Stop::new(
                Outcome::Environment,
                format!("cannot copy the project: {error}"),
            )
        })?;
        test_requirements(&copy)
    } else {
        Requirements::default()
    };
    let mut say = |line: &str| note(reporter, Level::Info, line.to_owned(), None);
    managed::environment(&interpreter, &requirements, &project.root, cancel, &mut say).map_err(
        |error| {
            let hint = error.hint();
            let managed = matches!(error, EnvironmentError::Managed(_));
            let stop = Stop::from(error);
            if managed { stop.hint(hint) } else { stop }
        },
    )
}

/// Emits a note.
pub fn note(reporter: &Reporter, level: Level, text: String, hint: Option<String>) {
    reporter.emit(Event::Note { level, text, hint });
}

fn copy_tree(from: &Utf8Path, to: &Utf8Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in from.read_dir_utf8()? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_tree(entry.path(), &target)?;
        } else if kind.is_file() {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
