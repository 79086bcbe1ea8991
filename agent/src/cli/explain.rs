//! `ndbg-agent explain`.

use std::io::IsTerminal as _;
use std::time::Duration;

use anyhow::Context as _;
use camino::Utf8PathBuf;
use clap::Args;
use ndbg_tools::Cancel;

use super::project::ProjectArguments;
use super::trace::say;
use crate::explain::{self, Explanation};
use crate::fix;
use crate::fix::budget::Budget;
use crate::fix::session::note;
use crate::fix::settings::Limits;
use crate::model::Named;
use crate::outcome::Outcome;
use crate::report::look::Look;
use crate::report::wording::plural;
use crate::report::{ColorChoice, Level, Reporter, ReporterOptions};

/// Say why tests fail: where the run parts from what was needed
///
/// Runs the failing tests in a git worktree, records them, and walks back from
/// the failed assertion: which statement did something else than was needed,
/// what did it do, and what would have been needed? Rules undo one operation
/// at a time; where they give no answer, the simulator's model is asked.
/// Nothing in your tree changes, and no patch is looked for.
///
///   $ ndbg-agent explain --repo . --test test_parcel.py::test_grams
///   test_parcel.py::test_grams
///     fails with AssertionError in test_grams, test_parcel.py:6
///     expected   60
///     actual     -4
///
///   Where it parts from what was needed
///     The returned value in weight, parcel.py:10
///     recorded   -4
///     needed     60
///     known      derived by rules from the recording, confidence 43 %
///           9      space = volume(sides)
///     >    10      return space - density
///
/// Then come the points on the way from the assertion to there, and the steps
/// before it. Where no such statement is found it says why, and ranks the
/// suspicious lines. Exits with 0 when tests fail and were explained, with 3
/// when none fails, else as `fix` does.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct ExplainArguments {
    #[command(flatten)]
    project: ProjectArguments,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Folder for events.jsonl, report.md, report.html and report.json; none is written without it
    #[arg(long, value_name = "DIR")]
    out: Option<Utf8PathBuf>,
    /// Entries of each ranking in the JSON object
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10)]
    top: usize,
    /// Neural debugger that is asked what rules do not say
    ///
    /// `embedded`, `oracle` (a real interpreter and rules, no model), a folder or GGUF file of a checkpoint, the
    /// address of a server, or `off`: then nothing is recorded, and the suspicious lines are ranked.
    #[arg(long, value_name = "MODEL", default_value = "embedded")]
    simulator: String,
    /// Wall-clock limit in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Limits")]
    max_time: u64,
}

/// Runs the verb.
pub fn run(arguments: ExplainArguments, color: ColorChoice) -> anyhow::Result<Outcome> {
    let cancel = Cancel::on_signals().context("cannot handle signals")?;
    let settings = arguments.project.settle();
    let limits = Limits {
        time: Duration::from_secs(arguments.max_time),
        executions: u64::MAX,
    };
    let reporter = Reporter::start(ReporterOptions {
        run_dir: arguments.out.clone(),
        ..ReporterOptions::silent(color)
    })?;
    if let Some(folder) = &arguments.out {
        fix::start(&reporter, "explain", &settings, limits, folder, None);
    }
    let simulator = (arguments.simulator != "off").then(|| {
        // A name is always one kind of model or another.
        let Ok(named) = arguments.simulator.parse::<Named>();
        named
    });
    let mut budget = Budget::start(limits, &cancel);
    let explained = explain::explain(
        &settings,
        simulator.as_ref(),
        arguments.top,
        &mut budget,
        &reporter,
        &cancel,
    );
    let (outcome, summary) = match &explained {
        Ok(explanation) => {
            let reasons = explanation.tests.iter().filter_map(|test| {
                let why = test.no_divergence.as_ref()?;
                Some(format!("no divergence in `{}`: {why}", test.symptom.test))
            });
            reasons.for_each(|text| note(&reporter, Level::Info, text, None));
            (Outcome::Fixed, summary(explanation))
        }
        Err(stop) => {
            fix::report_stop(&reporter, stop);
            // The reporter is silent on what is no error.
            if matches!(stop.outcome, Outcome::NothingToFix | Outcome::Budget) {
                eprintln!("{}", stop.message);
                if let Some(hint) = &stop.hint {
                    eprintln!("hint: {hint}");
                }
            }
            (stop.outcome, stop.message.clone())
        }
    };
    if arguments.out.is_some() {
        fix::finish(&reporter, outcome, summary, &budget, &[]);
    }
    reporter.finish(&[])?;
    let Ok(explanation) = explained else {
        return Ok(outcome);
    };
    let printed = if arguments.json {
        serde_json::to_string_pretty(&explanation)? + "\n"
    } else {
        explain::text(&explanation, &look(color))
    };
    Ok(match super::print(printed.as_bytes()) {
        Ok(()) => outcome,
        Err(stop) => say(&stop),
    })
}

/// "2 failing tests, a divergence in 1".
fn summary(explanation: &Explanation) -> String {
    let known = explanation
        .tests
        .iter()
        .filter(|test| test.divergence.is_some());
    format!(
        "{}, a divergence in {}",
        plural(explanation.tests.len(), "failing test"),
        known.count()
    )
}

/// What stdout can show.
fn look(color: ColorChoice) -> Look {
    let terminal = std::io::stdout().is_terminal().then(|| {
        console::Term::stdout()
            .size_checked()
            .map_or(Look::PLAIN.width, |(_, columns)| usize::from(columns))
    });
    Look::settle(color, terminal, |name| std::env::var(name).ok())
}
