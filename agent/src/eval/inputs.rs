//! Inputs from outputs: a walk backwards, and real runs that tell whether it found one.

use ndbg_simulator::model::Sampling;
use ndbg_simulator::recording::BoundaryKind;

use super::items::Item;
use super::predictor::Predictor;
use crate::dataset::{self, Runner};
use crate::fix::stop::Stop;
use crate::infer::{Start, walked};
use crate::outcome::Outcome;

/// Events after which a tried call never ends.
const MAX_EVENTS: u64 = 20_000;
/// Programs that are run in one process.
const AT_ONCE: usize = 200;
/// The function that tries a candidate.
const CHECK: &str = "ndbg_check";

/// Arguments with which the item's function may have returned its output, as they stand in a call.
pub fn candidate(item: &Item, predictor: &dyn Predictor, sampling: Sampling) -> Option<String> {
    let found = walked(
        &item.code,
        "f",
        Start::Output(&item.output),
        predictor,
        sampling,
    )?;
    Some(found.join(", "))
}

/// Whether calls give the outputs, by running them: an item with the arguments of its call.
///
/// # Errors
/// Python does not run, or an interruption.
pub fn checked(
    calls: &[(&Item, String)],
    runner: &Runner,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<bool>, Stop> {
    let mut right = Vec::with_capacity(calls.len());
    for calls in calls.chunks(AT_ONCE) {
        if runner.cancel.is_set() {
            return Err(Stop::interrupted());
        }
        let programs: Vec<dataset::Program> = calls
            .iter()
            .enumerate()
            .map(|(at, (item, input))| dataset::Program {
                id: format!("c{at}"),
                source: format!(
                    "{}\n\n\ndef {CHECK}():\n    assert f({input}) == ({})\n",
                    item.code.trim_end(),
                    item.output
                ),
                entry: CHECK.into(),
                max_events: MAX_EVENTS,
            })
            .collect();
        let recorded = runner.record(&programs).map_err(|error| {
            if runner.cancel.is_set() {
                Stop::interrupted()
            } else {
                Stop::new(Outcome::Environment, error.to_string())
            }
        })?;
        let passed: Vec<&str> = recorded
            .recordings
            .iter()
            .flat_map(ndbg_simulator::recording::Recording::boundaries)
            .filter(|boundary| {
                boundary.kind == BoundaryKind::Function
                    && boundary.exit == Some(ndbg_simulator::recording::ExitKind::Normal)
            })
            .map(|boundary| boundary.name.as_str())
            .collect();
        right.extend(
            programs
                .iter()
                .map(|program| passed.contains(&program.id.as_str())),
        );
        progress(right.len(), right.len());
    }
    Ok(right)
}
