//! How many calls are executed at once: as many as a person does not notice, so that the end of a budget and
//! Ctrl-C are seen in time.

use std::time::Duration;

use ndbg_tools::python::executions::Call;

/// What a batch may take.
const TARGET: Duration = Duration::from_millis(100);
/// Letters of the calls of a batch.
const LETTERS: usize = 400_000;
/// Growth from one batch to the next.
const GROWTH: usize = 6;
/// Seconds a call from which it counts as slow, in each of so many batches: one batch is slow on any machine.
const SLOW: f64 = 0.02;
const BATCHES: usize = 3;

/// The measured time of calls.
#[derive(Debug, Clone, Default)]
pub struct Pace {
    /// Seconds a call; of the last ones more than of those before.
    each: f64,
    /// Calls of the last batch.
    last: usize,
    /// Batches in a row that were slow.
    slow: usize,
}

impl Pace {
    /// How many of these calls come next, at least one, with so much time left.
    pub fn next(&self, calls: &[Call], left: Duration) -> usize {
        let time = TARGET.min(left / 2).as_secs_f64();
        let quick = if self.each > 0.0 {
            (time / self.each) as usize
        } else {
            1
        };
        let most = quick.min(GROWTH * self.last).clamp(1, calls.len().max(1));
        let mut letters = 0;
        let fitting = calls[..most.min(calls.len())].iter().take_while(|call| {
            letters += call.arguments.len() + call.receiver.as_ref().map_or(0, String::len);
            letters <= LETTERS
        });
        fitting.count().max(1)
    }

    /// Learns how long calls took.
    pub fn learn(&mut self, calls: usize, took: Duration) {
        let each = took.as_secs_f64() / calls.max(1) as f64;
        self.each = if self.last == 0 {
            each
        } else {
            f64::midpoint(self.each, each)
        };
        self.last = calls;
        self.slow = if each > SLOW { self.slow + 1 } else { 0 };
    }

    /// Seconds that so many calls are expected to take.
    pub fn expected(&self, calls: usize) -> f64 {
        self.each * calls as f64
    }

    /// Whether calls are so slow that each of them counts.
    pub fn is_slow(&self) -> bool {
        self.slow >= BATCHES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(letters: usize) -> Vec<Call> {
        let call = Call {
            receiver: None,
            arguments: "x".repeat(letters),
        };
        vec![call; 192]
    }

    #[test]
    fn batches_grow_while_calls_are_quick_and_shrink_when_they_are_slow() {
        let left = Duration::from_secs(10);
        let mut pace = Pace::default();
        let short = calls(5);
        let mut sizes = Vec::new();
        for _ in 0..5 {
            let size = pace.next(&short, left);
            sizes.push(size);
            pace.learn(size, Duration::from_micros(50) * size as u32);
        }
        assert_eq!(sizes, [1, 6, 36, 192, 192]);
        pace.learn(192, Duration::from_millis(200) * 192);
        assert_eq!(pace.next(&short, left), 1);
        assert!(!pace.is_slow());
        for _ in 0..2 {
            pace.learn(1, Duration::from_millis(200));
        }
        assert!(pace.is_slow());
    }

    #[test]
    fn little_time_and_long_calls_make_small_batches() {
        let mut pace = Pace::default();
        pace.learn(192, Duration::from_millis(192));
        assert_eq!(pace.next(&calls(5), Duration::from_millis(20)), 10);
        assert_eq!(pace.next(&calls(100_000), Duration::from_secs(10)), 4);
        assert_eq!(pace.next(&calls(1_000_000), Duration::from_secs(10)), 1);
    }
}
