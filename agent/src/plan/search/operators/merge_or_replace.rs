//! A value that replaces another where both should be merged, or the other way round.

use super::Operator;
use crate::plan::search::precedence::Level;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "merge-or-replace",
    rationale: "`x.update(y)` changes what others share, `x = y` loses what was there",
    prior: 0.5,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    match site.kind() {
        "expression_statement" => replaced(site, out),
        "assignment" => merged(site, out),
        _ => {}
    }
}

/// `x.update(y)`, `x.extend(y)`: `x = y`, `x += y`.
fn replaced(site: &Site<'_>, out: &mut Proposals) {
    let Some(call) = site.node.named_child(0).filter(|c| c.kind() == "call") else {
        return;
    };
    let (Some(function), Some(arguments)) = (
        call.child_by_field_name("function"),
        call.child_by_field_name("arguments"),
    ) else {
        return;
    };
    let (Some(object), Some(method)) = (
        function.child_by_field_name("object"),
        function.child_by_field_name("attribute"),
    ) else {
        return;
    };
    if !matches!(object.kind(), "identifier" | "attribute" | "subscript")
        || arguments.named_child_count() != 1
    {
        return;
    }
    let Some(value) = arguments
        .named_child(0)
        .filter(|v| !v.kind().ends_with("splat") && v.kind() != "keyword_argument")
    else {
        return;
    };
    let (target, value) = (site.text(object), site.text(value));
    match site.text(method) {
        "update" | "extend" => {
            out.replace(call, format!("{target} = {value}"), 1.0);
            out.replace(call, format!("{target} = {value}.copy()"), 0.4);
        }
        "append" => {
            out.replace(call, format!("{target} += {value}"), 0.5);
            out.replace(call, format!("{target} = {value}"), 0.3);
        }
        "add" => out.replace(call, format!("{target} |= {value}"), 0.4),
        // Methods of values that cannot change give a new value.
        "union" | "intersection" | "difference" | "replace" | "strip" | "lower" | "upper"
        | "format" => out.replace(call, format!("{target} = {}", site.text(call)), 1.0),
        _ => {}
    }
}

/// `x = y`: `x.append(y)`, `x.update(y)`; `d[k] = v`: `d[k].append(v)`.
fn merged(site: &Site<'_>, out: &mut Proposals) {
    let (Some(left), Some(right)) = (site.field("left"), site.field("right")) else {
        return;
    };
    if site.field("type").is_some()
        || site.parent_kind() != "expression_statement"
        || !matches!(left.kind(), "identifier" | "attribute" | "subscript")
        || !matches!(
            right.kind(),
            "identifier" | "attribute" | "subscript" | "call" | "integer" | "string" | "tuple"
        )
    {
        return;
    }
    let types = site.types(left);
    let (target, value) = (site.text(left), site.text(right));
    let known = if types.unknown() { 0.35 } else { 1.0 };
    if types.may_be(Types::LIST) {
        out.replace(site.node, format!("{target}.append({value})"), 0.8 * known);
        out.replace(site.node, format!("{target}.extend({value})"), 0.6 * known);
    }
    if types.may_be(Types::DICT.or(Types::SET)) {
        out.replace(site.node, format!("{target}.update({value})"), 0.7 * known);
    }
    if types.may_be(Types::SET) {
        out.replace(site.node, format!("{target}.add({value})"), 0.7 * known);
    }
    if let (Some(table), Some(key)) = (
        left.child_by_field_name("value"),
        left.child_by_field_name("subscript"),
    ) && key.kind() != "slice"
        && site.types(table).may_be(Types::DICT)
    {
        let known = if site.types(table).unknown() {
            0.5
        } else {
            1.0
        };
        let (table, key) = (site.text(table), site.text(key));
        for (call, fit) in [("[]).append", 0.8), ("set()).add", 0.4)] {
            let text = format!("{table}.setdefault({key}, {call}({value})");
            out.replace(site.node, text, fit * known);
        }
        let sum = format!(
            "{target} = {table}.get({key}, 0) + {}",
            site.operand(right, Level::Times)
        );
        out.replace(site.node, sum, 0.6 * known);
        let kept = format!("{table}.setdefault({key}, {value})");
        out.replace(site.node, kept, 0.4 * known);
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn merging_and_replacing() {
        let source = "def f(groups: dict, k, v, xs: list, seen: set):\n    groups[k] = v\n    xs = v\n    xs.extend(v)\n    seen.union(xs)\n";
        check(
            &OPERATOR,
            source,
            &[
                ("groups[k] = v", "groups.setdefault(k, []).append(v)"),
                ("xs = v", "xs.append(v)"),
                ("xs.extend(v)", "xs = v"),
                ("seen.union(xs)", "seen = seen.union(xs)"),
            ],
        );
    }
}
