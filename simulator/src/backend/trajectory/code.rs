//! The code of a trace, as far as it limits what a model may say.

use std::collections::BTreeSet;

use super::failed;
use super::tokens::Tokens;
use crate::grammar::Special;
use crate::model::{Dialect, LanguageModel, Trie};
use crate::simulator::Unavailable;

/// The variable of a comprehension's iterator, which no code spells.
const ITERATOR: &str = ".0";

/// Lines and names.
pub struct Code {
    lines: BTreeSet<String>,
    names: Vec<String>,
    /// Lines, and what follows a line that stands before values.
    before_values: Trie,
    /// Lines, and what follows a line at the end of a state.
    at_the_end: Trie,
}

impl Code {
    /// Of a text of whole lines. The empty line belongs to every code: it is that of code without
    /// source.
    ///
    /// # Errors
    /// [`Unavailable::Unknown`] for text that the vocabulary cannot encode.
    pub fn new(
        model: &impl LanguageModel,
        tokens: &Tokens,
        text: &str,
    ) -> Result<Self, Unavailable> {
        let lines: BTreeSet<String> = text.lines().chain([""]).map(str::to_owned).collect();
        // CWM keeps the newline of a line, and the last token of a state is another one.
        let cwm = model.dialect() == Dialect::Cwm;
        let (newline, end) = if cwm {
            ("\n", Special::FrameSep)
        } else {
            ("", Special::ActionSep)
        };
        let encode = |line: &String| {
            let text = format!("{line}{newline}");
            model
                .vocabulary()
                .encode_text(&text)
                .map_err(|error| failed(&error))
        };
        let sequences: Vec<Vec<u32>> = lines.iter().map(encode).collect::<Result<_, _>>()?;
        let names: BTreeSet<&str> = names(text).chain([ITERATOR]).collect();
        Ok(Self {
            before_values: Trie::new(&sequences, &[tokens.id(Special::ArgSep)]),
            at_the_end: Trie::new(&sequences, &[tokens.id(end)]),
            names: names.into_iter().map(str::to_owned).collect(),
            lines,
        })
    }

    /// Whether a line is one of the code.
    pub fn has_line(&self, line: &str) -> bool {
        self.lines.contains(line)
    }

    /// Every name in it, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Its lines, with the token that begins values behind each.
    pub fn before_values(&self) -> &Trie {
        &self.before_values
    }

    /// Its lines, with the token that ends a state behind each.
    pub fn at_the_end(&self) -> &Trie {
        &self.at_the_end
    }
}

/// Words that could be names. Text and comments are no exception: it is not worth parsing.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    words.filter(|word| word.chars().next().is_some_and(|first| !first.is_numeric()))
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn names_are_words_that_begin_with_a_letter() {
        let found: Vec<&str> = names("def f(a, *b): return a_1+1x, é['k']").collect();
        assert_eq!(found, ["def", "f", "a", "b", "return", "a_1", "é", "k"]);
    }
}
