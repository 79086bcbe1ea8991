//! A method that works in place used for its result, or a result that is thrown away.

use super::Operator;
use crate::plan::search::precedence::Level;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "in-place",
    rationale: "`sort` returns nothing, `sorted` changes nothing",
    prior: 0.85,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.kind() != "call" {
        return;
    }
    let (Some(function), Some(arguments)) = (site.field("function"), site.field("arguments"))
    else {
        return;
    };
    if arguments.kind() != "argument_list" {
        return;
    }
    let statement = site.parent_kind() == "expression_statement";
    let first = arguments.named_child(0).filter(|a| !a.is_extra());
    let text = site.text(arguments);
    let inner = text.get(1..text.len() - 1).unwrap_or("");
    if function.kind() == "identifier" && statement {
        // `sorted(xs)` as a statement.
        let Some(first) =
            first.filter(|f| matches!(f.kind(), "identifier" | "attribute" | "subscript"))
        else {
            return;
        };
        let target = site.text(first);
        match site.text(function) {
            "sorted" => {
                out.replace(site.node, format!("{target} = sorted({inner})"), 1.0);
                if arguments.named_child_count() == 1 {
                    out.replace(site.node, format!("{target}.sort()"), 1.0);
                }
            }
            "reversed" => out.replace(site.node, format!("{target}.reverse()"), 1.0),
            name => out.replace(site.node, format!("{target} = {name}({inner})"), 0.25),
        }
        return;
    }
    let (Some(object), Some(method)) = (
        function.child_by_field_name("object"),
        function.child_by_field_name("attribute"),
    ) else {
        return;
    };
    let name = site.text(method);
    let object = site.text(object);
    if statement {
        return;
    }
    let mut offer = |text: String, fit: f64| out.replace(site.node, text, fit);
    match name {
        "sort" => {
            let comma = if inner.is_empty() { "" } else { ", " };
            offer(format!("sorted({object}{comma}{inner})"), 1.0);
        }
        "reverse" => {
            offer(format!("{object}[::-1]"), 1.0);
            offer(format!("list(reversed({object}))"), 0.6);
        }
        "append" => offer(
            site.fitted(&format!("{object} + [{inner}]"), Level::Plus),
            0.9,
        ),
        "extend" => offer(
            site.fitted(&format!("{object} + {inner}"), Level::Plus),
            0.9,
        ),
        "update" => offer(format!("{{**{object}, **{inner}}}"), 0.9),
        "add" => offer(
            site.fitted(&format!("{object} | {{{inner}}}"), Level::BitOr),
            0.8,
        ),
        _ => return,
    }
    // `xs = xs.append(x)`: the assignment is what is wrong.
    if site.parent_kind() == "assignment"
        && site.role() == Some("right")
        && let Some(parent) = site.parent()
        && site.types(site.node).meets(Types::NONE)
    {
        out.replace(parent, site.own(), 0.9);
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn results_and_effects() {
        let source = "def f(xs):\n    ys = xs.sort()\n    zs = xs.append(1)\n    sorted(xs)\n    return xs.reverse()\n";
        check(
            &OPERATOR,
            source,
            &[
                ("ys = xs.sort()", "ys = sorted(xs)"),
                ("zs = xs.append(1)", "xs.append(1)"),
                ("    sorted(xs)", "    xs.sort()"),
                ("xs.reverse()", "xs[::-1]"),
            ],
        );
    }
}
