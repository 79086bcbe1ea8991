//! The search with a second planner beside it, which has its turn when the likely single edits are through.

use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use serde_json::Value as Json;

use super::{Candidate, Facts, Feedback, Looks, Pace, PlanError, Planner, Screened};

/// Candidates of the search that go before, unless they take long.
const BEFORE: u64 = 300;
/// The same where the second planner knows where to begin.
const KEEN: u64 = 4;
/// Runs that it may take then, besides half as many as the search.
const KEEN_RUNS: u64 = 4;
/// Time that the second planner may take, for each second of the search since it has its turn.
const SHARE: f64 = 0.5;
/// Calls for candidates without a turn after something plausible.
const WAITS: usize = 24;
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

    /// Statements at which another value has made failing tests pass, since this was asked last: file, line.
    fn favoured(&mut self) -> Vec<(Utf8PathBuf, usize)> {
        Vec::new()
    }

    /// Whether it knows where to begin, and should not wait for long.
    fn is_keen(&self, _facts: &Facts) -> bool {
        false
    }

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
    /// Calls for which something plausible is being looked at.
    waiting: usize,
    /// Runs of the second planner.
    own: u64,
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
            waiting: 0,
            own: 0,
        }
    }

    /// A turn of the second planner, if it is its turn.
    fn turn(&mut self, facts: &Facts, is_alone: bool) -> Vec<Candidate> {
        if self.stage.is_done() || self.waiting > 0 {
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
        for (file, line) in self.stage.favoured() {
            self.search.favour(facts, &file, line);
        }
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
            self.waiting = WAITS;
        }
        self.waiting = self.waiting.saturating_sub(1);
        let started = *self.started.get_or_insert_with(Instant::now);
        let is_keen = self.stage.is_keen(facts) && self.own <= KEEN_RUNS + self.proposed / 2;
        let before = if is_keen { KEEN } else { BEFORE };
        if self.proposed >= before || started.elapsed() >= self.alone {
            let found = self.turn(facts, false);
            if !found.is_empty() {
                self.search.propose(facts, feedback, 0)?;
                return Ok(found);
            }
        }
        let limit = if is_keen {
            limit.min(KEEN as usize)
        } else {
            limit
        };
        let mut found = self.search.propose(facts, feedback, limit)?;
        self.proposed += found.len() as u64;
        if found.is_empty() {
            self.waiting = 0;
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
        let own = self.stage.executed();
        self.own += own;
        self.search.executed() + own
    }

    fn look(&mut self, facts: &Facts, pace: Pace) -> Option<Json> {
        self.search.look(facts, pace)
    }

    fn looked(&mut self, facts: &Facts, answer: Option<&Json>, seconds: f64) {
        self.search.looked(facts, answer, seconds);
    }

    fn looks(&self) -> Looks {
        self.search.looks()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::synthesis::tests::candidate;

    struct Edits(u64);

    impl Planner for Edits {
        fn name(&self) -> &'static str {
            "edits"
        }

        fn propose(
            &mut self,
            _: &Facts,
            _: &[Feedback],
            limit: usize,
        ) -> Result<Vec<Candidate>, PlanError> {
            let count = self.0.min(limit as u64);
            self.0 -= count;
            Ok((0..count).map(candidate).collect())
        }

        fn remaining(&self) -> Option<usize> {
            None
        }
    }

    /// Finds one candidate in each of its turns; knows where to begin if it is keen.
    struct Turns(u64, bool);

    impl Stage for Turns {
        fn turn(&mut self, _: &Facts, _: Duration) -> Vec<Candidate> {
            self.0 -= 1;
            vec![candidate(1000 + self.0)]
        }

        fn hear(&mut self, _: &[Feedback]) {}

        fn is_done(&self) -> bool {
            self.0 == 0
        }

        fn is_keen(&self, _: &Facts) -> bool {
            self.1
        }

        fn executed(&mut self) -> u64 {
            0
        }
    }

    fn ids(planner: &mut dyn Planner, feedback: &[Feedback]) -> Vec<u64> {
        let found = planner.propose(&Facts::default(), feedback, 100).unwrap();
        found.into_iter().map(|candidate| candidate.id).collect()
    }

    #[test]
    fn likely_single_edits_go_first_and_the_stage_has_the_rest() {
        let mut planner = Interleaved::new(Edits(400), Turns(3, false), Duration::MAX);
        for _ in 0..3 {
            assert_eq!(ids(&mut planner, &[]).len(), 100);
        }
        assert_eq!(ids(&mut planner, &[]), [1002]);
        let mut rest = Vec::new();
        loop {
            let found = ids(&mut planner, &[]);
            if found.is_empty() {
                break;
            }
            rest.extend(found);
        }
        assert_eq!(rest.len(), 102);
    }

    #[test]
    fn a_stage_that_knows_where_to_begin_waits_for_a_few_edits_only() {
        let mut planner = Interleaved::new(Edits(400), Turns(1, true), Duration::MAX);
        assert_eq!(ids(&mut planner, &[]).len(), KEEN as usize);
        assert_eq!(ids(&mut planner, &[]), [1000]);
    }

    #[test]
    fn where_candidates_take_long_the_stage_does_not_wait_for_all_of_them() {
        let mut planner = Interleaved::new(Edits(400), Turns(1, false), Duration::ZERO);
        assert_eq!(ids(&mut planner, &[]), [1000]);
    }

    #[test]
    fn the_stage_has_no_turn_while_something_plausible_is_compared() {
        let mut planner = Interleaved::new(Edits(400), Turns(1, false), Duration::ZERO);
        let plausible = Feedback {
            candidate: candidate(1),
            screened: Screened::Plausible,
        };
        assert_eq!(ids(&mut planner, &[plausible]).len(), 100);
        assert_eq!(ids(&mut planner, &[]).len(), 100);
    }
}
