//! The search: candidates from the planner, screened in order, plausible ones verified.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use ndbg_tools::source::SourceFile;

use super::baseline::Baseline;
use super::behaviour::Behaviour;
use super::budget::Budget;
use super::combine::{Combiner, FIRST_ID};
use super::localize::Localization;
use super::screen::Screener;
use super::session::{Session, note};
use super::settings::FixSettings;
use super::stop::Stop;
use super::verify::{self, Change};
use crate::outcome::Outcome;
use crate::plan::search::catalogue;
use crate::plan::{Candidate, Facts, Feedback, Pace, PlanError, Planner, Screened};
use crate::report::{Event, Level, Reporter};

/// Candidates asked for at a time.
const BATCH: usize = 8;
/// Time between progress events.
const PROGRESS: Duration = Duration::from_millis(250);
/// Plausible candidates whose behaviour is compared, and the time for it.
const COMPARED: usize = 8;
const COMPARING: Duration = Duration::from_secs(15);
/// Time beyond the limit for verifying what was found within it.
const GRACE: Duration = Duration::from_secs(3);
/// Suspicious functions whose passing tests are run with every near fix.
const COVERED: usize = 8;

/// What the search works with.
pub struct Context<'a> {
    /// Settings.
    pub settings: &'a FixSettings,
    /// The opened project.
    pub session: &'a Session,
    /// Its baseline.
    pub baseline: &'a Baseline,
    /// Its ranking.
    pub found: &'a Localization,
    /// Files that may be edited.
    pub files: &'a BTreeMap<Utf8PathBuf, SourceFile>,
    /// Where events go.
    pub reporter: &'a Reporter,
}

/// How the search ended.
pub struct Ended {
    /// Outcome.
    pub outcome: Outcome,
    /// One line.
    pub summary: String,
    /// The verified patch; empty without one.
    pub changes: Vec<Change>,
    /// Its candidate.
    pub accepted: Option<Candidate>,
    /// Other candidates that pass the failing tests and were not verified.
    pub others: Vec<Candidate>,
}

