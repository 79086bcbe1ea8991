//! Running one shard of the work: units in, part files out, resumable at any point.
//!
//! The units of a data set are a list. Shard `i` of `n` takes those whose index leaves `i` when divided
//! by `n`. Each unit becomes one *part*: a compressed file that holds the unit's outcome and samples and
//! nothing of any other unit, written beside its place and renamed into it, so that it is there whole or
//! not at all. A part that is there is read, checked and kept; that is all that resuming takes, and what
//! makes the shards of one data set free to run anywhere, in any order, more than once.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::sample::{Harvest, Sample, Skip, Unit};

/// Version of the part files.
pub const FORMAT: u32 = 1;

/// zstd's level: parts are read once, by the merge, and written by machines with other things to do.
const LEVEL: i32 = 3;

/// What turns units into samples.
///
/// A worker that gives another answer for the same unit breaks the promise that one shard and four
/// give the same bytes: draws come from the unit's key or index, never from a clock.
pub trait Worker {
    /// What a unit gives, in a fixed order.
    fn run(&self, unit: &Unit) -> Result<Harvest, Skip>;

    /// What the samples depend on besides the units: seeds, versions, options. Parts written under
    /// another fingerprint are made anew.
    fn fingerprint(&self) -> String;

    /// Whether to end before the next unit. What a stopped worker says of a unit is not kept.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// Which part of the work is done here: `index` of `count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// From 0.
    pub index: usize,
    /// At least 1.
    pub count: usize,
}

/// A text that names no shard.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{0}` is no shard: write `i/n` with 0 <= i < n")]
pub struct NoShard(pub String);

impl std::str::FromStr for Shard {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Self, NoShard> {
        let parse = || {
            let (index, count) = text.split_once('/')?;
            let shard = Self {
                index: index.trim().parse().ok()?,
                count: count.trim().parse().ok()?,
            };
            (shard.index < shard.count).then_some(shard)
        };
        parse().ok_or_else(|| NoShard(text.to_owned()))
    }
}

impl Shard {
    /// All of the work.
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// Whether the unit at `index` belongs to this shard.
    pub fn takes(self, index: usize) -> bool {
        index % self.count == self.index
    }
}

/// What went wrong with the files of a shard. A unit that fails is no error: it is written down.
#[derive(Debug, Error)]
pub enum ShardError {
    /// A file or folder could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A part is not what it should be.
    #[error("{path}: {problem}")]
    Part {
        /// The part.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A record could not be written as JSON.
    #[error("a record could not be written: {0}")]
    Json(#[from] serde_json::Error),
    /// The worker was told to stop; what is finished is kept.
    #[error("stopped")]
    Stopped,
    /// Two units have one key.
    #[error("two units are called `{0}`")]
    SameKey(String),
}

pub(crate) fn io_error(path: &Path) -> impl FnOnce(io::Error) -> ShardError {
    let path = path.to_owned();
    move |source| ShardError::Io { path, source }
}

/// First line of a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartHeader {
    /// [`FORMAT`].
    pub format: u32,
    /// Place of the unit in the list.
    pub index: usize,
    /// Its key.
    pub key: String,
    /// Its kind of source.
    pub source: String,
    /// Hash of everything that the part depends on.
    pub fingerprint: String,
    /// Lines that follow.
    pub samples: usize,
    /// Why there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<Skip>,
    /// Predictions that the samples ask for.
    #[serde(default)]
    pub transitions: u64,
    /// What in the unit gave none, with the reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<String, String>,
}

/// A part, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its first line.
    pub header: PartHeader,
    /// Its samples.
    pub samples: Vec<Sample>,
}

/// Which units of a list are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunOptions {
    /// The part of the work.
    pub shard: Shard,
    /// Whether units in which the worker failed are run again.
    pub retry_crashed: bool,
}

/// What a shard did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardReport {
    /// Units of the shard.
    pub units: usize,
    /// Parts written in this run.
    pub written: usize,
    /// Parts that were there.
    pub kept: usize,
    /// Units without samples.
    pub skipped: usize,
    /// Of these, units in which the worker failed.
    pub crashed: usize,
    /// Samples in all parts of the shard.
    pub samples: usize,
}

