//! Evaluations, with a real interpreter in the place of a model: it has to be right.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use std::process::Output;

use ndbg_tests::{Repo, Venv, binary};
use serde_json::Value as Json;

fn eval(repo: &Repo, args: &[&str]) -> Output {
    let python = Venv::Plain.python();
    repo.isolated(binary::path())
        .arg("eval")
        .args(args)
        .args(["--python", python.as_str()])
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

fn refused(done: &Output) -> String {
    assert_eq!(
        done.status.code(),
        Some(2),
        "{}",
        String::from_utf8_lossy(&done.stdout)
    );
    String::from_utf8_lossy(&done.stderr).into_owned()
}

fn share(tally: &Json) -> (u64, u64) {
    (
        tally["right"].as_u64().unwrap(),
        tally["of"].as_u64().unwrap(),
    )
}

/// Functions of our own in the form of a benchmark.
const ITEMS: &[(&str, &str, &str)] = &[
    ("def f(x):\n    y = x + 1\n    return y * 2\n", "20", "42"),
    (
        "def f(words, n):\n    kept = []\n    for word in words:\n        if len(word) > n:\n            \
         kept.append(word.upper())\n    return ' '.join(kept)\n",
        "['a', 'bee', 'ceded'], 1",
        "'BEE CEDED'",
    ),
    (
        "def f(table):\n    table['z'] = table.get('a', 0) - 1\n    return sorted(table.items())\n",
        "{'a': 3, 'b': 1}",
        "[('a', 3), ('b', 1), ('z', 2)]",
    ),
];

fn items() -> String {
    let lines = ITEMS.iter().enumerate().map(|(at, (code, input, output))| {
        serde_json::json!({ "id": format!("own-{at}"), "code": code, "input": input, "output": output })
            .to_string()
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_oracle_is_right_about_every_statement_and_agrees_with_recordings() {
    let repo = Repo::without_git(&[("items.jsonl", &items())]);
    let args = [
        "steps",
        "--model",
        "oracle",
        "--count",
        "8",
        "--data",
        "generated",
        "--data",
        "items.jsonl",
        "--json",
        "steps.json",
        "--html",
        "steps.html",
        "--svg",
        "plots",
        "--answers",
        "answers.jsonl",
    ];
    let text = said(&eval(&repo, &args));
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert!(text.contains("that need the model"), "{text}");
    let read = |name: &str| std::fs::read_to_string(repo.path(name)).unwrap();
    let json: Json = serde_json::from_str(&read("steps.json")).unwrap();
    for data in json["data"].as_array().unwrap() {
        for counted in ["statements", "needing_the_model", "operations"] {
            for who in ["model", "oracle"] {
                let (right, of) = share(&data[counted][who]);
                assert!(of > 0 && right == of, "{counted} by {who}: {data:#}");
            }
        }
        let (copied, of) = share(&data["needing_the_model"]["copy"]);
        assert!(copied < of, "{data:#}");
        assert_eq!(data["calibration"]["error"].as_f64(), Some(0.0));
    }
    // One line for each different operation, in the order in which they were asked.
    let text = read("answers.jsonl");
    let answers: Vec<Json> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let distinct = |at: usize| share(&json["data"][at]["distinct_operations"]["model"]).1;
    assert_eq!(answers.len() as u64, distinct(0) + distinct(1));
    assert!(
        answers
            .iter()
            .all(|it| it["right"] == true && it["answer"] == it["effect"])
    );
    let own = answers
        .iter()
        .find(|it| it["data"] == json["data"][1]["data"]);
    assert_eq!(own.unwrap()["expression"], "v0 + v1");
    assert_eq!(own.unwrap()["operands"], serde_json::json!(["20", "1"]));
    let (same, of) = share(&json["data"][1]["oracle"]);
    assert_eq!(
        (same, of),
        (ITEMS.len() as u64, ITEMS.len() as u64),
        "{json:#}"
    );
    let page = read("steps.html");
    assert!(page.contains("<svg") && !page.contains("<script") && !page.contains("<link"));
    assert!(read("plots/by-statement.svg").starts_with("<svg xmlns"));
    assert!(repo.path("plots/reliability-2.svg").exists());
}

#[test]
fn the_oracle_predicts_every_output_of_a_benchmark() {
    let repo = Repo::without_git(&[("items.jsonl", &items())]);
    let args = [
        "cruxeval",
        "--model",
        "oracle",
        "--data",
        "items.jsonl",
        "--json",
        "found.json",
    ];
    let text = said(&eval(&repo, &args));
    assert!(
        text.contains("step_return, pass@1") && text.contains("57.7"),
        "{text}"
    );
    assert!(text.contains("does not run backwards"), "{text}");
    let json: Json =
        serde_json::from_str(&std::fs::read_to_string(repo.path("found.json")).unwrap()).unwrap();
    let first = &json["output"]["believed"][0];
    assert_eq!(
        (&first["right"], &first["items"]),
        (&Json::from(3), &Json::from(3)),
        "{json:#}"
    );
    assert_eq!(share(&json["output"]["oracle"]), (3, 3));
    assert!(json["input"].is_null());
}

#[test]
fn the_oracle_sees_as_far_as_programs_go() {
    let repo = Repo::without_git(&[("items.jsonl", &items())]);
    let args = [
        "horizon",
        "--model",
        "oracle",
        "--data",
        "items.jsonl",
        "--json",
        "found.json",
    ];
    let text = said(&eval(&repo, &args));
    assert!(text.contains("After a share of the run"), "{text}");
    let json: Json =
        serde_json::from_str(&std::fs::read_to_string(repo.path("found.json")).unwrap()).unwrap();
    for place in json["after_share"].as_array().unwrap() {
        assert_eq!(share(&place["right"]["greedy"]), (3, 3), "{place}");
    }
}

#[test]
fn what_is_wrong_with_data_or_a_model_is_said_with_its_place() {
    let broken = format!("{}\n{{\"code\": \"def f(x): pass\"}}\n", items());
    let repo = Repo::without_git(&[("broken.jsonl", &broken), ("empty/none.txt", "")]);
    let message = refused(&eval(
        &repo,
        &["cruxeval", "--model", "oracle", "--data", "broken.jsonl"],
    ));
    assert!(
        message.contains("line 4") && message.contains("`output`"),
        "{message}"
    );
    let message = refused(&eval(
        &repo,
        &["steps", "--model", "oracle", "--data", "empty"],
    ));
    assert!(message.contains("no programs"), "{message}");
    let message = refused(&eval(&repo, &["steps", "--model", "nowhere"]));
    assert!(
        message.contains("nowhere") && message.contains("hint"),
        "{message}"
    );
    let message = refused(&eval(&repo, &["steps", "--model", "http://localhost:1"]));
    assert!(message.contains("http://localhost:1"), "{message}");
}

#[test]
fn inputs_are_searched_for_and_counted_when_real_runs_confirm_them() {
    let repo = Repo::without_git(&[("items.jsonl", &items())]);
    let args = [
        "cruxeval",
        "--model",
        "oracle",
        "--data",
        "items.jsonl",
        "--verified",
        "--seconds",
        "20",
        "--json",
        "found.json",
    ];
    let text = said(&eval(&repo, &args));
    assert!(
        text.contains("search alone") && text.contains("one guess"),
        "{text}"
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let json: Json =
        serde_json::from_str(&std::fs::read_to_string(repo.path("found.json")).unwrap()).unwrap();
    // An interpreter does not run backwards: nobody but the search proposes.
    let ways = json["ways"].as_array().unwrap();
    assert_eq!(ways.len(), 1);
    assert_eq!(
        share(&ways[0]["solved"]),
        (ITEMS.len() as u64, ITEMS.len() as u64),
        "{json:#}"
    );
    for (item, (code, _, output)) in ways[0]["items"].as_array().unwrap().iter().zip(ITEMS) {
        let call = item["call"].as_str().unwrap();
        let program = format!("{code}\nassert {call} == {output}\n");
        let done = repo
            .isolated(Venv::Plain.python())
            .args(["-c", &program])
            .output()
            .unwrap();
        assert!(done.status.success(), "{call}");
    }
}

#[test]
fn seconds_belong_to_verified_inputs() {
    let repo = Repo::without_git(&[("items.jsonl", &items())]);
    let args = ["cruxeval", "--data", "items.jsonl", "--seconds", "3"];
    assert!(refused(&eval(&repo, &args)).contains("--verified"));
}
