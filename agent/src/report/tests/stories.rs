//! Runs as they happen, told in events.

use crate::outcome::Outcome;
use crate::plan::{Failure, Frame, Screened, Sides, SuspectFunction, SuspectStatement};
use crate::report::event::{BudgetFacts, Counts, Event, FORMAT, Level, Stamped, VerifyStep};

const DIFF: &str = "\
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

fn told(events: Vec<(f64, Event)>) -> Vec<Stamped> {
    events
        .into_iter()
        .map(|(at, event)| Stamped { at, event })
        .collect()
}

fn started(targets: &[&str]) -> Event {
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
    }
}

fn tree() -> Event {
    Event::Tree {
        how: "worktree".into(),
        base: Some("1f2e3d4c5b6a79880123456789abcdef01234567".into()),
        changed: 1,
        untracked: vec!["notes.txt".into(), "shop/new.py".into()],
        left_out: vec!["`data/big.bin`, over 64 MiB".into()],
    }
}

fn environment() -> Event {
    Event::Environment {
        python: "/home/ada/shop/.venv/bin/python".into(),
        version: "3.11.7".into(),
        rule: "`.venv` in the project folder".into(),
        pytest: "8.3.2".into(),
        managed: false,
        plugins: vec!["xdist 3.6.1".into()],
    }
}

