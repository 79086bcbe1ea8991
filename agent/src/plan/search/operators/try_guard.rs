//! An exception that should be caught.

use super::Operator;
use crate::plan::search::layout;
use crate::plan::search::layout::Change;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;
use tree_sitter::Node;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "try-guard",
    rationale: "a failure of one statement that the function should survive",
    prior: 0.35,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if !site.is_statement() || site.unit.scope.function.is_none() {
        return;
    }
    if !matches!(
        site.kind(),
        "expression_statement" | "return_statement" | "delete_statement"
    ) {
        return;
    }
    let syntax = site.syntax();
    let (Some(indent), Some(lines)) = (
        layout::indentation(syntax, site.node),
        layout::own_lines(syntax, site.node),
    ) else {
        return;
    };
    let step = site.unit.step;
    let inner = format!("{indent}{step}");
    let Some(text) = layout::reindented(syntax, site.node, &inner) else {
        return;
    };
    let mut kinds = Vec::new();
    exceptions(site, site.node, &mut kinds);
    let eol = syntax.line_ending();
    let returned = if site.unit.scope.returns_value {
        &["return None", "return False", "return 0", "return []"][..]
    } else {
        &["return"][..]
    };
    for (k, exception) in kinds.iter().take(3).enumerate() {
        let mut offer = |way: &str, fit: f64| {
            let code = format!(
                "{indent}try:{eol}{inner}{text}{eol}{indent}except {exception}:{eol}{inner}{way}"
            );
            out.change(
                Some(Change::new(
                    lines.start..layout::code_end(syntax, site.node),
                    code,
                )),
                fit / (k + 1) as f64,
                "an exception is not caught",
            );
        };
        if site.unit.loops > 0 {
            offer("continue", 0.6);
        }
        if site.kind() != "return_statement" {
            offer("pass", 0.7);
        }
        for way in returned {
            offer(way, 0.5);
        }
    }
}

/// What a statement may well raise.
fn exceptions(site: &Site<'_>, node: Node<'_>, out: &mut Vec<&'static str>) {
    let mut add = |name: &'static str| {
        if !out.contains(&name) {
            out.push(name);
        }
    };
    match node.kind() {
        "subscript" => {
            let types = node
                .child_by_field_name("value")
                .map_or(Types::UNKNOWN, |v| site.types(v));
            if types.may_be(Types::DICT) {
                add("KeyError");
            }
            if types.may_be(Types::SEQUENCE) {
                add("IndexError");
            }
        }
        "call" => match node
            .child_by_field_name("function")
            .map_or("", |f| site.text(f))
        {
            "int" | "float" => add("ValueError"),
            "next" => add("StopIteration"),
            "open" => add("OSError"),
            text => match text.rsplit_once('.').map_or("", |t| t.1) {
                "index" | "remove" => add("ValueError"),
                "pop" => add("KeyError"),
                _ => {}
            },
        },
        "binary_operator"
            if node
                .child_by_field_name("operator")
                .is_some_and(|o| matches!(o.kind(), "/" | "//" | "%")) =>
        {
            add("ZeroDivisionError");
        }
        "attribute" => add("AttributeError"),
        _ => {}
    }
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        exceptions(site, child, out);
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn a_statement_is_guarded() {
        let source = "def f(xs):\n\tfor x in xs:\n\t\ty = int(x)  # parse\n";
        check(
            &OPERATOR,
            source,
            &[(
                "\t\ty = int(x)  # parse\n",
                "\t\ttry:\n\t\t\ty = int(x)\n\t\texcept ValueError:\n\t\t\tcontinue  # parse\n",
            )],
        );
    }
}
