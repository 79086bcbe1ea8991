//! Which side of a failed comparison is the expectation.

use crate::plan::Failure;

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
