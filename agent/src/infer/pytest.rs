//! Found inputs as a test file.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use camino::Utf8Path;
use ndbg_simulator::literal::{self, Literal};
use ndbg_tools::python::executions::{Goal, Outcome, Subject};

use super::exceptions::{is_builtin, is_error};
use super::genes::is_name;
use super::imports::Names;
use super::recorded;
use super::returned::{beginning, class_of, first_object, literal_like, needs_text, readable};
use super::run::{Found, Inferred};
use super::short::short;
use super::spell::{COLLECTED, ran};
use super::used::names;
use super::value::{REBUILT, Value};

/// A module of tests, one for each found call; nothing if nothing was found.
pub fn test_file(subject: &Subject, goal: &Goal, inferred: &Inferred) -> String {
    if inferred.found.is_empty() {
        return String::new();
    }
    let source = std::fs::read_to_string(&subject.file).unwrap_or_default();
    let ground = Ground {
        subject,
        goal,
        inferred,
        module: Names::of(&source),
    };
    let mut tests = String::new();
    let mut used = BTreeSet::new();
    for (number, found) in inferred.found.iter().enumerate() {
        let name = subject.function.to_lowercase().replace('.', "_");
        let suffix = if number == 0 {
            String::new()
        } else {
            format!("_{}", number + 1)
        };
        let test = ground.test(found);
        used.extend(test.names);
        let _ = writeln!(tests, "\n\ndef test_{name}{suffix}():");
        for line in test.lines {
            let _ = writeln!(tests, "    {line}");
        }
    }
    let mut text = format!(
        "\"\"\"Inputs with which `{}` {}.\"\"\"\n\n",
        subject.function,
        documented(&inferred.described)
    );
    if let Goal::Differs(other) = goal {
        let file = other.file.file_name().unwrap_or(other.file.as_str());
        let _ = writeln!(
            text,
            "# Expected values are those of {file}::{}: a test fails as long as the two differ.\n",
            other.function
        );
    }
    text.push_str(&imports(&module_name(subject), &mut used));
    for (name, definition) in [(REBUILT, REBUILDS), ("collected", COLLECTED)] {
        if used.contains(name) {
            let _ = write!(text, "\n\n{definition}");
        }
    }
    if used.contains("given") {
        let _ = write!(text, "\n\n{GIVEN}");
    }
    text + &tests
}

/// What makes an object without calling its class.
const REBUILDS: &str = "\
def rebuilt(cls, **attributes):
    made = cls.__new__(cls)
    for name, value in attributes.items():
        object.__setattr__(made, name, value)
    return made
";

/// Arguments that are looked at after the call.
const GIVEN: &str = "\
def given(*places, **named):
    return list(places), named
";

/// A text within a documentation string.
fn documented(text: &str) -> String {
    short(text).replace('\\', "\\\\").replace('"', "'")
}

/// The imports of these names: of the standard library, of pytest, and of the module, whatever it is called.
fn imports(module: &str, used: &mut BTreeSet<String>) -> String {
    let defined = [REBUILT, "collected", "given"];
    let mut others: Vec<&str> = Vec::new();
    let mut held: Vec<&str> = Vec::new();
    let is_plain = module.split('.').all(is_name);
    for name in used.iter().filter(|name| !defined.contains(&name.as_str())) {
        match name.as_str() {
            "asyncio" | "itertools" | "pytest" => others.push(name),
            _ => held.push(name),
        }
    }
    if !is_plain {
        others.push("importlib");
    }
    others.sort_unstable_by_key(|name| (*name == "pytest", *name));
    let mut text = String::new();
    for name in others {
        if name == "pytest" && !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "import {name}");
    }
    if !text.is_empty() {
        text.push('\n');
    }
    if is_plain {
        let _ = writeln!(text, "from {module} import {}", held.join(", "));
    } else {
        // No name for an import statement.
        let _ = writeln!(text, "_module = importlib.import_module(\"{module}\")");
        for name in held {
            let _ = writeln!(text, "{name} = _module.{name}");
        }
    }
    text
}

/// The body of a test, and the names that it needs.
struct Test {
    lines: Vec<String>,
    names: BTreeSet<String>,
}

impl Test {
    fn of(lines: Vec<String>, expressions: &[&str]) -> Self {
        Self {
            lines,
            names: expressions.iter().flat_map(|text| names(text)).collect(),
        }
    }
}

struct Ground<'a> {
    subject: &'a Subject,
    goal: &'a Goal,
    inferred: &'a Inferred,
    /// Names of the module.
    module: Names,
}

