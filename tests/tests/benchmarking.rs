//! Benchmark runs on rows whose repository is a local mirror.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tests::{BUGGY, FIXED, Repo, TEST, Venv, binary, python, skip, wait_until};
use serde_json::{Value as Json, json};

const EARLY: &str = "from calc import total\n\n\ndef test_nothing():\n    assert total([]) == 0\n";

/// A repository whose second commit holds the repair, which nobody may see, and rows about its first.
struct Bench {
    repo: Repo,
    base: String,
    test_patch: String,
    reference: String,
}

impl Bench {
    fn new() -> Self {
        let repo = Repo::new(&[("calc.py", BUGGY), ("test_calc.py", EARLY)]);
        let base = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
        repo.write("test_calc.py", TEST);
        let test_patch = repo.git(&["diff"]);
        repo.git(&["checkout", "-q", "."]);
        repo.write("calc.py", FIXED);
        let reference = repo.git(&["diff"]);
        repo.commit();
        Self {
            repo,
            base,
            test_patch,
            reference,
        }
    }

    fn row(&self, id: &str) -> Json {
        json!({
            "instance_id": id, "repo": "ada/shop", "base_commit": self.base,
            "patch": self.reference, "test_patch": self.test_patch, "problem_statement": "wrong",
            "version": "1.0",
            "FAIL_TO_PASS": "[\"test_calc.py::test_total\", \"test_calc.py::test_mean\"]",
            "PASS_TO_PASS": ["test_calc.py::test_nothing"],
        })
    }

    fn write(&self, rows: &[Json]) -> Utf8PathBuf {
        let path = self.repo.outside("rows.jsonl");
        let lines: Vec<String> = rows.iter().map(Json::to_string).collect();
        fs::write(&path, lines.join("\n")).unwrap();
        path
    }

    fn command(&self, out: &Utf8Path, args: &[&str]) -> Command {
        let mut command = self.repo.isolated(binary::path());
        command
            .args(["bench", "run", "--out", out.as_str()])
            .args(["--tasks", self.repo.outside("rows.jsonl").as_str()])
            .args(["--repos", self.repo.outside("").as_str()])
            .args([
                "--python",
                Venv::Plain.python().as_str(),
                "--max-time",
                "60",
            ])
            .args(args)
            .current_dir(self.repo.outside(""));
        command
    }

    fn run(&self, out: &Utf8Path, args: &[&str]) -> Output {
        self.command(out, args).output().unwrap()
    }
}

fn stderr(done: &Output) -> String {
    String::from_utf8_lossy(&done.stderr).into_owned()
}

fn check(done: &Output, code: i32) {
    assert_eq!(done.status.code(), Some(code), "{}", stderr(done));
}

