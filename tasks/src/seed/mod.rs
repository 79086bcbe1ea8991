//! Seeding bugs into a repository whose tests pass.

pub mod operators;
pub mod site;

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
