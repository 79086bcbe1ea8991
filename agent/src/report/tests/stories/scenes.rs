//! What runs are made of: the parts that several stories share.

use crate::fix::divergence::Parting;
use crate::fix::frame_table::{FrameTable, Held, SourceLine, Step};
use crate::plan::{Failure, Frame, Screened, Sides, SuspectFunction, SuspectStatement};
use crate::report::event::{BudgetFacts, Counts, Event, FORMAT, Stages, Stamped, VerifyStep};

pub const DIFF: &str = "\
diff --git a/shop/cart.py b/shop/cart.py
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -9,7 +9,7 @@ class Cart:
 
     def discount(self):
         \"\"\"Ten per cent from 100 upwards.\"\"\"
-        if self.subtotal() > 100:
+        if self.subtotal() >= 100:
             return self.subtotal() * 0.1
         return 0
 
";

pub fn told(events: Vec<(f64, Event)>) -> Vec<Stamped> {
    events
        .into_iter()
        .map(|(at, event)| Stamped { at, event })
        .collect()
}

pub fn started(targets: &[&str]) -> Event {
    Event::RunStarted {
        format: FORMAT,
        version: "0.1.0".into(),
        command: "fix".into(),
        repo: "/home/ada/shop".into(),
        targets: targets.iter().map(ToString::to_string).collect(),
        run_dir: "/home/ada/shop/.ndbg-agent/runs/0001".into(),
        budget: BudgetFacts {
            seconds: 300.0,
            executions: 2000,
        },
        stages: Some(Stages {
            search: true,
            pairs: false,
            synthesis: true,
            simulator: true,
            model: true,
        }),
    }
}

pub fn tree() -> Event {
    Event::Tree {
        how: "worktree".into(),
        base: Some("1f2e3d4c5b6a79880123456789abcdef01234567".into()),
        changed: 1,
        untracked: vec!["notes.txt".into(), "shop/new.py".into()],
        left_out: vec!["`data/big.bin`, over 64 MiB".into()],
    }
}

pub fn environment() -> Event {
    Event::Environment {
        python: "/home/ada/shop/.venv/bin/python".into(),
        version: "3.11.7".into(),
        rule: "`.venv` in the project folder".into(),
        pytest: "8.3.2".into(),
        managed: false,
        plugins: vec!["xdist 3.6.1".into()],
    }
}

pub fn baseline_runs(failed: usize) -> Vec<(f64, Event)> {
    (1..=2)
        .map(|run| {
            let event = Event::BaselineRun {
                run,
                of: 2,
                counts: Counts {
                    passed: 41,
                    failed,
                    skipped: 1,
                },
                seconds: 0.82,
            };
            (0.6 + 0.9 * run as f64, event)
        })
        .collect()
}

pub fn failure(test: &str, left: &str, right: &str) -> Failure {
    Failure {
        test: test.into(),
        exception: "AssertionError".into(),
        message: format!("assert {left} == {right}\n +  where {left} = total()"),
        sides: Some(Sides {
            op: "==".into(),
            left: left.into(),
            right: right.into(),
            lossy: false,
        }),
        frames: vec![Frame {
            file: "tests/test_cart.py".into(),
            line: 9,
            function: "test_total".into(),
        }],
        longrepr: format!(
            "    def test_total():\n        cart = Cart([100])\n>       assert cart.total() == \
             {right}\nE       assert {left} == {right}\n\ntests/test_cart.py:9: AssertionError"
        ),
    }
}

pub fn ranking() -> Event {
    let function = |qualname: &str, file: &str, line, score, reason: &str| SuspectFunction {
        file: file.into(),
        qualname: qualname.into(),
        first_line: line,
        last_line: line + 6,
        score,
        ochiai: score,
        reasons: vec![reason.into(), "called by the failing assertion".into()],
    };
    Event::Localized {
        functions: vec![
            function(
                "Cart.discount",
                "shop/cart.py",
                10,
                0.94,
                "run by the failing test and 2 of 41 passing ones",
            ),
            function(
                "Cart.total",
                "shop/cart.py",
                17,
                0.71,
                "run by the failing test and 6 of 41 passing ones",
            ),
            function(
                "Cart.subtotal",
                "shop/cart.py",
                6,
                0.55,
                "run by the failing test and 9 of 41 passing ones",
            ),
            function(
                "",
                "shop/rates.py",
                1,
                0.31,
                "its constants are read by `Cart.total`",
            ),
            function("parse", "shop/parse.py", 3, 0.12, "run in the set-up"),
            function("tidy", "shop/parse.py", 30, 0.05, "run in the set-up"),
        ],
        statements: vec![
            SuspectStatement {
                file: "shop/cart.py".into(),
                qualname: "Cart.discount".into(),
                first_line: 12,
                last_line: 12,
                score: 0.91,
                ochiai: 0.82,
                reasons: vec!["a comparison that decides the result".into()],
            },
            SuspectStatement {
                file: "shop/cart.py".into(),
                qualname: "Cart.total".into(),
                first_line: 18,
                last_line: 18,
                score: 0.66,
                ochiai: 0.6,
                reasons: vec!["on the path to the assertion".into()],
            },
        ],
    }
}

