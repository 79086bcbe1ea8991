//! Off by one: ranges, slices, indices, comparisons, a lost `+ 1`.

use tree_sitter::Node;

use crate::seed::site::{Site, arguments, children, field, is_atom};

pub fn propose<'a>(node: Node<'a>, site: &mut Site<'a>) {
    match node.kind() {
        "call" => range(node, site),
        "slice" => slice(node, site),
        "subscript" => index(node, site),
        "comparison_operator" => boundary(node, site),
        "binary_operator" => lost_one(node, site),
        _ => {}
    }
}

/// `range(n)` ends one early or one late, or starts one late; `enumerate(x, 1)` counts from 0.
fn range<'a>(call: Node<'a>, site: &mut Site<'a>) {
    let (Some(function), Some((positional, _))) =
        (call.child_by_field_name("function"), arguments(call))
    else {
        return;
    };
    match (site.text(function), positional.as_slice()) {
        ("range", [stop]) => {
            shift("loop-bound", *stop, site);
            let text = site.text(*stop);
            site.replace(
                "loop-bound",
                *stop,
                format!("1, {text}"),
                "the loop leaves out the first number",
            );
        }
        ("range", [start, stop, ..]) => {
            shift("loop-bound", *start, site);
            shift("loop-bound", *stop, site);
        }
        ("enumerate", [counted, start]) => {
            site.propose(
                "loop-bound",
                vec![(counted.end_byte()..start.end_byte(), String::new())],
                "the count starts at 0",
            );
        }
        _ => {}
    }
}

/// Proposes one more and one less.
fn shift<'a>(operator: &'static str, bound: Node<'a>, site: &mut Site<'a>) {
    let text = site.text(bound);
    if let Ok(number) = text.parse::<i64>() {
        for other in [number + 1, number - 1] {
            if other >= 0 {
                site.replace(
                    operator,
                    bound,
                    other.to_string(),
                    format!("{other} instead of {number}"),
                );
            }
        }
        return;
    }
    // The loss of a `+ 1` is another operator's.
    if is_atom(bound) && !matches!(bound.kind(), "string" | "none") {
        for sign in ["+", "-"] {
            site.replace(
                operator,
                bound,
                format!("{text} {sign} 1"),
                format!("`{text} {sign} 1` instead of `{text}`"),
            );
        }
    }
}

/// A bound of a slice is off by one, or missing.
fn slice<'a>(node: Node<'a>, site: &mut Site<'a>) {
    for bound in children(node) {
        shift("off-by-one", bound, site);
        let text = site.text(bound);
        site.replace(
            "off-by-one",
            bound,
            "",
            format!("the bound `{text}` of the slice is missing"),
        );
    }
}

/// `x[i]` becomes `x[i + 1]`, `x[0]` becomes `x[1]`, `x[-1]` becomes `x[0]`.
fn index<'a>(node: Node<'a>, site: &mut Site<'a>) {
    let [subscript] = field(node, "subscript")[..] else {
        return;
    };
    match (subscript.kind(), site.text(subscript)) {
        ("integer", _) => shift("off-by-one", subscript, site),
        ("unary_operator", "-1") => {
            for other in ["0", "-2"] {
                site.replace(
                    "off-by-one",
                    subscript,
                    other,
                    format!("index {other} instead of -1"),
                );
            }
        }
        ("identifier", name) if looks_like_index(name) => shift("off-by-one", subscript, site),
        _ => {}
    }
}

/// A name that holds a number; a name like `key` does not, and would only crash.
fn looks_like_index(name: &str) -> bool {
    matches!(
        name,
        "i" | "j"
            | "k"
            | "n"
            | "m"
            | "pos"
            | "idx"
            | "index"
            | "start"
            | "end"
            | "stop"
            | "left"
            | "right"
            | "lo"
            | "hi"
            | "low"
            | "high"
            | "offset"
            | "position"
            | "row"
            | "col"
    ) || ["_idx", "_index", "_pos", "_i"]
        .iter()
        .any(|end| name.ends_with(end))
}

fn boundary<'a>(node: Node<'a>, site: &mut Site<'a>) {
    for sign in field(node, "operators") {
        let text = site.text(sign);
        let other = match text {
            "<" => "<=",
            "<=" => "<",
            ">" => ">=",
            ">=" => ">",
            _ => continue,
        };
        site.replace(
            "boundary",
            sign,
            other,
            format!("`{other}` instead of `{text}`"),
        );
    }
}

/// `x + 1` and `x - 1` become `x`.
fn lost_one<'a>(node: Node<'a>, site: &mut Site<'a>) {
    let (Some(left), Some(sign), Some(right)) = (
        node.child_by_field_name("left"),
        node.child_by_field_name("operator"),
        node.child_by_field_name("right"),
    ) else {
        return;
    };
    let (sign, right) = (site.text(sign), site.text(right));
    if right == "1" && matches!(sign, "+" | "-") {
        let text = site.text(left);
        site.replace(
            "lost-plus-one",
            node,
            text,
            format!("the `{sign} 1` after `{text}` is missing"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::check;
    use super::*;

    #[test]
    fn bounds_are_off_by_one() {
        check(
            propose,
            &[
                (
                    "x = range(a)",
                    &[
                        "loop-bound: x = range(a + 1)",
                        "loop-bound: x = range(a - 1)",
                        "loop-bound: x = range(1, a)",
                    ],
                ),
                (
                    "x = range(0, b + 1)",
                    &[
                        "loop-bound: x = range(1, b + 1)",
                        "lost-plus-one: x = range(0, b)",
                    ],
                ),
                ("x = enumerate(a, 1)", &["loop-bound: x = enumerate(a)"]),
                (
                    "x = a[1:]",
                    &[
                        "off-by-one: x = a[2:]",
                        "off-by-one: x = a[0:]",
                        "off-by-one: x = a[:]",
                    ],
                ),
                (
                    "x = a[i]",
                    &["off-by-one: x = a[i + 1]", "off-by-one: x = a[i - 1]"],
                ),
                (
                    "x = a[-1]",
                    &["off-by-one: x = a[0]", "off-by-one: x = a[-2]"],
                ),
                ("x = a[key]", &[]),
                ("x = a < b", &["boundary: x = a <= b"]),
                ("x = a == b", &[]),
                ("x = len(a) - 1", &["lost-plus-one: x = len(a)"]),
            ],
        );
    }
}
