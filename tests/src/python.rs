//! Interpreters and virtual environments for the tests' projects.

use std::fs;
use std::process::Command;
use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};

use crate::binary::target_folder;

/// A virtual environment that is made once and kept in the target folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Venv {
    /// pytest alone.
    Plain,
    /// pytest with xdist, cov, randomly and timeout.
    Plugins,
    /// What editable installs need to be built: no pytest.
    Build,
}

impl Venv {
    /// The environment's interpreter.
    pub fn python(self) -> &'static Utf8Path {
        static PATHS: [OnceLock<Utf8PathBuf>; 3] = [const { OnceLock::new() }; 3];
        PATHS[self as usize].get_or_init(|| self.make())
    }

    fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Plugins => "plugins",
            Self::Build => "build",
        }
    }

    fn packages(self) -> &'static [&'static str] {
        match self {
            Self::Plain => &["pytest"],
            Self::Plugins => &[
                "pytest",
                "pytest-xdist",
                "pytest-cov",
                "pytest-randomly",
                "pytest-timeout",
            ],
            Self::Build => &["setuptools", "wheel"],
        }
    }

    /// Makes the environment unless it is there. Several test programs may want it at a time.
    fn make(self) -> Utf8PathBuf {
        let home = shared_folder();
        let folder = home.join(format!("venv-{}-{}", base_version(), self.name()));
        let python = folder.join("bin/python");
        let ready = folder.join("ready");
        let lock = fs::File::create(folder.with_extension("lock")).unwrap();
        lock.lock().unwrap();
        if !ready.exists() {
            let _ = fs::remove_dir_all(&folder);
            must(Command::new(base()).args(["-m", "venv", folder.as_str()]));
            must(
                Command::new(&python)
                    .args(["-m", "pip", "install", "-q", "--disable-pip-version-check"])
                    .args(self.packages()),
            );
            fs::write(ready, "").unwrap();
        }
        python
    }
}

/// Folder for what all test programs share.
pub fn shared_folder() -> Utf8PathBuf {
    let home = target_folder().join("e2e");
    fs::create_dir_all(&home).unwrap();
    home
}

fn must(command: &mut Command) {
    let done = command.output().unwrap();
    assert!(
        done.status.success(),
        "{command:?} failed; the first run needs venv and a package index\n{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

/// The interpreter that environments are made from: `NDBG_E2E_PYTHON` or `python3`.
pub fn base() -> &'static Utf8Path {
    static BASE: OnceLock<Utf8PathBuf> = OnceLock::new();
    BASE.get_or_init(|| {
        let asked = std::env::var("NDBG_E2E_PYTHON").unwrap_or_else(|_| "python3".into());
        // A shim would need the variables of its version manager, which tests do not pass on.
        let done = Command::new(&asked)
            .args(["-c", "import sys; print(sys.executable)"])
            .output()
            .unwrap_or_else(|error| panic!("`{asked}` is needed: {error}"));
        assert!(done.status.success(), "`{asked}` does not work");
        String::from_utf8(done.stdout).unwrap().trim().into()
    })
}

fn base_version() -> String {
    let script = "import sys; print('.'.join(map(str, sys.version_info[:3])))";
    let done = Command::new(base()).args(["-c", script]).output().unwrap();
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

/// An interpreter of version 3.`minor`, installed by pyenv or on `PATH`.
pub fn of_minor(minor: u32) -> Option<Utf8PathBuf> {
    let home = std::env::var("HOME").unwrap_or_default();
    let versions = Utf8Path::new(&home).join(".pyenv/versions");
    let by_pyenv = versions
        .read_dir_utf8()
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().starts_with(&format!("3.{minor}.")))
        .map(|entry| entry.path().join("bin/python"));
    let by_path = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .filter_map(|folder| Utf8PathBuf::from_path_buf(folder).ok())
        .map(|folder| folder.join(format!("python3.{minor}")))
        .collect::<Vec<_>>();
    by_pyenv.chain(by_path).find(|path| {
        let done = Command::new(path)
            .args(["-c", "import sys; print(sys.version_info[1])"])
            .output();
        done.is_ok_and(|done| {
            done.status.success() && done.stdout == format!("{minor}\n").as_bytes()
        })
    })
}

/// Whether packages can be had: the first answer of the index decides for the whole program.
pub fn has_index() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let done = Command::new(base())
            .args([
                "-m",
                "pip",
                "download",
                "-q",
                "--no-deps",
                "iniconfig",
                "-d",
            ])
            .arg(folder.path())
            .output();
        done.is_ok_and(|done| done.status.success())
    })
}
