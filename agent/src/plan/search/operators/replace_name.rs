//! A wrong variable: another name in scope belongs here.

use super::Operator;
use crate::plan::search::names::Origin;
use crate::plan::search::precedence::Level;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::{Site, similarity};

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "replace-name",
    rationale: "the wrong one of two variables at hand is the commonest single mistake",
    prior: 1.0,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.kind() != "identifier" {
        return;
    }
    let own = site.own();
    if site.store {
        targets(site, out);
        return;
    }
    // A called name has an operator of its own.
    if site.parent_kind() == "call" && site.role() == Some("function") {
        return;
    }
    let expected = site.types(site.node);
    let constant = own
        .chars()
        .all(|c| c.is_uppercase() || c == '_' || c.is_numeric());
    for name in site.names() {
        if name.text == own || name.text == "_" {
            continue;
        }
        let definition = matches!(name.origin, Origin::Definition | Origin::Import);
        if Some(&name.text) == site.unit.scope.receiver.as_ref() && own != "cls" {
            continue;
        }
        let mut fit = name.fit(expected);
        let alike = similarity(own, name.text.trim_start_matches("self."));
        if constant && name.origin == Origin::Module {
            fit *= 1.5;
        }
        if definition {
            fit *= 0.4;
        }
        out.replace(
            site.node,
            site.fitted(&name.text, Level::Atom),
            (fit * (0.7 + 0.3 * alike)).min(1.0),
        );
    }
}

/// Another target of an assignment.
fn targets(site: &Site<'_>, out: &mut Proposals) {
    if !matches!(
        site.parent_kind(),
        "assignment" | "augmented_assignment" | "pattern_list"
    ) {
        return;
    }
    let own = site.own();
    let expected = site.types(site.node);
    for name in site.locals() {
        if name.text == own || name.only_in.is_some() {
            continue;
        }
        let mut fit = name.fit(expected) * 0.5;
        if site.parent_kind() == "augmented_assignment" {
            fit *= 1.3;
        }
        out.replace(site.node, name.text.as_str(), fit);
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::{check, results};

    #[test]
    fn names_of_the_function_and_attributes() {
        let source = "class A:\n    def f(self, width, height):\n        self.area = width * width\n        for i in range(width):\n            height += i\n        return self.area\n";
        check(
            &OPERATOR,
            source,
            &[
                ("width * width", "height * width"),
                ("range(width)", "range(height)"),
                ("height += i", "width += i"),
                ("height += i", "height += width"),
            ],
        );
    }

    #[test]
    fn the_fitting_type_comes_first() {
        let source = "def f(names: list, count: int, limit: int):\n    return count\n";
        let found = results(&OPERATOR, source);
        assert!(found[0].contains("return limit"), "{}", found[0]);
    }
}
