//! An iterator is read twice: the second time it is empty.

use tree_sitter::Node;

use super::Operator;
use crate::plan::search::layout;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;

/// The operator. A parameter that its function iterates more than once is a smell in itself, wherever
/// the failure shows.
pub const OPERATOR: Operator = Operator {
    name: "materialize",
    rationale: "what is read twice must be a sequence, not an iterator",
    prior: 1.3,
    propose,
};

/// Builtins that read their argument to its end.
const READERS: &[&str] = &[
    "list",
    "tuple",
    "set",
    "frozenset",
    "sorted",
    "sum",
    "min",
    "max",
    "any",
    "all",
    "dict",
    "enumerate",
    "zip",
    "map",
    "filter",
    "reversed",
    "Counter",
    "len",
];

fn propose(site: &Site<'_>, out: &mut Proposals) {
    // The first statement of a function's block stands for the function.
    if !site.is_statement() || site.store {
        return;
    }
    let Some(block) = site.parent().filter(|p| p.kind() == "block") else {
        return;
    };
    let Some(function) = site.above(2).map(|s| s.node) else {
        return;
    };
    let first = layout::statements(block)
        .into_iter()
        .find(|s| !layout::is_docstring(*s));
    if function.kind() != "function_definition" || first.map(|f| f.id()) != Some(site.node.id()) {
        return;
    }
    let Some(parameters) = function.child_by_field_name("parameters") else {
        return;
    };
    let mut cursor = parameters.walk();
    for parameter in parameters.named_children(&mut cursor) {
        let name = match parameter.kind() {
            "identifier" => Some(parameter),
            "default_parameter" => parameter.child_by_field_name("name"),
            "typed_parameter" => parameter.named_child(0),
            "typed_default_parameter" => parameter.child_by_field_name("name"),
            _ => None,
        };
        let Some(name) = name.filter(|n| n.kind() == "identifier") else {
            continue;
        };
        let name = site.text(name);
        if readings(site, block, name) < 2 {
            continue;
        }
        for (reader, fit) in [("list", 1.0), ("tuple", 0.3)] {
            let line = format!("{name} = {reader}({name})");
            let change = site.insert_before(site.node, &[(0, &line)]);
            out.change(change, fit, "what is read twice must be a sequence");
        }
    }
}

/// How often `name` is read to its end below `node`.
fn readings(site: &Site<'_>, node: Node<'_>, name: &str) -> usize {
    let is_name =
        |n: Option<Node<'_>>| n.is_some_and(|n| n.kind() == "identifier" && site.text(n) == name);
    let own = match node.kind() {
        "for_statement" | "for_in_clause" => is_name(node.child_by_field_name("right")),
        "call" => {
            let reader = node
                .child_by_field_name("function")
                .is_some_and(|f| READERS.contains(&site.text(f)));
            let arguments = node.child_by_field_name("arguments");
            reader
                && arguments.is_some_and(|a| {
                    let mut cursor = a.walk();
                    a.named_children(&mut cursor).any(|n| is_name(Some(n)))
                })
        }
        "list_splat" => is_name(node.named_child(0)),
        _ => false,
    };
    let mut cursor = node.walk();
    let below: usize = node
        .named_children(&mut cursor)
        .map(|child| readings(site, child, name))
        .sum();
    usize::from(own) + below
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::{check, results};

    #[test]
    fn a_parameter_that_is_read_twice_becomes_a_list() {
        check(
            &OPERATOR,
            "def share(rows, n):\n    \"\"\"Doc.\"\"\"\n    total = sum(rows)\n    return [r / total for r in rows]\n",
            &[(
                "    total = sum(rows)\n",
                "    rows = list(rows)\n    total = sum(rows)\n",
            )],
        );
    }

    #[test]
    fn a_parameter_that_is_read_once_is_left_alone() {
        assert!(results(&OPERATOR, "def f(rows):\n    return sum(rows)\n").is_empty());
    }
}
