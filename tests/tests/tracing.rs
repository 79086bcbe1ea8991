//! Recording runs and stepping through them.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use std::io::Write as _;
use std::process::{Command, Stdio};

use camino::Utf8PathBuf;
use ndbg_tests::{Repo, Venv, binary};
use serde_json::Value as Json;

/// What a call of the program gave.
struct Done {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Done {
    fn ends_with(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.stdout, self.stderr);
        self
    }

    fn shows(&self, text: &str) -> &Self {
        assert!(
            self.stdout.contains(text),
            "no `{text}` in\n{}",
            self.stdout
        );
        self
    }

    fn says(&self, text: &str) -> &Self {
        assert!(
            self.stderr.contains(text),
            "no `{text}` in\n{}",
            self.stderr
        );
        self
    }
}

fn call(repo: &Repo, args: &[&str], input: &str) -> Done {
    let mut command: Command = repo.isolated(binary::path());
    let mut child = command
        .args(args)
        .current_dir(repo.root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that ends without reading closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let done = child.wait_with_output().unwrap();
    Done {
        code: done.status.code(),
        stdout: String::from_utf8(done.stdout).unwrap(),
        stderr: String::from_utf8(done.stderr).unwrap(),
    }
}

/// Records the usual failing test; the folder of the recording.
fn recorded(repo: &Repo) -> Utf8PathBuf {
    let out = repo.outside("total.ndbg");
    let python = Venv::Plain.python();
    let args = [
        "trace",
        "--python",
        python.as_str(),
        "--test",
        "test_calc.py::test_total",
        "--out",
        out.as_str(),
    ];
    let done = call(repo, &args, "");
    done.ends_with(0).says("0 passed, 1 failed");
    assert_eq!(done.stdout.trim(), out.as_str());
    out
}

#[test]
fn a_failing_test_is_recorded_and_its_wrong_state_is_found() {
    let repo = Repo::buggy();
    let recording = recorded(&repo);
    let shown = call(&repo, &["trace", "show", recording.as_str()], "");
    shown.ends_with(0).shows("test_calc.py::test_total\n");
    shown.shows("total(prices=[1, 2, 3]) -> -6");
    let commands = "find result < 0\nwhy result\nrr\np prices\nr\nq\n";
    let session = call(&repo, &["debug", recording.as_str()], commands);
    session.ends_with(0).shows("result = -1  (was 0)");
    session.shows("result = -1\nwas written by event");
    session.shows("->         result -= price");
    session.shows("(ndbg) p prices\n[1, 2, 3]\n");
    session.shows("value: -6");
    assert!(repo.git(&["status", "--porcelain"]).is_empty());
}

#[test]
fn every_step_back_undoes_a_step_forward() {
    let repo = Repo::buggy();
    let recording = recorded(&repo);
    let there = call(&repo, &["debug", recording.as_str()], &"s\n".repeat(20));
    let back = call(
        &repo,
        &["debug", recording.as_str()],
        &("s\n".repeat(20) + &"rs\n".repeat(20)),
    );
    let stops = |text: &str| -> Vec<String> {
        let lines = text
            .lines()
            .filter(|line| line.contains(" of ") && line.contains("  "));
        lines.map(str::to_owned).collect()
    };
    let forward = stops(&there.stdout);
    let mut mirrored = forward.clone();
    mirrored.extend(forward.iter().rev().skip(1).cloned());
    assert_eq!(stops(&back.stdout), mirrored);
    assert!(forward.len() > 10, "{}", there.stdout);
}

#[test]
fn the_tree_is_filtered_and_comes_in_pages() {
    let repo = Repo::buggy();
    let recording = recorded(&repo);
    let path = recording.as_str();
    let one = call(&repo, &["trace", "show", path, "-n", "1"], "");
    one.ends_with(0).says("1 more calls: `--skip 1`");
    let args = ["trace", "show", path, "--function", "total", "--json"];
    let json = call(&repo, &args, "");
    let lines: Vec<Json> = json
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 1, "{}", json.stdout);
    assert_eq!(lines[0]["value"], "-6");
    assert_eq!(lines[0]["arguments"]["prices"]["text"], "[1, 2, 3]");
    let first = lines[0]["first_event"].to_string();
    let states = call(&repo, &["trace", "show", path, "--event", &first], "");
    states.shows("result = -3  (was -1)");
    let none = call(&repo, &["trace", "show", path, "--event", "100000"], "");
    none.ends_with(2)
        .says("there is no event 100000: they go from 0 to");
}

