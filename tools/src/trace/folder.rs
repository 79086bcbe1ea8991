//! The `.ndbg` folder: `meta.json` says what it is, `records.zst` holds the records.
//!
//! `records.zst` is a row of zstd frames, each with whole records and a checksum, so that what a
//! dying process leaves behind can be read up to its last whole event.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_simulator::recording::{Malformed, Record, Recording, RecordingBuilder};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use thiserror::Error;

use super::codec::{self, Broken, Context};
use super::raw::{RawError, RawReader, Sources};

/// Version of the format. A reader refuses every other one.
pub const VERSION: u32 = 1;
const META: &str = "meta.json";
const RECORDS: &str = "records.zst";
/// Bytes of records in one zstd frame.
const FRAME: usize = 1 << 20;
/// Bytes of records in the smallest block of a frame.
const SMALLEST_BLOCK: usize = 256;
/// Bytes decompressed at once: where a file is damaged, what was decompressed with the damage is lost.
const CHUNK: usize = 1 << 10;
const LEVEL: i32 = 3;

/// Why a recording cannot be written or opened.
#[derive(Debug, Error)]
pub enum FolderError {
    /// The disk.
    #[error("{path}: {source}")]
    Io {
        /// File or folder.
        path: Utf8PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// Something else lies there.
    #[error("`{0}` exists and is no recording")]
    Occupied(Utf8PathBuf),
    /// It is no recording.
    #[error("`{0}` is no recording: it has no readable {META}")]
    NotOne(Utf8PathBuf),
    /// It was written by another version.
    #[error("`{path}` has version {found} of the format, this program reads version {VERSION}")]
    Version {
        /// Folder.
        path: Utf8PathBuf,
        /// Its version.
        found: u64,
    },
    /// The recorder's stream cannot be read.
    #[error(transparent)]
    Raw(#[from] RawError),
}

/// `meta.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Meta {
    /// Always `ndbg`.
    pub format: String,
    /// Version of the format.
    pub version: u32,
    /// Program and version that wrote it.
    pub written_by: String,
    /// What was recorded: `script`, `tests` or `functions`.
    #[serde(default)]
    pub what: String,
    /// Python's version.
    #[serde(default)]
    pub python: String,
    /// Command that made it, without the program's own name.
    #[serde(default)]
    pub command: Vec<String>,
    /// Number of events; none while it is being written.
    #[serde(default)]
    pub events: Option<u64>,
}

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Events.
    pub events: u64,
    /// Bytes on disk.
    pub bytes: u64,
    /// Whether the recorder said that it was done.
    pub complete: bool,
}

/// An opened recording.
#[derive(Debug)]
pub struct Opened {
    /// What it is.
    pub meta: Meta,
    /// The run.
    pub recording: Recording,
    /// Why it ends before its end, for people; none when it is whole.
    pub cut_off: Option<String>,
    /// Bytes on disk.
    pub bytes: u64,
}

fn at(path: &Utf8Path) -> impl Fn(io::Error) -> FolderError + '_ {
    move |source| FolderError::Io {
        path: path.to_owned(),
        source,
    }
}

/// Makes a recording out of the recorder's raw stream.
pub fn write(
    folder: &Utf8Path,
    raw: &Utf8Path,
    command: Vec<String>,
    sources: &mut Sources<'_>,
) -> Result<Written, FolderError> {
    let input = File::open(raw).map_err(at(raw))?;
    write_streaming(folder, BufReader::new(input), command, sources)
}

/// Like [`write()`], from any reader. A damaged line ends the recording there, as a death would.
pub fn write_streaming(
    folder: &Utf8Path,
    input: impl BufRead,
    command: Vec<String>,
    sources: &mut Sources<'_>,
) -> Result<Written, FolderError> {
    let mut reader = RawReader::start(input)?;
    claim(folder)?;
    let header = reader.header();
    let text = |key: &str| header[key].as_str().unwrap_or_default().to_owned();
    let mut meta = Meta {
        format: "ndbg".into(),
        version: VERSION,
        written_by: format!("ndbg-agent {}", env!("CARGO_PKG_VERSION")),
        what: text("what"),
        python: text("python"),
        command,
        events: None,
    };
    write_meta(folder, &meta)?;
    let path = folder.join(RECORDS);
    let mut out = Frames::create(&path)?;
    let mut events = 0;
    let mut complete = false;
    while let Some(record) = reader.next_record(sources)? {
        events += u64::from(is_event(&record));
        complete |= matches!(record, Record::End(_));
        out.push(&record)?;
    }
    let bytes = out.finish()?;
    meta.events = Some(events);
    write_meta(folder, &meta)?;
    Ok(Written {
        events,
        bytes,
        complete,
    })
}

fn is_event(record: &Record) -> bool {
    matches!(
        record,
        Record::Call { .. }
            | Record::Line { .. }
            | Record::Return { .. }
            | Record::Exception { .. }
    )
}

/// Makes the folder of a recording, before a run whose recording would have no place. An empty folder,
/// or an older recording of ours, gives way.
pub fn claim(folder: &Utf8Path) -> Result<(), FolderError> {
    if folder.exists() {
        let ours = folder.is_dir()
            && (folder.join(META).is_file()
                || folder.read_dir_utf8().map_err(at(folder))?.next().is_none());
        if !ours {
            return Err(FolderError::Occupied(folder.to_owned()));
        }
    }
    fs::create_dir_all(folder).map_err(at(folder))
}

fn write_meta(folder: &Utf8Path, meta: &Meta) -> Result<(), FolderError> {
    let path = folder.join(META);
    let new = folder.join("meta.json.new");
    let mut text = serde_json::to_string_pretty(meta).unwrap_or_default();
    text.push('\n');
    fs::write(&new, text).map_err(at(&new))?;
    fs::rename(&new, &path).map_err(at(&path))
}

