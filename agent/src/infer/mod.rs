//! Inverse execution: inputs with which a function does what it is to do. Every input that is given out has been
//! run, in processes of its own.

mod distance;
mod genes;
mod goal;
mod mutate;
mod pool;
mod population;
mod proposals;
mod pytest;
mod run;
mod score;
mod search;
mod seeds;
mod show;
mod shrink;
mod value;

pub use goal::{described, place, subject, value};
pub use proposals::walked;
pub use pytest::test_file;
pub use run::{Found, Inferred, Settings, Sources, infer};
pub use show::{Answer, answer, json};
