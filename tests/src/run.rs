//! The program run on a repository, and what holds after every run.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;

use crate::repo::Repo;
use crate::tree::{self, Tree};
use crate::{binary, processes, wait_until};

/// Files of a run directory.
pub const ARTEFACTS: [&str; 5] = [
    "events.jsonl",
    "report.md",
    "report.html",
    "report.json",
    "patch.diff",
];

/// A call of the program that is being put together.
#[derive(Debug)]
#[must_use]
pub struct Call<'r> {
    repo: &'r Repo,
    verb: String,
    run_dir: Utf8PathBuf,
    /// Beside the repository; stdout and stderr go to files that are named after it.
    log: Utf8PathBuf,
    folder: Option<Utf8PathBuf>,
    python: Option<Utf8PathBuf>,
    args: Vec<String>,
    env: Vec<(String, String)>,
    wrapper: Vec<String>,
}

impl<'r> Call<'r> {
    pub(crate) fn new(repo: &'r Repo, verb: &str, run_dir: Utf8PathBuf) -> Self {
        Self {
            repo,
            verb: verb.to_owned(),
            log: run_dir.clone(),
            run_dir,
            folder: None,
            python: None,
            args: Vec::new(),
            env: Vec::new(),
            wrapper: Vec::new(),
        }
    }

    /// Uses another interpreter.
    pub fn python(mut self, python: impl AsRef<Utf8Path>) -> Self {
        self.python = Some(python.as_ref().to_owned());
        self
    }

    /// Leaves the interpreter to the program.
    pub fn no_python(mut self) -> Self {
        self.python = None;
        self
    }

    /// Adds arguments.
    pub fn args<S: AsRef<str>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args
            .extend(args.into_iter().map(|a| a.as_ref().to_owned()));
        self
    }

    /// Asks for a test.
    pub fn test(self, test: &str) -> Self {
        self.args(["--test", test])
    }

    /// Sets a variable of the program.
    pub fn env(mut self, name: &str, value: impl AsRef<str>) -> Self {
        self.env.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Works on a folder of the repository instead of its root.
    pub fn folder(mut self, relative: &str) -> Self {
        self.folder = Some(self.repo.path(relative));
        self
    }

    /// Uses another run directory.
    pub fn run_dir(mut self, path: impl Into<Utf8PathBuf>) -> Self {
        self.run_dir = path.into();
        self
    }

    /// Runs the program through another one.
    pub fn through<S: AsRef<str>>(mut self, wrapper: impl IntoIterator<Item = S>) -> Self {
        self.wrapper = wrapper.into_iter().map(|a| a.as_ref().to_owned()).collect();
        self
    }

    /// The finished command line.
    pub fn command(&self) -> Command {
        let mut command = match self.wrapper.split_first() {
            Some((first, rest)) => {
                let mut command = self.repo.isolated(first);
                command.args(rest).arg(binary::path());
                command
            }
            None => self.repo.isolated(binary::path()),
        };
        command.arg(&self.verb);
        let folder = self.folder.clone().unwrap_or_else(|| self.repo.root());
        command.args(["--repo", folder.as_str()]);
        if self.verb == "fix" {
            command.args(["--out", self.run_dir.as_str()]);
        }
        if let Some(python) = &self.python {
            command.args(["--python", python.as_str()]);
        }
        if self.verb == "fix" {
            // Quick by default: the first plausible patch is verified at once.
            for (option, value) in [
                ("--baseline-runs", "1"),
                ("--max-time", "150"),
                ("--alternatives", "0"),
                ("--jobs", "2"),
            ] {
                if !self.args.iter().any(|a| a == option || a == "--help") {
                    command.args([option, value]);
                }
            }
        }
        command
            .args(&self.args)
            .envs(self.env.iter().map(|(k, v)| (k, v)))
            .current_dir(self.repo.root())
            .stdin(Stdio::null());
        command
    }

    /// Runs the program and checks what holds after every run: the user's tree, index, refs and stash
    /// are what they were, and no worktree, no process and no scratch folder is left.
    pub fn run(self) -> Run<'r> {
        let run = self.start().wait();
        run.check_that_nothing_changed(&[]);
        run
    }

    /// Like [`Self::run`], but for a run that writes `changed` into the tree.
    pub fn run_changing(self, changed: &[&str]) -> Run<'r> {
        let run = self.start().wait();
        run.check_that_nothing_changed(changed);
        run
    }

    /// Starts the program.
    pub fn start(self) -> Running<'r> {
        let before = State::read(self.repo);
        let stdout = self.log.with_extension("stdout");
        let stderr = self.log.with_extension("stderr");
        let mut command = self.command();
        command
            .stdout(fs::File::create(&stdout).unwrap())
            .stderr(fs::File::create(&stderr).unwrap());
        let child = command.spawn().unwrap();
        Running {
            repo: self.repo,
            before,
            child,
            run_dir: self.run_dir,
            stdout,
            stderr,
        }
    }
}

