//! What is asked of the running program, and what it answers.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use ndbg_tools::source::Edit;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// Runs tests with other values put in at places.
pub trait Oracle {
    /// Failing tests that it runs.
    fn tests(&self) -> &[String];

    /// Asks several questions; the answers come in their order, none where there was none. Runs nothing when the
    /// limits are reached.
    fn ask(&mut self, marks: &[Edit], questions: &[Question]) -> Vec<Option<Reply>>;

    /// Test runs so far.
    fn runs(&self) -> u64;

    /// Whether it answers no more.
    fn is_spent(&self) -> bool;

    /// Tells that another value at a place makes failing tests pass.
    fn announce(&self, angelic: Angelic);
}

/// One forked run.
#[derive(Debug, Clone, Default)]
pub struct Question {
    /// Failing tests that are run.
    pub tests: Vec<String>,
    /// Function whose passing tests are run as well: file and qualified name.
    pub passing_of: Option<(Utf8PathBuf, String)>,
    /// What is forced.
    pub force: Vec<Force>,
    /// What else is done.
    pub task: Task,
}

/// A place that is forced to a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Force {
    /// Number of the place.
    pub place: usize,
    /// The test in which; none is all.
    pub test: Option<String>,
    /// The visits, from zero; none is all.
    pub visits: Option<Vec<usize>>,
    /// An expression of the frame, in which `__ndbg_recorded__` is what was computed there.
    pub value: String,
}

/// What a run does besides forcing values.
#[derive(Debug, Clone, Default)]
pub enum Task {
    /// Only whether the tests pass counts.
    #[default]
    Force,
    /// Which places are visited, with which values.
    Survey,
    /// Expressions that give other values at a place, whose text is last.
    Values(Vocabulary, usize, String),
    /// Expressions that give what is needed at a place, with its text.
    Synthesize(Vocabulary, usize, String, Shape),
}

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// A condition in place of the one that stands there.
    Condition,
    /// A new condition, true where the place is forced and nowhere else.
    Guard,
    /// A new condition, true where the statement has to run.
    Runs,
    /// A value.
    Value,
}

/// What expressions are made of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Vocabulary {
    /// Expressions of the function.
    pub terms: Vec<String>,
    /// Literals with their costs.
    pub constants: Vec<(String, u32)>,
}

impl Question {
    /// As `ndbg_angelic.Probe` reads it.
    pub fn probe(&self) -> Json {
        let mut probe = json!({"mode": "force", "force": self.force});
        let mut with = |mode: &str, words: &Vocabulary, place: usize, own: &str| {
            probe["own"] = json!(own);
            probe["mode"] = json!(mode);
            probe["place"] = json!(place);
            probe["terms"] = json!(words.terms);
            probe["constants"] = json!(words.constants);
        };
        match &self.task {
            Task::Force => {}
            Task::Survey => probe["mode"] = json!("survey"),
            Task::Values(words, place, own) => {
                with("values", words, *place, own);
                probe["count"] = json!(DISTINCT);
                probe["cost"] = json!(4);
                probe["seconds"] = json!(0.25);
            }
            Task::Synthesize(words, place, own, shape) => {
                with("synthesize", words, *place, own);
                probe["count"] = json!(SOLUTIONS);
                let (name, seconds, cost) = match shape {
                    Shape::Condition => ("condition", 0.4, 4),
                    Shape::Guard => ("guard", 0.4, 4),
                    Shape::Runs => ("runs", 0.4, 4),
                    Shape::Value => ("value", 1.0, 9),
                };
                probe["shape"] = json!(name);
                probe["seconds"] = json!(seconds);
                probe["cost"] = json!(cost);
            }
        }
        probe
    }
}

/// Distinct values that are asked for, and expressions for a specification.
const DISTINCT: usize = 48;
const SOLUTIONS: usize = 8;

/// What a run showed.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    /// Failing tests that passed.
    pub passed: Vec<String>,
    /// Both sides of the comparisons that failed, by test.
    pub sides: BTreeMap<String, (String, String)>,
    /// What else was found.
    pub found: Found,
}

/// What the child found besides the results.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Found {
    /// Place, test, values at its visits.
    pub seen: Vec<(usize, String, Vec<String>)>,
    /// Expressions with their costs.
    pub found: Vec<(u32, String)>,
    /// How many of them say different things in states near those that were seen; 0 where nobody looked.
    pub kinds: usize,
    /// Expressions tried.
    pub tried: u64,
    /// Distinct states.
    pub states: usize,
    /// Visits, the forced ones first.
    pub examples: Vec<Visit>,
    /// Seconds that it took to find them.
    pub seconds: f64,
}

/// One visit of a place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Visit {
    /// The test.
    pub test: String,
    /// From zero.
    pub visit: usize,
    /// Variables with their values.
    pub state: Vec<(String, String)>,
    /// What was computed.
    pub recorded: String,
    /// What was put in.
    pub needed: String,
}

/// Another value at a place with which failing tests pass: seen in a real run, and no patch yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Angelic {
    /// File, relative to the project root.
    pub file: Utf8PathBuf,
    /// One-based line.
    pub line: usize,
    /// Enclosing function.
    pub qualname: String,
    /// The expression or statement there.
    pub place: String,
    /// What was put in, in words: "true", "skipped", "`old_path`".
    pub needed: String,
    /// Which visits, in words: "at every visit", "at visit 2 of 5".
    pub when: String,
    /// Failing tests that pass with it.
    pub tests: Vec<String>,
    /// A visit at which it was put in; none where nothing was recorded.
    pub visit: Option<Visit>,
    /// How it is known: `verified`, by runs of the tests.
    pub provenance: String,
    /// Test runs until it was found.
    pub runs: u64,
}
