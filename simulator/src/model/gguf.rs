//! What a GGUF file says about its network and its tokens.

use candle_core::quantized::gguf_file::{Content, Value};
use serde_json::json;

use super::config::{Config, Rope, Training};
use super::error::ModelError;
use super::vocabulary::byte_names;
use super::weights::Weights;

/// Kinds of tokens that stand for themselves wherever they are spelled: control, user defined.
const SPELLED: [i64; 2] = [3, 4];
/// The kind of tokens that are pieces of text.
const NORMAL: i64 = 1;

/// Where texts are cut before they are merged, by the name that llama.cpp has for it.
const CUTS: &[(&str, &str)] = &[
    (
        "llama-bpe",
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    (
        "qwen2",
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    (
        "gpt-2",
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    ),
];

/// Sizes and constants.
///
/// # Errors
/// [`ModelError::Architecture`] for another kind of network, [`ModelError::Config`] for what is
/// missing or not supported.
pub fn config(content: &Content, weights: &Weights) -> Result<Config, ModelError> {
    let architecture = text(content, "general.architecture").unwrap_or_default();
    if !matches!(architecture, "llama" | "qwen2") {
        return Err(ModelError::Architecture(architecture.to_owned()));
    }
    let name = |key: &str| format!("{architecture}.{key}");
    let size = |key: &str| whole(content, &name(key));
    let wanted = |key: &str| {
        let missing = || ModelError::Config(format!("`{}` is missing", name(key)));
        size(key).ok_or_else(missing)
    };
    let scaling = text(content, &name("rope.scaling.type")).filter(|&kind| kind != "none");
    if let Some(kind) = scaling {
        let problem = format!("rope scaling `{kind}` is not supported in a GGUF file");
        return Err(ModelError::Config(problem));
    }
    let (width, heads) = (wanted("embedding_length")?, wanted("attention.head_count")?);
    let head_width = size("attention.key_length").unwrap_or(width / heads.max(1));
    let embedding = content.tensor_infos.get("token_embd.weight");
    let missing = || ModelError::MissingTensor("token_embd.weight".to_owned());
    let vocabulary = embedding.ok_or_else(missing)?.shape.dims()[0];
    let divisors = if weights.has("rope_freqs.weight") {
        weights.floats("rope_freqs.weight", &[head_width / 2])?
    } else {
        Vec::new()
    };
    let layers = wanted("block_count")?;
    let epsilon = number(content, &name("attention.layer_norm_rms_epsilon"));
    Config {
        vocabulary,
        width,
        layers,
        heads,
        kv_heads: size("attention.head_count_kv").unwrap_or(heads),
        head_width,
        feed_forward: wanted("feed_forward_length")?,
        context: wanted("context_length")?,
        norm_epsilon: epsilon.unwrap_or(1e-5),
        rope: Rope {
            theta: number(content, &name("rope.freq_base")).unwrap_or(10_000.0),
            scaling: None,
            divisors,
            neighbours: architecture == "llama",
        },
        tied: !weights.has("lm_head.weight"),
        biases: architecture == "qwen2",
        windows: vec![None; layers],
        architecture: architecture.to_owned(),
        training: Training {
            dialect: text(content, "ndbg.dialect").map(str::to_owned),
            format: whole(content, "ndbg.format").map(|format| format as u32),
            temperature: number(content, "ndbg.temperature"),
            random: false,
        },
    }
    .checked()
}

/// The vocabulary as a `tokenizer.json`.
///
/// # Errors
/// [`ModelError::Tokenizer`] for one that is not made of bytes: it needs its `tokenizer.json`.
pub fn tokenizer_json(content: &Content) -> Result<String, ModelError> {
    let wrong = |problem: String| ModelError::Tokenizer(problem);
    let kind = text(content, "tokenizer.ggml.model").unwrap_or("none");
    if kind != "gpt2" {
        let problem = format!("a GGUF file's `{kind}` vocabulary is not read: give tokenizer.json");
        return Err(wrong(problem));
    }
    let list = |key: &str| -> Vec<&Value> {
        let list = content
            .metadata
            .get(key)
            .and_then(|list| list.to_vec().ok());
        list.map_or_else(Vec::new, |list| list.iter().collect())
    };
    let kinds: Vec<i64> = list("tokenizer.ggml.token_type")
        .into_iter()
        .filter_map(as_whole)
        .collect();
    let mut vocabulary = serde_json::Map::new();
    let mut added = Vec::new();
    for (id, token) in list("tokenizer.ggml.tokens").into_iter().enumerate() {
        let token = token
            .to_string()
            .map_err(|error| wrong(error.to_string()))?;
        if kinds.get(id).is_some_and(|kind| SPELLED.contains(kind)) {
            added.push(json!({
                "id": id, "content": token, "special": true, "single_word": false,
                "lstrip": false, "rstrip": false, "normalized": false,
            }));
        } else {
            vocabulary.insert(token.clone(), id.into());
        }
    }
    let merges = list("tokenizer.ggml.merges").into_iter();
    let merges: Vec<&String> = merges.filter_map(|merge| merge.to_string().ok()).collect();
    let name = text(content, "tokenizer.ggml.pre").unwrap_or("gpt-2");
    let cut = CUTS.iter().find(|cut| cut.0 == name);
    let level = json!({
        "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false,
    });
    let before = match cut {
        // Without merges it does not matter where texts are cut.
        _ if merges.is_empty() => level.clone(),
        Some((_, pattern)) => {
            let split = json!({
                "type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false,
            });
            json!({"type": "Sequence", "pretokenizers": [split, level]})
        }
        None => {
            let problem = format!("a GGUF file's `{name}` cuts are not known: give tokenizer.json");
            return Err(wrong(problem));
        }
    };
    let file = json!({
        "version": "1.0", "truncation": null, "padding": null, "normalizer": null,
        "post_processor": null, "added_tokens": added, "pre_tokenizer": before, "decoder": level,
        "model": {"type": "BPE", "vocab": vocabulary, "merges": merges, "ignore_merges": name == "llama-bpe"},
    });
    Ok(file.to_string())
}

/// A token as a file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// Bytes of a text.
    Text(Vec<u8>),
    /// Stands for itself where it is spelled, and is no part of a text.
    Special(String),
    /// Never comes.
    Unused,
}

/// The tokens in the order of their ids.
pub fn tokens(content: &Content) -> Vec<Token> {
    let list = |key: &str| {
        content
            .metadata
            .get(key)
            .and_then(|list| list.to_vec().ok())
    };
    let kinds = list("tokenizer.ggml.token_type");
    let kind = |id: usize| as_whole(kinds?.get(id)?);
    let tokens = list("tokenizer.ggml.tokens").map_or(&[][..], Vec::as_slice);
    let names = byte_names();
    tokens
        .iter()
        .enumerate()
        .map(|(id, token)| match (token.to_string(), kind(id)) {
            (Ok(text), Some(kind)) if SPELLED.contains(&kind) => Token::Special(text.clone()),
            (Ok(text), Some(NORMAL) | None) => {
                let bytes: Option<Vec<u8>> =
                    text.chars().map(|name| names.get(&name).copied()).collect();
                bytes.map_or(Token::Unused, Token::Text)
            }
            _ => Token::Unused,
        })
        .collect()
}

/// The template of a conversation.
pub fn template(content: &Content) -> Option<&str> {
    text(content, "tokenizer.chat_template").filter(|template| !template.trim().is_empty())
}

/// The number of a token that the file names.
pub fn id(content: &Content, key: &str) -> Option<u32> {
    u32::try_from(whole(content, key)?).ok()
}

/// Whether every text begins with the token that the file names for it.
pub fn adds_begin(content: &Content) -> bool {
    let value = content.metadata.get("tokenizer.ggml.add_bos_token");
    value
        .and_then(|value| value.to_bool().ok())
        .unwrap_or(false)
}

fn text<'a>(content: &'a Content, key: &str) -> Option<&'a str> {
    let value = content.metadata.get(key)?;
    value.to_string().ok().map(String::as_str)
}

fn number(content: &Content, key: &str) -> Option<f32> {
    let value = content.metadata.get(key)?;
    let wide = value.to_f64().ok().map(|number| number as f32);
    value.to_f32().ok().or(wide)
}

fn whole(content: &Content, key: &str) -> Option<usize> {
    usize::try_from(as_whole(content.metadata.get(key)?)?).ok()
}

fn as_whole(value: &Value) -> Option<i64> {
    Some(match *value {
        Value::U8(number) => number.into(),
        Value::I8(number) => number.into(),
        Value::U16(number) => number.into(),
        Value::I16(number) => number.into(),
        Value::U32(number) => number.into(),
        Value::I32(number) => number.into(),
        Value::I64(number) => number,
        Value::U64(number) => i64::try_from(number).ok()?,
        _ => return None,
    })
}
