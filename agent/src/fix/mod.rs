//! The fix loop: baseline, localise, plan, screen, verify, report.

mod angelic;
pub mod baseline;
mod behaviour;
pub mod budget;
mod cold;
mod combine;
pub mod divergence;
pub(crate) mod evidence;
pub(crate) mod frame_place;
mod frame_predicted;
pub mod frame_table;
mod judge;
pub mod localize;
mod model;
mod observe;
mod reproduce;
pub mod resumable;
pub(crate) mod screen;
pub(crate) mod search;
pub mod session;
pub mod settings;
mod spectra;
pub mod stop;
mod sureness;
pub mod tampering;
pub mod target;
pub mod target_run;
pub mod throughput;
mod trial;
mod verify;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_simulator::recording::Recording;
use ndbg_tools::Cancel;
use ndbg_tools::source::SourceFile;
use ndbg_tools::trace::Opened;

use angelic::Angels;
use baseline::Baseline;
use budget::Budget;
use divergence::Parting;
use evidence::Evidence;
use frame_table::FrameTable;
use localize::Localization;
use reproduce::{Ground, Patch};
use session::{Session, note};
use settings::{FixSettings, ModelSettings, PlannerSettings, ProjectSettings};
use stop::Stop;
use sureness::Compared;
use target::Target;
use verify::Change;

use crate::eval::Predictor;
use crate::model::{Named, Served};
use crate::outcome::Outcome;
use crate::plan::search::{SearchOptions, SearchPlanner};
use crate::plan::synthesis::Synthesis;
use crate::plan::{Candidate, Facts, Interleaved, Needed, Planner, Sequence};
use crate::report::event::{BudgetFacts, Stages};
use crate::report::{Event, Level, Reporter};

/// How a run ended.
#[derive(Debug)]
pub struct Ending {
    /// Outcome.
    pub outcome: Outcome,
    /// The verified diff; empty without one.
    pub diff: Vec<u8>,
}

/// Share of the time that the search has before a model is asked.
const SEARCHED: f64 = 0.4;

/// Share of the time after which values are put in, if the likely single edits take longer.
const ALONE: f64 = 0.15;

/// Ranked statements that are reported.
const REPORTED: usize = 30;

/// Fixes the failing tests of a project, or says why not. Every ending has been reported; the
/// artefacts are left to [`Reporter::finish`].
pub fn fix(
    settings: &FixSettings,
    apply: bool,
    run_dir: &Utf8PathBuf,
    reporter: &Reporter,
    cancel: &Cancel,
) -> Ending {
    let stages = Stages {
        search: !matches!(settings.planner, PlannerSettings::Model(_)),
        pairs: settings.pairs,
        synthesis: settings.warm && settings.synthesis,
        simulator: settings.simulator.is_some(),
        model: !matches!(settings.planner, PlannerSettings::Search),
    };
    let (project, limits) = (&settings.project, settings.limits);
    start(reporter, "fix", project, limits, run_dir, Some(stages));
    let mut budget = Budget::start(settings.limits, cancel);
    let result = attempt(settings, &mut budget, reporter, cancel);
    let (outcome, summary, diff) = match result {
        Ok(Found {
            summary,
            outcome,
            session,
            changes,
        }) => {
            let diff = verify::diff(&session, &changes);
            let mut outcome = outcome;
            let mut summary = summary;
            if apply && !changes.is_empty() {
                let written = changes.iter().map(|c| c.file.clone()).collect();
                let writes: Vec<_> = changes
                    .into_iter()
                    .map(|c| (c.file, c.before, c.after))
                    .collect();
                match ndbg_tools::worktree::apply_to_users_tree(&session.project, &writes) {
                    Ok(()) => reporter.emit(Event::Applied { files: written }),
                    Err(error) => {
                        outcome = Outcome::Environment;
                        summary = format!("verified, but not written: {error}");
                        let hint = "apply the diff by hand with `git apply`".to_owned();
                        note(reporter, Level::Error, summary.clone(), Some(hint));
                    }
                }
            }
            (outcome, summary, diff)
        }
        Err(stop) => {
            report_stop(reporter, &stop);
            (stop.outcome, stop.message, Vec::new())
        }
    };
    finish(reporter, outcome, summary, &budget, &diff);
    Ending { outcome, diff }
}

