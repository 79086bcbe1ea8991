//! `ndbg-agent bench ranks`: where the reference patch stands among the candidates, without running
//! any of them.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use ndbg_tasks::Task;
use ndbg_tasks::tree::Tree;
use ndbg_tools::Cancel;
use ndbg_tools::source::syntax::parse_text;
use ndbg_tools::source::{SourceFile, apply_edits};
use serde::Serialize;

use super::said;
use crate::fix;
use crate::fix::budget::Budget;
use crate::fix::screen::Screener;
use crate::fix::settings::{Limits, ProjectSettings};
use crate::fix::stop::Stop;
use crate::model::Named;
use crate::outcome::Outcome;
use crate::plan::search::{Features, SearchOptions, SearchPlanner};
use crate::plan::{Candidate, Pace, Planner};
use crate::report::{ColorChoice, Reporter, ReporterOptions};

/// What to look at.
#[derive(Debug)]
pub struct RanksRun {
    /// Folder of tasks with reference patches, or the output of a seeding.
    pub tasks: Utf8PathBuf,
    /// Only these.
    pub only: Vec<String>,
    /// Interpreter.
    pub python: Option<Utf8PathBuf>,
    /// Candidates looked at per task.
    pub limit: usize,
    /// Candidates printed per task.
    pub show: usize,
    /// Who is asked where the failing runs part from what was needed.
    pub simulator: Option<Named>,
    /// JSON lines to write, one a candidate.
    pub features: Option<Utf8PathBuf>,
}

/// Prints a line a task.
pub fn run(settings: &RanksRun, cancel: &Cancel) -> anyhow::Result<Outcome> {
    let mut out = match &settings.features {
        Some(path) => Some(BufWriter::new(File::create(path)?)),
        None => None,
    };
    for task in Task::list(&settings.tasks, None)? {
        if !settings.only.is_empty() && !settings.only.contains(&task.name) {
            continue;
        }
        let candidates = match listed(&task, settings, cancel)? {
            Ok(candidates) => candidates,
            Err(stop) => return Ok(said(&stop)),
        };
        for Listed { candidate, .. } in candidates.iter().take(settings.show) {
            println!(
                "    {:.3} {} {}:{} {}",
                candidate.score,
                candidate.operator,
                candidate.file,
                candidate.line,
                candidate.claim
            );
        }
        if let Some(out) = &mut out {
            for (at, listed) in candidates.iter().enumerate() {
                serde_json::to_writer(&mut *out, &row(&task, at + 1, listed))?;
                out.write_all(b"\n")?;
            }
            out.flush()?;
        }
        let rank = candidates.iter().position(|listed| listed.is_reference);
        let text = rank.map_or_else(|| "-".into(), |at| (at + 1).to_string());
        println!(
            "{:24} {:8} rank {text:>6} of {}",
            task.name,
            task.kind,
            candidates.len()
        );
    }
    Ok(Outcome::Fixed)
}

/// A candidate in its place.
struct Listed {
    candidate: Candidate,
    features: Features,
    /// Foreseen to change nothing that the failing tests see: it goes last.
    is_nothing: bool,
    is_reference: bool,
}

/// A line of the features.
#[derive(Serialize)]
struct Row<'r> {
    task: &'r str,
    /// The program that the bug is in: bugs of one program are alike.
    program: &'r str,
    operator: &'r str,
    #[serde(flatten)]
    features: Features,
    nothing: bool,
    score: f64,
    rank: usize,
    reference: bool,
}

fn row<'r>(task: &'r Task, rank: usize, listed: &'r Listed) -> Row<'r> {
    let seeded = task.seeded();
    Row {
        task: &task.name,
        program: seeded.map_or(&task.name, |seeded| &seeded.repository),
        operator: &listed.candidate.operator,
        features: listed.features,
        nothing: listed.is_nothing,
        score: listed.candidate.score,
        rank,
        reference: listed.is_reference,
    }
}

