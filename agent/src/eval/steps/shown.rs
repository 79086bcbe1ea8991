//! What `eval steps` shows.

use std::collections::BTreeMap;

use ndbg_simulator::eval::{Calibration, Coverage, Tally};

use super::{Figures, Four, Two};
use crate::eval::page::Section;
use crate::eval::table::{Table, percent, range};
use crate::plot::{Bar, Bars, Plot, Reliability};

/// Examples of programs whose recording disagrees.
const EXAMPLES: usize = 5;

/// All sections of one kind of data, the `number`th of perhaps many.
pub(super) fn sections(figures: &Figures, number: usize, many: bool) -> Vec<Section> {
    let suffix = if many {
        format!(": {}", figures.data)
    } else {
        String::new()
    };
    let file = |name: &str| {
        if number == 0 {
            name.to_owned()
        } else {
            format!("{name}-{}", number + 1)
        }
    };
    let mut overview = Table::new(&["", "n", "model", "95 %", "copy", "frequent", "oracle"]);
    for (name, four) in [
        ("all statements", &figures.statements),
        ("that need the model", &figures.needing_the_model),
        ("operations, as asked", &figures.operations),
        ("operations, each once", &figures.distinct_operations),
    ] {
        overview.row([
            name.into(),
            four.model.of.to_string(),
            percent(four.model.share()),
            range(four.model.interval()),
            percent(four.copy.share()),
            percent(four.frequent.share()),
            percent(four.oracle.share()),
        ]);
    }
    let mut prose = if many {
        Vec::new()
    } else {
        vec![figures.data.clone()]
    };
    for (why, count) in &figures.left_out {
        prose.push(format!("{count} left out: {why}"));
    }
    vec![
        Section {
            title: format!("Exact match{suffix}"),
            prose,
            table: Some(overview),
            plots: Vec::new(),
        },
        Section {
            title: format!("By kind of statement{suffix}"),
            prose: vec!["Statements that ask for at least one operation".into()],
            table: Some(by_kind(&figures.by_statement)),
            plots: vec![bars(
                file("by-statement"),
                "Exact next states by kind of statement",
                &figures.by_statement,
            )],
        },
        Section {
            title: format!("By kind of operation{suffix}"),
            prose: vec!["Each operation once, however often it is asked".into()],
            table: Some(by_kind(&figures.by_operation)),
            plots: vec![bars(
                file("by-operation"),
                "Exact effects by kind of operation",
                &figures.by_operation,
            )],
        },
        components(figures, &suffix),
        confidence(
            figures,
            &suffix,
            file("reliability"),
            file("reliability-operations"),
        ),
        agreement(figures, &suffix),
    ]
}

fn by_kind(kinds: &BTreeMap<&'static str, Four>) -> Table {
    let mut table = Table::new(&["kind", "n", "model", "95 %", "copy", "frequent"]);
    for (name, four) in sorted(kinds) {
        table.row([
            name.into(),
            four.model.of.to_string(),
            percent(four.model.share()),
            range(four.model.interval()),
            percent(four.copy.share()),
            percent(four.frequent.share()),
        ]);
    }
    table
}

/// The most frequent kinds first.
fn sorted<'k>(kinds: &'k BTreeMap<&'static str, Four>) -> Vec<(&'static str, &'k Four)> {
    let mut sorted: Vec<_> = kinds.iter().map(|(&name, four)| (name, four)).collect();
    sorted.sort_by_key(|(_, four)| std::cmp::Reverse(four.model.of));
    sorted
}

fn bars(name: String, title: &str, kinds: &BTreeMap<&'static str, Four>) -> Plot {
    let bars = sorted(kinds).into_iter().filter_map(|(label, four)| {
        Some(Bar {
            label: label.into(),
            share: four.model.share()?,
            interval: four
                .model
                .interval()
                .map(|interval| (interval.low, interval.high)),
            count: four.model.of,
            baseline: [four.copy.share(), four.frequent.share()]
                .into_iter()
                .flatten()
                .reduce(f64::max),
        })
    });
    Bars {
        name,
        title: title.into(),
        baseline: Some("copy or most frequent, whichever is better".into()),
        bars: bars.collect(),
    }
    .draw()
}

