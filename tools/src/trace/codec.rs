//! Records as bytes: a tag, then numbers as varints (seven bits a byte, low ones first).
//!
//! Activations and lines are written as differences to those of the event before, which makes most
//! events three to six bytes before compression.

use ndbg_simulator::recording::{
    ActivationId, BoundaryKind, Change, CodeFlags, CodeId, End, Entry, ExitKind, FileId, FrameId,
    Leave, Record, TaskId, TextId,
};

const FILE: u8 = 1;
const CODE: u8 = 2;
const EXACT: u8 = 3;
const LOSSY: u8 = 4;
const TASK: u8 = 5;
const BOUNDARY: u8 = 6;
const EXIT: u8 = 7;
const NOTE: u8 = 8;
const END: u8 = 9;
const CALL: u8 = 10;
const LINE: u8 = 11;
const RETURN: u8 = 12;
const EXCEPTION: u8 = 13;
/// Added to the tag of an event whose activation is that of the event before.
const SAME: u8 = 16;

/// What differences are taken to.
#[derive(Debug, Default)]
pub(super) struct Context {
    calls: u32,
    activation: u32,
    line: u32,
}

/// Appends a record.
pub(super) fn encode(record: &Record, context: &mut Context, out: &mut Vec<u8>) {
    match record {
        Record::File { name, text } => {
            out.push(FILE);
            put_text(out, name);
            put(out, u64::from(text.is_some()));
            if let Some(text) = text {
                put_text(out, text);
            }
        }
        Record::Code {
            file,
            qualname,
            first_line,
            flags,
        } => {
            out.push(CODE);
            put(out, u64::from(file.0));
            put(out, u64::from(qualname.0));
            put(out, u64::from(*first_line));
            out.push(flags.0);
        }
        Record::Text { text, lossy } => {
            out.push(if *lossy { LOSSY } else { EXACT });
            put_text(out, text);
        }
        Record::Task(name) => {
            out.push(TASK);
            put_text(out, name);
        }
        Record::Boundary { kind, name } => {
            out.push(BOUNDARY);
            out.push(match kind {
                BoundaryKind::Test => 0,
                BoundaryKind::Phase => 1,
                BoundaryKind::Function => 2,
            });
            put_text(out, name);
        }
        Record::Exit(kind, lacks) => {
            out.push(EXIT);
            out.push(match kind {
                ExitKind::Normal => 0,
                ExitKind::Error => 1,
                ExitKind::Never => 2,
            });
            put_text(out, lacks.as_deref().unwrap_or_default());
        }
        Record::Note(text) => {
            out.push(NOTE);
            put_text(out, text);
        }
        Record::End(end) => {
            out.push(END);
            put_text(out, &serde_json::to_string(end).unwrap_or_default());
        }
        Record::Call {
            frame,
            parent,
            task,
            code,
            line,
            entry,
            changes,
        } => {
            out.push(CALL);
            put(out, u64::from(frame.0));
            put(out, parent.map_or(0, |parent| u64::from(parent.0) + 1));
            put(out, u64::from(task.0));
            put(out, u64::from(code.0));
            put_line(out, *line, context);
            out.push(u8::from(*entry == Entry::Resume));
            put_changes(out, changes);
            context.activation = context.calls;
            context.calls += 1;
        }
        Record::Line {
            activation,
            line,
            changes,
        } => {
            put_owner(out, LINE, *activation, context);
            put_line(out, *line, context);
            put_changes(out, changes);
        }
        Record::Return {
            activation,
            line,
            value,
            leave,
            changes,
        } => {
            put_owner(out, RETURN, *activation, context);
            put_line(out, *line, context);
            put(out, u64::from(value.0));
            out.push(match leave {
                Leave::Return => 0,
                Leave::Yield => 1,
                Leave::Unwind => 2,
                Leave::Close => 3,
            });
            put_changes(out, changes);
        }
        Record::Exception {
            activation,
            line,
            kind,
            value,
            changes,
        } => {
            put_owner(out, EXCEPTION, *activation, context);
            put_line(out, *line, context);
            put(out, u64::from(kind.0));
            put(out, u64::from(value.0));
            put_changes(out, changes);
        }
    }
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn put_owner(out: &mut Vec<u8>, tag: u8, activation: ActivationId, context: &mut Context) {
    if activation.0 == context.activation {
        out.push(tag + SAME);
    } else {
        out.push(tag);
        put(out, u64::from(activation.0));
        context.activation = activation.0;
    }
}

fn put_line(out: &mut Vec<u8>, line: u32, context: &mut Context) {
    let difference = i64::from(line) - i64::from(context.line);
    context.line = line;
    put(out, ((difference << 1) ^ (difference >> 63)) as u64);
}

fn put_changes(out: &mut Vec<u8>, changes: &[Change]) {
    put(out, changes.len() as u64);
    for change in changes {
        put(out, u64::from(change.name.0));
        // 0 = unbound, else the value, with a bit for a serial behind it.
        let has_serial = u64::from(change.serial != 0);
        put(
            out,
            change
                .value
                .map_or(0, |v| (u64::from(v.0) + 1) << 1 | has_serial),
        );
        if change.value.is_some() && change.serial != 0 {
            put(out, u64::from(change.serial));
        }
    }
}

/// Why bytes are no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Broken {
    /// They end too early: more may follow.
    Short,
    /// They mean nothing.
    Nonsense,
}

