//! When each phase of a run began and ended.

use crate::report::story::Story;

/// A phase, as a lane of the timeline.
pub struct Lane {
    /// Its name.
    pub name: &'static str,
    /// When it was at work.
    pub stretches: Vec<Stretch>,
}

/// A time of work, in seconds since the start.
pub struct Stretch {
    /// Begin.
    pub from: f64,
    /// End.
    pub to: f64,
    /// What came of it.
    pub ending: Ending,
}

/// What came of a time of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It is over.
    Done,
    /// A patch was verified.
    Accepted,
    /// A patch was rejected.
    Rejected,
}

impl Lane {
    fn new(name: &'static str, from: f64, to: f64) -> Self {
        let ending = Ending::Done;
        Self {
            name,
            stretches: vec![Stretch { from, to, ending }],
        }
    }

    /// Seconds of work.
    pub fn seconds(&self) -> f64 {
        self.stretches
            .iter()
            .map(|stretch| (stretch.to - stretch.from).max(0.0))
            .sum()
    }
}

/// The lanes of a run, in order. A phase that never ended lasts until the end of the run.
pub fn lanes(story: &Story) -> Vec<Lane> {
    let clock = &story.clock;
    let end = clock.last;
    let mut lanes = Vec::new();
    let mut phase = |name, from: Option<f64>, to: Option<f64>| {
        if let Some(from) = from {
            lanes.push(Lane::new(name, from, to.unwrap_or(end)));
        }
    };
    phase(
        "Prepare",
        story.start.as_ref().map(|_| 0.0),
        clock.environment,
    );
    phase("Baseline", clock.environment, clock.baseline);
    if story.spectra.is_some() || clock.localized.is_some() {
        phase("Localise", clock.baseline, clock.localized);
    }
    if clock.planned.is_some() {
        phase("Warm up", clock.localized, clock.planned);
    }
    phase("Screen", clock.planned, clock.screened.or(clock.planned));
    let verify: Vec<Stretch> = story
        .plausible
        .iter()
        .map(|patch| Stretch {
            from: patch.at,
            to: patch.verdict.as_ref().map_or(end, |verdict| verdict.at),
            ending: match &patch.verdict {
                Some(verdict) if verdict.accepted => Ending::Accepted,
                Some(_) => Ending::Rejected,
                None => Ending::Done,
            },
        })
        .collect();
    if !verify.is_empty() {
        lanes.push(Lane {
            name: "Verify",
            stretches: verify,
        });
    }
    lanes
}

/// Round times for the axis of a run of `seconds`, 3 to 6 of them, the first at 0.
pub fn ticks(seconds: f64) -> Vec<f64> {
    const STEPS: [f64; 20] = [
        0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0,
        600.0, 1800.0, 3600.0, 7200.0, 14400.0,
    ];
    if !seconds.is_finite() || seconds <= 0.0 {
        return vec![0.0];
    }
    let step = STEPS
        .into_iter()
        .find(|step| seconds / step < 6.0)
        .unwrap_or(seconds / 5.0);
    // Rounded, as 3 * 0.1 has a long tail.
    (0..6)
        .map(|index| (f64::from(index) * step * 100.0).round() / 100.0)
        .take_while(|tick| *tick <= seconds)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_has_few_round_times() {
        assert_eq!(ticks(8.6), [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(ticks(300.0), [0.0, 60.0, 120.0, 180.0, 240.0, 300.0]);
        assert_eq!(ticks(0.0), [0.0]);
        assert!(ticks(1e7).len() <= 6);
    }
}
