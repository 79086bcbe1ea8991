//! Turning the generator's choices until what it writes has the shares of real code.
//!
//! A choice cannot simply be drawn with the shares of real code: which expressions fit depends on the
//! types at hand, and one statement brings others with it. So each value has a weight, and the weights
//! are corrected by the ratio of wanted to found shares, round after round (iterative proportional
//! fitting, damped).

use super::{Measurement, Metric, Profile, Selection, Table, Unparsed, distances};
use crate::generate::program_at;

/// How long to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FitOptions {
    /// Corrections.
    pub rounds: u64,
    /// Programs written and measured a round.
    pub programs: u64,
    /// Seed of these programs.
    pub seed: u64,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            rounds: 12,
            programs: 3_000,
            seed: 0x5eed,
        }
    }
}

/// The largest correction of one round, and its inverse the smallest.
const STEP: f64 = 2.0;
/// Weights stay between this and its inverse: beyond it a value is out of the generator's reach.
const REACH: f64 = 60.0;
/// Exponent of a correction: less than one, because the tables hang together.
const DAMPING: f64 = 0.7;
/// Factor on the exponent from round to round: late corrections chase noise.
const CALMING: f64 = 0.88;

/// A profile with the tables of `profile` and weights under which the generator comes near them.
/// `seen` is told the round and the profile of what was generated in it.
pub fn fit(
    profile: &Profile,
    options: FitOptions,
    mut seen: impl FnMut(u64, &Profile),
) -> Result<Profile, Unparsed> {
    let mut fitted = profile.clone();
    let mut best = (f64::INFINITY, profile.clone());
    for round in 0..options.rounds {
        let mut measurement = Measurement::default();
        for index in 0..options.programs {
            let program = program_at(options.seed.wrapping_add(round), index, &fitted);
            measurement.add(&program.source, Selection::All)?;
        }
        let generated = measurement.profile("generated");
        seen(round, &generated);
        let all = distances(profile, &generated);
        let mean = all.iter().map(|one| one.shared).sum::<f64>() / all.len().max(1) as f64;
        if mean < best.0 {
            best = (mean, fitted.clone());
        }
        let damping = DAMPING * CALMING.powi(round as i32);
        for metric in Metric::ALL {
            if let (Some(real), Some(found)) =
                (profile.tables.get(metric), generated.tables.get(metric))
            {
                correct(
                    fitted.weights.entry(*metric).or_default(),
                    real,
                    found,
                    damping,
                );
            }
        }
    }
    Ok(best.1)
}

fn correct(weights: &mut Table, real: &Table, found: &Table, damping: f64) {
    let reachable: f64 = real
        .iter()
        .filter(|(value, _)| found.contains_key(*value))
        .map(|(_, share)| share)
        .sum();
    for (value, share) in found {
        // A value that real code lacks is made rare, not impossible: the sample may be small.
        let wanted = real.get(value).copied().unwrap_or(1e-4) / reachable.max(1e-9);
        let step = (wanted / share).clamp(1.0 / STEP, STEP).powf(damping);
        let weight = weights.entry(value.clone()).or_insert(1.0);
        *weight = (*weight * step).clamp(1.0 / REACH, REACH);
    }
}
