//! The task format: reading and writing `task.toml`.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Name of the description in a task's folder.
pub const DESCRIPTION: &str = "task.toml";
/// Name of the description of a seeded task's hidden tests.
pub const HIDDEN: &str = "hidden.toml";
/// Folder of a seeding that holds the repository without any bug.
pub const PRISTINE: &str = "repo";
/// File of a seeding that lists the tests that pass without any bug.
pub const PASSING: &str = "passing.json";

/// Why a task cannot be used.
#[derive(Debug, Error)]
pub enum TaskError {
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: Utf8PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// A file is not in the format; the message of the parser names the field.
    #[error("{path}: {message}")]
    Syntax {
        /// The file.
        path: Utf8PathBuf,
        /// What the parser said.
        message: String,
    },
    /// A field has a value that cannot be right.
    #[error("{path}: `{field}` {message}")]
    Field {
        /// The file.
        path: Utf8PathBuf,
        /// The field, dotted.
        field: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// A folder without any task.
    #[error("`{0}` holds no task")]
    NoTasks(Utf8PathBuf),
}

impl TaskError {
    pub(crate) fn io(path: impl Into<Utf8PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}

/// How hard a bundled task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Difficulty {
    /// One token or one obvious line.
    Easy,
    /// One place, several tokens.
    Middle,
    /// Several places or a new idea.
    Hard,
}

impl Difficulty {
    /// The word in `task.toml`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Easy => "easy",
            Self::Middle => "middle",
            Self::Hard => "hard",
        }
    }
}

/// Where the bug is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bug {
    /// File, relative to the task's repository.
    pub file: Utf8PathBuf,
    /// Function to change, such as `Class.method`; empty at module level.
    pub function: String,
    /// One-based lines that are wrong; of a missing line an existing line next to its place.
    pub lines: Vec<usize>,
}

/// What only a seeded task has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seeded {
    /// Name of the repository that the bug was put into.
    pub repository: String,
    /// Mutation operator that made the bug.
    pub operator: String,
    /// What is wrong, in words.
    pub change: String,
    /// Whether the buggy program loops for ever in one of the tests.
    #[serde(default)]
    pub hangs: bool,
    /// Patches that turn the pristine repository into what a tool is given, in order: the bug, then
    /// the removal of hidden test functions.
    pub patches: Vec<Utf8PathBuf>,
    /// pytest arguments that hide the tests which are no functions of their own.
    #[serde(default)]
    pub pytest_args: Vec<String>,
    /// Paths that the project's tests were limited to; empty = the project's own choice.
    #[serde(default)]
    pub paths: Vec<String>,
    /// Seconds that all tests take without the bug.
    pub suite_seconds: f64,
}

/// Tests of a seeded task that a tool never sees.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HiddenTests {
    /// Node ids.
    pub tests: Vec<String>,
    /// Test files that have to be taken from the pristine repository before they can run.
    pub files: Vec<Utf8PathBuf>,
}

/// Where the contents of a task come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Origin {
    /// The task's folder is the repository; `test_*.py` files in the hidden folder are its hidden tests.
    Bundled,
    /// A pristine repository with patches on top.
    Seeded {
        /// The pristine repository.
        repository: Utf8PathBuf,
        /// Tests that pass there.
        passing: Utf8PathBuf,
        /// The rest.
        seeded: Box<Seeded>,
    },
}

/// A task.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Name of its folder.
    pub name: String,
    /// One sentence of the symptom.
    pub summary: String,
    /// Kind of mistake.
    pub kind: String,
    /// How hard it is; seeded tasks have none.
    pub difficulty: Option<Difficulty>,
    /// Test files for `--test`.
    pub test: Vec<String>,
    /// Visible tests that fail because of the bug.
    pub fail_to_pass: Vec<String>,
    /// Where the bug is.
    pub bug: Bug,
    /// The task's folder.
    pub folder: Utf8PathBuf,
    /// Folder with its hidden tests.
    pub hidden: Utf8PathBuf,
    /// Where its contents come from.
    pub origin: Origin,
}

