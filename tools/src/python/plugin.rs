//! The Python side, embedded: pytest plugin, recorder, warm runner.

use std::fmt::Write as _;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest as _, Sha256};

use super::managed::cache_folder;

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../python/", $name)))),*]
    };
}

/// Name of the plugin for `-p`.
pub const PLUGIN: &str = "ndbg_pytest_plugin";

const FILES: &[(&str, &str)] = embedded![
    "ndbg_angelic.py",
    "ndbg_candidate.py",
    "ndbg_config.py",
    "ndbg_doctests.py",
    "ndbg_effects.py",
    "ndbg_execute.py",
    "ndbg_execute_bind.py",
    "ndbg_execute_branches.py",
    "ndbg_execute_chance.py",
    "ndbg_execute_clock.py",
    "ndbg_execute_compare.py",
    "ndbg_execute_describe.py",
    "ndbg_execute_distance.py",
    "ndbg_execute_goal.py",
    "ndbg_execute_guard.py",
    "ndbg_execute_landlock.py",
    "ndbg_execute_lines.py",
    "ndbg_execute_measure.py",
    "ndbg_execute_module.py",
    "ndbg_execute_problem.py",
    "ndbg_execute_side.py",
    "ndbg_execute_unsteady.py",
    "ndbg_execute_worker.py",
    "ndbg_failure.py",
    "ndbg_foresee.py",
    "ndbg_fuzz.py",
    "ndbg_fuzz_guess.py",
    "ndbg_fuzz_inputs.py",
    "ndbg_fuzz_slice.py",
    "ndbg_fuzz_trial.py",
    "ndbg_grow.py",
    "ndbg_grow_agree.py",
    "ndbg_grow_conditions.py",
    "ndbg_grow_meet.py",
    "ndbg_grow_part.py",
    "ndbg_literal_text.py",
    "ndbg_neutral.py",
    "ndbg_operations.py",
    "ndbg_overlay.py",
    "ndbg_paths.py",
    "ndbg_probe.py",
    "ndbg_process.py",
    "ndbg_pure.py",
    "ndbg_pure_frame.py",
    "ndbg_pytest_plugin.py",
    "ndbg_recorder.py",
    "ndbg_recording.py",
    "ndbg_records.py",
    "ndbg_reimport.py",
    "ndbg_reporting.py",
    "ndbg_runner.py",
    "ndbg_safe_repr.py",
    "ndbg_sample.py",
    "ndbg_selection.py",
    "ndbg_source.py",
    "ndbg_swap.py",
    "ndbg_trace.py",
    "ndbg_trace_activation.py",
    "ndbg_trace_filter.py",
    "ndbg_trace_plan.py",
    "ndbg_trace_script.py",
    "ndbg_trace_snapshot.py",
    "ndbg_trace_source.py",
    "ndbg_trace_stream.py",
    "ndbg_trace_tests.py",
    "ndbg_trace_values.py",
    "ndbg_values.py",
];

/// A folder in the cache that holds the Python side and stays, so that Python compiles it once. Its name holds a
/// digest of the contents.
pub fn shared() -> std::io::Result<Utf8PathBuf> {
    let mut digest = Sha256::new();
    for (name, text) in FILES {
        digest.update(name.as_bytes());
        digest.update(text.as_bytes());
    }
    let mut name = "python-".to_owned();
    for byte in digest.finalize().iter().take(8) {
        let _ = write!(name, "{byte:02x}");
    }
    let folder = cache_folder().join(name);
    if !folder.is_dir() {
        // Whole or not at all; another process may do the same at the same time.
        let made = Utf8PathBuf::from(format!("{folder}.{}", std::process::id()));
        install(&made)?;
        if fs::rename(&made, &folder).is_err() {
            fs::remove_dir_all(&made)?;
        }
    }
    Ok(folder)
}

/// Writes the Python side into `folder`, which goes on `PYTHONPATH`.
pub fn install(folder: &Utf8Path) -> std::io::Result<Utf8PathBuf> {
    fs::create_dir_all(folder)?;
    for (name, text) in FILES {
        fs::write(folder.join(name), text)?;
    }
    Ok(folder.to_owned())
}
