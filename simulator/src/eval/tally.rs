//! Counts of what was right.

use std::collections::BTreeMap;

use serde::Serialize;

use super::interval::{Interval, interval};

/// So many right of so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Tally {
    /// Right ones.
    pub right: usize,
    /// All.
    pub of: usize,
}

impl Tally {
    /// Counts one more.
    pub fn add(&mut self, right: bool) {
        self.right += usize::from(right);
        self.of += 1;
    }

    /// Counts what another counted.
    pub fn join(&mut self, other: Self) {
        self.right += other.right;
        self.of += other.of;
    }

    /// The share of right ones, 0 to 1; none of nothing.
    pub fn share(self) -> Option<f64> {
        (self.of > 0).then(|| self.right as f64 / self.of as f64)
    }

    /// Its 95 % interval; none of nothing.
    pub fn interval(self) -> Option<Interval> {
        interval(self.right, self.of)
    }

    /// Counts by a key.
    pub fn by<K: Ord>(judged: impl IntoIterator<Item = (K, bool)>) -> BTreeMap<K, Self> {
        let mut tallies: BTreeMap<K, Self> = BTreeMap::new();
        for (key, right) in judged {
            tallies.entry(key).or_default().add(right);
        }
        tallies
    }
}

impl FromIterator<bool> for Tally {
    fn from_iter<I: IntoIterator<Item = bool>>(judged: I) -> Self {
        let mut tally = Self::default();
        for right in judged {
            tally.add(right);
        }
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn right_ones_are_counted_by_kind() {
        let tallies = Tally::by([("a", true), ("b", false), ("a", false), ("a", true)]);
        assert_eq!(tallies["a"], Tally { right: 2, of: 3 });
        assert_eq!(tallies["b"].share(), Some(0.0));
        let mut all = Tally::default();
        for &tally in tallies.values() {
            all.join(tally);
        }
        assert_eq!(all, Tally { right: 2, of: 4 });
        assert_eq!(all.share(), Some(0.5));
    }

    #[test]
    fn nothing_has_no_share() {
        assert_eq!(Tally::default().share(), None);
        assert_eq!(Tally::default().interval(), None);
    }
}
