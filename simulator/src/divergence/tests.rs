//! Small runs, written down as a recorder would.

mod kinds;

use super::*;
use crate::literal;
use crate::recording::{
    Change, CodeFlags, CodeId, Entry, FrameId, Leave, Record, RecordingBuilder, TaskId, TextId,
};

/// Writes a run: `call NAME LINE name=value …`, `line N name=value …`, `return LINE VALUE`; a call within a
/// call belongs to the line before it.
struct Writer {
    builder: RecordingBuilder,
    texts: HashMap<String, TextId>,
    codes: HashMap<String, CodeId>,
    stack: Vec<ActivationId>,
    calls: u32,
}

impl Writer {
    fn text(&mut self, text: &str) -> TextId {
        if let Some(&id) = self.texts.get(text) {
            return id;
        }
        let id = TextId(self.texts.len() as u32);
        self.texts.insert(text.to_owned(), id);
        let text = text.to_owned();
        self.builder
            .push(Record::Text { text, lossy: false })
            .unwrap();
        id
    }

    fn changes(&mut self, parts: &[&str]) -> Vec<Change> {
        parts
            .iter()
            .map(|part| {
                let (name, value) = part.split_once('=').unwrap();
                Change {
                    name: self.text(name),
                    value: Some(self.text(&value.replace('~', " "))),
                    serial: 0,
                }
            })
            .collect()
    }

    fn line(&mut self, line: &str) {
        let parts: Vec<&str> = line.split_whitespace().collect();
        match parts.as_slice() {
            ["call", name, line, rest @ ..] => {
                let qualname = self.text(name);
                let next = CodeId(self.codes.len() as u32);
                let code = *self.codes.entry((*name).to_owned()).or_insert(next);
                if code == next {
                    let file = FileId(0);
                    let first_line = line.parse().unwrap();
                    let flags = CodeFlags(0);
                    self.builder
                        .push(Record::Code {
                            file,
                            qualname,
                            first_line,
                            flags,
                        })
                        .unwrap();
                }
                let changes = self.changes(rest);
                self.builder
                    .push(Record::Call {
                        frame: FrameId(self.calls),
                        parent: self.stack.last().copied(),
                        task: TaskId(0),
                        code,
                        line: line.parse().unwrap(),
                        entry: Entry::Call,
                        changes,
                    })
                    .unwrap();
                self.stack.push(ActivationId(self.calls));
                self.calls += 1;
            }
            ["line", line, rest @ ..] => {
                let changes = self.changes(rest);
                let activation = *self.stack.last().unwrap();
                let line = line.parse().unwrap();
                self.builder
                    .push(Record::Line {
                        activation,
                        line,
                        changes,
                    })
                    .unwrap();
            }
            ["return", line, value, rest @ ..] => {
                let changes = self.changes(rest);
                let value = self.text(&value.replace('~', " "));
                let activation = self.stack.pop().unwrap();
                self.builder
                    .push(Record::Return {
                        activation,
                        line: line.parse().unwrap(),
                        leave: Leave::Return,
                        value,
                        changes,
                    })
                    .unwrap();
            }
            other => panic!("{other:?}"),
        }
    }
}

/// The points behind the first call of a run, which should have returned `needed`.
fn points_of(source: &str, run: &str, needed: &str) -> Vec<Point> {
    let mut writer = Writer {
        builder: RecordingBuilder::new(),
        texts: HashMap::new(),
        codes: HashMap::new(),
        stack: Vec::new(),
        calls: 0,
    };
    let text = Some(source.to_owned());
    writer
        .builder
        .push(Record::File {
            name: "m.py".into(),
            text,
        })
        .unwrap();
    writer.builder.push(Record::Task("main".into())).unwrap();
    for line in run.lines() {
        writer.line(line);
    }
    let recording = writer.builder.finish();
    let program = Program::parse(source, "f()").unwrap();
    let programs = HashMap::from([(FileId(0), program)]);
    let ground = Ground {
        recording: &recording,
        programs: &programs,
        trusted: &HashSet::new(),
        inverse: None,
    };
    let needed = literal::parse(needed).unwrap();
    points(&ground, ActivationId(0), &needed)
}

