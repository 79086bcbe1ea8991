//! Order, feedback, pairs, and what is left alone.

use crate::plan::search::operators::testing::uniform_facts;
use crate::plan::search::{SearchOptions, SearchPlanner};
use crate::plan::{Candidate, Facts, Feedback, Planner as _, Screened};

const SOURCE: &str = "def f(a: int, b: int):\n    total = a\n    if a < b:\n        total = b\n    return total - b\n\ndef g(x):\n    return x + 1\n";

fn planner(pairs: bool) -> SearchPlanner {
    SearchPlanner::new(SearchOptions {
        pairs,
        max_pairs: 200,
        ..SearchOptions::default()
    })
}

fn all(planner: &mut SearchPlanner, facts: &Facts) -> Vec<Candidate> {
    let mut out = Vec::new();
    loop {
        let some = planner.propose(facts, &[], 100).unwrap();
        if some.is_empty() {
            return out;
        }
        out.extend(some);
    }
}

fn near(candidate: &Candidate) -> Feedback {
    Feedback {
        candidate: candidate.clone(),
        screened: Screened::NearMiss {
            fixed: vec!["t::a".to_owned()],
            failing: vec!["t::b".to_owned()],
            broken: Vec::new(),
        },
    }
}

#[test]
fn singles_come_best_first_and_the_same_way_every_time() {
    let facts = uniform_facts("a.py", SOURCE);
    let first = all(&mut planner(false), &facts);
    let second = all(&mut planner(false), &facts);
    assert!(first.len() > 200, "{}", first.len());
    assert!(first.windows(2).all(|w| w[0].score >= w[1].score));
    let edits = |cs: &[Candidate]| cs.iter().map(|c| c.edits.clone()).collect::<Vec<_>>();
    assert_eq!(edits(&first), edits(&second));
    assert!(first.iter().enumerate().all(|(i, c)| c.id == i as u64));
}

#[test]
fn what_remains_goes_down_to_nothing() {
    let facts = uniform_facts("a.py", SOURCE);
    let mut planner = planner(false);
    assert_eq!(planner.remaining(), None);
    planner.propose(&facts, &[], 10).unwrap();
    let before = planner.remaining().unwrap();
    planner.propose(&facts, &[], 10).unwrap();
    assert!(planner.remaining().unwrap() <= before - 10);
    all(&mut planner, &facts);
    assert_eq!(planner.remaining(), Some(0));
}

#[test]
fn suspicious_statements_lead() {
    let mut facts = uniform_facts("a.py", SOURCE);
    for statement in &mut facts.statements {
        statement.score = if statement.first_line == 5 { 1.0 } else { 0.2 };
    }
    let head = planner(false).propose(&facts, &[], 30).unwrap();
    let there = head.iter().filter(|c| c.line == 5).count();
    assert!(there >= 20, "{there} of 30 on the suspicious line");
}

#[test]
fn a_near_miss_pulls_its_neighbours_up() {
    let facts = uniform_facts("a.py", SOURCE);
    let mut planner = planner(false);
    let head = planner.propose(&facts, &[], 40).unwrap();
    let hit = head.iter().find(|c| c.line == 5).unwrap();
    let share = |cs: &[Candidate]| cs.iter().filter(|c| c.line == 5).count();
    let next = planner.propose(&facts, &[near(hit)], 40).unwrap();
    let mut plain = self::planner(false);
    plain.propose(&facts, &[], 40).unwrap();
    let without = plain.propose(&facts, &[], 40).unwrap();
    assert!(share(&next) > share(&without));
}

#[test]
fn pairs_follow_and_keep_to_one_function() {
    let facts = uniform_facts("a.py", SOURCE);
    let mut planner = planner(true);
    let singles = self::planner(false);
    let count = all(&mut { singles }, &facts).len();
    let head = planner.propose(&facts, &[], count).unwrap();
    assert!(head.iter().all(|c| !c.operator.contains('+')));
    let hit = head.iter().find(|c| c.line == 3).unwrap();
    let dead = head.iter().find(|c| c.line == 5).unwrap();
    let feedback = [
        near(hit),
        Feedback {
            candidate: dead.clone(),
            screened: Screened::TimedOut,
        },
    ];
    let pairs = planner.propose(&facts, &feedback, 50).unwrap();
    assert_eq!(pairs.len(), 50);
    assert!(pairs.iter().all(|p| p.operator.contains('+')));
    // The near miss leads, the edit that never ended takes no part.
    assert!(pairs[..10].iter().all(|p| p.edits.contains(&hit.edits[0])));
    assert!(pairs.iter().all(|p| !p.edits.contains(&dead.edits[0])));
    assert!(pairs.iter().all(|p| {
        let in_f = |start: usize| start < SOURCE.find("def g").unwrap();
        p.edits.iter().all(|e| in_f(e.start)) || p.edits.iter().all(|e| !in_f(e.start))
    }));
}

#[test]
fn docstrings_type_checking_blocks_and_tests_are_left_alone() {
    let source = "\"\"\"Module.\"\"\"\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    LIMIT = 3\n\ndef f():\n    \"\"\"Doc.\"\"\"\n    return 1\n";
    let facts = uniform_facts("a.py", source);
    for candidate in all(&mut planner(false), &facts) {
        assert!(candidate.line >= 7, "{candidate:?}");
        assert!(candidate.line != 8, "{candidate:?}");
    }
    let facts = uniform_facts("test_a.py", source);
    assert!(all(&mut planner(false), &facts).is_empty());
}

#[test]
fn module_and_class_level_statements_are_edited() {
    let source = "LIMIT = 10\n\nclass A:\n    size = 3\n\n    def f(self):\n        return LIMIT\n";
    let facts = uniform_facts("a.py", source);
    let found = all(&mut planner(false), &facts);
    assert!(found.iter().any(|c| c.line == 1 && c.qualname.is_empty()));
    assert!(found.iter().any(|c| c.line == 4 && c.qualname.is_empty()));
}

#[test]
fn a_statement_that_is_not_suspected_is_left_alone_at_module_level() {
    let mut facts = uniform_facts("a.py", "A = 1\nB = 2\n");
    facts.statements.retain(|s| s.first_line == 2);
    assert!(all(&mut planner(false), &facts).iter().all(|c| c.line == 2));
}
