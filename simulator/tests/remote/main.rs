//! Models behind servers: one in the test, and a real one if there is one.
#![allow(clippy::unwrap_used)]

mod answers;
mod failures;
mod llama_cpp;
mod server;
