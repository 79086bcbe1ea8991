//! Augmented assignments written wrong.

use tree_sitter::Node;

use crate::seed::site::Site;

pub fn propose<'a>(node: Node<'a>, site: &mut Site<'a>) {
    if node.kind() != "augmented_assignment" {
        return;
    }
    let (Some(operator), Some(right), Some(left)) = (
        node.child_by_field_name("operator"),
        node.child_by_field_name("right"),
        node.child_by_field_name("left"),
    ) else {
        return;
    };
    let (name, sign) = (site.text(left), site.text(operator));
    site.replace(
        "lost-augment",
        operator,
        "=",
        format!("`{name}` is set anew instead of changed by `{sign}`"),
    );
    let other = match sign {
        "+=" => "-=",
        "-=" | "*=" => "+=",
        "|=" => "&=",
        "&=" => "|=",
        _ => return,
    };
    // Texts and lists know no other operator than `+`: the mistake would be seen at once.
    if !matches!(
        right.kind(),
        "string" | "concatenated_string" | "list" | "tuple" | "list_comprehension"
    ) {
        site.replace(
            "wrong-augment",
            operator,
            other,
            format!("`{other}` instead of `{sign}`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::check;
    use super::*;

    #[test]
    fn augmented_assignments_are_written_wrong() {
        check(
            propose,
            &[
                ("a += b", &["lost-augment: a = b", "wrong-augment: a -= b"]),
                ("a.b += 'x'", &["lost-augment: a.b = 'x'"]),
                ("a //= 2", &["lost-augment: a = 2"]),
                ("a = b", &[]),
            ],
        );
    }
}
