//! A wrong literal: another small constant, or a container in its place.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "literal",
    rationale: "wrong initial values and neutral elements",
    prior: 0.7,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.store {
        return;
    }
    let alternatives: &[(&str, f64)] = match site.kind() {
        "integer" => match site.own() {
            "0" => &[
                ("1", 1.0),
                ("-1", 0.7),
                ("None", 0.4),
                ("2", 0.2),
                ("float('inf')", 0.2),
                ("float('-inf')", 0.25),
                ("0.0", 0.15),
                ("[]", 0.1),
                ("''", 0.1),
            ],
            "1" => &[
                ("0", 1.0),
                ("-1", 0.6),
                ("2", 0.6),
                ("None", 0.2),
                ("10", 0.1),
            ],
            "2" => &[("1", 0.8), ("3", 0.6), ("0", 0.5), ("10", 0.15)],
            _ => &[("0", 0.3), ("1", 0.4), ("-1", 0.2), ("None", 0.1)],
        },
        "float" => &[("0.0", 0.4), ("1.0", 0.5), ("0.5", 0.3), ("100.0", 0.15)],
        "true" => &[("False", 1.0), ("None", 0.15)],
        "false" => &[("True", 1.0), ("None", 0.2)],
        "none" => &[
            ("0", 0.5),
            ("[]", 0.5),
            ("''", 0.4),
            ("False", 0.4),
            ("{}", 0.3),
            ("True", 0.25),
            ("1", 0.2),
            ("()", 0.1),
        ],
        "string" if site.own().len() == 2 => &[("' '", 0.4), ("None", 0.3), ("','", 0.1)],
        "list" if site.node.named_child_count() == 0 => &[
            ("[[]]", 0.6),
            ("{}", 0.4),
            ("None", 0.4),
            ("[0]", 0.35),
            ("set()", 0.3),
            ("[1]", 0.2),
            ("['']", 0.12),
            ("[None]", 0.1),
            ("[[0]]", 0.08),
        ],
        "dictionary" if site.node.named_child_count() == 0 => {
            &[("[]", 0.4), ("None", 0.4), ("set()", 0.5)]
        }
        "tuple" if site.node.named_child_count() == 0 => {
            &[("[]", 0.4), ("None", 0.4), ("((),)", 0.1)]
        }
        "call" if site.own() == "set()" => &[("[]", 0.5), ("{}", 0.5), ("None", 0.3)],
        _ => return,
    };
    // The sign of `-1` belongs to the number.
    if site.parent_kind() == "unary_operator" {
        if site.kind() == "integer"
            && let Some(parent) = site.parent()
        {
            for (text, fit) in [("0", 0.6), ("1", 0.6), ("None", 0.4)] {
                out.replace(parent, text, fit);
            }
        }
        return;
    }
    if site.kind() == "integer"
        && let Ok(value) = site.own().parse::<i64>()
        && value > 2
    {
        scaled(site, value, out);
    }
    let delicate = site.in_format();
    for (text, fit) in alternatives {
        if *text == site.own() || (delicate && text.contains('\'')) {
            continue;
        }
        let container = text.starts_with(['[', '{', '(', 's', '\'', 'N']);
        let scalar = matches!(site.kind(), "integer" | "float");
        // `x < []` and `x + None` are never meant.
        if container
            && scalar
            && matches!(
                site.parent_kind(),
                "comparison_operator"
                    | "binary_operator"
                    | "subscript"
                    | "slice"
                    | "augmented_assignment"
            )
        {
            continue;
        }
        out.replace(site.node, *text, *fit);
    }
}

/// A digit too few or too many, and the usual factors.
fn scaled(site: &Site<'_>, value: i64, out: &mut Proposals) {
    let mut offer = |new: i64, fit: f64| {
        if new != value && new > 0 {
            out.replace(site.node, new.to_string(), fit);
        }
    };
    offer(value.saturating_mul(10), 0.5);
    if value % 10 == 0 {
        offer(value / 10, 0.5);
    }
    if value % 2 == 0 {
        offer(value / 2, 0.3);
    }
    offer(value.saturating_mul(2), 0.3);
    for (known, others) in [
        (60, &[3600, 24, 100][..]),
        (24, &[60, 12, 7]),
        (12, &[24, 10]),
        (7, &[24, 5]),
        (1000, &[1024, 100]),
        (1024, &[1000]),
        (100, &[1000, 10, 60]),
        (3600, &[60, 86400]),
        (365, &[366, 360]),
        (360, &[365, 180]),
        (180, &[360]),
        (26, &[25]),
        (8, &[16]),
        (16, &[8, 10]),
        (10, &[2, 16]),
    ] {
        if known == value {
            for other in others {
                offer(*other, 0.5);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn small_constants_and_containers() {
        let source = "def f(x=None):\n    best = 0\n    found = False\n    if not x:\n        return []\n    return -1\n";
        check(
            &OPERATOR,
            source,
            &[
                ("best = 0", "best = 1"),
                ("best = 0", "best = None"),
                ("best = 0", "best = float('-inf')"),
                ("found = False", "found = True"),
                ("return []", "return [[]]"),
                ("-1", "None"),
                ("x=None", "x=[]"),
            ],
        );
    }
}
