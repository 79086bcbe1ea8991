//! What is to happen, as a user writes it.

use camino::Utf8PathBuf;
use ndbg_simulator::literal::{self, Literal};
use ndbg_tools::python::executions::{Goal, Subject, root_of};

use super::score::Aim;
use crate::fix::stop::Stop;
use crate::outcome::Outcome;

/// `FILE.py::f` or `FILE.py::C.m`.
///
/// # Errors
/// Another form, or no such file.
pub fn subject(text: &str) -> Result<Subject, Stop> {
    let wrong = |message: String| {
        Stop::new(Outcome::Usage, message)
            .hint("a target is FILE.py::function or FILE.py::Class.method")
    };
    let Some((file, function)) = text.rsplit_once("::") else {
        return Err(wrong(format!("`{text}` names no function")));
    };
    let function = function.trim().replace("::", ".");
    if function.is_empty() || file.is_empty() {
        return Err(wrong(format!("`{text}` is no target")));
    }
    let (file, class) = match file.split_once("::") {
        Some((file, class)) => (file, Some(class)),
        None => (file, None),
    };
    let path = Utf8PathBuf::from(file);
    if !path.is_file() {
        return Err(wrong(format!("there is no file `{path}`")));
    }
    let path = path.canonicalize_utf8().unwrap_or(path);
    let root = root_of(&path);
    Ok(Subject {
        file: path,
        function: class.map_or(function.clone(), |class| format!("{class}.{function}")),
        root,
    })
}

/// `line 42: x > 3`, or `42: x > 3`.
///
/// # Errors
/// Another form.
pub fn place(text: &str) -> Result<Goal, Stop> {
    let parsed = text.split_once(':').and_then(|(line, predicate)| {
        let line = line.trim();
        let line = line.strip_prefix("line").unwrap_or(line).trim();
        let predicate = predicate.trim();
        Some((line.parse().ok()?, predicate)).filter(|(_, predicate)| !predicate.is_empty())
    });
    let Some((line, predicate)) = parsed else {
        return Err(Stop::new(
            Outcome::Usage,
            format!("`{text}` is no place with a condition"),
        )
        .hint("for example: --where \"line 42: len(stack) > 3\""));
    };
    Ok(Goal::Where {
        line,
        predicate: predicate.to_owned(),
    })
}

/// The literal that is to be returned.
///
/// # Errors
/// The text is no literal.
pub fn value(text: &str) -> Result<Literal, Stop> {
    literal::parse(text.trim()).map_err(|error| {
        Stop::new(
            Outcome::Usage,
            format!("`{text}` is no Python literal: {error}"),
        )
        .hint("texts need quotes: --returns \"'abc'\"")
    })
}

/// How executions are scored.
pub fn aim(goal: &Goal) -> Aim {
    match goal {
        Goal::Returns(text) => literal::parse(text).map_or(Aim::Reported, Aim::Value),
        _ => Aim::Reported,
    }
}

/// The goal in words.
pub fn described(goal: &Goal) -> String {
    match goal {
        Goal::Returns(text) => format!("returns {text}"),
        Goal::Raises(class) => format!("raises {class}"),
        Goal::RaisesAt { class, line } => format!("raises {class} at line {line}"),
        Goal::Reaches(line) => format!("reaches line {line}"),
        Goal::Where { line, predicate } => format!("reaches line {line} where {predicate}"),
        Goal::Differs(other) => format!(
            "differs from {}::{}",
            other.file.file_name().unwrap_or(other.file.as_str()),
            other.function
        ),
        Goal::Any => "runs".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_with_and_without_the_word() {
        for text in [
            "line 42: len(s) > 3",
            "42:len(s) > 3",
            " line42 : len(s) > 3 ",
        ] {
            match place(text).unwrap() {
                Goal::Where { line, predicate } => {
                    assert_eq!((line, predicate.as_str()), (42, "len(s) > 3"));
                }
                other => panic!("{other:?}"),
            }
        }
        for text in ["", "x > 3", "line: x", "line 3:", "line -3: x", "3"] {
            assert!(place(text).is_err(), "{text}");
        }
    }

    #[test]
    fn targets_name_a_file_that_exists_and_a_function() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        std::fs::create_dir_all(root.join("pkg/sub")).unwrap();
        for file in ["pkg/__init__.py", "pkg/sub/__init__.py", "pkg/sub/m.py"] {
            std::fs::write(root.join(file), "").unwrap();
        }
        let file = root.join("pkg/sub/m.py");
        let found = subject(&format!("{file}::C.m")).unwrap();
        assert_eq!(
            (found.function.as_str(), found.root),
            ("C.m", Some(root.clone()))
        );
        assert_eq!(subject(&format!("{file}::C::m")).unwrap().function, "C.m");
        for text in [
            file.to_string(),
            format!("{file}::"),
            "::f".to_owned(),
            format!("{root}/none.py::f"),
        ] {
            assert_eq!(
                subject(&text).unwrap_err().outcome,
                Outcome::Usage,
                "{text}"
            );
        }
    }

    #[test]
    fn values_are_literals() {
        assert!(value(" [1, 'a'] ").is_ok());
        assert!(value("abc").unwrap_err().hint.unwrap().contains("quotes"));
    }
}
