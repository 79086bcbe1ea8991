//! The program under test.

use std::process::{Command, Stdio};
use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value as Json;

/// Path of the program, built by this very cargo with the profile of the running test.
///
/// Cargo builds a program for the integration tests of its own package only, so it has to be asked;
/// where everything is fresh that takes a fraction of a second. `NDBG_AGENT_BIN` names another
/// program to test.
pub fn path() -> &'static Utf8Path {
    // A build that fails is not tried again by every test.
    static PATH: OnceLock<Option<Utf8PathBuf>> = OnceLock::new();
    let asked = || std::env::var("NDBG_AGENT_BIN").ok().map(Utf8PathBuf::from);
    PATH.get_or_init(|| asked().or_else(build))
        .as_deref()
        .expect("the program has to build")
}

/// Cargo's target folder, in which this test lies.
pub fn target_folder() -> Utf8PathBuf {
    let test = test_executable();
    let marked = test
        .ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").exists());
    marked
        .or_else(|| test.ancestors().nth(3))
        .expect("tests lie in the target folder")
        .to_owned()
}

fn test_executable() -> Utf8PathBuf {
    let test = std::env::current_exe().unwrap();
    Utf8PathBuf::from_path_buf(test).expect("the target folder's path is UTF-8")
}

fn build() -> Option<Utf8PathBuf> {
    let test = test_executable();
    let folder = test.parent().and_then(Utf8Path::parent).unwrap();
    let profile = match folder.file_name().unwrap() {
        "debug" => "dev",
        other => other,
    };
    let mut command = Command::new(env!("CARGO"));
    command
        // With the features that all members together ask for, as other builds of the workspace have them.
        .args(["build", "--workspace", "--bin=ndbg-agent"])
        .args(["--message-format=json-render-diagnostics", "--profile"])
        .args([profile, "--target-dir", target_folder().as_str()])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::inherit());
    // What cargo says of the package under test; build scripts that look at it would run again, and all
    // that needs them would be built again.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if [
            "CARGO_PKG_",
            "CARGO_MANIFEST_",
            "CARGO_BIN_",
            "CARGO_CRATE_",
        ]
        .iter()
        .any(|prefix| name.starts_with(prefix))
        {
            command.env_remove(name.as_ref());
        }
    }
    let triple = folder.parent().and_then(Utf8Path::file_name).unwrap();
    if folder.parent() != Some(target_folder().as_path()) {
        command.args(["--target", triple]);
    }
    let done = command.output().expect("cargo runs");
    done.stdout
        .split(|&byte| byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<Json>(line).ok())
        .find_map(|message| message["executable"].as_str().map(Utf8PathBuf::from))
}
