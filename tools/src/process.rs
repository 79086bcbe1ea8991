//! The only place that spawns processes.
//!
//! Every child has its own process group, a clean environment, a deadline and capped output. When a
//! child ends, however it ends, its whole group is killed, and so is any descendant that left the
//! group: each child carries a unique mark in its environment by which strays are found.

mod group;

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

use crate::cancel::Cancel;
use group::{GRACE, Group, exit_of};

pub(crate) use group::kill_children_of_dead;

/// How long output is read after the child has ended: a daemonised grandchild may hold the pipe.
const DRAIN: Duration = Duration::from_secs(1);
/// Why a process could not be run.
#[derive(Debug, Error)]
pub enum ProcessError {
    /// It could not be started.
    #[error("cannot start `{program}`: {source}")]
    Spawn {
        /// Program.
        program: String,
        /// Cause.
        source: std::io::Error,
    },
    /// Waiting for it failed.
    #[error("lost track of `{program}`: {source}")]
    Wait {
        /// Program.
        program: String,
        /// Cause.
        source: std::io::Error,
    },
    /// The run was cancelled.
    #[error("interrupted")]
    Cancelled,
}

/// Where the output of a process goes, and where its input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Streams {
    /// Output is kept, input is [`Spec::input`].
    #[default]
    Captured,
    /// Output goes where ours goes, input is ours, passed on.
    Shown,
    /// Output goes where ours goes, input is empty.
    Watched,
}

/// What to run.
#[derive(Debug, Clone)]
pub struct Spec {
    /// Program, looked up in `PATH` when it has no slash.
    pub program: OsString,
    /// Arguments.
    pub args: Vec<OsString>,
    /// Working directory.
    pub cwd: Utf8PathBuf,
    /// Variables on top of the inherited ones.
    pub env: Vec<(String, String)>,
    /// Wall-clock limit.
    pub deadline: Duration,
    /// Bytes kept of each of stdout and stderr; the rest is read and dropped.
    pub output_cap: usize,
    /// Written to the child's stdin, which is then closed.
    pub input: Vec<u8>,
    /// Where its streams lead.
    pub streams: Streams,
}

impl Spec {
    /// Runs `program` in `cwd` with a limit of one minute and 1 MiB of output.
    pub fn new(program: impl AsRef<OsStr>, cwd: impl AsRef<Utf8Path>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            cwd: cwd.as_ref().to_owned(),
            env: Vec::new(),
            deadline: Duration::from_mins(1),
            output_cap: 1 << 20,
            input: Vec::new(),
            streams: Streams::Captured,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args
            .extend(args.into_iter().map(|a| a.as_ref().to_owned()));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// Sets the wall-clock limit.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// With an exit code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// Killed at its deadline.
    TimedOut,
}

impl Exit {
    /// Whether it ended with code 0.
    pub fn success(self) -> bool {
        self == Self::Code(0)
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::TimedOut => f.write_str("time limit"),
        }
    }
}

/// An ended process.
#[derive(Debug, Clone)]
pub struct Finished {
    /// How it ended.
    pub exit: Exit,
    /// Head of its stdout.
    pub stdout: Vec<u8>,
    /// Head of its stderr.
    pub stderr: Vec<u8>,
    /// Wall-clock time.
    pub elapsed: Duration,
}

impl Finished {
    /// Stdout as text, without trailing white space.
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end().to_owned()
    }

    /// The last `lines` non-empty lines of stderr, or of stdout when stderr is empty.
    pub fn tail(&self, lines: usize) -> String {
        let text = if self.stderr.iter().all(u8::is_ascii_whitespace) {
            String::from_utf8_lossy(&self.stdout)
        } else {
            String::from_utf8_lossy(&self.stderr)
        };
        let all: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
        all[all.len().saturating_sub(lines)..].join("\n")
    }
}

/// Keeps other processes of the same user, the code under test above all, from reading this process's
/// memory and environment through `/proc`. Where the system has no such thing, nothing happens.
pub fn shield() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // A kernel that refuses leaves things as they were.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// Runs a process to its end.
pub fn run(spec: &Spec, cancel: &Cancel) -> Result<Finished, ProcessError> {
    run_watched(spec, cancel, || {})
}

