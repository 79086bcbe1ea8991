//! Repairs from specifications: other values are put in at places of the suspicious functions while the failing
//! tests run; where that makes them pass, the states and the values that they need say what an expression there
//! has to give, and one that does is looked for. See docs/repair.md.

mod calls;
mod conditions;
mod needed;
pub mod oracle;
mod pairs;
mod place;
mod propose;
mod scene;
mod skips;
mod values;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use ndbg_tools::source::Edit;

use self::oracle::Oracle;
use self::place::Kind;
use self::scene::Scene;
pub use self::scene::short;
use self::words::is_literal;
use super::{Candidate, Facts, Feedback, Stage};

/// Functions looked at, the most suspicious ones first.
const FUNCTIONS: usize = 6;
/// Candidates are numbered from here on.
const FIRST_ID: u64 = 1 << 24;
/// What takes few runs goes before what takes many, wherever it is.
const FEW: f64 = 2.0;
/// A place where what was needed has made a test pass goes before all others.
const FAVOURED: f64 = 30.0;
/// Places that are told about.
const TOLD: usize = 12;

/// Angelic checks and synthesis, as the stage of a search.
pub struct Synthesis<'a> {
    oracle: Box<dyn Oracle + 'a>,
    /// Where it works; filled when it has its first turn.
    scenes: Vec<Scene>,
    /// What is to be done, the best last; none before the first turn.
    work: Option<Vec<(f64, Work)>>,
    /// Edits that were proposed by anyone.
    known: BTreeSet<Vec<Edit>>,
    next_id: u64,
    told: usize,
    counted: u64,
    /// Statements at which another value helped, and nobody was told yet.
    favoured: Vec<(Utf8PathBuf, usize)>,
    /// Expressions that give other values at a place, as far as they were asked for.
    values: BTreeMap<(usize, usize), Vec<String>>,
}

/// One thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// See which places of a function are visited.
    Survey(usize),
    /// Turn a condition around.
    Flip(usize, usize),
    /// Put other values in, the first ones or all others.
    Values(usize, usize, bool),
    /// Call with other arguments.
    Calls(usize, usize),
    /// Put values in at two places.
    Pairs(usize),
    /// Leave a statement out.
    Skip(usize, usize),
    /// Put in what was needed: number of the hypothesis last.
    Needed(usize, usize, usize),
}

impl<'a> Synthesis<'a> {
    /// Nothing is run before the first turn.
    pub fn new(oracle: Box<dyn Oracle + 'a>) -> Self {
        Self {
            oracle,
            scenes: Vec::new(),
            work: None,
            known: BTreeSet::new(),
            next_id: FIRST_ID,
            told: 0,
            counted: 0,
            favoured: Vec::new(),
            values: BTreeMap::new(),
        }
    }

    fn begin(&mut self, facts: &Facts) -> Vec<(f64, Work)> {
        self.scenes = scene::scenes(facts, FUNCTIONS, &facts.needed);
        let surveys = self.scenes.iter().enumerate();
        let mut work: Vec<(f64, Work)> = surveys
            .map(|(at, scene)| (10.0 + scene.score, Work::Survey(at)))
            .collect();
        work.extend(self.needed(facts));
        work
    }

    fn work(&mut self, facts: &Facts, work: Work) -> Vec<Candidate> {
        match work {
            Work::Survey(at) => {
                self.survey(at);
                Vec::new()
            }
            Work::Flip(at, place) => self.flip(at, place),
            Work::Values(at, place, more) => {
                let found = self.put_in(facts, at, place, more);
                self.pair_when_ready(at);
                found
            }
            Work::Calls(at, place) => self.call_otherwise(facts, at, place),
            Work::Pairs(at) => self.put_in_two(at),
            Work::Skip(at, place) => self.skip(at, place),
            Work::Needed(at, place, number) => self.put_in_needed(facts, at, place, number),
        }
    }