fn components(figures: &Figures, suffix: &str) -> Section {
    let mut table = Table::new(&["", "n", "model", "copy", "n needing", "model", "copy"]);
    for name in [
        "next line",
        "all locals",
        "changed locals",
        "value of a return",
    ] {
        let (all, needing) = (
            figures.components.get(name),
            figures.components_needing_the_model.get(name),
        );
        let share = |two: Option<&Two>| {
            let of = two.map_or(0, |two| two.model.of);
            let (model, copy) =
                two.map_or((None, None), |two| (two.model.share(), two.copy.share()));
            (of.to_string(), percent(model), percent(copy))
        };
        let (all, needing) = (share(all), share(needing));
        table.row([
            name.into(),
            all.0,
            all.1,
            all.2,
            needing.0,
            needing.1,
            needing.2,
        ]);
    }
    Section {
        title: format!("Parts of the next state{suffix}"),
        prose: vec![
            "Over all statements, then over those that need the model. Copy here: no variable \
             changes, the next line is the next statement of the text, a return gives `None`"
                .into(),
        ],
        table: Some(table),
        plots: Vec::new(),
    }
}

fn confidence(figures: &Figures, suffix: &str, file: String, other: String) -> Section {
    let mut table = Table::new(&["", "statements", "operations"]);
    let both = |figure: &dyn Fn(&[Coverage], &Calibration) -> String| {
        [
            figure(&figures.coverage, &figures.calibration),
            figure(&figures.operation_coverage, &figures.operation_calibration),
        ]
    };
    let mut row = |name: &str, [one, two]: [String; 2]| table.row([name.into(), one, two]);
    row(
        "answers",
        both(&|_, calibration| calibration.count.to_string()),
    );
    for (at, name) in ["answered at 99 % precision", "answered at 95 % precision"]
        .iter()
        .enumerate()
    {
        row(name, both(&|coverage, _| percent(coverage[at].share())));
        let threshold = |coverage: &[Coverage], _: &Calibration| {
            coverage[at]
                .threshold
                .map_or("-".into(), |least| format!("{least:.4}"))
        };
        row("  with a confidence of at least", both(&threshold));
    }
    row(
        "expected calibration error",
        both(&|_, calibration| percent(Some(calibration.error))),
    );
    row(
        "Brier score",
        both(&|_, calibration| format!("{:.4}", calibration.brier)),
    );
    let plot = |name: String, title: &str, calibration: &Calibration| {
        Reliability {
            name,
            title: title.into(),
            calibration: calibration.clone(),
        }
        .draw()
    };
    Section {
        title: format!("Confidence{suffix}"),
        prose: vec![
            "Statements that need the model, with the joint probability of their operations; \
             operations each once"
                .into(),
        ],
        table: Some(table),
        plots: vec![
            plot(file, "Reliability of statements", &figures.calibration),
            plot(
                other,
                "Reliability of operations",
                &figures.operation_calibration,
            ),
        ],
    }
}

fn agreement(figures: &Figures, suffix: &str) -> Section {
    let mut table = Table::new(&[
        "harness and oracle against a recording",
        "programs",
        "share",
    ]);
    for name in [
        "same",
        "not simulated",
        "order of a set",
        "a limit",
        "other",
    ] {
        let count = figures.agreement.get(name).copied().unwrap_or(0);
        let share = Tally {
            right: count,
            of: figures.programs,
        }
        .share();
        table.row([name.into(), count.to_string(), percent(share)]);
    }
    let mut prose = vec![
        "Each program is run by Python itself and compared state by state: kind, line, locals and \
         what is returned or raised"
            .into(),
    ];
    prose.extend(figures.disagreements.iter().take(EXAMPLES).map(|text| {
        let short: String = text.chars().take(150).collect();
        format!("· {short}")
    }));
    if figures.disagreements.len() > EXAMPLES {
        prose.push(format!(
            "· and {} more",
            figures.disagreements.len() - EXAMPLES
        ));
    }
    Section {
        title: format!("Oracle{suffix}"),
        prose,
        table: Some(table),
        plots: Vec::new(),
    }
}