/// A row of zstd frames.
struct Frames<'p> {
    path: &'p Utf8Path,
    file: File,
    encoder: zstd::Encoder<'static, Vec<u8>>,
    context: Context,
    pending: Vec<u8>,
    /// Bytes of records in the frame.
    filled: usize,
    written: u64,
}

impl<'p> Frames<'p> {
    fn create(path: &'p Utf8Path) -> Result<Self, FolderError> {
        Ok(Self {
            path,
            file: File::create(path).map_err(at(path))?,
            encoder: encoder().map_err(at(path))?,
            context: Context::default(),
            pending: Vec::new(),
            filled: 0,
            written: 0,
        })
    }

    fn push(&mut self, record: &Record) -> Result<(), FolderError> {
        codec::encode(record, &mut self.context, &mut self.pending);
        // A block can be read when it is whole: more of them while there is little lose little of a
        // short recording that is cut off, fewer later cost little of a long one.
        if self.pending.len() >= SMALLEST_BLOCK.max(self.filled / 8) {
            self.end_block().map_err(at(self.path))?;
        }
        if self.filled >= FRAME {
            self.end_frame().map_err(at(self.path))?;
        }
        Ok(())
    }

    fn end_block(&mut self) -> io::Result<()> {
        self.encoder.write_all(&self.pending)?;
        self.encoder.flush()?;
        self.filled += self.pending.len();
        self.pending.clear();
        let bytes = self.encoder.get_mut();
        self.file.write_all(bytes)?;
        self.written += bytes.len() as u64;
        bytes.clear();
        Ok(())
    }

    fn end_frame(&mut self) -> io::Result<()> {
        self.end_block()?;
        let ended = std::mem::replace(&mut self.encoder, encoder()?);
        let bytes = ended.finish()?;
        self.file.write_all(&bytes)?;
        self.written += bytes.len() as u64;
        self.filled = 0;
        Ok(())
    }

    fn finish(mut self) -> Result<u64, FolderError> {
        self.end_frame().map_err(at(self.path))?;
        self.file.sync_data().map_err(at(self.path))?;
        Ok(self.written)
    }
}

fn encoder() -> io::Result<zstd::Encoder<'static, Vec<u8>>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), LEVEL)?;
    encoder.include_checksum(true)?;
    Ok(encoder)
}

/// Reads `meta.json` alone.
pub fn read_meta(folder: &Utf8Path) -> Result<Meta, FolderError> {
    let path = folder.join(META);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound && folder.exists() => {
            return Err(FolderError::NotOne(folder.to_owned()));
        }
        Err(error) => return Err(at(if folder.exists() { &path } else { folder })(error)),
    };
    let json: Json = serde_json::from_str(&text).unwrap_or_default();
    if json["format"] != "ndbg" {
        return Err(FolderError::NotOne(folder.to_owned()));
    }
    // Looked at before the rest, which another version may have changed.
    match json["version"].as_u64() {
        Some(found) if found == u64::from(VERSION) => {}
        Some(found) => {
            return Err(FolderError::Version {
                path: folder.to_owned(),
                found,
            });
        }
        None => return Err(FolderError::NotOne(folder.to_owned())),
    }
    serde_json::from_value(json).map_err(|_| FolderError::NotOne(folder.to_owned()))
}

/// Opens a recording. One that is cut off or damaged opens up to its last whole event.
pub fn open(folder: &Utf8Path) -> Result<Opened, FolderError> {
    let meta = read_meta(folder)?;
    let path = folder.join(RECORDS);
    let file = File::open(&path).map_err(at(&path))?;
    let bytes = file.metadata().map_err(at(&path))?.len();
    let mut decoder = zstd::Decoder::new(file).map_err(at(&path))?;
    let mut builder = RecordingBuilder::new();
    // What a file says of itself may be wrong: no more room than its size makes likely.
    let expected = meta.events.unwrap_or(0).min(bytes.saturating_mul(4));
    builder.reserve(usize::try_from(expected).unwrap_or(0));
    let mut context = Context::default();
    let mut buffer: Vec<u8> = Vec::new();
    let mut chunk = vec![0; CHUNK];
    let mut cut_off = None;
    loop {
        let read = match decoder.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) => {
                cut_off = Some(match error.kind() {
                    io::ErrorKind::UnexpectedEof => "the file ends in the middle".to_owned(),
                    _ => format!("the file is damaged ({error})"),
                });
                break;
            }
        };
        buffer.extend_from_slice(&chunk[..read]);
        let mut rest = &buffer[..];
        let outcome = take_records(&mut rest, &mut context, &mut builder);
        let left = rest.len();
        buffer.drain(..buffer.len() - left);
        if let Err(reason) = outcome {
            cut_off = Some(reason);
            break;
        }
    }
    if cut_off.is_none() && !buffer.is_empty() {
        cut_off = Some("the file ends in the middle of a record".into());
    }
    let recording = builder.finish();
    if cut_off.is_none() && recording.end().is_none() {
        cut_off = Some("the program died while it was recorded".into());
    }
    Ok(Opened {
        meta,
        recording,
        cut_off,
        bytes,
    })
}

fn take_records(
    rest: &mut &[u8],
    context: &mut Context,
    builder: &mut RecordingBuilder,
) -> Result<(), String> {
    while !rest.is_empty() {
        match codec::decode(rest, context) {
            Ok(record) => builder
                .push(record)
                .map_err(|error: Malformed| format!("the file is damaged: {error}"))?,
            Err(Broken::Short) => return Ok(()),
            Err(Broken::Nonsense) => return Err("the file is damaged: unknown record".into()),
        }
    }
    Ok(())
}
