//! Reports and comparisons of benchmark results, from folders as `bench run` leaves them.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use std::fs;
use std::process::Output;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tests::{Repo, binary};
use serde_json::{Value as Json, json};

/// Names of the tasks of the benchmark.
const TASKS: [&str; 5] = ["a", "b", "c", "d", "e"];

/// A folder of results that a run with this planner could have left; the last task has none yet.
fn results(repo: &Repo, name: &str, planner: &str, records: &[Json]) -> Utf8PathBuf {
    let folder = repo.outside(name);
    let header = json!({
        "format": 1, "version": "0.1.0", "benchmark": "rows.jsonl", "digest": "0123456789abcdef0123",
        "planner": planner, "model": null, "simulator": "default", "max_time": 60, "hidden_share": 0.5,
        "gold": false, "fix_arguments": ["--planner", planner], "tasks": TASKS, "unsupported": [],
    });
    fs::create_dir_all(folder.join("tasks")).unwrap();
    fs::write(folder.join("results.json"), header.to_string()).unwrap();
    for record in records {
        let task = folder.join("tasks").join(record["task"].as_str().unwrap());
        fs::create_dir_all(&task).unwrap();
        fs::write(task.join("record.json"), record.to_string()).unwrap();
    }
    folder
}

/// A record: plausible after so many candidates, or not at all.
fn record(task: &str, first: Option<u64>, correct: bool) -> Json {
    json!({
        "task": task, "repository": "somebody/shop", "kind": "boundary <b>", "difficulty": null,
        "ending": { "said": if first.is_some() { "fixed" } else { "budget" } },
        "plausible": first.is_some(), "resolved": first.is_some(), "correct": correct,
        "original": null, "reason": null, "first_plausible": first, "executions": first.unwrap_or(900),
        "test_runs": 1000, "seconds": 12.5, "statement_rank": 2, "function_rank": 1, "claim": null,
        "summary": "", "first_plausible_seconds": first.map(|n| n as f64 / 8.0), "cost": 0.0,
    })
}

fn failed(task: &str) -> Json {
    let mut record = record(task, None, false);
    record["ending"] = json!("not_run");
    record["infrastructure"] = json!({ "class": "install", "message": "no wheel for this Python" });
    record
}

fn bench(repo: &Repo, args: &[&str]) -> Output {
    repo.isolated(binary::path())
        .arg("bench")
        .args(args)
        .current_dir(repo.root())
        .output()
        .unwrap()
}

fn said(done: &Output) -> String {
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    String::from_utf8(done.stdout.clone()).unwrap()
}

/// What a report of these folders prints and writes.
fn report(repo: &Repo, name: &str, folders: &[&Utf8Path]) -> [String; 3] {
    let out = repo.outside(name);
    let mut args = vec!["report", "--out", out.as_str()];
    args.extend(folders.iter().map(|folder| folder.as_str()));
    let text = said(&bench(repo, &args));
    let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    [text, read("report.html"), read("report.json")]
}

#[test]
fn shards_are_reported_as_their_merged_folder_is_in_any_order() {
    let repo = Repo::without_git(&[]);
    let some = [record("a", Some(3), true), failed("d")];
    let others = [record("b", Some(40), false), record("c", None, false)];
    let one = results(&repo, "one", "search", &some);
    let two = results(&repo, "two", "search", &others);
    let merged = repo.outside("merged");
    let done = bench(
        &repo,
        &[
            "merge",
            one.as_str(),
            two.as_str(),
            "--out",
            merged.as_str(),
        ],
    );
    said(&done);
    let whole = report(&repo, "r1", &[&merged]);
    assert_eq!(report(&repo, "r2", &[&one, &two]), whole);
    assert_eq!(report(&repo, "r3", &[&two, &one, &merged]), whole);

    let [text, page, figures] = whole;
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    for words in [
        "plausible   2 of 3",
        "correct     1 of 3",
        "infrastructure failed in 1 run",
        "1 of 5 tasks have no result yet",
        "install 1: d",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(page.contains("boundary &#60;b&#62;") && !page.contains("boundary <b>"));
    let figures: Json = serde_json::from_str(&figures).unwrap();
    assert_eq!(figures["format"], 1);
    let setting = &figures["settings"][0];
    assert_eq!(setting["without_result"], json!(["e"]));
    assert_eq!(setting["figures"]["plausible"]["count"], 2);
    assert_eq!(setting["figures"]["plausible"]["of"], 3);
    assert_eq!(
        setting["figures"]["first_plausible_executions"]["median"],
        21.5
    );
    assert_eq!(figures["infrastructure"][0]["runs"][0]["task"], "d");
}

#[test]
fn two_results_are_compared_task_by_task() {
    let repo = Repo::without_git(&[]);
    let ours = [
        record("a", Some(3), true),
        record("b", Some(40), false),
        record("c", None, false),
        record("d", Some(1), true),
    ];
    let theirs = [
        record("a", Some(9), true),
        record("b", None, false),
        record("c", None, false),
        failed("d"),
        record("e", Some(2), true),
    ];
    let a = results(&repo, "a", "search", &ours);
    let b = results(&repo, "b", "auto", &theirs);
    let text = said(&bench(&repo, &["compare", a.as_str(), b.as_str()]));
    for words in [
        "planner: A search, B auto",
        "3 tasks are judged in both",
        "only in B, left out (1): e",
        "infrastructure failed, left out (1): d (B: install)",
        "plausible: 1 in both, 1 in neither",
        "in A only (1): b",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let shown = said(&bench(
        &repo,
        &["compare", a.as_str(), b.as_str(), "--json"],
    ));
    let shown: Json = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["measures"][0]["a_wins"], json!(["b"]));
    assert_eq!(shown["measures"][3]["a_wins"], json!(["a"]));
    assert_eq!(shown["measures"][0]["p"], 1.0);
}

#[test]
fn what_cannot_be_reported_or_compared_is_said() {
    let repo = Repo::without_git(&[]);
    let none = results(&repo, "none", "search", &[]);
    let here = repo.root();
    for args in [
        ["report", here.as_str(), here.as_str()],
        ["report", none.as_str(), none.as_str()],
        ["compare", none.as_str(), none.as_str()],
        ["compare", "nowhere", here.as_str()],
    ] {
        let done = bench(&repo, &args);
        assert_eq!(done.status.code(), Some(2), "{args:?}");
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(
            told.starts_with("error: ") && told.contains("hint: "),
            "{told}"
        );
    }
    // The same tasks under the same settings, with other results.
    let one = results(&repo, "one", "search", &[record("a", Some(3), true)]);
    let two = results(&repo, "two", "search", &[record("a", None, false)]);
    let done = bench(&repo, &["report", one.as_str(), two.as_str()]);
    assert_eq!(done.status.code(), Some(2));
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(told.contains("two results of `a`"), "{told}");
}