/// Like [`run`]; `tick` is called about ten times a second while the process runs.
pub fn run_watched(
    spec: &Spec,
    cancel: &Cancel,
    mut tick: impl FnMut(),
) -> Result<Finished, ProcessError> {
    if cancel.is_set() {
        return Err(ProcessError::Cancelled);
    }
    let started = Instant::now();
    let mut group = Group::spawn(spec)?;
    if let Some(mut stdin) = group.child.stdin.take() {
        // On a thread: a child that never reads must not block us. A terminal is not handed to the
        // child itself, which, not being in its foreground, would be stopped when it reads.
        match spec.streams {
            Streams::Watched => drop(stdin),
            Streams::Captured => {
                let input = spec.input.clone();
                std::thread::spawn(move || stdin.write_all(&input));
            }
            Streams::Shown => {
                std::thread::spawn(move || pass_on(&mut std::io::stdin().lock(), &mut stdin));
            }
        }
    }
    let stdout = read_capped(group.child.stdout.take(), spec.output_cap);
    let stderr = read_capped(group.child.stderr.take(), spec.output_cap);
    let mut pause = Duration::from_millis(1);
    let mut last_tick = Instant::now();
    let exit = loop {
        if let Some(status) = group.try_wait()? {
            break exit_of(status);
        }
        if cancel.is_set() {
            group.kill();
            return Err(ProcessError::Cancelled);
        }
        if started.elapsed() >= spec.deadline {
            group.kill();
            break Exit::TimedOut;
        }
        if last_tick.elapsed() >= Duration::from_millis(100) {
            tick();
            last_tick = Instant::now();
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    };
    let elapsed = started.elapsed();
    group.kill();
    let until = Instant::now() + DRAIN;
    Ok(Finished {
        exit,
        stdout: drain(&stdout, until),
        stderr: drain(&stderr, until),
        elapsed,
    })
}

/// A child that talks over its stdin and stdout, line by line.
#[derive(Debug)]
pub struct Conversation {
    group: Group,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    stderr: Receiver<Vec<u8>>,
}

/// What [`Conversation::receive`] got.
#[derive(Debug)]
pub enum Received {
    /// A line without its ending.
    Line(Vec<u8>),
    /// Nothing within the time given.
    Nothing,
    /// The child closed its stdout.
    Closed,
}

impl Conversation {
    /// Starts the child; `spec.deadline` and `spec.input` are not used.
    pub fn start(spec: &Spec) -> Result<Self, ProcessError> {
        let mut group = Group::spawn(spec)?;
        let stdin = group.child.stdin.take();
        let stdout = group.child.stdout.take();
        let stderr = read_capped(group.child.stderr.take(), spec.output_cap);
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let Some(stdout) = stdout else { return };
            let mut reader = std::io::BufReader::new(stdout);
            loop {
                let mut line = Vec::new();
                match std::io::BufRead::read_until(&mut reader, b'\n', &mut line) {
                    Ok(n) if n > 0 => {
                        while line.last().is_some_and(|b| b"\r\n".contains(b)) {
                            line.pop();
                        }
                        if sender.send(line).is_err() {
                            return;
                        }
                    }
                    _ => return,
                }
            }
        });
        Ok(Self {
            group,
            stdin,
            lines,
            stderr,
        })
    }

    /// Sends a line. Fails when the child is gone.
    pub fn send(&mut self, line: &[u8]) -> std::io::Result<()> {
        let stdin = self
            .stdin
            .as_mut()
            .ok_or_else(|| std::io::Error::from(std::io::ErrorKind::BrokenPipe))?;
        stdin.write_all(line)?;
        stdin.write_all(b"\n")?;
        stdin.flush()
    }

    /// The next line, waiting at most `timeout`.
    pub fn receive(&self, timeout: Duration) -> Received {
        match self.lines.recv_timeout(timeout) {
            Ok(line) => Received::Line(line),
            Err(RecvTimeoutError::Timeout) => Received::Nothing,
            Err(RecvTimeoutError::Disconnected) => Received::Closed,
        }
    }

    /// Ends the child and returns the head of its stderr.
    pub fn finish(mut self) -> Vec<u8> {
        self.stdin = None;
        let until = Instant::now() + GRACE;
        while Instant::now() < until && matches!(self.group.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.group.kill();
        drain(&self.stderr, Instant::now() + DRAIN)
    }
}