/// The first event of a run.
pub fn start(
    reporter: &Reporter,
    command: &str,
    project: &ProjectSettings,
    limits: settings::Limits,
    run_dir: &Utf8PathBuf,
    stages: Option<Stages>,
) {
    reporter.emit(Event::RunStarted {
        format: crate::report::event::FORMAT,
        version: env!("CARGO_PKG_VERSION").into(),
        command: command.into(),
        repo: project.repo.clone(),
        targets: project.tests.clone(),
        run_dir: run_dir.clone(),
        budget: BudgetFacts {
            seconds: limits.time.as_secs_f64(),
            executions: limits.executions,
        },
        stages,
    });
}

/// Reports an early end.
pub fn report_stop(reporter: &Reporter, stop: &Stop) {
    let level = match stop.outcome {
        Outcome::NothingToFix | Outcome::Budget => Level::Info,
        Outcome::Flaky => Level::Warning,
        _ => Level::Error,
    };
    note(reporter, level, stop.message.clone(), stop.hint.clone());
}

/// The last event of a run.
pub fn finish(
    reporter: &Reporter,
    outcome: Outcome,
    summary: String,
    budget: &Budget,
    diff: &[u8],
) {
    reporter.emit(Event::Finished {
        outcome,
        exit_code: outcome.exit_code(),
        summary,
        executed: budget.executed,
        test_runs: budget.test_runs,
        seconds: budget.elapsed().as_secs_f64(),
        diff: String::from_utf8_lossy(diff).into_owned(),
    });
}

/// What was found; the session is kept until the patch is written.
struct Found {
    outcome: Outcome,
    summary: String,
    session: Session,
    changes: Vec<Change>,
}

/// Opens, establishes the baseline, records and localises: what `localize` and `fix` share.
pub fn investigate(
    settings: &ProjectSettings,
    budget: &mut Budget,
    reporter: &Reporter,
    cancel: &Cancel,
) -> Result<(Session, Baseline, Localization), Stop> {
    // A target that does not exist is said before anything slow happens.
    let folder = settings.repo.canonicalize_utf8().map_err(|_| {
        Stop::from(ndbg_tools::project::ProjectError::NotAFolder(
            settings.repo.clone(),
        ))
    })?;
    let targets: Vec<Target> = settings
        .tests
        .iter()
        .map(|text| Target::parse(text, &folder))
        .collect::<Result<_, _>>()?;
    let session = session::open(settings, reporter, cancel)?;
    let mut baseline =
        baseline::establish(&session, &targets, settings.baseline_runs, budget, reporter)?;
    budget.check()?;
    spectra::record(&session, &mut baseline, budget, reporter)?;
    let found = localize::localize(&session, &baseline);
    for text in &found.unreadable {
        note(
            reporter,
            Level::Warning,
            format!("{text}; it is not searched"),
            None,
        );
    }
    localized(&found, reporter);
    Ok((session, baseline, found))
}

