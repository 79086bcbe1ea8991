//! Runs the tests of the Python side (`tools/python/tests`) with a real pytest.

use std::path::Path;
use std::process::Command;

/// What the Python tests use; those whose plugin is missing skip themselves.
const PACKAGES: &[&str] = &[
    "pytest",
    "pytest-xdist",
    "pytest-cov",
    "pytest-randomly",
    "pytest-rerunfailures",
    "pytest-timeout",
    "hypothesis",
];

#[test]
fn the_python_side_passes_its_own_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let venv = root.parent().unwrap().join("target/python-side");
    let python = venv.join("bin/python");
    let ready = venv.join("ready");
    if !ready.exists() {
        let _ = std::fs::remove_dir_all(&venv);
        let made = Command::new("python3")
            .arg("-m")
            .arg("venv")
            .arg(&venv)
            .status();
        if !made.is_ok_and(|status| status.success()) {
            println!("skipped: `python3 -m venv` does not work here");
            return;
        }
        let installed = Command::new(&python)
            .args(["-m", "pip", "install", "-q", "--disable-pip-version-check"])
            .args(PACKAGES)
            .status();
        if !installed.is_ok_and(|status| status.success()) {
            println!("skipped: pytest cannot be installed, no package index in reach");
            return;
        }
        std::fs::write(&ready, "").unwrap();
    }
    let done = Command::new(&python)
        .args([
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:randomly",
            "-p",
            "no:cacheprovider",
            "tests",
        ])
        .current_dir(root.join("python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr)
    );
}
