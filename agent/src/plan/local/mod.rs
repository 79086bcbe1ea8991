//! A language model in this process: a GGUF file behind the same seam as a server.

mod date;
mod endpoint;
mod json;
mod template;

pub use endpoint::LocalModel;
