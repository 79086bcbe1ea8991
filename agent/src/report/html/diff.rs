//! A unified diff as rows with line numbers, changes within a line marked.

use crate::report::visible::visible;

/// Rows shown; a patch is small, a runaway diff must not make a page of megabytes.
const ROWS: usize = 2000;

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Names of the files.
    Meta,
    /// Where a hunk is.
    Hunk,
    /// The same on both sides.
    Context,
    /// Taken out.
    Removed,
    /// Put in.
    Added,
}

/// A row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What it is.
    pub kind: Kind,
    /// Line number before, empty where there is none.
    pub old: String,
    /// Line number after.
    pub new: String,
    /// Text in front of what changed; the whole line where nothing is marked.
    pub head: String,
    /// What changed within the line.
    pub mark: String,
    /// Text behind it.
    pub tail: String,
}

impl Row {
    /// Class of the row.
    pub const fn class(&self) -> &'static str {
        match self.kind {
            Kind::Meta => "meta",
            Kind::Hunk => "hunk",
            Kind::Context => "same",
            Kind::Removed => "del",
            Kind::Added => "add",
        }
    }

    /// The sign in front of the text.
    pub const fn sign(&self) -> &'static str {
        match self.kind {
            Kind::Removed => "-",
            Kind::Added => "+",
            Kind::Context => " ",
            Kind::Meta | Kind::Hunk => "",
        }
    }
}

/// The rows of a diff.
pub fn rows(diff: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut place: Option<(usize, usize)> = None;
    for line in diff.lines().take(ROWS) {
        if let Some(start) = hunk(line) {
            place = Some(start);
            rows.push(row(Kind::Hunk, "", "", line));
            continue;
        }
        let Some((old, new)) = &mut place else {
            rows.push(row(Kind::Meta, "", "", line));
            continue;
        };
        match line.as_bytes().first() {
            Some(b'-') => {
                rows.push(row(Kind::Removed, &old.to_string(), "", &line[1..]));
                *old += 1;
            }
            Some(b'+') => {
                rows.push(row(Kind::Added, "", &new.to_string(), &line[1..]));
                *new += 1;
            }
            Some(b' ') | None => {
                let text = line.get(1..).unwrap_or("");
                rows.push(row(Kind::Context, &old.to_string(), &new.to_string(), text));
                *old += 1;
                *new += 1;
            }
            // "\ No newline at end of file" belongs to the line above.
            Some(b'\\') => rows.push(row(Kind::Hunk, "", "", line)),
            Some(_) => {
                place = None;
                rows.push(row(Kind::Meta, "", "", line));
            }
        }
    }
    mark_changes(&mut rows);
    rows
}

fn row(kind: Kind, old: &str, new: &str, text: &str) -> Row {
    Row {
        kind,
        old: old.to_owned(),
        new: new.to_owned(),
        head: visible(text),
        mark: String::new(),
        tail: String::new(),
    }
}

/// First line numbers of a hunk.
fn hunk(line: &str) -> Option<(usize, usize)> {
    let mut words = line.strip_prefix("@@ -")?.split(' ');
    let first = |word: &str| word.split(',').next()?.parse().ok();
    let old = first(words.next()?)?;
    let new = first(words.next()?.strip_prefix('+')?)?;
    Some((old, new))
}

/// Pairs removed with added lines where a block has as many of both, and marks what differs.
fn mark_changes(rows: &mut [Row]) {
    let mut start = 0;
    while start < rows.len() {
        let run = |kind: Kind, from: usize| {
            rows[from..]
                .iter()
                .take_while(|row| row.kind == kind)
                .count()
        };
        let removed = run(Kind::Removed, start);
        let added = run(Kind::Added, start + removed);
        if removed > 0 && removed == added {
            for index in start..start + removed {
                let (before, after) = rows.split_at_mut(index + removed);
                mark(&mut before[index], &mut after[0]);
            }
        }
        start += (removed + added).max(1);
    }
}

fn mark(old: &mut Row, new: &mut Row) {
    if let Some((before, after)) = difference(&old.head, &new.head) {
        [old.head, old.mark, old.tail] = before;
        [new.head, new.mark, new.tail] = after;
    }
}

/// A text in front of a difference, at it, and behind it.
pub type Parts = [String; 3];

/// Where two texts differ; none when they have too little in common for that to help.
pub fn difference(one: &str, other: &str) -> Option<(Parts, Parts)> {
    if one == other {
        return None;
    }
    let head: usize = one
        .chars()
        .zip(other.chars())
        .take_while(|(left, right)| left == right)
        .map(|(left, _)| left.len_utf8())
        .sum();
    let tail: usize = one[head..]
        .chars()
        .rev()
        .zip(other[head..].chars().rev())
        .take_while(|(left, right)| left == right)
        .map(|(left, _)| left.len_utf8())
        .sum();
    let shared = one[..head].trim().len() + one[one.len() - tail..].trim().len();
    let longest = one.trim().len().max(other.trim().len());
    if shared * 3 < longest {
        return None;
    }
    let parts = |text: &str| {
        [
            text[..head].to_owned(),
            text[head..text.len() - tail].to_owned(),
            text[text.len() - tail..].to_owned(),
        ]
    };
    Some((parts(one), parts(other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "\
--- a/f.py
+++ b/f.py
@@ -3,3 +3,4 @@ def f():
     x = 1
-    if x > 100:
+    if x >= 100:
+        pass
-old
-é = 1
+new
+é = 2
\\ No newline at end of file
";

    #[test]
    fn rows_carry_line_numbers_and_marks() {
        let shown: Vec<String> = rows(DIFF)
            .iter()
            .map(|row| {
                format!(
                    "{}|{}|{}|{}[{}]{}",
                    row.class(),
                    row.old,
                    row.new,
                    row.head,
                    row.mark,
                    row.tail
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                "meta|||--- a/f.py[]",
                "meta|||+++ b/f.py[]",
                "hunk|||@@ -3,3 +3,4 @@ def f():[]",
                "same|3|3|    x = 1[]",
                "del|4||    if x > 100:[]",
                "add||4|    if x >= 100:[]",
                "add||5|        pass[]",
                "del|5||old[]",
                "del|6||é = [1]",
                "add||6|new[]",
                "add||7|é = [2]",
                "hunk|||\\ No newline at end of file[]",
            ]
        );
    }

    #[test]
    fn texts_with_little_in_common_are_not_marked() {
        assert_eq!(difference("90.0", "100"), None);
        assert!(difference("[1, 2, 3]", "[1, 2, 4]").is_some());
    }
}
