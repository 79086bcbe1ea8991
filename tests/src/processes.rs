//! Processes that a run may have left behind.

use std::fs;

/// Processes that the program with process id `agent` started: children carry its id in a variable.
pub fn children_of(agent: u32) -> Vec<(i32, String)> {
    let mark = format!("NDBG_AGENT_CHILD={agent}-").into_bytes();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|n| n.parse::<i32>().ok())
        else {
            continue;
        };
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        let marked = environment
            .split(|&byte| byte == 0)
            .any(|variable| variable.starts_with(&mark));
        if marked {
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            found.push((pid, line));
        }
    }
    found
}

/// Sends SIGKILL to a process.
pub fn kill(pid: i32) {
    use rustix::process::{Pid, Signal, kill_process};
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = kill_process(pid, Signal::KILL);
    }
}
