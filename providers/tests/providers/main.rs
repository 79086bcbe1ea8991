//! Providers against real servers on the loopback: what is sent, what is understood, what goes wrong.

mod failing;
mod languages;
mod listing;
mod network;
mod options;
mod recording;
mod serving;