fn record(out: &Utf8Path, id: &str) -> Json {
    let path = out.join("tasks").join(id).join("record.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn rows_are_run_judged_and_not_repeated() {
    let bench = Bench::new();
    bench.write(&[bench.row("shop-1"), bench.row("shop-2")]);
    let out = bench.repo.outside("results");
    let done = bench.run(&out, &["--jobs", "2", "--hide", "0.5"]);
    check(&done, 0);
    for id in ["shop-1", "shop-2"] {
        let record = record(&out, id);
        assert_eq!(record["plausible"], true, "{record}");
        assert_eq!(record["resolved"], true, "{record}");
        assert_eq!(record["correct"], true, "{record}");
        assert_eq!(record["original"], true, "{record}");
        assert_eq!(record["ending"]["said"], "fixed", "{record}");
        for file in ["events.jsonl", "report.html", "patch.diff"] {
            assert!(out.join("tasks").join(id).join(file).is_file(), "{file}");
        }
    }
    // One of the two failing tests was hidden: `fix` saw one alone.
    let events = fs::read_to_string(out.join("tasks/shop-1/events.jsonl")).unwrap();
    let started: Json = serde_json::from_str(events.lines().next().unwrap()).unwrap();
    assert_eq!(started["targets"].as_array().unwrap().len(), 1, "{started}");
    let predictions = fs::read_to_string(out.join("predictions.jsonl")).unwrap();
    let first: Json = serde_json::from_str(predictions.lines().next().unwrap()).unwrap();
    assert_eq!(first["instance_id"], "shop-1");
    assert!(
        first["model_patch"]
            .as_str()
            .unwrap()
            .contains("+        result += price")
    );
    let before = fs::metadata(out.join("tasks/shop-1/record.json")).unwrap();
    let done = bench.run(&out, &["--jobs", "2", "--hide", "0.5"]);
    check(&done, 0);
    assert!(
        stderr(&done).contains("2 are done already"),
        "{}",
        stderr(&done)
    );
    let after = fs::metadata(out.join("tasks/shop-1/record.json")).unwrap();
    assert_eq!(before.modified().unwrap(), after.modified().unwrap());
    // Other settings do not belong into the same folder.
    let done = bench.run(&out, &["--hide", "0.25"]);
    check(&done, 2);
    assert!(
        stderr(&done).contains("another hidden share: 0.5 and not 0.25"),
        "{}",
        stderr(&done)
    );
    assert_eq!(
        bench.repo.git(&["status", "--porcelain"]),
        "",
        "the mirror is read alone"
    );
}

#[test]
fn what_fails_without_the_tools_doing_is_counted_apart() {
    let bench = Bench::new();
    let mut unfit = bench.row("unfit");
    unfit["test_patch"] =
        json!("--- a/test_calc.py\n+++ b/test_calc.py\n@@ -1 +1 @@\n-nothing\n+x\n");
    let mut gone = bench.row("gone");
    gone["base_commit"] = json!("0123456789abcdef0123456789abcdef01234567");
    let mut nowhere = bench.row("nowhere");
    nowhere["repo"] = json!("ada/nowhere");
    nowhere["repo_url"] = json!("file:///nowhere/at/all");
    let mut passing = bench.row("passing");
    passing["FAIL_TO_PASS"] = json!(["test_calc.py::test_nothing"]);
    let mut unknown = bench.row("unknown");
    unknown["FAIL_TO_PASS"] = json!(["test_calc.py::test_of_another_time"]);
    let mut runner = bench.row("runner");
    runner["test_cmd"] = json!("tox -e py311");
    let mut install = bench.row("install");
    install["setup"] = json!(["echo 'cannot do that' >&2; exit 3"]);
    bench.write(&[
        unfit,
        gone,
        nowhere,
        passing,
        unknown,
        runner,
        install,
        bench.row("good"),
    ]);
    let out = bench.repo.outside("results");
    let done = bench.run(&out, &["--gold"]);
    check(&done, 0);
    for (id, class, tries, words) in [
        ("unfit", "test_patch", 1, "does not apply to the base"),
        ("gone", "commit", 1, "is not in"),
        ("nowhere", "repository", 2, "cannot be cloned"),
        ("passing", "baseline", 1, "passes here without a patch"),
        ("unknown", "baseline", 1, "is not among the tests"),
        ("install", "install", 2, "cannot do that"),
    ] {
        let record = record(&out, id);
        assert_eq!(record["infrastructure"]["class"], class, "{record}");
        assert_eq!(record["tries"], tries, "{record}");
        let message = record["infrastructure"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
        assert_eq!(record["plausible"], false);
    }
    assert!(
        stderr(&done).contains("1 cannot be run here"),
        "{}",
        stderr(&done)
    );
    let stdout = String::from_utf8_lossy(&done.stdout);
    assert!(
        stdout.contains("plausible                     1 of 1"),
        "{stdout}"
    );
    assert_eq!(record(&out, "good")["resolved"], true);
    let header: Json =
        serde_json::from_slice(&fs::read(out.join("results.json")).unwrap()).unwrap();
    assert!(
        header["unsupported"][0][1]
            .as_str()
            .unwrap()
            .contains("tox"),
        "{header}"
    );
}

#[test]
fn a_killed_run_goes_on_without_repeating_what_was_finished() {
    let bench = Bench::new();
    bench.write(&[
        bench.row("shop-1"),
        bench.row("shop-2"),
        bench.row("shop-3"),
    ]);
    let out = bench.repo.outside("results");
    let mut child = bench
        .command(&out, &[])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    let first = out.join("tasks/shop-1/record.json");
    wait_until("the first task", || first.exists());
    // While it runs no other may work on the folder.
    let done = bench.run(&out, &[]);
    check(&done, 4);
    assert!(
        stderr(&done).contains("another run works on shard 0/1"),
        "{}",
        stderr(&done)
    );
    let done = bench.run(&out, &["--shard", "0/2"]);
    check(&done, 4);
    child.kill().unwrap();
    child.wait().unwrap();
    let left = fs::read_dir(bench.repo.tmp()).unwrap().count();
    assert!(left > 0, "a killed run cleans up nothing");
    let before = fs::metadata(&first).unwrap().modified().unwrap();
    let done = bench.run(&out, &[]);
    check(&done, 0);
    assert!(stderr(&done).contains("done already"), "{}", stderr(&done));
    assert_eq!(fs::metadata(&first).unwrap().modified().unwrap(), before);
    for id in ["shop-1", "shop-2", "shop-3"] {
        assert_eq!(record(&out, id)["plausible"], true, "{id}");
    }
    // Nor is anything left of the killed one: its `fix` is killed and its folders are removed.
    let left: Vec<_> = fs::read_dir(bench.repo.tmp()).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn shards_merge_to_the_same_bytes_in_any_order() {
    let bench = Bench::new();
    let rows: Vec<Json> = (0..4).map(|n| bench.row(&format!("shop-{n}"))).collect();
    bench.write(&rows);
    let at = |name: &str| bench.repo.outside(name);
    for (shard, folder) in [("0/2", "a"), ("1/2", "b")] {
        check(&bench.run(&at(folder), &["--gold", "--shard", shard]), 0);
    }
    let merge = |folders: [&str; 2], to: &str| {
        let mut command = bench.repo.isolated(binary::path());
        command.args(["bench", "merge", "--out", at(to).as_str()]);
        command
            .args(folders.map(|name| at(name).into_string()))
            .output()
            .unwrap()
    };
    check(&merge(["a", "b"], "ab"), 0);
    check(&merge(["b", "a"], "ba"), 0);
    for name in [
        "results.json",
        "results.jsonl",
        "predictions.jsonl",
        "tasks/shop-3/record.json",
    ] {
        let read = |folder: &str| fs::read(at(folder).join(name)).unwrap();
        assert_eq!(read("ab"), read("ba"), "{name}");
    }
    let lines = fs::read_to_string(at("ab").join("results.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 4);
    // Both shards in one folder come to the same.
    check(&bench.run(&at("one"), &["--gold", "--shard", "0/2"]), 0);
    check(&bench.run(&at("one"), &["--gold", "--shard", "1/2"]), 0);
    assert_eq!(
        fs::read(at("one").join("predictions.jsonl")).unwrap(),
        fs::read(at("ab").join("predictions.jsonl")).unwrap()
    );
    // Results of other tasks are not mixed in.
    bench.write(&rows[..2]);
    check(&bench.run(&at("other"), &["--gold"]), 0);
    let done = merge(["a", "other"], "mixed");
    check(&done, 2);
    assert!(
        stderr(&done).contains("another number of tasks: 2 and not 4"),
        "{}",
        stderr(&done)
    );
}

#[test]
fn mistakes_are_said_with_their_place() {
    let bench = Bench::new();
    let out = bench.repo.outside("results");
    let mut bad = bench.row("shop-2");
    bad.as_object_mut().unwrap().remove("base_commit");
    bench.write(&[bench.row("shop-1"), bad]);
    let done = bench.run(&out, &[]);
    check(&done, 2);
    assert!(
        stderr(&done).contains("rows.jsonl:2: field `base_commit` is missing"),
        "{}",
        stderr(&done)
    );
    bench.write(&[bench.row("shop-1"), bench.row("shop-1")]);
    let done = bench.run(&out, &[]);
    check(&done, 2);
    assert!(
        stderr(&done).contains("two tasks are called `shop-1`"),
        "{}",
        stderr(&done)
    );
    bench.write(&[bench.row("shop-1")]);
    let done = bench.run(&out, &["--only", "shop-l"]);
    check(&done, 2);
    assert!(
        stderr(&done).contains("there is `shop-1`"),
        "{}",
        stderr(&done)
    );
    check(&bench.run(&out, &["--shard", "2/2"]), 2);
    fs::create_dir_all(&out).unwrap();
    fs::write(out.join("results.json"), "{\"format\": 99}").unwrap();
    let done = bench.run(&out, &["--gold"]);
    check(&done, 2);
    assert!(stderr(&done).contains("format 99"), "{}", stderr(&done));
    // A lock that a dead process left is none.
    fs::remove_file(out.join("results.json")).unwrap();
    File::create(out.join("locks/0-of-1")).unwrap();
    check(&bench.run(&out, &["--gold"]), 0);
}

#[test]
fn a_thousand_finished_tasks_are_gone_on_from_in_less_than_two_seconds() {
    let bench = Bench::new();
    // As long as rows of real benchmarks are; git skips what stands before a diff.
    let long = |mut row: Json| {
        row["patch"] = json!(format!("{}{}", "why\n".repeat(1000), bench.reference));
        row["test_patch"] = json!(format!("{}{}", "why\n".repeat(1500), bench.test_patch));
        row
    };
    let rows: Vec<Json> = (0..1000)
        .map(|n| long(bench.row(&format!("shop-{n:04}"))))
        .collect();
    bench.write(&rows);
    let out = bench.repo.outside("results");
    check(&bench.run(&out, &["--gold", "--shard", "0/1000"]), 0);
    let first = record(&out, "shop-0000");
    for n in 1..1000 {
        let mut other = first.clone();
        other["task"] = json!(format!("shop-{n:04}"));
        let folder = out.join("tasks").join(format!("shop-{n:04}"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("record.json"), other.to_string()).unwrap();
        fs::copy(
            out.join("tasks/shop-0000/patch.diff"),
            folder.join("patch.diff"),
        )
        .unwrap();
    }
    let begun = Instant::now();
    let done = bench.run(&out, &["--gold"]);
    let seconds = begun.elapsed().as_secs_f64();
    check(&done, 0);
    assert!(
        stderr(&done).contains("1000 are done already"),
        "{}",
        stderr(&done)
    );
    // Twice the time, since this runs unoptimised and beside other tests.
    assert!(seconds < 4.0, "{seconds} s");
}

const MORE: &str = "

def test_total_of_one():
    assert total([4]) == 4
";

#[test]
fn only_what_can_be_hidden_alone_is_hidden() {
    let bench = Bench::new();
    let mut row = bench.row("shop-1");
    // `test_total` cannot be deselected without `test_total_of_one`.
    bench.repo.write("test_calc.py", format!("{TEST}{MORE}"));
    row["test_patch"] = json!(bench.repo.git(&["diff", &bench.base, "--", "test_calc.py"]));
    row["FAIL_TO_PASS"] = json!([
        "test_calc.py::test_total",
        "test_calc.py::test_total_of_one"
    ]);
    bench.write(&[row]);
    let out = bench.repo.outside("results");
    check(&bench.run(&out, &["--hide", "0.5"]), 0);
    let record = record(&out, "shop-1");
    assert_eq!(record["infrastructure"], Json::Null, "{record}");
    assert_eq!(record["correct"], true, "{record}");
    assert_eq!(record["resolved"], true, "{record}");
}

#[test]
fn nothing_is_said_of_correctness_without_hidden_tests() {
    let bench = Bench::new();
    let mut wrong = bench.row("wrong");
    wrong["patch"] = json!(
        bench
            .reference
            .replace("+        result += price", "+        result *= price")
    );
    let mut garbage = bench.row("garbage");
    garbage["patch"] = json!("no diff at all");
    let mut stripped = bench.row("stripped");
    stripped["patch"] = json!(bench.reference.strip_suffix('\n').unwrap());
    stripped["test_patch"] = json!(bench.test_patch.strip_suffix('\n').unwrap());
    bench.write(&[wrong, garbage, stripped]);
    let out = bench.repo.outside("results");
    let done = bench.run(&out, &["--gold"]);
    check(&done, 0);
    assert_eq!(record(&out, "wrong")["correct"], Json::Null);
    assert_eq!(record(&out, "wrong")["resolved"], false);
    assert_eq!(
        record(&out, "garbage")["infrastructure"]["class"],
        "baseline"
    );
    assert_eq!(record(&out, "stripped")["resolved"], true);
    let stdout = String::from_utf8_lossy(&done.stdout);
    assert!(!stdout.contains("correct"), "{stdout}");
}

#[test]
fn patches_that_configure_the_tests_are_refused() {
    let bench = Bench::new();
    let new = |path: &str, text: &str| {
        format!(
            "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{text}\n"
        )
    };
    let rows: Vec<Json> = [
        ("toml", "pytest.toml", "[pytest]"),
        ("hidden-toml", ".pytest.toml", "[pytest]"),
        ("metadata", "zz-1.dist-info/entry_points.txt", "[pytest11]"),
        ("path", "zz.pth", "import os"),
    ]
    .iter()
    .map(|(id, path, text)| {
        let mut row = bench.row(id);
        row["patch"] = json!(format!("{}{}", bench.reference, new(path, text)));
        row
    })
    .collect();
    bench.write(&rows);
    let out = bench.repo.outside("results");
    check(&bench.run(&out, &["--gold"]), 0);
    for row in &rows {
        let record = record(&out, row["instance_id"].as_str().unwrap());
        assert_eq!(record["resolved"], false, "{record}");
        assert!(
            record["reason"]
                .as_str()
                .unwrap()
                .contains("changes the tests"),
            "{record}"
        );
    }
}

#[test]
fn arguments_that_fix_does_not_take_are_said_before_any_task() {
    let bench = Bench::new();
    bench.write(&[bench.row("shop-1")]);
    let out = bench.repo.outside("results");
    for (arguments, says) in [
        (
            ["--", "--bogus"].as_slice(),
            "unexpected argument '--bogus'",
        ),
        (&["--", "--planner", "llm"], "no model is named"),
        (&["--", "--out", "x"], "cannot be passed on"),
    ] {
        let done = bench.run(&out, arguments);
        check(&done, 2);
        assert!(stderr(&done).contains(says), "{}", stderr(&done));
    }
    assert!(!out.join("results.json").exists());
}

/// What reads predictions in the official evaluation, run on ours.
const LOADER: &str = "\
import sys
from swebench.harness.utils import get_predictions_from_file, load_swebench_dataset
rows = load_swebench_dataset(sys.argv[2])
predictions = get_predictions_from_file(sys.argv[1], sys.argv[2], 'test')
assert [p['instance_id'] for p in predictions] == [r['instance_id'] for r in rows]
assert all({'model_name_or_path', 'model_patch'} <= set(p) for p in predictions)
print(len(predictions))
";

#[test]
fn the_official_loader_accepts_rows_and_predictions() {
    if !python::has_index() {
        skip("no package index can be reached");
        return;
    }
    let venv = python::shared_folder().join("swebench");
    let python = venv.join("bin/python");
    let import = ["-c", "import swebench.harness.utils"];
    let imports = || {
        Command::new(&python)
            .args(import)
            .output()
            .is_ok_and(|done| done.status.success())
    };
    if !imports() {
        let _ = fs::remove_dir_all(&venv);
        Command::new(python::base())
            .args(["-m", "venv", venv.as_str()])
            .output()
            .unwrap();
        let pip = |args: &[&str]| {
            let mut command = Command::new(&python);
            command
                .args(["-m", "pip", "install", "-q"])
                .args(args)
                .output()
                .unwrap()
        };
        // Of its dependencies, those that the loader imports: the others are for containers.
        pip(&["--no-deps", "swebench==5.0.2"]);
        pip(&[
            "datasets",
            "docker",
            "modal",
            "python-dotenv",
            "tenacity",
            "tqdm",
            "unidiff",
        ]);
        if !imports() {
            skip("swebench cannot be installed");
            return;
        }
    }
    let bench = Bench::new();
    let rows = bench.write(&[bench.row("shop-1"), bench.row("shop-2")]);
    let out = bench.repo.outside("results");
    check(&bench.run(&out, &["--gold"]), 0);
    let done = bench
        .repo
        .isolated(&python)
        .args([
            "-c",
            LOADER,
            out.join("predictions.jsonl").as_str(),
            rows.as_str(),
        ])
        .output()
        .unwrap();
    check(&done, 0);
    assert_eq!(String::from_utf8_lossy(&done.stdout).trim(), "2");
}
