//! `fix`: the smallest call that fails as the test does, and calls that tell plausible patches apart.
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test fails by panicking.

use ndbg_tests::{Repo, Run, Venv};
use serde_json::Value as Json;

const PRICES: &str = "\
class Basket:
    def __init__(self, limit):
        self.limit = limit
        self.prices = []

    def add(self, price):
        if len(self.prices) > self.limit:
            raise OverflowError('full')
        self.prices.append(price)


def cheapest(prices):
    best = prices[0]
    for price in prices:
        if price > best:
            best = price
    return best
";

fn report(run: &Run<'_>) -> Json {
    serde_json::from_slice(&std::fs::read(run.run_dir.join("report.json")).unwrap()).unwrap()
}

fn examples(report: &Json) -> Vec<Json> {
    report["examples"].as_array().unwrap().clone()
}

/// What Python says of an expression in the folder of a repository.
fn python(repo: &Repo, expression: &str) -> String {
    let code = format!(
        "from prices import *\ntry:\n    print('returns', repr({expression}))\nexcept Exception as e:\n    \
         print('raises', type(e).__name__)"
    );
    let done = repo
        .isolated(Venv::Plain.python())
        .args(["-c", &code])
        .current_dir(repo.root())
        .output()
        .unwrap();
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

#[test]
fn a_fixed_failure_is_reproduced_by_a_small_call_that_both_versions_ran() {
    let repo = Repo::new(&[
        ("prices.py", PRICES),
        (
            "test_prices.py",
            "from prices import cheapest\n\n\ndef test_cheapest():\n    \
             assert cheapest([10, 25, 4, 17, 31]) == 4\n    assert cheapest([3, 3]) == 3\n",
        ),
    ]);
    let run = repo.fix().test("test_prices.py").run();
    run.is_fixed();
    let report = report(&run);
    let found = examples(&report);
    let failure = &found[0];
    assert_eq!(failure["shows"], "failure", "{found:#?}");
    assert_eq!(failure["function"], "cheapest");
    let call = failure["call"].as_str().unwrap();
    // Five prices are far more than it takes.
    assert!(call.len() <= "cheapest([10, 4])".len(), "{call}");
    let result = |at: usize| {
        failure["results"][at]["result"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(python(&repo, call), result(0));
    std::fs::write(repo.path("patch.diff"), &run.stdout).unwrap();
    repo.git(&["apply", "patch.diff"]);
    assert_eq!(python(&repo, call), result(1));
    assert!(run.stderr.contains("reproduced"), "{}", run.stderr);
}

#[test]
fn an_exception_that_was_not_mended_is_reproduced_at_its_line() {
    let repo = Repo::new(&[
        (
            "prices.py",
            "def parse(text):\n    parts = text.split(';')\n    table = {'eur': 1}\n    \
             return table[parts[1]]\n",
        ),
        (
            "test_prices.py",
            "from prices import parse\n\n\ndef test_parse():\n    \
             assert parse('12;usd;x') == 'a word that is nowhere in the source'\n",
        ),
    ]);
    let run = repo
        .fix()
        .test("test_prices.py")
        .args(["--max-executions", "30"])
        .run();
    assert_ne!(run.code, Some(0));
    let found = examples(&report(&run));
    let call = found[0]["call"].as_str().unwrap();
    assert_eq!(python(&repo, call), "raises KeyError", "{call}");
    assert!(call.len() <= "parse(';')".len(), "{call}");
    assert_eq!(found[0]["results"].as_array().unwrap().len(), 1);
}

#[test]
fn plausible_patches_that_differ_are_told_apart() {
    // `<` for `<=`, and `limit - 1`, both pass; another limit tells them apart.
    let repo = Repo::new(&[
        ("prices.py", PRICES),
        (
            "test_prices.py",
            "import pytest\nfrom prices import Basket\n\n\ndef test_limit():\n    \
             basket = Basket(2)\n    basket.add(1)\n    basket.add(2)\n    \
             with pytest.raises(OverflowError):\n        basket.add(3)\n    \
             assert basket.prices == [1, 2]\n",
        ),
    ]);
    let run = repo
        .fix()
        .test("test_prices.py")
        .args(["--alternatives", "60"])
        .run();
    run.is_fixed();
    let found = examples(&report(&run));
    let compared: Vec<&Json> = found
        .iter()
        .filter(|example| example["shows"] == "difference")
        .collect();
    assert!(!compared.is_empty(), "{}", run.stderr);
    for example in compared {
        assert!(example["beside"].is_string(), "{example:#}");
        assert_eq!(
            example["call"].is_string(),
            example["results"].as_array().unwrap().len() == 2,
            "{example:#}"
        );
    }
}
