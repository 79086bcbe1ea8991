//! Data sets for the neural debugger: programs to record, and the machinery around recording many.
//!
//! Pure but for [`shard`] and [`merge`], which read and write the folder that they are given. Spawns
//! nothing: what runs programs is plugged in through [`shard::Worker`].

pub mod choosing;
pub mod decontaminate;
pub mod drill;
pub mod generate;
pub mod manifest;
pub mod merge;
pub mod near_duplicates;
pub mod normalised;
pub mod profile;
pub mod random;
pub mod sample;
pub mod shard;
pub mod split;
pub mod tokens;
