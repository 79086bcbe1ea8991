//! What `eval cruxeval` shows.

use ndbg_simulator::eval::Tally;

use super::{Inputs, Outputs, TEMPERATURE, TOP_P};
use crate::eval::page::Section;
use crate::eval::table::{Table, percent, range};
use crate::plot::{Bar, Bars, Reliability};

/// What was predicted of outputs, and how sure.
pub(super) fn output_sections(outputs: &Outputs) -> Vec<Section> {
    let mut table = Table::new(&["", "items", "answered", "right", "of all", "95 %"]);
    for counts in &outputs.believed {
        let all = Tally {
            right: counts.right,
            of: counts.items,
        };
        let name = if counts.threshold > 0.0 {
            format!("believed from {:.1} on", counts.threshold)
        } else {
            "step_return, pass@1".to_owned()
        };
        table.row([
            name,
            counts.items.to_string(),
            percent(
                Tally {
                    right: counts.answered,
                    of: counts.items,
                }
                .share(),
            ),
            percent(
                Tally {
                    right: counts.right,
                    of: counts.answered,
                }
                .share(),
            ),
            percent(all.share()),
            range(all.interval()),
        ]);
    }
    let all = outputs.believed.first().map_or(0, |counts| counts.items);
    for (name, tally) in [
        ("baseline: the input", outputs.copy),
        ("harness with the oracle", outputs.oracle),
    ] {
        table.row([
            name.into(),
            all.to_string(),
            "-".into(),
            "-".into(),
            percent(tally.share()),
            range(tally.interval()),
        ]);
    }
    let mut prose = vec![
        "A run from the call to the return with nothing true shown; right if the value equals the \
         output. A breakpoint at the last line and step_return are the same rollout for this model, \
         so that the first row stands for both. An operation that is less probable than a row says is \
         not believed, and a run that needs it does not answer"
            .into(),
    ];
    for (why, count) in outputs.unanswered.iter().take(4) {
        prose.push(format!("· not answered, {count}: {why}"));
    }
    let mut confidence = Table::new(&["joint probability of a run", "runs"]);
    let mut row = |name: &str, value: String| confidence.row([name.into(), value]);
    row(
        "answered at 99 % precision",
        percent(outputs.coverage[0].share()),
    );
    row(
        "answered at 95 % precision",
        percent(outputs.coverage[1].share()),
    );
    row(
        "expected calibration error",
        percent(Some(outputs.calibration.error)),
    );
    row("Brier score", format!("{:.4}", outputs.calibration.brier));
    vec![
        Section {
            title: "Output prediction".into(),
            prose,
            table: Some(table),
            plots: Vec::new(),
        },
        Section {
            title: "Confidence".into(),
            prose: vec!["Over the runs that answer, without a threshold".into()],
            table: Some(confidence),
            plots: vec![
                Reliability {
                    name: "reliability-output".into(),
                    title: "Reliability of outputs".into(),
                    calibration: outputs.calibration.clone(),
                }
                .draw(),
            ],
        },
    ]
}

/// What was found backwards.
pub(super) fn input_section(inputs: &Inputs) -> Section {
    let rows = [
        ("one walk, greedy: pass@1".to_owned(), inputs.greedy),
        (
            format!("{} walks, sampled: pass@1", inputs.samples),
            inputs.sampled,
        ),
        (
            format!("{} walks, sampled: pass@{}", inputs.samples, inputs.samples),
            inputs.any,
        ),
        ("greedy, the very input".to_owned(), inputs.exact),
        ("baseline: the output".to_owned(), inputs.copy),
        (
            "baseline: the most frequent input".to_owned(),
            inputs.frequent,
        ),
    ];
    let mut table = Table::new(&["", "tries", "right", "95 %"]);
    for (name, tally) in &rows {
        table.row([
            name.clone(),
            tally.of.to_string(),
            percent(tally.share()),
            range(tally.interval()),
        ]);
    }
    let bars = rows.iter().filter_map(|(label, tally)| {
        Some(Bar {
            label: label
                .replace("baseline: ", "")
                .replace(", sampled", "")
                .replace("the most ", ""),
            share: tally.share()?,
            interval: tally
                .interval()
                .map(|interval| (interval.low, interval.high)),
            count: tally.of,
            baseline: None,
        })
    });
    let plot = Bars {
        name: "inputs".into(),
        title: "Inputs that give the output".into(),
        baseline: None,
        bars: bars.collect(),
    };
    Section {
        title: "Input prediction, unverified".into(),
        prose: vec![format!(
            "A walk backwards from the output, then a real run of the function with what was \
                 found; samples at temperature {TEMPERATURE} and top-p {TOP_P}. The most frequent \
                 input is that of the other items"
        )],
        table: Some(table),
        plots: vec![plot.draw()],
    }
}
