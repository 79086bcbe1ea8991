//! Where failing runs part from what was needed, told and used for the ranking.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use ndbg_tests::Repo;
use serde_json::Value as Json;

/// What goes wrong lies behind an attribute, a call and an assignment.
const PARCEL: &str = "\
def volume(sides):
    result = 1
    for side in sides:
        result = result * side
    return result


def weight(sides, density):
    space = volume(sides)
    return space - density


class Parcel:
    def __init__(self, sides, density):
        self.grams = weight(sides, density)
";

const TEST: &str = "\
from parcel import Parcel, volume


def test_grams():
    parcel = Parcel([2, 3], 10)
    assert parcel.grams == 60


def test_volume():
    assert volume([2, 3]) == 6
";

fn repo() -> Repo {
    Repo::new(&[("parcel.py", PARCEL), ("test_parcel.py", TEST)])
}

#[test]
fn the_walk_goes_from_the_assertion_through_an_attribute_into_the_call() {
    let repo = repo();
    let run = repo.fix().args(["--simulator", "embedded"]).run();
    run.is_fixed();
    let partings = run.event("divergence")["partings"]
        .as_array()
        .unwrap()
        .clone();
    let at = |line: u64| -> &Json {
        let found = partings.iter().find(|one| one["line"] == line);
        found.unwrap_or_else(|| panic!("{partings:#?}"))
    };
    assert_eq!(at(10)["function"], "weight");
    assert_eq!(
        (&at(10)["recorded"], &at(10)["needed"]),
        (&Json::from("-4"), &Json::from("60"))
    );
    assert_eq!(at(9)["part"], "`space`");
    assert_eq!(at(9)["needed"], "70");
    assert_eq!(at(9)["provenance"], "derived");
    assert!(
        partings.iter().all(|one| one["file"] == "parcel.py"),
        "tests are right: {partings:#?}"
    );
    let report = std::fs::read_to_string(run.run_dir.join("report.md")).unwrap();
    assert!(
        report.contains("## Where it parts from what was needed"),
        "{report}"
    );
    run.says("diverges");
}

#[test]
fn without_a_simulator_nothing_is_recorded_for_it_and_a_wrong_one_is_said() {
    let repo = repo();
    let run = repo.fix().args(["--simulator", "off"]).run();
    run.is_fixed();
    assert!(run.events.iter().all(|event| event["type"] != "divergence"));
    // Rules go without a model.
    let run = repo.fix().args(["--simulator", "/nowhere/at/all"]).run();
    run.is_fixed();
    run.says("the simulator does without its model");
    assert!(run.events.iter().any(|event| event["type"] == "divergence"));
}
