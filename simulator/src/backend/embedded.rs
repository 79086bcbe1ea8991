//! The small model that is part of the program.
//!
//! Its files are those of `simulator/weights`: a checkpoint as Hugging Face saves it, with matrices of
//! 16-bit numbers, or of bytes with a scale for each row (`NAME_scale`), which are computed with as
//! they are.

use crate::model::config::Config;
use crate::model::weights::Bytes;
use crate::model::{Fused, Local, ModelError, Network as _, Weights, vocabulary};

/// Its weights.
pub const WEIGHTS: &[u8] = include_bytes!("../../weights/step.safetensors");
/// Its sizes, its dialect and its temperature.
pub const CONFIG: &str = include_str!("../../weights/config.json");
/// Its tokens.
pub const TOKENIZER: &[u8] = include_bytes!("../../weights/tokenizer.json");

/// The embedded model; about a millisecond for a million parameters.
///
/// # Errors
/// Only if the program was built with files that do not fit together, or were never trained.
pub fn open() -> Result<Local<Fused>, ModelError> {
    let model = read(CONFIG, TOKENIZER, WEIGHTS)?;
    if model.network().config().training.random {
        let problem = "this program was built with random weights";
        return Err(ModelError::Weights(problem.to_owned()));
    }
    Ok(model)
}

/// A model from files like the embedded ones.
///
/// # Errors
/// What is missing, misshapen or not supported, by name.
pub fn read(
    config: &str,
    tokenizer: &[u8],
    weights: &'static [u8],
) -> Result<Local<Fused>, ModelError> {
    let config = Config::from_json(config)?;
    let dialect = config.dialect()?;
    let weights = Weights::from_safetensors(vec![Bytes::Borrowed(weights)])?;
    let vocabulary = vocabulary::from_json(tokenizer)?;
    Local::new(
        "embedded",
        Fused::new(config, &weights)?,
        vocabulary,
        dialect,
    )
}
