//! A wrong format specification.

use super::Operator;
use crate::plan::search::proposals::Proposals;
use crate::plan::search::site::Site;
use crate::plan::search::types::Types;

/// The operator.
pub const OPERATOR: Operator = Operator {
    name: "format",
    rationale: "digits, padding and conversions of formatted values",
    prior: 0.6,
    propose,
};

fn propose(site: &Site<'_>, out: &mut Proposals) {
    match site.kind() {
        "interpolation" => interpolation(site, out),
        "string" => template(site, out),
        _ => {}
    }
}

fn interpolation(site: &Site<'_>, out: &mut Proposals) {
    let Some(expression) = site.field("expression") else {
        return;
    };
    if let Some(specifier) = site.field("format_specifier") {
        let text = site.text(specifier);
        // A width that is computed is left alone.
        if text.contains('{') {
            return;
        }
        for (new, fit) in variants(text.trim_start_matches(':')) {
            out.replace(specifier, format!(":{new}"), fit);
        }
        out.replace(specifier, "", 0.3);
        return;
    }
    let types = site.types(expression);
    let end = site.node.end_byte() - 1;
    let known = if types.unknown() { 0.4 } else { 1.0 };
    if types.may_be(Types::FLOAT) {
        out.range(end..end, ":.2f", 0.7 * known);
        out.range(end..end, ":.1f", 0.5 * known);
    }
    if types.may_be(Types::INT) {
        out.range(end..end, ":02d", 0.5 * known);
        out.range(end..end, ":,", 0.3 * known);
        out.range(end..end, ":02", 0.3 * known);
    }
    if site.field("type_conversion").is_none() && types.may_be(Types::STR) {
        out.range(end..end, "!r", 0.4 * known);
    }
}

/// `'{:.1f}'.format(x)` and `'%.1f' % x`.
fn template(site: &Site<'_>, out: &mut Proposals) {
    let text = site.own();
    if text.len() > 120 || site.in_format() {
        return;
    }
    let base = site.node.start_byte();
    if site.parent_kind() == "attribute" && text.contains("{:") {
        for (at, _) in text.match_indices("{:") {
            let rest = &text[at + 2..];
            if let Some(close) = rest.find('}') {
                for (new, fit) in variants(&rest[..close]) {
                    out.range(base + at + 2..base + at + 2 + close, new, fit);
                }
            }
        }
    }
    if site.parent_kind() == "binary_operator" && site.role() == Some("left") {
        for (at, _) in text.match_indices('%') {
            let rest = &text[at + 1..];
            if let Some(close) = rest.find(|c: char| c.is_ascii_alphabetic()) {
                let specifier = &rest[..=close];
                for (new, fit) in variants(specifier) {
                    out.range(base + at + 1..base + at + 2 + close, new, fit);
                }
                if specifier == "s" || specifier == "d" {
                    let new = if specifier == "s" { "r" } else { "s" };
                    out.range(base + at + 1..base + at + 2 + close, new, 0.3);
                }
            }
        }
    }
}

/// Neighbours of a format specification.
fn variants(text: &str) -> Vec<(String, f64)> {
    let mut out: Vec<(String, f64)> = Vec::new();
    // Every number in it, one up, one down, and the round values.
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        if !bytes[i].is_ascii_digit() {
            i += 1;
            continue;
        }
        let start = i;
        while i < bytes.len() && bytes[i].is_ascii_digit() {
            i += 1;
        }
        let digits = &text[start..i];
        if let Ok(value) = digits.parse::<u32>() {
            let width = digits.len();
            for (new, fit) in [
                (value + 1, 0.9),
                (value.saturating_sub(1), 0.9),
                (2, 0.6),
                (0, 0.3),
                (3, 0.2),
            ] {
                if new != value {
                    let padded = if digits.starts_with('0') && width > 1 {
                        format!("{new:0width$}")
                    } else {
                        new.to_string()
                    };
                    out.push((format!("{}{padded}{}", &text[..start], &text[i..]), fit));
                }
            }
            if !digits.starts_with('0') && (start == 0 || bytes[start - 1] != b'.') {
                out.push((format!("{}0{}", &text[..start], &text[start..]), 0.5));
            }
        }
    }
    for (a, b) in [
        ("<", ">"),
        (">", "<"),
        ("^", "<"),
        ("f", "g"),
        ("f", "e"),
        ("d", "f"),
        ("x", "X"),
        ("%", "f"),
        ("f", "%"),
        ("g", "f"),
    ] {
        if text.contains(a) {
            out.push((text.replacen(a, b, 1), 0.4));
        }
    }
    if text.ends_with('f') && !text.contains('.') {
        out.push((text.replace('f', ".2f"), 0.6));
    }
    if text.ends_with('f') && !text.contains(',') && text.starts_with('.') {
        out.push((format!(",{text}"), 0.4));
    }
    out.retain(|(new, _)| new != text);
    out
}

#[cfg(test)]
mod tests {
    use super::OPERATOR;
    use crate::plan::search::operators::testing::check;

    #[test]
    fn digits_padding_and_conversions() {
        let source = "def f(x: float, n: int):\n    a = '%5.1f' % x\n    b = '{:>4}'.format(n)\n    return f'{x:.1f} {n}'\n";
        check(
            &OPERATOR,
            source,
            &[
                ("{x:.1f}", "{x:.2f}"),
                ("{n}'", "{n:02d}'"),
                ("%5.1f", "%5.2f"),
                ("{:>4}", "{:<4}"),
            ],
        );
    }
}
