//! A small repository in a folder of its own, with a home, a cache and a temporary folder beside it.

use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use crate::python::Venv;
use crate::run::Call;

/// A repository.
#[derive(Debug)]
pub struct Repo {
    _folder: TempDir,
    base: Utf8PathBuf,
    calls: AtomicUsize,
}

impl Repo {
    /// A git repository with one commit of `files`.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let repo = Self::without_git(files);
        repo.git(&["init", "-q", "-b", "main"]);
        repo.commit();
        repo
    }

    /// A folder of files.
    pub fn without_git(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("ndbg-e2e-")
            .tempdir()
            .unwrap();
        let base = Utf8Path::from_path(folder.path())
            .unwrap()
            .canonicalize_utf8()
            .unwrap();
        for name in ["shop", "home", "tmp"] {
            fs::create_dir(base.join(name)).unwrap();
        }
        let identity = "[user]\n\tname = Ada\n\temail = ada@example.org\n\
                        [protocol \"file\"]\n\tallow = always\n";
        fs::write(base.join("home/.gitconfig"), identity).unwrap();
        let repo = Self {
            _folder: folder,
            base,
            calls: AtomicUsize::new(0),
        };
        for (path, text) in files {
            repo.write(path, text.as_bytes());
        }
        repo
    }

    /// The usual repository: [`crate::BUGGY`] as `calc.py` with [`crate::TEST`].
    pub fn buggy() -> Self {
        Self::new(&[("calc.py", crate::BUGGY), ("test_calc.py", crate::TEST)])
    }

    /// Top of the work tree.
    pub fn root(&self) -> Utf8PathBuf {
        self.base.join("shop")
    }

    /// A path outside the work tree that lives as long as the repository.
    pub fn outside(&self, name: &str) -> Utf8PathBuf {
        self.base.join(name)
    }

    /// `TMPDIR` of the program.
    pub fn tmp(&self) -> Utf8PathBuf {
        self.base.join("tmp")
    }

    /// A path in the work tree.
    pub fn path(&self, relative: &str) -> Utf8PathBuf {
        self.root().join(relative)
    }

    /// Writes a file in the work tree.
    pub fn write(&self, relative: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Reads a file of the work tree.
    pub fn read(&self, relative: &str) -> Vec<u8> {
        fs::read(self.path(relative)).unwrap()
    }

    /// Commits everything.
    pub fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "work"]);
    }

    /// Runs git in the work tree; it must succeed.
    pub fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.root(), args)
    }

    /// Runs git in a folder; it must succeed.
    pub fn git_in(&self, folder: &Utf8Path, args: &[&str]) -> String {
        let done = self.isolated("git").current_dir(folder).args(args).output();
        let done = done.unwrap();
        assert!(
            done.status.success(),
            "git {args:?}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// A command that sees nothing of the developer's own settings.
    pub fn isolated(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.base.join("home"))
            .env("TMPDIR", self.tmp())
            .env("LC_ALL", "C.UTF-8")
            .env("NDBG_AGENT_CACHE", self.base.join("cache"))
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        command
    }

    /// `ndbg-agent fix` on this repository, with pytest, one baseline run unless more are asked for,
    /// and small limits.
    pub fn fix(&self) -> Call<'_> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let call = Call::new(self, "fix", self.base.join(format!("run-{number}")));
        call.python(Venv::Plain.python())
    }

    /// Any verb, without arguments.
    pub fn call(&self, verb: &str) -> Call<'_> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        Call::new(self, verb, self.base.join(format!("run-{number}")))
    }

    /// A fresh clone of the base with `diff` applied by git, and the exit code of its tests.
    pub fn tests_pass_with(&self, diff: &[u8], python: &Utf8Path, args: &[&str]) -> bool {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let clone = self.base.join(format!("clone-{number}"));
        self.git_in(
            &self.base,
            &["clone", "-q", self.root().as_str(), clone.as_str()],
        );
        let patch = self.base.join(format!("clone-{number}.diff"));
        fs::write(&patch, diff).unwrap();
        self.git_in(&clone, &["apply", patch.as_str()]);
        let done = self
            .isolated(python)
            .current_dir(&clone)
            .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
            .args(args)
            .output()
            .unwrap();
        done.status.success()
    }
}
