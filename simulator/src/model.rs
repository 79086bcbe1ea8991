//! Language models: what predicts when nothing was recorded.
//!
//! [`LanguageModel`] is what is asked. [`Local`] answers with a [`Network`] that runs here: [`Fused`]
//! for small ones, [`Transformer`] for large ones.

pub mod chat;
mod choice;
pub mod config;
mod dialect;
pub mod draw;
mod error;
pub mod fused;
pub mod gguf;
mod language;
mod local;
pub mod mask;
pub mod network;
pub mod transformer;
pub mod vocabulary;
pub mod weights;

pub use chat::Chat;
pub use config::Config;
pub use dialect::Dialect;
pub use draw::Draw;
pub use error::ModelError;
pub use fused::Fused;
pub use language::{Generated, LanguageModel, Request, Sampling};
pub use local::Local;
pub use mask::{Mask, TokenSet, Trie, Walk};
pub use network::{Logits, Network};
pub use transformer::Transformer;
pub use vocabulary::Vocabulary;
pub use weights::Weights;
