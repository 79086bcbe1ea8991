//! Patches that pass tests by reaching into what runs them, or into other processes.
//!
//! A bug in a program is mended in the program. Names of the machinery that a file had nothing to do with before are
//! a reason not to believe a patch, whoever proposed it: it could make any test pass, or take the run with it.

/// Modules by their names, and members of modules. What programs use for themselves, `sys.exit` and handlers of
/// signals among it, is not here: it ends or changes the run that is to pass, which is seen.
const MACHINERY: [&str; 26] = [
    "pytest",
    "_pytest",
    "unittest",
    "pluggy",
    "doctest",
    "builtins",
    "__builtins__",
    "sys.modules",
    "sys._getframe",
    "sys._current_frames",
    "sys.settrace",
    "sys.setprofile",
    "sys.excepthook",
    "inspect.stack",
    "inspect.currentframe",
    "gc.get_objects",
    "gc.get_referrers",
    "os._exit",
    "os.kill",
    "os.killpg",
    "os.abort",
    "os.fork",
    "signal.raise_signal",
    "signal.pthread_kill",
    "ctypes",
    "faulthandler",
];

/// The first such name in `after` that `before` does not have.
pub fn tampering(before: &str, after: &str) -> Option<&'static str> {
    MACHINERY
        .into_iter()
        .find(|name| has(after, name) && !has(before, name))
}

/// Whether code names something: as a whole word, in an import or before a dot; of dotted names also their last
/// part after an import of it.
fn has(text: &str, name: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start();
        if let Some((module, member)) = name.rsplit_once('.') {
            if let Some(rest) = line.strip_prefix("from ")
                && let Some((from, names)) = rest.split_once(" import ")
                && from.trim() == module
                && words(names).any(|word| word == member)
            {
                return true;
            }
            return line
                .match_indices(name)
                .any(|(at, _)| is_whole(line, at, name));
        }
        let imports = line
            .strip_prefix("import ")
            .or_else(|| line.strip_prefix("from "))
            .is_some_and(|rest| words(rest).any(|word| word == name))
            || line.contains("__import__") && line.contains(name)
            || line.contains("import_module") && line.contains(name);
        let used = name.starts_with("__")
            && line
                .match_indices(name)
                .any(|(at, _)| is_whole(line, at, name));
        imports || used
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

fn is_whole(line: &str, at: usize, name: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let before = line[..at].chars().next_back();
    let after = line[at + name.len()..].chars().next();
    !before.is_some_and(part) && !after.is_some_and(|c| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_the_tests_is_out_of_reach() {
        for (code, name) in [
            (
                "import _pytest.python as p\np.Function.runtest = None",
                "_pytest",
            ),
            (
                "    import os, signal; os.kill(os.getppid(), signal.SIGKILL)",
                "os.kill",
            ),
            ("from os import _exit as leave", "os._exit"),
            ("__import__('pytest').skip()", "pytest"),
            ("__builtins__['abs'] = None", "__builtins__"),
            ("x = sys.modules['tests']", "sys.modules"),
        ] {
            assert_eq!(tampering("", code), Some(name), "{code}");
        }
    }

    #[test]
    fn ordinary_code_and_what_was_there_before_is_not() {
        for code in [
            "signal = total + 1",
            "return self.signal.send(x)",
            "# see pytest",
            "import mypytest_helper",
            "words.exit()",
            "import signal\nsignal.signal(signal.SIGTERM, stop)",
            "if not path:\n    sys.exit(2)",
        ] {
            assert_eq!(tampering("", code), None, "{code}");
        }
        assert_eq!(tampering("import ctypes\n", "import ctypes\nx = 1"), None);
    }
}
