//! What the harness decides on its own: control flow, names, identity, exceptions, and what it leaves
//! unknown. Operations are performed by a few lines of arithmetic, so that no Python is needed.

use std::sync::Mutex;

use ndbg_simulator::grammar::step::{Effect, Operation};
use ndbg_simulator::harness::{
    Answer, Ended, Limits, Operations, Override, Program, Run, recording, run, run_with,
};
use ndbg_simulator::literal::{Literal, parse};
use ndbg_simulator::{EventKind, Unavailable};

/// Performs the operations that these tests need, and counts what it was asked.
#[derive(Default)]
struct Sums {
    asked: Mutex<Vec<String>>,
}

fn int(text: &str) -> i64 {
    text.parse()
        .unwrap_or_else(|_| panic!("`{text}` is no number"))
}

impl Operations for Sums {
    fn perform(&self, operation: &Operation) -> Result<Answer, Unavailable> {
        self.asked
            .lock()
            .unwrap()
            .push(operation.expression.clone());
        let v = &operation.operands;
        let gives = |result: String| Effect::Gives {
            result,
            after: None,
        };
        let truth = |holds: bool| gives(if holds { "True" } else { "False" }.into());
        let effect = match operation.expression.as_str() {
            "v0 + v1" => gives((int(&v[0]) + int(&v[1])).to_string()),
            "v0 - v1" => gives((int(&v[0]) - int(&v[1])).to_string()),
            "v0 * v1" => gives((int(&v[0]) * int(&v[1])).to_string()),
            "v0 % v1" if v[1] == "0" => Effect::Raises {
                kind: "ZeroDivisionError".into(),
                message: "integer modulo by zero".into(),
            },
            "v0 % v1" => gives((int(&v[0]) % int(&v[1])).to_string()),
            "v0 < v1" => truth(int(&v[0]) < int(&v[1])),
            "v0 > v1" => truth(int(&v[0]) > int(&v[1])),
            "v0 == v1" => truth(v[0] == v[1]),
            "range(v0)" => gives(format!("range(0, {})", v[0])),
            "str(v0)" => gives(format!("'{}'", v[0])),
            "len(v0)" => gives(parse(&v[0]).unwrap().len().unwrap().to_string()),
            "v0.append(v1)" => {
                let inner = v[0][1..v[0].len() - 1].to_owned();
                let comma = if inner.is_empty() { "" } else { ", " };
                Effect::Gives {
                    result: "None".into(),
                    after: Some(format!("[{inner}{comma}{}]", v[1])),
                }
            }
            "v0 / v1" => return Err(Unavailable::Unknown("no idea".into())),
            other => panic!("nobody performs `{other}` on {v:?}"),
        };
        Ok(Answer {
            effect,
            log_probability: -0.01,
        })
    }
}

fn ran(source: &str, call: &str) -> Run {
    run(
        &Program::parse(source, call).unwrap(),
        &Sums::default(),
        Limits::default(),
    )
}

fn returns(source: &str, call: &str) -> String {
    match ran(source, call).ended {
        Ended::Returned(value) => value,
        other => panic!("{other:?}"),
    }
}

fn raises(source: &str, call: &str) -> (String, String) {
    match ran(source, call).ended {
        Ended::Raised(kind, message) => (kind, message),
        other => panic!("{other:?}"),
    }
}

fn lines(run: &Run) -> Vec<u32> {
    let lines = run
        .events
        .iter()
        .filter(|event| event.kind == EventKind::Line);
    lines.map(|event| event.line).collect()
}

#[test]
fn loops_go_where_python_goes() {
    let source = "\
def f(n):
    total = 0
    for i in range(n):
        if i == 1:
            continue
        if i == 3:
            break
        total += i
    else:
        total = 100
    while total > 0:
        total -= 1
    return total
";
    let run = ran(source, "f(5)");
    assert_eq!(run.ended, Ended::Returned("0".into()));
    assert_eq!(
        lines(&run),
        [
            2, 3, 4, 6, 8, 3, 4, 5, 3, 4, 6, 8, 3, 4, 6, 7, 11, 12, 11, 12, 11, 13
        ]
    );
    assert!(run.log_probability < -0.1, "every answer counts");
    let first = &run.events[0];
    assert_eq!(
        (first.kind, &first.locals[..]),
        (EventKind::Call, &[("n".into(), "5".into())][..])
    );
    assert_eq!(
        returns(
            "def f(n):\n    for i in range(n):\n        pass\n    else:\n        return 7\n",
            "f(2)"
        ),
        "7"
    );
}

