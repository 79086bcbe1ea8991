//! Every renderer on the same few runs.

mod documents;
mod page;
mod reporter;
mod stories;
mod terminal;
