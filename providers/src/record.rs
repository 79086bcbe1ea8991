//! Exchanges on disk: `0001.json`, `0002.json`, … in a folder.

use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;
use crate::secret::{Secret, redact};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The version of the files. Fields are added freely; one that changes its meaning raises it.
pub const FORMAT: u32 = 1;

/// One exchange, without secrets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// [`FORMAT`] of the program that wrote it.
    pub format: u32,
    /// The model that was asked.
    pub model: String,
    /// When it was asked: milliseconds since 1970-01-01 UTC.
    pub asked_at_ms: u64,
    /// How long it took, in microseconds.
    pub took_us: u64,
    /// [`Request::hash`] of the request below.
    pub request_sha256: String,
    /// What was asked.
    pub request: Request,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// The end of an exchange.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// A reply.
    Reply(Reply),
    /// Why there is none.
    Failure(Failure),
}

impl Outcome {
    pub(crate) fn of(result: Result<Reply, Failure>) -> Self {
        match result {
            Ok(reply) => Self::Reply(reply),
            Err(failure) => Self::Failure(failure),
        }
    }

    pub(crate) fn result(self) -> Result<Reply, Failure> {
        match self {
            Self::Reply(reply) => Ok(reply),
            Self::Failure(failure) => Err(failure),
        }
    }
}

/// The file of an exchange, counted from 1.
pub(crate) fn path(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("{number:04}.json"))
}

/// How many exchanges a folder holds, from the first without a gap.
pub(crate) fn count(folder: &Path) -> usize {
    let mut held = 0;
    while path(folder, held + 1).is_file() {
        held += 1;
    }
    held
}

/// Reads an exchange. Fails with [`Failure::Replay`].
pub(crate) fn read(folder: &Path, number: usize) -> Result<Exchange, Failure> {
    let path = path(folder, number);
    let bad = |message: String| Failure::Replay {
        exchange: number,
        message,
        diff: String::new(),
    };
    let text = std::fs::read_to_string(&path)
        .map_err(|error| bad(format!("`{}` cannot be read, {error}", path.display())))?;
    let value: Value = serde_json::from_str(&text)
        .map_err(|error| bad(format!("`{}` is not JSON, {error}", path.display())))?;
    match value.get("format").and_then(Value::as_u64) {
        Some(format) if format == u64::from(FORMAT) => {}
        Some(format) => {
            return Err(bad(format!(
                "`{}` has format {format}, this program reads {FORMAT}",
                path.display()
            )));
        }
        None => return Err(bad(format!("`{}` is no exchange", path.display()))),
    }
    serde_json::from_value(value)
        .map_err(|error| bad(format!("`{}` is no exchange, {error}", path.display())))
}

/// Writes an exchange, whole or not at all. Fails with [`Failure::Record`].
pub(crate) fn write(folder: &Path, number: usize, exchange: &Exchange) -> Result<(), Failure> {
    let path = path(folder, number);
    let bad = |message: String| Failure::Record {
        path: path.display().to_string(),
        message,
    };
    std::fs::create_dir_all(folder).map_err(|error| bad(error.to_string()))?;
    let mut text =
        serde_json::to_string_pretty(exchange).map_err(|error| bad(error.to_string()))?;
    text.push('\n');
    let part = path.with_extension("json.part");
    std::fs::write(&part, text)
        .and_then(|()| std::fs::rename(&part, &path))
        .map_err(|error| bad(error.to_string()))
}

/// A value with every text in it made free of secrets.
pub(crate) fn redacted<T: Serialize + for<'de> Deserialize<'de> + Clone>(
    value: &T,
    secrets: &[Secret],
) -> T {
    let Ok(mut json) = serde_json::to_value(value) else {
        return value.clone();
    };
    if !clean(&mut json, secrets) {
        return value.clone();
    }
    serde_json::from_value(json).unwrap_or_else(|_| value.clone())
}

/// Cleans in place and says whether anything had to be.
fn clean(value: &mut Value, secrets: &[Secret]) -> bool {
    match value {
        Value::String(text) => {
            let cleaned = redact(text, secrets);
            let changed = cleaned != *text;
            *text = cleaned;
            changed
        }
        Value::Array(items) => items
            .iter_mut()
            .fold(false, |changed, item| clean(item, secrets) | changed),
        Value::Object(map) => map
            .values_mut()
            .fold(false, |changed, item| clean(item, secrets) | changed),
        _ => false,
    }
}
