//! Reads the raw stream of the Python recorder, for fixtures only: anything unexpected panics.

use ndbg_simulator::recording::{
    ActivationId, BoundaryKind, Change, CodeFlags, CodeId, End, Entry, ExitKind, FileId, FrameId,
    Leave, Record, Recording, RecordingBuilder, TaskId, TextId,
};
use serde_json::Value;

pub fn read(stream: &str) -> Recording {
    let mut builder = RecordingBuilder::new();
    for line in stream.lines() {
        if let Some(record) = record(line) {
            builder
                .push(record)
                .unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }
    builder.finish()
}

fn record(line: &str) -> Option<Record> {
    let (letter, rest) = line.split_once(' ').unwrap();
    let fields: Vec<&str> = rest.split(' ').collect();
    let number = |at: usize| fields[at].parse::<u32>().unwrap();
    let text = || serde_json::from_str::<String>(rest).unwrap();
    Some(match letter {
        "H" => return None,
        "F" => {
            let file: Value = serde_json::from_str(rest).unwrap();
            let field = |name: &str| file[name].as_str().map(str::to_owned);
            Record::File {
                name: field("name").unwrap(),
                text: field("text"),
            }
        }
        "K" => Record::Code {
            file: FileId(number(0)),
            qualname: TextId(number(1)),
            first_line: number(2),
            flags: CodeFlags::parse(fields[3]).unwrap(),
        },
        "S" | "L" => Record::Text {
            text: text(),
            lossy: letter == "L",
        },
        "T" => Record::Task(text()),
        "N" => Record::Note(text()),
        "B" => {
            let (kind, name) = rest.split_once(' ').unwrap();
            let kind = if kind == "test" {
                BoundaryKind::Test
            } else {
                BoundaryKind::Phase
            };
            Record::Boundary {
                kind,
                name: serde_json::from_str(name).unwrap(),
            }
        }
        "X" => Record::Exit(
            match rest {
                "normal" => ExitKind::Normal,
                "error" => ExitKind::Error,
                "never" => ExitKind::Never,
                other => panic!("exit {other}"),
            },
            None,
        ),
        "E" => Record::End(serde_json::from_str::<End>(rest).unwrap()),
        "c" => Record::Call {
            frame: FrameId(number(1)),
            parent: (fields[2] != "-").then(|| ActivationId(number(2))),
            task: TaskId(number(3)),
            code: CodeId(number(4)),
            line: number(5),
            entry: if fields[6] == "r" {
                Entry::Resume
            } else {
                Entry::Call
            },
            changes: changes(&fields[7..]),
        },
        "l" => Record::Line {
            activation: ActivationId(number(0)),
            line: number(1),
            changes: changes(&fields[2..]),
        },
        "r" => Record::Return {
            activation: ActivationId(number(0)),
            line: number(1),
            value: TextId(number(2)),
            leave: match fields[3] {
                "r" => Leave::Return,
                "y" => Leave::Yield,
                "u" => Leave::Unwind,
                "k" => Leave::Close,
                other => panic!("leave {other}"),
            },
            changes: changes(&fields[4..]),
        },
        "x" => Record::Exception {
            activation: ActivationId(number(0)),
            line: number(1),
            kind: TextId(number(2)),
            value: TextId(number(3)),
            changes: changes(&fields[4..]),
        },
        other => panic!("record {other}"),
    })
}

fn changes(fields: &[&str]) -> Vec<Change> {
    let change = |field: &&str| {
        let (name, value) = field.split_once('=').unwrap();
        let (value, serial) = value.split_once('#').unwrap_or((value, "0"));
        Change {
            name: TextId(name.parse().unwrap()),
            value: (value != "-").then(|| TextId(value.parse().unwrap())),
            serial: serial.parse().unwrap(),
        }
    };
    fields.iter().map(change).collect()
}
