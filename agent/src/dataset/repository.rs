//! The tests of a repository as a source: a unit is a test file, recorded as a whole.

use std::fs::File;
use std::io::BufReader;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_dataset::sample::{Harvest, Origin, Skip, Unit};
use ndbg_simulator::recording::RecordingBuilder;
use ndbg_tools::python::pytest::{Mode, Request, Tracing};
use ndbg_tools::trace::RawReader;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::trajectories::{Drawing, of_repository};
use crate::fix::session::Session;
use crate::trace::source;
use ndbg_tools::protected::is_test_name;

/// Events that are recorded of a test file.
const MAX_EVENTS: u64 = 300_000;
/// Time for the tests of one file; what was recorded until then counts.
const DEADLINE: Duration = Duration::from_mins(2);

#[derive(Debug, Serialize, Deserialize)]
struct Work {
    file: String,
    /// Commit, where there is one: parts of another state of the repository are no parts of this one.
    base: Option<String>,
    project: String,
    licence: String,
}

/// A unit for each test file of the session's tree.
pub(super) fn units(session: &Session, project: &str, licence: &str) -> Vec<Unit> {
    let mut files = Vec::new();
    collect(&session.harness.folder, &session.harness.folder, &mut files);
    files.sort();
    files
        .into_iter()
        .map(|file| Unit {
            key: format!("tests/{file}"),
            source: "tests".into(),
            work: json!(Work {
                file: file.to_string(),
                base: session.base.commit.clone(),
                project: project.to_owned(),
                licence: licence.to_owned(),
            }),
        })
        .collect()
}

fn collect(root: &Utf8Path, folder: &Utf8Path, files: &mut Vec<Utf8PathBuf>) {
    for entry in folder.read_dir_utf8().into_iter().flatten().flatten() {
        let name = entry.file_name();
        let kind = entry.file_type();
        if kind.as_ref().is_ok_and(std::fs::FileType::is_dir) {
            if !name.starts_with('.') && !matches!(name, "__pycache__" | "node_modules" | "venv") {
                collect(root, entry.path(), files);
            }
        } else if is_test_name(name)
            && name != "conftest.py"
            && entry.path().extension() == Some("py")
            && let Ok(relative) = entry.path().strip_prefix(root)
        {
            files.push(relative.to_owned());
        }
    }
}

pub(super) fn run(unit: &Unit, session: &Session, drawing: &Drawing) -> Result<Harvest, Skip> {
    let work: Work = serde_json::from_value(unit.work.clone()).map_err(super::build::crashed)?;
    let raw = session.harness.tmp.join("dataset.raw");
    session
        .tree
        .restore(&session.cancel)
        .map_err(super::build::crashed)?;
    let request = Request {
        mode: Mode::Trace(Tracing {
            out: raw.clone(),
            files: None,
            functions: None,
            states: true,
            max_events: MAX_EVENTS,
        }),
        neutral: true,
        deadline: DEADLINE,
        ..Request::run(vec![work.file.clone()])
    };
    let results = session
        .harness
        .run(&request, &session.cancel)
        .map_err(super::build::crashed)?;
    let unsuitable = |reason: &str| Skip::Unsuitable {
        reason: reason.to_owned(),
    };
    let file = File::open(&raw).map_err(|_| unsuitable("no test ran"))?;
    let mut reader = RawReader::start(BufReader::new(file)).map_err(super::build::crashed)?;
    let mut builder = RecordingBuilder::new();
    let folder = session.harness.folder.clone();
    let mut sources = |name: &str| source(name, &folder);
    while let Some(record) = reader
        .next_record(&mut sources)
        .map_err(super::build::crashed)?
    {
        builder.push(record).map_err(super::build::crashed)?;
    }
    let _ = std::fs::remove_file(&raw);
    let recording = builder.finish();
    if results.tests.is_empty() {
        return Err(unsuitable("no test ran"));
    }
    let origin = |file: &str| {
        Some(Origin {
            file: file.to_owned(),
            project: work.project.clone(),
            licence: work.licence.clone(),
        })
    };
    let samples = of_repository(&recording, &unit.key, drawing, origin);
    if samples.is_empty() {
        return Err(unsuitable("nothing to step through"));
    }
    Ok(samples.into())
}
