//! Foreign text in Markdown without a meaning of its own.

use crate::report::prose::spans;
use crate::report::visible::one_line;

/// A code span. Its fence is longer than any run of backticks inside.
pub fn code(text: &str) -> String {
    let text = one_line(text);
    if text.is_empty() {
        return "(empty)".to_owned();
    }
    let fence = "`".repeat(longest_run(&text) + 1);
    // One blank on both sides is taken off again.
    let pad = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// A fenced block that no line inside can close.
pub fn fence(language: &str, lines: &[&str]) -> String {
    let longest = lines
        .iter()
        .map(|line| longest_run(line))
        .max()
        .unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    let mut block = format!("{fence}{language}\n");
    for line in lines {
        block.push_str(line);
        block.push('\n');
    }
    block + &fence + "\n"
}

/// A sentence: names between backticks become code, everything else is plain text.
pub fn prose(sentence: &str) -> String {
    spans(&one_line(sentence))
        .into_iter()
        .map(|span| {
            if span.code {
                code(&span.text)
            } else {
                plain(&span.text)
            }
        })
        .collect()
}

fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at_start = true;
    for character in text.chars() {
        match character {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '~' | '#' | '!' | '$' => {
                out.push('\\');
                out.push(character);
            }
            '-' | '+' if at_start => {
                out.push('\\');
                out.push(character);
            }
            // A mention notifies a person, escaped or not; an empty comment keeps it from being one.
            '@' => out.push_str("@<!-- -->"),
            _ => out.push(character),
        }
        at_start = false;
    }
    out
}

fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`')
        .map(str::len)
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_spans_cannot_be_left() {
        assert_eq!(code("plain"), "`plain`");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("``x"), "``` ``x ```");
        assert_eq!(code("two\nlines"), "`two lines`");
    }

    #[test]
    fn fences_cannot_be_closed_from_inside() {
        assert_eq!(
            fence("text", &["a", "````", "b"]),
            "`````text\na\n````\nb\n`````\n"
        );
    }

    #[test]
    fn sentences_keep_their_code_and_lose_their_markup() {
        assert_eq!(
            prose("`a_b` is <b>*not*</b> a_b, @all"),
            "`a_b` is \\<b\\>\\*not\\*\\</b\\> a\\_b, @<!-- -->all"
        );
    }
}
