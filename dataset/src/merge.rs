//! Putting the parts of all shards into one data set.
//!
//! The order is the units', the cuts depend on the samples alone: however many shards there were and in
//! whichever order they ran, the files are the same byte for byte.

use std::fs;
use std::path::Path;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::manifest::{Manifest, Recipe};
use crate::sample::Unit;
use crate::shard::{
    ShardError, Worker, check_keys, compress, fingerprint, hex, io_error, part_path, read_part,
    write_whole,
};

/// Uncompressed bytes after which the next data file starts.
const CHUNK: usize = 64 << 20;

/// A line of a merged data file.
#[derive(Debug, Serialize)]
struct Line<'a> {
    unit: &'a str,
    source: &'a str,
    data: &'a serde_json::Value,
}

/// Merges the parts of `units` in `parts` into `out`: data files, `manifest.json` and `README.md`.
///
/// Every unit must have its part, written under the worker's fingerprint: a merge of half the work
/// would look like a whole one. Files of an earlier merge are replaced.
pub fn merge(
    worker: &dyn Worker,
    units: &[Unit],
    parts: &Path,
    out: &Path,
    recipe: Recipe,
) -> Result<Manifest, ShardError> {
    merge_in_chunks(worker, units, parts, out, recipe, CHUNK)
}

/// [`merge`] with another size of the data files.
pub fn merge_in_chunks(
    worker: &dyn Worker,
    units: &[Unit],
    parts: &Path,
    out: &Path,
    recipe: Recipe,
    chunk: usize,
) -> Result<Manifest, ShardError> {
    check_keys(units)?;
    fs::create_dir_all(out).map_err(io_error(out))?;
    remove_old(out)?;
    let mut manifest = Manifest::new(recipe);
    let mut text: Vec<u8> = Vec::new();
    let mut files = 0;
    let mut flush = |text: &mut Vec<u8>, manifest: &mut Manifest| -> Result<(), ShardError> {
        if text.is_empty() {
            return Ok(());
        }
        let name = format!("data-{files:05}.jsonl.zst");
        let path = out.join(&name);
        let bytes = compress(text).map_err(io_error(&path))?;
        write_whole(&path, &bytes)?;
        manifest.files.insert(name, hex(&Sha256::digest(&bytes)));
        files += 1;
        text.clear();
        Ok(())
    };
    for (index, unit) in units.iter().enumerate() {
        let path = part_path(parts, index, &unit.key);
        let part = read_part(&path)?;
        if part.header.key != unit.key
            || part.header.fingerprint != fingerprint(&worker.fingerprint(), unit)?
        {
            let problem = format!(
                "made of another unit or under other options than `{}`",
                unit.key
            );
            return Err(ShardError::Part { path, problem });
        }
        manifest.add(&part);
        for sample in &part.samples {
            let line = Line {
                unit: &unit.key,
                source: &unit.source,
                data: &sample.data,
            };
            serde_json::to_writer(&mut text, &line)?;
            text.push(b'\n');
            if text.len() >= chunk {
                flush(&mut text, &mut manifest)?;
            }
        }
    }
    flush(&mut text, &mut manifest)?;
    let mut json = serde_json::to_vec_pretty(&manifest)?;
    json.push(b'\n');
    write_whole(&out.join("README.md"), manifest.card().as_bytes())?;
    // Last: a folder with a manifest is a finished data set.
    write_whole(&out.join("manifest.json"), &json)?;
    Ok(manifest)
}

/// Takes away what an earlier merge left: it may have had more files.
fn remove_old(out: &Path) -> Result<(), ShardError> {
    let manifest = out.join("manifest.json");
    if manifest.exists() {
        fs::remove_file(&manifest).map_err(io_error(&manifest))?;
    }
    for entry in fs::read_dir(out).map_err(io_error(out))? {
        let path = entry.map_err(io_error(out))?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if name.starts_with("data-") && name.ends_with(".jsonl.zst") {
            fs::remove_file(&path).map_err(io_error(&path))?;
        }
    }
    Ok(())
}