/// Runs the units of a shard that have no part yet. `folder` may hold parts of other shards;
/// `done` is told each unit's place as it ends.
pub fn run_shard(
    worker: &dyn Worker,
    units: &[Unit],
    options: RunOptions,
    folder: &Path,
    mut done: impl FnMut(usize, &PartHeader),
) -> Result<ShardReport, ShardError> {
    check_keys(units)?;
    fs::create_dir_all(folder).map_err(io_error(folder))?;
    let mut report = ShardReport::default();
    for (index, unit) in units
        .iter()
        .enumerate()
        .filter(|(index, _)| options.shard.takes(*index))
    {
        if worker.is_stopped() {
            return Err(ShardError::Stopped);
        }
        report.units += 1;
        let fingerprint = fingerprint(&worker.fingerprint(), unit)?;
        let path = part_path(folder, index, &unit.key);
        let finished = finished(&path, index, unit, &fingerprint);
        let crashed = |header: &PartHeader| matches!(header.skipped, Some(Skip::Crashed { .. }));
        let header = match finished {
            Some(header) if !(options.retry_crashed && crashed(&header)) => {
                report.kept += 1;
                header
            }
            _ => {
                report.written += 1;
                write_unit(worker, index, unit, fingerprint, &path)?
            }
        };
        report.samples += header.samples;
        report.skipped += usize::from(header.skipped.is_some());
        report.crashed += usize::from(crashed(&header));
        done(index, &header);
    }
    Ok(report)
}

/// Keys name parts: two units with one would be one.
pub(crate) fn check_keys(units: &[Unit]) -> Result<(), ShardError> {
    let mut keys: Vec<&str> = units.iter().map(|unit| unit.key.as_str()).collect();
    keys.sort_unstable();
    match keys.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(ShardError::SameKey(pair[0].to_owned())),
        None => Ok(()),
    }
}

/// Hash of what a part depends on: the worker's fingerprint and the unit, not its place.
pub(crate) fn fingerprint(worker: &str, unit: &Unit) -> Result<String, ShardError> {
    let mut hash = Sha256::new();
    hash.update(FORMAT.to_le_bytes());
    hash.update(worker.as_bytes());
    hash.update([0]);
    hash.update(serde_json::to_vec(unit)?);
    Ok(hex(&hash.finalize()[..16]))
}

/// Bytes in hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| {
            [
                DIGITS[usize::from(byte >> 4)],
                DIGITS[usize::from(byte & 15)],
            ]
        })
        .map(char::from)
        .collect()
}

/// Where the part of a unit lies. The place comes first, so that a listing is in order; the hash of the
/// key tells parts of another list of units apart.
pub fn part_path(folder: &Path, index: usize, key: &str) -> PathBuf {
    let hash = hex(&Sha256::digest(key.as_bytes())[..6]);
    // A folder with a million entries is slow on every file system.
    let group = format!("{:05}", index / 1000);
    folder
        .join(group)
        .join(format!("part-{index:08}-{hash}.jsonl.zst"))
}

/// The header of a part that is whole and up to date.
fn finished(path: &Path, index: usize, unit: &Unit, fingerprint: &str) -> Option<PartHeader> {
    let part = read_part(path).ok()?;
    let header = part.header;
    let same = header.index == index && header.key == unit.key && header.fingerprint == fingerprint;
    same.then_some(header)
}

fn write_unit(
    worker: &dyn Worker,
    index: usize,
    unit: &Unit,
    fingerprint: String,
    path: &Path,
) -> Result<PartHeader, ShardError> {
    let attempts = Attempts::of(path);
    let outcome = if attempts.died() >= DEATHS {
        Err(Skip::Crashed {
            reason: format!("the process died {DEATHS} times in this unit"),
        })
    } else {
        attempts.begin()?;
        run_caught(worker, unit)
    };
    if worker.is_stopped() {
        attempts.end()?;
        return Err(ShardError::Stopped);
    }
    let (harvest, skipped) = match outcome {
        Ok(harvest) => (harvest, None),
        Err(skip) => (Harvest::default(), Some(skip)),
    };
    let Harvest { samples, left_out } = harvest;
    let header = PartHeader {
        format: FORMAT,
        index,
        key: unit.key.clone(),
        source: unit.source.clone(),
        fingerprint,
        samples: samples.len(),
        skipped,
        transitions: samples.iter().flat_map(|one| one.actions.values()).sum(),
        left_out,
    };
    let mut text = serde_json::to_vec(&header)?;
    text.push(b'\n');
    for sample in &samples {
        serde_json::to_writer(&mut text, sample)?;
        text.push(b'\n');
    }
    write_whole(path, &compress(&text).map_err(io_error(path))?)?;
    attempts.end()?;
    Ok(header)
}

