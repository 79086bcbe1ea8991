//! How many calls of a pure function a search can execute in a second, on one core.

use std::time::{Duration, Instant};

use ndbg_tools::python::executions::{Call, Executor, Goal, Place, Subject};
use serde::Serialize;

use crate::fix::stop::Stop;
use crate::model::Reality;
use crate::outcome::Outcome;

const FUNCTION: &str =
    "def f(s):\n    if s == 'never':\n        return None\n    return s.strip().upper()\n";
/// Line that no call reaches.
const NEVER: u32 = 3;
/// Calls at once, as a search sends them, and how often.
const BATCH: usize = 192;
const BATCHES: usize = 60;

/// Calls a second, start and verification aside.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Pace {
    /// Results alone are compared.
    pub returns: f64,
    /// Conditions are measured, too.
    pub reaches: f64,
}

/// Measures.
///
/// # Errors
/// No process, or an interruption.
pub fn pace(reality: &Reality) -> Result<Pace, Stop> {
    Ok(Pace {
        returns: rate(&Goal::Returns("'NEVER'".into()), reality)?,
        reaches: rate(&Goal::Reaches(NEVER), reality)?,
    })
}

fn rate(goal: &Goal, reality: &Reality) -> Result<f64, Stop> {
    let runner = &reality.runner;
    let folder = runner.scratch.join("pace");
    let file = folder.join("pace.py");
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&file, FUNCTION))
        .map_err(|error| Stop::new(Outcome::Environment, format!("`{file}`: {error}")))?;
    let place = place(reality);
    let subject = Subject {
        file,
        function: "f".into(),
        root: Some(folder),
    };
    let mut executor = Executor::start(&place, &subject, goal)?;
    let calls: Vec<Call> = (0..BATCH)
        .map(|at| Call {
            receiver: None,
            arguments: format!("' text {at} '"),
        })
        .collect();
    executor.run(&calls)?;
    let started = Instant::now();
    for _ in 0..BATCHES {
        executor.run(&calls)?;
    }
    Ok((BATCH * BATCHES) as f64 / started.elapsed().as_secs_f64())
}

/// Where calls are executed, with the limits of a search.
pub fn place(reality: &Reality) -> Place {
    let runner = &reality.runner;
    Place {
        python: runner.python.clone(),
        plugin: runner.plugin.clone(),
        scratch: runner.scratch.clone(),
        each: Duration::from_millis(50),
        patience: Duration::from_secs(20),
        memory: runner.memory_limit.unwrap_or(1 << 30),
        cancel: runner.cancel.clone(),
    }
}
