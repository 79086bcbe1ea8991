//! The wrong arithmetic operator.

use tree_sitter::Node;

use crate::seed::site::Site;

pub fn propose<'a>(node: Node<'a>, site: &mut Site<'a>) {
    if node.kind() != "binary_operator" {
        return;
    }
    let (Some(left), Some(sign), Some(right)) = (
        node.child_by_field_name("left"),
        node.child_by_field_name("operator"),
        node.child_by_field_name("right"),
    ) else {
        return;
    };
    // Texts and lists know `+` and `%` only: another operator would be seen at once.
    let is_sequence = |node: Node<'_>| {
        matches!(
            node.kind(),
            "string" | "concatenated_string" | "list" | "tuple" | "list_comprehension"
        )
    };
    if is_sequence(left) || is_sequence(right) {
        return;
    }
    let text = site.text(sign);
    let other = match text {
        "+" => "-",
        "-" | "*" => "+",
        "/" | "%" => "//",
        "//" => "/",
        "**" => "*",
        "<<" => ">>",
        ">>" => "<<",
        "&" | "^" => "|",
        "|" => "&",
        _ => return,
    };
    site.replace(
        "wrong-operator",
        sign,
        other,
        format!("`{other}` instead of `{text}`"),
    );
}

#[cfg(test)]
mod tests {
    use super::super::table::check;
    use super::*;

    #[test]
    fn operators_are_wrong() {
        check(
            propose,
            &[
                ("x = a + b", &["wrong-operator: x = a - b"]),
                ("x = a // b", &["wrong-operator: x = a / b"]),
                ("x = '%s' % a", &[]),
                ("x = a + [b]", &[]),
            ],
        );
    }
}
