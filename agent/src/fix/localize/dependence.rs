//! Data dependence inside a function: which statements feed what leaves it.

use std::collections::{BTreeMap, BTreeSet};

use ndbg_tools::source::syntax::Syntax;
use tree_sitter::Node;

/// Indices of statements in a backward slice from what leaves their function: `return`, `yield`,
/// `raise`, and writes to attributes or items. Flow-insensitive: names are sets, not versions.
pub fn result_slices(syntax: &Syntax) -> BTreeSet<usize> {
    let mut by_function: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, statement) in syntax.statements().iter().enumerate() {
        if let Some(function) = statement.function {
            by_function.entry(function).or_default().push(index);
        }
    }
    let mut slice = BTreeSet::new();
    for indices in by_function.values() {
        let effects: Vec<(usize, Effects)> = indices
            .iter()
            .map(|&index| (index, effects(syntax, index)))
            .collect();
        let mut wanted: BTreeSet<&str> = BTreeSet::new();
        loop {
            let before = slice.len();
            for (index, effect) in &effects {
                let feeds = effect.leaves
                    || effect
                        .writes
                        .iter()
                        .any(|name| wanted.contains(name.as_str()));
                if feeds && slice.insert(*index) {
                    wanted.extend(effect.reads.iter().map(String::as_str));
                }
            }
            if slice.len() == before {
                break;
            }
        }
    }
    slice
}

#[derive(Debug, Default)]
struct Effects {
    leaves: bool,
    writes: BTreeSet<String>,
    reads: BTreeSet<String>,
}

fn effects(syntax: &Syntax, index: usize) -> Effects {
    let statement = &syntax.statements()[index];
    let mut out = Effects {
        leaves: matches!(
            statement.kind,
            "return_statement" | "raise_statement" | "assert_statement"
        ),
        ..Effects::default()
    };
    // Conditions decide what happens to everything below them.
    let decides = matches!(
        statement.kind,
        "if_statement"
            | "while_statement"
            | "for_statement"
            | "with_statement"
            | "match_statement"
            | "elif_clause"
            | "except_clause"
            | "case_clause"
    );
    let node = syntax
        .root()
        .descendant_for_byte_range(statement.span.start, statement.span.end.saturating_sub(1));
    let Some(node) = node else { return out };
    visit(syntax, node, statement.span.end, &mut out);
    if decides {
        out.leaves = true;
    }
    out
}

fn visit(syntax: &Syntax, node: Node<'_>, end: usize, out: &mut Effects) {
    if node.start_byte() >= end {
        return;
    }
    match node.kind() {
        "yield" => out.leaves = true,
        "assignment" | "augmented_assignment" | "named_expression" | "for_statement" => {
            let target = node
                .child_by_field_name("left")
                .or_else(|| node.child_by_field_name("name"));
            if let Some(target) = target {
                write(syntax, target, out);
            }
        }
        // A method call may change its receiver.
        "call" => {
            if let Some(function) = node.child_by_field_name("function")
                && function.kind() == "attribute"
                && let Some(object) = function.child_by_field_name("object")
            {
                write(syntax, object, out);
            }
        }
        "identifier" => {
            out.reads.insert(syntax.text(node).to_owned());
        }
        _ => {}
    }
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        visit(syntax, child, end, out);
    }
}

fn write(syntax: &Syntax, target: Node<'_>, out: &mut Effects) {
    match target.kind() {
        "identifier" => {
            out.writes.insert(syntax.text(target).to_owned());
        }
        "attribute" | "subscript" => {
            let mut root = target;
            while let Some(inner) = root
                .child_by_field_name("object")
                .or_else(|| root.child_by_field_name("value"))
            {
                root = inner;
            }
            let name = syntax.text(root);
            // What hangs on `self` outlives the call.
            out.leaves |= matches!(name, "self" | "cls");
            out.writes.insert(name.to_owned());
        }
        _ => {
            let mut cursor = target.walk();
            for child in target.named_children(&mut cursor) {
                write(syntax, child, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndbg_tools::source::SourceFile;

    #[test]
    fn statements_that_feed_the_result_are_in_the_slice() {
        let text = "def f(a):\n    log = []\n    log.append(a)\n    b = a + 1\n    c = b\n    print(log)\n    return c\n";
        let syntax = Syntax::parse(SourceFile::decode("a.py", text.as_bytes()).unwrap()).unwrap();
        let slice = result_slices(&syntax);
        let lines: Vec<usize> = slice
            .iter()
            .map(|&i| syntax.statements()[i].first_line)
            .collect();
        assert_eq!(lines, [4, 5, 7]);
    }
}
