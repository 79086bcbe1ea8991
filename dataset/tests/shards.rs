//! One shard and several give the same bytes, whatever happened on the way.

#![allow(clippy::unwrap_used)] // A test fails by panicking.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use ndbg_dataset::manifest::Recipe;
use ndbg_dataset::merge::{Merging, merge};
use ndbg_dataset::random::Random;
use ndbg_dataset::sample::{Harvest, Origin, Sample, Skip, Unit};
use ndbg_dataset::shard::{RunOptions, Shard, Worker, part_path, run_shard};
use serde_json::json;

/// Draws from the unit's number; some units fail in each of the ways there are.
struct Drawing {
    seed: u64,
    /// Kills the process in this unit.
    deadly: Option<u64>,
}

impl Worker for Drawing {
    fn run(&self, unit: &Unit) -> Result<Harvest, Skip> {
        let number = unit.work.as_u64().unwrap();
        if self.deadly == Some(number) {
            std::process::abort();
        }
        match number % 11 {
            3 => {
                return Err(Skip::Unsuitable {
                    reason: "empty".into(),
                });
            }
            5 => {
                return Err(Skip::Duplicate {
                    of: "unit-0".into(),
                });
            }
            7 => panic!("unit {number} went wrong"),
            _ => {}
        }
        let mut random = Random::of(self.seed, number);
        let sample = |_| Sample {
            actions: BTreeMap::from([("step_into".to_owned(), 1 + number % 3)]),
            origin: Some(Origin {
                file: format!("file{}.py", number % 4),
                project: "example 1.0".into(),
                licence: "MIT".into(),
            }),
            program: None,
            data: json!({ "text": "x".repeat(number as usize % 40), "bits": random.bits() })
                .as_object()
                .unwrap()
                .clone(),
        };
        Ok((0..number % 5).map(sample).collect::<Vec<_>>().into())
    }

    fn fingerprint(&self) -> String {
        format!("seed {}", self.seed)
    }
}

fn units(number: u64) -> Vec<Unit> {
    (0..number)
        .map(|index| Unit {
            key: format!("unit-{index}"),
            source: if index % 2 == 0 {
                "generated".into()
            } else {
                "fuzzed".into()
            },
            work: json!(index),
        })
        .collect()
}

fn chunks(chunk: usize) -> Merging {
    Merging {
        chunk,
        ..Merging::default()
    }
}

fn recipe() -> Recipe {
    Recipe {
        name: "test".into(),
        seeds: [("programs".to_owned(), 7)].into(),
        ..Recipe::default()
    }
}

const WORKER: Drawing = Drawing {
    seed: 7,
    deadly: None,
};

fn run(folder: &Path, index: usize, count: usize) -> ndbg_dataset::shard::ShardReport {
    let options = RunOptions {
        shard: Shard { index, count },
        retry_crashed: false,
    };
    run_shard(&WORKER, &units(60), options, folder, |_, _| ()).unwrap()
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(|entry| {
            (
                entry.file_name().into_string().unwrap(),
                fs::read(entry.path()).unwrap(),
            )
        })
        .collect()
}

fn merged(root: &Path, shards: usize) -> BTreeMap<String, Vec<u8>> {
    let (parts, out) = (
        root.join(format!("parts{shards}")),
        root.join(format!("out{shards}")),
    );
    for index in (0..shards).rev() {
        run(&parts, index, shards);
    }
    merge(&WORKER, &units(60), &parts, &out, recipe(), &chunks(700)).unwrap();
    files(&out)
}

#[test]
fn one_shard_and_several_merge_to_the_same_bytes() {
    let root = tempfile::tempdir().unwrap();
    let one = merged(root.path(), 1);
    assert!(one.len() > 5, "several data files: {:?}", one.keys());
    for shards in [2, 3, 4, 7, 61] {
        assert!(merged(root.path(), shards) == one, "{shards} shards differ");
    }
}

#[test]
fn failures_cost_their_unit_and_are_written_down() {
    let root = tempfile::tempdir().unwrap();
    let report = run(root.path(), 0, 1);
    assert_eq!((report.units, report.written, report.kept), (60, 60, 0));
    assert_eq!(report.crashed, 5);
    let out = root.path().join("out");
    let manifest = merge(
        &WORKER,
        &units(60),
        root.path(),
        &out,
        recipe(),
        &chunks(1 << 20),
    )
    .unwrap();
    assert_eq!(
        manifest.crashed.get("unit-7").map(String::as_str),
        Some("unit 7 went wrong")
    );
    assert_eq!(
        manifest.duplicates.get("unit-5").map(String::as_str),
        Some("unit-0")
    );
    assert_eq!(manifest.skipped.get("unsuitable: empty"), Some(&6));
    assert_eq!(manifest.origins.len(), 4);
    let card = String::from_utf8(files(&out)["README.md"].clone()).unwrap();
    assert!(card.contains("| example 1.0 (MIT) | 4 |"), "{card}");
}

