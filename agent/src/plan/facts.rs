//! What is known about a failure before anything is proposed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::Utf8PathBuf;
use ndbg_tools::source::syntax::Syntax;
use serde::{Deserialize, Serialize};

/// Everything a planner may look at.
#[derive(Debug, Default, Clone)]
pub struct Facts {
    /// Parsed source files by path relative to the project root; only files that may be edited.
    pub files: BTreeMap<Utf8PathBuf, Arc<Syntax>>,
    /// Functions, most suspicious first.
    pub functions: Vec<SuspectFunction>,
    /// Statements, most suspicious first; module- and class-level statements among them.
    pub statements: Vec<SuspectStatement>,
    /// The failing tests.
    pub failures: Vec<Failure>,
    /// Values seen at run time in the suspicious functions.
    pub observations: Observations,
    /// Functions that ran while tests were collected: file, qualified name.
    pub imported: BTreeSet<(Utf8PathBuf, String)>,
    /// Values that statements would have had to give.
    pub needed: Vec<Needed>,
}

/// A value that a statement of a failing test would have had to give: a hypothesis.
#[derive(Debug, Clone, PartialEq)]
pub struct Needed {
    /// File, relative to the project root.
    pub file: Utf8PathBuf,
    /// One-based line of the statement.
    pub line: usize,
    /// The failing test.
    pub test: String,
    /// The variable that it binds; none where it returns, or asks a condition.
    pub name: Option<String>,
    /// Which visit of the statement in the test, from zero; none where that is not known.
    pub visit: Option<usize>,
    /// The value, as a literal.
    pub value: String,
    /// 0 to 1.
    pub confidence: f64,
}

/// A function with its suspiciousness.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SuspectFunction {
    /// File, relative to the project root.
    pub file: Utf8PathBuf,
    /// Dotted name inside the module.
    pub qualname: String,
    /// One-based first line.
    pub first_line: usize,
    /// One-based last line.
    pub last_line: usize,
    /// 0 to 1, higher is more suspicious.
    pub score: f64,
    /// Ochiai suspiciousness alone.
    pub ochiai: f64,
    /// Why it ranks where it does, in words.
    pub reasons: Vec<String>,
}

/// A statement with its suspiciousness.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SuspectStatement {
    /// File, relative to the project root.
    pub file: Utf8PathBuf,
    /// Enclosing function, empty at module level.
    pub qualname: String,
    /// One-based first line.
    pub first_line: usize,
    /// One-based last line of the statement (of a compound statement's header).
    pub last_line: usize,
    /// 0 to 1, higher is more suspicious.
    pub score: f64,
    /// Ochiai suspiciousness alone.
    pub ochiai: f64,
    /// Why it ranks where it does, in words.
    pub reasons: Vec<String>,
}

/// One failing test.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Failure {
    /// pytest node id; of the collector when collection failed.
    pub test: String,
    /// Exception type, qualified unless builtin.
    pub exception: String,
    /// First lines of the message.
    pub message: String,
    /// Both sides of the failing comparison, when there is one.
    pub sides: Option<Sides>,
    /// Stack, outermost first; files outside the project are left out.
    pub frames: Vec<Frame>,
    /// pytest's text of the failure, capped.
    pub longrepr: String,
}

/// Both sides of a failed comparison, as literal text where possible.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sides {
    /// Operator, for example `==`.
    pub op: String,
    /// Left operand.
    pub left: String,
    /// Right operand.
    pub right: String,
    /// Whether either text is abbreviated.
    pub lossy: bool,
}

/// A stack frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// File, relative to the project root.
    pub file: Utf8PathBuf,
    /// One-based line.
    pub line: usize,
    /// Function name.
    pub function: String,
}

/// Values seen just before a line ran, by file and one-based line.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Observations {
    /// Observations by file, then by line, in order of time.
    pub by_line: BTreeMap<Utf8PathBuf, BTreeMap<usize, Vec<Observation>>>,
}

impl Observations {
    /// What was seen before `line` of `file` ran.
    pub fn at(&self, file: &camino::Utf8Path, line: usize) -> &[Observation] {
        self.by_line
            .get(file)
            .and_then(|lines| lines.get(&line))
            .map_or(&[], Vec::as_slice)
    }
}

/// The local variables at one visit of a line.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Observation {
    /// Test that ran.
    pub test: String,
    /// Values by name.
    pub locals: BTreeMap<String, Value>,
}

/// A recorded value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// Type name, for example `list`.
    #[serde(rename = "ty")]
    pub kind: String,
    /// Literal text, abbreviated when `lossy`.
    #[serde(rename = "v")]
    pub text: String,
    /// Length of sized values.
    #[serde(default)]
    pub len: Option<usize>,
    /// Whether `text` leaves something out.
    #[serde(default)]
    pub lossy: bool,
    /// Attributes of an object, one level deep.
    #[serde(default)]
    pub attrs: BTreeMap<String, Attribute>,
}

/// An attribute of a recorded object.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Attribute {
    /// Type name.
    #[serde(rename = "ty")]
    pub kind: String,
    /// Literal text.
    #[serde(rename = "v")]
    pub text: String,
}
