//! Why a test fails, told without a patch.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use ndbg_tests::{Call, Repo, Venv};
use serde_json::Value as Json;

const PARCEL: &str = "\
def volume(sides):
    result = 1
    for side in sides:
        result = result * side
    return result


def weight(sides, density):
    space = volume(sides)
    return space - density


def label(kinds, kind):
    return kinds[kind]
";

const TEST: &str = "\
from parcel import label, volume, weight


def test_weight():
    assert weight([2, 3], 10) == 60


def test_volume():
    assert volume([2, 3]) == 6


def test_label():
    assert label({}, 'a') == 'A'
";

fn repo() -> Repo {
    Repo::new(&[("parcel.py", PARCEL), ("test_parcel.py", TEST)])
}

fn explain<'r>(repo: &'r Repo, test: &str) -> Call<'r> {
    let call = repo.call("explain").python(Venv::Plain.python());
    call.args(["--baseline-runs", "1"])
        .test(&format!("test_parcel.py::{test}"))
}

#[test]
fn the_divergence_is_told_with_the_way_there_and_the_steps_before_it() {
    let repo = repo();
    let run = explain(&repo, "test_weight").run();
    assert_eq!(run.code, Some(0), "{}", run.told());
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    for part in [
        "test_parcel.py::test_weight\n",
        "actual     -4\n",
        "expected   60\n",
        "Where it parts from what was needed\n",
        "derived by rules from the recording",
        "From the assertion to there\n",
        "parcel.py:10 in weight: the returned value was -4 instead of 60",
        "recorded",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let mut marked = text.lines().filter(|line| line.starts_with("  > "));
    assert!(marked.next().is_some(), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert!(!text.contains('\x1b'));
}

#[test]
fn the_document_has_the_frame_with_what_was_recorded_and_needed() {
    let repo = repo();
    let run = explain(&repo, "test_weight").args(["--json"]).run();
    assert_eq!(run.code, Some(0), "{}", run.told());
    let document: Json = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(document["format"], 1);
    assert_eq!(document["simulator"], "embedded");
    let test = &document["tests"][0];
    assert_eq!(test["no_divergence"], Json::Null);
    assert_eq!(test["divergence"]["ends_here"], true);
    let way = test["way"].as_array().unwrap();
    assert_eq!(way.last(), Some(&test["divergence"]));
    assert_eq!(way[0]["function"], "weight");
    let frame = &test["frame"];
    let here = frame["diverges_at"].as_u64().unwrap() as usize;
    let step = &frame["steps"][here];
    assert_eq!(step["line"], test["divergence"]["line"]);
    assert_eq!(step["recorded"][0]["value"], test["divergence"]["recorded"]);
    assert_eq!(step["needed"][0]["value"], test["divergence"]["needed"]);
}

#[test]
fn an_exception_parts_where_it_was_raised_and_needs_none() {
    let repo = repo();
    let run = explain(&repo, "test_label").run();
    assert_eq!(run.code, Some(0), "{}", run.told());
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(
        text.contains("The exception in label, parcel.py:14"),
        "{text}"
    );
    assert!(text.contains("needed     no exception"), "{text}");
    assert!(text.contains("return kinds[kind]"), "{text}");
}

#[test]
fn without_a_simulator_nothing_is_recorded() {
    let repo = repo();
    let run = explain(&repo, "test_weight")
        .args(["--simulator", "off"])
        .run();
    assert_eq!(run.code, Some(0), "{}", run.told());
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(text.contains("No simulator"), "{text}");
}

#[test]
fn what_passes_needs_no_explanation() {
    let repo = repo();
    let run = explain(&repo, "test_volume").run();
    assert_eq!(run.code, Some(3), "{}", run.told());
    assert!(run.stdout.is_empty());
}

#[test]
fn a_report_is_written_where_it_is_asked_for() {
    let repo = repo();
    let folder = repo.outside("explained");
    let run = explain(&repo, "test_weight")
        .args(["--out", folder.as_str()])
        .run();
    assert_eq!(run.code, Some(0), "{}", run.told());
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("Explained") && page.contains("class=\"frame\""));
    assert!(!page.contains("<script") && !page.contains("src="));
    let report = std::fs::read_to_string(folder.join("report.md")).unwrap();
    assert!(report.starts_with("# Explained: "), "{report}");
    let json = std::fs::read(folder.join("report.json")).unwrap();
    let json: Json = serde_json::from_slice(&json).unwrap();
    assert_eq!(
        json["divergence_frame"]["test"],
        "test_parcel.py::test_weight"
    );
}
