//! What deduplication, decontamination and the split do to a file of programs.
//!
//! ```text
//! cargo run --release -p ndbg-dataset --example sift -- programs.jsonl [benchmark.jsonl FIELD]
//! ```

use std::error::Error;
use std::{env, fs};

use ndbg_dataset::decontaminate::{Benchmark, RUN, decontaminate};
use ndbg_dataset::near_duplicates::{DuplicateOf, NearDuplicates, NearOptions};
use ndbg_dataset::normalised::{Normalised, normalise};
use ndbg_dataset::split::{Side, split};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let file = arguments.first().ok_or("usage: FILE [BENCHMARK FIELD]")?;
    let mut items: Vec<Normalised> = Vec::new();
    for line in fs::read_to_string(file)?.lines() {
        let record: serde_json::Value = serde_json::from_str(line)?;
        if let Some(source) = record["source"].as_str() {
            items.push(normalise(source)?);
        }
    }
    println!("items: {}", items.len());
    let mut seen = NearDuplicates::new(NearOptions::default());
    let (mut exact, mut near) = (0, 0);
    items.retain(|item| match seen.add(item) {
        Some(DuplicateOf::Exact(_)) => {
            exact += 1;
            false
        }
        Some(DuplicateOf::Near(..)) => {
            near += 1;
            false
        }
        None => true,
    });
    println!(
        "duplicates: {exact} exact, {near} near; left: {}",
        items.len()
    );
    if let [_, benchmark, field] = arguments.as_slice() {
        let benchmark = Benchmark::read(&fs::read_to_string(benchmark)?, field, RUN)?;
        let report = decontaminate(&benchmark, &items);
        println!(
            "benchmark: {} items, {} unparsed",
            benchmark.len(),
            benchmark.unparsed.len()
        );
        println!("contaminated: {:?}", report.counts);
        for (index, found) in report.dropped.iter().take(10) {
            println!("  item {index}: {}", found.reason());
        }
        let mut place = 0;
        items.retain(|_| {
            place += 1;
            !report.dropped.contains_key(&(place - 1))
        });
    }
    let sides = split(&items, 0.05);
    let count = |wanted: fn(&Side) -> bool| sides.iter().filter(|side| wanted(side)).count();
    println!(
        "split: {} training, {} validation, {} withheld",
        count(|side| *side == Side::Training),
        count(|side| *side == Side::Validation),
        count(|side| matches!(side, Side::Withheld { .. }))
    );
    Ok(())
}
