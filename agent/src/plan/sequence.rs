//! Two planners, one after the other: the second is asked when the first has nothing more, or has had its time.

use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::{Candidate, Facts, Feedback, Looks, Pace, PlanError, Planner};

/// The first planner for some time, then the second.
pub struct Sequence<A, B> {
    first: A,
    second: B,
    time: Duration,
    begun: Option<Instant>,
    is_second: bool,
    /// Whether the second one has been asked.
    is_asked: bool,
    heard: Vec<Feedback>,
}

/// Results of the first planner that the second one hears of.
const HEARD: usize = 4_000;

impl<A: Planner, B: Planner> Sequence<A, B> {
    /// `first` for so much time at most.
    pub fn new(first: A, second: B, time: Duration) -> Self {
        Self {
            first,
            second,
            time,
            begun: None,
            is_second: false,
            is_asked: false,
            heard: Vec::new(),
        }
    }
}

impl<A: Planner, B: Planner> Planner for Sequence<A, B> {
    fn name(&self) -> &'static str {
        if self.is_second {
            self.second.name()
        } else {
            self.first.name()
        }
    }

    fn propose(
        &mut self,
        facts: &Facts,
        feedback: &[Feedback],
        limit: usize,
    ) -> Result<Vec<Candidate>, PlanError> {
        if self.is_second {
            self.is_asked = true;
            let mut heard = std::mem::take(&mut self.heard);
            heard.extend(feedback.iter().cloned());
            return self.second.propose(facts, &heard, limit);
        }
        let room = HEARD.saturating_sub(self.heard.len());
        self.heard.extend(feedback.iter().take(room).cloned());
        let begun = *self.begun.get_or_insert_with(Instant::now);
        if begun.elapsed() < self.time {
            let candidates = self.first.propose(facts, feedback, limit)?;
            if !candidates.is_empty() {
                return Ok(candidates);
            }
        }
        // The second one is asked when all is known of what the first one proposed.
        self.is_second = true;
        Ok(Vec::new())
    }

    fn remaining(&self) -> Option<usize> {
        if self.is_second {
            self.second.remaining()
        } else {
            self.first.remaining()
        }
    }

    fn waits(&self) -> bool {
        self.is_second && self.second.waits()
    }

    fn goes_on(&self) -> bool {
        self.is_second && !self.is_asked
    }

    fn executed(&mut self) -> u64 {
        self.first.executed() + self.second.executed()
    }

    fn look(&mut self, facts: &Facts, pace: Pace) -> Option<Json> {
        (!self.is_second).then(|| self.first.look(facts, pace))?
    }

    fn looked(&mut self, facts: &Facts, answer: Option<&Json>, seconds: f64) {
        self.first.looked(facts, answer, seconds);
    }

    fn looks(&self) -> Looks {
        self.first.looks()
    }

    fn ended(&self) -> Option<&str> {
        if self.is_second {
            self.second.ended()
        } else {
            None
        }
    }
}