#[test]
fn a_script_runs_as_without_the_recorder() {
    let repo = Repo::without_git(&[(
        "report.py",
        "import sys\n\n\ndef double(n):\n    return 2 * n\n\n\nif __name__ == '__main__':\n    \
         print(sys.argv[1:], double(int(input())))\n    sys.exit(3)\n",
    )]);
    let out = repo.outside("script.ndbg");
    let python = Venv::Plain.python();
    let args = [
        "trace",
        "--python",
        python.as_str(),
        "--out",
        out.as_str(),
        "report.py",
        "--deep",
        "a b",
    ];
    let done = call(&repo, &args, "21\n");
    done.ends_with(3);
    assert_eq!(done.stdout, "['--deep', 'a b'] 42\n");
    let shown = call(&repo, &["trace", "show", out.as_str()], "");
    shown.shows("double(n=21) -> 42");
}

#[test]
fn the_newest_recording_needs_no_name() {
    let repo = Repo::buggy();
    let nothing = call(&repo, &["debug"], "");
    nothing.ends_with(2).says("there is no recording yet");
    let python = Venv::Plain.python();
    let test = ["--test", "test_calc.py::test_mean"];
    let session = call(
        &repo,
        &[&["debug", "--python", python.as_str()], &test[..]].concat(),
        "b mean\nc\np prices\n",
    );
    session.ends_with(0).shows("(ndbg) p prices\n[2, 4]\n");
    call(&repo, &["trace", "show"], "").shows("mean(prices=[2, 4])");
}

#[test]
fn a_focus_leaves_everything_else_out() {
    let repo = Repo::buggy();
    let out = repo.outside("focus.ndbg");
    let python = Venv::Plain.python();
    let args = [
        "trace",
        "--python",
        python.as_str(),
        "--out",
        out.as_str(),
        "--focus",
        "mean",
    ];
    call(&repo, &args, "").ends_with(0);
    let shown = call(&repo, &["trace", "show", out.as_str()], "");
    shown.shows("mean(prices=[2, 4]) -> -3.0");
    assert!(!shown.stdout.contains("total("), "{}", shown.stdout);
    let args = [
        "debug",
        "--python",
        python.as_str(),
        "--test",
        "test_calc.py",
        "--focus",
        "nobody",
    ];
    let nothing = call(&repo, &args, "");
    nothing
        .ends_with(2)
        .says("nothing was recorded")
        .says("--focus");
}

#[test]
fn bad_recordings_are_named() {
    let repo = Repo::buggy();
    let recording = recorded(&repo);
    let path = recording.as_str();
    let records = recording.join("records.zst");
    let whole = std::fs::read(&records).unwrap();
    std::fs::write(&records, &whole[..whole.len() - 20]).unwrap();
    let cut = call(&repo, &["debug", path], "c\n");
    cut.ends_with(0).shows("this is not all: ");
    let meta = recording.join("meta.json");
    let text = std::fs::read_to_string(&meta).unwrap();
    std::fs::write(&meta, text.replace("\"version\": 1", "\"version\": 9")).unwrap();
    let other = call(&repo, &["debug", path], "");
    other
        .ends_with(2)
        .says("has version 9 of the format, this program reads version 1");
    std::fs::remove_file(&meta).unwrap();
    call(&repo, &["trace", "show", path], "")
        .ends_with(2)
        .says("is no recording");
    let over = call(
        &repo,
        &["trace", "--out", repo.root().as_str(), "calc.py"],
        "",
    );
    over.ends_with(2).says("exists and is no recording");
    assert!(
        over.stdout.is_empty(),
        "the script must not run: {}",
        over.stdout
    );
    call(&repo, &["trace", "nope.py"], "")
        .ends_with(2)
        .says("no script `nope.py`");
}

#[test]
fn an_endless_script_is_stopped_and_what_was_recorded_opens() {
    let repo = Repo::without_git(&[(
        "loop.py",
        "def spin():\n    n = 0\n    while True:\n        n += 1\n\n\nspin()\n",
    )]);
    let out = repo.outside("loop.ndbg");
    let python = Venv::Plain.python();
    let args = [
        "trace",
        "--python",
        python.as_str(),
        "--out",
        out.as_str(),
        "--max-time",
        "4",
        "--max-events",
        "5000",
        "loop.py",
    ];
    call(&repo, &args, "").ends_with(6);
    let session = call(&repo, &["debug", out.as_str()], "find n == 100\nq\n");
    session
        .ends_with(0)
        .shows("this is not all: ")
        .shows("n = 100");
}