    /// Two places of a function are tried when single ones have had their turn: leads come from them.
    fn pair_when_ready(&mut self, at: usize) {
        let scene = &self.scenes[at];
        let Some(work) = &mut self.work else {
            return;
        };
        let waits = |work: &Work| match work {
            Work::Values(of, place, false) => {
                *of == at && scene.places[*place].kind != Kind::Argument
            }
            _ => false,
        };
        if scene.leads.is_empty() || scene.is_paired || work.iter().any(|(_, work)| waits(work)) {
            return;
        }
        self.scenes[at].is_paired = true;
        work.push((2.0 * FEW, Work::Pairs(at)));
    }

    /// Which places of a function are visited by failing tests: what can be done there.
    fn survey(&mut self, at: usize) {
        let Some(seen) = self.surveyed(at) else {
            return;
        };
        let scene = &mut self.scenes[at];
        for (place, test, values) in seen {
            scene.visits.entry(place).or_default().insert(test, values);
        }
        let mut new = Vec::new();
        for place in &scene.places {
            if !scene.visits.contains_key(&place.number) {
                continue;
            }
            let mut score = scene.suspicion(place);
            // Another literal is what single edits are for.
            if is_literal(&place.text) {
                score *= 0.5;
            }
            let number = place.number;
            if scene.favoured.contains(&number) {
                score += FAVOURED;
            }
            match place.kind {
                Kind::Condition => new.push((score + FEW, Work::Flip(at, number))),
                Kind::Runs => new.push((score + FEW * 0.5, Work::Skip(at, number))),
                Kind::Returned | Kind::Assigned => {
                    new.push((score, Work::Values(at, number, false)));
                    new.push((score * 0.3, Work::Values(at, number, true)));
                    // With one argument it is the value of that argument.
                    if (place.call.as_ref()).is_some_and(|call| call.arguments.len() > 1) {
                        new.push((score * 0.9, Work::Calls(at, number)));
                    }
                }
                Kind::Argument => {
                    new.push((score * 0.6, Work::Values(at, number, false)));
                    new.push((score * 0.2, Work::Values(at, number, true)));
                }
            }
        }
        if let Some(work) = &mut self.work {
            work.extend(new);
            work.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
    }
}

impl Stage for Synthesis<'_> {
    fn turn(&mut self, facts: &Facts, time: Duration) -> Vec<Candidate> {
        if self.work.is_none() {
            let mut work = self.begin(facts);
            work.sort_by(|a, b| a.0.total_cmp(&b.0));
            self.work = Some(work);
        }
        let until = Instant::now() + time;
        while Instant::now() < until && !self.oracle.is_spent() {
            let Some((_, next)) = self.work.as_mut().and_then(Vec::pop) else {
                break;
            };
            let mut found = self.work(facts, next);
            found.retain(|candidate| self.known.insert(candidate.edits.clone()));
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    fn hear(&mut self, feedback: &[Feedback]) {
        let edits = feedback.iter().map(|result| result.candidate.edits.clone());
        self.known.extend(edits);
    }

    fn favoured(&mut self) -> Vec<(Utf8PathBuf, usize)> {
        std::mem::take(&mut self.favoured)
    }

    fn is_keen(&self, facts: &Facts) -> bool {
        let is_needed = |(_, work): &(f64, Work)| matches!(work, Work::Needed(..));
        match &self.work {
            None => !facts.needed.is_empty(),
            // What was verified is followed up at its place; all else has the time that it always has.
            Some(work) => work.iter().any(|one| is_needed(one) || one.0 >= FAVOURED),
        }
    }

    fn is_done(&self) -> bool {
        self.oracle.is_spent() || self.work.as_ref().is_some_and(Vec::is_empty)
    }

    fn executed(&mut self) -> u64 {
        let runs = self.oracle.runs();
        let new = runs - self.counted;
        self.counted = runs;
        new
    }
}

#[cfg(test)]
pub(crate) mod tests;
