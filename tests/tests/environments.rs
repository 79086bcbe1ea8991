//! Interpreters, environments and disks that are not as they should be.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use ndbg_tests::python::{base, has_index, of_minor, shared_folder};
use ndbg_tests::{Repo, Venv, skip};

#[test]
fn an_interpreter_that_does_not_start_is_named() {
    let repo = Repo::buggy();
    let script = repo.outside("python");
    std::fs::write(&script, "#!/bin/sh\necho 'no such library' >&2\nexit 127\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = repo.fix().python(&script).run();
    run.ends_with(4)
        .says("does not start")
        .says("no such library");
    let run = repo.fix().python(repo.outside("nowhere")).run();
    run.ends_with(4).says("no such file").says("--python PATH");
}

#[test]
fn a_python_that_is_too_old_is_named() {
    let Some(python) = of_minor(7).or_else(|| of_minor(6)) else {
        skip("no Python 3.6 or 3.7 is installed");
        return;
    };
    let repo = Repo::buggy();
    let run = repo.fix().python(python).run();
    run.ends_with(4).says("3.8 or later");
}

#[test]
fn without_pytest_an_environment_is_made_and_used_again() {
    if !has_index() {
        skip("no package index can be reached");
        return;
    }
    let repo = Repo::buggy();
    let bare = repo.outside("bare");
    let made = Command::new(base())
        .args(["-m", "venv", "--without-pip", bare.as_str()])
        .status();
    assert!(made.unwrap().success());
    let run = repo.fix().python(&bare).run();
    run.is_fixed();
    run.says("has no pytest").says("making an environment");
    assert_eq!(run.event("environment")["managed"], true);
    let run = repo.fix().python(&bare).run();
    run.is_fixed();
    assert!(
        !run.stderr.contains("making an environment"),
        "{}",
        run.stderr
    );
}

/// Fixes the usual bug with Python 3.`minor`, through a managed environment that is kept.
fn check_version(minor: u32) {
    let Some(python) = of_minor(minor) else {
        skip(&format!("Python 3.{minor} is not installed"));
        return;
    };
    if !has_index() {
        skip("no package index can be reached");
        return;
    }
    let repo = Repo::buggy();
    let cache = shared_folder().join("cache");
    let run = repo
        .fix()
        .python(python)
        .env("NDBG_AGENT_CACHE", cache)
        .run();
    run.is_fixed();
    let version = run.event("environment")["version"].as_str().unwrap();
    assert!(version.starts_with(&format!("3.{minor}.")), "{version}");
    let warm = run.events.iter().any(|e| e["type"] == "warm_ready");
    assert!(warm, "{}", run.told());
}

#[test]
fn python_3_8_works() {
    check_version(8);
}

#[test]
fn python_3_9_works() {
    check_version(9);
}

#[test]
fn python_3_10_works() {
    check_version(10);
}

#[test]
fn python_3_12_works() {
    check_version(12);
}

#[test]
fn python_3_13_works() {
    check_version(13);
}

#[test]
fn a_run_directory_that_cannot_be_written_is_said_before_anything_runs() {
    let repo = Repo::buggy();
    let file = repo.outside("file");
    std::fs::write(&file, "").unwrap();
    let run = repo.fix().run_dir(file.join("run")).start().wait();
    assert_eq!(run.code, Some(4), "{}", run.told());
    run.says("cannot write to the run directory");
    assert!(!run.stderr.contains("panicked"));
    run.check_that_nothing_is_left();
}

#[test]
fn a_full_or_read_only_disk_costs_the_artefacts_and_not_the_patch() {
    let repo = Repo::buggy();
    let full = repo.outside("full");
    std::fs::create_dir(&full).unwrap();
    // A file system of eight pages in a mount namespace that goes away with the process.
    let mount = format!("mount -t tmpfs -o \"$0\" tmpfs {full} && exec \"$@\"");
    let wrapper = |options: &str| {
        let words = [
            "unshare",
            "--user",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
        ];
        let words = words.into_iter().chain([mount.as_str(), options]);
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let small = wrapper("size=32k");
    let can = Command::new(&small[0])
        .args(&small[1..])
        .arg("true")
        .output();
    if !can.is_ok_and(|done| done.status.success()) {
        skip("no tmpfs can be mounted");
        return;
    }
    let call = repo.fix().run_dir(full.join("run")).through(small);
    let done = call.command().output().unwrap();
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert!(!stderr.contains("panicked"), "{stderr}");
    assert!(stderr.contains("No space left"), "{stderr}");
    let diff = String::from_utf8_lossy(&done.stdout);
    assert!(
        diff.contains("+        result += price"),
        "{diff}\n{stderr}"
    );

    let call = repo.fix().run_dir(full.join("run")).through(wrapper("ro"));
    let done = call.command().output().unwrap();
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(4), "{stderr}");
    assert!(
        stderr.contains("cannot write to the run directory"),
        "{stderr}"
    );
}

#[test]
fn doctor_shows_what_would_be_used() {
    let repo = Repo::buggy();
    let run = repo.call("doctor").python(Venv::Plain.python()).run();
    assert_eq!(run.code, Some(0), "{}", run.told());
    let text = run.diff();
    assert!(text.contains("pytest"), "{text}");
    assert!(text.contains(Venv::Plain.python().as_str()), "{text}");
}
