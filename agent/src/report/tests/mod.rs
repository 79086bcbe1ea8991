//! Every renderer on the same few runs.

mod documents;
mod page;
mod stories;
mod terminal;
