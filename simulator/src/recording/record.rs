//! The records a recording is made of, in the order in which they are written.

use serde::{Deserialize, Serialize};

use super::{ActivationId, CodeId, FileId, FrameId, TaskId, TextId};
use crate::state::EventKind;

/// How an activation is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// A call; the first activation of its frame.
    Call,
    /// A generator or coroutine goes on.
    Resume,
}

/// How an activation is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    /// A value is returned.
    Return,
    /// A generator yields, or a coroutine waits.
    Yield,
    /// An exception passes through.
    Unwind,
    /// A generator is closed.
    Close,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitKind {
    /// It returned.
    Normal,
    /// An exception left it.
    Error,
    /// It did not end within its limit.
    Never,
}

/// What a boundary separates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoundaryKind {
    /// Tests, by node id.
    Test,
    /// Phases of a test: `setup`, `call`, `teardown`.
    Phase,
    /// Programs or functions, by id.
    Function,
}

/// What kind of code a code object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CodeFlags(pub u8);

impl CodeFlags {
    const LETTERS: [char; 7] = ['g', 'c', 'a', 'l', 'm', 'k', 'o'];
    /// A generator.
    pub const GENERATOR: Self = Self(1);
    /// A coroutine.
    pub const COROUTINE: Self = Self(2);
    /// An asynchronous generator.
    pub const ASYNC_GENERATOR: Self = Self(4);
    /// A lambda.
    pub const LAMBDA: Self = Self(8);
    /// The body of a module.
    pub const MODULE: Self = Self(16);
    /// The body of a class.
    pub const CLASS: Self = Self(32);
    /// Code without source.
    pub const OPAQUE: Self = Self(64);

    /// Whether all of `other` is set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// From the letters of the raw stream; none for an unknown letter.
    pub fn parse(letters: &str) -> Option<Self> {
        if letters == "-" {
            return Some(Self::default());
        }
        let mut bits = 0;
        for letter in letters.chars() {
            let at = Self::LETTERS.iter().position(|&l| l == letter)?;
            bits |= 1 << at;
        }
        Some(Self(bits))
    }
}

/// A name that is bound to another text than at the frame's last event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The name.
    pub name: TextId,
    /// Its value; none when it is not bound any more.
    pub value: Option<TextId>,
    /// Identity of a mutable object, from 1; 0 for values without. Two names with one serial are
    /// aliases.
    pub serial: u32,
}

/// How a recording ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct End {
    /// Events that the recorder wrote.
    #[serde(default)]
    pub events: u64,
    /// Why it stopped before the program did.
    #[serde(default)]
    pub truncated: Option<String>,
    /// What was not recorded, by reason.
    #[serde(default)]
    pub dropped: std::collections::BTreeMap<String, u64>,
    /// How the program ended.
    #[serde(default)]
    pub exit: Option<ExitKind>,
    /// Digests of the path that the run took, where the recorder could tell.
    #[serde(default)]
    pub structure: Option<Structure>,
}

/// Digests of a run's path: equal for two runs that made the same calls, and ran the same lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Structure {
    /// Of the calls.
    pub calls: String,
    /// Of the lines.
    pub lines: String,
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// The next file.
    File {
        /// Name.
        name: String,
        /// Text, when it is known.
        text: Option<String>,
    },
    /// The next code object.
    Code {
        /// File.
        file: FileId,
        /// Qualified name.
        qualname: TextId,
        /// One-based line of its `def`.
        first_line: u32,
        /// Kind.
        flags: CodeFlags,
    },
    /// The next text.
    Text {
        /// The text.
        text: String,
        /// Whether it does not evaluate back to an equal value.
        lossy: bool,
    },
    /// The next thread or task.
    Task(String),
    /// A border.
    Boundary {
        /// What it separates.
        kind: BoundaryKind,
        /// Node id, phase or id of a program.
        name: String,
    },
    /// How the program of the last boundary ended, and what its recording lacks, if it is not whole.
    Exit(ExitKind, Option<String>),
    /// The next activation begins.
    Call {
        /// Its frame; that of the first activation for a resume.
        frame: FrameId,
        /// Nearest recorded caller.
        parent: Option<ActivationId>,
        /// Thread or task.
        task: TaskId,
        /// Code.
        code: CodeId,
        /// One-based line.
        line: u32,
        /// How it is entered.
        entry: Entry,
        /// All locals.
        changes: Vec<Change>,
    },
    /// A line is about to run.
    Line {
        /// Activation.
        activation: ActivationId,
        /// One-based line.
        line: u32,
        /// Changes.
        changes: Vec<Change>,
    },
    /// An activation is left.
    Return {
        /// Activation.
        activation: ActivationId,
        /// One-based line.
        line: u32,
        /// The value.
        value: TextId,
        /// How.
        leave: Leave,
        /// Changes.
        changes: Vec<Change>,
    },
    /// An exception is raised in an activation or passes through it.
    Exception {
        /// Activation.
        activation: ActivationId,
        /// One-based line.
        line: u32,
        /// Qualified type.
        kind: TextId,
        /// Text of the instance.
        value: TextId,
        /// Changes.
        changes: Vec<Change>,
    },
    /// Something for the person.
    Note(String),
    /// The end.
    End(End),
}

/// One byte a kind: the low bits are the event, the high ones how a return leaves.
pub(super) fn pack_kind(kind: EventKind, leave: Option<Leave>) -> u8 {
    let low = match kind {
        EventKind::Call => 0,
        EventKind::Line => 1,
        EventKind::Return => 2,
        EventKind::Exception => 3,
    };
    let high = match leave {
        None | Some(Leave::Return) => 0,
        Some(Leave::Yield) => 1,
        Some(Leave::Unwind) => 2,
        Some(Leave::Close) => 3,
    };
    low | high << 2
}

pub(super) fn unpack_kind(byte: u8) -> (EventKind, Option<Leave>) {
    match byte & 3 {
        0 => (EventKind::Call, None),
        1 => (EventKind::Line, None),
        3 => (EventKind::Exception, None),
        _ => (
            EventKind::Return,
            Some(match byte >> 2 {
                1 => Leave::Yield,
                2 => Leave::Unwind,
                3 => Leave::Close,
                _ => Leave::Return,
            }),
        ),
    }
}
