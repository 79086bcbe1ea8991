//! The report for browsers: one file, readable without scripts and without a network.
//!
//! The view holds text only; the template escapes all of it, and never takes markup from here.

mod charts;
mod diff;
mod frame;
mod symptom;
mod view;

use askama::Template;

use crate::report::{ReportError, Story};

/// The report of a run.
pub fn render(story: &Story) -> Result<String, ReportError> {
    view::Page::new(story)
        .render()
        .map_err(|source| ReportError::Render {
            what: "report.html",
            source: Box::new(source),
        })
}