#[test]
fn lines_are_those_that_python_names() {
    use EventKind::{Call, Exception, Line, Return};
    for (source, expected) in [
        (
            "def f():\n    n = 0\n    while True:\n        n += 1\n        if n > 1:\n            break\n    return n\n",
            vec![2, 3, 4, 5, 3, 4, 5, 6, 7],
        ),
        ("def f():\n    if 1 > 0: return 1\n    return 2\n", vec![2]),
        (
            "def f():\n    a = 1; b = 2\n    for x in [1, 2]: y = x\n    return b\n",
            vec![2, 3, 3, 3, 4],
        ),
        ("def f(): return 1\n", vec![1]),
    ] {
        assert_eq!(lines(&ran(source, "f()")), expected, "{source}");
    }
    let source = "\
def f():
    try:
        raise ValueError('a')
    except ValueError as error:
        raise TypeError('b')
    finally:
        x = 1
";
    let run = ran(source, "f()");
    let states: Vec<(EventKind, u32, usize)> = run
        .events
        .iter()
        .map(|event| (event.kind, event.line, event.locals.len()))
        .collect();
    assert_eq!(
        states,
        [
            (Call, 1, 0),
            (Line, 2, 0),
            (Line, 3, 0),
            (Exception, 3, 0),
            (Line, 4, 0),
            (Line, 5, 1),
            (Exception, 5, 1),
            (Line, 7, 0),
            (Return, 7, 1),
        ]
    );
}

#[test]
fn two_names_of_one_list_are_one_list() {
    let source = "\
def f(a):
    b = a
    b.append(2)
    c = [a, a]
    c[0].append(3)
    return a, b is a, c[1] is c[0]
";
    assert_eq!(returns(source, "f([1])"), "([1, 2, 3], True, True)");
    let source = "def f():\n    q = []\n    q.append([])\n    q[0].append(1)\n    return q\n";
    assert_eq!(returns(source, "f()"), "[[1]]");
}

#[test]
fn arguments_are_bound_as_python_binds_them() {
    let source = "def f(a, b=2, *rest, k=3, **more):\n    return a, b, rest, k, more\n";
    assert_eq!(returns(source, "f(1)"), "(1, 2, (), 3, {})");
    assert_eq!(
        returns(source, "f(1, 5, 6, 7, k=8, z=9)"),
        "(1, 5, (6, 7), 8, {'z': 9})"
    );
    assert_eq!(returns(source, "f(*[1, 4])"), "(1, 4, (), 3, {})");
    for (call, message) in [
        ("g()", "g() missing 1 required positional argument: 'a'"),
        (
            "g(1, 2)",
            "g() takes 1 positional argument but 2 were given",
        ),
        ("g(1, a=2)", "g() got multiple values for argument 'a'"),
        ("g(1, b=2)", "g() got an unexpected keyword argument 'b'"),
    ] {
        let expected = ("TypeError".to_owned(), message.to_owned());
        assert_eq!(raises("def g(a):\n    return a\n", call), expected);
    }
    assert_eq!(raises("", "nope(1)").0, "NameError");
}

#[test]
fn exceptions_find_their_handlers() {
    let source = "\
def f(x):
    log = []
    try:
        try:
            log.append(x % 0)
        except (KeyError, IndexError):
            log.append(1)
        finally:
            log.append(2)
    except ArithmeticError as error:
        log.append(3)
        return log, str(error)
    return log
";
    assert_eq!(
        returns(source, "f(4)"),
        "([2, 3], 'integer modulo by zero')"
    );
    assert_eq!(
        raises("def f(d):\n    return d['b']\n", "f({'a': 1})"),
        ("KeyError".into(), "'b'".into())
    );
    assert_eq!(
        raises("def f(xs):\n    return xs[3]\n", "f([1])").1,
        "list index out of range"
    );
    assert_eq!(
        raises("def f():\n    a, b = [1]\n", "f()").1,
        "not enough values to unpack (expected 2, got 1)"
    );
    assert_eq!(
        raises("def f():\n    print(x)\n    x = 1\n", "f()").0,
        "UnboundLocalError"
    );
    let own = "class Low(ValueError):\n    pass\n\n\ndef f():\n    raise Low('by 3')\n";
    assert_eq!(raises(own, "f()"), ("Low".into(), "by 3".into()));
    let caught = own.to_owned()
        + "\n\ndef g():\n    try:\n        f()\n    except ValueError as e:\n        return e.args\n";
    assert_eq!(returns(&caught, "g()"), "('by 3',)");
}