fn baseline_runs(failed: usize) -> Vec<(f64, Event)> {
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

fn failure(test: &str, left: &str, right: &str) -> Failure {
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

fn ranking() -> Event {
    let function = |qualname: &str, file: &str, line, score, reason: &str| SuspectFunction {
        file: file.into(),
        qualname: qualname.into(),
        first_line: line,
        last_line: line + 6,
        score,
        ochiai: score * 0.9,
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

fn candidate(id: u64, operator: &str, claim: &str, line: usize, result: Screened) -> Event {
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

fn near_miss(fixed: &[&str], failing: &[&str], broken: &[&str]) -> Screened {
    let owned = |tests: &[&str]| tests.iter().map(ToString::to_string).collect();
    Screened::NearMiss {
        fixed: owned(fixed),
        failing: owned(failing),
        broken: owned(broken),
    }
}

fn step(id: u64, step: &str, passed: bool, detail: &str, seconds: f64) -> Event {
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

fn search() -> Vec<(f64, Event)> {
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

/// A patch is found: one plausible patch is rejected, the next one verified.
pub fn fixed() -> Vec<Stamped> {
    let total = "tests/test_cart.py::test_total";
    let mut events = vec![
        (0.0, started(&[total])),
        (0.3, tree()),
        (0.6, environment()),
    ];
    events.extend(baseline_runs(1));
    events.push((
        2.5,
        Event::Baseline {
            failing: vec![failure(total, "100", "90.0")],
            flaky: vec![],
            passing: 41,
            collected: 43,
        },
    ));
    events.extend(search());
    events.extend([
        (
            5.0,
            candidate(
                8,
                "constant",
                "`100` should be `99`",
                12,
                Screened::Plausible,
            ),
        ),
        (
            5.0,
            Event::Plausible {
                id: 8,
                claim: "`100` should be `99`".into(),
                executed: 8,
                diff: DIFF.replace(">= 100", "> 99"),
            },
        ),
        (
            5.5,
            step(8, "target tests, run 1 of 2", true, "1 passed", 0.41),
        ),
        (
            6.3,
            step(
                8,
                "41 tests that passed at baseline",
                false,
                "`tests/test_cart.py::test_fraction` fails",
                0.83,
            ),
        ),
        (
            6.3,
            Event::Verdict {
                id: 8,
                accepted: false,
                reason: "breaks a test that passed at baseline".into(),
            },
        ),
        (
            6.4,
            Event::Progress {
                executed: 40,
                planned: Some(640),
                rate: 14.2,
                best: Some("1 plausible patch, rejected".into()),
            },
        ),
        (
            6.6,
            candidate(41, "compare", "`>` should be `>=`", 12, Screened::Plausible),
        ),
        (
            6.6,
            Event::Plausible {
                id: 41,
                claim: "`>` should be `>=`".into(),
                executed: 41,
                diff: DIFF.into(),
            },
        ),
        (
            7.1,
            step(41, "target tests, run 1 of 2", true, "1 passed", 0.4),
        ),
        (
            7.5,
            step(41, "target tests, run 2 of 2", true, "1 passed", 0.4),
        ),
        (
            8.4,
            step(
                41,
                "41 tests that passed at baseline",
                true,
                "41 passed",
                0.85,
            ),
        ),
        (
            8.5,
            step(41, "collected tests", true, "43 before, 43 after", 0.0),
        ),
        (
            8.5,
            Event::Verdict {
                id: 41,
                accepted: true,
                reason: "every step held".into(),
            },
        ),
        (
            8.6,
            Event::Finished {
                outcome: Outcome::Fixed,
                exit_code: 0,
                summary: "`>` should be `>=` in `Cart.discount`".into(),
                executed: 41,
                test_runs: 49,
                seconds: 8.6,
                diff: DIFF.into(),
            },
        ),
    ]);
    told(events)
}

/// Nothing passes; two failing tests with long values, near misses, the time runs out.
pub fn not_fixed() -> Vec<Stamped> {
    let total = "tests/test_cart.py::test_total";
    let mut other = failure(
        "tests/checkout/test_invoice_rendering.py::TestInvoice::test_lines[three items-net 30-with \
         a discount and a voucher]",
        "",
        "",
    );
    other.exception = "shop.errors.InvoiceError".into();
    other.message = "the invoice does not add up, because the discount was taken off twice and \
                     then the voucher once more; see the lines\nsecond line"
        .into();
    other.frames.push(Frame {
        file: "shop/invoice.py".into(),
        line: 88,
        function: "Invoice.check".into(),
    });
    if let Some(sides) = &mut other.sides {
        sides.left = (1..=9)
            .map(|line| format!("line {line}: {}", "x".repeat(line * 10)))
            .collect::<Vec<_>>()
            .join("\n");
        sides.right = "line 1".into();
        sides.lossy = true;
    }
    other.longrepr = "> assert render(invoice) == other(invoice)".into();
    let mut events = vec![(0.0, started(&[])), (0.3, tree()), (0.6, environment())];
    events.extend(baseline_runs(2));
    events.push((
        2.5,
        Event::Baseline {
            failing: vec![failure(total, "100", "90.0"), other],
            flaky: vec![],
            passing: 40,
            collected: 43,
        },
    ));
    events.extend(search());
    events.extend([
        (
            12.0,
            Event::Progress {
                executed: 512,
                planned: Some(640),
                rate: 61.3,
                best: Some("1 of 2 failing tests passes".into()),
            },
        ),
        (
            300.0,
            Event::Note {
                level: Level::Warning,
                text: "the search stopped at its limit of 300 s with 128 candidates to go".into(),
                hint: Some("raise `--timeout`, or name the failing test with `--test`".into()),
            },
        ),
        (
            300.2,
            Event::Finished {
                outcome: Outcome::Budget,
                exit_code: 6,
                summary: "no patch found within 300 s; the nearest miss makes 1 of 2 failing \
                          tests pass"
                    .into(),
                executed: 512,
                test_runs: 520,
                seconds: 300.2,
                diff: String::new(),
            },
        ),
    ]);
    told(events)
}

/// The target passes in one baseline run and fails in the next.
pub fn flaky() -> Vec<Stamped> {
    let test = "tests/test_clock.py::test_midnight";
    let mut events = vec![(0.0, started(&[test])), (0.3, tree()), (0.6, environment())];
    for (at, run, failed) in [(1.5, 1, 1), (2.4, 2, 0)] {
        events.push((
            at,
            Event::BaselineRun {
                run,
                of: 2,
                counts: Counts {
                    passed: 1 - failed,
                    failed,
                    skipped: 0,
                },
                seconds: 0.82,
            },
        ));
    }
    events.extend([
        (
            2.4,
            Event::Baseline {
                failing: vec![],
                flaky: vec![test.into()],
                passing: 0,
                collected: 1,
            },
        ),
        (
            2.5,
            Event::Finished {
                outcome: Outcome::Flaky,
                exit_code: 5,
                summary: format!("`{test}` failed in 1 of 2 baseline runs"),
                executed: 0,
                test_runs: 2,
                seconds: 2.5,
                diff: String::new(),
            },
        ),
    ]);
    told(events)
}

/// There is no pytest to run.
pub fn environment_error() -> Vec<Stamped> {
    told(vec![
        (0.0, started(&["tests/test_cart.py"])),
        (0.3, tree()),
        (
            0.9,
            Event::Note {
                level: Level::Error,
                text: "`/usr/bin/python3` has no pytest, and installing it failed: no network".into(),
                hint: Some("install it with `pip install pytest`, or name another interpreter with `--python`".into()),
            },
        ),
        (
            0.9,
            Event::Finished {
                outcome: Outcome::Environment,
                exit_code: 4,
                summary: "no interpreter with pytest".into(),
                executed: 0,
                test_runs: 0,
                seconds: 0.9,
                diff: String::new(),
            },
        ),
    ])
}

/// Every text is hostile: markup, escape sequences, fences, commands to the runner.
pub fn hostile() -> Vec<Stamped> {
    let nasty = "<script>alert(1)</script>\x1b[31m\u{202e}```|`@all` ::error::x\n::set-output \
                 name=a::b\n# heading\n<img src=x onerror=alert(1)>";
    let mut events = fixed();
    for stamped in &mut events {
        match &mut stamped.event {
            Event::RunStarted { targets, repo, .. } => {
                *targets = vec![nasty.into()];
                *repo = "/home/ada/<b>shop</b>".into();
            }
            Event::Baseline { failing, .. } => {
                for failure in failing {
                    failure.test = nasty.into();
                    failure.exception = nasty.into();
                    failure.message = nasty.into();
                    failure.longrepr = nasty.into();
                    failure.sides = Some(Sides {
                        op: nasty.into(),
                        left: nasty.into(),
                        right: format!("::{nasty}"),
                        lossy: false,
                    });
                }
            }
            Event::Localized { functions, .. } => {
                functions[0].qualname = nasty.into();
                functions[0].file = nasty.into();
                functions[0].reasons = vec![nasty.into()];
            }
            Event::Candidate {
                claim, operator, ..
            } => {
                *claim = nasty.into();
                *operator = nasty.into();
            }
            Event::Plausible { claim, diff, .. } => {
                *claim = nasty.into();
                *diff = nasty.into();
            }
            Event::Verify { step, .. } => {
                step.step = nasty.into();
                step.detail = nasty.into();
            }
            Event::Verdict { reason, .. } => *reason = nasty.into(),
            Event::Environment { rule, plugins, .. } => {
                *rule = nasty.into();
                *plugins = vec![nasty.into()];
            }
            Event::Finished { summary, diff, .. } => {
                *summary = nasty.into();
                *diff = format!("{DIFF}+{nasty}\n");
            }
            _ => {}
        }
    }
    events
}
