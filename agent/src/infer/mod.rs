//! Inverse execution: inputs with which a function does what it is to do. Every input that is given out has been
//! run, in processes of its own.

mod distance;
mod genes;
mod goal;
mod likely;
mod mutate;
mod pool;
mod population;
mod proposals;
mod pytest;
mod recorded;
mod run;
mod score;
mod search;
mod seeds;
mod show;
mod shrink;
mod state;
mod value;

pub use goal::{described, place, subject, value};
pub use proposals::{Start, walked};
pub use pytest::test_file;
pub use recorded::{Names, calls, recorded_file};
pub use run::{Explained, Found, Inferred, Past, Settings, Sources, infer, infer_from};
pub use show::{Answer, answer, ending, json};
pub use state::{State, state};
