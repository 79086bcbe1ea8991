//! The files of a finished run.

use std::io::{self, Write};

use camino::Utf8Path;

use crate::report::story::Story;
use crate::report::{ReportError, html, json, markdown};

/// Name of the recording.
pub const EVENTS: &str = "events.jsonl";
/// Name of the report for browsers.
pub const REPORT: &str = "report.html";

/// Writes every artefact, each of them even where another fails. The answer is the first error.
pub fn write(run_dir: &Utf8Path, story: &Story, patch: &[u8]) -> Result<(), ReportError> {
    let text = |name, rendered: Result<String, ReportError>| {
        replace(&run_dir.join(name), rendered?.as_bytes())
    };
    // The patch comes first: it is what a run is for.
    let results = [
        replace(&run_dir.join("patch.diff"), patch),
        text("report.json", json::render(story)),
        text("report.md", Ok(markdown::render(story))),
        text(REPORT, html::render(story)),
    ];
    results.into_iter().collect()
}

/// Puts a file in place in one step, so that nobody ever reads half of it.
fn replace(path: &Utf8Path, contents: &[u8]) -> Result<(), ReportError> {
    let written = || -> io::Result<()> {
        let folder = path.parent().unwrap_or(Utf8Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".report-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // Temporary files are private; an artefact is as readable as the umask allows.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut file = builder.tempfile_in(folder)?;
        file.write_all(contents)?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    written().map_err(|source| ReportError::Write {
        path: path.to_owned(),
        source,
    })
}
