//! How good predictions are: pure functions over what was said and what is true.
//!
//! Nothing here asks a model or runs a program. A [`Tally`] counts, [`interval`] says how sure the
//! count is, [`Judged`] answers have a confidence that [`calibration`] and [`coverage`] look at, and
//! [`taken_apart`] splits a run into statements with the operations that each asked.

mod agreement;
mod baseline;
mod calibration;
mod coverage;
mod interval;
mod operation_kind;
mod statement_kind;
mod statements;
mod tally;

pub use agreement::{Difference, same_effect, same_text, same_value, state_difference};
pub use baseline::{Copied, Frequencies};
pub use calibration::{Bin, Calibration, calibration};
pub use coverage::{Coverage, coverage};
pub use interval::{Interval, interval};
pub use operation_kind::OperationKind;
pub use statement_kind::{StatementKind, kinds_by_line};
pub use statements::{Statement, taken_apart};
pub use tally::Tally;

/// An answer that was checked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// Probability that it is right, as whoever answered says, 0 to 1.
    pub confidence: f64,
    /// Whether it is.
    pub right: bool,
}