/// Searches until a patch is verified, nothing is left or the budget is spent.
pub fn search(
    context: &Context<'_>,
    facts: &Facts,
    planner: &mut dyn Planner,
    budget: &mut Budget,
) -> Result<Ended, Stop> {
    let Context {
        settings,
        session,
        baseline,
        found,
        files,
        reporter,
    } = context;
    let covering = near_tests(baseline, found);
    let mut screener = Screener::start(
        session,
        baseline,
        &covering,
        facts.imported.clone(),
        files,
        reporter,
        settings.jobs,
        settings.warm,
    )?;
    let must = screener.must().to_vec();
    let mut state = State {
        queue: VecDeque::new(),
        feedback: Vec::new(),
        combiner: Combiner::default(),
        plausible: Vec::new(),
        stop_at: None,
        exhausted: false,
        best: None,
        rejected: 0,
        next_combined: FIRST_ID,
        keep: screener.keep().to_vec(),
        tried: BTreeMap::new(),
        limit: None,
    };
    let begun = Instant::now();
    let mut told = planner.looks();
    // Seconds that candidates took, and how many.
    let (mut taken, mut ran) = (screener.expected_seconds(), 1.0);
    let (mut last_progress, mut announced) = (Instant::now(), false);
    loop {
        budget.check()?;
        while !budget.is_spent() && screener.room() > 0 && !state.enough(budget.executed) {
            if state.queue.is_empty()
                && planner.waits()
                && !(screener.is_idle() && state.is_settled())
            {
                break;
            }
            let pace = Pace {
                executed: budget.executed,
                seconds: taken / ran,
            };
            if state.queue.is_empty()
                && let Some(probe) = planner.look(facts, pace)
            {
                let of = |id: &str| baseline.seconds.get(id).copied().unwrap_or_default();
                let (seen, seconds) = screener.look(probe, &of, budget.left())?;
                planner.looked(facts, seen.as_ref(), seconds);
                budget.executed += 1;
                budget.test_runs += 1;
            }
            let next = state.next(facts, planner)?;
            let own = planner.executed();
            budget.executed += own;
            budget.test_runs += own;
            let Some(candidate) = next else {
                break;
            };
            if !announced {
                announced = true;
                reporter.emit(Event::PlanStarted {
                    planner: planner.name().into(),
                    planned: planner.remaining().map(|n| n + state.queue.len() + 1),
                });
            }
            screener.submit(candidate)?;
        }
        // Candidates under way are waited for: which of them ends first is chance.
        if screener.is_idle() || budget.is_spent() {
            if planner.looks() != told {
                told = planner.looks();
                reporter.emit(Event::Foreseen(told));
            }
            if let Some(ended) = settle(context, &mut state, budget)? {
                return Ok(ended);
            }
            if budget.is_spent() {
                return Ok(not_found(&state, budget, Some(budget.reached())));
            }
            if screener.is_idle() && state.exhausted && state.queue.is_empty() {
                let limit = state.limit.take();
                let mut ended = not_found(&state, budget, limit);
                if let Some(why) = planner.ended() {
                    ended.summary = format!("{why}; {}", ended.summary);
                }
                return Ok(ended);
            }
            continue;
        }
        let until = Instant::now() + PROGRESS.min(budget.left());
        if let Some(result) = screener.next(until)? {
            budget.executed += 1;
            budget.test_runs += 1;
            taken += result.ms / 1e3;
            ran += 1.0;
            reporter.emit(Event::Candidate {
                id: result.candidate.id,
                operator: result.candidate.operator.clone(),
                claim: result.candidate.claim.clone(),
                file: result.candidate.file.clone(),
                line: result.candidate.line,
                qualname: result.candidate.qualname.clone(),
                how: result.how.clone(),
                ms: (result.ms * 10.0).round() / 10.0,
                result: result.screened.clone(),
            });
            state.take(result.candidate, result.screened, &must, context, budget)?;
        }
        if last_progress.elapsed() >= PROGRESS {
            last_progress = Instant::now();
            let left = planner.remaining().map(|n| (n + state.queue.len()) as u64);
            reporter.emit(Event::Progress {
                executed: budget.executed,
                planned: left.map(|n| n + budget.executed),
                rate: budget.executed as f64 / begun.elapsed().as_secs_f64().max(1e-3),
                best: state.best.as_ref().map(|(_, text)| text.clone()),
            });
        }
    }
}

struct State {
    queue: VecDeque<Candidate>,
    feedback: Vec<Feedback>,
    combiner: Combiner,
    plausible: Vec<Candidate>,
    /// Executions at which the plausible ones are settled.
    stop_at: Option<u64>,
    exhausted: bool,
    best: Option<(usize, String)>,
    rejected: usize,
    next_combined: u64,
    /// Passing tests that are run with every near fix.
    keep: Vec<String>,
    /// Candidates screened, by operator.
    tried: BTreeMap<String, usize>,
    /// A limit of the planner that was reached, in words.
    limit: Option<String>,
}

impl State {
    fn enough(&self, executed: u64) -> bool {
        self.stop_at.is_some_and(|at| executed >= at)
    }

    /// Whether no plausible candidate waits to be verified.
    fn is_settled(&self) -> bool {
        self.plausible.is_empty()
    }

    fn next(
        &mut self,
        facts: &Facts,
        planner: &mut dyn Planner,
    ) -> Result<Option<Candidate>, Stop> {
        if self.queue.is_empty() && !self.exhausted {
            let feedback = std::mem::take(&mut self.feedback);
            let proposed = match planner.propose(facts, &feedback, BATCH) {
                Ok(proposed) => proposed,
                Err(PlanError::Budget { message, hint }) => {
                    self.limit = Some(format!("{message} ({hint})"));
                    Vec::new()
                }
                Err(PlanError::Cancelled) => return Err(Stop::interrupted()),
                Err(PlanError::Unreachable { message, hint }) => {
                    return Err(Stop::new(Outcome::Environment, message).hint(hint));
                }
                Err(error @ PlanError::Failed(_)) => {
                    return Err(Stop::new(
                        Outcome::NotFixed,
                        format!("planner {}: {error}", planner.name()),
                    ));
                }
            };
            self.exhausted = proposed.is_empty() && !planner.goes_on();
            self.queue.extend(proposed);
        }
        Ok(self.queue.pop_front())
    }

