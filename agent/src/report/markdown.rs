//! The report for code hosts and editors.

use crate::report::{Story, next};

/// The report of a run.
pub fn render(story: &Story) -> String {
    next::apply_in_project(story).unwrap_or_default()
}
