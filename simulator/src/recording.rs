//! A recorded run: events in order, with the values that changed at each.
//!
//! Held in columns, about 40 bytes an event, so that a long run fits in memory. A *frame* is one
//! execution of a function's body; an *activation* is one stretch of a frame between entering and
//! leaving the interpreter: a plain function has one, a generator one per resume. Ids count from 0.

mod builder;
mod history;
mod locals;
mod record;

pub use builder::{Malformed, RecordingBuilder};
pub use history::History;
pub use locals::Locals;
pub use record::{BoundaryKind, Change, CodeFlags, End, Entry, ExitKind, Leave, Record, Structure};

use crate::state::{EventKind, State};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// Position in its table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// An event: its place in the order of the whole run.
    EventId,
    /// An activation, in order of its call.
    ActivationId,
    /// A frame, in order of its call.
    FrameId,
    /// A code object.
    CodeId,
    /// A source file.
    FileId,
    /// A text: a name, a value, a type.
    TextId,
    /// A thread or asyncio task.
    TaskId,
}

/// No event.
const NONE: u32 = u32::MAX;

/// A source file of the recorded program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Name as the interpreter has it, or relative to the project.
    pub name: String,
    /// Its text when it was recorded; none for code without source.
    pub text: Option<String>,
    /// Byte offsets of line starts.
    lines: Vec<u32>,
}

impl File {
    /// A file of `text`. Lines end as Python ends them: `\n`, `\r\n` or `\r`.
    pub fn new(name: String, text: Option<String>) -> Self {
        let lines = text.as_deref().map(line_starts).unwrap_or_default();
        Self { name, text, lines }
    }

    /// Number of lines; none where there is no text.
    pub fn line_count(&self) -> u32 {
        let ends = self
            .text
            .as_deref()
            .is_some_and(|t| t.is_empty() || t.ends_with(['\n', '\r']));
        self.lines.len() as u32 - u32::from(ends)
    }

    /// Text of a one-based line without its end; empty when there is none.
    pub fn line(&self, line: u32) -> &str {
        let Some(text) = self.text.as_deref() else {
            return "";
        };
        let Some(index) = (line as usize).checked_sub(1) else {
            return "";
        };
        let Some(&start) = self.lines.get(index) else {
            return "";
        };
        let end = self
            .lines
            .get(index + 1)
            .map_or(text.len(), |&e| e as usize);
        text[start as usize..end].trim_end_matches(['\r', '\n'])
    }
}

fn line_starts(text: &str) -> Vec<u32> {
    let bytes = text.as_bytes();
    let mut starts = vec![0];
    for (at, &byte) in bytes.iter().enumerate() {
        if byte == b'\n' || (byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
            starts.push(at as u32 + 1);
        }
    }
    starts
}

/// A code object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// Its file.
    pub file: FileId,
    /// Qualified name.
    pub qualname: TextId,
    /// One-based line of its `def`.
    pub first_line: u32,
    /// What kind of code it is.
    pub flags: CodeFlags,
}

/// One stretch of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activation {
    /// The frame.
    pub frame: FrameId,
    /// Nearest recorded caller.
    pub parent: Option<ActivationId>,
    /// The caller's event during which it was called.
    pub parent_event: Option<EventId>,
    /// What it runs.
    pub code: CodeId,
    /// Thread or task.
    pub task: TaskId,
    /// Its call event.
    pub first: EventId,
    /// Its last event so far; a return unless the recording ends earlier.
    pub last: EventId,
    /// How it was entered.
    pub entry: Entry,
}

/// A border between tests, phases or programs: what follows belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boundary {
    /// First event after it.
    pub at: EventId,
    /// What it is a border of.
    pub kind: BoundaryKind,
    /// Node id, phase or id of a program.
    pub name: String,
    /// How the program ended, where the recorder says so.
    pub exit: Option<ExitKind>,
    /// What the recording of the program lacks, if it is not whole.
    pub lacks: Option<String>,
}

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'r> {
    /// Kind.
    pub kind: EventKind,
    /// Activation.
    pub activation: ActivationId,
    /// One-based line.
    pub line: u32,
    /// How a return leaves; none for the other kinds.
    pub leave: Option<Leave>,
    /// What changed since the frame's last event.
    pub changes: &'r [Change],
    /// The value returned or raised.
    pub value: Option<TextId>,
    /// Qualified type of the exception.
    pub exception: Option<TextId>,
}

