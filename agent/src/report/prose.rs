//! Sentences with code in them: summaries, claims and notes put names between backticks.

/// A piece of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Whether it stood between backticks.
    pub code: bool,
    /// The text without them.
    pub text: String,
}

/// The pieces of a sentence. Where backticks do not pair up, they are text like any other.
pub fn spans(sentence: &str) -> Vec<Span> {
    if !sentence.matches('`').count().is_multiple_of(2) {
        return vec![Span {
            code: false,
            text: sentence.to_owned(),
        }];
    }
    sentence
        .split('`')
        .enumerate()
        .filter(|(_, text)| !text.is_empty())
        .map(|(index, text)| Span {
            code: index % 2 == 1,
            text: text.to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sentence: &str) -> String {
        spans(sentence)
            .into_iter()
            .map(|span| {
                if span.code {
                    format!("[{}]", span.text)
                } else {
                    span.text
                }
            })
            .collect()
    }

    #[test]
    fn names_between_backticks_are_code() {
        assert_eq!(check("`<` should be `<=` in f"), "[<] should be [<=] in f");
        assert_eq!(check("a stray ` stays"), "a stray ` stays");
        assert_eq!(check(""), "");
    }
}