fn attempt(
    settings: &FixSettings,
    budget: &mut Budget,
    reporter: &Reporter,
    cancel: &Cancel,
) -> Result<Found, Stop> {
    if let PlannerSettings::Model(named) | PlannerSettings::Auto(named) = &settings.planner {
        model::check(named, reporter)?;
    }
    let (session, baseline, mut found) = investigate(&settings.project, budget, reporter, cancel)?;
    if found.statements.is_empty() {
        return Err(nowhere(&baseline, &found));
    }
    let recorded = Cell::new(0);
    let deadline = Instant::now() + budget.left();
    let walked = settings.simulator.as_ref().and_then(|simulator| {
        walk(
            simulator, &session, &baseline, &mut found, deadline, &recorded, reporter, cancel,
        )
    });
    let (opened, diverged) = walked.unzip();
    let needed = diverged.unwrap_or_default().needed();
    let (files, facts) = gather(&session, &baseline, &found, &needed, budget)?;
    let evidence = Evidence::new(&session, &baseline, &found, deadline, &recorded, opened);
    let angels = Angels::new(
        &session,
        &baseline,
        &found,
        &files,
        reporter,
        settings.jobs,
        deadline,
        settings.limits.executions,
        settings.warm && settings.synthesis,
    );
    let mut planner = planner(settings, evidence, angels, reporter, cancel, deadline)?;
    let ended = search::search(
        &search::Context {
            settings,
            session: &session,
            baseline: &baseline,
            found: &found,
            files: &files,
            reporter,
        },
        &facts,
        planner.as_mut(),
        budget,
    );
    budget.test_runs += recorded.get();
    let ended = ended?;
    drop(planner);
    let ground = Ground {
        session: &session,
        facts: &facts,
        reporter,
    };
    let compared = show(&ground, &ended, &files, budget);
    if let Some(candidate) = &ended.accepted {
        let sureness = sureness::sureness(
            candidate,
            &ended,
            compared,
            budget.executed,
            &baseline,
            &found,
        );
        reporter.emit(Event::Sure(sureness));
    }
    Ok(Found {
        outcome: ended.outcome,
        summary: ended.summary,
        session,
        changes: ended.changes,
    })
}

/// Where the failing runs part from what was needed.
#[derive(Default)]
pub(crate) struct Diverged {
    /// Statements whose effect would have had to be another one, the likeliest first.
    pub partings: Vec<Parting>,
    /// The frame of the likeliest one.
    pub frame: Option<FrameTable>,
}

impl Diverged {
    /// What statements would have had to give, as planners know it.
    pub fn needed(&self) -> Vec<Needed> {
        let partings = self.partings.iter();
        partings.filter_map(divergence::needed).collect()
    }
}

/// Records the failing tests and walks back from what they expect: the recording, and where they part.
#[allow(clippy::too_many_arguments)]
pub(crate) fn walk(
    simulator: &Named,
    session: &Session,
    baseline: &Baseline,
    found: &mut Localization,
    deadline: Instant,
    recorded: &Cell<u64>,
    reporter: &Reporter,
    cancel: &Cancel,
) -> Option<(Opened, Diverged)> {
    let opened = Evidence::new(session, baseline, found, deadline, recorded, None).record()?;
    let diverged = diverge(
        simulator,
        &opened.recording,
        baseline,
        found,
        Some(&session.harness.interpreter.path),
        reporter,
        cancel,
    );
    Some((opened, diverged))
}

/// Tells where the failing runs part from what was needed, and raises the suspicion of those lines.
fn diverge(
    simulator: &Named,
    recording: &Recording,
    baseline: &Baseline,
    found: &mut Localization,
    python: Option<&Utf8Path>,
    reporter: &Reporter,
    cancel: &Cancel,
) -> Diverged {
    let model = match crate::model::open(simulator, &Served::default(), None, cancel) {
        Ok(model) => Some(model),
        Err(stop) => {
            let text = format!("the simulator does without its model: {}", stop.message);
            note(reporter, Level::Warning, text, stop.hint);
            None
        }
    };
    let predictor = model.as_ref().map(|model| model as &dyn Predictor);
    let reality = || -> Option<Box<dyn Predictor>> {
        let opened = crate::model::open(&Named::Oracle, &Served::default(), python, cancel).ok()?;
        Some(Box::new(opened))
    };
    let partings = divergence::partings(recording, &baseline.failing, predictor, &reality);
    let frame = frame_table::frame_table(recording, &partings, predictor);
    if !partings.is_empty() {
        divergence::raise(found, &partings);
        reporter.emit(Event::Divergence {
            partings: partings.clone(),
            frame: frame.clone(),
        });
        localized(found, reporter);
    }
    Diverged { partings, frame }
}

fn localized(found: &Localization, reporter: &Reporter) {
    reporter.emit(Event::Localized {
        functions: found.functions.iter().take(REPORTED).cloned().collect(),
        statements: found.statements.iter().take(REPORTED).cloned().collect(),
    });
}

