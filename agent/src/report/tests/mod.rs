//! Every renderer on the same few runs.

mod documents;
mod stories;
mod terminal;
