//! Generated programs as a source: a unit is a batch of them.

use ndbg_dataset::generate::program_at;
use ndbg_dataset::profile::Profile;
use ndbg_dataset::sample::{Harvest, Origin, Skip, Unit};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::operations;
use super::programs::{Program, Runner};
use super::trajectories::{Drawing, Grammar, of_programs};

/// Programs of a unit: a Python process for each, so that starting it costs little.
const BATCH: u64 = 250;
/// Events after which a program never ends.
const MAX_EVENTS: u64 = 2000;

#[derive(Debug, Serialize, Deserialize)]
struct Work {
    seed: u64,
    from: u64,
    count: u64,
}

/// Units of `count` programs.
pub(super) fn units(seed: u64, count: u64) -> Vec<Unit> {
    (0..count)
        .step_by(BATCH as usize)
        .map(|from| Unit {
            key: format!("generated/{seed}/{from:08}"),
            source: "generated".into(),
            work: json!(Work {
                seed,
                from,
                count: BATCH.min(count - from),
            }),
        })
        .collect()
}

pub(super) fn run(
    unit: &Unit,
    profile: &Profile,
    runner: &Runner,
    drawing: &Drawing,
) -> Result<Harvest, Skip> {
    let work: Work = serde_json::from_value(unit.work.clone()).map_err(super::build::crashed)?;
    let programs: Vec<Program> = (work.from..work.from + work.count)
        .map(|index| Program {
            id: format!("generated/{}/{index}", work.seed),
            source: program_at(work.seed, index, profile).source,
            entry: "main".into(),
            max_events: MAX_EVENTS,
        })
        .collect();
    if drawing.grammar == Grammar::Step {
        let origin = Origin {
            file: "generated".into(),
            project: "ndbg-dataset's generator".into(),
            licence: "MIT OR Apache-2.0".into(),
        };
        return operations::of_programs(&programs, runner, drawing, &origin, "generated");
    }
    let recorded = runner.record(&programs).map_err(super::build::crashed)?;
    let origin = |_: &str| {
        Some(Origin {
            file: "generated".into(),
            project: "ndbg-dataset's generator".into(),
            licence: "MIT OR Apache-2.0".into(),
        })
    };
    let mut harvest = Harvest::default();
    harvest.left_out.extend(recorded.died);
    let mut next = programs.iter();
    for recording in &recorded.recordings {
        for walked in of_programs(recording, drawing, origin) {
            let source = next
                .find(|program| program.id == walked.id)
                .map(|p| &p.source);
            let mut own = walked.samples;
            if let (Some(first), Some(source)) = (own.first_mut(), source) {
                first.program = Some(source.clone());
            }
            harvest.samples.extend(own);
            harvest
                .left_out
                .extend(walked.reason.map(|reason| (walked.id, reason)));
        }
    }
    Ok(harvest)
}
