//! How a program is spelled: quotes, blanks, indentation.

use crate::random::Random;

/// The habits of whoever wrote a program.
#[derive(Debug, Clone)]
pub(super) struct Style {
    pub(super) quote: char,
    /// Share of operators without blanks around them; 0 in formatted code.
    pub(super) tight: f64,
    /// Share of commas without a blank after them.
    pub(super) tight_commas: f64,
    /// Share of literals in the other quotes.
    pub(super) mixed: f64,
    /// Share of conditions in needless parentheses.
    pub(super) parentheses: f64,
    pub(super) indent: &'static str,
    /// Share of short `if` statements on one line.
    pub(super) one_line: f64,
    pub(super) annotated: bool,
    pub(super) documented: bool,
    /// Share of statements with a comment above them.
    pub(super) comments: f64,
}

impl Style {
    pub(super) fn draw(random: &mut Random, double_quotes: f64) -> Self {
        let quote = if random.chance(double_quotes) {
            '"'
        } else {
            '\''
        };
        let formatted = random.chance(0.6);
        let mut habit = |share: f64, most: f64| {
            if !formatted && random.chance(share) {
                random.unit() * most
            } else {
                0.0
            }
        };
        let (tight, tight_commas, mixed) = (habit(0.7, 1.0), habit(0.4, 0.8), habit(0.6, 0.5));
        let (parentheses, one_line) = (habit(0.3, 0.4), habit(0.4, 0.8));
        Self {
            quote,
            tight,
            tight_commas,
            mixed,
            parentheses,
            indent: if !formatted && random.chance(0.06) {
                "  "
            } else {
                "    "
            },
            one_line,
            annotated: random.chance(0.12),
            documented: random.chance(0.18),
            comments: if random.chance(0.15) { 0.1 } else { 0.0 },
        }
    }

    /// A string literal of `value`, quoted so that little has to be escaped.
    pub(super) fn string(&self, random: &mut Random, value: &str) -> String {
        let other = if self.quote == '"' { '\'' } else { '"' };
        let mut quote = if random.chance(self.mixed) {
            other
        } else {
            self.quote
        };
        if value.contains(quote) {
            quote = if quote == '"' { '\'' } else { '"' };
        }
        let mut text = String::with_capacity(value.len() + 2);
        text.push(quote);
        for letter in value.chars() {
            match letter {
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                '\\' => text.push_str("\\\\"),
                letter if letter == quote => {
                    text.push('\\');
                    text.push(letter);
                }
                letter => text.push(letter),
            }
        }
        text.push(quote);
        text
    }

    /// An operator between its operands.
    pub(super) fn operator(
        &self,
        random: &mut Random,
        left: &str,
        operator: &str,
        right: &str,
    ) -> String {
        let word = operator
            .chars()
            .all(|letter| letter.is_ascii_alphabetic() || letter == ' ');
        // Formatters hug `**` between plain operands.
        let simple = |text: &str| {
            text.chars()
                .all(|letter| letter.is_alphanumeric() || letter == '_')
        };
        let hug = operator == "**" && simple(left) && simple(right) && random.chance(0.6);
        if !word && (hug || random.chance(self.tight)) {
            format!("{left}{operator}{right}")
        } else {
            format!("{left} {operator} {right}")
        }
    }

    /// Items with commas between them.
    pub(super) fn commas(&self, random: &mut Random, items: &[String]) -> String {
        let mut text = String::new();
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                text.push_str(if random.chance(self.tight_commas) {
                    ","
                } else {
                    ", "
                });
            }
            text.push_str(item);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::Style;
    use crate::random::Random;

    #[test]
    fn literals_avoid_escapes_where_they_can() {
        let mut random = Random::of(1, 1);
        let style = Style {
            mixed: 0.0,
            quote: '\'',
            ..Style::draw(&mut random, 0.0)
        };
        assert_eq!(style.string(&mut random, "it's"), "\"it's\"");
        assert_eq!(style.string(&mut random, "a\n\\"), "'a\\n\\\\'");
        assert_eq!(style.string(&mut random, "'\""), "\"'\\\"\"");
    }
}
