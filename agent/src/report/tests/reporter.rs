//! From events to files and streams, on good days and bad ones.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use camino::{Utf8Path, Utf8PathBuf};

use super::stories;
use crate::report::event::{Event, Stamped};
use crate::report::live::Live;
use crate::report::look::Look;
use crate::report::reporter::Streams;
use crate::report::{
    ReportError, Reporter, ReporterOptions, StdoutMode, Story, json, jsonl, read_events,
};

/// A stream that can be read later, or that fails with an error of the given kind.
#[derive(Clone, Default)]
struct Stream {
    written: Arc<Mutex<Vec<u8>>>,
    failure: Arc<Mutex<Option<io::ErrorKind>>>,
}

impl Stream {
    fn failing(kind: io::ErrorKind) -> Self {
        let stream = Self::default();
        *stream.failure.lock().expect("locks") = Some(kind);
        stream
    }

    fn text(&self) -> String {
        String::from_utf8(self.written.lock().expect("locks").clone()).expect("is UTF-8")
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(kind) = *self.failure.lock().expect("locks") {
            return Err(kind.into());
        }
        self.written.lock().expect("locks").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Rig {
    reporter: Reporter,
    out: Stream,
    err: Stream,
    run_dir: Utf8PathBuf,
    _folder: tempfile::TempDir,
}

fn rig(stdout: StdoutMode, out: Stream) -> Rig {
    let folder = tempfile::tempdir().expect("makes a folder");
    let run_dir = Utf8Path::from_path(folder.path())
        .expect("is UTF-8")
        .join("runs/1");
    let err = Stream::default();
    let streams = Streams {
        out: Box::new(out.clone()),
        err: Box::new(err.clone()),
        look: Look::PLAIN,
        live: Live::plain(),
        together: false,
    };
    let options = ReporterOptions {
        run_dir: Some(run_dir.clone()),
        stdout,
        ..ReporterOptions::default()
    };
    Rig {
        reporter: Reporter::on(streams, options).expect("starts"),
        out,
        err,
        run_dir,
        _folder: folder,
    }
}

fn fixed() -> Vec<Event> {
    stories::fixed()
        .into_iter()
        .map(|stamped| stamped.event)
        .collect()
}

const PATCH: &[u8] = b"--- a/f.py\n+++ b/f.py\n@@ -1 +1 @@\n-x = '\xe9'\n+x = 1\r\n";

#[test]
fn a_run_leaves_every_artefact_and_the_diff_on_stdout() {
    let rig = rig(StdoutMode::Diff, Stream::default());
    for event in fixed() {
        rig.reporter.emit(event);
    }
    rig.reporter.finish(PATCH).expect("writes");
    assert_eq!(*rig.out.written.lock().expect("locks"), PATCH);
    let read = |name: &str| std::fs::read(rig.run_dir.join(name)).expect("is there");
    assert_eq!(read("patch.diff"), PATCH);
    assert!(read("report.html").starts_with(b"<!doctype html>"));
    assert!(read("report.md").starts_with(b"# Fixed"));
    serde_json::from_slice::<serde_json::Value>(&read("report.json")).expect("is JSON");
    let names = std::fs::read_dir(&rig.run_dir).expect("lists").count();
    assert_eq!(names, 5, "no temporary file is left");
    let said = rig.err.text();
    assert!(said.contains("  report     ") && said.contains("  next       git -C /home/ada/shop"));
}

#[test]
fn the_recording_tells_the_same_story() {
    let rig = rig(StdoutMode::Jsonl, Stream::default());
    for event in fixed() {
        rig.reporter.emit(event);
    }
    let path = rig.run_dir.join("events.jsonl");
    let recording = read_events(&path).expect("reads");
    assert_eq!(recording.unreadable, 0);
    assert_eq!(
        std::fs::read_to_string(path).expect("reads"),
        rig.out.text()
    );
    let times: Vec<f64> = recording.events.iter().map(|stamped| stamped.at).collect();
    assert!(times.is_sorted());
    assert_eq!(Story::from_events(&recording.events).verified(), 1);
}

#[test]
fn every_line_reads_back_as_it_was() {
    let mut events = stories::fixed();
    events.extend(stories::hostile());
    events.extend(stories::not_fixed());
    if let Event::RunStarted { budget, .. } = &mut events[0].event {
        budget.seconds = f64::INFINITY;
    }
    for stamped in events {
        let line = text(&stamped);
        assert_eq!(line.lines().count(), 1);
        assert_eq!(text(&serde_json::from_str(&line).expect("reads")), line);
    }
}

fn text(stamped: &Stamped) -> String {
    String::from_utf8(jsonl::line(stamped).expect("writes")).expect("is UTF-8")
}

#[test]
fn lines_are_stable() {
    let lines: String = stories::fixed().iter().map(text).collect();
    insta::assert_snapshot!(lines);
}

#[test]
fn the_recording_of_a_killed_run_reads_up_to_its_last_event() {
    let rig = rig(StdoutMode::Silent, Stream::default());
    for event in fixed() {
        rig.reporter.emit(event);
    }
    let path = rig.run_dir.join("events.jsonl");
    let whole = std::fs::read(&path).expect("reads");
    let all = fixed().len();
    for cut in [1, 2, 40, whole.len() - 1, whole.len()] {
        std::fs::write(&path, &whole[..whole.len() - cut]).expect("writes");
        let recording = read_events(&path).expect("reads");
        let lines = whole[..whole.len() - cut]
            .split(|byte| *byte == b'\n')
            .count();
        assert!(recording.unreadable <= 1);
        assert!(recording.events.len() + 1 >= lines.min(all), "{cut}");
        json::render(&Story::from_events(&recording.events)).expect("renders");
    }
}

#[test]
fn a_recording_of_a_later_version_is_refused() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let path = Utf8Path::from_path(folder.path())
        .expect("is UTF-8")
        .join("events.jsonl");
    let mut first = stories::fixed().remove(0);
    if let Event::RunStarted { format, .. } = &mut first.event {
        *format += 1;
    }
    std::fs::write(&path, jsonl::line(&first).expect("writes")).expect("writes");
    assert!(matches!(
        read_events(&path),
        Err(ReportError::TooNew { .. })
    ));
}

#[test]
fn a_run_directory_that_cannot_be_made_stops_the_start() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let file = Utf8Path::from_path(folder.path())
        .expect("is UTF-8")
        .join("file");
    std::fs::write(&file, "").expect("writes");
    let started = Reporter::start(ReporterOptions {
        run_dir: Some(file.join("run")),
        ..ReporterOptions::default()
    });
    assert!(matches!(started, Err(ReportError::RunDir { .. })));
}

