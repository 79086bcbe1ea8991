use std::fmt::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_simulator::recording::EventId;

use super::{FolderError, open, write_streaming};

/// A program of `calls` calls with three lines each, as the recorder writes it.
fn raw(calls: usize, ended: bool) -> String {
    let mut text = String::from(
        "H {\"format\":\"ndbg-raw\",\"version\":1,\"what\":\"script\",\"python\":\"3.11.7\"}\n\
         F {\"name\":\"/p/a.py\",\"source\":true}\nS \"f\"\nS \"n\"\nS \"None\"\nK 0 0 1 -\n\
         T \"MainThread\"\nB function \"a\"\n",
    );
    let texts = 3;
    for call in 0..calls {
        let value = texts + call;
        let _ = writeln!(text, "S \"{}\"", call * 7919);
        let _ = writeln!(text, "c {call} {call} - 0 0 1 c 1={value}");
        let _ = write!(text, "l {call} 2\nl {call} 3 1={value}#{}\n", call + 1);
        let _ = writeln!(text, "r {call} 3 2 r 1=-");
    }
    if ended {
        let _ = write!(text, "X normal\nE {{\"events\":{}}}\n", calls * 4);
    }
    text
}

fn record(folder: &Utf8Path, raw: &str) -> super::Written {
    let mut sources = |name: &str| {
        (
            name.trim_start_matches("/p/").to_owned(),
            Some("def f(n):\n".into()),
        )
    };
    write_streaming(folder, raw.as_bytes(), vec!["trace".into()], &mut sources).unwrap()
}

fn scratch() -> (tempfile::TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(folder.path()).unwrap().join("a.ndbg");
    (folder, path)
}

#[test]
fn what_is_written_is_read_back() {
    let (_keep, path) = scratch();
    let written = record(&path, &raw(300, true));
    assert_eq!((written.events, written.complete), (1200, true));
    let opened = open(&path).unwrap();
    assert_eq!(opened.cut_off, None);
    assert_eq!(opened.meta.events, Some(1200));
    let run = &opened.recording;
    assert_eq!((run.len(), run.frame_count()), (1200, 300));
    assert_eq!(run.files()[0].name, "a.py");
    assert_eq!(run.source_line(EventId(0)), "def f(n):");
    let third = run.event(EventId(4 * 299 + 2));
    assert_eq!(third.changes[0].serial, 300);
    let value = third.changes[0].value.unwrap();
    assert_eq!(run.text(value), (299 * 7919).to_string());
    assert!(run.locals(EventId(4 * 299 + 3)).is_empty());
}

#[test]
fn a_recording_cut_off_anywhere_opens_up_to_its_last_whole_event() {
    let (_keep, path) = scratch();
    record(&path, &raw(20_000, true));
    let records = path.join("records.zst");
    let whole = std::fs::read(&records).unwrap();
    let mut seen = Vec::new();
    for part in 0..40 {
        std::fs::write(&records, &whole[..whole.len() * part / 40]).unwrap();
        let opened = open(&path).unwrap();
        assert!(opened.cut_off.is_some(), "{part}/40 is no whole recording");
        seen.push(opened.recording.len());
    }
    assert!(seen.is_sorted(), "{seen:?}");
    assert!(seen[39] > 60_000, "{seen:?}");
}

#[test]
fn a_damaged_byte_ends_the_recording_and_is_said() {
    let (_keep, path) = scratch();
    record(&path, &raw(20_000, true));
    let records = path.join("records.zst");
    let mut bytes = std::fs::read(&records).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    std::fs::write(&records, &bytes).unwrap();
    let opened = open(&path).unwrap();
    assert!(opened.cut_off.unwrap().contains("damaged"));
    assert!(opened.recording.len() < 80_000);
}

#[test]
fn a_program_that_died_is_said() {
    let (_keep, path) = scratch();
    let mut text = raw(3, false);
    text.truncate(text.len() - 3);
    let written = record(&path, &text);
    assert_eq!((written.events, written.complete), (11, false));
    let opened = open(&path).unwrap();
    assert!(opened.cut_off.unwrap().contains("died"));
    assert_eq!(opened.recording.len(), 11);
}

#[test]
fn another_version_is_named() {
    let (_keep, path) = scratch();
    record(&path, &raw(1, true));
    let meta = path.join("meta.json");
    let text = std::fs::read_to_string(&meta).unwrap();
    std::fs::write(&meta, text.replace("\"version\": 1", "\"version\": 12")).unwrap();
    let error = open(&path).unwrap_err();
    assert!(
        matches!(error, FolderError::Version { found: 12, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("version 12"), "{error}");
}

#[test]
fn a_folder_with_other_things_is_never_written_over() {
    let (_keep, path) = scratch();
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("thesis.txt"), "years of work").unwrap();
    let mut sources = |name: &str| (name.to_owned(), None);
    let error = write_streaming(&path, raw(1, true).as_bytes(), vec![], &mut sources).unwrap_err();
    assert!(matches!(error, FolderError::Occupied(_)), "{error}");
    assert!(matches!(open(&path).unwrap_err(), FolderError::NotOne(_)));
}
