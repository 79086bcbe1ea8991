//! Where an edit that a model wrote goes: its old text is looked for exactly, then without blanks at the ends of
//! lines, then with another indentation. What is not found, or found more than once, is answered with what
//! stands there.

use camino::Utf8Path;
use ndbg_tools::source::{Edit, SourceFile};
use similar::TextDiff;

/// Lines of the file that are shown where nothing was found.
const SHOWN: usize = 12;
/// Bytes that one edit may write.
const LARGEST: usize = 20_000;

/// How an old text was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// Byte for byte.
    Exact,
    /// But for blanks at the ends of lines.
    TrailingBlanks,
    /// But for the indentation, which the new text is given.
    Indentation,
}

/// Why an edit has no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Misplaced {
    /// Nothing is to be replaced.
    #[error("the old text is empty: copy the lines that are to be replaced")]
    Empty,
    /// It changes nothing.
    #[error("the new text is the old one")]
    Same,
    /// It writes too much.
    #[error("the new text has {0} bytes; {LARGEST} is the limit")]
    TooLarge(usize),
    /// The text stands at several places.
    #[error("the old text stands at lines {}: copy more lines around it", listed(.0))]
    Ambiguous(Vec<usize>),
    /// The text stands nowhere.
    #[error("the old text is not in the file; nearest, from line {line}:\n{nearest}")]
    Missing {
        /// One-based line of what comes nearest.
        line: usize,
        /// Its text.
        nearest: String,
    },
}

fn listed(lines: &[usize]) -> String {
    let texts: Vec<String> = lines.iter().map(ToString::to_string).collect();
    texts.join(", ")
}

/// The edit that replaces `old` by `new` in a file.
///
/// # Errors
/// There is no one place for it.
pub fn located(file: &SourceFile, old: &str, new: &str) -> Result<(Edit, Strictness), Misplaced> {
    let text = file.text();
    let (old, new) = (endings(old, file), endings(new, file));
    if old.trim().is_empty() {
        return Err(Misplaced::Empty);
    }
    if old == new {
        return Err(Misplaced::Same);
    }
    if new.len() > LARGEST {
        return Err(Misplaced::TooLarge(new.len()));
    }
    let exact: Vec<usize> = text.match_indices(old.as_str()).map(|(at, _)| at).collect();
    match exact[..] {
        [at] => return Ok((edit(file, at, at + old.len(), new), Strictness::Exact)),
        [] => {}
        _ => return Err(ambiguous(file, &exact)),
    }
    let wanted = Lines::of(&old);
    let lines = Lines::of(text);
    for strictness in [Strictness::TrailingBlanks, Strictness::Indentation] {
        let places = lines.places(&wanted, strictness);
        match places[..] {
            [] => {}
            [first] => {
                let (start, end) = lines.span(first, wanted.inner().len());
                let new = replacement(&lines, &wanted, first, wanted.trimmed(&new), strictness);
                // A last line without an end keeps having none.
                let ends = text[start..end].ends_with(['\n', '\r']);
                let new = match (ends, new.ends_with(['\n', '\r'])) {
                    (true, false) if !new.is_empty() => new + file.line_ending(),
                    (false, true) => new.trim_end_matches(['\n', '\r']).to_owned(),
                    _ => new,
                };
                if text[start..end] == new {
                    return Err(Misplaced::Same);
                }
                return Ok((edit(file, start, end, new), strictness));
            }
            _ => {
                let starts: Vec<usize> = places.iter().map(|&at| lines.rows[at].0).collect();
                return Err(ambiguous(file, &starts));
            }
        }
    }
    let (line, nearest) = lines.nearest(&wanted);
    Err(Misplaced::Missing { line, nearest })
}

