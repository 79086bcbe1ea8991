//! `x or default` takes the default for `0`, `''` and `[]` too.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;

/// The operator. The expression is a smell wherever the failure shows.
pub const OPERATOR: Operator = Operator {
    name: "falsy-value",
    rationale: "`or` replaces every false value, not only a missing one",
    prior: 1.2,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.kind() != "boolean_operator" || site.in_format() {
        return;
    }
    // Only where the value is used: in a condition `or` means what it says.
    let used = matches!(
        site.parent_kind(),
        "return_statement" | "assignment" | "argument_list" | "keyword_argument" | "pair"
    );
    let (Some(left), Some(right)) = (site.field("left"), site.field("right")) else {
        return;
    };
    let is_or = site
        .field("operator")
        .is_some_and(|operator| site.text(operator) == "or");
    let plain = !matches!(
        left.kind(),
        "comparison_operator" | "not_operator" | "boolean_operator"
    );
    if !used || !is_or || !plain {
        return;
    }
    let (value, default) = (site.text(left), site.text(right));
    // `d.get(k) or x` has a form of its own.
    if left.kind() == "call"
        && let (Some(function), Some(arguments)) = (
            left.child_by_field_name("function"),
            left.child_by_field_name("arguments"),
        )
        && site
            .text(function)
            .rsplit_once('.')
            .is_some_and(|(_, name)| name == "get")
        && arguments.named_child_count() == 1
        && let Some(key) = arguments.named_child(0)
    {
        let text = format!("{}({}, {default})", site.text(function), site.text(key));
        out.replace(site.node, text, 1.0);
        return;
    }
    let text = format!("{default} if {value} is None else {value}");
    out.replace(site.node, text, 0.8);
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::{check, results};

    #[test]
    fn only_a_missing_value_is_replaced() {
        check(
            &OPERATOR,
            "def f(d, k, n):\n    a = d.get(k) or n\n    return n or 1\n",
            &[
                ("d.get(k) or n", "d.get(k, n)"),
                ("return n or 1", "return 1 if n is None else n"),
            ],
        );
    }

    #[test]
    fn conditions_are_left_alone() {
        assert!(
            results(
                &OPERATOR,
                "def f(a, b):\n    if a or b:\n        return 1\n"
            )
            .is_empty()
        );
    }
}
