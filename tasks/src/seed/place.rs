//! Where a bug is in the file that has it.

use ndbg_tools::source::syntax::Syntax;
use ndbg_tools::source::{SourceFile, apply_edits};

use super::site::Mutation;

/// A file with a bug.
#[derive(Debug, Clone)]
pub struct Mutant {
    /// Contents.
    pub bytes: Vec<u8>,
    /// One-based lines that are wrong; where lines are missing, the ones before and after the gap.
    pub lines: Vec<usize>,
}

/// Applies a mutation; none when the result is no Python.
pub fn mutant(file: &SourceFile, mutation: &Mutation) -> Option<Mutant> {
    let bytes = apply_edits(file, &mutation.edits).ok()?;
    let after = SourceFile::decode(file.path(), bytes.clone()).ok()?;
    let syntax = Syntax::parse(after.clone()).ok()?;
    if syntax.has_errors() {
        return None;
    }
    let mut edits: Vec<_> = mutation.edits.iter().collect();
    edits.sort_by_key(|edit| edit.start);
    let mut lines = Vec::new();
    let mut shift = 0_isize;
    for edit in edits {
        let start = edit.start.checked_add_signed(shift)?;
        shift += edit.text.len() as isize - (edit.end - edit.start) as isize;
        let inner = edit.text.trim();
        let lead = edit.text.len() - edit.text.trim_start().len();
        if inner.is_empty() && file.text()[edit.start..edit.end].contains('\n') {
            lines.extend(around(&after, start, &syntax, &mutation.function));
        } else {
            let first = after.line_of(start + lead);
            let last = after.line_of(start + lead + inner.len().saturating_sub(1));
            lines.extend(first..=last);
        }
    }
    lines.sort_unstable();
    lines.dedup();
    (!lines.is_empty()).then_some(Mutant { bytes, lines })
}

/// The lines with code before and after a gap, as far as they are in the function that had it.
fn around(file: &SourceFile, at: usize, syntax: &Syntax, function: &str) -> Vec<usize> {
    let text = file.text();
    let before = text[..at].trim_end();
    let after = at + (text[at..].len() - text[at..].trim_start().len());
    let mut lines = Vec::new();
    if !before.is_empty() {
        lines.push(file.line_of(before.len() - 1));
    }
    if after < text.len() {
        lines.push(file.line_of(after));
    }
    let inside = |line: &usize| {
        syntax
            .function_at_line(*line)
            .map_or("", |index| syntax.functions()[index].qualname.as_str())
            == function
    };
    let own: Vec<usize> = lines.iter().copied().filter(inside).collect();
    if own.is_empty() { lines } else { own }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndbg_tools::source::Edit;

    const TEXT: &str = "def f(a):\n    a += 1\n    b = a\n    return b\n\ndef g():\n    pass\n";

    fn lines(edits: &[(&str, &str)]) -> Vec<usize> {
        let file = SourceFile::decode("a.py", TEXT.as_bytes()).unwrap();
        let edits = edits
            .iter()
            .map(|(from, to)| {
                let at = TEXT.find(from).unwrap();
                Edit::replace("a.py", at..at + from.len(), *to)
            })
            .collect();
        let mutation = Mutation {
            operator: "x",
            edits,
            function: "f".into(),
            line: 1,
            summary: String::new(),
        };
        mutant(&file, &mutation).map_or_else(Vec::new, |mutant| mutant.lines)
    }

    #[test]
    fn changed_lines_are_named_in_the_new_file() {
        assert_eq!(lines(&[("b = a", "b = 2")]), [3]);
        assert_eq!(
            lines(&[("a += 1", "a = (\n    1)"), ("return b", "return a")]),
            [2, 3, 5]
        );
    }

    #[test]
    fn a_gap_is_named_by_its_neighbours() {
        assert_eq!(lines(&[("    b = a\n", "")]), [2, 3]);
        // The next line belongs to another function.
        assert_eq!(lines(&[("    return b\n", "")]), [3]);
        assert_eq!(lines(&[(" + 1", "")].map(|_| ("a += 1", "a"))), [2]);
    }

    #[test]
    fn what_is_no_python_is_no_mutant() {
        assert_eq!(lines(&[("b = a", "b = ")]), Vec::<usize>::new());
    }
}
