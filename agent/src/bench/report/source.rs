//! Results on disk, read as [`Entry`]s.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use camino::Utf8Path;
use serde::Deserialize;

use super::super::record::Record;
use super::super::results::{Header, Results};
use super::entry::{End, Entry, Settings};
use crate::fix::stop::Stop;
use crate::outcome::Outcome;

/// What was read from one or several places.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// Runs.
    pub entries: Vec<Entry>,
    /// What each benchmark consists of, where the results say it.
    pub scopes: BTreeMap<Settings, Scope>,
}

/// What a benchmark consists of.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Names of all tasks that can be run.
    pub tasks: BTreeSet<String>,
    /// Tasks that cannot be run here, with the reason.
    pub unsupported: BTreeMap<String, String>,
}

impl Loaded {
    /// Adds what was read elsewhere.
    pub fn extend(&mut self, other: Self) {
        self.entries.extend(other.entries);
        for (settings, scope) in other.scopes {
            let known = self.scopes.entry(settings).or_default();
            known.tasks.extend(scope.tasks);
            known.unsupported.extend(scope.unsupported);
        }
    }
}

/// Reads a folder of `bench run`, or the file that `bench tasks --json` writes.
pub fn read(path: &Utf8Path) -> Result<Loaded, Stop> {
    if path.is_file() {
        return lines(path);
    }
    let Results {
        header, records, ..
    } = Results::read(path)?;
    let settings = settings(&header);
    let unsupported: BTreeMap<String, String> = header.unsupported.iter().cloned().collect();
    let tasks = header.tasks.iter().cloned();
    let scope = Scope {
        tasks: tasks
            .filter(|task| !unsupported.contains_key(task))
            .collect(),
        unsupported,
    };
    Ok(Loaded {
        entries: records
            .into_iter()
            .map(|record| entry(record, &settings))
            .collect(),
        scopes: BTreeMap::from([(settings, scope)]),
    })
}

fn settings(header: &Header) -> Settings {
    let mut more = BTreeMap::from([
        ("benchmark".to_owned(), header.benchmark.clone()),
        ("task set".into(), header.digest.chars().take(12).collect()),
        ("time limit".into(), format!("{} s", header.max_time)),
        ("version".into(), header.version.clone()),
    ]);
    if header.hidden_share > 0.0 {
        more.insert("hidden share".into(), header.hidden_share.to_string());
    }
    let rest = other_arguments(&header.fix_arguments);
    if !rest.is_empty() {
        more.insert("fix arguments".into(), rest.join(" "));
    }
    Settings {
        planner: if header.gold {
            "none (known repairs)".into()
        } else {
            header.planner.clone()
        },
        model: header.model.clone(),
        simulator: Some(header.simulator.clone()),
        more,
    }
}

/// Arguments of `fix` that the header does not say by themselves.
fn other_arguments(arguments: &[String]) -> Vec<&str> {
    const SAID: [&str; 3] = ["--planner", "--model", "--simulator"];
    let mut rest = Vec::new();
    let mut arguments = arguments.iter().map(String::as_str);
    while let Some(argument) = arguments.next() {
        let name = argument.split('=').next().unwrap_or(argument);
        if !SAID.contains(&name) {
            rest.push(argument);
        } else if !argument.contains('=') {
            arguments.next();
        }
    }
    rest
}

/// Reads the file of `bench tasks`.
fn lines(path: &Utf8Path) -> Result<Loaded, Stop> {
    #[derive(Deserialize)]
    struct Head {
        version: String,
        max_time: u64,
    }
    let refused = |why: String| {
        Stop::new(
            Outcome::Usage,
            format!("`{path}` holds no benchmark results: {why}"),
        )
        .hint("`bench run --out DIR` makes a folder of them, `bench tasks --json FILE` a file")
    };
    let text = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let head: Head = serde_json::from_str(first).map_err(|error| refused(error.to_string()))?;
    let settings = Settings {
        planner: "search".into(),
        model: None,
        simulator: None,
        more: BTreeMap::from([
            ("time limit".into(), format!("{} s", head.max_time)),
            ("version".into(), head.version),
        ]),
    };
    // A line that was cut off by a kill is a task without a result.
    let records = lines.filter_map(|line| serde_json::from_str::<Record>(line).ok());
    Ok(Loaded {
        entries: records.map(|record| entry(record, &settings)).collect(),
        scopes: BTreeMap::new(),
    })
}

