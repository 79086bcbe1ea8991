//! Rows of a table that are all the same object.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "aliased-rows",
    rationale: "multiplying a list repeats references",
    prior: 0.9,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.kind() != "binary_operator" || site.field("operator").is_none_or(|o| o.kind() != "*") {
        return;
    }
    let (Some(left), Some(right)) = (site.field("left"), site.field("right")) else {
        return;
    };
    for (list, count) in [(left, right), (right, left)] {
        if list.kind() != "list" || list.named_child_count() != 1 {
            continue;
        }
        let Some(row) = list.named_child(0) else {
            continue;
        };
        let mutable = matches!(
            row.kind(),
            "list"
                | "dictionary"
                | "set"
                | "list_comprehension"
                | "binary_operator"
                | "call"
                | "identifier"
        );
        if mutable {
            let fit = if matches!(row.kind(), "call" | "identifier") {
                0.4
            } else {
                1.0
            };
            out.replace(
                site.node,
                format!("[{} for _ in range({})]", site.text(row), site.text(count)),
                fit,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn each_row_is_made_anew() {
        check(
            &OPERATOR,
            "def f(n, m):\n    return [[0] * n] * m\n",
            &[("[[0] * n] * m", "[[0] * n for _ in range(m)]")],
        );
    }
}