/// Names of files that come close to one that is not there.
pub fn near_names<'f>(name: &str, known: impl Iterator<Item = &'f Utf8Path>) -> Vec<String> {
    let base = Utf8Path::new(name).file_name().unwrap_or(name);
    let mut scored: Vec<(f64, String)> = known
        .map(|path| {
            let own = path.file_name().unwrap_or_default();
            let near =
                strsim::jaro_winkler(base, own).max(strsim::jaro_winkler(name, path.as_str()));
            (near, path.to_string())
        })
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

fn edit(file: &SourceFile, start: usize, end: usize, new: String) -> Edit {
    Edit::replace(file.path(), start..end, new)
}

fn ambiguous(file: &SourceFile, starts: &[usize]) -> Misplaced {
    Misplaced::Ambiguous(starts.iter().map(|&at| file.line_of(at)).collect())
}

/// A text with the line endings of a file.
fn endings(text: &str, file: &SourceFile) -> String {
    let plain = text.replace("\r\n", "\n").replace('\r', "\n");
    match file.line_ending() {
        "\n" => plain,
        other => plain.replace('\n', other),
    }
}

/// The lines of a text with where they begin and end, their line endings included.
struct Lines<'t> {
    text: &'t str,
    rows: Vec<(usize, usize)>,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        let mut rows = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            rows.push((start, start + line.len()));
            start += line.len();
        }
        Self { text, rows }
    }

    fn row(&self, at: usize) -> &'t str {
        let (start, end) = self.rows[at];
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }

    /// The lines that count: what a model copies often begins or ends with an empty one that is not meant.
    fn inner(&self) -> std::ops::Range<usize> {
        let is_blank = |at: &usize| self.row(*at).trim().is_empty();
        let first = (0..self.rows.len()).find(|at| !is_blank(at)).unwrap_or(0);
        let last = (0..self.rows.len()).rfind(|at| !is_blank(at)).unwrap_or(0);
        first..last + 1
    }

    /// What replaces these lines without as many empty ones at its ends as do not count here.
    fn trimmed<'n>(&self, new: &'n str) -> &'n str {
        let inner = self.inner();
        let rows = Lines::of(new);
        let is_blank = |at: &usize| rows.row(*at).trim().is_empty();
        let all = rows.rows.len();
        let before = (0..all.min(inner.start)).take_while(is_blank).count();
        let after = (before..all)
            .rev()
            .take(self.rows.len() - inner.end)
            .take_while(is_blank)
            .count();
        if before + after >= all {
            return "";
        }
        let (start, end) = rows.span(before, all - before - after);
        &new[start..end]
    }

    fn places(&self, wanted: &Lines<'_>, strictness: Strictness) -> Vec<usize> {
        let inner = wanted.inner();
        let count = inner.len();
        let alike = |ours: &str, theirs: &str| match strictness {
            Strictness::Exact => ours == theirs,
            Strictness::TrailingBlanks => ours.trim_end() == theirs.trim_end(),
            Strictness::Indentation => ours.trim() == theirs.trim(),
        };
        (0..(self.rows.len() + 1).saturating_sub(count))
            .filter(|&at| {
                inner
                    .clone()
                    .enumerate()
                    .all(|(number, row)| alike(self.row(at + number), wanted.row(row)))
                    && (strictness != Strictness::Indentation || self.shift(at, wanted).is_some())
            })
            .collect()
    }

    /// The bytes of so many lines.
    fn span(&self, first: usize, count: usize) -> (usize, usize) {
        let last = (first + count - 1).min(self.rows.len() - 1);
        (self.rows[first].0, self.rows[last].1)
    }

    /// How the lines here are indented beside those wanted, if all of them are in the same way: a prefix
    /// to take away, and one to put there.
    fn shift(&self, at: usize, wanted: &Lines<'_>) -> Option<(String, String)> {
        let mut found: Option<(String, String)> = None;
        for (number, row) in wanted.inner().enumerate() {
            let (ours, theirs) = (self.row(at + number), wanted.row(row));
            if theirs.trim().is_empty() {
                continue;
            }
            let (ours, theirs) = (indent(ours), indent(theirs));
            match &found {
                None => found = Some((theirs.to_owned(), ours.to_owned())),
                Some((from, to)) => {
                    // The rest of a deeper indentation is the same on both sides.
                    let rest = theirs.strip_prefix(from.as_str())?;
                    (ours.strip_prefix(to.as_str())? == rest).then_some(())?;
                }
            }
        }
        found
    }

    /// The lines that come nearest, and where they begin.
    fn nearest(&self, wanted: &Lines<'_>) -> (usize, String) {
        let inner = wanted.inner();
        let count = inner.len().clamp(1, SHOWN);
        let texts: Vec<&str> = inner
            .take(SHOWN)
            .map(|row| wanted.row(row).trim())
            .collect();
        let sought = texts.join("\n");
        let mut best = (0.0, 0);
        for at in 0..self.rows.len().saturating_sub(count - 1) {
            let here: Vec<&str> = (at..at + count).map(|row| self.row(row).trim()).collect();
            let ratio = TextDiff::from_chars(sought.as_str(), here.join("\n").as_str()).ratio();
            if f64::from(ratio) > best.0 {
                best = (f64::from(ratio), at);
            }
        }
        let from = best.1;
        let to = (from + count + 2).min(self.rows.len());
        let shown: Vec<&str> = (from..to).map(|row| self.row(row)).collect();
        (from + 1, shown.join("\n"))
    }
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// The new text as it is to stand there.
fn replacement(
    lines: &Lines<'_>,
    wanted: &Lines<'_>,
    first: usize,
    new: &str,
    strictness: Strictness,
) -> String {
    if strictness != Strictness::Indentation {
        return new.to_owned();
    }
    let Some((from, to)) = lines.shift(first, wanted) else {
        return new.to_owned();
    };
    new.split_inclusive('\n')
        .map(|line| {
            if line.trim().is_empty() {
                return line.to_owned();
            }
            match line.strip_prefix(from.as_str()) {
                Some(rest) => format!("{to}{rest}"),
                None => format!("{to}{}", line.trim_start_matches([' ', '\t'])),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use ndbg_tools::source::apply_edits;

    use super::*;

    fn file(text: &str) -> SourceFile {
        SourceFile::decode("a.py", text.as_bytes()).unwrap()
    }

    fn applied(text: &str, old: &str, new: &str) -> (String, Strictness) {
        let file = file(text);
        let (edit, strictness) = located(&file, old, new).unwrap();
        let bytes = apply_edits(&file, &[edit]).unwrap();
        (String::from_utf8(bytes).unwrap(), strictness)
    }

    const SOURCE: &str = "\
def f(x):
    if x > 3:
        return x  \n    return 0


def g(x):
    return x
";

    #[test]
    fn an_exact_text_is_replaced_and_nothing_else() {
        let (text, strictness) = applied(SOURCE, "x > 3", "x >= 3");
        assert_eq!(text, SOURCE.replace("x > 3", "x >= 3"));
        assert_eq!(strictness, Strictness::Exact);
    }

    #[test]
    fn blanks_at_the_ends_of_lines_do_not_matter() {
        let (text, strictness) = applied(
            SOURCE,
            "        return x\n    return 0",
            "        return 2\n    return 1",
        );
        assert_eq!(strictness, Strictness::TrailingBlanks);
        assert!(
            text.contains("        return 2\n    return 1\n\n\ndef g"),
            "{text}"
        );
    }

    #[test]
    fn another_indentation_is_found_and_given_to_the_new_text() {
        let (text, strictness) = applied(
            SOURCE,
            "if x > 3:\n    return x\n",
            "if x > 3:\n    x += 1\n    return x\n",
        );
        assert_eq!(strictness, Strictness::Indentation);
        assert!(
            text.contains("    if x > 3:\n        x += 1\n        return x\n    return 0"),
            "{text}"
        );
        let tabs = "class C:\n\tdef m(self):\n\t\treturn 1\n";
        let (text, _) = applied(tabs, "def m(self):\n\treturn 1", "def m(self):\n\treturn 2");
        assert_eq!(text, "class C:\n\tdef m(self):\n\t\treturn 2\n");
    }

    #[test]
    fn line_endings_and_a_missing_last_one_are_those_of_the_file() {
        let (text, _) = applied("a = 1\r\nb = 2\r\n", "a = 1\nb = 2\n", "a = 3\nb = 4\n");
        assert_eq!(text, "a = 3\r\nb = 4\r\n");
        let (text, _) = applied("a = 1\nb = 2 ", "b = 2\n", "b = 3\n");
        assert_eq!(text, "a = 1\nb = 3");
    }

    #[test]
    fn empty_lines_around_a_copied_text_take_nothing_with_them() {
        for (old, new) in [
            (
                "\n        return x\n    return 0\n",
                "\n        return 2\n    return 1\n",
            ),
            (
                "        return x\n    return 0\n\n\n\n",
                "        return 2\n    return 1\n\n\n\n",
            ),
            (
                "\n        return x\n    return 0\n\n\n\n",
                "        return 2\n    return 1",
            ),
        ] {
            let (text, strictness) = applied(SOURCE, old, new);
            assert_eq!(strictness, Strictness::TrailingBlanks);
            let wanted = SOURCE.replace(
                "        return x  \n    return 0",
                "        return 2\n    return 1",
            );
            assert_eq!(text, wanted, "{old:?} {new:?}");
        }
        // What is taken away stays away, and what is added stays added.
        let (text, _) = applied("a = 1 \nb = 2\nc = 3\n", "\n\na = 1\n", "\n");
        assert_eq!(text, "b = 2\nc = 3\n");
        let (text, _) = applied("a = 1 \nb = 2\n", "\na = 1\n", "\n\na = 2\n\n");
        assert_eq!(text, "\na = 2\n\nb = 2\n");
    }

    #[test]
    fn what_has_no_one_place_is_answered_with_what_stands_there() {
        let source = "a = 1\nb = 1\na = 1\n";
        assert_eq!(
            located(&file(source), "a = 1", "a = 2"),
            Err(Misplaced::Ambiguous(vec![1, 3]))
        );
        let Err(Misplaced::Missing { line, nearest }) =
            located(&file(SOURCE), "    if x > 4:\n        return x", "pass")
        else {
            panic!();
        };
        assert_eq!(line, 2);
        assert!(nearest.starts_with("    if x > 3:"), "{nearest}");
        assert_eq!(located(&file("a\n"), " \n", "b"), Err(Misplaced::Empty));
        assert_eq!(located(&file("a\n"), "a", "a"), Err(Misplaced::Same));
        let long = "b".repeat(LARGEST + 1);
        assert_eq!(
            located(&file("a\n"), "a", &long),
            Err(Misplaced::TooLarge(long.len()))
        );
        // A text of which only parts are alike has nothing to do with it, and nothing panics.
        assert!(located(&file(""), "a", "b").is_err());
        assert!(located(&file("é\n"), "ü\nö\nä", "b").is_err());
    }

    #[test]
    fn files_that_are_not_there_have_near_names() {
        let known = ["shop/cart.py", "shop/post.py", "main.py"].map(Utf8Path::new);
        assert_eq!(near_names("cart.py", known.into_iter())[0], "shop/cart.py");
        assert_eq!(
            near_names("shop/carts.py", known.into_iter())[0],
            "shop/cart.py"
        );
    }
}
