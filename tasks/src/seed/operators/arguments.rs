//! Arguments in the wrong order, or left out.

use tree_sitter::Node;

use crate::seed::site::{Site, arguments, children};

pub fn propose<'a>(node: Node<'a>, site: &mut Site<'a>) {
    if node.kind() != "call" {
        return;
    }
    let (Some(function), Some((positional, _))) =
        (node.child_by_field_name("function"), arguments(node))
    else {
        return;
    };
    let name = site.text(function);
    if matches!(name, "isinstance" | "super" | "print") {
        return;
    }
    for pair in positional.windows(2) {
        let (a, b) = (site.text(pair[0]), site.text(pair[1]));
        site.propose(
            "swapped-args",
            vec![
                (pair[0].byte_range(), b.to_owned()),
                (pair[1].byte_range(), a.to_owned()),
            ],
            format!("arguments of `{name}` are in the wrong order"),
        );
    }
    lost(node, name, site);
}

/// The last argument is left out, or any keyword argument.
fn lost<'a>(call: Node<'a>, name: &str, site: &mut Site<'a>) {
    let Some(list) = call.child_by_field_name("arguments") else {
        return;
    };
    if list.kind() != "argument_list" {
        return;
    }
    let all = children(list);
    for (place, argument) in all.iter().enumerate() {
        let keyword = argument.kind() == "keyword_argument";
        let ends = place + 1 == all.len() && place > 0;
        if !keyword && (!ends || argument.kind().ends_with("splat")) {
            continue;
        }
        let range = match (place.checked_sub(1), all.get(place + 1)) {
            (Some(before), _) => all[before].end_byte()..argument.end_byte(),
            (None, Some(after)) => argument.start_byte()..after.start_byte(),
            (None, None) => argument.byte_range(),
        };
        // What is removed beside the argument must be a comma and white space, no comment.
        if site.source()[range.clone()].contains('#') {
            continue;
        }
        let text = site.text(*argument);
        site.propose(
            "lost-arg",
            vec![(range, String::new())],
            format!("the argument `{text}` of `{name}` is missing"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::check;
    use super::*;

    #[test]
    fn arguments_are_swapped_and_lost() {
        check(
            propose,
            &[
                ("f(a, b)", &["swapped-args: f(b, a)", "lost-arg: f(a)"]),
                ("f(a)", &[]),
                ("f(a, a)", &["lost-arg: f(a)"]),
                (
                    "f(a, x=1, y=2)",
                    &["lost-arg: f(a, y=2)", "lost-arg: f(a, x=1)"],
                ),
                ("f(x=1)", &["lost-arg: f()"]),
                ("f(*a)", &[]),
                ("isinstance(a, b)", &[]),
            ],
        );
    }
}
