//! Checkpoints on disk.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_simulator::backend::checkpoint;
use ndbg_simulator::model::weights::Bytes;
use ndbg_simulator::model::{Config, Dialect, LanguageModel, ModelError};

use crate::fix::stop::Stop;
use crate::outcome::Outcome;

/// Opens a folder with `config.json`, `tokenizer.json` and `*.safetensors`.
pub(super) fn folder(
    path: &Utf8Path,
    dialect: Option<Dialect>,
) -> Result<Box<dyn LanguageModel>, Stop> {
    if path.is_file() {
        return Err(usage(format!("`{path}` is a file"))
            .hint("name the folder that it lies in, or a file that ends in `.gguf`"));
    }
    if !path.is_dir() {
        return Err(usage(format!("there is no model `{path}`")).hint(
            "`embedded`, `oracle`, the folder of a checkpoint, or a file that ends in `.gguf`",
        ));
    }
    let config_path = path.join("config.json");
    let config = fs::read_to_string(&config_path).map_err(|error| {
        usage(format!("`{config_path}`: {error}"))
            .hint("a checkpoint has `config.json`, `tokenizer.json` and `*.safetensors`")
    })?;
    if Config::from_json(&config).is_ok_and(|config| config.training.random) {
        return Err(untrained(path));
    }
    let tokenizer = read(&path.join("tokenizer.json"))?;
    let shards = weights_in(path)?;
    if shards.is_empty() {
        return Err(usage(format!("`{path}` holds no `*.safetensors`"))
            .hint("weights in PyTorch's own format have to be saved as safetensors first"));
    }
    let shards: Vec<Bytes> = shards
        .iter()
        .map(|shard| read(shard).map(Bytes::from))
        .collect::<Result<_, _>>()?;
    let name = path.file_name().unwrap_or(path.as_str());
    checkpoint::from_parts(name, &config, &tokenizer, shards, dialect)
        .map_err(|error| wrong(path, &error))
}

/// Opens a file of llama.cpp; a `tokenizer.json` beside it counts more than what is in it.
pub(super) fn gguf(
    path: &Utf8Path,
    dialect: Option<Dialect>,
) -> Result<Box<dyn LanguageModel>, Stop> {
    let file = read(path)?;
    let tokenizer = fs::read(path.with_file_name("tokenizer.json")).ok();
    let name = path.file_stem().unwrap_or(path.as_str());
    checkpoint::from_gguf(name, file.into(), tokenizer.as_deref(), dialect)
        .map_err(|error| wrong(path, &error))
}

/// What is said of a model that nobody trained.
pub(super) fn untrained(what: impl std::fmt::Display) -> Stop {
    Stop::new(
        Outcome::Environment,
        format!("the weights of `{what}` are random: nobody trained them"),
    )
    .hint("name another model with `--model`: the folder of a checkpoint, a file, or `oracle`")
}

/// What is said of a model that cannot be opened.
pub(super) fn wrong(what: impl std::fmt::Display, error: &ModelError) -> Stop {
    let stop = usage(format!("cannot open the model `{what}`: {error}"));
    match error {
        ModelError::Dialect(None) => stop.hint(
            "say what it was trained to speak: `--dialect nd`, `cwm` or `step`, or an `ndbg` \
             section in its `config.json`",
        ),
        ModelError::Dialect(Some(_)) => stop.hint("`--dialect` overrides the configuration"),
        ModelError::Tokenizer(_) => stop.hint("put its `tokenizer.json` beside the weights"),
        _ => stop,
    }
}

fn usage(message: String) -> Stop {
    Stop::new(Outcome::Usage, message)
}

fn read(path: &Utf8Path) -> Result<Vec<u8>, Stop> {
    fs::read(path).map_err(|error| usage(format!("`{path}`: {error}")))
}

fn weights_in(path: &Utf8Path) -> Result<Vec<Utf8PathBuf>, Stop> {
    let listed = path
        .read_dir_utf8()
        .map_err(|error| usage(format!("`{path}`: {error}")))?;
    let mut found: Vec<Utf8PathBuf> = listed
        .filter_map(|entry| Some(entry.ok()?.into_path()))
        .filter(|path| path.extension() == Some("safetensors"))
        .collect();
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(path: &Utf8Path) -> (String, String) {
        let stop = folder(path, None).err().unwrap();
        (stop.message, stop.hint.unwrap_or_default())
    }

    #[test]
    fn what_is_missing_is_named() {
        let held = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(held.path()).unwrap();
        let (message, hint) = said(&path.join("nowhere"));
        assert!(
            message.contains("nowhere") && hint.contains("embedded"),
            "{message} {hint}"
        );
        let (message, hint) = said(path);
        assert!(
            message.contains("config.json") && hint.contains("safetensors"),
            "{message}"
        );
        fs::write(path.join("config.json"), "{}").unwrap();
        let (message, _) = said(path);
        assert!(message.contains("tokenizer.json"), "{message}");
        fs::write(path.join("tokenizer.json"), "{}").unwrap();
        let (message, _) = said(path);
        assert!(message.contains("no `*.safetensors`"), "{message}");
    }

    #[test]
    fn random_weights_and_unknown_dialects_are_refused_with_a_hint() {
        let held = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(held.path()).unwrap();
        fs::write(
            path.join("config.json"),
            ndbg_simulator::backend::embedded::CONFIG,
        )
        .unwrap();
        fs::write(
            path.join("tokenizer.json"),
            ndbg_simulator::backend::embedded::TOKENIZER,
        )
        .unwrap();
        fs::write(
            path.join("model.safetensors"),
            ndbg_simulator::backend::embedded::WEIGHTS,
        )
        .unwrap();
        let mut config: serde_json::Value =
            serde_json::from_str(ndbg_simulator::backend::embedded::CONFIG).unwrap();
        config["ndbg"] = serde_json::json!({ "random": true, "dialect": "step" });
        fs::write(path.join("config.json"), config.to_string()).unwrap();
        assert!(said(path).0.contains("random"));
        config["ndbg"] = serde_json::json!({});
        fs::write(path.join("config.json"), config.to_string()).unwrap();
        assert!(said(path).1.contains("--dialect"));
    }
}
