//! What a run needs to be gone on with: its command line and where it was given, in `run.json` of its folder.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::stop::Stop;
use crate::outcome::Outcome;

/// Version of the file; a reader refuses every other one.
const FORMAT: u32 = 1;
const FILE: &str = "run.json";

/// A command line. Keys are never on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumable {
    /// [`FORMAT`].
    pub format: u32,
    /// Version of the program.
    pub version: String,
    /// Folder in which it was given.
    pub cwd: Utf8PathBuf,
    /// Arguments, without the program's own name.
    pub arguments: Vec<String>,
}

impl Resumable {
    /// The command line of this process.
    pub fn of_process() -> Option<Self> {
        let cwd = Utf8PathBuf::from_path_buf(std::env::current_dir().ok()?).ok()?;
        let arguments = std::env::args_os()
            .skip(1)
            .map(|argument| argument.into_string().ok())
            .collect::<Option<Vec<String>>>()?;
        Some(Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            cwd,
            arguments,
        })
    }
}

/// Writes it; a run goes on without.
pub fn write(run_dir: &Utf8Path, run: &Resumable) {
    if let Ok(text) = serde_json::to_string_pretty(run) {
        let _ = fs::create_dir_all(run_dir);
        let _ = fs::write(run_dir.join(FILE), text + "\n");
    }
}

/// Reads it.
///
/// # Errors
/// The folder is none of a run, or one of another version.
pub fn read(run_dir: &Utf8Path) -> Result<Resumable, Stop> {
    let path = run_dir.join(FILE);
    let usage = |message: String| Stop::new(Outcome::Usage, message);
    let text = fs::read_to_string(&path).map_err(|_| {
        usage(format!(
            "`{run_dir}` is no folder of a run: it has no readable {FILE}"
        ))
        .hint("`fix` says where its run folder is; `--out DIR` names it")
    })?;
    let run: Resumable = serde_json::from_str(&text)
        .map_err(|error| usage(format!("`{path}` cannot be read: {error}")))?;
    if run.format != FORMAT {
        return Err(usage(format!(
            "`{path}` has format {}, this program reads format {FORMAT}",
            run.format
        )));
    }
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_read_back_and_other_formats_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let run = Resumable {
            format: FORMAT,
            version: "1".into(),
            cwd: "/x".into(),
            arguments: vec!["fix".into(), "--model".into(), "a b".into()],
        };
        write(folder, &run);
        assert_eq!(read(folder).unwrap(), run);
        write(folder, &Resumable { format: 9, ..run });
        assert!(read(folder).unwrap_err().message.contains("format 9"));
        assert!(
            read(&folder.join("none"))
                .unwrap_err()
                .message
                .contains("no folder of a run")
        );
    }
}
