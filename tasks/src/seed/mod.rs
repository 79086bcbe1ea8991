//! Seeding: putting single bugs into a repository whose tests pass.
//!
//! [`operators`] propose mutations of the code that the tests run, [`sample`] picks among them,
//! [`trial`] finds the tests that catch one, [`split`] and [`conceal`] take half of these tests away
//! from the tool, and [`run`] puts it all together and writes the tasks.

mod baseline;
mod conceal;
pub mod operators;
mod output;
mod place;
mod run;
mod sample;
pub mod site;
mod split;
mod trial;

pub use run::{SeedError, SeedReport, SeedSettings, seed};

/// The test files that node ids start with, sorted, each once.
pub fn files_of(ids: &[String]) -> Vec<String> {
    let mut files: Vec<String> = ids
        .iter()
        .map(|id| id.split("::").next().unwrap_or(id).to_owned())
        .collect();
    files.sort();
    files.dedup();
    files
}
