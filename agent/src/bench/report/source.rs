//! Results on disk, read as [`Entry`]s.

use std::collections::BTreeMap;
use std::fs;

use camino::Utf8Path;
use serde::Deserialize;

use super::super::record::{Ending, Record};
use super::entry::{End, Entry, Settings};
use crate::fix::stop::Stop;
use crate::outcome::Outcome;

/// Reads the file that `bench tasks --json` writes.
pub fn read(path: &Utf8Path) -> Result<Vec<Entry>, Stop> {
    #[derive(Deserialize)]
    struct Header {
        version: String,
        max_time: u64,
    }
    let refused = |why: String| {
        Stop::new(
            Outcome::Usage,
            format!("`{path}` is no file of benchmark results: {why}"),
        )
        .hint("`bench tasks --json FILE` writes one")
    };
    let text = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let header: Header = serde_json::from_str(first).map_err(|error| refused(error.to_string()))?;
    let settings = Settings {
        planner: "search".into(),
        model: None,
        simulator: None,
        more: BTreeMap::from([
            ("limit".into(), format!("{} s", header.max_time)),
            ("version".into(), header.version),
        ]),
    };
    // A line that was cut off by a kill is a task without a result.
    let records = lines.filter_map(|line| serde_json::from_str::<Record>(line).ok());
    Ok(records.map(|record| entry(record, &settings)).collect())
}

fn entry(record: Record, settings: &Settings) -> Entry {
    let end = match record.ending {
        Ending::Crashed => End::Infrastructure {
            class: "program".into(),
            message: record.summary,
        },
        ending => End::Judged {
            said: ending.word().into(),
            plausible: record.plausible,
            resolved: None,
            correct: record.correct,
        },
    };
    Entry {
        task: record.task,
        settings: settings.clone(),
        repository: record.repository,
        kind: record.kind,
        end,
        first_plausible_executions: record.first_plausible,
        first_plausible_seconds: None,
        executions: record.executions,
        test_runs: record.test_runs,
        seconds: record.seconds,
        tokens: None,
        cost: None,
        statement_rank: record.statement_rank,
        function_rank: record.function_rank,
        reason: record.reason,
    }
}
