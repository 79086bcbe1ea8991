//! Functions that a project's tests run, and the lines of them that they reach.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_dataset::random::Random;
use ndbg_tasks::Task;
use ndbg_tasks::tree::Tree;
use ndbg_tools::Cancel;
use ndbg_tools::python::pytest::{Mode, Request, function_of};
use ndbg_tools::source::SourceFile;
use ndbg_tools::source::syntax::Syntax;
use serde::Serialize;

use crate::fix::session::{self, Session};
use crate::fix::settings::ProjectSettings;
use crate::fix::stop::Stop;
use crate::outcome::Outcome;
use crate::report::Reporter;
use ndbg_tools::protected::is_protected;

/// Time after which no further test is started.
const TESTS: Duration = Duration::from_mins(3);
/// The fix of a bundled task, beside its hidden tests.
const FIX: &str = "reference.patch";
/// What stands in a test that replaces parts of a program.
const REPLACING: [&str; 4] = ["monkeypatch", "mock", "mocker", "patch("];

/// A statement that tests reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Statement {
    /// Where it begins.
    pub line: usize,
    /// Where its header ends.
    #[serde(skip)]
    pub last: usize,
    /// Whether it stands in a function inside of the function.
    pub nested: bool,
    /// Whether each test that reaches it replaces parts of the program.
    pub replaced: bool,
}

/// A function with the lines that tests reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Project that it is of.
    pub project: String,
    /// File, relative to the project.
    pub file: Utf8PathBuf,
    /// `f` or `C.m`.
    pub name: String,
    /// What tests reach, by line.
    pub lines: Vec<Statement>,
    /// Whether its source says types of parameters.
    pub annotated: bool,
    /// Whether a later definition has its name: a setter of a property, an overload.
    pub shadowed: bool,
}

/// A project whose tests ran.
#[derive(Debug)]
pub struct Tested {
    /// Opened; its worktree holds the files.
    pub session: Session,
    /// Drawn functions, in the order of their files.
    pub functions: Vec<Function>,
    /// Functions that tests run, drawn or not.
    pub of: usize,
    _tree: Option<Tree>,
}

/// Where a project is from.
#[derive(Debug, Clone)]
pub enum Origin {
    /// A folder.
    Folder(Utf8PathBuf),
    /// A bundled task, with its fix.
    Task(Box<Task>),
}

impl Origin {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Self::Folder(folder) => folder.file_name().unwrap_or(folder.as_str()),
            Self::Task(task) => &task.name,
        }
    }
}

/// Opens a project, runs its tests and draws functions.
///
/// # Errors
/// No project, no interpreter with pytest, no test that ran, or an interruption.
pub fn tested(
    origin: &Origin,
    python: Option<&Utf8Path>,
    most: usize,
    seed: u64,
    reporter: &Reporter,
    cancel: &Cancel,
) -> Result<Tested, Stop> {
    let tree = match origin {
        Origin::Folder(_) => None,
        Origin::Task(task) => Some(fixed(task, cancel)?),
    };
    let repo = match (origin, &tree) {
        (_, Some(tree)) => tree.top().to_owned(),
        (Origin::Folder(folder), None) => folder.clone(),
        (Origin::Task(task), None) => task.folder.clone(),
    };
    let settings = ProjectSettings::as_it_is(repo, python.map(Utf8Path::to_owned), Some(2 << 30));
    let session = session::open(&settings, reporter, cancel)?;
    let request = Request {
        mode: Mode::Spectrum,
        neutral: true,
        soft_limit: Some(TESTS),
        deadline: TESTS + Duration::from_mins(1),
        ..Request::run(Vec::new())
    };
    let results = session.harness.run(&request, cancel)?;
    if results.tests.is_empty() {
        let message = format!("no test of `{}` ran", origin.name());
        return Err(Stop::new(Outcome::Environment, message).hint(
            "`--python` names an interpreter that has what its tests import; see `ndbg-agent doctor`",
        ));
    }
    session.tree.restore(cancel)?;
    let mut functions = functions(origin.name(), &session, &results.coverage);
    let of = functions.len();
    draw(&mut functions, most, seed);
    Ok(Tested {
        session,
        functions,
        of,
        _tree: tree,
    })
}

fn fixed(task: &Task, cancel: &Cancel) -> Result<Tree, Stop> {
    let wrong =
        |error: String| Stop::new(Outcome::Environment, format!("`{}`: {error}", task.name));
    let tree = Tree::visible(task, cancel).map_err(|error| {
        if error.is_cancelled() {
            Stop::interrupted()
        } else {
            wrong(error.to_string())
        }
    })?;
    if let Ok(patch) = std::fs::read(task.hidden.join(FIX)) {
        tree.apply(&patch, cancel)
            .map_err(|error| wrong(error.to_string()))?;
    }
    Ok(tree)
}

type Coverage = [(String, BTreeMap<Utf8PathBuf, Vec<usize>>)];

fn functions(project: &str, session: &Session, coverage: &Coverage) -> Vec<Function> {
    let replacing = replacing(session, coverage);
    // By file and line: whether a test that replaces nothing reaches it.
    let mut reached: BTreeMap<&Utf8PathBuf, BTreeMap<usize, bool>> = BTreeMap::new();
    for (test, files) in coverage.iter().filter(|(test, _)| !test.is_empty()) {
        let plain = !replacing.contains(test);
        for (file, lines) in files {
            let known = reached.entry(file).or_default();
            for line in lines {
                *known.entry(*line).or_default() |= plain;
            }
        }
    }
    let mut found = Vec::new();
    for (file, reached) in reached {
        if is_protected(file) {
            continue;
        }
        let Some(syntax) = parsed(&session.tree.folder().join(file)) else {
            continue;
        };
        found.extend(in_file(project, file, &syntax, &reached));
    }
    found
}

