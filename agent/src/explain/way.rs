//! The points on the way from the failed assertion to the divergence.

use std::cmp::Reverse;

use ndbg_simulator::recording::Recording;

use crate::fix::divergence::Parting;
use crate::fix::frame_place::{end_of, event_of};

/// The points that were passed, from the assertion backwards; the last one is `end`.
///
/// A point says nothing of the one that it follows from. What it follows from was done later, so the order of
/// time, backwards, is the order of the way.
pub fn way(run: &Recording, partings: &[Parting], end: &Parting) -> Vec<Parting> {
    let done = |one: &Parting| event_of(run, one).map(|event| end_of(run, event));
    let last = done(end);
    let mut passed: Vec<(_, &Parting)> = partings
        .iter()
        .filter(|one| !one.ends_here)
        .map(|one| (done(one), one))
        .filter(|(at, _)| *at >= last)
        .collect();
    passed.sort_by_key(|(at, _)| Reverse(*at));
    let passed = passed.into_iter().map(|(_, one)| one);
    passed.chain([end]).cloned().collect()
}
