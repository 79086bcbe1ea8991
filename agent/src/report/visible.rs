//! Text from the repository, made harmless and made to fit.
//!
//! Test ids, messages and output may hold escape sequences that move the cursor, set the window's
//! title or reverse the reading order. Readers see them spelled out instead.

use std::fmt::Write as _;

use console::measure_text_width;

/// `text` with control characters, escape sequences and invisible direction marks spelled out.
/// Line feeds stay; tabs become spaces, as their width depends on where they land.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => out.push('\n'),
            '\t' => out.push_str("    "),
            '\r' => out.push_str("\\r"),
            control if (control as u32) < 0x100 && control.is_control() => {
                let _ = write!(out, "\\x{:02x}", control as u32);
            }
            hidden if is_hidden(hidden) => {
                let _ = write!(out, "\\u{{{:x}}}", hidden as u32);
            }
            plain => out.push(plain),
        }
    }
    out
}

/// Characters that take no room or reorder their neighbours, so that what is read differs from
/// what is there.
fn is_hidden(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// `text` on one line: harmless, with line breaks and the blanks around them folded into a space.
pub fn one_line(text: &str) -> String {
    visible(text)
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The first `max` lines of `text`, and how many were left out.
pub fn first_lines(text: &str, max: usize) -> (Vec<&str>, usize) {
    let lines: Vec<&str> = text.lines().collect();
    let left_out = lines.len().saturating_sub(max);
    // One line left out would take a line to say so.
    if left_out <= 1 {
        return (lines, 0);
    }
    (lines[..max].to_vec(), left_out)
}

/// `text` within `width` columns, with the middle left out where it is longer: both ends of a test
/// id matter, the file in front and the parameters behind.
pub fn ellipsize(text: &str, width: usize, ellipsis: &str) -> String {
    if measure_text_width(text) <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(measure_text_width(ellipsis));
    let head = prefix(text.chars(), room - room / 2);
    let tail = prefix(text.chars().rev(), room / 2);
    let tail: String = tail.chars().rev().collect();
    format!("{head}{ellipsis}{tail}")
}

/// As many characters as fit in `width` columns.
fn prefix(characters: impl Iterator<Item = char>, width: usize) -> String {
    let mut taken = String::new();
    let mut used = 0;
    for character in characters {
        used += columns(character);
        if used > width {
            break;
        }
        taken.push(character);
    }
    taken
}

fn columns(character: char) -> usize {
    measure_text_width(character.encode_utf8(&mut [0; 4]))
}

/// `text` broken at blanks into lines of at most `width` columns. Words longer than a line are
/// broken where the line ends.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let mut word = word.to_owned();
        loop {
            let needed = measure_text_width(&word);
            let gap = usize::from(!line.is_empty());
            if used + gap + needed <= width {
                if gap == 1 {
                    line.push(' ');
                }
                line.push_str(&word);
                used += gap + needed;
                break;
            }
            if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
                used = 0;
                continue;
            }
            let head = prefix(word.chars(), width);
            let rest = word.split_off(head.len().max(first_width(&word)));
            lines.push(std::mem::replace(&mut word, rest));
        }
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Bytes of the first character, so that breaking a word always makes progress.
fn first_width(word: &str) -> usize {
    word.chars().next().map_or(0, char::len_utf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_spelled_out() {
        assert_eq!(visible("a\x1b[31mred\x07\0"), "a\\x1b[31mred\\x07\\x00");
        assert_eq!(
            visible("\u{9b}2J\r\u{202e}x\u{2066}"),
            "\\x9b2J\\r\\u{202e}x\\u{2066}"
        );
        assert_eq!(visible("café\n日本\t."), "café\n日本    .");
    }

    #[test]
    fn long_text_loses_its_middle() {
        assert_eq!(ellipsize("abcdefghij", 10, "…"), "abcdefghij");
        assert_eq!(ellipsize("abcdefghijk", 10, "…"), "abcde…hijk");
        assert_eq!(ellipsize("abcdefghijk", 10, "..."), "abcd...ijk");
        assert_eq!(ellipsize("日本日本日本日本", 9, "…"), "日本…日本");
    }

    #[test]
    fn lines_break_at_blanks_and_words_only_when_they_must() {
        assert_eq!(
            wrap("one two three four", 9),
            ["one two", "three", "four"].map(String::from)
        );
        assert_eq!(
            wrap("a 0123456789012 b", 10),
            ["a", "0123456789", "012 b"].map(String::from)
        );
        assert_eq!(wrap("", 10), [String::new()]);
    }

    #[test]
    fn a_single_line_over_the_limit_is_kept() {
        assert_eq!(first_lines("a\nb\nc", 2), (vec!["a", "b", "c"], 0));
        assert_eq!(first_lines("a\nb\nc\nd", 2), (vec!["a", "b"], 2));
    }
}
