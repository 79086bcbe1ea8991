//! What can be wrong with a model or a question to it.

use thiserror::Error;

/// Why there is no model, or no answer.
#[derive(Debug, Error)]
pub enum ModelError {
    /// A tensor that the architecture needs is not in the weights.
    #[error("tensor `{0}` is missing")]
    MissingTensor(String),
    /// A tensor has another shape than the configuration says.
    #[error("tensor `{name}` has the shape {found:?}, not {wanted:?}")]
    Shape {
        /// Its name in the file.
        name: String,
        /// Sizes that it has.
        found: Vec<usize>,
        /// Sizes that it should have.
        wanted: Vec<usize>,
    },
    /// A tensor is stored in a way that is not read.
    #[error("tensor `{name}` is stored as {format}, which is not supported")]
    Format {
        /// Its name in the file.
        name: String,
        /// How it is stored.
        format: String,
    },
    /// The configuration cannot be read or contradicts itself.
    #[error("configuration: {0}")]
    Config(String),
    /// A network of another kind.
    #[error("architecture `{0}` is not supported (llama, qwen2, cwm)")]
    Architecture(String),
    /// It is not known which grammar the model speaks.
    #[error("dialect {found} is not known (nd, cwm, step)", found = named(.0.as_deref()))]
    Dialect(Option<String>),
    /// The weights cannot be read at all.
    #[error("weights: {0}")]
    Weights(String),
    /// The tokenizer cannot be read or used.
    #[error("tokenizer: {0}")]
    Tokenizer(String),
    /// A question that is too long.
    #[error("{tokens} tokens do not fit into a context of {context}")]
    TooLong {
        /// Its length.
        tokens: usize,
        /// What the model can read.
        context: usize,
    },
    /// A token that the model does not have.
    #[error("token {token} is not in a vocabulary of {vocabulary}")]
    UnknownToken {
        /// Its id.
        token: u32,
        /// Number of tokens that there are.
        vocabulary: usize,
    },
    /// Something cannot be predicted from nothing.
    #[error("the prompt is empty")]
    EmptyPrompt,
    /// What this way of running a model cannot do.
    #[error("{0} is not supported by this model")]
    Unsupported(&'static str),
    /// A computation failed.
    #[error("computation: {0}")]
    Computation(String),
    /// A server gave no answer that can be used.
    #[error(transparent)]
    Remote(#[from] crate::backend::remote::RemoteError),
}

fn named(dialect: Option<&str>) -> String {
    dialect.map_or("of the model".to_owned(), |name| format!("`{name}`"))
}

impl From<candle_core::Error> for ModelError {
    fn from(error: candle_core::Error) -> Self {
        Self::Computation(first_line(&error))
    }
}

/// Without the backtrace that candle writes behind a message where `RUST_BACKTRACE` is set.
pub(super) fn first_line(error: &dyn std::fmt::Display) -> String {
    error
        .to_string()
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned()
}

impl From<safetensors::SafeTensorError> for ModelError {
    fn from(error: safetensors::SafeTensorError) -> Self {
        Self::Weights(format!("{error}: is the file whole?"))
    }
}
