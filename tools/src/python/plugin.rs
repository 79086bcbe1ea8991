//! The Python side, embedded: pytest plugin, recorder, warm runner.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../python/", $name)))),*]
    };
}

/// Name of the plugin for `-p`.
pub const PLUGIN: &str = "ndbg_pytest_plugin";

const FILES: &[(&str, &str)] = embedded![
    "ndbg_candidate.py",
    "ndbg_config.py",
    "ndbg_doctests.py",
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
    "ndbg_fuzz.py",
    "ndbg_fuzz_guess.py",
    "ndbg_fuzz_inputs.py",
    "ndbg_fuzz_slice.py",
    "ndbg_fuzz_trial.py",
    "ndbg_literal_text.py",
    "ndbg_neutral.py",
    "ndbg_operations.py",
    "ndbg_overlay.py",
    "ndbg_paths.py",
    "ndbg_probe.py",
    "ndbg_process.py",
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

/// Writes the Python side into `folder`, which goes on `PYTHONPATH`.
pub fn install(folder: &Utf8Path) -> std::io::Result<Utf8PathBuf> {
    fs::create_dir_all(folder)?;
    for (name, text) in FILES {
        fs::write(folder.join(name), text)?;
    }
    Ok(folder.to_owned())
}
