//! Random well-formed recordings: a list of operations drives a tiny interpreter with two threads,
//! generators, exceptions and calls from any event.

use std::fmt::Write as _;

use ndbg_simulator::recording::{
    ActivationId, BoundaryKind, Change, CodeFlags, CodeId, Entry, ExitKind, FileId, FrameId, Leave,
    Record, Recording, RecordingBuilder, TaskId, TextId,
};
use proptest::prelude::*;

/// What the interpreter does next, on the thread that is on.
#[derive(Debug, Clone)]
pub enum Op {
    Line {
        line: u32,
        changes: Vec<(u32, u32)>,
    },
    Call {
        code: u32,
        arguments: Vec<u32>,
    },
    Resume {
        which: usize,
        changes: Vec<(u32, u32)>,
    },
    Leave {
        yields: bool,
        closes: bool,
        value: u32,
    },
    Raise {
        levels: usize,
        value: u32,
    },
    Switch,
}

/// One operation; the weights make runs deep and long.
fn op() -> impl Strategy<Value = Op> {
    let changes = || prop::collection::vec((0..NAMES, 0..=VALUES), 0..3);
    prop_oneof![
        8 => (1..LINES, changes()).prop_map(|(line, changes)| Op::Line { line, changes }),
        4 => (0..CODES, prop::collection::vec(0..VALUES, 0..3))
            .prop_map(|(code, arguments)| Op::Call { code, arguments }),
        2 => (0..4_usize, changes()).prop_map(|(which, changes)| Op::Resume { which, changes }),
        4 => (proptest::bool::ANY, proptest::bool::ANY, 0..VALUES)
            .prop_map(|(yields, closes, value)| Op::Leave { yields, closes, value }),
        1 => (0..3_usize, 0..VALUES).prop_map(|(levels, value)| Op::Raise { levels, value }),
        1 => Just(Op::Switch),
    ]
}

/// Recordings whose levels all end.
pub fn complete() -> impl Strategy<Value = Recording> {
    prop::collection::vec(op(), 1..120).prop_map(|ops| run(&ops, true, None))
}

/// Recordings that may be cut off in the middle, of programs that may never end.
pub fn maybe_cut() -> impl Strategy<Value = Recording> {
    let exit = prop_oneof![Just(None), Just(Some(ExitKind::Never))];
    (
        prop::collection::vec(op(), 1..120),
        proptest::bool::ANY,
        exit,
    )
        .prop_map(|(ops, complete, exit)| run(&ops, complete, exit))
}

const NAMES: u32 = 5;
const VALUES: u32 = 9;
const LINES: u32 = 6;
const CODES: u32 = 4;
/// Code objects from this one on are generators.
const GENERATORS: u32 = 2;

struct Running {
    activation: u32,
    frame: u32,
    code: u32,
    locals: Vec<(u32, u32)>,
}

#[derive(Default)]
struct Machine {
    builder: RecordingBuilder,
    threads: [Vec<Running>; 2],
    on: usize,
    waiting: Vec<Running>,
    activations: u32,
    frames: u32,
}

fn run(ops: &[Op], complete: bool, exit: Option<ExitKind>) -> Recording {
    let mut machine = Machine::default();
    machine.define();
    for op in ops {
        machine.perform(op);
    }
    if complete {
        for thread in 0..2 {
            machine.on = thread;
            while !machine.threads[thread].is_empty() {
                machine.leave(Leave::Return, 0);
            }
        }
    }
    if let Some(exit) = exit {
        machine.push(Record::Exit(exit, None));
    }
    machine.builder.finish()
}

impl Machine {
    fn push(&mut self, record: Record) {
        self.builder.push(record).unwrap();
    }

    fn define(&mut self) {
        // Values first, then names, then functions: their ids are offsets into this list.
        let values = [
            "0",
            "'a'",
            "'it\\'s'",
            "[1, 2]",
            "{'k': '<|frame_sep|>'}",
            "'\\\\n'",
            "'\"é\"'",
            "'<\\\\|'",
            "''",
        ];
        let names = ["a", "b", "c", "d", "e"];
        let functions = ["main", "f", "g", "h"];
        for text in values
            .iter()
            .chain(&names)
            .chain(&functions)
            .chain(&["ValueError"])
        {
            self.push(Record::Text {
                text: (*text).to_owned(),
                lossy: false,
            });
        }
        let mut text = String::new();
        for code in 0..CODES {
            writeln!(text, "def {}(a, b):", functions[code as usize]).unwrap();
            for line in 1..LINES {
                // Odd lines read alike in all functions.
                let mark = if line % 2 == 1 {
                    String::new()
                } else {
                    code.to_string()
                };
                writeln!(text, "    step{mark}({line})").unwrap();
            }
        }
        self.push(Record::File {
            name: "m.py".to_owned(),
            text: Some(text),
        });
        for code in 0..CODES {
            let flags = if code >= GENERATORS {
                CodeFlags::GENERATOR
            } else {
                CodeFlags::default()
            };
            self.push(Record::Code {
                file: FileId(0),
                qualname: TextId(VALUES + NAMES + code),
                first_line: code * LINES + 1,
                flags,
            });
        }
        self.push(Record::Task("one".to_owned()));
        self.push(Record::Task("two".to_owned()));
        self.push(Record::Boundary {
            kind: BoundaryKind::Function,
            name: "t".to_owned(),
        });
    }

