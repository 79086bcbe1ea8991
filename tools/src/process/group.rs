//! A child that leads a process group, and the end of everything that it started.

use std::ffi::OsString;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{Exit, ProcessError, Spec, Streams};

/// Time between SIGTERM and SIGKILL.
pub(super) const GRACE: Duration = Duration::from_millis(500);
/// How long killed strays may take to go.
#[cfg(target_os = "linux")]
const VANISH: Duration = Duration::from_secs(3);
/// Environment variable that marks every child and its descendants.
const MARK: &str = "NDBG_AGENT_CHILD";

/// Variables that children inherit. Everything else stays out, provider keys above all.
const INHERITED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "TEMP",
    "TMP",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "PIP_CERT",
    "PIP_CONFIG_FILE",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "CONDA_PREFIX",
    "CONDA_DEFAULT_ENV",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "SYSTEMROOT",
    "COMSPEC",
    "PATHEXT",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// A child that leads a process group; dropping it kills the group and all strays.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) child: Child,
    program: String,
    mark: String,
    ended: bool,
}

impl Group {
    pub(super) fn spawn(spec: &Spec) -> Result<Self, ProcessError> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let mark = format!(
            "{}-{}",
            std::process::id(),
            COUNTER.fetch_add(1, Ordering::Relaxed)
        );
        let program = spec.program.to_string_lossy().into_owned();
        let mut command = Command::new(&spec.program);
        command
            .args(&spec.args)
            .current_dir(&spec.cwd)
            .env_clear()
            .envs(inherited_environment())
            .envs(spec.env.iter().map(|(k, v)| (k, v)))
            .env(MARK, &mark)
            .stdin(Stdio::piped());
        match spec.streams {
            Streams::Captured => command.stdout(Stdio::piped()).stderr(Stdio::piped()),
            Streams::Shown | Streams::Watched => {
                command.stdout(Stdio::inherit()).stderr(Stdio::inherit())
            }
        };
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn().map_err(|source| ProcessError::Spawn {
            program: program.clone(),
            source,
        })?;
        Ok(Self {
            child,
            program,
            mark,
            ended: false,
        })
    }

    pub(super) fn try_wait(&mut self) -> Result<Option<ExitStatus>, ProcessError> {
        self.child.try_wait().map_err(|source| ProcessError::Wait {
            program: self.program.clone(),
            source,
        })
    }

    /// TERM, then KILL, to the group; then whatever still carries the mark.
    pub(super) fn kill(&mut self) {
        if self.ended {
            return;
        }
        self.ended = true;
        if matches!(self.child.try_wait(), Ok(None)) {
            signal_group(&self.child, false);
            let until = Instant::now() + GRACE;
            while Instant::now() < until && matches!(self.child.try_wait(), Ok(None)) {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        signal_group(&self.child, true);
        let _ = self.child.kill();
        let _ = self.child.wait();
        kill_marked(&self.mark);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The variables of this process that children may see.
fn inherited_environment() -> Vec<(OsString, OsString)> {
    std::env::vars_os()
        .filter(|(name, _)| {
            let name = name.to_string_lossy();
            INHERITED.contains(&name.as_ref()) || name.starts_with("LC_")
        })
        .collect()
}

#[cfg(unix)]
fn signal_group(child: &Child, kill: bool) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let signal = if kill { Signal::KILL } else { Signal::TERM };
        // ESRCH: the group is gone, which is what we want.
        let _ = kill_process_group(pid, signal);
    }
}

#[cfg(not(unix))]
fn signal_group(_child: &Child, _kill: bool) {}

/// Kills what a run that was killed itself left behind: the children of a process that had the
/// number `owner`. Only for numbers that no process has now.
pub(crate) fn kill_children_of_dead(owner: u32) {
    kill_carriers(format!("{MARK}={owner}-").as_bytes());
}

/// Kills every process whose environment carries `mark`.
fn kill_marked(mark: &str) {
    kill_carriers(format!("{MARK}={mark}\0").as_bytes());
}

/// Kills every process whose environment holds `needle`, until none is left: a stray may be forking,
/// and on a busy machine a killed process takes a while to go.
#[cfg(target_os = "linux")]
fn kill_carriers(needle: &[u8]) {
    use rustix::process::{Pid, Signal, kill_process};
    let until = Instant::now() + VANISH;
    while Instant::now() < until {
        let mut found = false;
        let Ok(entries) = std::fs::read_dir("/proc") else {
            return;
        };
        for entry in entries.flatten() {
            let Some(pid) = entry
                .file_name()
                .to_str()
                .and_then(|n| n.parse::<i32>().ok())
            else {
                continue;
            };
            let Ok(environ) = std::fs::read(entry.path().join("environ")) else {
                continue;
            };
            if environ.windows(needle.len()).any(|w| w == needle)
                && let Some(pid) = Pid::from_raw(pid)
            {
                found |= kill_process(pid, Signal::KILL).is_ok();
            }
        }
        if !found {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(not(target_os = "linux"))]
fn kill_carriers(_needle: &[u8]) {}

#[cfg(unix)]
pub(super) fn exit_of(status: ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt;
    status.code().map_or_else(
        || Exit::Signal(status.signal().unwrap_or_default()),
        Exit::Code,
    )
}

#[cfg(not(unix))]
pub(super) fn exit_of(status: ExitStatus) -> Exit {
    Exit::Code(status.code().unwrap_or(-1))
}
