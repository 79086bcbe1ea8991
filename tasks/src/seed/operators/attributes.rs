//! A similar method, attribute or function instead of the right one.

use tree_sitter::Node;

use crate::seed::site::Site;

/// Names of the standard library that are mistaken for each other, in both directions.
const MISTAKEN: &[(&str, &str)] = &[
    ("append", "extend"),
    ("append", "appendleft"),
    ("pop", "popleft"),
    ("lower", "upper"),
    ("title", "capitalize"),
    ("strip", "lstrip"),
    ("strip", "rstrip"),
    ("lstrip", "rstrip"),
    ("find", "rfind"),
    ("index", "rindex"),
    ("split", "rsplit"),
    ("partition", "rpartition"),
    ("startswith", "endswith"),
    ("ljust", "rjust"),
    ("keys", "values"),
    ("values", "items"),
    ("isdigit", "isalnum"),
    ("isalpha", "isalnum"),
    ("isupper", "islower"),
    ("days", "seconds"),
    ("seconds", "total_seconds"),
    ("match", "search"),
    ("match", "fullmatch"),
    ("floor", "ceil"),
    ("union", "intersection"),
    ("difference", "symmetric_difference"),
    ("read", "readline"),
    ("setdefault", "get"),
    ("group", "groups"),
    ("start", "end"),
    ("bisect_left", "bisect_right"),
    ("encode", "decode"),
];

/// Functions that are mistaken for each other.
const FUNCTIONS: &[(&str, &str)] = &[
    ("min", "max"),
    ("any", "all"),
    ("floor", "ceil"),
    ("ceil", "round"),
    ("sorted", "reversed"),
    ("bisect_left", "bisect_right"),
    ("str", "repr"),
    ("list", "set"),
    ("int", "float"),
    ("zip", "zip_longest"),
];

pub fn propose<'a>(node: Node<'a>, site: &mut Site<'a>) {
    match node.kind() {
        "attribute" => attribute(node, site),
        "call" => function(node, site),
        _ => {}
    }
}

fn others<'t>(table: &[(&'t str, &'t str)], name: &str) -> Vec<&'t str> {
    table
        .iter()
        .filter_map(|&(a, b)| match name {
            _ if name == a => Some(b),
            _ if name == b => Some(a),
            _ => None,
        })
        .collect()
}

fn attribute<'a>(node: Node<'a>, site: &mut Site<'a>) {
    let Some(name) = node.child_by_field_name("attribute") else {
        return;
    };
    let called = node.parent().is_some_and(|parent| {
        parent.kind() == "call" && parent.child_by_field_name("function") == Some(node)
    });
    let text = site.text(name);
    let mut wrong: Vec<&str> = others(MISTAKEN, text);
    if !called {
        // Without a call `x.start` is no method of a match, but `x.days` is what it looks like.
        wrong.retain(|other| *other == "days" || *other == "seconds");
    }
    for other in wrong {
        site.replace(
            "wrong-method",
            name,
            other,
            format!("`{other}` instead of `{text}`"),
        );
    }
    let known = others(MISTAKEN, text);
    let similar: Vec<&str> = site
        .attributes(called)
        .filter(|other| *other != text && !known.contains(other) && is_similar(text, other))
        .take(2)
        .collect();
    for other in similar {
        site.replace(
            "wrong-attr",
            name,
            other,
            format!("`{other}` instead of `{text}`"),
        );
    }
}

fn function<'a>(call: Node<'a>, site: &mut Site<'a>) {
    let Some(name) = call.child_by_field_name("function") else {
        return;
    };
    if name.kind() != "identifier" {
        return;
    }
    let text = site.text(name);
    for other in others(FUNCTIONS, text) {
        // Only names that are there: builtins, or what the file uses elsewhere.
        let builtin = !matches!(
            other,
            "floor" | "ceil" | "bisect_left" | "bisect_right" | "zip_longest"
        );
        if builtin || site.source().contains(&format!("{other}(")) {
            site.replace(
                "wrong-method",
                name,
                other,
                format!("`{other}` instead of `{text}`"),
            );
        }
    }
}

/// Whether two names can be mistaken for each other: a word in common, or nearly the same letters.
fn is_similar(a: &str, b: &str) -> bool {
    // `_x` and `x` are the same name twice, mostly a property and its field.
    if a.trim_matches('_') == b.trim_matches('_') || a.starts_with("__") || b.starts_with("__") {
        return false;
    }
    let words = |name: &str| -> Vec<String> {
        name.split('_')
            .filter(|word| word.len() > 2)
            .map(str::to_lowercase)
            .collect()
    };
    let (first, second) = (words(a), words(b));
    first.iter().any(|word| second.contains(word)) || (a.len() > 3 && distance(a, b) <= 2)
}

/// Edit distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let next = (corner + usize::from(x != *y))
                .min(row[j] + 1)
                .min(row[j + 1] + 1);
            corner = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::super::table::check;
    use super::*;

    #[test]
    fn similar_names_are_mistaken() {
        check(
            propose,
            &[
                ("x = a.lower()", &["wrong-method: x = a.upper()"]),
                ("x = a.days", &["wrong-method: x = a.seconds"]),
                ("x = a.start", &[]),
                ("x = min(a, b)", &["wrong-method: x = max(a, b)"]),
                ("x = floor(a)", &[]),
                (
                    "x = a.max_width\ny = a.min_width",
                    &[
                        "wrong-attr: x = a.min_width\ny = a.min_width",
                        "wrong-attr: x = a.max_width\ny = a.max_width",
                    ],
                ),
                ("x = a._size\ny = a.size", &[]),
            ],
        );
    }

    #[test]
    fn distances() {
        assert_eq!(distance("left", "left"), 0);
        assert_eq!(distance("left", "lift"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