/// Points as `line part: recorded -> needed [leaf]`.
fn check(source: &str, run: &str, needed: &str, expected: &[&str]) {
    let found: Vec<String> = points_of(source, run, needed)
        .iter()
        .map(|point| {
            let part = match &point.part {
                Part::Returned => "return".to_owned(),
                Part::Variable(name) => name.clone(),
                Part::Argument(name) => format!("argument {name}"),
                Part::Branch => "branch".into(),
                Part::Raised => "exception".into(),
            };
            let leaf = if point.is_leaf { " leaf" } else { "" };
            format!(
                "{} {part}: {} -> {}{leaf}",
                point.line, point.recorded, point.needed
            )
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_value_is_followed_through_assignments_and_operations() {
    check(
        "def f(x):\n    k = 3\n    y = x + k\n    return y * 2\n",
        "call f 1 x=4\nline 2\nline 3 k=3\nline 4 y=7\nreturn 4 14",
        "10",
        &[
            "4 return: 14 -> 10",
            "3 y: 7 -> 5",
            "2 k: 3 -> 1 leaf",
            "1 argument x: 4 -> 2 leaf",
        ],
    );
}

#[test]
fn what_no_value_can_give_is_where_it_parts() {
    check(
        "def f(x):\n    y = x * 2\n    return y * 2\n",
        "call f 1 x=4\nline 2\nline 3 y=8\nreturn 3 16",
        "7",
        &["3 return: 16 -> 7 leaf"],
    );
}

#[test]
fn a_call_is_gone_into() {
    check(
        "def g(a):\n    return a - 1\n\n\ndef f(x):\n    return g(x) + 1\n",
        "call f 5 x=4\nline 6\ncall g 1 a=4\nline 2\nreturn 2 3\nreturn 6 4",
        "6",
        &[
            "6 return: 4 -> 6",
            "2 return: 3 -> 5",
            "1 argument a: 4 -> 6",
            "6 argument a: 4 -> 6",
            "5 argument x: 4 -> 6 leaf",
        ],
    );
}

#[test]
fn the_branch_above_may_be_wrong() {
    check(
        "def f(x):\n    if x < 5:\n        return 'small'\n    return 'large'\n",
        "call f 1 x=4\nline 2\nline 3\nreturn 3 'small'",
        "'large'",
        &[
            "3 return: 'small' -> 'large' leaf",
            "2 branch: True -> False",
            "1 argument x: 4 -> 5 leaf",
        ],
    );
}

#[test]
fn loops_are_walked_back_through() {
    check(
        "def f(xs):\n    total = 0\n    for x in xs:\n        total -= x\n    return total\n",
        "call f 1 xs=[1,~2]\nline 2\nline 3 total=0\nline 4 x=1\nline 3 total=-1\nline 4 x=2\n\
         line 3 total=-3\nline 5\nreturn 5 -3",
        "3",
        &[
            "5 return: -3 -> 3",
            "4 total: -3 -> 3",
            "4 total: -1 -> 5",
            "3 x: 2 -> -4",
            "1 argument xs: [1, 2] -> another value leaf",
            "2 total: 0 -> 6 leaf",
            "3 x: 1 -> -5",
        ],
    );
}

#[test]
fn an_item_of_a_container_is_followed_alone() {
    check(
        "def f(d):\n    d['a'] = 1\n    d['b'] = 2\n    return d\n",
        "call f 1 d={}\nline 2\nline 3 d={'a':~1}\nline 4 d={'a':~1,~'b':~2}\nreturn 4 {'a':~1,~'b':~2}",
        "{'a': 5, 'b': 2}",
        &[
            "4 return: {'a': 1, 'b': 2} -> {'a': 5, 'b': 2}",
            "2 d: {'a': 1} -> {'a': 5, 'b': 2} leaf",
        ],
    );
}

#[test]
fn what_is_built_up_goes_wrong_where_it_is_first_no_beginning_of_what_was_needed() {
    check(
        "def f(xs):\n    out = []\n    for x in xs:\n        if x >= 2:\n            out.append(x)\n    return out\n",
        "call f 1 xs=[1,~2,~3]\nline 2\nline 3 out=[]\nline 4 x=1\nline 3\nline 4 x=2\nline 5\nline 3 out=[2]\n\
         line 4 x=3\nline 5\nline 3 out=[2,~3]\nline 6\nreturn 6 [2,~3]",
        "[3]",
        &[
            "6 return: [2, 3] -> [3]",
            "5 out: [2] -> [3]",
            "4 branch: True -> False",
            "3 x: 2 -> 3",
            "1 argument xs: [1, 2, 3] -> another value leaf",
            "3 x: 2 -> 1",
        ],
    );
}

#[test]
fn what_a_function_changed_is_followed_into_it() {
    check(
        "def fill(d):\n    d['a'] = 1\n\n\ndef f():\n    d = {}\n    fill(d)\n    return d\n",
        "call f 5\nline 6\nline 7 d={}\ncall fill 1 d={}\nline 2\nreturn 2 None d={'a':~1}\nline 8 d={'a':~1}\n\
         return 8 {'a':~1}",
        "{'a': 5}",
        &[
            "8 return: {'a': 1} -> {'a': 5}",
            "7 d: {'a': 1} -> {'a': 5}",
            "2 d: {'a': 1} -> {'a': 5} leaf",
        ],
    );
}