fn parsed(path: &Utf8Path) -> Option<Syntax> {
    let bytes = std::fs::read(path).ok()?;
    Syntax::parse(SourceFile::decode(path, bytes).ok()?).ok()
}

fn in_file(
    project: &str,
    file: &Utf8Path,
    syntax: &Syntax,
    reached: &BTreeMap<usize, bool>,
) -> Vec<Function> {
    let all = syntax.functions();
    let outermost = |mut at: usize| {
        while let Some(parent) = all[at].parent {
            at = parent;
        }
        at
    };
    let mut lines: BTreeMap<usize, BTreeMap<usize, Statement>> = BTreeMap::new();
    for statement in syntax.statements() {
        // `except` and `case` are no statements of Python's, so no goal of a search.
        if matches!(
            statement.kind,
            "except_clause" | "except_group_clause" | "case_clause"
        ) {
            continue;
        }
        let Some(function) = statement.function else {
            continue;
        };
        let passed = reached.range(statement.first_line..=statement.last_line);
        let passed: Vec<bool> = passed.map(|(_, plain)| *plain).collect();
        if passed.is_empty() {
            continue;
        }
        let top = outermost(function);
        lines
            .entry(top)
            .or_default()
            .entry(statement.first_line)
            .or_insert(Statement {
                line: statement.first_line,
                last: statement.last_line,
                nested: function != top,
                replaced: !passed.contains(&true),
            });
    }
    lines
        .into_iter()
        .map(|(at, lines)| {
            let function = &all[at];
            let header = &syntax.file().text()[function.span.start..function.body.start];
            Function {
                project: project.to_owned(),
                file: file.to_owned(),
                name: function.qualname.clone(),
                lines: lines.into_values().collect(),
                annotated: header.contains("->") || header.matches(": ").count() > 0,
                shadowed: all[at + 1..]
                    .iter()
                    .any(|other| other.qualname == function.qualname),
            }
        })
        .collect()
}

/// Tests that replace parts of the program, by what their own text says.
fn replacing(session: &Session, coverage: &Coverage) -> BTreeSet<String> {
    let mut files: BTreeMap<String, Option<Syntax>> = BTreeMap::new();
    let mut found = BTreeSet::new();
    for (test, _) in coverage {
        let mut parts = function_of(test).split("::");
        let Some(file) = parts.next().filter(|file| !file.is_empty()) else {
            continue;
        };
        let name = parts.collect::<Vec<_>>().join(".");
        let syntax = files
            .entry(file.to_owned())
            .or_insert_with(|| parsed(&session.tree.folder().join(file)));
        let Some(syntax) = syntax else { continue };
        let text = syntax.functions().iter().find(|one| one.qualname == name);
        let text = text.map_or("", |one| &syntax.file().text()[one.span.clone()]);
        if REPLACING.iter().any(|word| text.contains(word)) {
            found.insert(test.clone());
        }
    }
    found
}

/// Keeps `most` of them, drawn; their order stays.
fn draw(functions: &mut Vec<Function>, most: usize, seed: u64) {
    let mut random = Random::of(seed, 0);
    while functions.len() > most {
        let at = random.below(functions.len());
        functions.remove(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
def outer(a, b=1):
    '''Said.'''
    if a > (
        b
    ): return 1
    def inner(x):
        return x
    try:
        return inner(a)
    except ValueError:
        pass

class C:
    @property
    def size(self) -> int:
        return 1
    @size.setter
    def size(self, to):
        self.to = to

X = 1
";

    #[test]
    fn lines_are_those_at_which_statements_begin() {
        let syntax = Syntax::parse(SourceFile::decode("a.py", SOURCE.as_bytes()).unwrap()).unwrap();
        let reached = [4, 6, 7, 8, 9, 10, 16, 19, 21]
            .map(|line| (line, line != 7))
            .into();
        let found = in_file("p", Utf8Path::new("a.py"), &syntax, &reached);
        let told: Vec<(&str, Vec<usize>, bool, bool)> = found
            .iter()
            .map(|one| {
                let lines = one.lines.iter().map(|line| line.line).collect();
                (one.name.as_str(), lines, one.annotated, one.shadowed)
            })
            .collect();
        assert_eq!(
            told,
            [
                ("outer", vec![3, 6, 7, 8, 9], false, false),
                ("C.size", vec![16], true, true),
                ("C.size", vec![19], false, false),
            ]
        );
        let seven = &found[0].lines[2];
        assert!(seven.nested && seven.replaced);
        assert!(!found[0].lines[3].nested && !found[0].lines[3].replaced);
    }

    #[test]
    fn a_draw_keeps_the_order() {
        let one = |name: &str| Function {
            project: "p".into(),
            file: "a.py".into(),
            name: name.into(),
            lines: Vec::new(),
            annotated: false,
            shadowed: false,
        };
        let mut all: Vec<Function> = ["a", "b", "c", "d"].map(one).into();
        draw(&mut all, 2, 7);
        assert_eq!(all.len(), 2);
        assert!(all[0].name < all[1].name);
    }
}
