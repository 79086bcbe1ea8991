//! A wrong string: another one of the file, or a slip in it.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::site::similarity;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "string-literal",
    rationale: "keys, separators and names are copied and not adapted",
    prior: 0.6,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    if site.kind() != "string" || site.in_format() {
        return;
    }
    let own = site.own();
    let Some((head, body, tail)) = parts(own) else {
        return;
    };
    if body.len() > 60 || body.contains(['\n', '{']) {
        return;
    }
    let mut cursor = site.node.walk();
    if site
        .node
        .named_children(&mut cursor)
        .any(|c| c.kind() == "interpolation")
    {
        return;
    }
    let key = matches!(
        site.parent_kind(),
        "subscript" | "pair" | "argument_list" | "comparison_operator"
    );
    for other in &site.unit.index.strings {
        let Some((_, theirs, _)) = parts(other) else {
            continue;
        };
        if theirs == body || theirs.contains(['\'', '"', '\\', '{']) {
            continue;
        }
        let alike = similarity(body, theirs);
        let fit = if key { 0.55 } else { 0.35 };
        out.replace(
            site.node,
            format!("{head}{theirs}{tail}"),
            fit + 0.45 * alike,
        );
    }
    let mut offer = |text: String, fit: f64| {
        if text != body {
            out.replace(site.node, format!("{head}{text}{tail}"), fit);
        }
    };
    offer(body.trim().to_owned(), 0.5);
    offer(body.to_lowercase(), 0.4);
    offer(body.to_uppercase(), 0.3);
    offer(format!("{body} "), 0.3);
    offer(format!(" {body}"), 0.2);
    if let Some(bare) = body.strip_suffix("\\n") {
        offer(bare.to_owned(), 0.5);
    } else if !head.to_ascii_lowercase().contains('r') {
        offer(format!("{body}\\n"), 0.25);
    }
    let swaps: &[&str] = match body {
        "," => &[", ", ";", " ", "\\t"],
        ", " => &[",", "; ", " "],
        " " => &["", ",", "-", "_", "\\t", "\\n"],
        "-" => &["_", " ", ""],
        "_" => &["-", " ", ""],
        "" => &[" ", ",", ", ", "\\n", "0"],
        ":" => &["=", ": ", ","],
        "r" => &["w", "rb", "a"],
        "w" => &["a", "r", "wb"],
        "a" => &["w"],
        "rb" => &["r"],
        "wb" => &["w"],
        "\\n" => &["", "\\r\\n", " "],
        _ => &[],
    };
    for text in swaps {
        offer((*text).to_owned(), 0.7);
    }
}

/// Prefix with opening quote, body, closing quote.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let open = text.find(['"', '\''])?;
    let quote = &text[open..=open];
    let width = if text[open..].starts_with(&quote.repeat(3)) && text.len() >= open + 6 {
        3
    } else {
        1
    };
    let start = open + width;
    let end = text.len().checked_sub(width)?;
    (end >= start).then(|| (&text[..start], &text[start..end], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn strings_of_the_file_and_slips() {
        let source = "def f(row):\n    a = row['first_name']\n    return row['last_name'] + ',' + 'Total '\n";
        check(
            &OPERATOR,
            source,
            &[
                ("'last_name'", "'first_name'"),
                ("','", "', '"),
                ("'Total '", "'Total'"),
            ],
        );
    }
}