    fn take(
        &mut self,
        candidate: Candidate,
        screened: Screened,
        must: &[String],
        context: &Context<'_>,
        budget: &Budget,
    ) -> Result<(), Stop> {
        *self.tried.entry(candidate.operator.clone()).or_default() += 1;
        match &screened {
            Screened::Plausible => {
                let changes = verify::changes(&candidate, context.files)
                    .map_err(|error| Stop::new(Outcome::NotFixed, error))?;
                let diff = verify::diff(context.session, &changes);
                context.reporter.emit(Event::Plausible {
                    id: candidate.id,
                    claim: candidate.claim.clone(),
                    executed: budget.executed,
                    diff: String::from_utf8_lossy(&diff).into_owned(),
                });
                self.plausible.push(candidate.clone());
                self.stop_at
                    .get_or_insert(budget.executed + context.settings.alternatives);
            }
            Screened::NearMiss { fixed, .. } => {
                if self
                    .best
                    .as_ref()
                    .is_none_or(|(count, _)| fixed.len() > *count)
                {
                    let text = format!(
                        "{} of {} failing tests passes with {}",
                        fixed.len(),
                        must.len(),
                        candidate.claim
                    );
                    self.best = Some((fixed.len(), text));
                }
                let combined =
                    self.combiner
                        .add(&candidate, &screened, must, &mut self.next_combined);
                for combination in combined.into_iter().rev() {
                    self.queue.push_front(combination);
                }
                self.exhausted = false;
            }
            _ => {}
        }
        self.feedback.push(Feedback {
            candidate,
            screened,
        });
        Ok(())
    }
}

/// Verifies the plausible candidates so far, the best first; the search goes on when none holds.
fn settle(
    context: &Context<'_>,
    state: &mut State,
    budget: &mut Budget,
) -> Result<Option<Ended>, Stop> {
    state.stop_at = None;
    let mut plausible = std::mem::take(&mut state.plausible);
    plausible.sort_by(|a, b| b.score.total_cmp(&a.score));
    if plausible.len() > 1 {
        prefer(context, state, budget, &mut plausible)?;
    }
    let grace = Instant::now() + GRACE;
    for (at, candidate) in plausible.iter().enumerate() {
        // The best of what was found in time is verified in any case.
        if at > 0 && budget.is_spent() && Instant::now() > grace {
            break;
        }
        let changes = verify::changes(candidate, context.files)
            .map_err(|error| Stop::new(Outcome::NotFixed, error))?;
        let key = (candidate.file.clone(), candidate.qualname.clone());
        let covering = context
            .found
            .covering
            .get(&key)
            .cloned()
            .unwrap_or_default();
        let verdict = verify::verify(
            context.session,
            context.baseline,
            candidate,
            &changes,
            &covering,
            budget,
            context.reporter,
        )?;
        if verdict.accepted {
            return Ok(Some(Ended {
                outcome: Outcome::Fixed,
                summary: candidate.claim.clone(),
                changes,
                accepted: Some(candidate.clone()),
                others: plausible[at + 1..].to_vec(),
            }));
        }
        state.rejected += 1;
        note(
            context.reporter,
            Level::Info,
            format!("not believed: {}", verdict.reason),
            None,
        );
    }
    Ok(None)
}

/// Characters that a candidate adds.
fn growth(candidate: &Candidate) -> f64 {
    let added = candidate
        .edits
        .iter()
        .map(|e| e.text.len() as f64 - (e.end - e.start) as f64);
    added.sum::<f64>().max(0.0)
}

