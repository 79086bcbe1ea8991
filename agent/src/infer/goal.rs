//! What is to happen, as a user writes it.

use camino::Utf8PathBuf;
use ndbg_simulator::literal::{self, Literal};
use ndbg_tools::python::executions::{Goal, Subject, root_of};

use super::missing;
use super::score::Aim;
use super::short::short;
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
        return Err(missing::file(&path));
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
    literal::parse_source(text).map_err(|error| {
        let hint = match text.trim() {
            name @ ("nan" | "inf" | "-inf") => format!("--returns \"float('{name}')\""),
            _ => hint_of(error.reason).to_owned(),
        };
        Stop::new(
            Outcome::Usage,
            format!("`{}` is no Python literal: {error}", short(text)),
        )
        .hint(hint)
    })
}

fn hint_of(reason: &str) -> &'static str {
    match reason {
        "it is a name" => {
            "texts need quotes: --returns \"'abc'\"; there are only literals: --where and --raises \
             say the rest"
        }
        "it calls something" | "it is calculated" => {
            "there are only literals: --where \"line 42: x == …\" and --raises say the rest"
        }
        "it is no expression" => "texts need quotes: --returns \"'abc'\"",
        _ => "",
    }
}

/// The literal of a goal, as a user writes it or as it is recorded.
pub fn wanted(goal: &Goal) -> Option<Literal> {
    match goal {
        Goal::Returns(text) => {
            let recorded = || literal::parse(text);
            literal::parse_source(text).or_else(|_| recorded()).ok()
        }
        _ => None,
    }
}

/// How executions are scored.
pub fn aim(goal: &Goal) -> Aim {
    wanted(goal).map_or(Aim::Reported, Aim::Value)
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
        for (text, hint) in [
            ("abc", "quotes"),
            ("A.B.", "quotes"),
            ("nan", "float('nan')"),
            ("-inf", "float('-inf')"),
            ("Color.RED", "--where"),
            ("date(2024, 1, 1)", "--raises"),
        ] {
            assert!(
                value(text).unwrap_err().hint.unwrap().contains(hint),
                "{text}"
            );
        }
        for text in ["[1, 2", "'abc", "{1: 2"] {
            let stop = value(text).unwrap_err();
            assert_eq!(stop.hint, None, "{text}");
            assert!(stop.message.contains("not closed") || stop.message.contains("no end"));
        }
    }
}
