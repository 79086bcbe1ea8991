//! Generated programs, run for real.

#![allow(clippy::unwrap_used)] // A test fails by panicking.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use ndbg_dataset::generate::{Program, program_at};
use ndbg_dataset::profile::{Measurement, Metric, Profile, Selection, distances};

/// Runs each program and prints what it ended with. A program that does not end is ended.
const HARNESS: &str = "
import json, signal, sys, warnings
warnings.simplefilter('ignore')
class TooLong(BaseException):
    pass
def stop(*_):
    raise TooLong
signal.signal(signal.SIGALRM, stop)
out, sys.stdout = sys.stdout, open('/dev/null', 'w')
for line in open(sys.argv[1]):
    program = json.loads(line)
    signal.alarm(5)
    try:
        space = {'__name__': 'program'}
        exec(compile(program['source'], 'program', 'exec'), space)
        space['main']()
        ended = 'value'
    except BaseException as error:
        ended = type(error).__name__
    finally:
        signal.alarm(0)
    print(ended, file=out)
";

const COUNT: u64 = 500;

fn programs(seed: u64, count: u64) -> Vec<Program> {
    let profile = Profile::standard_library().unwrap();
    (0..count)
        .map(|index| program_at(seed, index, &profile))
        .collect()
}

#[test]
fn nearly_every_program_runs_and_a_few_end_in_an_error_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let (file, script) = (
        folder.path().join("programs.jsonl"),
        folder.path().join("harness.py"),
    );
    let programs = programs(11, COUNT);
    let lines: Vec<String> = programs
        .iter()
        .map(|program| serde_json::to_string(program).unwrap())
        .collect();
    fs::write(&file, lines.join("\n")).unwrap();
    fs::write(&script, HARNESS).unwrap();
    let output = Command::new("python3")
        .arg(&script)
        .arg(&file)
        .output()
        .unwrap();
    let ends = String::from_utf8(output.stdout).unwrap();
    let ends: Vec<&str> = ends.lines().collect();
    assert_eq!(
        ends.len() as u64,
        COUNT,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for (end, program) in ends.into_iter().zip(&programs) {
        *counts.entry(end).or_default() += 1;
        let never = [
            "SyntaxError",
            "NameError",
            "UnboundLocalError",
            "MemoryError",
            "TooLong",
        ];
        assert!(!never.contains(&end), "{end}\n{}", program.source);
    }
    assert!(counts["value"] > COUNT * 9 / 10, "{counts:?}");
    assert!(counts["value"] < COUNT, "{counts:?}");
}

#[test]
fn a_program_depends_on_its_seed_and_place_only() {
    let profile = Profile::standard_library().unwrap();
    let all = programs(5, 40);
    for index in [0, 7, 39] {
        assert_eq!(program_at(5, index, &profile), all[index as usize]);
        assert_ne!(program_at(6, index, &profile), all[index as usize]);
    }
}

#[test]
fn the_mix_is_that_of_real_code() {
    let profile = Profile::standard_library().unwrap();
    let mut measurement = Measurement::default();
    for program in programs(2, 2_000) {
        measurement.add(&program.source, Selection::All).unwrap();
    }
    let generated = measurement.profile("generated");
    let bound = |metric| match metric {
        Metric::Statement | Metric::Depth | Metric::Comparison | Metric::Branches => 0.08,
        Metric::Expression | Metric::Condition | Metric::Height | Metric::Operator => 0.2,
        _ => 0.5,
    };
    for distance in distances(&profile, &generated) {
        assert!(
            distance.total_variation < bound(distance.metric),
            "{distance:?}"
        );
    }
}
