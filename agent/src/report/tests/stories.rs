//! Runs as they happen, told in events.

mod scenes;

use crate::fix::frame_table::Held;
use crate::outcome::Outcome;
use crate::plan::Looks;
use crate::plan::llm::{Exchange, Verdict};
use crate::plan::synthesis::oracle::{Angelic, Visit};
use crate::plan::{Frame, Screened, Sides};
use crate::report::event::{
    Counts, Event, Example, Level, Shows, Stamped, Sureness, Surety, VersionResult,
};

use scenes::{
    DIFF, baseline_runs, candidate, divergence, environment, failure, search, started, step, told,
    tree,
};

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
    events.push((4.9, divergence(total)));
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
            6.32,
            Event::Model(Exchange::Asked {
                round: 1,
                model: "openai/some-model".into(),
                tokens: 2345,
            }),
        ),
        (
            6.34,
            Event::Model(Exchange::Answered {
                round: 1,
                prompt: 2210,
                cached: 2048,
                completion: 310,
                estimated: false,
                cost: Some(0.0123),
                total: 2520,
                first: 0.4,
                seconds: 2.1,
            }),
        ),
        (
            6.36,
            Event::Model(Exchange::Hypothesis {
                round: 1,
                claim: "the `total` is <b>compared</b> too early | or late".into(),
                file: "shop/cart.py".into(),
                line: 12,
                prediction: Some("total == `100` at shop/cart.py:12".into()),
                verdict: Some(Verdict::Refuted {
                    recorded: vec!["total = 99".into()],
                    visits: 1,
                }),
                edits: 1,
                dropped: Some("recorded states refute it (1 visit): total = 99".into()),
            }),
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
            8.52,
            Event::Angelic(Angelic {
                file: "shop/cart.py".into(),
                line: 42,
                qualname: "Cart.discount".into(),
                place: "total > 100".into(),
                needed: "true".into(),
                when: "at visit 2 of 5".into(),
                tests: vec![total.into()],
                visit: Some(Visit {
                    test: total.into(),
                    visit: 1,
                    state: vec![("total".into(), "100".into())],
                    recorded: "False".into(),
                    needed: "True".into(),
                }),
                provenance: "verified".into(),
                runs: 17,
            }),
        ),
        (
            8.51,
            Event::Foreseen(Looks {
                looks: 2,
                seconds: 0.3,
                looked: 480,
                nothing: 61,
                unclear: 230,
                put_off: 48,
                right: 2,
                wrong: 0,
            }),
        ),
        (
            8.56,
            Event::Sure(Sureness {
                level: Surety::Middle,
                reasons: vec!["41 tests that passed before run the function".into()],
            }),
        ),
        (
            8.55,
            Event::Example(Example {
                shows: Shows::Failure,
                file: "shop/cart.py".into(),
                function: "Cart.discount".into(),
                call: Some("Cart([100]).discount()".into()),
                results: vec![
                    result("before", "returns 0"),
                    result("patched", "raises Full: '<b>`no` room</b>'"),
                ],
                beside: None,
                executions: 213,
                seconds: 0.4,
            }),
        ),
        (
            8.58,
            Event::Example(Example {
                shows: Shows::Difference,
                file: "shop/cart.py".into(),
                function: "Cart.discount".into(),
                call: None,
                results: Vec::new(),
                beside: Some("`100` should be `99`".into()),
                executions: 6000,
                seconds: 0.9,
            }),
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
            299.6,
            Event::Progress {
                executed: 512,
                planned: Some(640),
                rate: 1.7,
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
            Event::Divergence {
                partings,
                frame: Some(frame),
            } => {
                for parting in partings {
                    parting.recorded = "<img src=x onerror=alert(1)>\x1b[31m|`".into();
                    parting.needed = "\u{202e}<script>".into();
                }
                frame.function = nasty.into();
                frame.predicted_by = Some(nasty.into());
                frame.source[0].text = nasty.into();
                for step in &mut frame.steps {
                    step.source = nasty.into();
                    step.recorded = vec![Held::new(nasty, nasty)];
                    step.predicted = vec![Held::new(nasty, nasty)];
                    step.needed = vec![Held::new(nasty, nasty)];
                }
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

fn result(version: &str, result: &str) -> VersionResult {
    VersionResult {
        version: version.into(),
        result: result.into(),
    }
}
