//! Models that somebody trained: files of Hugging Face or of llama.cpp, read by the caller.

use crate::grammar::cwm;
use crate::model::config::Config;
use crate::model::weights::Bytes;
use crate::model::{
    Dialect, Fused, LanguageModel, Local, ModelError, Transformer, Vocabulary, Weights, gguf,
    vocabulary,
};

/// Up to so many parameters, operations on tensors cost more than arithmetic, and memory is no
/// question.
const SMALL: usize = 50_000_000;
/// The version of the grammars that is spoken here.
pub const FORMAT: u32 = 1;

/// A model from the contents of `config.json`, `tokenizer.json` and all `*.safetensors`.
///
/// `dialect` is the grammar that it speaks, if its configuration does not say or is wrong.
///
/// # Errors
/// What is missing, misshapen or not supported, by name.
pub fn from_parts(
    name: &str,
    config: &str,
    tokenizer: &[u8],
    shards: Vec<Bytes>,
    dialect: Option<Dialect>,
) -> Result<Box<dyn LanguageModel>, ModelError> {
    let config = Config::from_json(config)?;
    let vocabulary = vocabulary::from_json(tokenizer)?;
    let weights = Weights::from_safetensors(shards)?;
    assemble(name, config, &weights, vocabulary, dialect)
}

/// A model from the contents of a GGUF file. `tokenizer` is a `tokenizer.json`, for vocabularies that
/// are not read from GGUF files.
///
/// # Errors
/// What is missing, misshapen or not supported, by name.
pub fn from_gguf(
    name: &str,
    file: Bytes,
    tokenizer: Option<&[u8]>,
    dialect: Option<Dialect>,
) -> Result<Box<dyn LanguageModel>, ModelError> {
    let weights = Weights::from_gguf(file)?;
    let Weights::Gguf { content, .. } = &weights else {
        return Err(ModelError::Weights("not a GGUF file".to_owned()));
    };
    let config = gguf::config(content, &weights)?;
    let vocabulary = match tokenizer {
        Some(json) => vocabulary::from_json(json)?,
        None => vocabulary::from_json(gguf::tokenizer_json(content)?.as_bytes())?,
    };
    assemble(name, config, &weights, vocabulary, dialect)
}

fn assemble(
    name: &str,
    config: Config,
    weights: &Weights,
    vocabulary: Box<dyn Vocabulary>,
    dialect: Option<Dialect>,
) -> Result<Box<dyn LanguageModel>, ModelError> {
    let dialect = match dialect {
        Some(dialect) => dialect,
        None => spoken(&config, vocabulary.as_ref())?,
    };
    if config.parameters() <= SMALL {
        let network = Fused::new(config, weights)?;
        Ok(Box::new(Local::new(name, network, vocabulary, dialect)?))
    } else {
        let network = Transformer::new(config, weights)?;
        Ok(Box::new(Local::new(name, network, vocabulary, dialect)?))
    }
}

/// The dialect that the configuration names; else that of CWM, if its tokens are there under their
/// numbers.
fn spoken(config: &Config, vocabulary: &dyn Vocabulary) -> Result<Dialect, ModelError> {
    let format = config.training.format.unwrap_or(FORMAT);
    if format != FORMAT {
        let problem = format!("format {format} of the dialect is not spoken, only {FORMAT}");
        return Err(ModelError::Config(problem));
    }
    let mut tokens = cwm::TOKENS.iter();
    if config.training.dialect.is_none()
        && tokens.all(|(special, id)| vocabulary.token(special.text()) == Some(*id))
    {
        return Ok(Dialect::Cwm);
    }
    config.dialect()
}
