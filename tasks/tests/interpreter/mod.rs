//! An interpreter with pytest for tests of this crate.

use camino::Utf8Path;
use ndbg_tools::Cancel;
use ndbg_tools::python::environment::{self, Interpreter};
use ndbg_tools::python::managed::{self, Requirements};

/// The interpreter on `PATH`, with pytest in a managed environment where it has none. Says why when
/// there is none, and the test that asks passes without having tested anything.
pub fn with_pytest() -> Option<Interpreter> {
    let cancel = Cancel::default();
    let root = Utf8Path::new("/");
    let found = environment::discover(None, &[], &cancel);
    let made = environment::choose(&found, root, &cancel).and_then(|(interpreter, _)| {
        if interpreter.probe.pytest.is_some() {
            return Ok(interpreter);
        }
        let requirements = Requirements::default();
        managed::environment(&interpreter, &requirements, root, &cancel, &mut |line| {
            eprintln!("{line}");
        })
    });
    match made {
        Ok(interpreter) => Some(interpreter),
        Err(error) => {
            eprintln!("skipped: {error}");
            None
        }
    }
}
