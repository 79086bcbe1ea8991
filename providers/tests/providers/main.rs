//! Providers against real servers on the loopback: what is sent, what is understood, what goes wrong.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod failing;
mod languages;
mod listing;
mod network;
mod options;
mod recording;
mod serving;