#[test]
fn ctrl_c_ends_a_script_and_keeps_what_was_recorded() {
    let repo = Repo::without_git(&[(
        "wait.py",
        "import time\n\n\ndef tick(n):\n    return n + 1\n\n\nn = 0\nwhile True:\n    n = tick(n)\n    \
         time.sleep(0.001)\n",
    )]);
    let out = repo.outside("wait.ndbg");
    let python = Venv::Plain.python();
    let mut command = repo.isolated(binary::path());
    let child = command
        .args([
            "trace",
            "--python",
            python.as_str(),
            "--out",
            out.as_str(),
            "wait.py",
        ])
        .current_dir(repo.root())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    ndbg_tests::wait_until("events of the script", || {
        let found = repo.tmp().read_dir_utf8().unwrap().flatten();
        found
            .map(|entry| entry.path().join("tmp/trace.raw"))
            .any(|raw| std::fs::metadata(raw).is_ok_and(|data| data.len() > 20_000))
    });
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(130));
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(said.contains("is kept: `ndbg-agent debug"), "{said}");
    let session = call(&repo, &["debug", out.as_str()], "find n == 10\n");
    session
        .ends_with(0)
        .shows("this is not all: ")
        .shows("n = 10");
    let left: Vec<_> = repo.tmp().read_dir_utf8().unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_test_that_hangs_leaves_a_recording_of_what_it_did() {
    let test = "import time\n\n\ndef work(n):\n    return n + 1\n\n\ndef test_hangs():\n    \
                work(41)\n    time.sleep(1000)\n";
    let repo = Repo::new(&[("test_hangs.py", test)]);
    let out = repo.outside("hangs.ndbg");
    let python = Venv::Plain.python();
    let args = [
        "trace",
        "--python",
        python.as_str(),
        "--out",
        out.as_str(),
        "--max-time",
        "6",
        "--test",
        "test_hangs.py",
    ];
    let done = call(&repo, &args, "");
    done.ends_with(6).says("was still").says("is kept");
    call(&repo, &["trace", "show", out.as_str()], "").shows("work(n=41) -> 42");
}

#[test]
fn a_debugged_script_leaves_standard_input_to_the_debugger() {
    let repo = Repo::without_git(&[(
        "ask.py",
        "import sys\n\n\ndef ask():\n    return sys.stdin.read()\n\n\nask()\n",
    )]);
    let python = Venv::Plain.python();
    let session = call(
        &repo,
        &["debug", "--python", python.as_str(), "ask.py"],
        "b ask\nc\nr\n",
    );
    session.ends_with(0).shows("value: ''");
}

#[test]
fn a_closed_pipe_is_no_crash() {
    let repo = Repo::buggy();
    for line in ["doctor --repo .", "dataset profile --count 50"] {
        let shell = format!("{} {line} | true; exit ${{PIPESTATUS[0]}}", binary::path());
        let done = repo
            .isolated("bash")
            .args(["-c", &shell])
            .current_dir(repo.root())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(!said.contains("panicked"), "{said}");
        assert_eq!(done.status.code(), Some(0), "{line}: {said}");
    }
}

#[test]
fn two_passes_tell_whether_a_run_happens_again() {
    let chance = "import os\n\n\ndef left():\n    return 1\n\n\ndef test_chance():\n    \
                  for byte in os.urandom(8):\n        for bit in format(byte, '08b') + '1':\n            \
                  if bit == '1':\n                left()\n";
    let steady = "def one():\n    return 1\n\n\ndef test_steady():\n    assert one() == 1\n";
    let repo = Repo::new(&[("test_chance.py", chance), ("test_steady.py", steady)]);
    let out = repo.outside("twice.ndbg");
    let python = Venv::Plain.python();
    let twice = |test: &str| {
        let args = [
            "trace",
            "--python",
            python.as_str(),
            "--out",
            out.as_str(),
            "--twice",
            "--test",
            test,
        ];
        call(&repo, &args, "")
    };
    twice("test_steady.py")
        .ends_with(0)
        .says("both runs made the same calls");
    twice("test_chance.py")
        .ends_with(0)
        .says("the two runs took different paths");
    call(&repo, &["trace", "show", out.as_str()], "").shows("left() -> 1");
}
