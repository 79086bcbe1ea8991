//! Makes a recording out of records, one at a time, checking every reference.

use thiserror::Error;

use super::record::pack_kind;
use super::{
    Activation, ActivationId, Boundary, Change, Code, Entry, EventId, File, FrameId, Leave, NONE,
    Record, Recording, TextId,
};
use crate::state::EventKind;

/// A record that does not fit those before it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Malformed {
    /// It refers to something that was never defined.
    #[error("unknown {what} {id}")]
    Unknown {
        /// Kind of thing.
        what: &'static str,
        /// Its id.
        id: u32,
    },
    /// It belongs to an activation that was left.
    #[error("event of activation {0}, which was left before")]
    Left(u32),
    /// There are more events than ids.
    #[error("more than {NONE} events")]
    TooMany,
    /// There is more text than a recording holds.
    #[error("more than 4 GiB of text")]
    TooMuchText,
}

/// Builds a [`Recording`].
#[derive(Debug, Default)]
pub struct RecordingBuilder {
    recording: Recording,
    /// Last event of each frame.
    last: Vec<u32>,
}

impl RecordingBuilder {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for a number of events that is known beforehand, so that columns are not moved
    /// while they grow.
    pub fn reserve(&mut self, events: usize) {
        let recording = &mut self.recording;
        recording.kinds.reserve_exact(events);
        recording.owners.reserve_exact(events);
        recording.lines.reserve_exact(events);
        recording.starts.reserve_exact(events);
        recording.changes.reserve(events);
        recording.previous.reserve_exact(events);
        recording.next.reserve_exact(events);
    }

    /// Events so far.
    pub fn len(&self) -> usize {
        self.recording.len()
    }

    /// Whether there is no event yet.
    pub fn is_empty(&self) -> bool {
        self.recording.is_empty()
    }

    /// Adds a record; on an error nothing is added.
    pub fn push(&mut self, record: Record) -> Result<(), Malformed> {
        let recording = &mut self.recording;
        match record {
            Record::File { name, text } => recording.files.push(File::new(name, text)),
            Record::Code {
                file,
                qualname,
                first_line,
                flags,
            } => {
                check("file", file.0, recording.files.len())?;
                self.check_text(qualname)?;
                self.recording.codes.push(Code {
                    file,
                    qualname,
                    first_line,
                    flags,
                });
            }
            Record::Text { text, lossy } => {
                if recording.texts.bytes.len() + text.len() > u32::MAX as usize {
                    return Err(Malformed::TooMuchText);
                }
                recording.texts.push(&text, lossy);
            }
            Record::Task(name) => recording.tasks.push(name),
            Record::Boundary { kind, name } => {
                let at = EventId(recording.len() as u32);
                recording.boundaries.push(Boundary {
                    at,
                    kind,
                    name,
                    exit: None,
                    lacks: None,
                });
            }
            Record::Exit(kind, lacks) => {
                if let Some(last) = recording.boundaries.last_mut() {
                    last.exit = Some(kind);
                    last.lacks = lacks;
                }
            }
            Record::Note(note) => recording.notes.push(note),
            Record::End(end) => recording.end = Some(end),
            Record::Call {
                frame,
                parent,
                task,
                code,
                line,
                entry,
                changes,
            } => {
                check("code", code.0, recording.codes.len())?;
                check("task", task.0, recording.tasks.len())?;
                if let Some(parent) = parent {
                    check("activation", parent.0, recording.activations.len())?;
                }
                match entry {
                    Entry::Call if frame.0 != recording.frames => {
                        return Err(unknown("frame", frame.0));
                    }
                    Entry::Resume => check("frame", frame.0, recording.frames as usize)?,
                    Entry::Call => {}
                }
                self.check_event(&changes)?;
                if entry == Entry::Call {
                    self.recording.frames += 1;
                    self.last.push(NONE);
                }
                let at = EventId(self.recording.len() as u32);
                let parent_event = parent.map(|id| self.recording.activation(id).last);
                let owner = ActivationId(self.recording.activations.len() as u32);
                self.recording.activations.push(Activation {
                    frame,
                    parent,
                    parent_event,
                    code,
                    task,
                    first: at,
                    last: at,
                    entry,
                });
                self.add(EventKind::Call, None, owner, line, &changes, &[]);
            }
            Record::Line {
                activation,
                line,
                changes,
            } => {
                self.check_owner(activation)?;
                self.check_event(&changes)?;
                self.add(EventKind::Line, None, activation, line, &changes, &[]);
            }
            Record::Return {
                activation,
                line,
                value,
                leave,
                changes,
            } => {
                self.check_owner(activation)?;
                self.check_event(&changes)?;
                self.check_text(value)?;
                self.add(
                    EventKind::Return,
                    Some(leave),
                    activation,
                    line,
                    &changes,
                    &[value],
                );
            }
            Record::Exception {
                activation,
                line,
                kind,
                value,
                changes,
            } => {
                self.check_owner(activation)?;
                self.check_event(&changes)?;
                self.check_text(value)?;
                self.check_text(kind)?;
                self.add(
                    EventKind::Exception,
                    None,
                    activation,
                    line,
                    &changes,
                    &[value, kind],
                );
            }
        }
        Ok(())
    }

