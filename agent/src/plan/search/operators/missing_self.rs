//! `self.` is missing.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "missing-self",
    rationale: "habits of other languages, where members need no prefix",
    prior: 0.75,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    let Some(receiver) = &site.unit.scope.receiver else {
        return;
    };
    if site.kind() != "identifier" {
        return;
    }
    let own = site.own();
    if site.parent_kind() == "keyword_argument" && site.role() == Some("name") {
        return;
    }
    let Some(class) = site.unit.scope.class else {
        return;
    };
    let attribute = class.attributes.contains_key(own);
    let bound = site.names().any(|n| n.text == own);
    let init = site.function_name() == Some("__init__");
    let fit = if attribute && !bound {
        1.0
    } else if attribute || (site.store && init) {
        0.6
    } else if site.store {
        0.2
    } else {
        return;
    };
    if site.parent_kind() == "parameters"
        || (site.store && matches!(site.parent_kind(), "for_in_clause" | "as_pattern_target"))
    {
        return;
    }
    out.replace(site.node, format!("{receiver}.{own}"), fit);
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn members_get_their_prefix() {
        let source = "class A:\n    def __init__(self, n):\n        size = n\n        self.n = n\n\n    def f(self):\n        return n + 1\n";
        check(
            &OPERATOR,
            source,
            &[("size = n", "self.size = n"), ("return n", "return self.n")],
        );
    }
}