#[test]
fn frames_closures_and_objects_follow_their_scopes() {
    let source = "\
def counter():
    count = 0

    def up(by=1):
        nonlocal count
        count += by
        return count
    return up


class Box:
    size = 4

    def __init__(self, n):
        self.n = n

    @property
    def double(self):
        return self.n * 2

    def grow(self):
        self.n += self.size
        return self


def f():
    up = counter()
    up()
    up(5)
    box = Box(1).grow()
    squares = [i * i for i in range(3) if i > 0]
    return up(), box.double, squares
";
    let run = ran(source, "f()");
    assert_eq!(run.ended, Ended::Returned("(7, 10, [1, 4])".into()));
    let functions: Vec<&str> = run
        .events
        .iter()
        .filter(|event| event.kind == EventKind::Call)
        .map(|event| event.function.as_str())
        .collect();
    assert_eq!(
        functions,
        [
            "f",
            "counter",
            "up",
            "up",
            "Box.__init__",
            "Box.grow",
            "up",
            "Box.double"
        ]
    );
    let inner = run
        .events
        .iter()
        .find(|event| event.function == "Box.grow")
        .unwrap();
    assert_eq!(inner.caller, Some(0));
}

#[test]
fn the_unknown_stays_unknown_and_is_not_asked_about() {
    let source = "def f(x):\n    y = x / 2\n    z = y + 1\n    if x > 3:\n        return [z]\n    if z:\n        return 1\n";
    let sums = Sums::default();
    let program = Program::parse(source, "f(5)").unwrap();
    let unknown = run(&program, &sums, Limits::default());
    assert_eq!(unknown.ended, Ended::Returned("[?]".into()));
    assert_eq!(*sums.asked.lock().unwrap(), ["v0 / v1", "v0 > v1"]);
    let stuck = ran(source, "f(1)");
    assert!(
        matches!(&stuck.ended, Ended::Unknown(why) if why.contains("which way")),
        "{:?}",
        stuck.ended
    );
}

#[test]
fn an_unsure_answer_is_unknown() {
    let program = Program::parse("def f(x):\n    return x + 1\n", "f(5)").unwrap();
    let limits = Limits {
        threshold: 0.995,
        ..Limits::default()
    };
    let ended = run(&program, &Sums::default(), limits).ended;
    assert!(
        matches!(&ended, Ended::Unknown(why) if why.contains("not sure")),
        "{ended:?}"
    );
}

#[test]
fn every_run_ends() {
    for source in [
        "def f():\n    while True:\n        pass\n",
        "def f():\n    return f()\n",
        "def f():\n    xs = [1]\n    for x in xs:\n        xs.append(x)\n",
        "while True:\n    x = 1\n\n\ndef f():\n    pass\n",
    ] {
        let limits = Limits {
            events: 400,
            ..Limits::default()
        };
        let run = run(
            &Program::parse(source, "f()").unwrap(),
            &Sums::default(),
            limits,
        );
        assert!(matches!(run.ended, Ended::Limit(_)), "{source}");
    }
}

#[test]
fn a_variable_that_is_set_by_hand_goes_on_from_there() {
    let source =
        "def f(n):\n    total = 0\n    for i in range(n):\n        total += i\n    return total\n";
    let program = Program::parse(source, "f(3)").unwrap();
    let plain = run(&program, &Sums::default(), Limits::default());
    let at = plain
        .events
        .iter()
        .position(|event| event.line == 4)
        .unwrap();
    let change = Override {
        event: at,
        name: "total".into(),
        value: Literal::Int(100.into()),
    };
    let set = run_with(&program, &Sums::default(), Limits::default(), &[change]);
    assert_eq!(set.events[..at], plain.events[..at]);
    assert!(
        set.events[at]
            .locals
            .contains(&("total".into(), "100".into()))
    );
    assert_eq!(set.ended, Ended::Returned("103".into()));
}

#[test]
fn a_predicted_run_reads_like_a_recorded_one() {
    let source = "def g(x):\n    return x % 0\n\n\ndef f(x):\n    try:\n        g(x)\n    except ZeroDivisionError:\n        x = 'no'\n    return x\n";
    let program = Program::parse(source, "f(1)").unwrap();
    let run = run(&program, &Sums::default(), Limits::default());
    let recording = recording(&program, &run, "f.py").unwrap();
    assert_eq!(recording.len(), run.events.len());
    for (number, event) in run.events.iter().enumerate() {
        let id = recording.find_event(number).unwrap();
        let held = recording.event(id);
        assert_eq!((held.kind, held.line), (event.kind, event.line));
        let locals = recording.locals(id);
        let texts: Vec<(&str, &str)> = locals
            .iter()
            .filter_map(|held| Some((recording.text(held.name), recording.text(held.value?))))
            .collect();
        for (name, value) in &event.locals {
            assert!(texts.contains(&(name, value)), "{name} at {number}");
        }
    }
}