    /// The recording so far.
    pub fn finish(mut self) -> Recording {
        let recording = &mut self.recording;
        recording.texts.bytes.shrink_to_fit();
        recording.texts.ends.shrink_to_fit();
        recording.texts.lossy.shrink_to_fit();
        recording.activations.shrink_to_fit();
        recording.kinds.shrink_to_fit();
        recording.owners.shrink_to_fit();
        recording.lines.shrink_to_fit();
        recording.starts.shrink_to_fit();
        recording.changes.shrink_to_fit();
        recording.previous.shrink_to_fit();
        recording.next.shrink_to_fit();
        self.recording
    }

    /// The recording so far, to look at while it grows.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    fn check_text(&self, id: TextId) -> Result<(), Malformed> {
        check("text", id.0, self.recording.text_count())
    }

    fn check_owner(&self, id: ActivationId) -> Result<(), Malformed> {
        check("activation", id.0, self.recording.activations.len())?;
        let last = self.recording.activation(id).last;
        // Only the newest activation of a frame runs: after a resume, the events of one before it
        // would interleave with its own and no order of them would be a tree.
        let FrameId(frame) = self.recording.activation(id).frame;
        let newest = self.last[frame as usize] == last.0;
        if self.recording.kind(last) == EventKind::Return || !newest {
            return Err(Malformed::Left(id.0));
        }
        Ok(())
    }

    fn check_event(&self, changes: &[Change]) -> Result<(), Malformed> {
        if self.recording.len() >= NONE as usize - 1 {
            return Err(Malformed::TooMany);
        }
        for change in changes {
            self.check_text(change.name)?;
            if let Some(value) = change.value {
                self.check_text(value)?;
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        kind: EventKind,
        leave: Option<Leave>,
        owner: ActivationId,
        line: u32,
        changes: &[Change],
        results: &[TextId],
    ) {
        let recording = &mut self.recording;
        let at = recording.len() as u32;
        let FrameId(frame) = recording.activation(owner).frame;
        let previous = std::mem::replace(&mut self.last[frame as usize], at);
        if previous != NONE {
            recording.next[previous as usize] = at;
        }
        recording.activations[owner.index()].last = EventId(at);
        recording.kinds.push(pack_kind(kind, leave));
        recording.owners.push(owner.0);
        recording.lines.push(line);
        recording.starts.push(recording.changes.len() as u32);
        recording.changes.extend_from_slice(changes);
        recording
            .changes
            .extend(results.iter().map(|&value| Change {
                name: TextId(NONE),
                value: Some(value),
                serial: 0,
            }));
        recording.previous.push(previous);
        recording.next.push(NONE);
    }
}

fn unknown(what: &'static str, id: u32) -> Malformed {
    Malformed::Unknown { what, id }
}

fn check(what: &'static str, id: u32, count: usize) -> Result<(), Malformed> {
    if (id as usize) < count {
        Ok(())
    } else {
        Err(unknown(what, id))
    }
}
