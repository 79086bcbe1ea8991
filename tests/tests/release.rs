//! What a release holds, and that the action installs it.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tests::{Repo, binary};

const ARCHIVE: &str = "ndbg-agent-x86_64-unknown-linux-musl.tar.gz";
const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));

fn top() -> &'static Utf8Path {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// A program that does what packing asks of it, and no more.
fn stand_in(repo: &Repo) -> Utf8PathBuf {
    let path = repo.outside("stand-in");
    let script = "#!/bin/sh\ncase $1 in\n  --version) echo ndbg-agent 0.1.0 ;;\n  \
                  completions) echo \"words of $2\" ;;\n  man) echo .TH >\"$3/ndbg-agent.1\" ;;\nesac\n";
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    path
}

/// Packs `program`, whatever it is; it must succeed.
fn pack(repo: &Repo, program: &Utf8Path, out: &Utf8Path, more: &[(&str, &str)]) -> Vec<u8> {
    let done = repo
        .isolated("bash")
        .arg(top().join("release/build.sh"))
        .args(["--target", "x86_64-unknown-linux-musl"])
        .args(["--binary", program.as_str(), "--not-static"])
        .args(["--out", out.as_str()])
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .envs(more.iter().copied())
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", said(&done));
    fs::read(out.join(ARCHIVE)).unwrap()
}

fn said(done: &Output) -> String {
    String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr)
}

/// The action's step that installs, with a folder in place of GitHub.
fn install(repo: &Repo, releases: &str) -> (Option<i32>, String) {
    let temp = repo.outside("runner");
    fs::create_dir_all(&temp).unwrap();
    let output = temp.join("output");
    fs::write(&output, "").unwrap();
    let done = repo
        .isolated("bash")
        .arg(top().join("action/install.sh"))
        .env("NDBG_ACTION_PATH", top())
        .env("NDBG_ACTION_REPOSITORY", "somebody/ndbg-agent")
        .env("NDBG_VERSION", VERSION)
        .env("NDBG_RELEASES", releases)
        .env("RUNNER_TEMP", &temp)
        .env("GITHUB_OUTPUT", &output)
        .output()
        .unwrap();
    let outputs = fs::read_to_string(&output).unwrap();
    (done.status.code(), said(&done) + &outputs)
}

#[test]
fn the_action_installs_what_a_release_holds_and_nothing_that_was_changed() {
    let repo = Repo::without_git(&[]);
    let folder = repo.outside("releases").join(VERSION);
    let archive = pack(&repo, binary::path(), &folder, &[]);
    let releases = format!("file://{}", repo.outside("releases"));

    let (code, told) = install(&repo, &releases);
    assert_eq!(code, Some(0), "{told}");
    let bin = told.lines().find_map(|line| line.strip_prefix("bin="));
    let version = repo.isolated(bin.unwrap()).arg("--version").output();
    assert_eq!(
        said(&version.unwrap()),
        concat!("ndbg-agent ", env!("CARGO_PKG_VERSION"), "\n")
    );

    let mut changed = archive;
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    fs::write(folder.join(ARCHIVE), changed).unwrap();
    let (code, told) = install(&repo, &releases);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("the checksum of"), "{told}");
    assert!(!told.contains("bin="), "{told}");
}

#[test]
fn a_release_that_is_not_there_or_not_to_be_trusted_is_said() {
    let repo = Repo::without_git(&[]);
    let missing = format!("file://{}", repo.outside("nowhere"));
    for (releases, why) in [
        (missing.as_str(), "cannot be fetched"),
        (
            "http://example.org/releases",
            "neither https:// nor file://",
        ),
    ] {
        let (code, told) = install(&repo, releases);
        assert_eq!(code, Some(2), "{told}");
        assert!(told.contains("::error") && told.contains(why), "{told}");
    }
}