impl Ground<'_> {
    fn test(&self, found: &Found) -> Test {
        let other = match self.goal {
            Goal::Differs(_) => found.other.as_ref(),
            _ => None,
        };
        let call = found.call.as_str();
        match other.unwrap_or(&found.outcome) {
            Outcome::Raised { class, .. } => self.raising(call, class, other.is_some()),
            Outcome::Returned {
                left: Some(left), ..
            } => self.leaving(found, left),
            Outcome::Returned { text, cut, .. } => {
                self.returning(call, text, *cut, other.map(|_| &found.outcome))
            }
            unknown => Self::other_ending(found, unknown),
        }
    }

    fn raising(&self, call: &str, class: &str, exactly: bool) -> Test {
        let root = class.split('.').next().unwrap_or(class);
        let is_named = is_builtin(class) || self.module.has(root);
        // A class of exceptions that the module has no name for is told by its own.
        let base = match (is_named, is_error(class)) {
            (true, _) => class,
            (false, true) => "Exception",
            (false, false) => "BaseException",
        };
        let mut lines = vec![
            format!("with pytest.raises({base}) as raised:"),
            format!("    {call}"),
        ];
        if !is_named || exactly {
            lines.push(format!(
                "assert raised.type.__qualname__ == {}",
                quoted(class)
            ));
        } else {
            lines[0] = format!("with pytest.raises({base}):");
        }
        let mut test = Test::of(lines, &[call]);
        test.names.insert("pytest".into());
        if is_named && !is_builtin(class) {
            test.names.insert(root.to_owned());
        }
        test
    }

    fn returning(&self, call: &str, text: &str, cut: bool, differs: Option<&Outcome>) -> Test {
        let value = literal::parse(&readable(text)).ok().filter(|_| !cut);
        if let Some(value) = value {
            let written = Value::from(value.clone()).to_string();
            let check = if needs_text(&value, differs) {
                format!("assert repr({call}) == repr({written})")
            } else {
                match value {
                    Literal::None | Literal::Bool(_) => format!("assert {call} is {written}"),
                    _ => format!("assert {call} == {written}"),
                }
            };
            return Test::of(vec![check], &[call, &written]);
        }
        let classes = &self.inferred.description.classes;
        let built = recorded::value(text, classes).filter(|_| !cut);
        if let Some(value) = built.filter(|value| !value.to_string().contains(REBUILT)) {
            let written = value.to_string();
            return Test::of(
                vec![format!("assert {call} == {written}")],
                &[call, &written],
            );
        }
        let mut lines = vec![format!("result = {call}")];
        if let Some(start) = beginning(text, cut) {
            let start = quoted(&start);
            lines.push(format!("assert repr(result).startswith({start})"));
        } else if let Some(class) = class_of(text) {
            lines.push(format!(
                "assert type(result).__name__ == {}",
                quoted(&class)
            ));
            for (name, value) in recorded::attributes(text) {
                let value = Value::from(value);
                lines.push(format!("assert result.{name} == {value}"));
            }
        } else if !text.contains('<') && literal_like(text) {
            // What Python's own classes say of themselves.
            lines.push(format!("assert repr(result) == {}", quoted(text)));
        } else {
            lines = vec![format!("# Returns {}", short(text)), call.to_owned()];
        }
        Test::of(lines, &[call])
    }

    /// Two versions that differ in nothing but what they make of their arguments.
    fn leaving(&self, found: &Found, left: &str) -> Test {
        let description = &self.inferred.description;
        let arguments = &found.parts.arguments;
        let name = &self.subject.function;
        let method = name.rsplit('.').next().unwrap_or(name);
        let target = match &found.parts.receiver {
            Some(_) => format!("it.{method}"),
            None => name.clone(),
        };
        let call = ran(description, &format!("{target}(*places, **named)"));
        let mut lines = Vec::new();
        let mut used = vec![call.as_str(), arguments.as_str()];
        if let Some(receiver) = &found.parts.receiver {
            lines.push(format!("it = {receiver}"));
            used.push(receiver);
        }
        lines.push(format!("places, named = given({arguments})"));
        lines.push(call.clone());
        let whole = literal::parse(&readable(left)).ok();
        match (&found.parts.receiver, whole) {
            (None, Some(whole)) => {
                let whole = Value::from(whole);
                lines.push(format!("assert repr((places, named)) == repr({whole})"));
            }
            _ => {
                lines.push(format!("# Leaves its arguments as {}", short(left)));
                let object = left.strip_prefix("([").and_then(first_object).unwrap_or("");
                for (name, value) in recorded::attributes(object) {
                    let value = Value::from(value);
                    lines.push(format!("assert repr(it.{name}) == repr({value})"));
                }
            }
        }
        let given = format!("given({arguments})");
        let mut test = Test::of(lines, &[]);
        test.names.extend(names(&given));
        test.names
            .extend(used.iter().skip(2).flat_map(|text| names(text)));
        test.names.extend(names(&call));
        for local in ["it", "places", "named"] {
            test.names.remove(local);
        }
        test
    }

    /// The other version does not end, or ends its process: a test can say only what this one does not do.
    fn other_ending(found: &Found, other: &Outcome) -> Test {
        let call = found.call.as_str();
        let what = match other {
            Outcome::TooLong => "does not end in time",
            _ => "ends its process",
        };
        let lines = match &found.outcome {
            Outcome::Returned { text, cut, .. } if !cut && literal::parse(text).is_ok() => vec![
                format!("# The other version {what}."),
                format!("assert repr({call}) != repr({})", readable(text)),
            ],
            _ => vec![format!("# It {what}."), call.to_owned()],
        };
        Test::of(lines, &[call])
    }
}

