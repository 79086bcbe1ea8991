//! A missing `global` or `nonlocal`.

use super::Operator;
use crate::plan::search::bindings::Origin;
use crate::plan::search::layout;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "scope-declaration",
    rationale: "assigning in a function makes a new local name",
    prior: 0.85,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.kind() != "function_definition" {
        return;
    }
    let scope = site.unit.scope;
    let Some(first) = site.field("body").and_then(|b| {
        layout::statements(b)
            .into_iter()
            .find(|s| !layout::is_docstring(*s))
    }) else {
        return;
    };
    let body = site.function_text();
    for binding in &scope.bindings {
        if binding.origin != Origin::Local || binding.only_in.is_some() {
            continue;
        }
        let name = &binding.name;
        let declared =
            body.contains(&format!("global {name}")) || body.contains(&format!("nonlocal {name}"));
        if declared {
            continue;
        }
        // Changed in place, a name is surely meant to be the outer one.
        let augmented = ["+=", "-=", "*=", "|="]
            .iter()
            .any(|o| body.contains(&format!("{name} {o}")));
        let fit = if augmented { 1.0 } else { 0.5 };
        let outer = scope.outer.iter().any(|b| b.name == *name);
        let module = site.unit.index.module.iter().any(|b| b.name == *name);
        let word = if outer {
            "nonlocal"
        } else if module {
            "global"
        } else {
            continue;
        };
        out.change(
            site.insert_before(first, &[(0, &format!("{word} {name}"))]),
            fit,
            "the assignment makes a local name",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn outer_names_are_declared() {
        let source = "count = 0\n\ndef f():\n    n = 0\n    def g():\n        n += 1\n        return n\n    count += g()\n";
        check(
            &OPERATOR,
            source,
            &[
                ("    n = 0\n", "    global count\n    n = 0\n"),
                ("        n += 1\n", "        nonlocal n\n        n += 1\n"),
            ],
        );
    }
}
