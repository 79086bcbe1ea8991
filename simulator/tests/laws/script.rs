//! Recordings written by hand: one call a record, the caller is whoever runs.

use ndbg_simulator::recording::{
    ActivationId, BoundaryKind, Change, CodeFlags, CodeId, End, Entry, ExitKind, FileId, FrameId,
    Leave, Record, Recording, RecordingBuilder, TaskId, TextId,
};

/// Builds a recording of a file.
#[derive(Default)]
pub struct Script {
    builder: RecordingBuilder,
    stack: Vec<(ActivationId, CodeId, FrameId)>,
    frames: u32,
}

impl Script {
    /// Code objects are named with the line of their `def`.
    pub fn new(text: &str, codes: &[(&str, u32)]) -> Self {
        let mut script = Self::default();
        let name = "m.py".to_owned();
        let text = Some(text.to_owned());
        script.push(Record::File { name, text });
        script.push(Record::Task("main".to_owned()));
        for &(name, first_line) in codes {
            let qualname = script.text(name);
            let flags = CodeFlags::default();
            let file = FileId(0);
            script.push(Record::Code {
                file,
                qualname,
                first_line,
                flags,
            });
        }
        script
    }

    pub fn push(&mut self, record: Record) {
        self.builder.push(record).unwrap();
    }

    fn text(&mut self, text: &str) -> TextId {
        let recording = self.builder.recording();
        let count = recording.text_count() as u32;
        let known = (0..recording.text_count() as u32)
            .map(TextId)
            .find(|&id| recording.text(id) == text);
        known.unwrap_or_else(|| {
            let id = TextId(count);
            self.push(Record::Text {
                text: text.to_owned(),
                lossy: false,
            });
            id
        })
    }

    /// `-` as a value unbinds the name.
    fn changes(&mut self, changes: &[(&str, &str)]) -> Vec<Change> {
        let mut out = Vec::new();
        for &(name, value) in changes {
            let name = self.text(name);
            let value = (value != "-").then(|| self.text(value));
            out.push(Change {
                name,
                value,
                serial: 0,
            });
        }
        out
    }

    fn enter(mut self, code: u32, frame: Option<FrameId>, locals: &[(&str, &str)]) -> Self {
        let changes = self.changes(locals);
        let entry = if frame.is_some() {
            Entry::Resume
        } else {
            Entry::Call
        };
        let frame = frame.unwrap_or(FrameId(self.frames));
        self.frames += u32::from(entry == Entry::Call);
        let recording = self.builder.recording();
        let line = recording.codes()[code as usize].first_line;
        let id = ActivationId(recording.activations().len() as u32);
        let parent = self.stack.last().map(|top| top.0);
        let code = CodeId(code);
        self.push(Record::Call {
            frame,
            parent,
            task: TaskId(0),
            code,
            line,
            entry,
            changes,
        });
        self.stack.push((id, code, frame));
        self
    }

    pub fn call(self, code: u32, locals: &[(&str, &str)]) -> Self {
        self.enter(code, None, locals)
    }

    pub fn resume(self, code: u32, frame: u32, locals: &[(&str, &str)]) -> Self {
        self.enter(code, Some(FrameId(frame)), locals)
    }

    pub fn line(mut self, line: u32, changes: &[(&str, &str)]) -> Self {
        let changes = self.changes(changes);
        let activation = self.stack.last().unwrap().0;
        self.push(Record::Line {
            activation,
            line,
            changes,
        });
        self
    }

    pub fn leave(mut self, line: u32, value: &str, leave: Leave) -> Self {
        let value = self.text(value);
        let activation = self.stack.pop().unwrap().0;
        self.push(Record::Return {
            activation,
            line,
            value,
            leave,
            changes: Vec::new(),
        });
        self
    }

    pub fn returns(self, line: u32, value: &str) -> Self {
        self.leave(line, value, Leave::Return)
    }

    pub fn raises(mut self, line: u32, value: &str, changes: &[(&str, &str)]) -> Self {
        let kind = self.text("ValueError");
        let value = self.text(value);
        let changes = self.changes(changes);
        let activation = self.stack.last().unwrap().0;
        self.push(Record::Exception {
            activation,
            line,
            kind,
            value,
            changes,
        });
        self
    }

    /// Leaves without a record of it, as when the tracer was removed.
    pub fn lose(mut self) -> Self {
        self.stack.pop();
        self
    }

    /// Something that was called after its caller's last event, by the caller still.
    pub fn called_by(mut self, activation: u32, code: u32) -> Self {
        let (id, code_of, frame) = (ActivationId(activation), CodeId(code), FrameId(0));
        self.stack.push((id, code_of, frame));
        let mut script = self.call(code, &[]);
        let top = script.stack.pop().unwrap();
        script.stack.pop();
        script.stack.push(top);
        script
    }

    pub fn boundary(mut self, name: &str, exit: Option<ExitKind>) -> Self {
        self.push(Record::Boundary {
            kind: BoundaryKind::Function,
            name: name.to_owned(),
        });
        if let Some(exit) = exit {
            self.push(Record::Exit(exit, None));
        }
        self
    }

    pub fn truncated(mut self) -> Self {
        let truncated = Some("limit".to_owned());
        self.push(Record::End(End {
            truncated,
            ..End::default()
        }));
        self
    }

    pub fn into_builder(self) -> RecordingBuilder {
        self.builder
    }

    pub fn finish(self) -> Recording {
        self.builder.finish()
    }
}

/// The worked example: counts a letter in a word.
pub const COUNT: &str = "\
def count(s, t):
    n = 0
    for c in s:
        n += c == t
    return n
def main(): return count('ab', 'b')
";

pub fn count() -> Recording {
    Script::new(COUNT, &[("main", 6), ("count", 1)])
        .call(0, &[])
        .line(6, &[])
        .call(1, &[("s", "'ab'"), ("t", "'b'")])
        .line(2, &[])
        .line(3, &[("n", "0")])
        .line(4, &[("c", "'a'")])
        .line(3, &[])
        .line(4, &[("c", "'b'")])
        .line(3, &[("n", "1")])
        .line(5, &[])
        .returns(5, "1")
        .returns(6, "1")
        .finish()
}
