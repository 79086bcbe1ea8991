//! Every renderer on the same few runs.

mod documents;
mod page;
mod reporter;
pub mod stories;
mod terminal;
