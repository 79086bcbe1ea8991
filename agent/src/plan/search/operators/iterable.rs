//! A loop over the wrong view of the right thing.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "iterable",
    rationale: "keys for items, elements for positions, a live view for a snapshot",
    prior: 0.75,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.store {
        return;
    }
    let in_loop = matches!(site.parent_kind(), "for_statement" | "for_in_clause")
        && site.role() == Some("right");
    if in_loop {
        over(site, out);
    }
    if site.kind() == "call" {
        range(site, out);
    }
}

fn over(site: &Site<'_>, out: &mut Proposals) {
    let own = site.own();
    let types = site.types(site.node);
    let targets = site
        .parent()
        .and_then(|p| p.child_by_field_name("left"))
        .map_or(1, |l| {
            if matches!(l.kind(), "pattern_list" | "tuple_pattern") {
                l.named_child_count()
            } else {
                1
            }
        });
    let dict = if types.meets(Types::DICT) {
        1.0
    } else if types.unknown() {
        0.6
    } else {
        0.05
    };
    let simple = matches!(site.kind(), "identifier" | "attribute" | "subscript");
    if simple {
        let pair = if targets == 2 { 1.0 } else { 0.4 };
        out.replace(site.node, format!("{own}.items()"), dict * pair);
        out.replace(
            site.node,
            format!("{own}.values()"),
            dict * if targets == 1 { 0.8 } else { 0.2 },
        );
        out.replace(site.node, format!("{own}.keys()"), dict * 0.1);
        out.replace(
            site.node,
            format!("enumerate({own})"),
            if targets == 2 { 0.8 } else { 0.15 },
        );
        let sequence = if types.within(Types::DICT.or(Types::SET)) {
            0.1
        } else {
            1.0
        };
        if targets == 1 {
            out.replace(site.node, format!("range(len({own}))"), 0.6 * sequence);
            out.replace(
                site.node,
                format!("range({own})"),
                if types.may_be(Types::INT) { 0.6 } else { 0.05 },
            );
        }
        out.replace(site.node, format!("reversed({own})"), 0.7 * sequence);
        if targets == 2 {
            out.replace(site.node, format!("zip({own}, {own}[1:])"), 0.6 * sequence);
            for other in site
                .locals()
                .filter(|n| n.text != own && n.types.may_be(Types::ITERABLE))
                .take(4)
            {
                out.replace(
                    site.node,
                    format!("zip({own}, {})", other.text),
                    0.5 * sequence,
                );
            }
        }
    }
    // Changing a container while looping over it.
    out.replace(site.node, format!("list({own})"), 0.7);
    out.replace(site.node, format!("sorted({own})"), 0.7);
    out.replace(site.node, format!("set({own})"), 0.3);
    if site.kind() == "call" {
        let Some(function) = site.field("function") else {
            return;
        };
        if let (Some(object), Some(name)) = (
            function.child_by_field_name("object"),
            function.child_by_field_name("attribute"),
        ) {
            let kin: &[&str] = match site.text(name) {
                "items" => &["values", "keys"],
                "values" => &["items", "keys"],
                "keys" => &["values", "items"],
                _ => &[],
            };
            for new in kin {
                out.replace(name, *new, 0.8);
            }
            let _ = object;
        }
        if site.text(function) == "enumerate"
            && let Some(arguments) = site.field("arguments")
            && arguments.named_child_count() == 1
        {
            let end = arguments.end_byte() - 1;
            out.range(end..end, ", 1", 0.8);
        }
        if site.text(function) == "zip"
            && let Some(arguments) = site.field("arguments")
        {
            let end = arguments.end_byte() - 1;
            for other in site
                .locals()
                .filter(|n| n.types.may_be(Types::ITERABLE))
                .take(4)
            {
                out.range(end..end, format!(", {}", other.text), 0.3);
            }
        }
    }
}

/// Start, step and direction of a range.
fn range(site: &Site<'_>, out: &mut Proposals) {
    let (Some(function), Some(arguments)) = (site.field("function"), site.field("arguments"))
    else {
        return;
    };
    if site.text(function) != "range" || arguments.kind() != "argument_list" {
        return;
    }
    let mut cursor = arguments.walk();
    let parts: Vec<_> = arguments
        .named_children(&mut cursor)
        .filter(|p| !p.is_extra())
        .map(|p| site.text(p))
        .collect();
    let mut offer = |text: String, fit: f64| out.replace(arguments, format!("({text})"), fit);
    let numbers: Vec<_> = site
        .locals()
        .filter(|n| n.types.may_be(Types::INT) && n.only_in.is_none() && n.bound)
        .take(8)
        .collect();
    match parts[..] {
        [stop] => {
            offer(format!("1, {stop}"), 0.9);
            offer(format!("1, {stop} + 1"), 0.9);
            offer(format!("2, {stop}"), 0.3);
            offer(format!("{stop} - 1, -1, -1"), 0.6);
            offer(format!("{stop}, 0, -1"), 0.4);
            offer(format!("0, {stop}, 2"), 0.4);
            for name in numbers.iter().filter(|n| n.text != stop) {
                let fit = name.types.fit(Types::INT);
                offer(format!("{}, {stop}", name.text), 0.6 * fit);
                offer(format!("{} + 1, {stop}", name.text), 0.7 * fit);
                offer(format!("0, {stop}, {}", name.text), 0.5 * fit);
            }
        }
        [start, stop] => {
            offer(stop.to_owned(), 0.5);
            offer(format!("{start}, {stop}, -1"), 0.3);
            offer(format!("{stop}, {start}, -1"), 0.5);
            offer(format!("{stop} - 1, {start} - 1, -1"), 0.4);
            offer(format!("{start}, {stop}, 2"), 0.4);
            for name in numbers.iter().filter(|n| n.text != stop && n.text != start) {
                offer(
                    format!("{start}, {stop}, {}", name.text),
                    0.7 * name.types.fit(Types::INT),
                );
            }
        }
        [start, stop, by] => {
            offer(format!("{start}, {stop}"), 0.5);
            if let Some(positive) = by.strip_prefix('-') {
                offer(format!("{start}, {stop}, {positive}"), 0.3);
                offer(format!("{start}, {stop} - 1, {by}"), 0.6);
                offer(format!("{start} - 1, {stop}, {by}"), 0.6);
            } else {
                offer(format!("{start}, {stop}, -{by}"), 0.3);
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
    fn views_snapshots_and_ranges() {
        let source = "def f(d: dict, xs: list, size: int):\n    for a, b in d:\n        pass\n    for x in xs:\n        pass\n    for i in range(len(xs)):\n        pass\n    return [v for v in d.keys()]\n";
        check(
            &OPERATOR,
            source,
            &[
                ("in d:", "in d.items():"),
                ("in xs:", "in reversed(xs):"),
                ("in xs:", "in list(xs):"),
                ("range(len(xs))", "range(1, len(xs))"),
                ("range(len(xs))", "range(0, len(xs), size)"),
                ("d.keys()", "d.values()"),
            ],
        );
    }
}
