//! What is told, and what is left out first.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use ndbg_tools::source::SourceFile;
use ndbg_tools::source::syntax::Syntax;

use super::*;
use crate::plan::{Candidate, Frame, Sides, SuspectStatement};

/// `count` functions of `length` lines each, the first the most suspicious.
fn facts(count: usize, length: usize) -> Facts {
    let mut source = String::new();
    let mut functions = Vec::new();
    for number in 0..count {
        let first = source.lines().count() + 1;
        let _ = writeln!(source, "def f{number}(x):");
        for line in 0..length - 2 {
            let _ = writeln!(source, "    a{line} = x + {line}");
        }
        let _ = writeln!(source, "    return x");
        functions.push(SuspectFunction {
            file: "shop/cart.py".into(),
            qualname: format!("f{number}"),
            first_line: first,
            last_line: first + length - 1,
            score: 1.0 / (1.0 + number as f64),
            ochiai: 0.5,
            reasons: Vec::new(),
        });
    }
    let file = SourceFile::decode("shop/cart.py", source.into_bytes()).unwrap();
    let statements = vec![SuspectStatement {
        file: "shop/cart.py".into(),
        qualname: "f0".into(),
        first_line: length / 2,
        last_line: length / 2,
        score: 0.9,
        ochiai: 0.5,
        reasons: Vec::new(),
    }];
    Facts {
        files: BTreeMap::from([(
            "shop/cart.py".into(),
            Arc::new(Syntax::parse(file).unwrap()),
        )]),
        functions,
        statements,
        failures: vec![Failure {
            test: "tests/test_cart.py::test_total".into(),
            exception: "AssertionError".into(),
            message: "assert 3 == 4".into(),
            sides: Some(Sides {
                op: "==".into(),
                left: "3".into(),
                right: "4".into(),
                lossy: false,
            }),
            frames: vec![Frame {
                file: "shop/cart.py".into(),
                line: 2,
                function: "f0".into(),
            }],
            longrepr: "    def test_total():\n>       assert f0(3) == 4\n".into(),
        }],
        ..Facts::default()
    }
}

fn miss() -> Feedback {
    Feedback {
        candidate: Candidate {
            id: 1,
            edits: Vec::new(),
            operator: "compare".into(),
            claim: "`<` should be `<=`".into(),
            file: "shop/cart.py".into(),
            line: 2,
            qualname: "f0".into(),
            score: 1.0,
            base: 1.0,
        },
        screened: Screened::NearMiss {
            fixed: vec!["a".into()],
            failing: vec!["b".into()],
            broken: Vec::new(),
        },
    }
}

fn told(facts: &Facts, tokens: u64) -> (String, usize) {
    let prompts = Prompts::new(None, "x").unwrap();
    let tried = [miss()];
    let told = Told {
        facts,
        recording: None,
        tried: &tried,
    };
    render(&prompts, &told, tokens, 0).unwrap()
}

#[test]
fn everything_is_told_where_there_is_room() {
    let (text, level) = told(&facts(2, 6), 3_500);
    assert_eq!(level, 0);
    for part in [
        "tests/test_cart.py::test_total</data",
        "left == right",
        "def test_total():",
        "`f0` in shop/cart.py</data",
        "lines 1 to 6, suspiciousness 1.00",
        "    a1 = x + 1",
        "`f1` in shop/cart.py",
        "shop/cart.py:3 (0.90)",
        "`<` should be `<=`: 1 failing tests pass now; still failing: b",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("\n\n\n"), "{text}");
}

#[test]
fn what_is_not_told_is_left_out_in_order() {
    let facts = facts(8, 60);
    let mut lengths = Vec::new();
    for tokens in [20_000, 4_000, 2_000, 1_000, 500] {
        let (text, _) = told(&facts, tokens);
        assert!(
            estimate_tokens(text.len()) <= tokens.max(900),
            "{tokens}: {}",
            text.len()
        );
        // The failure itself and the most suspicious function are always there.
        assert!(
            text.contains("test_total") && text.contains("def f0(x):"),
            "{text}"
        );
        lengths.push(text.len());
    }
    assert!(lengths.is_sorted_by(|a, b| a >= b), "{lengths:?}");
    let (text, _) = told(&facts, 2_000);
    assert!(!text.contains("came near"), "near misses go first");
    assert!(text.contains("Also run: <data"), "{text}");
}

#[test]
fn what_differs_from_run_to_run_is_not_told() {
    for (text, told) in [
        (
            "<a.Cart object at 0x7fdb37edcf50>.total",
            "<a.Cart object at 0x…>.total",
        ),
        (
            "/tmp/pytest-of-me/pytest-12/x at 0x1f",
            "/tmp/pytest-of-me/pytest-…/x at 0x…",
        ),
        ("nothing at 0", "nothing at 0"),
    ] {
        assert_eq!(steady(text), told);
    }
}

#[test]
fn a_long_function_is_cut_around_what_is_suspicious() {
    let (text, _) = told(&facts(1, 300), 800);
    assert!(text.contains("def f0(x):"));
    assert!(text.contains("a147 = x + 147"), "{text}");
    assert!(!text.contains("a60 = x + 60"), "{text}");
    assert!(text.contains("are not shown …"), "{text}");
}

#[test]
fn what_a_model_reads_is_this() {
    let prompts = Prompts::new(None, "x").unwrap();
    let system = prompts.system("shop/cart.py").unwrap();
    let (text, _) = told(&facts(2, 4), 3_500);
    let round = prompts
        .render(
            "round.txt",
            context! {
                results => vec![context! { claim => "off by one", what => "does not end" }],
                repeated => true,
                elsewhere => "`f7` (shop/cart.py:40)",
                queries => true,
            },
        )
        .unwrap();
    let repair = prompts
        .render("repair.txt", context! { problem => "no JSON" })
        .unwrap();
    insta::assert_snapshot!(format!(
        "{system}\n=====\n{text}\n=====\n{round}\n=====\n{repair}"
    ));
}
