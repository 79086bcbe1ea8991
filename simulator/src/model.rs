//! Language models: what predicts when nothing was recorded.

pub mod config;
mod dialect;
mod error;
pub mod fused;
pub mod network;
pub mod transformer;
pub mod weights;

pub use config::Config;
pub use dialect::Dialect;
pub use error::ModelError;
pub use fused::Fused;
pub use network::{Logits, Network};
pub use transformer::Transformer;
pub use weights::Weights;