#[test]
fn an_archive_depends_on_its_contents_only() {
    let repo = Repo::without_git(&[]);
    let program = stand_in(&repo);
    let (one, two) = (repo.outside("one"), repo.outside("two"));
    let archive = pack(&repo, &program, &one, &[]);
    let elsewhere = [("TZ", "Asia/Tokyo"), ("LC_ALL", "C"), ("USER", "somebody")];
    assert!(pack(&repo, &program, &two, &elsewhere) == archive);
    let read = |folder: &Utf8Path, name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let checksum = format!("{ARCHIVE}.sha256");
    assert_eq!(read(&one, &checksum), read(&two, &checksum));
    assert!(read(&one, &checksum).ends_with(&format!("  {ARCHIVE}\n")));

    let listed = repo
        .isolated("tar")
        .args(["--list", "--verbose", "--numeric-owner", "--utc", "--gzip"])
        .args(["--file", one.join(ARCHIVE).as_str()])
        .output()
        .unwrap();
    let listed = said(&listed);
    for line in listed.lines() {
        assert!(
            line.contains(" 0/0 ") && line.contains(" 2023-11-14 22:13"),
            "{line}"
        );
    }
    let has = |name: &str, mode: &str| {
        let found = listed
            .lines()
            .find(|line| line.ends_with(&format!(" {name}")));
        assert!(
            found.is_some_and(|line| line.starts_with(mode)),
            "{name}: {listed}"
        );
    };
    // As `tar -x ndbg-agent` names it.
    has("ndbg-agent", "-rwxr-xr-x");
    has("action/install.sh", "-rwxr-xr-x");
    for file in [
        "LICENSE",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
        "action.yml",
        "completions/ndbg-agent.bash",
        "completions/_ndbg-agent",
        "man/man1/ndbg-agent.1",
    ] {
        has(file, "-rw-r--r--");
    }
}

/// `release/build.sh` with these arguments.
fn build(repo: &Repo, arguments: &[&str]) -> Output {
    repo.isolated("bash")
        .arg(top().join("release/build.sh"))
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn arguments_that_make_no_release_are_named() {
    let repo = Repo::without_git(&[]);
    let folder = repo.outside("");
    let packed = stand_in(&repo);
    let out = packed.join("below-a-file");
    for (arguments, why) in [
        (&["--target", "sparc"][..], "no release is made for sparc"),
        (&["--binary", "/nowhere"], "/nowhere is no program"),
        (&["--binary", folder.as_str()], "is no program"),
        (&["--not-static"], "goes with --binary"),
        (&["--frobnicate", "1"], "there is no argument --frobnicate"),
        (
            &[
                "--binary",
                packed.as_str(),
                "--not-static",
                "--out",
                out.as_str(),
            ],
            "cannot be made",
        ),
    ] {
        let done = build(&repo, arguments);
        assert_eq!(done.status.code(), Some(2), "{arguments:?}");
        assert!(said(&done).contains(why), "{}", said(&done));
    }
}

#[test]
fn only_static_programs_are_packed_unless_told_otherwise() {
    let repo = Repo::without_git(&[]);
    let out = repo.outside("out");
    let script = stand_in(&repo);
    // The shell that this runs with has a loader.
    for program in [script.as_str(), "/bin/bash"] {
        let done = build(&repo, &["--binary", program, "--out", out.as_str()]);
        assert_eq!(done.status.code(), Some(2), "{program}");
        assert!(said(&done).contains("is no static program"));
        assert!(said(&done).contains("--not-static"));
        assert!(!out.exists());
    }
}

#[test]
fn help_says_every_argument_and_nothing_else() {
    let repo = Repo::without_git(&[]);
    let done = build(&repo, &["--help"]);
    assert_eq!(done.status.code(), Some(0));
    let help = String::from_utf8(done.stdout).unwrap();
    for argument in ["--target", "--binary", "--not-static", "--out"] {
        assert!(help.contains(argument), "{argument}: {help}");
    }
    assert!(!help.contains("set -e") && !help.contains('#'), "{help}");
}
