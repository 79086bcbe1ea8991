//! Text with values in it: f-strings, `%` and `format`.

use std::fmt::Write as _;

use super::super::Author;
use super::super::code::{Code, Rank};
use super::super::types::Type;
use super::super::vocabulary::words;
use super::expression;

/// Types that are shown in text.
fn shown(author: &mut Author<'_>) -> Option<Type> {
    let at = author.find(|one| match &one.ty {
        Type::Object(_) | Type::Optional(_) => false,
        ty => ty.depth() <= 1,
    })?;
    Some(author.variables[at].ty.clone())
}

fn separator(author: &mut Author<'_>) -> &'static str {
    author
        .random
        .word(&[" ", ": ", "-", "=", ", ", "_", " / ", ":", "", " -> "])
}

/// An f-string.
pub(super) fn formatted(author: &mut Author<'_>, height: usize) -> Code {
    let quote = if author.random.chance(0.5) { '"' } else { '\'' };
    let mut text = format!("f{quote}");
    if author.random.chance(0.5) {
        text.push_str(author.random.word(words("word")));
        text.push_str(separator(author));
    }
    for part in 0..=author.random.below(3) {
        if part > 0 {
            text.push_str(separator(author));
        }
        let wanted = shown(author).unwrap_or(Type::Int);
        let code = expression(author, &wanted, height.saturating_sub(1).max(1));
        // Before 3.12 neither the quotes nor a backslash may come back inside.
        let awkward = code.text.contains(['\'', '"', '\\', '{', '}', ':', '!']);
        let found = author.find(|one| matches!(one.ty, Type::Int | Type::Str));
        let inside = match found {
            Some(at) if awkward => author.read(at).text,
            _ if awkward => "0".to_owned(),
            _ => code.at(Rank::Or),
        };
        let known = author
            .variables
            .iter()
            .find(|one| one.name == inside)
            .map(|one| one.ty.clone());
        let format = match known {
            Some(Type::Int) => author.random.word(&["", "", "", ":03d", ":d", ":>4", ":,"]),
            Some(Type::Float) => author.random.word(&["", ":.2f", ":.1f", ":.2f"]),
            Some(Type::Str) => author.random.word(&["", "", "", "!r", ":<8", ":>6"]),
            _ => "",
        };
        let _ = write!(text, "{{{inside}{format}}}");
    }
    if author.random.chance(0.2) {
        text.push_str(separator(author).trim_end());
    }
    text.push(quote);
    let mut code = Code::atom(text);
    code.size = 3;
    code
}

/// Formatting with `%` or with `format`.
pub(super) fn percent(author: &mut Author<'_>, height: usize) -> Code {
    let mut template = String::new();
    let mut values = Vec::new();
    let method = author.random.chance(0.3);
    for part in 0..=author.random.below(2) {
        if part > 0 || author.random.chance(0.6) {
            template.push_str(author.random.word(words("word")));
            template.push_str(separator(author));
        }
        let wanted = shown(author).unwrap_or(Type::Int);
        let code = expression(author, &wanted, height.saturating_sub(1).max(1));
        template.push_str(match (&wanted, method) {
            (_, true) => "{}",
            (Type::Int, _) => author.random.word(&["%d", "%s", "%d", "%02d"]),
            (Type::Float, _) => author.random.word(&["%.2f", "%s", "%f"]),
            (Type::Str, _) => author.random.word(&["%s", "%s", "%r"]),
            _ => "%r",
        });
        values.push((code, matches!(wanted, Type::Tuple(_))));
    }
    let quoted = author.style.string(author.random, &template);
    let alone = values.len() == 1 && !values[0].1;
    let texts: Vec<String> = values
        .iter()
        .map(|(code, _)| code.at(Rank::Conditional))
        .collect();
    let commas = author.style.commas(author.random, &texts);
    let mut code = if method {
        Code::atom(format!("{quoted}.format({commas})"))
    } else if alone {
        let right = values[0].0.at(Rank::Unary);
        Code::new(
            author.style.operator(author.random, &quoted, "%", &right),
            Rank::Product,
        )
    } else {
        let comma = if values.len() == 1 { "," } else { "" };
        let right = format!("({commas}{comma})");
        Code::new(
            author.style.operator(author.random, &quoted, "%", &right),
            Rank::Product,
        )
    };
    code.size = 3;
    code
}
