//! What leaves a block: `return`, `break`, `continue`, `raise`.

use super::super::Author;
use super::super::expression::{expression, height, term};
use super::super::types::Type;
use super::super::vocabulary::words;
use super::assign::unread;
use crate::profile::Metric;

/// Writes `return`, `break` or `continue`.
pub(in crate::generate) fn leave(author: &mut Author<'_>, kind: &str) {
    if kind != "return" {
        author.line(kind);
        return;
    }
    let returns = author.returns.clone();
    if returns == Type::Nothing {
        author.line("return");
        return;
    }
    // A function gives back what it worked for.
    let worked_for = unread(author, &returns);
    let code = if let Some(at) = worked_for.filter(|_| author.random.chance(0.6)) {
        author.read(at)
    } else {
        let height = height(author);
        let kind = author.choose(Metric::Returned, &["name", "operator", "integer", "string"]);
        let literal = matches!(kind, "integer" | "string") && author.depth > 1;
        if literal {
            expression(author, &returns, 1)
        } else {
            term(author, &returns, height.max(1))
        }
    };
    author.line(&format!("return {}", code.text));
}

/// A `raise` statement.
pub(in crate::generate) fn raise_text(author: &mut Author<'_>, error: &str) -> String {
    let message = author.random.word(words("sentence"));
    if author.random.chance(0.1) {
        return format!("raise {error}");
    }
    let found = author.find(|one| matches!(one.ty, Type::Int | Type::Str));
    match found.filter(|_| author.random.chance(0.35)) {
        Some(at) => {
            let name = author.read(at).text;
            format!("raise {error}(f\"{message}: {{{name}}}\")")
        }
        None => format!(
            "raise {error}({})",
            author.style.string(author.random, message)
        ),
    }
}
