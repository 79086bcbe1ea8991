//! Found inputs as a test file.

use std::fmt::Write as _;

use camino::Utf8Path;
use ndbg_tools::python::executions::{Goal, Outcome, Subject};

use super::run::{Found, Inferred};
use super::value::REBUILT;

/// A module of tests, one for each found call; nothing if nothing was found.
pub fn test_file(subject: &Subject, goal: &Goal, inferred: &Inferred) -> String {
    let module = module_name(subject);
    let mut text = String::new();
    let raises = matches!(goal, Goal::Raises(_))
        || inferred
            .found
            .iter()
            .any(|found| matches!(expected(goal, found), Outcome::Raised { .. }));
    if inferred.found.is_empty() {
        return text;
    }
    let _ = writeln!(
        text,
        "\"\"\"Inputs with which `{}` {}.\"\"\"\n",
        subject.function, inferred.described
    );
    if raises {
        text.push_str("import pytest\n\n");
    }
    // Calls may name classes of the module, so all of its names are there; `*` leaves some out.
    let mut names = vec![first(subject)];
    for found in &inferred.found {
        if let Outcome::Raised { class, .. } = expected(goal, found)
            && !is_builtin(class)
            && !names.contains(&class.as_str())
        {
            names.push(class.split('.').next().unwrap_or(class));
        }
    }
    let names = names.join(", ");
    let _ = writeln!(text, "from {module} import *\nfrom {module} import {names}");
    if inferred.found.iter().any(|found| rebuilds(&found.call)) {
        text.push_str(REBUILDS);
    }
    for (number, found) in inferred.found.iter().enumerate() {
        let name = subject.function.to_lowercase().replace('.', "_");
        let suffix = if number == 0 {
            String::new()
        } else {
            format!("_{}", number + 1)
        };
        let _ = writeln!(text, "\n\ndef test_{name}{suffix}():");
        match expected(goal, found) {
            Outcome::Raised { class, .. } => {
                let _ = writeln!(
                    text,
                    "    with pytest.raises({class}):\n        {}",
                    found.call
                );
            }
            Outcome::Returned {
                left: Some(left), ..
            } => {
                let _ = writeln!(text, "    # Leaves its arguments as {left}");
                let _ = writeln!(text, "    {}", found.call);
            }
            Outcome::Returned { text: value, .. } if is_plain(value) => {
                let check = match value.as_str() {
                    "None" | "True" | "False" => "is",
                    _ => "==",
                };
                let _ = writeln!(text, "    assert {} {check} {value}", found.call);
            }
            _ => {
                let _ = writeln!(text, "    {}", found.call);
            }
        }
    }
    text
}

/// What makes an object without calling its class.
const REBUILDS: &str = "

def rebuilt(cls, **attributes):
    made = cls.__new__(cls)
    for name, value in attributes.items():
        object.__setattr__(made, name, value)
    return made
";

fn rebuilds(call: &str) -> bool {
    call.contains(&format!("{REBUILT}("))
}

/// What a test expects: of two versions, what the other one does.
fn expected<'f>(goal: &Goal, found: &'f Found) -> &'f Outcome {
    match (goal, &found.other) {
        (Goal::Differs(_), Some(other)) => other,
        _ => &found.outcome,
    }
}

fn is_plain(text: &str) -> bool {
    ndbg_simulator::literal::parse(text).is_ok() && !text.contains("nan") && !text.contains("inf")
}

/// Whether a class of exceptions needs no import, told by its name as Python's own are named.
fn is_builtin(class: &str) -> bool {
    const NAMED: &[&str] = &[
        "Exception",
        "BaseException",
        "StopIteration",
        "StopAsyncIteration",
        "KeyboardInterrupt",
        "SystemExit",
        "GeneratorExit",
        "ArithmeticError",
        "AssertionError",
        "AttributeError",
        "BufferError",
        "EOFError",
        "ImportError",
        "ModuleNotFoundError",
        "LookupError",
        "IndexError",
        "KeyError",
        "MemoryError",
        "NameError",
        "UnboundLocalError",
        "OSError",
        "FileExistsError",
        "FileNotFoundError",
        "IsADirectoryError",
        "NotADirectoryError",
        "PermissionError",
        "TimeoutError",
        "ConnectionError",
        "ReferenceError",
        "RuntimeError",
        "NotImplementedError",
        "RecursionError",
        "SyntaxError",
        "IndentationError",
        "SystemError",
        "TypeError",
        "OverflowError",
        "FloatingPointError",
        "ZeroDivisionError",
        "ValueError",
        "UnicodeError",
        "UnicodeDecodeError",
        "UnicodeEncodeError",
        "UnicodeTranslateError",
        "Warning",
        "UserWarning",
        "DeprecationWarning",
        "RuntimeWarning",
    ];
    NAMED.contains(&class)
}

fn first(subject: &Subject) -> &str {
    subject
        .function
        .split('.')
        .next()
        .unwrap_or(&subject.function)
}

/// The name under which the file is imported.
fn module_name(subject: &Subject) -> String {
    let root = subject.root.as_deref().unwrap_or(Utf8Path::new(""));
    let path = subject.file.strip_prefix(root).unwrap_or(&subject.file);
    let text = path
        .as_str()
        .trim_end_matches(".py")
        .replace(['/', '\\'], ".");
    text.trim_end_matches(".__init__").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(call: &str, outcome: Outcome) -> Found {
        Found {
            call: call.into(),
            outcome,
            other: None,
            runs: 3,
            probability: None,
        }
    }

    fn inferred(found: Vec<Found>) -> Inferred {
        Inferred {
            described: "runs".into(),
            found,
            nearest: None,
            executions: 1,
            seconds: 0.1,
            source: None,
            unsteady: None,
            refused: Vec::new(),
            explained: None,
        }
    }

    #[test]
    fn tests_assert_what_was_seen() {
        let subject = Subject {
            file: "/r/pkg/shop.py".into(),
            function: "Cart.total".into(),
            root: Some("/r".into()),
        };
        let returned = Outcome::Returned {
            text: "None".into(),
            cut: false,
            left: None,
        };
        let raised = Outcome::Raised {
            class: "KeyError".into(),
            message: "'x'".into(),
            line: Some(3),
        };
        let text = test_file(
            &subject,
            &Goal::Any,
            &inferred(vec![
                found("Cart([]).total()", returned),
                found("Cart([1]).total()", raised),
            ]),
        );
        assert!(text.contains("from pkg.shop import Cart\n"), "{text}");
        assert!(
            text.contains("def test_cart_total():\n    assert Cart([]).total() is None\n"),
            "{text}"
        );
        assert!(
            text.contains("def test_cart_total_2():\n    with pytest.raises(KeyError):\n        Cart([1]).total()\n"),
            "{text}"
        );
        assert_eq!(test_file(&subject, &Goal::Any, &inferred(Vec::new())), "");
    }
}