/// Reads on a thread, keeps the first `cap` bytes and drops the rest. The receiver gets chunks.
fn read_capped<R: Read + Send + 'static>(stream: Option<R>, cap: usize) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let Some(mut stream) = stream else { return };
        let (mut left, mut buffer) = (cap, vec![0; 16 << 10]);
        while let Ok(n) = stream.read(&mut buffer) {
            if n == 0 {
                return;
            }
            let keep = n.min(left);
            left -= keep;
            if keep > 0 && sender.send(buffer[..keep].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Copies bytes as they come, without waiting for more.
fn pass_on(from: &mut impl Read, to: &mut impl Write) {
    let mut buffer = [0; 4096];
    while let Ok(read) = from.read(&mut buffer) {
        if read == 0
            || to
                .write_all(&buffer[..read])
                .and_then(|()| to.flush())
                .is_err()
        {
            return;
        }
    }
}

fn drain(receiver: &Receiver<Vec<u8>>, until: Instant) -> Vec<u8> {
    let mut out = Vec::new();
    while let Ok(chunk) = receiver.recv_timeout(until.saturating_duration_since(Instant::now())) {
        out.extend(chunk);
    }
    out
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(script: &str) -> Spec {
        Spec::new("sh", "/").arg("-c").arg(script)
    }

    #[test]
    fn output_and_exit_code_come_back() {
        let done = run(&sh("echo out; echo err >&2; exit 3"), &Cancel::default()).unwrap();
        assert_eq!(done.exit, Exit::Code(3));
        assert_eq!(done.stdout, b"out\n");
        assert_eq!(done.tail(1), "err");
    }

    #[test]
    fn a_hanging_process_dies_at_its_deadline_with_its_children() {
        let spec =
            sh("trap '' TERM; sleep 77.25 & sleep 77.25").deadline(Duration::from_millis(200));
        let started = Instant::now();
        assert_eq!(run(&spec, &Cancel::default()).unwrap().exit, Exit::TimedOut);
        assert!(started.elapsed() < Duration::from_secs(5));
        assert!(!alive("77.25"));
    }

    #[test]
    fn a_daemonised_grandchild_is_killed_and_does_not_block_the_drain() {
        let started = Instant::now();
        run(&sh("setsid sleep 78.25 & exit 0"), &Cancel::default()).unwrap();
        assert!(started.elapsed() < Duration::from_secs(5));
        assert!(!alive("78.25"));
    }

    #[test]
    fn output_is_capped() {
        let mut spec = sh("yes | head -c 5000000");
        spec.output_cap = 1000;
        assert_eq!(run(&spec, &Cancel::default()).unwrap().stdout.len(), 1000);
    }

    #[test]
    fn secrets_do_not_reach_children() {
        // `CARGO_MANIFEST_DIR` stands for any variable that is set here and not on the list.
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
        let done = run(&sh("env"), &Cancel::default()).unwrap();
        assert!(!done.stdout_text().contains("CARGO_MANIFEST_DIR"));
        assert!(done.stdout_text().contains("PATH="));
    }

    #[test]
    fn a_conversation_goes_line_by_line() {
        let mut talk = Conversation::start(&Spec::new("cat", "/")).unwrap();
        talk.send(b"hello").unwrap();
        match talk.receive(Duration::from_secs(5)) {
            Received::Line(line) => assert_eq!(line, b"hello"),
            other => panic!("{other:?}"),
        }
        talk.finish();
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = run(&Spec::new("no-such-program", "/"), &Cancel::default()).unwrap_err();
        assert!(error.to_string().contains("no-such-program"));
    }

    fn alive(argument: &str) -> bool {
        std::thread::sleep(Duration::from_millis(50));
        std::fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .flatten()
            .any(|entry| {
                std::fs::read(entry.path().join("cmdline"))
                    .is_ok_and(|line| line.split(|&b| b == 0).any(|a| a == argument.as_bytes()))
            })
    }
}
