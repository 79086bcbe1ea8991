//! Data sets: programs from several sources, recorded, walked through, written in shards.

mod build;
mod functions;
mod generated;
mod operations;
mod programs;
mod repository;
mod trajectories;

pub use build::{Built, Progress, Settings, Source, build, merge_parts};
pub use functions::{Files, functions_in};
pub use programs::{Program, Recorded, RunError, Runner};
pub use trajectories::{Directions, Grammar};
