//! `ndbg-agent bench ranks`: where the reference patch stands among the candidates, without running
//! any of them.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::Utf8PathBuf;
use ndbg_tasks::Task;
use ndbg_tools::Cancel;
use ndbg_tools::source::syntax::parse_text;
use ndbg_tools::source::{SourceFile, apply_edits};

use super::said;
use crate::fix;
use crate::fix::budget::Budget;
use crate::fix::settings::{Limits, ProjectSettings};
use crate::outcome::Outcome;
use crate::plan::Planner;
use crate::plan::search::{SearchOptions, SearchPlanner};
use crate::report::{ColorChoice, ProgressChoice, Reporter, ReporterOptions, StdoutMode};

/// What to look at.
#[derive(Debug)]
pub struct RanksRun {
    /// Folder of tasks with reference patches.
    pub tasks: Utf8PathBuf,
    /// Only these.
    pub only: Vec<String>,
    /// Interpreter.
    pub python: Option<Utf8PathBuf>,
    /// Candidates looked at per task.
    pub limit: usize,
    /// Candidates printed per task.
    pub show: usize,
}

/// Prints a line a task.
pub fn run(settings: &RanksRun, cancel: &Cancel) -> anyhow::Result<Outcome> {
    for task in Task::list(&settings.tasks, None)? {
        if !settings.only.is_empty() && !settings.only.contains(&task.name) {
            continue;
        }
        let reporter = Reporter::start(ReporterOptions {
            run_dir: None,
            stdout: StdoutMode::Silent,
            quiet: true,
            verbose: false,
            color: ColorChoice::Auto,
            progress: ProgressChoice::Never,
        })?;
        let project = ProjectSettings {
            tests: task.test.clone(),
            ..ProjectSettings::as_it_is(task.source().to_owned(), settings.python.clone(), None)
        };
        let limits = Limits {
            time: Duration::from_mins(10),
            executions: u64::MAX,
        };
        let mut budget = Budget::start(limits, cancel);
        let facts = fix::investigate(&project, &mut budget, &reporter, cancel).and_then(
            |(session, baseline, found)| fix::gather(&session, &baseline, &found, &[], &mut budget),
        );
        let (files, facts) = match facts {
            Ok(facts) => facts,
            Err(stop) => return Ok(said(&stop)),
        };
        let wanted = reference(&task, &files, cancel)?;
        let mut planner = SearchPlanner::new(SearchOptions {
            pairs: false,
            ..SearchOptions::default()
        });
        let (mut rank, mut count) = (None, 0);
        while count < settings.limit {
            let batch = planner.propose(&facts, &[], 256)?;
            if batch.is_empty() {
                break;
            }
            for candidate in batch {
                count += 1;
                if count <= settings.show {
                    println!(
                        "    {:.3} {} {}:{} {}",
                        candidate.score,
                        candidate.operator,
                        candidate.file,
                        candidate.line,
                        candidate.claim
                    );
                }
                if rank.is_none() && wanted.len() == 1 {
                    let hit = files.get(&candidate.file).is_some_and(|file| {
                        let after = apply_edits(file, &candidate.edits).ok();
                        after.and_then(|bytes| leaves(&bytes))
                            == wanted.get(&candidate.file).cloned()
                    });
                    rank = hit.then_some(count);
                }
            }
        }
        let text = rank.map_or_else(|| "-".into(), |r| r.to_string());
        println!("{:24} {:8} rank {text:>6} of {count}", task.name, task.kind);
    }
    Ok(Outcome::Fixed)
}

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
