//! `ndbg-agent localize`.

use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use ndbg_tools::Cancel;

use super::project::ProjectArguments;
use crate::fix;
use crate::fix::budget::Budget;
use crate::fix::localize::Localization;
use crate::fix::settings::Limits;
use crate::outcome::Outcome;
use crate::report::{ColorChoice, Reporter, ReporterOptions};

/// Rank the code by how likely it makes the tests fail
///
/// Ochiai suspiciousness over line coverage per test; ties are broken by the stack trace, the
/// distance to the failing assertion and data dependence.
#[derive(Debug, Args)]
pub struct LocalizeArguments {
    #[command(flatten)]
    project: ProjectArguments,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Entries of each ranking
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10)]
    top: usize,
    /// Wall-clock limit in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 300,
        help_heading = "Limits"
    )]
    max_time: u64,
}

/// Runs the verb.
pub fn run(arguments: LocalizeArguments, color: ColorChoice) -> anyhow::Result<Outcome> {
    let cancel = Cancel::on_signals().context("cannot handle signals")?;
    let settings = arguments.project.settle();
    let reporter = Reporter::start(ReporterOptions::silent(color))?;
    let limits = Limits {
        time: Duration::from_secs(arguments.max_time),
        executions: u64::MAX,
    };
    let mut budget = Budget::start(limits, &cancel);
    match fix::investigate(&settings, &mut budget, &reporter, &cancel) {
        Ok((session, _, found)) => {
            drop(session);
            if arguments.json {
                let object = serde_json::json!({
                    "format": 1,
                    "functions": found.functions.iter().take(arguments.top).collect::<Vec<_>>(),
                    "statements": found.statements.iter().take(arguments.top).collect::<Vec<_>>(),
                });
                println!("{}", serde_json::to_string_pretty(&object)?);
            } else {
                print(&found, arguments.top);
            }
            Ok(Outcome::Fixed)
        }
        Err(stop) => {
            fix::report_stop(&reporter, &stop);
            if stop.outcome == Outcome::NothingToFix {
                eprintln!("{}", stop.message);
            }
            Ok(stop.outcome)
        }
    }
}

fn print(found: &Localization, top: usize) {
    println!("Functions");
    for (rank, function) in found.functions.iter().take(top).enumerate() {
        println!(
            "{:>3}. {:.2}  {} ({}:{})",
            rank + 1,
            function.score,
            function.qualname,
            function.file,
            function.first_line
        );
        println!("           {}", function.reasons.join(", "));
    }
    println!("\nStatements");
    for (rank, statement) in found.statements.iter().take(top).enumerate() {
        let source = found.files.get(&statement.file).map_or("", |syntax| {
            syntax.file().line_text(statement.first_line).trim()
        });
        let source: String = source
            .chars()
            .filter(|c| !c.is_control())
            .take(60)
            .collect();
        println!(
            "{:>3}. {:.2}  {}:{}  {source}",
            rank + 1,
            statement.score,
            statement.file,
            statement.first_line
        );
        println!("           {}", statement.reasons.join(", "));
    }
}
