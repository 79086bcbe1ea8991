//! A managed virtual environment with pytest, for interpreters that lack it.
//!
//! It lies in the cache folder, one per interpreter and set of requirements, and sees the packages of
//! the interpreter it is made from. The user's environments are never changed.

use std::fs;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest, Sha256};

use super::environment::{EnvironmentError, Found, Interpreter, probe};
use crate::cancel::Cancel;
use crate::process::{self, ProcessError, Spec};

const INSTALL_LIMIT: Duration = Duration::from_mins(10);

/// What to install beside pytest.
#[derive(Debug, Clone, Default)]
pub struct Requirements {
    /// The project itself, as a copy that builds may write to.
    pub project: Option<Utf8PathBuf>,
    /// Requirement strings.
    pub requirements: Vec<String>,
    /// Requirement files inside the copy.
    pub files: Vec<Utf8PathBuf>,
    /// Contents that decide whether an environment can be used again.
    pub fingerprint: String,
}

/// Folder for caches: `XDG_CACHE_HOME/ndbg-agent` or `~/.cache/ndbg-agent`.
pub fn cache_folder() -> Utf8PathBuf {
    let variable = |name: &str| {
        std::env::var(name)
            .ok()
            .filter(|value| !value.is_empty())
            .map(Utf8PathBuf::from)
    };
    variable("NDBG_AGENT_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME").map(|p| p.join("ndbg-agent")))
        .or_else(|| variable("HOME").map(|p| p.join(".cache/ndbg-agent")))
        .unwrap_or_else(|| {
            Utf8PathBuf::from_path_buf(std::env::temp_dir())
                .unwrap_or_else(|_| "/tmp".into())
                .join("ndbg-agent-cache")
        })
}

/// The environment for `interpreter` and `requirements`; made when it is not there. `say` gets a line
/// before anything slow happens.
pub fn environment(
    interpreter: &Interpreter,
    requirements: &Requirements,
    root: &Utf8Path,
    cancel: &Cancel,
    say: &mut dyn FnMut(&str),
) -> Result<Interpreter, EnvironmentError> {
    let failed =
        |what: &str, reason: String| EnvironmentError::Managed(format!("{what}: {reason}"));
    let mut hash = Sha256::new();
    hash.update(interpreter.path.as_str());
    hash.update(interpreter.version());
    hash.update(&requirements.fingerprint);
    for requirement in &requirements.requirements {
        hash.update(requirement);
        hash.update("\n");
    }
    let digest = hash.finalize();
    let digest = digest
        .iter()
        .take(8)
        .fold(0_u64, |all, &byte| all << 8 | u64::from(byte));
    let digest = format!("{digest:016x}");
    let home = cache_folder().join("venvs");
    fs::create_dir_all(&home).map_err(|e| failed(home.as_str(), e.to_string()))?;
    let folder = home.join(format!("py{}-{digest}", interpreter.version()));
    let python = if cfg!(windows) {
        folder.join("Scripts/python.exe")
    } else {
        folder.join("bin/python")
    };
    let ready = folder.join("ndbg-ready");
    // One maker at a time; the lock goes with the file handle.
    let lock = fs::File::create(home.join(format!("{digest}.lock")))
        .map_err(|e| failed("lock", e.to_string()))?;
    lock.lock().map_err(|e| failed("lock", e.to_string()))?;
    if !ready.exists() {
        let _ = fs::remove_dir_all(&folder);
        say(&format!("making an environment with pytest in `{folder}`"));
        // pip does not always clean up behind itself.
        let tmp = tempfile::tempdir_in(&home).map_err(|e| failed(home.as_str(), e.to_string()))?;
        let step = |spec: Spec, what: &str| -> Result<(), EnvironmentError> {
            let spec = spec
                .env("TMPDIR", tmp.path().to_string_lossy())
                .deadline(INSTALL_LIMIT);
            let done = process::run(&spec, cancel).map_err(|e| match e {
                ProcessError::Cancelled => EnvironmentError::Cancelled,
                other => failed(what, other.to_string()),
            })?;
            if done.exit.success() {
                Ok(())
            } else {
                let _ = fs::remove_dir_all(&folder);
                Err(failed(what, done.tail(2)))
            }
        };
        step(
            Spec::new(&interpreter.path, root).args(["-m", "venv", folder.as_str()]),
            "`python -m venv`",
        )?;
        see_parent(interpreter, &folder).map_err(|e| failed("venv", e.to_string()))?;
        let pip = || {
            Spec::new(&python, requirements.project.as_deref().unwrap_or(root)).args([
                "-m",
                "pip",
                "install",
                "-q",
                "--disable-pip-version-check",
                "--no-input",
            ])
        };
        step(pip().arg("pytest"), "`pip install pytest`")?;
        if let Some(project) = &requirements.project {
            say("installing the project and its test requirements");
            step(pip().arg(project), "`pip install` of the project")?;
        }
        if !requirements.requirements.is_empty() {
            step(
                pip().args(&requirements.requirements),
                "`pip install` of the declared test requirements",
            )?;
        }
        for file in &requirements.files {
            step(
                pip().args(["-r", file.as_str()]),
                &format!("`pip install -r {}`", file.file_name().unwrap_or_default()),
            )?;
        }
        fs::write(&ready, "").map_err(|e| failed("venv", e.to_string()))?;
    }
    let found = Found {
        path: python,
        rule: format!(
            "managed environment on top of {} ({})",
            interpreter.path, interpreter.rule
        ),
        explicit: true,
    };
    let mut made = probe(&found, root, cancel)?;
    made.managed = true;
    // The parent's editable installs are seen through its site-packages.
    made.probe
        .editable
        .extend(interpreter.probe.editable.clone());
    Ok(made)
}

/// Lets the new environment import what its parent has installed.
fn see_parent(interpreter: &Interpreter, folder: &Utf8Path) -> std::io::Result<()> {
    let parents: Vec<&Utf8PathBuf> = interpreter
        .probe
        .sys_path
        .iter()
        .filter(|path| path.ends_with("site-packages") || path.ends_with("dist-packages"))
        .collect();
    if parents.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = parents
        .iter()
        .map(|path| format!("import site; site.addsitedir({:?})", path.as_str()))
        .collect();
    let site = if cfg!(windows) {
        folder.join("Lib/site-packages")
    } else {
        let version = &interpreter.probe.version;
        let minor = version.get(1).copied().unwrap_or_default();
        folder.join(format!("lib/python3.{minor}/site-packages"))
    };
    fs::write(site.join("ndbg_parent.pth"), lines.join("\n") + "\n")
}