/// A running program.
#[derive(Debug)]
pub struct Running<'r> {
    repo: &'r Repo,
    before: State,
    child: Child,
    run_dir: Utf8PathBuf,
    stdout: Utf8PathBuf,
    stderr: Utf8PathBuf,
}

impl<'r> Running<'r> {
    /// Process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for an event of a type.
    pub fn wait_for_event(&self, kind: &str) {
        wait_until(&format!("a {kind} event"), || {
            read_events(&self.run_dir)
                .iter()
                .any(|event| event["type"] == kind)
        });
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.unwrap(), signal).unwrap();
    }

    /// Waits for the end; a program that does not end within four minutes fails the test.
    pub fn wait(mut self) -> Run<'r> {
        let until = Instant::now() + Duration::from_mins(4);
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break Some(status);
            }
            if Instant::now() > until {
                let _ = self.child.kill();
                let _ = self.child.wait();
                break None;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let stderr = String::from_utf8_lossy(&fs::read(&self.stderr).unwrap()).into_owned();
        let Some(status) = status else {
            panic!("the program did not end within four minutes\n{stderr}");
        };
        Run {
            repo: self.repo,
            before: self.before,
            agent: self.child.id(),
            code: status.code(),
            signal: status.signal(),
            stdout: fs::read(&self.stdout).unwrap(),
            events: read_events(&self.run_dir),
            run_dir: self.run_dir,
            stderr,
        }
    }
}

/// An ended run.
#[derive(Debug)]
pub struct Run<'r> {
    repo: &'r Repo,
    before: State,
    /// Process id that it had.
    pub agent: u32,
    /// Exit code.
    pub code: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
    /// What went to stdout.
    pub stdout: Vec<u8>,
    /// What went to stderr.
    pub stderr: String,
    /// Events of the recording.
    pub events: Vec<Json>,
    /// Run directory.
    pub run_dir: Utf8PathBuf,
}

