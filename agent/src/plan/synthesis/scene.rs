//! A function at work: its places, what they are marked with, and how often they are visited.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::Utf8PathBuf;
use ndbg_tools::source::Edit;
use ndbg_tools::source::syntax::Syntax;

use super::Synthesis;
use super::oracle::{Angelic, Force, Question, Reply, Shape, Task, Visit, Vocabulary};
use super::place::{Kind, Place, marks, places};
use super::words::{expected, is_literal, vocabulary};
use crate::plan::{Facts, Needed};

/// What counts as nearer.
const NEARER: f64 = 0.01;

/// A function.
pub struct Scene {
    /// File.
    pub file: Utf8PathBuf,
    /// Its syntax.
    pub syntax: Arc<Syntax>,
    /// The function's name.
    pub qualname: String,
    /// How suspicious it is.
    pub score: f64,
    /// Its places.
    pub places: Vec<Place>,
    /// The edits that mark them.
    pub marks: Vec<Edit>,
    /// What expressions are made of.
    pub words: Vocabulary,
    /// Values at the visits of a place, by test.
    pub visits: BTreeMap<usize, BTreeMap<String, Vec<String>>>,
    /// How near both sides of a test's assertion are, when nothing is forced.
    pub nearness: BTreeMap<String, f64>,
    /// Forced values with which they come nearer, and by how much.
    pub leads: Vec<(f64, Force)>,
    /// Places where a needed value has made a test pass.
    pub favoured: BTreeSet<usize>,
    /// Whether two places were tried at once.
    pub is_paired: bool,
    /// What failing assertions expect.
    pub expected: BTreeSet<String>,
    /// Suspiciousness by the first line of a statement.
    lines: BTreeMap<usize, f64>,
}

impl Scene {
    /// How suspicious a place is.
    pub fn suspicion(&self, place: &Place) -> f64 {
        let line = self.lines.get(&place.line).copied();
        line.unwrap_or(0.2) * (0.5 + 0.5 * self.score)
    }
}

/// The most suspicious functions, and those in which something was needed.
pub fn scenes(facts: &Facts, most: usize, needed: &[Needed]) -> Vec<Scene> {
    let mut found = Vec::new();
    for (rank, suspect) in facts.functions.iter().enumerate() {
        let is_needed = || {
            needed.iter().any(|one| {
                one.file == suspect.file
                    && (suspect.first_line..=suspect.last_line).contains(&one.line)
            })
        };
        if rank >= most && !(rank < 4 * most && is_needed()) {
            continue;
        }
        let Some(syntax) = facts.files.get(&suspect.file) else {
            continue;
        };
        let Some(function) = syntax
            .functions()
            .iter()
            .find(|f| f.first_line == suspect.first_line && f.qualname == suspect.qualname)
        else {
            continue;
        };
        let places = places(syntax, function);
        let statements = facts.statements.iter();
        found.push(Scene {
            file: suspect.file.clone(),
            syntax: Arc::clone(syntax),
            qualname: suspect.qualname.clone(),
            score: suspect.score,
            marks: marks(syntax, &places),
            words: vocabulary(syntax, function),
            places,
            visits: BTreeMap::new(),
            nearness: BTreeMap::new(),
            leads: Vec::new(),
            favoured: BTreeSet::new(),
            is_paired: false,
            expected: expected(&facts.failures),
            lines: statements
                .filter(|s| s.file == suspect.file)
                .map(|s| (s.first_line, s.score))
                .collect(),
        });
    }
    found
}

