//! How fast screening is: candidates per second in the warm runner, beside one pytest process per
//! candidate, on the same candidates in the same run.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use ndbg_tools::Cancel;

use super::budget::Budget;
use super::screen::Screener;
use super::search::{imported, near_tests};
use super::settings::{Limits, ProjectSettings};
use super::stop::Stop;
use crate::outcome::Outcome;
use crate::plan::search::{SearchOptions, SearchPlanner};
use crate::plan::{Candidate, Planner};
use crate::report::Reporter;

/// What was measured.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Throughput {
    /// Candidates run at a time.
    pub jobs: usize,
    /// Candidates run warm.
    pub warm: usize,
    /// Their rate, per second.
    pub warm_rate: f64,
    /// Candidates run cold.
    pub cold: usize,
    /// Their rate, per second.
    pub cold_rate: f64,
    /// Failing tests run per candidate.
    pub failing: usize,
    /// Seconds until the warm runner was ready, counted in neither rate.
    pub startup: f64,
}

/// Measures on the first `warm` and the first `cold` candidates of the search planner.
pub fn measure(
    project: &ProjectSettings,
    jobs: usize,
    warm: usize,
    cold: usize,
    reporter: &Reporter,
    cancel: &Cancel,
) -> Result<Throughput, Stop> {
    let limits = Limits {
        time: Duration::from_hours(1),
        executions: u64::MAX,
    };
    let mut budget = Budget::start(limits, cancel);
    let (session, baseline, found) = super::investigate(project, &mut budget, reporter, cancel)?;
    let (files, facts) = super::gather(&session, &baseline, &found, &[], &mut budget)?;
    let mut planner = SearchPlanner::new(SearchOptions::default());
    let mut candidates = Vec::new();
    while candidates.len() < warm.max(cold) {
        let more = planner
            .propose(&facts, &[], 64)
            .map_err(|error| Stop::new(Outcome::NotFixed, error.to_string()))?;
        if more.is_empty() {
            break;
        }
        candidates.extend(more);
    }
    let covering = near_tests(&baseline, &found);
    let mut rates = [(0, 0.0), (0, 0.0)];
    let (mut startup, mut failing) = (0.0, 0);
    for (index, count) in [warm, cold].into_iter().enumerate() {
        let begun = Instant::now();
        let mut screener = Screener::start(
            &session,
            &baseline,
            &covering,
            imported(&baseline, &found),
            &files,
            reporter,
            jobs,
            index == 0,
        )?;
        if index == 0 {
            startup = begun.elapsed().as_secs_f64();
        }
        failing = screener.must().len();
        let queue: VecDeque<Candidate> = candidates.iter().take(count).cloned().collect();
        rates[index] = run(&mut screener, queue)?;
    }
    Ok(Throughput {
        jobs,
        warm: rates[0].0,
        warm_rate: rates[0].1,
        cold: rates[1].0,
        cold_rate: rates[1].1,
        failing,
        startup,
    })
}

/// Runs everything in the queue; the number run and the rate.
fn run(screener: &mut Screener<'_>, mut queue: VecDeque<Candidate>) -> Result<(usize, f64), Stop> {
    let (begun, mut done) = (Instant::now(), 0);
    while !(queue.is_empty() && screener.is_idle()) {
        while screener.room() > 0
            && let Some(candidate) = queue.pop_front()
        {
            screener.submit(candidate)?;
        }
        if screener
            .next(Instant::now() + Duration::from_mins(1))?
            .is_some()
        {
            done += 1;
        }
    }
    Ok((done, done as f64 / begun.elapsed().as_secs_f64().max(1e-9)))
}
