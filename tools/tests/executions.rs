//! Executes calls with a real interpreter: what is verified, how often, and what is told.
#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

use std::collections::HashSet;
use std::process::Command;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tools::Cancel;
use ndbg_tools::python::executions::{
    Call, ExecutionsError, Executor, Goal, Outcome, Place, Subject,
};
use ndbg_tools::python::plugin;

const SOURCE: &str = "
import os
import random
import time


class Box:
    def __init__(self, x):
        self.x = x

    @property
    def size(self):
        return self.x


def draw():
    return random.random()


def first(s):
    return hash(s) % 2


def odd():
    return os.getpid() % 2


def even_second():
    return time.time() % 2 < 1


def steady(x):
    y = x + 1
    return y
";

/// None without an interpreter.
fn python() -> Option<Utf8PathBuf> {
    let said = Command::new("python3")
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .ok()?;
    let path = String::from_utf8(said.stdout).ok()?;
    Some(path.trim().into())
}

fn place(folder: &Utf8Path) -> Option<Place> {
    let scratch = folder.join("scratch");
    std::fs::create_dir_all(&scratch).unwrap();
    Some(Place {
        python: python()?,
        plugin: plugin::install(&folder.join("plugin")).unwrap(),
        scratch,
        each: Duration::from_millis(50),
        memory: 1 << 29,
        patience: Duration::from_secs(20),
        cancel: Cancel::default(),
    })
}

fn subject(folder: &Utf8Path, source: &str, function: &str) -> Subject {
    let file = folder.join("m.py");
    std::fs::write(&file, source).unwrap();
    Subject {
        file,
        function: function.into(),
        root: Some(folder.to_owned()),
    }
}

fn call(arguments: &str) -> Call {
    Call {
        receiver: None,
        arguments: arguments.into(),
    }
}

fn temporary() -> (tempfile::TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
    (folder, path)
}

#[test]
fn what_differs_from_process_to_process_does_not_pass_ten_runs() {
    let (_held, folder) = temporary();
    let Some(place) = place(&folder) else {
        println!("skipped: no python3");
        return;
    };
    for (function, arguments, name) in [
        ("draw", "", "random.random"),
        ("first", "'a'", "hash"),
        ("odd", "", "os.getpid"),
        ("even_second", "", "time.time"),
    ] {
        let subject = subject(&folder, SOURCE, function);
        let mut executor = Executor::start(&place, &subject, &Goal::Any).unwrap();
        assert_eq!(executor.description().unsteady_names, [name]);
        let runs = executor.verify(&call(arguments), 10).unwrap();
        assert_eq!(runs.len(), 10);
        let ends: HashSet<String> = runs
            .iter()
            .map(|run| format!("{:?}", run.outcome))
            .collect();
        assert!(ends.len() > 1, "{function} agrees with itself");
        if function == "draw" {
            assert_eq!(ends.len(), 10);
        }
    }
}

#[test]
fn more_runs_than_were_started_ahead_agree_and_again() {
    let (_held, folder) = temporary();
    let Some(place) = place(&folder) else {
        println!("skipped: no python3");
        return;
    };
    let subject = subject(&folder, SOURCE, "steady");
    let mut executor = Executor::start(&place, &subject, &Goal::Returns("4".into())).unwrap();
    assert!(executor.description().unsteady_names.is_empty());
    for times in [1, 5, 2, 0, 3] {
        let runs = executor.verify(&call("3"), times).unwrap();
        assert_eq!(runs.len(), times);
        assert!(runs.iter().all(|run| run.reached));
    }
}

#[test]
fn properties_and_conditions_that_raise_are_told() {
    let (_held, folder) = temporary();
    let Some(place) = place(&folder) else {
        println!("skipped: no python3");
        return;
    };
    let property = subject(&folder, SOURCE, "Box.size");
    let executor = Executor::start(&place, &property, &Goal::Any).unwrap();
    assert!(executor.description().is_property);
    let goal = Goal::Where {
        line: u32::try_from(SOURCE.lines().count()).unwrap(),
        predicate: "y / x > 1".into(),
    };
    let steady = subject(&folder, SOURCE, "steady");
    let mut executor = Executor::start(&place, &steady, &goal).unwrap();
    let runs = executor.run(&[call("0"), call("1")]).unwrap();
    assert!(
        runs[0]
            .raised
            .as_deref()
            .unwrap()
            .starts_with("ZeroDivisionError")
    );
    assert!(runs[1].raised.is_none() && runs[1].reached);
    assert!(matches!(runs[1].outcome, Outcome::Returned { .. }));
}

#[test]
fn imports_that_write_or_do_not_end_are_told_without_advice_that_does_not_help() {
    let (_held, folder) = temporary();
    let Some(mut place) = place(&folder) else {
        println!("skipped: no python3");
        return;
    };
    let outside = folder.join("outside");
    let writes = format!("open({:?}, 'w')\n\n\ndef f(): pass\n", outside.as_str());
    let subject_of = subject(&folder, &writes, "f");
    let error = Executor::start(&place, &subject_of, &Goal::Any).unwrap_err();
    assert!(error.to_string().contains("writes a file"), "{error}");
    assert!(error.hint().is_none());
    assert!(!outside.exists());
    place.patience = Duration::from_millis(300);
    let hangs = subject(&folder, "while True: pass\n\n\ndef f(): pass\n", "f");
    let error = Executor::start(&place, &hangs, &Goal::Any).unwrap_err();
    assert!(matches!(&error, ExecutionsError::Problem { kind, .. } if kind == "import"));
    assert!(error.to_string().contains("0.3 s"), "{error}");
}
