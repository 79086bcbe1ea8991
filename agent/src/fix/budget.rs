//! Limits of a run: every loop asks here whether it may go on.

use std::time::{Duration, Instant};

use ndbg_tools::Cancel;

use super::settings::Limits;
use super::stop::Stop;

/// Time and executions left.
#[derive(Debug)]
pub struct Budget {
    started: Instant,
    limits: Limits,
    /// Candidates screened.
    pub executed: u64,
    /// Test processes and forks in all.
    pub test_runs: u64,
    cancel: Cancel,
}

impl Budget {
    /// A budget that starts now.
    pub fn start(limits: Limits, cancel: &Cancel) -> Self {
        Self {
            started: Instant::now(),
            limits,
            executed: 0,
            test_runs: 0,
            cancel: cancel.clone(),
        }
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Time left.
    pub fn left(&self) -> Duration {
        self.limits.time.saturating_sub(self.elapsed())
    }

    /// Whether time or executions have run out.
    pub fn is_spent(&self) -> bool {
        self.left().is_zero() || self.executed >= self.limits.executions
    }

    /// What ran out, in words.
    pub fn reached(&self) -> String {
        if self.left().is_zero() {
            format!("time limit of {} s reached", self.limits.time.as_secs())
        } else {
            format!("limit of {} executions reached", self.limits.executions)
        }
    }

    /// Fails when the user interrupted.
    pub fn check(&self) -> Result<(), Stop> {
        if self.cancel.is_set() {
            Err(Stop::interrupted())
        } else {
            Ok(())
        }
    }

    /// A limit for one process: `wanted`, but not beyond the budget.
    pub fn cap(&self, wanted: Duration) -> Duration {
        wanted.min(self.left()).max(Duration::from_millis(100))
    }
}
