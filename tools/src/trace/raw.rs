//! The raw stream of the recorder: one record a line, as text.

use std::io::BufRead;

use ndbg_simulator::recording::{
    ActivationId, BoundaryKind, Change, CodeFlags, CodeId, Entry, ExitKind, FileId, FrameId, Leave,
    Record, TaskId, TextId,
};
use serde::Deserialize;
use serde_json::Value as Json;
use thiserror::Error;

/// Why a raw stream cannot be read any further.
#[derive(Debug, Error)]
pub enum RawError {
    /// Reading failed.
    #[error("cannot read the recording: {0}")]
    Io(#[from] std::io::Error),
    /// A line is not as it should be.
    #[error("line {line} of the recording is damaged: {reason}")]
    Damaged {
        /// One-based.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// It was written by another version of the recorder.
    #[error("the recorder speaks version {found}, this program version 1")]
    Version {
        /// Its version.
        found: String,
    },
}

/// Finds a source file by the name that the interpreter has for it: the name to keep, and its text.
pub type Sources<'a> = dyn FnMut(&str) -> (String, Option<String>) + 'a;

/// Reads records one at a time. A last line without an end is no record: the process died in it.
#[derive(Debug)]
pub struct RawReader<R> {
    input: R,
    line: Vec<u8>,
    number: u64,
    header: Json,
}

#[derive(Deserialize)]
struct FileLine {
    name: String,
    #[serde(default)]
    source: bool,
    #[serde(default)]
    text: Option<String>,
}

impl<R: BufRead> RawReader<R> {
    /// Reads the header.
    pub fn start(input: R) -> Result<Self, RawError> {
        let mut reader = Self {
            input,
            line: Vec::new(),
            number: 0,
            header: Json::Null,
        };
        if !reader.fill()? {
            return Err(reader.damaged("it is empty"));
        }
        let header: Json = reader
            .line
            .strip_prefix(b"H ")
            .and_then(|rest| serde_json::from_slice(rest).ok())
            .ok_or_else(|| reader.damaged("it does not begin with a header"))?;
        if header["format"] != "ndbg-raw" || header["version"] != 1 {
            return Err(RawError::Version {
                found: header["version"].to_string(),
            });
        }
        reader.header = header;
        Ok(reader)
    }

    /// The header: what was recorded, by which Python.
    pub fn header(&self) -> &Json {
        &self.header
    }

    /// The next record; none at the end. `sources` finds the files.
    pub fn next_record(&mut self, sources: &mut Sources<'_>) -> Result<Option<Record>, RawError> {
        if !self.fill()? {
            return Ok(None);
        }
        let record = parse(&self.line, sources).map_err(|reason| self.damaged(reason))?;
        Ok(Some(record))
    }

    fn damaged(&self, reason: impl Into<String>) -> RawError {
        RawError::Damaged {
            line: self.number,
            reason: reason.into(),
        }
    }

    /// Reads a whole line into `self.line`, without its end; false at the end of the stream.
    fn fill(&mut self) -> Result<bool, RawError> {
        self.line.clear();
        self.input.read_until(b'\n', &mut self.line)?;
        if self.line.pop() != Some(b'\n') {
            return Ok(false);
        }
        self.number += 1;
        Ok(true)
    }
}

fn parse(line: &[u8], sources: &mut Sources<'_>) -> Result<Record, String> {
    let text = std::str::from_utf8(line).map_err(|_| "not UTF-8")?;
    let (kind, rest) = text.split_once(' ').ok_or("no fields")?;
    let json = |what: &str| format!("{what} is no JSON");
    Ok(match kind {
        "F" => {
            let file: FileLine = serde_json::from_str(rest).map_err(|_| json("file"))?;
            if file.source && file.text.is_none() {
                let (name, text) = sources(&file.name);
                Record::File { name, text }
            } else {
                Record::File {
                    name: file.name,
                    text: file.text,
                }
            }
        }
        "K" => {
            let mut fields = Fields(rest.split(' '));
            Record::Code {
                file: FileId(fields.number()?),
                qualname: TextId(fields.number()?),
                first_line: fields.number()?,
                flags: CodeFlags::parse(fields.word()?).ok_or("unknown kind of code")?,
            }
        }
        "S" | "L" => Record::Text {
            text: string(rest)?,
            lossy: kind == "L",
        },
        "T" => Record::Task(string(rest)?),
        "B" => {
            let (what, name) = rest.split_once(' ').ok_or("no name")?;
            let kind = match what {
                "test" => BoundaryKind::Test,
                "phase" => BoundaryKind::Phase,
                "function" => BoundaryKind::Function,
                other => return Err(format!("unknown boundary `{other}`")),
            };
            Record::Boundary {
                kind,
                name: string(name)?,
            }
        }
        "X" => {
            let (word, lacks) = match rest.split_once(' ') {
                Some((word, lacks)) => (word, Some(string(lacks)?)),
                None => (rest, None),
            };
            let kind = match word {
                "normal" => ExitKind::Normal,
                "error" => ExitKind::Error,
                "never" => ExitKind::Never,
                other => return Err(format!("unknown exit `{other}`")),
            };
            Record::Exit(kind, lacks)
        }
        "c" => {
            let mut fields = Fields(rest.split(' '));
            // Activations count up, so that the number is only there to be read by people.
            fields.number()?;
            let frame = FrameId(fields.number()?);
            let parent = match fields.word()? {
                "-" => None,
                word => Some(ActivationId(number(word)?)),
            };
            Record::Call {
                frame,
                parent,
                task: TaskId(fields.number()?),
                code: CodeId(fields.number()?),
                line: fields.number()?,
                entry: match fields.word()? {
                    "c" => Entry::Call,
                    "r" => Entry::Resume,
                    other => return Err(format!("unknown entry `{other}`")),
                },
                changes: fields.changes()?,
            }
        }
        "l" => {
            let mut fields = Fields(rest.split(' '));
            Record::Line {
                activation: ActivationId(fields.number()?),
                line: fields.number()?,
                changes: fields.changes()?,
            }
        }
        "r" => {
            let mut fields = Fields(rest.split(' '));
            Record::Return {
                activation: ActivationId(fields.number()?),
                line: fields.number()?,
                value: TextId(fields.number()?),
                leave: match fields.word()? {
                    "r" => Leave::Return,
                    "y" => Leave::Yield,
                    "u" => Leave::Unwind,
                    "k" => Leave::Close,
                    other => return Err(format!("unknown way to leave `{other}`")),
                },
                changes: fields.changes()?,
            }
        }
        "x" => {
            let mut fields = Fields(rest.split(' '));
            Record::Exception {
                activation: ActivationId(fields.number()?),
                line: fields.number()?,
                kind: TextId(fields.number()?),
                value: TextId(fields.number()?),
                changes: fields.changes()?,
            }
        }
        "N" => Record::Note(string(rest)?),
        "E" => Record::End(serde_json::from_str(rest).map_err(|_| json("end"))?),
        other => return Err(format!("unknown record `{other}`")),
    })
}

/// A JSON string. Lone surrogates, which Python has and Rust has not, become U+FFFD.
fn string(text: &str) -> Result<String, String> {
    if let Ok(plain) = serde_json::from_str(text) {
        return Ok(plain);
    }
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let length = match escape.as_bytes().get(1) {
            Some(b'u') => 6,
            Some(_) => 2,
            None => return Err("string is no JSON".into()),
        };
        let this = escape.get(..length).ok_or("string is no JSON")?;
        let pair = escape.get(..12).filter(|pair| {
            is_surrogate(this, 0xd800..0xdc00) && is_surrogate(&pair[6..], 0xdc00..0xe000)
        });
        if let Some(pair) = pair {
            mended.push_str(pair);
            rest = &escape[12..];
        } else {
            mended.push_str(if is_surrogate(this, 0xd800..0xe000) {
                "\\ufffd"
            } else {
                this
            });
            rest = &escape[length..];
        }
    }
    mended.push_str(rest);
    serde_json::from_str(&mended).map_err(|_| "string is no JSON".to_owned())
}

fn is_surrogate(escape: &str, range: std::ops::Range<u32>) -> bool {
    escape
        .strip_prefix("\\u")
        .and_then(|digits| u32::from_str_radix(digits, 16).ok())
        .is_some_and(|unit| range.contains(&unit))
}

struct Fields<'a>(std::str::Split<'a, char>);