/// A worker that panics costs its unit, not the shard.
fn run_caught(worker: &dyn Worker, unit: &Unit) -> Result<Harvest, Skip> {
    catch_unwind(AssertUnwindSafe(|| worker.run(unit))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(Skip::Crashed {
            reason: text.unwrap_or_else(|| "the worker panicked".to_owned()),
        })
    })
}

/// Deaths of the whole process in one unit after which the unit is to blame: a machine that is taken
/// away can hit the same unit once, hardly three times.
const DEATHS: usize = 3;

/// A file beside a part that counts how often work on it began without an end. Without it a unit that
/// kills the process (out of memory, stack overflow) would kill every retry of its shard.
struct Attempts(PathBuf);

impl Attempts {
    fn of(part: &Path) -> Self {
        let name = part
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or("part");
        Self(part.with_file_name(format!(".{name}.attempts")))
    }

    fn died(&self) -> usize {
        fs::read(&self.0).map_or(0, |marks| marks.len())
    }

    fn begin(&self) -> Result<(), ShardError> {
        if let Some(folder) = self.0.parent() {
            fs::create_dir_all(folder).map_err(io_error(folder))?;
        }
        let file = OpenOptions::new().create(true).append(true).open(&self.0);
        file.and_then(|mut file| file.write_all(b"."))
            .map_err(io_error(&self.0))
    }

    fn end(&self) -> Result<(), ShardError> {
        match fs::remove_file(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error(&self.0)(error)),
            _ => Ok(()),
        }
    }
}

/// Compresses with a checksum, so that a damaged file is no valid one.
pub(crate) fn compress(text: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.write_all(text)?;
    encoder.finish()
}

/// Writes a file so that it is there whole or not at all, also after a power cut.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), ShardError> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(folder).map_err(io_error(folder))?;
    // Two attempts at one shard may run at once: each writes its own file, the last rename wins, and
    // both hold the same bytes.
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or("part");
    let temporary = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let mut file = File::create(&temporary).map_err(io_error(&temporary))?;
    file.write_all(bytes).map_err(io_error(&temporary))?;
    file.sync_all().map_err(io_error(&temporary))?;
    drop(file);
    fs::rename(&temporary, path).map_err(io_error(path))
}

/// Reads a part and checks that it is whole.
pub fn read_part(path: &Path) -> Result<Part, ShardError> {
    let wrong = |problem: String| ShardError::Part {
        path: path.to_owned(),
        problem,
    };
    let file = File::open(path).map_err(io_error(path))?;
    let text = zstd::decode_all(file).map_err(|error| wrong(format!("not whole: {error}")))?;
    let text = String::from_utf8(text).map_err(|_| wrong("not UTF-8".to_owned()))?;
    let mut lines = text.lines();
    let header = lines.next().ok_or_else(|| wrong("empty".to_owned()))?;
    let header: PartHeader =
        serde_json::from_str(header).map_err(|error| wrong(format!("bad header: {error}")))?;
    if header.format != FORMAT {
        return Err(wrong(format!("format {} is not {FORMAT}", header.format)));
    }
    let samples: Vec<Sample> = lines
        .map(|line| {
            serde_json::from_str(line).map_err(|error| wrong(format!("bad sample: {error}")))
        })
        .collect::<Result<_, _>>()?;
    if samples.len() != header.samples {
        return Err(wrong(format!(
            "{} samples instead of {}",
            samples.len(),
            header.samples
        )));
    }
    Ok(Part { header, samples })
}

#[cfg(test)]
mod tests {
    use super::Shard;

    #[test]
    fn shards_are_read_and_share_the_work() {
        assert_eq!("1/4".parse(), Ok(Shard { index: 1, count: 4 }));
        for text in ["4/4", "-1/4", "1", "1/0", "a/b"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
        let taken = |index| {
            (0..4)
                .filter(|part| {
                    Shard {
                        index: *part,
                        count: 4,
                    }
                    .takes(index)
                })
                .count()
        };
        assert!((0..20).all(|index| taken(index) == 1));
    }
}
