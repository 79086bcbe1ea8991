//! `if`, `elif` and `while` taken for each other.

use super::Operator;
use crate::plan::search::layout;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "branch-kind",
    rationale: "exclusive cases written as independent ones, a loop that runs once",
    prior: 0.6,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    let start = site.node.start_byte();
    match site.kind() {
        "if_statement" => {
            if site.unit.scope.function.is_some() {
                out.range(start..start + 2, "while", 0.5);
            }
            if let Some(previous) = site
                .node
                .prev_named_sibling()
                .filter(|p| p.kind() == "if_statement")
            {
                let closed = {
                    let mut cursor = previous.walk();
                    previous
                        .named_children(&mut cursor)
                        .any(|c| c.kind() == "else_clause")
                };
                let own = layout::own_lines(site.syntax(), site.node).is_some();
                if !closed && own {
                    out.range(start..start + 2, "elif", 1.0);
                }
            }
        }
        "elif_clause" => out.range(start..start + 4, "if", 0.9),
        "while_statement" => {
            let lonely = {
                let mut cursor = site.node.walk();
                !site
                    .node
                    .named_children(&mut cursor)
                    .any(|c| c.kind() == "else_clause")
            };
            if lonely {
                out.range(start..start + 5, "if", 0.5);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn keywords_change() {
        let source = "def f(x):\n    if x > 3:\n        y = 1\n    if x > 2:\n        y = 2\n    elif x:\n        y = 3\n    while y:\n        y -= 1\n    return y\n";
        check(
            &OPERATOR,
            source,
            &[
                ("    if x > 2", "    elif x > 2"),
                ("    elif x:", "    if x:"),
                ("while y", "if y"),
                ("if x > 3", "while x > 3"),
            ],
        );
    }
}
