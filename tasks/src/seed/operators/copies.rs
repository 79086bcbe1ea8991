//! Copies that are not made.

use tree_sitter::Node;

use crate::seed::site::{Site, arguments, children, operand};

pub fn propose<'a>(node: Node<'a>, site: &mut Site<'a>) {
    if let Some(copied) = copied(node, site) {
        let text = operand(site, copied);
        let name = site.text(copied);
        site.replace(
            "lost-copy",
            node,
            text,
            format!("`{name}` is shared instead of copied"),
        );
    }
}

/// Whether a call only makes a copy.
pub fn is_copy(node: Node<'_>, site: &Site<'_>) -> bool {
    copied(node, site).is_some()
}

/// What an expression copies, if that is all it does.
fn copied<'a>(node: Node<'a>, site: &Site<'_>) -> Option<Node<'a>> {
    match node.kind() {
        "call" => {
            let function = node.child_by_field_name("function")?;
            let (positional, others) = arguments(node)?;
            if !others.is_empty() {
                return None;
            }
            match (site.text(function), positional.as_slice()) {
                (
                    "list" | "dict" | "set" | "copy" | "deepcopy" | "copy.copy" | "copy.deepcopy",
                    [only],
                ) if !matches!(only.kind(), "call" | "generator_expression") => Some(*only),
                (_, []) => {
                    let name = function.child_by_field_name("attribute")?;
                    (site.text(name) == "copy").then(|| function.child_by_field_name("object"))?
                }
                _ => None,
            }
        }
        "subscript" => {
            let slice = node.child_by_field_name("subscript")?;
            (slice.kind() == "slice" && children(slice).is_empty() && site.text(slice) == ":")
                .then(|| node.child_by_field_name("value"))?
        }
        "list" | "dictionary" => {
            let only = children(node);
            match only.as_slice() {
                [splat] if matches!(splat.kind(), "list_splat" | "dictionary_splat") => {
                    children(*splat).into_iter().next()
                }
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::check;
    use super::*;

    #[test]
    fn copies_are_lost() {
        check(
            propose,
            &[
                ("x = list(a)", &["lost-copy: x = a"]),
                ("x = a.copy()", &["lost-copy: x = a"]),
                ("x = a[:]", &["lost-copy: x = a"]),
                ("x = copy.deepcopy(a.b)", &["lost-copy: x = a.b"]),
                ("x = {**a}", &["lost-copy: x = a"]),
                ("x = list(map(f, a))", &[]),
                ("x = a[1:]", &[]),
            ],
        );
    }
}