#[test]
fn a_run_directory_that_goes_away_costs_the_files_but_not_the_diff() {
    let rig = rig(StdoutMode::Diff, Stream::default());
    for event in fixed() {
        rig.reporter.emit(event);
    }
    std::fs::remove_dir_all(&rig.run_dir).expect("removes");
    let finished = rig.reporter.finish(PATCH);
    assert!(
        matches!(finished, Err(ReportError::Write { path, .. }) if path.ends_with("patch.diff"))
    );
    assert_eq!(*rig.out.written.lock().expect("locks"), PATCH);
    assert!(
        !rig.err.text().contains("  report "),
        "no report is promised"
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for stdout in [StdoutMode::Diff, StdoutMode::Jsonl] {
        let rig = rig(stdout, Stream::failing(io::ErrorKind::BrokenPipe));
        for event in fixed() {
            rig.reporter.emit(event);
        }
        rig.reporter.finish(PATCH).expect("is no error");
        assert!(!rig.err.text().contains("cannot write"));
    }
}

#[test]
fn a_real_closed_pipe_is_no_error() {
    let (reader, writer) = io::pipe().expect("makes a pipe");
    drop(reader);
    let streams = Streams {
        out: Box::new(writer.try_clone().expect("clones")),
        err: Box::new(writer),
        look: Look::PLAIN,
        live: Live::plain(),
        together: false,
    };
    let options = ReporterOptions {
        stdout: StdoutMode::Jsonl,
        ..ReporterOptions::default()
    };
    let reporter = Reporter::on(streams, options).expect("starts");
    for event in fixed() {
        reporter.emit(event);
    }
    reporter.finish(PATCH).expect("is no error");
}

#[test]
fn a_diff_that_does_not_fit_on_stdout_is_an_error() {
    let rig = rig(
        StdoutMode::Diff,
        Stream::failing(io::ErrorKind::StorageFull),
    );
    assert!(matches!(
        rig.reporter.finish(PATCH),
        Err(ReportError::Stdout(_))
    ));
    assert!(rig.run_dir.join("patch.diff").exists());
}

#[test]
fn a_full_disk_is_said_once_and_tears_one_line() {
    let disk = Stream::default();
    let mut sink = jsonl::Sink::new(Box::new(disk.clone()));
    sink.write(b"{\"one\":1}\n").expect("writes");
    *disk.failure.lock().expect("locks") = Some(io::ErrorKind::StorageFull);
    assert!(sink.write(b"{\"two\":2}\n").is_err());
    *disk.failure.lock().expect("locks") = None;
    sink.write(b"{\"three\":3}\n").expect("writes");
    assert_eq!(disk.text(), "{\"one\":1}\n\n{\"three\":3}\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_does_not_end_the_run() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let run_dir = Utf8Path::from_path(folder.path())
        .expect("is UTF-8")
        .to_owned();
    std::os::unix::fs::symlink("/dev/full", run_dir.join("events.jsonl")).expect("links");
    let err = Stream::default();
    let streams = Streams {
        out: Box::new(Stream::default()),
        err: Box::new(err.clone()),
        look: Look::PLAIN,
        live: Live::plain(),
        together: false,
    };
    let options = ReporterOptions {
        run_dir: Some(run_dir),
        ..ReporterOptions::default()
    };
    let reporter = Reporter::on(streams, options).expect("starts");
    for event in fixed() {
        reporter.emit(event);
    }
    reporter.finish(PATCH).expect("the reports are written");
    assert_eq!(err.text().matches("cannot record events").count(), 1);
}

#[test]
fn threads_may_report_at_once() {
    let rig = rig(StdoutMode::Jsonl, Stream::default());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for event in fixed() {
                    rig.reporter.emit(event);
                }
            });
        }
    });
    let recording = read_events(&rig.run_dir.join("events.jsonl")).expect("reads");
    assert_eq!(recording.unreadable, 0);
    assert_eq!(recording.events.len(), 4 * fixed().len());
    assert!(recording.events.is_sorted_by_key(|stamped| stamped.at));
}

#[test]
fn a_run_without_a_patch_leaves_an_empty_one() {
    let rig = rig(StdoutMode::Diff, Stream::default());
    for stamped in stories::not_fixed() {
        rig.reporter.emit(stamped.event);
    }
    rig.reporter.finish(b"").expect("writes");
    assert_eq!(
        std::fs::read(rig.run_dir.join("patch.diff")).expect("is there"),
        b""
    );
    assert_eq!(rig.out.text(), "");
}
