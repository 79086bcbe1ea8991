//! Inverse execution: inputs with which a function does what it is to do. Every input that is given out has been
//! run, in processes of its own.

mod child;
mod distance;
mod ending;
mod exceptions;
mod genes;
mod goal;
mod imports;
mod kin;
mod likely;
mod material;
mod missing;
mod mutate;
pub(crate) mod near;
mod objects;
mod outline;
mod pace;
mod patterns;
mod pool;
mod population;
mod process;
mod proposals;
mod pytest;
mod readings;
mod recorded;
mod reduce;
mod returned;
mod run;
mod score;
mod search;
mod seeds;
mod short;
mod show;
mod shrink;
mod spell;
mod standard;
mod state;
mod types;
mod used;
mod value;
mod verify;

pub use goal::{described, place, subject, value};
pub use proposals::{Start, walked};
pub use pytest::test_file;
pub use recorded::{Names, calls, recorded_file};
pub use run::{
    CALL_SECONDS, Explained, Found, Inferred, Past, Settings, Sources, infer, infer_from,
};
pub use show::{Answer, answer, ending, json};
pub use state::{State, state};
