//! The JSON file of a benchmark: a header, then a line for each task as it ends, so that a run that
//! was stopped goes on where it was.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;

use anyhow::{Context as _, bail};
use camino::Utf8Path;
use serde::{Deserialize, Serialize};

use super::record::Record;

/// Version of the file's format; raised when a field changes its meaning or goes away.
const FORMAT: u32 = 1;

/// What has to be the same for results to belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
    format: u32,
    /// Version of the program.
    version: String,
    /// Limit of each run in seconds.
    max_time: u64,
}

impl Header {
    /// The header of a run with this limit.
    pub fn new(max_time: u64) -> Self {
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            max_time,
        }
    }
}

/// An open file of results.
#[derive(Debug)]
pub struct Log {
    file: File,
}

impl Log {
    /// Opens `path` and reads the results that it holds already.
    pub fn open(path: &Utf8Path, header: &Header) -> anyhow::Result<(Self, Vec<Record>)> {
        let text = fs::read_to_string(path).unwrap_or_default();
        let mut lines = text.lines();
        let mut records = Vec::new();
        if let Some(first) = lines.next() {
            let found: Header = serde_json::from_str(first)
                .with_context(|| format!("`{path}` is no file of benchmark results"))?;
            if found != *header {
                bail!("`{path}` holds results of another limit or version; name another file");
            }
            // A line that was cut off by a kill is a task that has to run again.
            records.extend(lines.filter_map(|line| serde_json::from_str(line).ok()));
        }
        if let Some(parent) = path.parent().filter(|parent| !parent.as_str().is_empty()) {
            fs::create_dir_all(parent).with_context(|| format!("cannot make `{parent}`"))?;
        }
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .with_context(|| format!("cannot write to `{path}`"))?;
        let mut log = Self { file };
        if text.is_empty() {
            log.line(header)?;
        } else if !text.ends_with('\n') {
            log.file.write_all(b"\n")?;
        }
        Ok((log, records))
    }

    /// Adds a result.
    pub fn add(&mut self, record: &Record) -> anyhow::Result<()> {
        self.line(record)
    }

    fn line(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        // One write, so that a kill leaves whole lines.
        self.file
            .write_all(&line)
            .context("cannot write the results")
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::record;
    use super::*;

    #[test]
    fn a_stopped_run_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path())
            .unwrap()
            .join("deep/results.jsonl");
        let (mut log, none) = Log::open(&path, &Header::new(60)).unwrap();
        assert!(none.is_empty());
        log.add(&record("one")).unwrap();
        log.file.write_all(b"{\"task\": \"cut o").unwrap();
        let (mut log, found) = Log::open(&path, &Header::new(60)).unwrap();
        assert_eq!(found, [record("one")]);
        log.add(&record("two")).unwrap();
        let (_, found) = Log::open(&path, &Header::new(60)).unwrap();
        assert_eq!(found.len(), 2);
        let error = Log::open(&path, &Header::new(30)).unwrap_err();
        assert!(error.to_string().contains("another limit"), "{error}");
    }
}