/// `task.toml` as written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Description {
    pub name: String,
    pub summary: String,
    pub kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difficulty: Option<Difficulty>,
    pub test: Vec<String>,
    pub fail_to_pass: Vec<String>,
    pub bug: Bug,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seeded>,
}

impl Task {
    /// Loads the task in `folder`; its hidden tests lie in `hidden`/<name>.
    pub fn load(folder: &Utf8Path, hidden: &Utf8Path) -> Result<Self, TaskError> {
        let path = folder.join(DESCRIPTION);
        let read: Description = read_toml(&path)?;
        let wrong = |field: &'static str, message: &str| TaskError::Field {
            path: path.clone(),
            field,
            message: message.to_owned(),
        };
        if Some(read.name.as_str()) != folder.file_name() {
            return Err(wrong("name", "is not the name of the folder"));
        }
        if read.test.is_empty() {
            return Err(wrong("test", "names no test file"));
        }
        if read.fail_to_pass.is_empty() {
            return Err(wrong("fail_to_pass", "names no test"));
        }
        if read.bug.lines.is_empty() || read.bug.lines.contains(&0) {
            return Err(wrong("bug.lines", "needs line numbers from 1"));
        }
        let origin = match read.seed {
            None => {
                if read.difficulty.is_none() {
                    return Err(wrong("difficulty", "is missing"));
                }
                if !folder.join(&read.bug.file).is_file() {
                    return Err(wrong("bug.file", "does not exist"));
                }
                Origin::Bundled
            }
            Some(seeded) => {
                if seeded.patches.is_empty() {
                    return Err(wrong("seed.patches", "names no patch"));
                }
                let top = folder.parent().and_then(Utf8Path::parent);
                let top = top.unwrap_or(folder);
                if !top.join(PRISTINE).join(&read.bug.file).is_file() {
                    return Err(wrong(
                        "bug.file",
                        "does not exist in the pristine repository",
                    ));
                }
                Origin::Seeded {
                    repository: top.join(PRISTINE),
                    passing: top.join(PASSING),
                    seeded: Box::new(seeded),
                }
            }
        };
        Ok(Self {
            hidden: hidden.join(&read.name),
            folder: folder.to_owned(),
            name: read.name,
            summary: read.summary,
            kind: read.kind,
            difficulty: read.difficulty,
            test: read.test,
            fail_to_pass: read.fail_to_pass,
            bug: read.bug,
            origin,
        })
    }

    /// All tasks in a folder, sorted by name. `folder` may be the output of a seeding, too: its tasks
    /// lie one level deeper. `hidden` is the sibling folder of that name unless given.
    pub fn list(folder: &Utf8Path, hidden: Option<&Utf8Path>) -> Result<Vec<Self>, TaskError> {
        let absolute = folder
            .canonicalize_utf8()
            .map_err(TaskError::io(folder.to_owned()))?;
        let folder = if absolute.join(PASSING).is_file() && absolute.join("tasks").is_dir() {
            absolute.join("tasks")
        } else {
            absolute
        };
        let sibling = folder.parent().unwrap_or(&folder).join("hidden");
        let hidden = hidden.unwrap_or(&sibling);
        let mut tasks = Vec::new();
        for entry in folder
            .read_dir_utf8()
            .map_err(TaskError::io(folder.clone()))?
        {
            let entry = entry.map_err(TaskError::io(folder.clone()))?;
            if entry.path().join(DESCRIPTION).is_file() {
                tasks.push(Self::load(entry.path(), hidden)?);
            }
        }
        if tasks.is_empty() {
            return Err(TaskError::NoTasks(folder));
        }
        tasks.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(tasks)
    }

    /// What only a seeded task has.
    pub fn seeded(&self) -> Option<&Seeded> {
        match &self.origin {
            Origin::Bundled => None,
            Origin::Seeded { seeded, .. } => Some(seeded),
        }
    }

    /// The folder that the task's files come from.
    pub fn source(&self) -> &Utf8Path {
        match &self.origin {
            Origin::Bundled => &self.folder,
            Origin::Seeded { repository, .. } => repository,
        }
    }

    /// Hidden tests of a seeded task; empty for a bundled one, whose hidden tests are files.
    pub fn hidden_tests(&self) -> Result<HiddenTests, TaskError> {
        match &self.origin {
            Origin::Bundled => Ok(HiddenTests::default()),
            Origin::Seeded { .. } => read_toml(&self.hidden.join(HIDDEN)),
        }
    }

    /// Tests that pass without the bug, where they are on record.
    pub fn passing(&self) -> Result<Option<Vec<String>>, TaskError> {
        let Origin::Seeded { passing, .. } = &self.origin else {
            return Ok(None);
        };
        let text = fs::read_to_string(passing).map_err(TaskError::io(passing.clone()))?;
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|error| TaskError::Syntax {
                path: passing.clone(),
                message: error.to_string(),
            })
    }
}