impl Run<'_> {
    /// Checks the exit code, and that the last event and the artefacts agree with it.
    #[track_caller]
    pub fn ends_with(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "exit code\n{}", self.told());
        let first = self.events.first().map(|event| event["type"].clone());
        assert_eq!(first, Some("run_started".into()), "{}", self.told());
        let last = self.events.last().unwrap();
        assert_eq!(last["type"], "finished", "{}", self.told());
        assert_eq!(last["exit_code"], code, "{}", self.told());
        for name in ARTEFACTS {
            let path = self.run_dir.join(name);
            assert!(path.is_file(), "{name} is missing\n{}", self.told());
        }
        let patch = fs::read(self.run_dir.join("patch.diff")).unwrap();
        assert_eq!(patch.is_empty(), code != 0, "{}", self.told());
        self
    }

    /// Checks that a patch was verified and that stdout is the patch.
    #[track_caller]
    pub fn is_fixed(&self) -> &Self {
        self.ends_with(0);
        let patch = fs::read(self.run_dir.join("patch.diff")).unwrap();
        assert_eq!(self.stdout, patch);
        self
    }

    /// Checks that stderr or a note says something.
    #[track_caller]
    pub fn says(&self, text: &str) -> &Self {
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            plain(&self.stderr).contains(&plain(text)),
            "`{text}` is not said\n{}",
            self.told()
        );
        self
    }

    /// The diff on stdout.
    pub fn diff(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// The first event of a type.
    #[track_caller]
    pub fn event(&self, kind: &str) -> &Json {
        self.events
            .iter()
            .find(|event| event["type"] == kind)
            .unwrap_or_else(|| panic!("no {kind} event\n{}", self.told()))
    }

    /// Everything written to stdout, stderr and the artefacts.
    pub fn everything(&self) -> Vec<u8> {
        let mut all = self.stdout.clone();
        all.extend_from_slice(self.stderr.as_bytes());
        for entry in self.run_dir.read_dir_utf8().into_iter().flatten().flatten() {
            all.extend(fs::read(entry.path()).unwrap_or_default());
        }
        all
    }

    /// For messages: how it went.
    pub fn told(&self) -> String {
        let notes: Vec<String> = self
            .events
            .iter()
            .filter(|event| event["type"] == "note")
            .map(|event| event["text"].to_string())
            .collect();
        format!(
            "exit code {:?}, signal {:?}\n--- stdout\n{}\n--- stderr\n{}\n--- notes\n{}",
            self.code,
            self.signal,
            String::from_utf8_lossy(&self.stdout),
            self.stderr,
            notes.join("\n")
        )
    }

    /// Checks that the run left nothing behind and that only `changed` changed in the tree.
    #[track_caller]
    pub fn check_that_nothing_changed(&self, changed: &[&str]) {
        self.check_that_nothing_is_left();
        let after = State::read(self.repo);
        let differences = tree::differences(&self.before.tree, &after.tree);
        assert_eq!(differences, changed, "the tree changed\n{}", self.told());
        if changed.is_empty() {
            assert_eq!(self.before.git, after.git, "{}", self.told());
        }
    }

    /// Checks that no process, no scratch folder and no worktree is left.
    #[track_caller]
    pub fn check_that_nothing_is_left(&self) {
        let left = processes::children_of(self.agent);
        assert!(left.is_empty(), "left running: {left:?}\n{}", self.told());
        let scratch: Vec<String> = self
            .repo
            .tmp()
            .read_dir_utf8()
            .unwrap()
            .flatten()
            .map(|entry| entry.file_name().to_owned())
            .collect();
        assert!(scratch.is_empty(), "left: {scratch:?}\n{}", self.told());
        let worktrees = self.repo.path(".git/worktrees");
        let registered = worktrees.read_dir_utf8().into_iter().flatten().count();
        assert_eq!(registered, 0, "worktrees are registered\n{}", self.told());
        let escapes = self.stderr.chars().any(|c| c.is_control() && c != '\n');
        assert!(!escapes, "stderr has control characters\n{}", self.told());
    }
}

/// The events recorded so far; the last line may not be whole yet.
fn read_events(run_dir: &Utf8Path) -> Vec<Json> {
    let bytes = fs::read(run_dir.join("events.jsonl")).unwrap_or_default();
    bytes
        .split(|&byte| byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}

/// What a run must not change.
#[derive(Debug)]
struct State {
    tree: Tree,
    git: Vec<(String, Vec<u8>)>,
}

impl State {
    fn read(repo: &Repo) -> Self {
        let mut git = Vec::new();
        if repo.path(".git").is_dir() {
            for name in ["index", "HEAD", "config", "packed-refs", "info/exclude"] {
                let bytes = fs::read(repo.path(".git").join(name)).unwrap_or_default();
                git.push((name.to_owned(), bytes));
            }
            for args in [
                ["status", "--porcelain=v2"].as_slice(),
                &["for-each-ref"],
                &["stash", "list"],
                &["worktree", "list"],
            ] {
                let said = repo.git(args).into_bytes();
                git.push((args.join(" "), said));
            }
        }
        Self {
            tree: tree::read(&repo.root()),
            git,
        }
    }
}