/// A condition goes the wrong way, in a frame of three steps.
pub fn divergence(test: &str) -> Event {
    let parting = |part: &str, line, recorded: &str, needed: &str, ends_here| Parting {
        test: test.into(),
        file: "shop/cart.py".into(),
        line,
        function: "Cart.discount".into(),
        part: part.into(),
        recorded: recorded.into(),
        needed: needed.into(),
        needed_known: true,
        visit: None,
        confidence: 0.62,
        provenance: "derived".into(),
        ends_here,
    };
    let held = |name: &str, value: &str| vec![Held::new(name, value)];
    let step = |line, source: &str, recorded, needed| Step {
        line,
        source: source.into(),
        recorded,
        predicted: Vec::new(),
        needed,
        confidence: None,
    };
    let mut steps = vec![
        step(10, "def discount(self):", held("self", "<Cart>"), vec![]),
        step(
            12,
            "if self.subtotal() > 100:",
            held("if", "False"),
            held("if", "True"),
        ),
        step(14, "return 0", held("return", "0"), held("return", "10.0")),
    ];
    steps[2].predicted = held("return", "0");
    steps[2].confidence = Some(0.994);
    Event::Divergence {
        partings: vec![
            parting("the condition", 12, "False", "True", true),
            parting("the returned value", 14, "0", "10.0", false),
        ],
        frame: Some(FrameTable {
            test: test.into(),
            file: "shop/cart.py".into(),
            function: "Cart.discount".into(),
            steps,
            diverges_at: 1,
            left_out: (0, 0),
            source: [
                (10, "    def discount(self):"),
                (11, "        \"\"\"Ten per cent from 100 upwards.\"\"\""),
                (12, "        if self.subtotal() > 100:"),
                (13, "            return self.subtotal() * 0.1"),
                (14, "        return 0"),
            ]
            .map(|(line, text)| SourceLine {
                line,
                text: text.into(),
            })
            .to_vec(),
            predicted_by: Some("embedded (step)".into()),
        }),
    }
}

pub fn candidate(id: u64, operator: &str, claim: &str, line: usize, result: Screened) -> Event {
    Event::Candidate {
        id,
        operator: operator.into(),
        claim: claim.into(),
        file: "shop/cart.py".into(),
        line,
        qualname: if line < 17 {
            "Cart.discount"
        } else {
            "Cart.total"
        }
        .into(),
        how: "swap".into(),
        ms: 6.4,
        result,
    }
}

pub fn near_miss(fixed: &[&str], failing: &[&str], broken: &[&str]) -> Screened {
    let owned = |tests: &[&str]| tests.iter().map(ToString::to_string).collect();
    Screened::NearMiss {
        fixed: owned(fixed),
        failing: owned(failing),
        broken: owned(broken),
    }
}

pub fn step(id: u64, step: &str, passed: bool, detail: &str, seconds: f64) -> Event {
    Event::Verify {
        id,
        step: VerifyStep {
            step: step.into(),
            passed,
            detail: detail.into(),
            seconds,
        },
    }
}

pub fn search() -> Vec<(f64, Event)> {
    let total = "tests/test_cart.py::test_total";
    let bulk = "tests/test_cart.py::test_bulk";
    vec![
        (
            3.1,
            Event::Spectra {
                tests: 42,
                lines: 318,
                partial: false,
                seconds: 0.61,
            },
        ),
        (3.2, ranking()),
        (
            3.9,
            Event::WarmReady {
                stage: "collected".into(),
                tests: 42,
                seconds: 0.44,
            },
        ),
        (
            4.0,
            Event::PlanStarted {
                planner: "search".into(),
                planned: Some(640),
            },
        ),
        (
            4.2,
            candidate(
                1,
                "constant",
                "`0` should be `1`",
                14,
                Screened::Changed {
                    symptom: "AssertionError: assert 99 == 90.0".into(),
                },
            ),
        ),
        (
            4.3,
            candidate(
                2,
                "compare",
                "`>` should be `<`",
                12,
                near_miss(&[total], &[], &[bulk, "tests/test_cart.py::test_small"]),
            ),
        ),
        (
            4.4,
            candidate(
                3,
                "compare",
                "`>` should be `!=`",
                12,
                near_miss(&[total], &[], &["tests/test_cart.py::test_small"]),
            ),
        ),
        (
            4.5,
            candidate(
                4,
                "negate",
                "the condition is the wrong way round",
                12,
                Screened::TimedOut,
            ),
        ),
        (
            4.6,
            candidate(
                5,
                "constant",
                "`0.1` should be `0`",
                13,
                Screened::Unchanged,
            ),
        ),
        (
            4.7,
            candidate(
                6,
                "call",
                "`subtotal` should be `total`",
                12,
                Screened::Crashed {
                    how: "signal 11 (segmentation fault)".into(),
                },
            ),
        ),
        (
            4.8,
            candidate(
                7,
                "swap",
                "arguments are in the wrong order",
                18,
                Screened::Invalid {
                    reason: "compiles to the same code".into(),
                },
            ),
        ),
    ]
}
