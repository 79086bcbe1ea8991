//! A slip in a regular expression or a date format.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "pattern",
    rationale: "greedy for lazy, one for many, a missing anchor, month for minute",
    prior: 0.6,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.kind() != "string" || site.own().len() > 120 || site.own().contains('\n') {
        return;
    }
    let Some(call) = site.above(2).map(|s| s.node).filter(|c| c.kind() == "call") else {
        return;
    };
    let function = call
        .child_by_field_name("function")
        .map_or("", |f| site.text(f));
    let method = function.rsplit('.').next().unwrap_or("");
    let dates = matches!(method, "strptime" | "strftime");
    let regular = function.starts_with("re.") || function.starts_with("regex.");
    if !dates && !regular {
        return;
    }
    let own = site.own();
    let base = site.node.start_byte();
    let swaps: &[(&str, &str, f64)] = if dates {
        &[
            ("%m", "%M", 0.7),
            ("%M", "%m", 0.9),
            ("%y", "%Y", 0.9),
            ("%Y", "%y", 0.6),
            ("%H", "%I", 0.7),
            ("%I", "%H", 0.8),
            ("%d", "%D", 0.1),
            ("%b", "%B", 0.6),
            ("%B", "%b", 0.6),
            ("%a", "%A", 0.5),
            ("%A", "%a", 0.5),
            ("%s", "%S", 0.8),
            ("%S", "%s", 0.1),
            ("/", "-", 0.5),
            ("-", "/", 0.5),
            ("%d", "%m", 0.4),
            ("%m", "%d", 0.4),
        ]
    } else {
        &[
            (".*", ".*?", 0.9),
            (".+", ".+?", 0.8),
            ("*", "+", 0.8),
            ("+", "*", 0.8),
            ("\\d", "\\d+", 0.7),
            ("\\w", "\\w+", 0.6),
            ("\\s", "\\s*", 0.4),
            ("\\d", "\\w", 0.4),
            ("\\w", "\\d", 0.3),
            ("\\d", "[\\d.]", 0.3),
            ("\\s", "\\S", 0.3),
            (".", "\\.", 0.5),
            ("a-z", "a-zA-Z", 0.7),
            ("A-Z", "a-zA-Z", 0.6),
            ("0-9", "0-9.", 0.3),
            ("?", "", 0.3),
            ("^", "", 0.3),
            ("$", "", 0.3),
            ("\\d", "-?\\d", 0.4),
            ("[^", "[", 0.4),
            ("[", "[^", 0.3),
        ]
    };
    for (from, to, fit) in swaps {
        for (k, (at, _)) in own.match_indices(from).enumerate().take(4) {
            if at == 0
                || own[..at].ends_with('\\')
                || (*from == "\\d" && own[at + 2..].starts_with(['+', '*', '{']))
            {
                continue;
            }
            out.range(
                base + at..base + at + from.len(),
                *to,
                fit / (1.0 + 0.1 * k as f64),
            );
        }
    }
    if dates && own.contains("%d") && own.contains("%m") {
        let swapped = own
            .replace("%d", "\u{0}")
            .replace("%m", "%d")
            .replace('\u{0}', "%m");
        out.replace(site.node, swapped, 1.0);
    }
    if regular {
        let Some(open) = own.find(['"', '\'']) else {
            return;
        };
        let quote = own[open..].chars().next().unwrap_or('"');
        let triple = own[open..].starts_with(&quote.to_string().repeat(3)) && own.len() > open + 5;
        let width = if triple { 3 } else { 1 };
        let (first, last) = (base + open + width, base + own.len() - width);
        if last < first {
            return;
        }
        out.range(first..first, "^", 0.5);
        out.range(last..last, "$", 0.7);
    }
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn patterns_and_formats() {
        let source = "import re\nfrom datetime import datetime\n\ndef f(s):\n    a = re.match(r'(.*)x', s)\n    return datetime.strptime(s, '%d/%m/%y')\n";
        check(
            &OPERATOR,
            source,
            &[
                ("(.*)x", "(.*?)x"),
                ("x'", "x$'"),
                ("%d/%m/%y", "%m/%d/%y"),
                ("%d/%m/%y", "%d/%m/%Y"),
            ],
        );
    }
}