#[test]
fn finished_parts_are_kept_and_damaged_ones_made_again() {
    let root = tempfile::tempdir().unwrap();
    run(root.path(), 0, 1);
    let part = part_path(root.path(), 9, "unit-9");
    let whole = fs::read(&part).unwrap();
    fs::write(&part, &whole[..whole.len() - 3]).unwrap();
    fs::remove_file(part_path(root.path(), 10, "unit-10")).unwrap();
    let report = run(root.path(), 0, 1);
    assert_eq!((report.written, report.kept), (2, 58));
    assert_eq!(fs::read(&part).unwrap(), whole);
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0x10;
    fs::write(&part, damaged).unwrap();
    assert_eq!(run(root.path(), 0, 1).written, 1);
}

#[test]
fn parts_of_other_options_are_neither_kept_nor_merged() {
    let root = tempfile::tempdir().unwrap();
    run(root.path(), 0, 1);
    let other = Drawing {
        seed: 8,
        deadly: None,
    };
    let out = root.path().join("out");
    let error = merge(
        &other,
        &units(60),
        root.path(),
        &out,
        recipe(),
        &chunks(1 << 20),
    )
    .unwrap_err();
    assert!(error.to_string().contains("under other options"), "{error}");
    let options = RunOptions {
        shard: Shard::WHOLE,
        retry_crashed: false,
    };
    let report = run_shard(&other, &units(60), options, root.path(), |_, _| ()).unwrap();
    assert_eq!(report.written, 60);
}

#[test]
fn half_the_work_is_not_merged_and_keys_are_unique() {
    let root = tempfile::tempdir().unwrap();
    run(root.path(), 0, 2);
    let out = root.path().join("out");
    assert!(
        merge(
            &WORKER,
            &units(60),
            root.path(),
            &out,
            recipe(),
            &chunks(1 << 20)
        )
        .is_err()
    );
    assert!(!out.join("manifest.json").exists());
    let twice = [units(1), units(1)].concat();
    let options = RunOptions {
        shard: Shard::WHOLE,
        retry_crashed: false,
    };
    assert!(run_shard(&WORKER, &twice, options, root.path(), |_, _| ()).is_err());
}

/// Not a test by itself: what the next one kills.
#[test]
fn child_shard() {
    let Ok(folder) = env::var("NDBG_TEST_CHILD_SHARD") else {
        return;
    };
    let worker = Drawing {
        seed: 7,
        deadly: Some(22),
    };
    let options = RunOptions {
        shard: Shard { index: 2, count: 4 },
        retry_crashed: false,
    };
    run_shard(&worker, &units(60), options, Path::new(&folder), |_, _| ()).unwrap();
}

fn killed_shard(folder: &Path) -> bool {
    let status = Command::new(env::current_exe().unwrap())
        .args(["--exact", "child_shard", "--test-threads=1"])
        .env("NDBG_TEST_CHILD_SHARD", folder)
        .output()
        .unwrap()
        .status;
    !status.success()
}

#[test]
fn a_killed_shard_is_resumed_to_the_same_bytes() {
    let root = tempfile::tempdir().unwrap();
    let one = merged(root.path(), 1);
    let parts = root.path().join("parts4");
    assert!(killed_shard(&parts));
    assert!(part_path(&parts, 18, "unit-18").exists());
    assert!(!part_path(&parts, 22, "unit-22").exists());
    let report = run(&parts, 2, 4);
    assert_eq!((report.kept, report.units), (5, 15));
    assert!(merged(root.path(), 4) == one);
}

#[test]
fn a_unit_that_kills_the_process_again_and_again_is_given_up() {
    let root = tempfile::tempdir().unwrap();
    for _ in 0..3 {
        assert!(killed_shard(root.path()));
    }
    assert!(!killed_shard(root.path()));
    let part = ndbg_dataset::shard::read_part(&part_path(root.path(), 22, "unit-22")).unwrap();
    assert!(
        matches!(part.header.skipped, Some(Skip::Crashed { .. })),
        "{:?}",
        part.header
    );
    let options = RunOptions {
        shard: Shard { index: 2, count: 4 },
        retry_crashed: true,
    };
    let report = run_shard(&WORKER, &units(60), options, root.path(), |_, _| ()).unwrap();
    assert!(part_path(root.path(), 22, "unit-22").exists());
    assert_eq!(report.units, 15);
}
