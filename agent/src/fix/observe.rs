//! The second recording pass: values of locals in the suspicious functions, for the failing tests.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::Utf8PathBuf;
use ndbg_tools::python::pytest::{Mode, Request};

use super::baseline::Baseline;
use super::budget::Budget;
use super::localize::Localization;
use super::session::Session;
use super::stop::Stop;
use crate::plan::{Observation, Observations, Value};

/// Functions whose values are recorded.
const FUNCTIONS: usize = 15;
/// Failing tests that are run for it.
const TESTS: usize = 10;

/// Records values; an empty answer when the run fails, since values only order the search.
pub fn observe(
    session: &Session,
    baseline: &Baseline,
    found: &Localization,
    budget: &mut Budget,
) -> Result<Observations, Stop> {
    let mut observations = Observations::default();
    if baseline.collection_fails || found.functions.is_empty() {
        return Ok(observations);
    }
    session.tree.restore(&session.cancel)?;
    let mut trace: BTreeMap<Utf8PathBuf, Vec<(usize, usize)>> = BTreeMap::new();
    for function in found.functions.iter().take(FUNCTIONS) {
        let outer = found
            .files
            .get(&function.file)
            .and_then(|syntax| {
                syntax
                    .functions()
                    .iter()
                    .find(|f| f.first_line == function.first_line)
            })
            .map_or(function.first_line, |f| f.outer_line);
        let ranges = trace.entry(function.file.clone()).or_default();
        ranges.push((outer, function.last_line));
    }
    let mut tests = baseline.failing_ids();
    tests.truncate(TESTS);
    let request = Request {
        mode: Mode::Values(trace),
        select: Some(tests),
        neutral: true,
        args: baseline.args.clone(),
        soft_limit: Some(Duration::from_secs(20)),
        deadline: budget.cap(Duration::from_secs(40)),
        ..Request::run(baseline.paths.clone())
    };
    let results = session.harness.run(&request, &session.cancel)?;
    budget.test_runs += 1;
    for record in results.values {
        let locals: BTreeMap<String, Value> =
            serde_json::from_value(record.locals).unwrap_or_default();
        let lines = observations.by_line.entry(record.file).or_default();
        lines.entry(record.line).or_default().push(Observation {
            test: record.test,
            locals,
        });
    }
    Ok(observations)
}
