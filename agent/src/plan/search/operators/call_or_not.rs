//! Parentheses of a call missing or too many.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "call-or-not",
    rationale: "a method named but not called, or a property called",
    prior: 0.6,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    match site.kind() {
        "call" => {
            let (Some(function), Some(arguments)) =
                (site.field("function"), site.field("arguments"))
            else {
                return;
            };
            if arguments.kind() != "argument_list" || arguments.named_child_count() > 0 {
                return;
            }
            if site.parent_kind() == "expression_statement" {
                return;
            }
            let property = function
                .child_by_field_name("attribute")
                .is_some_and(|n| known(site, site.text(n)).any(|c| c.property));
            out.replace(
                site.node,
                site.text(function),
                if property { 1.0 } else { 0.35 },
            );
        }
        "attribute" | "identifier" if site.is_value() => {
            let called = site.parent_kind() == "call" && site.role() == Some("function");
            if called {
                return;
            }
            let name = site.field("attribute").map_or(site.own(), |n| site.text(n));
            let method = site.kind() == "attribute";
            let plain = known(site, name).any(|c| {
                !c.property
                    && c.class.is_some() == method
                    && c.parameters
                        .iter()
                        .all(|p| p.default.is_some() || p.variadic)
            });
            // An attribute of that name is no method.
            let stored = site
                .unit
                .index
                .classes
                .iter()
                .any(|c| c.attributes.contains_key(name));
            let builtin = method
                && !stored
                && matches!(
                    name,
                    "lower"
                        | "upper"
                        | "strip"
                        | "items"
                        | "keys"
                        | "values"
                        | "copy"
                        | "isdigit"
                        | "isalpha"
                        | "total_seconds"
                        | "split"
                        | "pop"
                        | "read"
                );
            if plain || builtin {
                out.replace(site.node, format!("{}()", site.own()), 0.9);
            }
        }
        _ => {}
    }
}

fn known<'a>(
    site: &Site<'a>,
    name: &'a str,
) -> impl Iterator<Item = &'a crate::plan::search::names::Callee> {
    site.unit
        .index
        .callees
        .iter()
        .filter(move |c| c.name == name)
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn parentheses_come_and_go() {
        let source = "class A:\n    @property\n    def size(self):\n        return 1\n\n    def grow(self):\n        return 2\n\n    def f(self, text):\n        return self.size() + self.grow + text.lower\n";
        check(
            &OPERATOR,
            source,
            &[
                ("self.size() +", "self.size +"),
                ("self.grow +", "self.grow() +"),
                ("text.lower", "text.lower()"),
            ],
        );
    }
}
