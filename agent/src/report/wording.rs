//! How numbers and results are put into words, the same in every renderer.

use crate::plan::{Failure, Screened};
use crate::report::event::Counts;
use crate::report::visible::one_line;

/// `1 test`, `2 tests`.
pub fn plural(count: usize, noun: &str) -> String {
    let ending = match count {
        1 => "",
        _ if noun.ends_with('s') => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

/// A duration for people: `0.4 s`, `2 min 5 s`, `1 h 2 min`.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "no limit".to_owned();
    }
    if seconds < 0.95 {
        return format!("{:.2} s", seconds.max(0.0));
    }
    if seconds < 59.95 {
        return format!("{seconds:.1} s").replace(".0 s", " s");
    }
    let whole = seconds.round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, rest) => format!("{minutes} min {rest} s"),
        (hours, 0, _) => format!("{hours} h"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// `1 failed, 41 passed, 2 skipped`; what failed comes first.
pub fn counts(counts: Counts) -> String {
    let mut parts = Vec::new();
    if counts.failed > 0 {
        parts.push(format!("{} failed", counts.failed));
    }
    parts.push(format!("{} passed", counts.passed));
    if counts.skipped > 0 {
        parts.push(format!("{} skipped", counts.skipped));
    }
    parts.join(", ")
}

/// The place of an edit: "`Cart.total`, shop/cart.py:12".
pub fn place(qualname: &str, file: &str, line: usize) -> String {
    if qualname.is_empty() {
        one_line(&format!("{file}:{line}"))
    } else {
        one_line(&format!("`{qualname}`, {file}:{line}"))
    }
}

/// Why a candidate was not taken, in a line.
pub fn screened(result: &Screened) -> String {
    match result {
        Screened::Plausible => "passes the failing tests".to_owned(),
        Screened::NearMiss {
            fixed,
            failing,
            broken,
        } => near_miss(fixed.len(), failing.len(), broken.len()),
        Screened::Changed { symptom } => format!("fails in another way: {}", one_line(symptom)),
        Screened::Unchanged => "same failure as before".to_owned(),
        Screened::TimedOut => "did not end in time".to_owned(),
        Screened::Crashed { how } => format!("crashed: {}", one_line(how)),
        Screened::Invalid { reason } => format!("not valid: {}", one_line(reason)),
    }
}

/// "2 of 3 failing tests pass, 1 other test breaks".
fn near_miss(fixed: usize, failing: usize, broken: usize) -> String {
    let all = fixed + failing;
    let text = match (fixed, failing) {
        (1, 0) => "the failing test passes".to_owned(),
        (_, 0) => format!("all {fixed} failing tests pass"),
        (1, _) => format!("1 of {all} failing tests passes"),
        _ => format!("{fixed} of {all} failing tests pass"),
    };
    match broken {
        0 => text,
        1 => text + ", 1 other test breaks",
        more => format!("{text}, {more} other tests break"),
    }
}

/// The two sides of a failed comparison, with the names that they deserve.
pub struct NamedSides<'a> {
    /// Name and text of the side that comes first.
    pub first: (&'static str, &'a str),
    /// Name and text of the other.
    pub second: (&'static str, &'a str),
    /// The comparison.
    pub op: &'a str,
    /// Whether either text is abbreviated.
    pub lossy: bool,
}

/// Names the sides of a comparison. Which side is the expectation is a matter of taste in Python,
/// so they are called expected and actual only where the source of the assertion shows it.
pub fn sides(failure: &Failure) -> Option<NamedSides<'_>> {
    let sides = failure.sides.as_ref()?;
    let (left, right) = (sides.left.as_str(), sides.right.as_str());
    let (first, second) = match expectation(&failure.longrepr, &sides.op) {
        Some(Side::Left) => (("expected", left), ("actual", right)),
        Some(Side::Right) => (("expected", right), ("actual", left)),
        None => (("left", left), ("right", right)),
    };
    Some(NamedSides {
        first,
        second,
        op: &sides.op,
        lossy: sides.lossy,
    })
}

#[derive(PartialEq)]
enum Side {
    Left,
    Right,
}

/// Which side of `assert left == right`, as pytest quotes it, is a literal or is called expected.
fn expectation(longrepr: &str, op: &str) -> Option<Side> {
    if op != "==" {
        return None;
    }
    let source = longrepr
        .lines()
        .find_map(|line| line.strip_prefix('>')?.trim().strip_prefix("assert "))?;
    let (left, right) = source.split_once(" == ")?;
    match (is_expectation(left), is_expectation(right)) {
        (true, false) => Some(Side::Left),
        (false, true) => Some(Side::Right),
        _ => None,
    }
}

fn is_expectation(source: &str) -> bool {
    let source = source.trim();
    let literal = source
        .starts_with(|first: char| first.is_ascii_digit() || "'\"[{-(".contains(first))
        || ["None", "True", "False"].contains(&source);
    let prefixed = ["b", "r", "f", "rb", "br", "u"].iter().any(|prefix| {
        source
            .strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(['\'', '"']))
    });
    // `[…].method()` and `"…".join(x)` are computed.
    let computed = source.contains(')') && !source.starts_with('(');
    let named = ["expected", "want", "expect"]
        .iter()
        .any(|word| source == *word || source.starts_with(&format!("{word}_")));
    (literal || prefixed) && !computed || named
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Sides;

    #[test]
    fn durations_read_well_at_every_size() {
        let said: Vec<String> = [
            0.0,
            0.4,
            0.96,
            12.34,
            59.97,
            120.0,
            125.0,
            3720.0,
            f64::INFINITY,
        ]
        .into_iter()
        .map(duration)
        .collect();
        assert_eq!(
            said,
            [
                "0.00 s",
                "0.40 s",
                "1 s",
                "12.3 s",
                "1 min",
                "2 min",
                "2 min 5 s",
                "1 h 2 min",
                "no limit"
            ]
        );
    }

    #[test]
    fn nouns_follow_their_number() {
        assert_eq!(plural(1, "near miss"), "1 near miss");
        assert_eq!(plural(2, "near miss"), "2 near misses");
        assert_eq!(plural(0, "test"), "0 tests");
    }

    fn names(assertion: &str) -> (&'static str, &'static str) {
        let failure = Failure {
            longrepr: format!(
                "    def test():\n>       assert {assertion}\nE       assert 1 == 2\n"
            ),
            sides: Some(Sides {
                op: "==".into(),
                left: "1".into(),
                right: "2".into(),
                lossy: false,
            }),
            ..Failure::default()
        };
        let sides = sides(&failure).expect("has sides");
        let name = |text| {
            if sides.first.1 == text {
                sides.first.0
            } else {
                sides.second.0
            }
        };
        (name("1"), name("2"))
    }

    #[test]
    fn sides_are_called_expected_only_where_the_source_shows_it() {
        assert_eq!(names("f(x) == 2"), ("actual", "expected"));
        assert_eq!(names("1 == f(x)"), ("expected", "actual"));
        assert_eq!(names("total == expected"), ("actual", "expected"));
        assert_eq!(names("f(x) == b'2'"), ("actual", "expected"));
        assert_eq!(names("f(x) == g(x)"), ("left", "right"));
        assert_eq!(names("f(x) == ', '.join(y)"), ("left", "right"));
        assert_eq!(names("result == other"), ("left", "right"));
    }
}
