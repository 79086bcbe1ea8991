//! The search with a second planner beside it, which has its turn when the likely single edits are through.

use std::time::{Duration, Instant};

use super::{Candidate, Facts, Feedback, PlanError, Planner, Screened};

/// Candidates of the search that go before, unless they take long.
const BEFORE: u64 = 300;
/// Time that the second planner may take, for each second of the search since it has its turn.
const SHARE: f64 = 0.6;
/// Time of one turn.
const TURN: Duration = Duration::from_millis(400);

/// A planner that runs tests by itself, a little at a time.
pub trait Stage {
    /// Works for about so long, and returns what it found.
    fn turn(&mut self, facts: &Facts, time: Duration) -> Vec<Candidate>;

    /// Hears of results, its own and others'.
    fn hear(&mut self, feedback: &[Feedback]);

    /// Whether there is nothing more to do.
    fn is_done(&self) -> bool;

    /// Test runs since this was asked last.
    fn executed(&mut self) -> u64;
}

/// The first planner, and the second one beside it.
pub struct Interleaved<A, B> {
    search: A,
    stage: B,
    proposed: u64,
    /// When the first candidate was asked for, and how long the search is alone at most.
    started: Option<Instant>,
    alone: Duration,
    /// When the second one has its first turn.
    begun: Option<Instant>,
    /// Time that it took.
    taken: Duration,
    /// Whether something plausible is being looked at.
    is_waiting: bool,
}

impl<A: Planner, B: Stage> Interleaved<A, B> {
    /// `search` with `stage` beside it, after so much time at the latest.
    pub fn new(search: A, stage: B, alone: Duration) -> Self {
        Self {
            search,
            stage,
            proposed: 0,
            started: None,
            alone,
            begun: None,
            taken: Duration::ZERO,
            is_waiting: false,
        }
    }

    /// A turn of the second planner, if it is its turn.
    fn turn(&mut self, facts: &Facts, is_alone: bool) -> Vec<Candidate> {
        if self.stage.is_done() || self.is_waiting {
            return Vec::new();
        }
        let begun = *self.begun.get_or_insert_with(Instant::now);
        let others = begun.elapsed().saturating_sub(self.taken);
        if !is_alone && self.taken > others.mul_f64(SHARE) {
            return Vec::new();
        }
        let started = Instant::now();
        let found = self.stage.turn(facts, TURN);
        self.taken += started.elapsed();
        found
    }
}

impl<A: Planner, B: Stage> Planner for Interleaved<A, B> {
    fn name(&self) -> &'static str {
        self.search.name()
    }

    fn propose(
        &mut self,
        facts: &Facts,
        feedback: &[Feedback],
        limit: usize,
    ) -> Result<Vec<Candidate>, PlanError> {
        self.stage.hear(feedback);
        // A hundred candidates are compared after the first plausible one, all of them from the search: what the
        // second planner had to say about the place of its own patch it has said.
        let plausible = |result: &Feedback| result.screened == Screened::Plausible;
        if feedback.iter().any(plausible) {
            self.is_waiting = true;
        }
        let started = *self.started.get_or_insert_with(Instant::now);
        if self.proposed >= BEFORE || started.elapsed() >= self.alone {
            let found = self.turn(facts, false);
            if !found.is_empty() {
                self.search.propose(facts, feedback, 0)?;
                return Ok(found);
            }
        }
        let mut found = self.search.propose(facts, feedback, limit)?;
        self.proposed += found.len() as u64;
        if found.is_empty() {
            self.is_waiting = false;
        }
        while found.is_empty() && !self.stage.is_done() {
            found = self.turn(facts, true);
        }
        Ok(found)
    }

    fn remaining(&self) -> Option<usize> {
        self.search.remaining()
    }

    fn executed(&mut self) -> u64 {
        self.search.executed() + self.stage.executed()
    }
}
