//! Putting the parts of all shards into one data set.
//!
//! The order is the units', the cuts depend on the samples alone: however many shards there were and in
//! whichever order they ran, the files are the same byte for byte.

use std::fs;
use std::path::Path;

use ndbg_simulator::grammar::Special;
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::choosing::{Candidate, Chooser, Choosing, Verdict};
use crate::manifest::{Manifest, Recipe};
use crate::sample::{Sample, Unit};
use crate::shard::{
    Part, ShardError, Worker, check_keys, compress, fingerprint, hex, io_error, part_path,
    read_part, write_whole,
};
use crate::tokens::{BYTES, Tokens};

/// Uncompressed bytes after which the next data file starts.
const CHUNK: usize = 64 << 20;

/// How parts are merged.
#[derive(Debug, Clone)]
pub struct Merging {
    /// What is left out, and what validates.
    pub choosing: Choosing,
    /// Whether token shards with loss masks are written beside the text.
    pub tokens: bool,
    /// The `tokenizer.json` of a grammar with a vocabulary of its own.
    pub tokenizer: Option<String>,
    /// Uncompressed bytes of a data file.
    pub chunk: usize,
}

impl Default for Merging {
    fn default() -> Self {
        Self {
            choosing: Choosing::default(),
            tokens: false,
            tokenizer: None,
            chunk: CHUNK,
        }
    }
}

/// A line of a merged data file.
#[derive(Debug, Serialize)]
struct Line<'a> {
    unit: &'a str,
    source: &'a str,
    #[serde(flatten)]
    data: &'a Map<String, Value>,
}

/// Merges the parts of `units` in `parts` into `out`: data files of each side, `manifest.json` and
/// `README.md`.
///
/// Every unit must have its part, written under the worker's fingerprint: a merge of half the work
/// would look like a whole one. Files of an earlier merge are replaced.
pub fn merge(
    worker: &dyn Worker,
    units: &[Unit],
    parts: &Path,
    out: &Path,
    recipe: Recipe,
    merging: &Merging,
) -> Result<Manifest, ShardError> {
    check_keys(units)?;
    fs::create_dir_all(out).map_err(io_error(out))?;
    remove_old(out)?;
    let read = |index: usize, unit: &Unit| -> Result<Part, ShardError> {
        let path = part_path(parts, index, &unit.key);
        let part = read_part(&path)?;
        if part.header.key != unit.key
            || part.header.fingerprint != fingerprint(&worker.fingerprint(), unit)?
        {
            let key = &unit.key;
            let problem = format!("made of another unit or under other options than `{key}`");
            return Err(ShardError::Part { path, problem });
        }
        Ok(part)
    };
    let mut chooser = Chooser::new(&merging.choosing);
    let mut names: Vec<String> = Vec::new();
    for (index, unit) in units.iter().enumerate() {
        for sample in &read(index, unit)?.samples {
            if let Some(source) = &sample.program {
                names.push(name_of(sample));
                let unique = sample
                    .data
                    .get("level")
                    .is_none_or(|level| level != "repository" && level != "drill");
                chooser.look(Candidate { source, unique });
            }
        }
    }
    let verdicts = chooser.verdicts();
    let mut manifest = Manifest::new(recipe);
    let mut training = Files::new(out, "train", merging);
    let mut validation = Files::new(out, "validation", merging);
    let mut number = 0;
    // Samples without a program before the first one with one: nothing is known against them.
    let mut verdict = &Verdict::Training;
    for (index, unit) in units.iter().enumerate() {
        let part = read(index, unit)?;
        manifest.add_unit(&part.header);
        for sample in &part.samples {
            if sample.program.is_some() {
                verdict = &verdicts[number];
                manifest.add_verdict(&names[number], verdict, |of| names[of].clone());
                number += 1;
            }
            let (side, files) = match verdict {
                Verdict::Training => ("train", &mut training),
                Verdict::Validation => ("validation", &mut validation),
                _ => continue,
            };
            manifest.add_sample(&unit.source, side, sample);
            files.add(unit, sample, &mut manifest)?;
        }
    }
    training.flush(&mut manifest)?;
    validation.flush(&mut manifest)?;
    match &merging.tokenizer {
        Some(tokenizer) => write_whole(&out.join("tokenizer.json"), tokenizer.as_bytes())?,
        None => write_whole(&out.join(SPECIAL_TOKENS), &special_tokens()?)?,
    }
    let mut json = serde_json::to_vec_pretty(&manifest)?;
    json.push(b'\n');
    write_whole(&out.join("README.md"), manifest.card().as_bytes())?;
    // Last: a folder with a manifest is a finished data set.
    write_whole(&out.join("manifest.json"), &json)?;
    Ok(manifest)
}

