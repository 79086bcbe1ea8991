//! A checkout of QuixBugs: forty small programs with a bug of one line each.
//!
//! A task is a program in `python_programs` with `python_testcases/test_<program>.py`. The correct programs
//! are left out of what a tool is given; every test that passes with the correct one must pass.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use ndbg_tools::source::unified_diff;

use super::{FormatError, Read};
use crate::instance::{Instance, Required, Setup, Source};

/// Folders that hold answers, or programs in another language.
const LEFT_OUT: &[&str] = &[
    "correct_python_programs",
    "correct_java_programs",
    "java_programs",
    "java_testcases",
    "solutions",
];

/// Reads all programs with tests.
pub fn read(path: &Utf8Path) -> Result<Read, FormatError> {
    let programs = path.join("python_programs");
    let mut names: Vec<String> = programs
        .read_dir_utf8()
        .map_err(FormatError::io(&programs))?
        .flatten()
        .filter_map(|entry| entry.file_name().strip_suffix(".py").map(str::to_owned))
        .collect();
    names.sort();
    let mut out = Read::default();
    for name in names {
        let test = format!("python_testcases/test_{name}.py");
        if !path.join(&test).is_file() {
            // `node.py`, and scripts that only print.
            continue;
        }
        let file = format!("python_programs/{name}.py");
        let correct = path.join(format!("correct_python_programs/{name}.py"));
        if !correct.is_file() {
            out.unsupported
                .push((name, "has no correct program".into()));
            continue;
        }
        let bytes = |path: Utf8PathBuf| fs::read(&path).map_err(FormatError::io(path));
        let (before, after) = (bytes(path.join(&file))?, bytes(correct)?);
        let diff = unified_diff(Utf8Path::new(&file), &before, &after);
        out.instances.push(Instance {
            repository: "QuixBugs".into(),
            source: Source::Folder {
                path: path.to_owned(),
                left_out: LEFT_OUT.iter().map(Utf8PathBuf::from).collect(),
            },
            targets: vec![test.clone()],
            paths: vec![test],
            required: Required::PassingWithReference,
            setup: Setup::AsIs,
            reference: Some(diff),
            id: name,
            ..Instance::default()
        });
    }
    Ok(out)
}