    fn perform(&mut self, op: &Op) {
        match op {
            Op::Switch => self.on = 1 - self.on,
            Op::Call { code, arguments } => {
                let locals = arguments
                    .iter()
                    .enumerate()
                    .map(|(name, &v)| (name as u32, v));
                let running = Running {
                    activation: 0,
                    frame: self.frames,
                    code: *code,
                    locals: locals.collect(),
                };
                self.frames += 1;
                self.enter(running, Entry::Call);
            }
            Op::Resume { which, changes } => {
                if self.waiting.is_empty() {
                    return;
                }
                let mut running = self.waiting.remove(which % self.waiting.len());
                apply(&mut running.locals, changes);
                self.enter(running, Entry::Resume);
            }
            Op::Line { line, changes } => {
                let Some(top) = self.threads[self.on].last_mut() else {
                    return;
                };
                let changes = apply(&mut top.locals, changes);
                let record = Record::Line {
                    activation: ActivationId(top.activation),
                    line: top.code * LINES + 1 + line,
                    changes,
                };
                self.push(record);
            }
            Op::Leave {
                yields,
                closes,
                value,
            } => {
                let how = match (yields, closes) {
                    (true, _) => Leave::Yield,
                    (false, true) => Leave::Close,
                    (false, false) => Leave::Return,
                };
                self.leave(how, *value);
            }
            Op::Raise { levels, value } => {
                self.raise(*value);
                for _ in 0..*levels {
                    self.leave(Leave::Unwind, *value);
                    self.raise(*value);
                }
            }
        }
    }

    fn enter(&mut self, mut running: Running, entry: Entry) {
        running.activation = self.activations;
        self.activations += 1;
        let parent = self.threads[self.on]
            .last()
            .map(|top| ActivationId(top.activation));
        let changes = running
            .locals
            .iter()
            .map(|&(name, value)| change(name, value))
            .collect();
        let line = running.code * LINES + 1;
        self.push(Record::Call {
            frame: FrameId(running.frame),
            parent,
            task: TaskId(self.on as u32),
            code: CodeId(running.code),
            line,
            entry,
            changes,
        });
        self.threads[self.on].push(running);
    }

    fn raise(&mut self, value: u32) {
        let Some(top) = self.threads[self.on].last() else {
            return;
        };
        let record = Record::Exception {
            activation: ActivationId(top.activation),
            line: top.code * LINES + 2,
            kind: TextId(VALUES + NAMES + CODES),
            value: TextId(value),
            changes: Vec::new(),
        };
        self.push(record);
    }

    fn leave(&mut self, how: Leave, value: u32) {
        let Some(top) = self.threads[self.on].pop() else {
            return;
        };
        let generator = top.code >= GENERATORS;
        let leave = match how {
            Leave::Yield | Leave::Close if !generator => Leave::Return,
            other => other,
        };
        self.push(Record::Return {
            activation: ActivationId(top.activation),
            line: top.code * LINES + LINES,
            value: TextId(value),
            leave,
            changes: Vec::new(),
        });
        if leave == Leave::Yield {
            self.waiting.push(top);
        }
    }
}

/// Binds names (the value [`VALUES`] unbinds); the changes that a recorder would write.
fn apply(locals: &mut Vec<(u32, u32)>, changes: &[(u32, u32)]) -> Vec<Change> {
    let before = locals.clone();
    for &(name, value) in changes {
        let at = locals.iter().position(|held| held.0 == name);
        match (at, value < VALUES) {
            (Some(at), true) => locals[at].1 = value,
            (None, true) => locals.push((name, value)),
            (Some(at), false) => drop(locals.remove(at)),
            (None, false) => {}
        }
    }
    let gone = before
        .iter()
        .filter(|(name, _)| !locals.iter().any(|held| held.0 == *name));
    let gone = gone.map(|&(name, _)| change(name, VALUES));
    let bound = locals.iter().filter(|held| !before.contains(held));
    gone.chain(bound.map(|&(name, value)| change(name, value)))
        .collect()
}

fn change(name: u32, value: u32) -> Change {
    Change {
        name: TextId(VALUES + name),
        value: (value < VALUES).then_some(TextId(value)),
        serial: 0,
    }
}