/// The special tokens of the grammars, for tokenizers to add, with their ids in the token shards.
const SPECIAL_TOKENS: &str = "special_tokens.json";

fn special_tokens() -> Result<Vec<u8>, ShardError> {
    let ids = Special::ALL.iter().zip(u64::from(BYTES)..);
    let table: Map<String, Value> = ids
        .map(|(special, id)| (special.text().to_owned(), id.into()))
        .collect();
    let mut json = serde_json::to_vec_pretty(&table)?;
    json.push(b'\n');
    Ok(json)
}

/// Name of a sample's program.
fn name_of(sample: &Sample) -> String {
    let id = sample
        .data
        .get("id")
        .and_then(Value::as_str)
        .unwrap_or_default();
    id.rsplit_once('#').map_or(id, |(name, _)| name).to_owned()
}

/// The data files of one side.
struct Files<'m> {
    out: &'m Path,
    side: &'static str,
    chunk: usize,
    text: Vec<u8>,
    tokens: Option<Tokens>,
    written: usize,
}

impl<'m> Files<'m> {
    fn new(out: &'m Path, side: &'static str, merging: &Merging) -> Self {
        Self {
            out,
            side,
            chunk: merging.chunk,
            text: Vec::new(),
            tokens: merging.tokens.then(Tokens::default),
            written: 0,
        }
    }

    fn add(
        &mut self,
        unit: &Unit,
        sample: &Sample,
        manifest: &mut Manifest,
    ) -> Result<(), ShardError> {
        let line = Line {
            unit: &unit.key,
            source: &unit.source,
            data: &sample.data,
        };
        serde_json::to_writer(&mut self.text, &line)?;
        self.text.push(b'\n');
        if let Some(tokens) = &mut self.tokens {
            tokens.add(&sample.data);
        }
        if self.text.len() >= self.chunk {
            self.flush(manifest)?;
        }
        Ok(())
    }

    fn flush(&mut self, manifest: &mut Manifest) -> Result<(), ShardError> {
        if self.text.is_empty() {
            return Ok(());
        }
        let stem = format!("{}-{:05}", self.side, self.written);
        let path = self.out.join(format!("{stem}.jsonl.zst"));
        let mut files = vec![(path.clone(), compress(&self.text).map_err(io_error(&path))?)];
        if let Some(tokens) = &mut self.tokens {
            let arrays = std::mem::take(tokens).arrays();
            let named = arrays.into_iter().map(|(what, bytes)| {
                (
                    self.out.join("tokens").join(format!("{stem}.{what}.npy")),
                    bytes,
                )
            });
            files.extend(named);
        }
        for (path, bytes) in files {
            write_whole(&path, &bytes)?;
            let name = path.strip_prefix(self.out).unwrap_or(&path);
            let name = name.to_string_lossy().replace('\\', "/");
            manifest.files.insert(name, hex(&Sha256::digest(&bytes)));
        }
        self.written += 1;
        self.text.clear();
        Ok(())
    }
}

/// Takes away what an earlier merge left: it may have had more files.
fn remove_old(out: &Path) -> Result<(), ShardError> {
    let manifest = out.join("manifest.json");
    if manifest.exists() {
        fs::remove_file(&manifest).map_err(io_error(&manifest))?;
    }
    for folder in [out.to_owned(), out.join("tokens")] {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries {
            let path = entry.map_err(io_error(&folder))?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let name = name.unwrap_or_default();
            let known = |end: &&str| name.ends_with(*end);
            let ours = ["train-", "validation-"]
                .iter()
                .any(|side| name.starts_with(side));
            if ours && [".jsonl.zst", ".npy"].iter().any(known) {
                fs::remove_file(&path).map_err(io_error(&path))?;
            }
        }
    }
    Ok(())
}