pub(crate) fn read_toml<T: for<'a> Deserialize<'a>>(path: &Utf8Path) -> Result<T, TaskError> {
    let text = fs::read_to_string(path).map_err(TaskError::io(path))?;
    toml::from_str(&text).map_err(|error| TaskError::Syntax {
        path: path.to_owned(),
        // The parser quotes the line over several lines; one is enough beside the field's name.
        message: error.to_string().trim_end().to_owned(),
    })
}

pub(crate) fn write_toml<T: Serialize>(path: &Utf8Path, value: &T) -> Result<(), TaskError> {
    let text = toml::to_string_pretty(value).map_err(|error| TaskError::Syntax {
        path: path.to_owned(),
        message: error.to_string(),
    })?;
    write_file(path, text.as_bytes())
}

/// Writes a file and the folders above it.
pub(crate) fn write_file(path: &Utf8Path, bytes: &[u8]) -> Result<(), TaskError> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(TaskError::io(parent))?;
    }
    fs::write(path, bytes).map_err(TaskError::io(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
name = "demo"
summary = "It is wrong."
kind = "boundary"
difficulty = "easy"
test = ["tests/test_demo.py"]
fail_to_pass = ["tests/test_demo.py::test_it"]
[bug]
file = "demo.py"
function = "f"
lines = [2]
"#;

    fn load(text: &str) -> Result<Task, TaskError> {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap().join("demo");
        write_file(&root.join(DESCRIPTION), text.as_bytes()).unwrap();
        write_file(&root.join("demo.py"), b"def f():\n    return 1\n").unwrap();
        Task::load(&root, Utf8Path::new("/hidden"))
    }

    #[test]
    fn a_bundled_task_is_read() {
        let task = load(GOOD).unwrap();
        assert_eq!(task.difficulty, Some(Difficulty::Easy));
        assert_eq!(task.bug.lines, [2]);
        assert_eq!(task.hidden, "/hidden/demo");
        assert_eq!(task.origin, Origin::Bundled);
    }

    #[test]
    fn errors_name_file_and_field() {
        for (from, to, field) in [
            ("name = \"demo\"", "name = \"other\"", "name"),
            ("kind = \"boundary\"", "", "kind"),
            (
                "difficulty = \"easy\"",
                "difficulty = \"tiny\"",
                "difficulty",
            ),
            ("difficulty = \"easy\"", "", "difficulty"),
            ("lines = [2]", "lines = []", "bug.lines"),
            ("demo.py\"\nfunction", "gone.py\"\nfunction", "bug.file"),
            ("[bug]", "colour = 1\n[bug]", "colour"),
        ] {
            assert!(GOOD.contains(from));
            let error = load(&GOOD.replace(from, to)).unwrap_err().to_string();
            assert!(
                error.contains("demo/task.toml") && error.contains(field),
                "{error}"
            );
        }
    }

    #[test]
    fn the_bundled_tasks_are_well_formed() {
        let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
        let tasks = Task::list(&root.join("examples"), None).unwrap();
        assert!(tasks.len() >= 18);
        for task in tasks {
            assert!(task.hidden.join("test_hidden.py").is_file());
            assert!(task.hidden.join("reference.patch").is_file());
        }
    }

    #[test]
    fn a_folder_without_tasks_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        assert!(matches!(Task::list(root, None), Err(TaskError::NoTasks(_))));
    }
}