/// A recorded run.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    texts: Texts,
    files: Vec<File>,
    codes: Vec<Code>,
    tasks: Vec<String>,
    activations: Vec<Activation>,
    frames: u32,
    boundaries: Vec<Boundary>,
    notes: Vec<String>,
    end: Option<End>,
    kinds: Vec<u8>,
    owners: Vec<u32>,
    lines: Vec<u32>,
    /// Where the changes of each event start; values and exceptions lie behind the changes.
    starts: Vec<u32>,
    changes: Vec<Change>,
    previous: Vec<u32>,
    next: Vec<u32>,
}

/// Texts back to back.
#[derive(Debug, Clone, Default)]
struct Texts {
    bytes: String,
    ends: Vec<u32>,
    lossy: Vec<bool>,
}

impl Texts {
    fn push(&mut self, text: &str, lossy: bool) {
        self.bytes.push_str(text);
        self.ends.push(self.bytes.len() as u32);
        self.lossy.push(lossy);
    }

    fn get(&self, id: TextId) -> &str {
        let index = id.index();
        let start = if index == 0 {
            0
        } else {
            self.ends[index - 1] as usize
        };
        &self.bytes[start..self.ends[index] as usize]
    }
}

impl Recording {
    /// Number of events.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// All events in order.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = EventId> + use<> {
        (0..self.len() as u32).map(EventId)
    }

    /// The event with a number, if the recording has it.
    pub fn find_event(&self, number: usize) -> Option<EventId> {
        (number < self.len()).then_some(EventId(number as u32))
    }

    /// An event.
    pub fn event(&self, id: EventId) -> Event<'_> {
        let (kind, leave) = record::unpack_kind(self.kinds[id.index()]);
        let start = self.starts[id.index()] as usize;
        let end = self
            .starts
            .get(id.index() + 1)
            .map_or(self.changes.len(), |&e| e as usize);
        let all = &self.changes[start..end];
        let hidden = match kind {
            EventKind::Return => 1,
            EventKind::Exception => 2,
            EventKind::Call | EventKind::Line => 0,
        };
        let (changes, results) = all.split_at(all.len().saturating_sub(hidden));
        Event {
            kind,
            activation: ActivationId(self.owners[id.index()]),
            line: self.lines[id.index()],
            leave,
            changes,
            value: results.first().and_then(|change| change.value),
            exception: results.get(1).and_then(|change| change.value),
        }
    }

    /// Kind of an event alone.
    pub fn kind(&self, id: EventId) -> EventKind {
        record::unpack_kind(self.kinds[id.index()]).0
    }

    /// A text.
    pub fn text(&self, id: TextId) -> &str {
        self.texts.get(id)
    }

    /// Whether a value's text does not evaluate back to an equal value.
    pub fn is_lossy(&self, id: TextId) -> bool {
        self.texts.lossy[id.index()]
    }

    /// Number of different texts.
    pub fn text_count(&self) -> usize {
        self.texts.ends.len()
    }

    /// Files in order of their ids.
    pub fn files(&self) -> &[File] {
        &self.files
    }

    /// Code objects in order of their ids.
    pub fn codes(&self) -> &[Code] {
        &self.codes
    }

    /// Threads and tasks in order of their ids.
    pub fn tasks(&self) -> &[String] {
        &self.tasks
    }

    /// Activations in order of their calls.
    pub fn activations(&self) -> &[Activation] {
        &self.activations
    }

    /// Number of frames.
    pub fn frame_count(&self) -> usize {
        self.frames as usize
    }

    /// An activation.
    pub fn activation(&self, id: ActivationId) -> &Activation {
        &self.activations[id.index()]
    }

    /// The activation of an event.
    pub fn activation_of(&self, id: EventId) -> &Activation {
        &self.activations[self.owners[id.index()] as usize]
    }

    /// The code that an event runs.
    pub fn code_of(&self, id: EventId) -> &Code {
        &self.codes[self.activation_of(id).code.index()]
    }

    /// The file that an event runs.
    pub fn file_of(&self, id: EventId) -> &File {
        &self.files[self.code_of(id).file.index()]
    }

    /// Qualified name of an activation's function.
    pub fn function(&self, id: ActivationId) -> &str {
        self.text(self.codes[self.activation(id).code.index()].qualname)
    }

    /// The source line of an event, with its indentation.
    pub fn source_line(&self, id: EventId) -> &str {
        self.file_of(id).line(self.lines[id.index()])
    }

    /// Borders in order.
    pub fn boundaries(&self) -> &[Boundary] {
        &self.boundaries
    }

    /// What the recorder wants said.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// How the recording ended; none when the process died before it could say.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// The next event of the same frame, later activations of a generator included.
    pub fn next_in_frame(&self, id: EventId) -> Option<EventId> {
        some(self.next[id.index()])
    }

    /// The event of the same frame before this one.
    pub fn previous_in_frame(&self, id: EventId) -> Option<EventId> {
        some(self.previous[id.index()])
    }

    /// The next event of the same activation.
    pub fn next_in_activation(&self, id: EventId) -> Option<EventId> {
        let next = self.next_in_frame(id)?;
        (self.owners[next.index()] == self.owners[id.index()]).then_some(next)
    }

    /// The event of the same activation before this one.
    pub fn previous_in_activation(&self, id: EventId) -> Option<EventId> {
        let previous = self.previous_in_frame(id)?;
        (self.owners[previous.index()] == self.owners[id.index()]).then_some(previous)
    }

    /// Activations that were called during an event, in order.
    pub fn called_during(&self, id: EventId) -> impl Iterator<Item = ActivationId> + '_ {
        let until = self.next_in_activation(id).map_or(NONE, |next| next.0);
        let from = self.activations.partition_point(|a| a.first <= id);
        self.activations[from..]
            .iter()
            .enumerate()
            .take_while(move |(_, a)| a.first.0 < until)
            .filter(move |(_, a)| a.parent_event == Some(id))
            .map(move |(at, _)| ActivationId((from + at) as u32))
    }

    /// Activations without a recorded caller.
    pub fn roots(&self) -> impl Iterator<Item = ActivationId> + '_ {
        self.activations
            .iter()
            .enumerate()
            .filter(|(_, a)| a.parent.is_none())
            .map(|(at, _)| ActivationId(at as u32))
    }

    /// Number of recorded callers of an event's activation.
    pub fn depth(&self, id: EventId) -> usize {
        let mut depth = 0;
        let mut at = self.activation_of(id).parent;
        while let Some(parent) = at {
            depth += 1;
            at = self.activation(parent).parent;
        }
        depth
    }

    /// Local variables of the event's frame at the event, in the order in which they were bound.
    pub fn locals(&self, id: EventId) -> Locals {
        Locals::at(self, id)
    }

    /// The state at an event as the decision process has it.
    pub fn state(&self, id: EventId) -> State {
        let event = self.event(id);
        let locals = match event.kind {
            EventKind::Call | EventKind::Line => self
                .locals(id)
                .iter()
                .map(|c| {
                    let value = c.value.map_or("", |value| self.text(value));
                    (self.text(c.name).to_owned(), value.to_owned())
                })
                .collect(),
            EventKind::Return | EventKind::Exception => event
                .value
                .map(|value| (String::new(), self.text(value).to_owned()))
                .into_iter()
                .collect(),
        };
        State {
            event: event.kind,
            locals,
            source: self.source_line(id).to_owned(),
        }
    }
}

fn some(id: u32) -> Option<EventId> {
    (id != NONE).then_some(EventId(id))
}
