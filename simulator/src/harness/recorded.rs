//! A predicted run in the form of a recorded one, so that whatever walks through recordings walks
//! through predictions.

use std::collections::HashMap;

use super::machine::{Ended, Event, Run};
use super::program::Program;
use crate::recording::{
    ActivationId, Change, CodeFlags, CodeId, End, Entry, ExitKind, FileId, FrameId, Leave,
    Malformed, Record, Recording, RecordingBuilder, TaskId, TextId,
};
use crate::state::EventKind;

/// Makes a recording of a run of `program`, whose file is called `name`.
///
/// # Errors
/// [`Malformed`] only if a run has more states or text than a recording holds.
pub fn recording(program: &Program, run: &Run, name: &str) -> Result<Recording, Malformed> {
    let mut writer = Writer::default();
    writer.builder.push(Record::File {
        name: name.to_owned(),
        text: Some(program.source().to_owned()),
    })?;
    writer.builder.push(Record::Task("main".into()))?;
    for (at, event) in run.events.iter().enumerate() {
        let next = run.events.get(at + 1);
        writer.event(event, run.events.get(at.wrapping_sub(1)), next)?;
    }
    let (exit, truncated) = match &run.ended {
        Ended::Returned(_) => (Some(ExitKind::Normal), None),
        Ended::Raised(..) => (Some(ExitKind::Error), None),
        Ended::Unknown(why) => (None, Some(format!("unknown: {why}"))),
        Ended::Limit(which) => (None, Some(format!("the limit of {which}"))),
    };
    writer.builder.push(Record::End(End {
        events: run.events.len() as u64,
        truncated,
        exit,
        ..End::default()
    }))?;
    Ok(writer.builder.finish())
}

#[derive(Default)]
struct Writer {
    builder: RecordingBuilder,
    texts: HashMap<String, TextId>,
    codes: HashMap<(String, u32), CodeId>,
    /// What each activation's names are bound to.
    bound: Vec<Vec<(String, String)>>,
}

impl Writer {
    fn text(&mut self, text: &str) -> Result<TextId, Malformed> {
        if let Some(&id) = self.texts.get(text) {
            return Ok(id);
        }
        let id = TextId(self.texts.len() as u32);
        self.builder.push(Record::Text {
            text: text.to_owned(),
            lossy: text.contains('?') || text.starts_with('<'),
        })?;
        self.texts.insert(text.to_owned(), id);
        Ok(id)
    }

    fn code(&mut self, function: &str, line: u32) -> Result<CodeId, Malformed> {
        let key = (function.to_owned(), line);
        if let Some(&id) = self.codes.get(&key) {
            return Ok(id);
        }
        let qualname = self.text(function)?;
        let id = CodeId(self.codes.len() as u32);
        self.builder.push(Record::Code {
            file: FileId(0),
            qualname,
            first_line: line,
            flags: CodeFlags::default(),
        })?;
        self.codes.insert(key, id);
        Ok(id)
    }

    fn changes(&mut self, event: &Event) -> Result<Vec<Change>, Malformed> {
        let before = std::mem::take(&mut self.bound[event.activation]);
        let mut changes = Vec::new();
        for (name, value) in &event.locals {
            if !before
                .iter()
                .any(|(held, old)| held == name && old == value)
            {
                changes.push(Change {
                    name: self.text(name)?,
                    value: Some(self.text(value)?),
                    serial: 0,
                });
            }
        }
        for (name, _) in &before {
            if !event.locals.iter().any(|(held, _)| held == name) {
                changes.push(Change {
                    name: self.text(name)?,
                    value: None,
                    serial: 0,
                });
            }
        }
        self.bound[event.activation].clone_from(&event.locals);
        Ok(changes)
    }

    fn event(
        &mut self,
        event: &Event,
        before: Option<&Event>,
        _next: Option<&Event>,
    ) -> Result<(), Malformed> {
        let activation = ActivationId(event.activation as u32);
        let line = event.line;
        if event.kind == EventKind::Call {
            let code = self.code(&event.function, line)?;
            self.bound
                .resize(self.bound.len().max(event.activation + 1), Vec::new());
            let changes = self.changes(event)?;
            return self.builder.push(Record::Call {
                frame: FrameId(event.activation as u32),
                parent: event.caller.map(|caller| ActivationId(caller as u32)),
                task: TaskId(0),
                code,
                line,
                entry: Entry::Call,
                changes,
            });
        }
        let changes = self.changes(event)?;
        let value = event.value.as_deref().unwrap_or("None");
        match event.kind {
            EventKind::Line | EventKind::Call => self.builder.push(Record::Line {
                activation,
                line,
                changes,
            }),
            EventKind::Return => {
                let value = self.text(value)?;
                // The exception that passes is the state before.
                let unwinds = before.is_some_and(|before| {
                    before.kind == EventKind::Exception && before.activation == event.activation
                });
                self.builder.push(Record::Return {
                    activation,
                    line,
                    value,
                    leave: if unwinds {
                        Leave::Unwind
                    } else {
                        Leave::Return
                    },
                    changes,
                })
            }
            EventKind::Exception => {
                let (kind, message) = value.split_once(": ").unwrap_or((value, ""));
                let kind = self.text(kind.trim_end_matches("()"))?;
                let value = self.text(message)?;
                self.builder.push(Record::Exception {
                    activation,
                    line,
                    kind,
                    value,
                    changes,
                })
            }
        }
    }
}
