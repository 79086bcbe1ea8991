//! Building data sets.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use std::collections::BTreeMap;
use std::process::Output;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tests::{Repo, Venv, binary};
use serde_json::Value as Json;

fn build(repo: &Repo, out: &Utf8Path, args: &[&str]) -> Output {
    let python = Venv::Plain.python();
    let mut command = repo.isolated(binary::path());
    command
        .args([
            "dataset",
            "build",
            "--out",
            out.as_str(),
            "--python",
            python.as_str(),
        ])
        .args(args)
        .current_dir(repo.root());
    command.output().unwrap()
}

fn succeeded(done: &Output) -> String {
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{said}");
    said
}

/// Files of a finished data set, without its parts.
fn files(out: &Utf8Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![out.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir_utf8().unwrap() {
            let path = entry.unwrap().path().to_owned();
            if !path.is_dir() {
                let name = path.strip_prefix(out).unwrap().to_string();
                found.insert(name, std::fs::read(&path).unwrap());
            } else if path.file_name() != Some("parts") {
                folders.push(path);
            }
        }
    }
    found
}

fn lines(out: &Utf8Path, side: &str) -> Vec<Json> {
    let files = files(out);
    let ours = files.iter().filter(|(name, _)| name.starts_with(side));
    let texts =
        ours.map(|(_, bytes)| String::from_utf8(zstd::decode_all(&bytes[..]).unwrap()).unwrap());
    texts
        .flat_map(|text| {
            text.lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect::<Vec<_>>()
        })
        .collect()
}

fn manifest(out: &Utf8Path) -> Json {
    serde_json::from_slice(&files(out)["manifest.json"]).unwrap()
}

#[test]
fn one_shard_and_three_give_the_same_bytes() {
    let repo = Repo::without_git(&[]);
    let (one, three) = (repo.outside("one"), repo.outside("three"));
    let args = [
        "--from",
        "generated",
        "--count",
        "600",
        "--validation",
        "0.2",
        "--tokens",
    ];
    succeeded(&build(&repo, &one, &args));
    for shard in ["2/3", "0/3", "1/3"] {
        let said = succeeded(&build(
            &repo,
            &three,
            &[&args[..], &["--shard", shard]].concat(),
        ));
        assert!(said.contains("dataset merge"), "{said}");
    }
    let merged = repo
        .isolated(binary::path())
        .args(["dataset", "merge", three.as_str()])
        .output()
        .unwrap();
    succeeded(&merged);
    let (whole, parts) = (files(&one), files(&three));
    assert_eq!(
        whole.keys().collect::<Vec<_>>(),
        parts.keys().collect::<Vec<_>>()
    );
    for (name, bytes) in &whole {
        assert!(parts[name] == *bytes, "{name} differs");
    }
    assert!(whole.contains_key("tokens/train-00000.tokens.npy"));
    // Every span is a prediction, and what it covers begins behind an action.
    for line in lines(&one, "train") {
        let text: Vec<char> = line["text"].as_str().unwrap().chars().collect();
        let spans = line["loss"].as_array().unwrap();
        assert!(!spans.is_empty(), "{line}");
        for span in spans {
            let at = |index: usize| span[index].as_u64().unwrap() as usize;
            let predicted: String = text[at(0)..at(1)].iter().collect();
            assert!(predicted.starts_with("<|"), "{predicted}");
        }
    }
    let functions = |side| -> Vec<String> {
        let lines = lines(&one, side);
        lines
            .iter()
            .map(|line| line["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let (train, validation) = (functions("train"), functions("validation"));
    assert!(validation.len() > 20 && train.len() > validation.len());
}

#[test]
fn an_interrupted_build_goes_on_and_other_settings_are_refused() {
    let repo = Repo::without_git(&[]);
    let out = repo.outside("set");
    let args = ["--from", "generated", "--count", "500"];
    succeeded(&build(&repo, &out, &args));
    let first = files(&out);
    let again = succeeded(&build(&repo, &out, &args));
    assert!(again.contains("0 made, 2 kept"), "{again}");
    assert!(files(&out) == first);
    let nothing = repo.outside("nothing");
    let wrong = build(&repo, &nothing, &["--from", "generated", "--count", "0"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        !nothing.exists(),
        "a wrong command must leave no folder behind"
    );
    let other = build(&repo, &out, &["--from", "generated", "--count", "501"]);
    assert_eq!(other.status.code(), Some(2));
    let said = String::from_utf8_lossy(&other.stderr).into_owned();
    assert!(
        said.contains("holds a data set with other settings"),
        "{said}"
    );
}

const MODULE: &str = "\
import os


def shorten(text, width):
    \"\"\"Cuts a text.

    >>> shorten('hello', 3)
    'hel'
    \"\"\"
    if len(text) <= width:
        return text
    return text[:width]


def clean(folder):
    os.remove(folder)


def many(*items):
    return len(items)
";

#[test]
fn functions_are_fuzzed_and_those_that_cannot_be_are_named() {
    let repo = Repo::without_git(&[("lib/words.py", MODULE)]);
    let out = repo.outside("set");
    let files: Utf8PathBuf = repo.path("lib");
    let args = [
        "--from",
        "functions",
        "--from",
        "doctests",
        "--files",
        files.as_str(),
        "--licence",
        "MIT",
        "--project",
        "words 1.0",
        "--validation",
        "0",
    ];
    succeeded(&build(&repo, &out, &args));
    let manifest = manifest(&out);
    let left_out = manifest["left_out"].as_object().unwrap();
    assert!(
        left_out.contains_key("functions/words.py::clean"),
        "{manifest}"
    );
    assert!(
        left_out.contains_key("functions/words.py::many"),
        "{manifest}"
    );
    assert_eq!(manifest["origins"][0]["licence"], "MIT");
    assert_eq!(manifest["origins"][0]["file"], "words.py");
    let train = lines(&out, "train");
    assert!(train.iter().any(|line| line["source"] == "functions"));
    assert!(
        train
            .iter()
            .all(|line| line["code"].as_str().unwrap().contains("def shorten"))
    );
    let here = repo.root();
    assert!(!manifest.to_string().contains(here.as_str()), "{manifest}");
}

#[test]
fn tests_of_a_repository_are_recorded_and_a_benchmark_is_kept_out() {
    let repo = Repo::buggy();
    let out = repo.outside("set");
    let root = repo.root();
    let args = [
        "--from",
        "tests",
        "--repo",
        root.as_str(),
        "--validation",
        "0",
        "--walks",
        "20",
    ];
    succeeded(&build(&repo, &out, &args));
    let train = lines(&out, "train");
    assert!(train.iter().any(|line| line["function"] == "total"));
    assert!(train.iter().any(|line| line["direction"] == "inverse"));
    let item = serde_json::json!({ "id": "sum", "code": ndbg_tests::BUGGY }).to_string();
    std::fs::write(repo.outside("bench.jsonl"), item).unwrap();
    let bench = repo.outside("bench.jsonl");
    let clean = repo.outside("clean");
    let with = [&args[..], &["--decontaminate", bench.as_str()]].concat();
    succeeded(&build(&repo, &clean, &with));
    let functions: Vec<Json> = lines(&clean, "train")
        .iter()
        .map(|line| line["code"].clone())
        .collect();
    assert!(
        functions
            .iter()
            .all(|code| !code.as_str().unwrap().contains("result -= price"))
    );
    let contaminated = manifest(&clean)["contaminated"].as_object().unwrap().len();
    assert!(contaminated > 0);
}
