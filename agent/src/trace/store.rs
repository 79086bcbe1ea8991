//! Where recordings lie when no place is named.

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tools::python::managed::cache_folder;
use ndbg_tools::trace;

/// Newest recordings that are kept; older ones make room.
const KEPT: usize = 20;

fn folder() -> Utf8PathBuf {
    cache_folder().join("traces")
}

/// A folder for a new recording of `subject`. Its name sorts by time.
pub fn new_folder(subject: &str) -> Utf8PathBuf {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    let stem: String = Utf8Path::new(subject)
        .file_name()
        .unwrap_or("run")
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || "._-".contains(c) {
                c
            } else {
                '_'
            }
        })
        .take(60)
        .collect();
    let stem = stem.strip_suffix(".py").unwrap_or(&stem);
    make_room();
    folder().join(format!(
        "{:010}-{:03}-{stem}.ndbg",
        now.as_secs(),
        now.subsec_millis()
    ))
}

/// The newest recording.
pub fn latest() -> Option<Utf8PathBuf> {
    recordings().pop()
}

/// Recordings, oldest first.
fn recordings() -> Vec<Utf8PathBuf> {
    let mut found: Vec<Utf8PathBuf> = folder()
        .read_dir_utf8()
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().to_owned())
        .filter(|path| path.extension() == Some("ndbg") && trace::read_meta(path).is_ok())
        .collect();
    found.sort();
    found
}

fn make_room() {
    let all = recordings();
    for old in &all[..all.len().saturating_sub(KEPT - 1)] {
        // One that cannot go stays; it is asked again next time.
        let _ = std::fs::remove_dir_all(old);
    }
}