/// The single edits of a task in the order in which they are proposed.
fn listed(
    task: &Task,
    settings: &RanksRun,
    cancel: &Cancel,
) -> anyhow::Result<Result<Vec<Listed>, Stop>> {
    // The description beside a bundled task is no code; a seeded one has to be put together.
    let tree = match task.seeded() {
        Some(_) => Some(Tree::visible(task, cancel)?),
        None => None,
    };
    let reporter = Reporter::start(ReporterOptions::silent(ColorChoice::Auto))?;
    let repo = tree.as_ref().map_or(task.source(), Tree::top).to_owned();
    let hiding = task.seeded().map(|seeded| seeded.pytest_args.clone());
    let project = ProjectSettings {
        tests: task.test.clone(),
        pytest_args: hiding.unwrap_or_default(),
        ..ProjectSettings::as_it_is(repo, settings.python.clone(), None)
    };
    let limits = Limits {
        time: Duration::from_mins(10),
        executions: u64::MAX,
    };
    let mut budget = Budget::start(limits, cancel);
    let investigated = fix::investigate(&project, &mut budget, &reporter, cancel);
    let (session, baseline, mut found) = match investigated {
        Ok(investigated) => investigated,
        Err(stop) => return Ok(Err(stop)),
    };
    let needed = settings.simulator.as_ref().and_then(|simulator| {
        let deadline = Instant::now() + budget.left();
        let recorded = Cell::new(0);
        fix::walk(
            simulator, &session, &baseline, &mut found, deadline, &recorded, &reporter, cancel,
        )
        .map(|(_, diverged)| diverged.needed())
    });
    let needed = needed.unwrap_or_default();
    let (files, facts) = match fix::gather(&session, &baseline, &found, &needed, &mut budget) {
        Ok(gathered) => gathered,
        Err(stop) => return Ok(Err(stop)),
    };
    let mut screener = None;
    if settings.simulator.is_some() {
        let covering = fix::search::near_tests(&baseline, &found);
        let started = Screener::start(
            &session,
            &baseline,
            &covering,
            facts.imported.clone(),
            &files,
            &reporter,
            1,
            true,
        );
        screener = match started {
            Ok(started) => Some(started),
            Err(stop) => return Ok(Err(stop)),
        };
    }
    let wanted = reference(task, &files, cancel)?;
    let mut planner = SearchPlanner::new(SearchOptions {
        pairs: false,
        ..SearchOptions::default()
    });
    let mut out: Vec<Listed> = Vec::new();
    while out.len() < settings.limit {
        if let Some(screener) = &mut screener {
            let pace = Pace {
                executed: out.len() as u64,
                seconds: screener.expected_seconds(),
            };
            if let Some(probe) = planner.look(&facts, pace) {
                let of = |id: &str| baseline.seconds.get(id).copied().unwrap_or_default();
                match screener.look(probe, &of, budget.left()) {
                    Ok((seen, seconds)) => planner.looked(&facts, seen.as_ref(), seconds),
                    Err(stop) => return Ok(Err(stop)),
                }
            }
        }
        let batch = planner.propose(&facts, &[], BATCH)?;
        if batch.is_empty() {
            break;
        }
        for candidate in batch {
            let Some((features, is_nothing)) = planner.features(candidate.id) else {
                continue;
            };
            let is_reference = wanted.len() == 1
                && wanted.get(&candidate.file).is_some_and(|wanted| {
                    let file = files.get(&candidate.file);
                    let after = file.and_then(|file| apply_edits(file, &candidate.edits).ok());
                    after.and_then(|bytes| leaves(&bytes)).as_ref() == Some(wanted)
                });
            out.push(Listed {
                candidate,
                features,
                is_nothing,
                is_reference,
            });
        }
    }
    Ok(Ok(out))
}

/// Candidates asked for at a time, as in `fix`: between two batches edits are looked at.
const BATCH: usize = 8;

/// Token sequences of the files that the reference patch changes.
fn reference(
    task: &Task,
    files: &BTreeMap<Utf8PathBuf, SourceFile>,
    cancel: &Cancel,
) -> anyhow::Result<BTreeMap<Utf8PathBuf, Vec<String>>> {
    let copy = tempfile::tempdir()?;
    let root = Utf8PathBuf::try_from(copy.path().to_owned())?;
    for (name, file) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&root))?;
        std::fs::write(path, file.bytes())?;
    }
    let patch = task.hidden.join("reference.patch");
    let spec = ndbg_tools::git::command(&root, ["apply", patch.canonicalize_utf8()?.as_str()]);
    ndbg_tools::git::run(&spec, cancel)?;
    let mut changed = BTreeMap::new();
    for (name, file) in files {
        let after = std::fs::read(root.join(name))?;
        if after[..] != file.bytes()[..]
            && let Some(tokens) = leaves(&after)
        {
            changed.insert(name.clone(), tokens);
        }
    }
    Ok(changed)
}

/// Leaf tokens without comments.
fn leaves(bytes: &[u8]) -> Option<Vec<String>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let tree = parse_text(text)?;
    let mut out = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.child_count() == 0 && node.kind() != "comment" {
            // Blocks have no tokens of their own: the column of a line's first token stands for them.
            let line_start = text[..node.start_byte()].rfind('\n').map_or(0, |i| i + 1);
            let indent = &text[line_start..node.start_byte()];
            if indent.trim().is_empty() {
                out.push(indent.len().to_string());
            }
            out.push(text[node.byte_range()].to_owned());
        }
        if node.kind() != "comment" && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(out);
            }
        }
    }
}