/// Orders plausible candidates: score, divided by the fourth root of the number of candidates that
/// their operator had tried, by a little for what they add, and by the number of functions whose
/// behaviour they change in tests that passed before.
fn prefer(
    context: &Context<'_>,
    state: &mut State,
    budget: &mut Budget,
    plausible: &mut [Candidate],
) -> Result<(), Stop> {
    let Context {
        session,
        baseline,
        found,
        files,
        reporter,
        ..
    } = context;
    let until = Instant::now() + COMPARING.min(budget.left() / 4);
    let limit = Duration::from_secs_f64(baseline.run_seconds * 4.0 + 5.0);
    let sources: Vec<Utf8PathBuf> = found.files.keys().cloned().collect();
    let record = |changes: &[Change]| {
        Behaviour::record(session, baseline, &state.keep, &sources, changes, limit)
    };
    let base = record(&[])?;
    budget.test_runs += 1;
    let mut ranked: Vec<(f64, usize)> = Vec::new();
    let compared = plausible.len().min(COMPARED);
    for (index, candidate) in plausible.iter().enumerate() {
        budget.check()?;
        // An operator with many alternatives fits by chance more often.
        let tried = state.tried.get(&candidate.operator).copied();
        let mut weight = candidate.base / (tried.unwrap_or(1) as f64).powf(0.25);
        // Code that looked wrong before anything was run.
        if catalogue().any(|(name, _, prior)| name == candidate.operator && prior > 1.0) {
            weight *= 1.5;
        }
        // Of two that do the same, the one that adds less is easier to read.
        weight /= 1.0 + (1.0 + growth(candidate)).ln() / 8.0;
        if index < COMPARED && Instant::now() < until {
            let changes = verify::changes(candidate, files)
                .map_err(|error| Stop::new(Outcome::NotFixed, error))?;
            let functions = base.changed(&record(&changes)?);
            budget.test_runs += 1;
            weight /= 1.0 + functions as f64;
        } else {
            // Not looked at: behind everything that was.
            weight *= 1e-3;
        }
        ranked.push((weight, index));
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let order: Vec<Candidate> = ranked
        .iter()
        .map(|(_, index)| plausible[*index].clone())
        .collect();
    plausible.clone_from_slice(&order);
    let text = format!(
        "{} patches pass the failing tests; {compared} compared by what they change in passing tests",
        order.len()
    );
    note(reporter, Level::Info, text, None);
    Ok(())
}

fn not_found(state: &State, budget: &Budget, limit: Option<String>) -> Ended {
    let mut summary = format!("{} candidates ran", budget.executed);
    if state.rejected > 0 {
        let _ = write!(
            summary,
            ", {} passed the screening but not the verification",
            state.rejected
        );
    }
    if let Some((_, best)) = &state.best {
        let _ = write!(summary, "; nearest: {best}");
    }
    let outcome = if limit.is_some() {
        Outcome::Budget
    } else {
        Outcome::NotFixed
    };
    if let Some(limit) = limit {
        summary = format!("{limit}; {summary}");
    }
    Ended {
        outcome,
        summary,
        changes: Vec::new(),
        accepted: None,
        others: Vec::new(),
    }
}

/// Passing tests that run one of the most suspicious functions.
pub fn near_tests(baseline: &Baseline, found: &Localization) -> BTreeSet<String> {
    let functions = found.functions.iter().take(COVERED);
    functions
        .filter_map(|f| found.covering.get(&(f.file.clone(), f.qualname.clone())))
        .flatten()
        .filter(|id| baseline.passing.contains(*id))
        .cloned()
        .collect()
}

/// Functions that ran while tests were collected.
pub fn imported(baseline: &Baseline, found: &Localization) -> BTreeSet<(Utf8PathBuf, String)> {
    let mut functions = BTreeSet::new();
    for (file, lines) in baseline.coverage.get("").into_iter().flatten() {
        let Some(syntax) = found.files.get(file) else {
            continue;
        };
        let lines: BTreeSet<usize> = lines.iter().copied().collect();
        for statement in syntax.statements() {
            if let Some(function) = statement.function
                && lines.contains(&statement.first_line)
                && statement.kind != "function_definition"
            {
                functions.insert((file.clone(), syntax.functions()[function].qualname.clone()));
            }
        }
    }
    functions
}