/// Who proposes patches in this run.
fn planner<'a>(
    settings: &FixSettings,
    evidence: Evidence<'a>,
    angels: Angels<'a>,
    reporter: &'a Reporter,
    cancel: &Cancel,
    deadline: Instant,
) -> Result<Box<dyn Planner + 'a>, Stop> {
    let search = SearchPlanner::new(SearchOptions {
        max_functions: settings.max_functions,
        pairs: settings.pairs,
        foresight: settings.foresight && settings.warm,
        ..SearchOptions::default()
    });
    let alone = settings.limits.time.mul_f64(ALONE);
    let search = || Interleaved::new(search, Synthesis::new(Box::new(angels)), alone);
    let model = |named: &ModelSettings| model::planner(named, evidence, reporter, cancel, deadline);
    Ok(match &settings.planner {
        PlannerSettings::Search => Box::new(search()),
        PlannerSettings::Model(named) => Box::new(model(named)?),
        PlannerSettings::Auto(named) => Box::new(Sequence::new(
            search(),
            model(named)?,
            settings.limits.time.mul_f64(SEARCHED),
        )),
    })
}

/// Calls that show what was wrong and what else would have passed.
fn show(
    ground: &Ground<'_>,
    ended: &search::Ended,
    files: &BTreeMap<Utf8PathBuf, SourceFile>,
    budget: &Budget,
) -> Compared {
    let Some(candidate) = &ended.accepted else {
        if let Some(failure) = ground.facts.failures.first() {
            reproduce::raised(ground, failure, budget);
        }
        return Compared::default();
    };
    let Some(change) = reproduce::single(&ended.changes) else {
        return Compared::default();
    };
    let patch = Patch { candidate, change };
    reproduce::mended(ground, &patch, budget);
    let others: Vec<(&Candidate, Vec<Change>)> = ended
        .others
        .iter()
        .filter_map(|other| Some((other, verify::changes(other, files).ok()?)))
        .collect();
    let others: Vec<Patch<'_>> = others
        .iter()
        .filter_map(|(candidate, changes)| {
            let change = reproduce::single(changes)?;
            Some(Patch { candidate, change })
        })
        .collect();
    reproduce::told_apart(ground, &patch, &others, budget)
}

/// The second recording pass, and everything that a planner may know.
pub(crate) fn gather(
    session: &Session,
    baseline: &Baseline,
    found: &Localization,
    needed: &[Needed],
    budget: &mut Budget,
) -> Result<(BTreeMap<Utf8PathBuf, SourceFile>, Facts), Stop> {
    let observations = observe::observe(session, baseline, found, budget)?;
    let sources = found.files.iter();
    let files = sources
        .map(|(name, syntax)| (name.clone(), syntax.file().clone()))
        .collect();
    let searchable = found
        .files
        .iter()
        .filter(|(_, syntax)| !syntax.has_errors());
    let facts = Facts {
        files: searchable
            .map(|(name, syntax)| (name.clone(), Arc::clone(syntax)))
            .collect(),
        functions: found.functions.clone(),
        statements: found.statements.clone(),
        failures: baseline.failing.clone(),
        observations,
        imported: search::imported(baseline, found),
        needed: needed.to_vec(),
    };
    Ok((files, facts))
}

/// Nothing that may be edited was run by a failing test.
fn nowhere(baseline: &Baseline, found: &Localization) -> Stop {
    if let Some(reason) = found.unreadable.first() {
        return Stop::new(
            Outcome::NotFixed,
            format!("the code that fails cannot be searched: {reason}"),
        )
        .hint("mend the file by hand, or make it one that can be parsed");
    }
    let first = baseline.failing.first();
    let text = first.map_or_else(String::new, |f| {
        let message = f.message.lines().next().unwrap_or_default();
        format!(": {} {message}", f.exception)
    });
    let environment = baseline.failing.iter().any(|f| {
        let text = &f.longrepr;
        text.contains("environ") || text.contains("getenv")
    });
    let hint = if environment {
        "tests get a clean environment; pass a variable on with `--env NAME`"
    } else {
        "tests, conftest.py and configuration are never edited; look at the failure itself"
    };
    Stop::new(
        Outcome::NotFixed,
        format!("no file of the project that may be edited takes part in the failure{text}"),
    )
    .hint(hint)
}
