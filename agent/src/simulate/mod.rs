//! Predicted runs: what a program would do, said by a model, with how sure it is.

mod check;
mod goal;
mod show;
mod trajectory;

pub use check::{Checked, Parted, check, compare};
pub use goal::{Goal, reached};
pub use show::{Shown, confidence, ending, is_known, json, json_ending, text};
pub use trajectory::{Walked, state_text, walk};