/// Takes one record off the front of `bytes`. On an error neither `bytes` nor `context` has moved.
pub(super) fn decode(bytes: &mut &[u8], context: &mut Context) -> Result<Record, Broken> {
    let mut input = *bytes;
    let mut now = Context { ..*context };
    let record = decode_one(&mut input, &mut now)?;
    *bytes = input;
    *context = now;
    Ok(record)
}

fn decode_one(input: &mut &[u8], context: &mut Context) -> Result<Record, Broken> {
    let tag = byte(input)?;
    Ok(match tag {
        FILE => Record::File {
            name: text(input)?,
            text: if take(input)? == 1 {
                Some(text(input)?)
            } else {
                None
            },
        },
        CODE => Record::Code {
            file: FileId(id(input)?),
            qualname: TextId(id(input)?),
            first_line: id(input)?,
            flags: CodeFlags(byte(input)?),
        },
        EXACT | LOSSY => Record::Text {
            text: text(input)?,
            lossy: tag == LOSSY,
        },
        TASK => Record::Task(text(input)?),
        BOUNDARY => Record::Boundary {
            kind: match byte(input)? {
                0 => BoundaryKind::Test,
                1 => BoundaryKind::Phase,
                2 => BoundaryKind::Function,
                _ => return Err(Broken::Nonsense),
            },
            name: text(input)?,
        },
        EXIT => {
            let kind = match byte(input)? {
                0 => ExitKind::Normal,
                1 => ExitKind::Error,
                2 => ExitKind::Never,
                _ => return Err(Broken::Nonsense),
            };
            let lacks = text(input)?;
            Record::Exit(kind, (!lacks.is_empty()).then_some(lacks))
        }
        NOTE => Record::Note(text(input)?),
        END => {
            let end: End = serde_json::from_str(&text(input)?).map_err(|_| Broken::Nonsense)?;
            Record::End(end)
        }
        CALL => {
            let frame = FrameId(id(input)?);
            let parent = id(input)?.checked_sub(1).map(ActivationId);
            let task = TaskId(id(input)?);
            let code = CodeId(id(input)?);
            let line = line(input, context)?;
            let entry = if byte(input)? == 1 {
                Entry::Resume
            } else {
                Entry::Call
            };
            let changes = changes(input)?;
            context.activation = context.calls;
            context.calls += 1;
            Record::Call {
                frame,
                parent,
                task,
                code,
                line,
                entry,
                changes,
            }
        }
        _ => {
            let (kind, same) = if tag >= SAME {
                (tag - SAME, true)
            } else {
                (tag, false)
            };
            if !same {
                context.activation = id(input)?;
            }
            let activation = ActivationId(context.activation);
            let line = line(input, context)?;
            match kind {
                LINE => Record::Line {
                    activation,
                    line,
                    changes: changes(input)?,
                },
                RETURN => Record::Return {
                    activation,
                    line,
                    value: TextId(id(input)?),
                    leave: match byte(input)? {
                        0 => Leave::Return,
                        1 => Leave::Yield,
                        2 => Leave::Unwind,
                        3 => Leave::Close,
                        _ => return Err(Broken::Nonsense),
                    },
                    changes: changes(input)?,
                },
                EXCEPTION => Record::Exception {
                    activation,
                    line,
                    kind: TextId(id(input)?),
                    value: TextId(id(input)?),
                    changes: changes(input)?,
                },
                _ => return Err(Broken::Nonsense),
            }
        }
    })
}

fn byte(input: &mut &[u8]) -> Result<u8, Broken> {
    let (&first, rest) = input.split_first().ok_or(Broken::Short)?;
    *input = rest;
    Ok(first)
}

fn take(input: &mut &[u8]) -> Result<u64, Broken> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let next = byte(input)?;
        number |= u64::from(next & 0x7f) << shift;
        if next < 0x80 {
            return Ok(number);
        }
    }
    Err(Broken::Nonsense)
}

fn id(input: &mut &[u8]) -> Result<u32, Broken> {
    u32::try_from(take(input)?).map_err(|_| Broken::Nonsense)
}

fn text(input: &mut &[u8]) -> Result<String, Broken> {
    let length = usize::try_from(take(input)?).map_err(|_| Broken::Nonsense)?;
    let bytes = input.get(..length).ok_or(Broken::Short)?;
    *input = &input[length..];
    String::from_utf8(bytes.to_vec()).map_err(|_| Broken::Nonsense)
}

fn line(input: &mut &[u8], context: &mut Context) -> Result<u32, Broken> {
    let coded = take(input)?;
    let difference = (coded >> 1) as i64 ^ -((coded & 1) as i64);
    let line = u32::try_from(i64::from(context.line).saturating_add(difference))
        .map_err(|_| Broken::Nonsense)?;
    context.line = line;
    Ok(line)
}

fn changes(input: &mut &[u8]) -> Result<Vec<Change>, Broken> {
    let count = take(input)?;
    // Every change takes two bytes at least: a damaged count must not reserve memory.
    let mut changes = Vec::with_capacity((count as usize).min(input.len() / 2 + 1));
    for _ in 0..count {
        let name = TextId(id(input)?);
        let coded = take(input)?;
        let value = (coded >> 1).checked_sub(1);
        let value = value
            .map(u32::try_from)
            .transpose()
            .map_err(|_| Broken::Nonsense)?;
        let serial = if coded & 1 == 1 { id(input)? } else { 0 };
        changes.push(Change {
            name,
            value: value.map(TextId),
            serial,
        });
    }
    Ok(changes)
}
