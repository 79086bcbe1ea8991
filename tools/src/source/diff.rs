//! Unified diffs over bytes, as `git apply` takes them.

use std::fmt::Write as _;

use camino::Utf8Path;
use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

/// The unified diff (three lines of context, `a/` and `b/` prefixes) from `old` to `new`, empty when
/// they are equal. Lines end at `\n` alone, as git counts them, so a `\r` is part of its line.
/// `path` is relative to the place where the diff is to be applied.
pub fn unified_diff(path: &Utf8Path, old: &[u8], new: &[u8]) -> Vec<u8> {
    if old == new {
        return Vec::new();
    }
    let (before, after) = (git_lines(old), git_lines(new));
    let ops = capture_diff_slices(Algorithm::Myers, &before, &after);
    let name = quote(path);
    let mut out = match &name {
        Some(_) => {
            let (a, b) = (
                quote(&Utf8Path::new("a").join(path)),
                quote(&Utf8Path::new("b").join(path)),
            );
            let (a, b) = (a.unwrap_or_default(), b.unwrap_or_default());
            format!("diff --git {a} {b}\n--- {a}\n+++ {b}\n").into_bytes()
        }
        None => format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n").into_bytes(),
    };
    for group in group_diff_ops(ops, 3) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            continue;
        };
        let old_range = first.old_range().start..last.old_range().end;
        let new_range = first.new_range().start..last.new_range().end;
        let mut header = String::from("@@ -");
        hunk_range(&mut header, old_range.start, old_range.len());
        header.push_str(" +");
        hunk_range(&mut header, new_range.start, new_range.len());
        header.push_str(" @@\n");
        out.extend_from_slice(header.as_bytes());
        for op in &group {
            if let DiffOp::Equal { .. } = op {
                push_lines(&mut out, b' ', &before[op.old_range()]);
            } else {
                push_lines(&mut out, b'-', &before[op.old_range()]);
                push_lines(&mut out, b'+', &after[op.new_range()]);
            }
        }
    }
    out
}

/// Start and length of a hunk; an empty range names the line before it.
fn hunk_range(out: &mut String, start: usize, len: usize) {
    let first = if len == 0 { start } else { start + 1 };
    let _ = if len == 1 {
        write!(out, "{first}")
    } else {
        write!(out, "{first},{len}")
    };
}

fn push_lines(out: &mut Vec<u8>, sign: u8, lines: &[&[u8]]) {
    for line in lines {
        out.push(sign);
        out.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            out.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}

fn git_lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|&b| b == b'\n').collect()
}

/// A path in git's C-style quotes when it needs them.
fn quote(path: &Utf8Path) -> Option<String> {
    let plain = |c: char| !c.is_control() && c.is_ascii() && c != '"' && c != '\\';
    if path.as_str().chars().all(plain) {
        return None;
    }
    let mut out = String::from("\"");
    for byte in path.as_str().bytes() {
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x20..=0x7e => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\{byte:03o}");
            }
        }
    }
    out.push('"');
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old: &str, new: &str) -> String {
        String::from_utf8(unified_diff(
            Utf8Path::new("a.py"),
            old.as_bytes(),
            new.as_bytes(),
        ))
        .unwrap()
    }

    #[test]
    fn a_changed_line_has_three_lines_of_context() {
        assert_eq!(
            diff(
                "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
                "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"
            ),
            "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
        );
    }

    #[test]
    fn carriage_returns_stay_in_their_lines() {
        assert!(diff("a\r\nb\rc\r\n", "a\r\nb\rd\r\n").ends_with("-b\rc\r\n+b\rd\r\n"));
    }

    #[test]
    fn a_missing_final_newline_is_marked() {
        assert!(diff("a", "b").ends_with(
            "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"
        ));
    }

    #[test]
    fn equal_contents_have_no_diff_and_odd_names_are_quoted() {
        assert_eq!(diff("a\n", "a\n"), "");
        let out = unified_diff(Utf8Path::new("é.py"), b"1\n", b"2\n");
        assert!(out.starts_with(b"diff --git \"a/\\303\\251.py\""));
    }
}
