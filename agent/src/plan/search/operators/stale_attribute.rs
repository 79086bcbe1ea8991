//! An attribute remembers the last time, but nobody writes it down.

use tree_sitter::Node;

use super::Operator;
use crate::plan::search::layout;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;

/// The operator. A method that compares a value with `self.a` or takes their difference, and never
/// assigns `self.a`, forgets to remember the value.
pub const OPERATOR: Operator = Operator {
    name: "stale-attribute",
    rationale: "what is compared with the last time must be remembered for the next",
    prior: 1.1,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if !site.is_statement() {
        return;
    }
    let Some(block) = site.parent().filter(|p| p.kind() == "block") else {
        return;
    };
    let at_top = site
        .above(2)
        .is_some_and(|s| s.node.kind() == "function_definition");
    let first = layout::statements(block)
        .into_iter()
        .find(|s| !layout::is_docstring(*s));
    if !at_top || first.map(|f| f.id()) != Some(site.node.id()) {
        return;
    }
    let Some(receiver) = site.unit.scope.receiver.as_deref() else {
        return;
    };
    let mut pairs = Vec::new();
    compared(site, block, receiver, &mut pairs);
    pairs.sort();
    pairs.dedup();
    let text = site.text(block);
    let statements = layout::statements(block);
    let Some(last) = statements.last().copied() else {
        return;
    };
    for (attribute, value) in pairs {
        let assigned = [" = ", " += ", " -= "]
            .iter()
            .any(|sign| text.contains(&format!("{receiver}.{attribute}{sign}")));
        if assigned {
            continue;
        }
        let line = format!("{receiver}.{attribute} = {value}");
        let change = if last.kind() == "return_statement" {
            site.insert_before(last, &[(0, &line)])
        } else {
            site.insert_after(last, &[(0, &line)])
        };
        out.change(change, 1.0, "the attribute is never brought up to date");
    }
}

/// Attribute of the receiver and name that are subtracted or compared with each other.
fn compared(site: &Site<'_>, node: Node<'_>, receiver: &str, out: &mut Vec<(String, String)>) {
    let operands = match node.kind() {
        "binary_operator" => {
            let minus = node
                .child_by_field_name("operator")
                .is_some_and(|o| site.text(o) == "-");
            minus
                .then(|| {
                    node.child_by_field_name("left")
                        .zip(node.child_by_field_name("right"))
                })
                .flatten()
        }
        "comparison_operator" => node.named_child(0).zip(node.named_child(1)),
        _ => None,
    };
    if let Some((left, right)) = operands {
        for (attribute, name) in [(left, right), (right, left)] {
            let of_receiver = attribute.kind() == "attribute"
                && attribute
                    .child_by_field_name("object")
                    .is_some_and(|o| site.text(o) == receiver);
            if of_receiver
                && name.kind() == "identifier"
                && let Some(field) = attribute.child_by_field_name("attribute")
            {
                out.push((site.text(field).to_owned(), site.text(name).to_owned()));
            }
        }
    }
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        compared(site, child, receiver, out);
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::{check, results};

    #[test]
    fn the_last_value_is_remembered() {
        check(
            &OPERATOR,
            "class A:\n    def f(self, now):\n        d = now - self.last\n        self.n += d\n        return d\n",
            &[(
                "        return d\n",
                "        self.last = now\n        return d\n",
            )],
        );
    }

    #[test]
    fn an_attribute_that_is_written_is_left_alone() {
        let source = "class A:\n    def f(self, now):\n        if now > self.last:\n            self.last = now\n";
        assert!(results(&OPERATOR, source).is_empty());
    }
}
