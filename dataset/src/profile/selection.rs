//! Which functions are measured.

use tree_sitter::Node;

use super::kinds::{self, METHODS};

/// Which functions of a module count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// Every function and method.
    All,
    /// Functions outside classes, of four statements or more, that read no attributes, import nothing,
    /// and neither yield nor await: those that can run by themselves, as the generated ones do.
    SelfContained,
}

/// Whether a function counts.
pub(super) fn selects(function: Node<'_>, source: &str, selection: Selection) -> bool {
    selection == Selection::All
        || (self_contained(function, source) && statements(function) >= SMALLEST)
}

/// Statements below which a function forwards a call or answers a constant: nothing to step through.
const SMALLEST: usize = 4;

fn statements(node: Node<'_>) -> usize {
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .map(|child| usize::from(kinds::statement(child).is_some()) + statements(child))
        .sum()
}

/// Whether nothing in `node` needs more than builtins, parameters and functions beside it.
fn self_contained(node: Node<'_>, source: &str) -> bool {
    let fits = match node.kind() {
        "yield"
        | "await"
        | "import_statement"
        | "import_from_statement"
        | "with_statement"
        | "global_statement"
        | "class_definition" => false,
        "attribute" => {
            let called = node.parent().is_some_and(|up| {
                up.kind() == "call" && up.child_by_field_name("function") == Some(node)
            });
            let method = node
                .child_by_field_name("attribute")
                .map_or("", |one| source.get(one.byte_range()).unwrap_or_default());
            called && METHODS.contains(&method)
        }
        _ => true,
    };
    let mut cursor = node.walk();
    fits && node
        .named_children(&mut cursor)
        .all(|child| self_contained(child, source))
}
