//! Plots as SVG that stands alone: light and dark, with a title and a description for those who hear
//! it read.

mod bars;
mod canvas;
mod lines;
mod reliability;
mod steps;

pub use bars::{Bar, Bars};
pub use lines::{Lines, Point, Series};
pub use reliability::Reliability;
pub use steps::{Climb, SERIES, Steps};

/// A plot that is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plot {
    /// Name for its file, without an extension.
    pub name: String,
    /// The picture.
    pub svg: String,
}