fn quoted(text: &str) -> String {
    Literal::Str(text.to_owned()).to_string()
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
    use ndbg_tools::python::executions::Call;

    use super::super::spell::tests::description;
    use super::*;

    fn found(call: &str, outcome: Outcome) -> Found {
        Found {
            call: call.into(),
            parts: Call {
                receiver: None,
                arguments: String::new(),
            },
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
            limit: None,
            description: description(),
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

    fn returned(text: &str) -> Outcome {
        Outcome::Returned {
            text: text.into(),
            cut: false,
            left: None,
        }
    }

    fn file_of(function: &str, file: &str, goal: &Goal, found: Vec<Found>) -> String {
        let subject = Subject {
            file: file.into(),
            function: function.into(),
            root: Some("/r".into()),
        };
        test_file(&subject, goal, &inferred(found))
    }

    #[test]
    fn all_names_that_a_call_uses_are_imported_from_modules_of_any_name() {
        let found = || vec![found("_f(_Kind.B, [_Pt(1)])", returned("1"))];
        let text = file_of("_f", "/r/shop.py", &Goal::Any, found());
        assert!(text.contains("from shop import _Kind, _Pt, _f\n"), "{text}");
        for file in ["my-mod", "class", "2go"] {
            let text = file_of("_f", &format!("/r/{file}.py"), &Goal::Any, found());
            assert!(text.contains("import importlib\n"), "{text}");
            let line = format!("_module = importlib.import_module(\"{file}\")\n");
            assert!(text.contains(&line), "{text}");
            assert!(text.contains("_Kind = _module._Kind\n"), "{text}");
        }
    }

    #[test]
    fn what_python_takes_for_equal_is_told_apart_by_its_text() {
        let goal = Goal::Differs(Subject {
            file: "/r/old.py".into(),
            function: "f".into(),
            root: None,
        });
        let check = |here: &str, there: &str| {
            let mut one = found("f(1)", returned(here));
            one.other = Some(returned(there));
            let text = file_of("f", "/r/new.py", &goal, vec![one]);
            assert!(
                text.contains("Expected values are those of old.py::f"),
                "{text}"
            );
            text.lines().last().unwrap_or_default().trim().to_owned()
        };
        assert_eq!(check("1", "2"), "assert f(1) == 2");
        assert_eq!(check("1", "1.0"), "assert repr(f(1)) == repr(1.0)");
        assert_eq!(check("1", "True"), "assert repr(f(1)) == repr(True)");
        assert_eq!(check("0.0", "-0.0"), "assert repr(f(1)) == repr(-0.0)");
        assert_eq!(check("[1]", "[1.0]"), "assert repr(f(1)) == repr([1.0])");
        assert_eq!(
            check("1", "nan").to_lowercase(),
            "assert repr(f(1)) == repr(float('nan'))"
        );
        assert_eq!(check("None", "False"), "assert f(1) is False");
    }

    #[test]
    fn exceptions_are_told_by_a_name_that_there_is() {
        let raised = |class: &str| {
            let outcome = Outcome::Raised {
                class: class.into(),
                message: String::new(),
                line: None,
            };
            file_of("f", "/r/m.py", &Goal::Any, vec![found("f(1)", outcome)])
        };
        assert!(raised("KeyError").contains("with pytest.raises(KeyError):\n        f(1)\n"));
        let text = raised("JSONDecodeError");
        assert!(
            text.contains("with pytest.raises(Exception) as raised:\n        f(1)\n    assert raised.type.__qualname__ == 'JSONDecodeError'\n"),
            "{text}"
        );
        assert!(raised("SystemExit").contains("pytest.raises(SystemExit)"));
    }

    #[test]
    fn no_known_value_goes_without_an_assertion() {
        let last = |outcome: &str| {
            let text = file_of(
                "f",
                "/r/m.py",
                &Goal::Any,
                vec![found("f(1)", returned(outcome))],
            );
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            lines[lines.len() - 1].to_owned()
        };
        assert_eq!(last("<Cart owner='Ann'>"), "assert result.owner == 'Ann'");
        assert_eq!(last("<Cart>"), "assert type(result).__name__ == 'Cart'");
        assert_eq!(
            last("datetime.date(2024, 1, 1)"),
            "assert repr(result) == 'datetime.date(2024, 1, 1)'"
        );
        assert_eq!(
            last("[inf, 'inf nan']"),
            "assert f(1) == [float('inf'), 'inf nan']"
        );
    }
}
