//! Everyday slips with their repair, as diffs in `slips.txt`: is the repair proposed, and how early?

use ndbg_tools::source::syntax::Syntax;

use crate::plan::Planner as _;
use crate::plan::search::canonical::Canonical;
use crate::plan::search::layout::Change;
use crate::plan::search::operators::testing::uniform_facts;
use crate::plan::search::{SearchOptions, SearchPlanner};

struct Slip {
    name: &'static str,
    buggy: String,
    fixed: String,
}

fn slips() -> Vec<Slip> {
    let mut out: Vec<Slip> = Vec::new();
    for line in include_str!("slips.txt").lines() {
        if let Some(name) = line.strip_prefix("=== ") {
            out.push(Slip {
                name,
                buggy: String::new(),
                fixed: String::new(),
            });
            continue;
        }
        let Some(slip) = out.last_mut() else { continue };
        let (sign, text) = line.split_at(line.len().min(1));
        if sign != "+" {
            slip.buggy.push_str(text);
            slip.buggy.push('\n');
        }
        if sign != "-" {
            slip.fixed.push_str(text);
            slip.fixed.push('\n');
        }
    }
    out
}

/// The smallest change from one text to the other.
fn difference(old: &str, new: &str) -> Change {
    let prefix = old
        .bytes()
        .zip(new.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let suffix = old[prefix..]
        .bytes()
        .rev()
        .zip(new[prefix..].bytes().rev())
        .take_while(|(a, b)| a == b)
        .count();
    Change::new(prefix..old.len() - suffix, &new[prefix..new.len() - suffix])
}

fn whole(syntax: &Syntax) -> u64 {
    // One region for everything makes edits of any place comparable.
    Canonical::new()
        .unwrap()
        .of_file(syntax)
        .expect("the source parses")
}

fn parse(text: &str) -> Syntax {
    let file = ndbg_tools::source::SourceFile::decode("a.py", text.as_bytes()).unwrap();
    Syntax::parse(file).unwrap()
}

fn rank(slip: &Slip) -> Option<(usize, String)> {
    let facts = uniform_facts("a.py", &slip.buggy);
    let mut planner = SearchPlanner::new(SearchOptions {
        pairs: false,
        ..SearchOptions::default()
    });
    let wanted = whole(&parse(&slip.fixed));
    let change = difference(&slip.buggy, &slip.fixed);
    assert!(
        !change.range.is_empty() || !change.text.is_empty(),
        "{}",
        slip.name
    );
    let mut rank = 0;
    loop {
        let some = planner.propose(&facts, &[], 64).unwrap();
        if some.is_empty() {
            return None;
        }
        for candidate in some {
            rank += 1;
            let mut edits = candidate.edits.clone();
            edits.sort_by_key(|e| e.start);
            let mut text = slip.buggy.clone();
            for edit in edits.iter().rev() {
                text.replace_range(edit.start..edit.end, &edit.text);
            }
            if whole(&parse(&text)) == wanted {
                return Some((rank, candidate.operator));
            }
        }
    }
}

#[test]
fn repairs_of_everyday_slips_come_early() {
    let slips = slips();
    let mut ranks = Vec::new();
    let mut missing = Vec::new();
    let mut late = Vec::new();
    for slip in &slips {
        if let Some((rank, operator)) = rank(slip) {
            println!("{rank:>6}  {operator:<24} {}", slip.name);
            ranks.push(rank);
            if rank >= 600 {
                late.push(slip.name);
            }
        } else {
            println!("     -  {:<24} {}", "", slip.name);
            missing.push(slip.name);
        }
    }
    ranks.sort_unstable();
    let at = |share: usize| ranks.get(ranks.len() * share / 100).copied();
    println!(
        "{} slips: median {:?}, p90 {:?}, worst {:?}, missing {}",
        slips.len(),
        at(50),
        at(90),
        ranks.last(),
        missing.len()
    );
    assert!(missing.is_empty(), "never proposed: {missing:?}");
    assert!(late.is_empty(), "proposed late: {late:?}");
}
