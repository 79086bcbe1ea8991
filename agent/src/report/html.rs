//! The report for browsers.

use crate::report::{ReportError, Story};

/// The report of a run.
pub fn render(_story: &Story) -> Result<String, ReportError> {
    Ok(String::new())
}