fn entry(record: Record, settings: &Settings) -> Entry {
    let end = match record.infrastructure {
        Some(failure) => End::Infrastructure {
            class: failure.class.word().into(),
            message: failure.message,
        },
        None => End::Judged {
            said: record.ending.word().into(),
            plausible: record.plausible,
            resolved: record.resolved,
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
        first_plausible_seconds: record.first_plausible_seconds,
        executions: record.executions,
        test_runs: record.test_runs,
        seconds: record.seconds,
        harness_seconds: record.harness_seconds,
        tokens: record.tokens.prompt + record.tokens.completion,
        cost: record.cost,
        statement_rank: record.statement_rank,
        function_rank: record.function_rank,
        broken_here: record.broken_here,
        reason: record.reason,
    }
}

#[cfg(test)]
mod tests {
    use ndbg_tasks::{Class, Infrastructure};

    use super::super::super::record::tests::record;
    use super::*;

    fn header() -> Header {
        Header {
            format: super::super::super::results::FORMAT,
            version: "0.1.0".into(),
            benchmark: "verified.jsonl".into(),
            digest: "0123456789abcdef".into(),
            planner: "llm".into(),
            model: Some("anthropic/claude-haiku-4-5".into()),
            simulator: "off".into(),
            max_time: 300,
            fix_arguments: ["--planner", "llm", "--model=x", "--cold"]
                .map(str::to_owned)
                .into(),
            tasks: ["a", "b", "c", "old"].map(str::to_owned).into(),
            unsupported: vec![("old".into(), "Python 2".into())],
            ..Header::default()
        }
    }

    #[test]
    fn a_folder_says_what_it_was_made_with_and_what_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        fs::write(
            folder.join("results.json"),
            serde_json::to_vec(&header()).unwrap(),
        )
        .unwrap();
        let mut failed = record("b");
        failed.infrastructure = Some(Infrastructure::new(Class::Install, "no wheel"));
        for record in [record("a"), failed] {
            let task = folder.join("tasks").join(&record.task);
            fs::create_dir_all(&task).unwrap();
            let bytes = serde_json::to_vec(&record).unwrap();
            fs::write(task.join("record.json"), bytes).unwrap();
        }
        let loaded = read(folder).unwrap();
        let words: Vec<&str> = loaded.entries.iter().map(Entry::word).collect();
        assert_eq!(words, ["fixed", "install"]);
        let settings = &loaded.entries[0].settings;
        assert_eq!(
            settings.line(),
            "planner llm, model anthropic/claude-haiku-4-5, simulator off, benchmark verified.jsonl, \
             fix arguments --cold, task set 0123456789ab, time limit 300 s, version 0.1.0"
        );
        let scope = &loaded.scopes[settings];
        assert_eq!(scope.tasks.len(), 3);
        assert_eq!(scope.unsupported["old"], "Python 2");
    }

    #[test]
    fn what_holds_no_results_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let stop = read(folder).unwrap_err();
        assert!(
            stop.message.contains("is no folder of benchmark results"),
            "{stop:?}"
        );
        let file = folder.join("x.jsonl");
        fs::write(&file, "{}\n").unwrap();
        let stop = read(&file).unwrap_err();
        assert!(
            stop.message.contains("holds no benchmark results"),
            "{stop:?}"
        );
        assert!(stop.hint.is_some());
    }
}