impl Synthesis<'_> {
    /// Asks about a function.
    pub(super) fn ask(&mut self, at: usize, questions: &[Question]) -> Vec<Option<Reply>> {
        self.oracle.ask(&self.scenes[at].marks, questions)
    }

    pub(super) fn surveyed(&mut self, at: usize) -> Option<Vec<(usize, String, Vec<String>)>> {
        let question = Question {
            tests: self.oracle.tests().to_vec(),
            task: Task::Survey,
            ..Question::default()
        };
        let reply = self.ask(at, &[question]).pop()??;
        for (test, sides) in &reply.sides {
            self.scenes[at]
                .nearness
                .insert(test.clone(), nearness(sides));
        }
        Some(reply.found.seen)
    }

    /// Which of these forced values make a test pass: one run each.
    pub(super) fn pass(&mut self, at: usize, test: &str, forces: &[Force]) -> Vec<bool> {
        let questions: Vec<Question> = forces
            .iter()
            .map(|force| Question {
                tests: vec![test.to_owned()],
                force: vec![force.clone()],
                ..Question::default()
            })
            .collect();
        let replies = self.ask(at, &questions);
        let before = self.scenes[at].nearness.get(test).copied();
        let before = before.unwrap_or_default();
        let mut passing = Vec::new();
        for (force, reply) in forces.iter().zip(replies) {
            let reply = reply.unwrap_or_default();
            let passes = reply.passed.iter().any(|id| id == test);
            let near = reply.sides.get(test).map_or(0.0, nearness);
            if !passes && force.visits.is_none() && near > before + NEARER {
                self.scenes[at].leads.push((near - before, force.clone()));
            }
            passing.push(passes);
        }
        passing
    }

    /// Expressions that give what is needed in the failing tests and what was computed in the passing ones.
    pub(super) fn solve(
        &mut self,
        at: usize,
        place: usize,
        force: &[Force],
        shape: Shape,
    ) -> Option<Reply> {
        let scene = &self.scenes[at];
        let own = scene.places[place].text.clone();
        let tests: BTreeSet<String> = force.iter().filter_map(|f| f.test.clone()).collect();
        let question = Question {
            tests: tests.into_iter().collect(),
            passing_of: Some((scene.file.clone(), scene.qualname.clone())),
            force: force.to_vec(),
            task: Task::Synthesize(scene.words.clone(), place, own, shape),
        };
        self.ask(at, &[question]).pop()?
    }

    /// Tells of a place where another value makes failing tests pass.
    pub(super) fn tell(
        &mut self,
        at: usize,
        place: usize,
        force: &Force,
        needed: String,
        visit: Option<Visit>,
    ) {
        let scene = &mut self.scenes[at];
        let spot = &scene.places[place];
        // That the expected value passes where it leaves a function says nothing about the function.
        let is_handed_on = spot.kind == Kind::Returned && is_literal(&force.value);
        if !is_handed_on {
            self.favoured.push((scene.file.clone(), spot.line));
        }
        if self.told >= super::TOLD {
            return;
        }
        self.told += 1;
        let place = &scene.places[place];
        let visits = force
            .test
            .as_ref()
            .and_then(|test| scene.visits.get(&place.number)?.get(test))
            .map_or(0, Vec::len);
        let when = match &force.visits {
            Some(chosen) if visits > 1 => {
                let numbers: Vec<String> = chosen.iter().map(|n| (n + 1).to_string()).collect();
                format!("at visit {} of {visits}", numbers.join(" and "))
            }
            None if visits > 1 => format!("at all {visits} visits"),
            _ => String::new(),
        };
        self.oracle.announce(Angelic {
            file: scene.file.clone(),
            line: place.line,
            qualname: scene.qualname.clone(),
            place: short(&place.text),
            needed,
            when,
            tests: force.test.iter().cloned().collect(),
            visit,
            provenance: "verified".into(),
            runs: self.oracle.runs(),
        });
    }
}

/// How near both sides of a failed comparison are; 0 is for a test that fails otherwise.
fn nearness((left, right): &(String, String)) -> f64 {
    0.2 + 0.8 * strsim::normalized_levenshtein(left, right)
}

/// A text on one line, abbreviated.
pub fn short(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.chars().count() <= 60 {
        return flat;
    }
    let head: String = flat.chars().take(57).collect();
    format!("{head}...")
}