impl<'a> Fields<'a> {
    fn word(&mut self) -> Result<&'a str, String> {
        self.0.next().ok_or_else(|| "too few fields".to_owned())
    }

    fn number(&mut self) -> Result<u32, String> {
        number(self.word()?)
    }

    fn changes(self) -> Result<Vec<Change>, String> {
        self.0.filter(|word| !word.is_empty()).map(change).collect()
    }
}

fn change(word: &str) -> Result<Change, String> {
    let (name, rest) = word.split_once('=').ok_or("change without a value")?;
    let (value, serial) = rest.split_once('#').unwrap_or((rest, "0"));
    Ok(Change {
        name: TextId(number(name)?),
        value: match value {
            "-" => None,
            value => Some(TextId(number(value)?)),
        },
        serial: number(serial)?,
    })
}

fn number(word: &str) -> Result<u32, String> {
    word.parse().map_err(|_| format!("`{word}` is no number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Record>, RawError> {
        let mut reader = RawReader::start(text.as_bytes())?;
        let mut records = Vec::new();
        while let Some(record) =
            reader.next_record(&mut |name| (name.into(), Some("x = 1\n".into())))?
        {
            records.push(record);
        }
        Ok(records)
    }

    const HEADER: &str = "H {\"format\":\"ndbg-raw\",\"version\":1}\n";

    #[test]
    fn a_line_without_its_end_is_no_record() {
        let records = read(&format!("{HEADER}S \"a\"\nS \"b")).unwrap();
        assert_eq!(records.len(), 1);
    }

    #[test]
    fn every_kind_of_record_is_read() {
        let text = format!(
            "{HEADER}F {{\"name\":\"/a.py\",\"source\":true}}\nS \"f\"\nL \"<A …>\"\nK 0 0 3 g\n\
             T \"MainThread\"\nB test \"t.py::t[a b]\"\nc 0 0 - 0 0 3 c 0=1#4\nl 0 4 0=-\n\
             x 0 4 0 1\nr 0 4 1 u\nX error \"tracer removed\"\nN \"note\"\nE {{\"events\":4,\"truncated\":null}}\n"
        );
        let records = read(&text).unwrap();
        assert_eq!(records.len(), 13);
        let Record::Call { changes, .. } = &records[6] else {
            panic!("{:?}", records[6])
        };
        assert_eq!(changes[0].serial, 4);
        assert!(matches!(&records[0], Record::File { text: Some(text), .. } if text == "x = 1\n"));
    }

    #[test]
    fn lone_surrogates_do_not_break_a_string() {
        assert_eq!(string(r#""a\ud800b""#).unwrap(), "a\u{fffd}b");
        assert_eq!(string(r#""\ud83d\ude00\\udc00""#).unwrap(), "😀\\udc00");
        assert!(string("\"a").is_err());
    }

    #[test]
    fn another_version_is_named() {
        let error = read("H {\"format\":\"ndbg-raw\",\"version\":7}\n").unwrap_err();
        assert!(error.to_string().contains("version 7"));
    }

    #[test]
    fn a_damaged_line_is_named() {
        let error = read(&format!("{HEADER}l 0\n")).unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
    }
}
