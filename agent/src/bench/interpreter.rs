//! The interpreter of a benchmark: chosen once, then named to every run.

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tools::Cancel;
use ndbg_tools::python::environment::{self, Interpreter};
use ndbg_tools::python::managed::{self, Requirements};

use crate::fix::stop::Stop;

/// The interpreter by the rules of `fix`, with pytest in a managed environment where it has none.
/// `folder` is where a project's own environment may lie.
pub fn choose(
    explicit: Option<&Utf8Path>,
    folder: Option<&Utf8Path>,
    cancel: &Cancel,
) -> Result<Interpreter, Stop> {
    let root = folder.unwrap_or(Utf8Path::new("/"));
    let folders: Vec<Utf8PathBuf> = folder.map(Utf8Path::to_owned).into_iter().collect();
    let found = environment::discover(explicit, &folders, cancel);
    let (interpreter, _) = environment::choose(&found, root, cancel)?;
    if interpreter.probe.pytest.is_some() {
        return Ok(interpreter);
    }
    let requirements = Requirements::default();
    let mut say = |line: &str| eprintln!("{line}");
    Ok(managed::environment(
        &interpreter,
        &requirements,
        root,
        cancel,
        &mut say,
    )?)
}
