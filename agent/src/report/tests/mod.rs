//! Every renderer on the same few runs.

mod stories;
mod terminal;
