//! What end-to-end tests share: small repositories, the program run on them, and what must hold after
//! every run.
//!
//! A fixture fails by panicking, which is what makes a test fail.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::missing_panics_doc)]

pub mod binary;
pub mod model_server;
pub mod processes;
pub mod python;
pub mod repo;
pub mod run;
pub mod tree;

use std::io::Write as _;
use std::time::{Duration, Instant};

pub use model_server::{ModelServer, Says};
pub use python::Venv;
pub use repo::Repo;
pub use run::{Call, Run, Running};

/// A module with one bug (`-=` should be `+=`), which fails two of the tests in [`TEST`].
pub const BUGGY: &str = "\
def total(prices):
    result = 0
    for price in prices:
        result -= price
    return result


def mean(prices):
    return total(prices) / len(prices)
";

/// [`BUGGY`] without its bug.
pub const FIXED: &str = "\
def total(prices):
    result = 0
    for price in prices:
        result += price
    return result


def mean(prices):
    return total(prices) / len(prices)
";

/// Tests of [`BUGGY`] as `calc.py`: two fail, one passes.
pub const TEST: &str = "\
from calc import mean, total


def test_total():
    assert total([1, 2, 3]) == 6


def test_mean():
    assert mean([2, 4]) == 3


def test_nothing():
    assert total([]) == 0
";

/// Tests of `calc.py` that no edit can make pass.
pub const IMPOSSIBLE: &str = "\
from calc import mean, total


def test_total():
    assert total([1, 2]) == 'a word that is nowhere in the source'


def test_nothing():
    assert total([]) == 0
";

/// Says why a case cannot run here. Written past the capturing of the test harness, so that it is
/// never silent.
pub fn skip(why: &str) {
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    let _ = writeln!(std::io::stderr(), "skipped {name}: {why}");
}

/// Waits until `condition` holds; fails the test when it does not within a minute.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_mins(1);
    while !condition() {
        assert!(Instant::now() < until, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
