//! Lines and indentation: where whole statements are inserted, removed and moved.

use std::ops::Range;

use ndbg_tools::source::syntax::Syntax;
use tree_sitter::Node;

/// A replacement of a text range.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Change {
    /// Range replaced, empty to insert.
    pub range: Range<usize>,
    /// What stands there afterwards.
    pub text: String,
}

impl Change {
    /// A change of `range` to `text`.
    pub fn new(range: Range<usize>, text: impl Into<String>) -> Self {
        Self {
            range,
            text: text.into(),
        }
    }
}

/// A line of new code: depth relative to the place of insertion, and text.
pub type Line<'a> = (usize, &'a str);

/// Offset of the start of the line that holds `offset`.
fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind(['\n', '\r']).map_or(0, |i| i + 1)
}

/// Offset of the line ending at or after `offset`.
fn line_end(text: &str, offset: usize) -> usize {
    text[offset..]
        .find(['\n', '\r'])
        .map_or(text.len(), |i| offset + i)
}

/// Where the code of a node ends. A compound statement's node may reach into the line ending.
pub fn code_end(syntax: &Syntax, node: Node<'_>) -> usize {
    node.start_byte() + syntax.text(node).trim_end().len()
}

fn past_ending(text: &str, offset: usize) -> usize {
    let rest = &text[offset..];
    offset
        + if rest.starts_with("\r\n") {
            2
        } else {
            usize::from(rest.starts_with(['\n', '\r']))
        }
}

/// The indentation in front of a statement, when only white space stands there. A form feed resets
/// the column for Python, so what precedes it does not count.
pub fn indentation<'a>(syntax: &'a Syntax, node: Node<'_>) -> Option<&'a str> {
    let text = syntax.file().text();
    let start = line_start(text, node.start_byte());
    let before = &text[start..node.start_byte()];
    let before = before.rfind('\x0c').map_or(before, |i| &before[i + 1..]);
    // A backslash before the line would make it a continuation.
    let continued = text[..start].trim_end_matches(['\n', '\r']).ends_with('\\');
    (before.chars().all(|c| c == ' ' || c == '\t') && !continued).then_some(before)
}

/// The whole lines of a statement, its line ending included, when it shares them with nothing but
/// a trailing comment.
pub fn own_lines(syntax: &Syntax, node: Node<'_>) -> Option<Range<usize>> {
    indentation(syntax, node)?;
    let text = syntax.file().text();
    let start = line_start(text, node.start_byte());
    let code = code_end(syntax, node);
    let end = line_end(text, code);
    let rest = text[code..end].trim_start_matches([' ', '\t']);
    (rest.is_empty() || rest.starts_with('#')).then(|| start..past_ending(text, end))
}

/// One step of indentation at the end of `path`: what the closest block adds to its owner's
/// indentation, else four spaces.
pub fn step<'a>(syntax: &'a Syntax, path: impl DoubleEndedIterator<Item = Node<'a>>) -> &'a str {
    for at in path.rev() {
        let body = at
            .child_by_field_name("body")
            .or_else(|| at.child_by_field_name("consequence"));
        if let Some(first) = body.and_then(|b| b.named_child(0))
            && let (Some(outer), Some(inner)) =
                (indentation(syntax, at), indentation(syntax, first))
            && inner.len() > outer.len()
            && inner.starts_with(outer)
        {
            return &inner[outer.len()..];
        }
    }
    "    "
}

fn render(indent: &str, step: &str, lines: &[Line<'_>]) -> Vec<String> {
    lines
        .iter()
        .map(|(depth, text)| format!("{indent}{}{text}", step.repeat(*depth)))
        .collect()
}

/// Inserts lines in front of a statement; a single simple line also goes in front of a statement
/// that shares its line with others.
pub fn insert_before(
    syntax: &Syntax,
    node: Node<'_>,
    step: &str,
    lines: &[Line<'_>],
) -> Option<Change> {
    let start = node.start_byte();
    if let Some(indent) = indentation(syntax, node) {
        let eol = syntax.line_ending();
        let rendered = render(indent, step, lines).join(eol);
        // The first line's indentation is there already.
        let text = rendered.strip_prefix(indent)?;
        return Some(Change::new(start..start, format!("{text}{eol}{indent}")));
    }
    inline(node, lines).map(|text| Change::new(start..start, format!("{text}; ")))
}

/// Inserts lines behind a statement.
pub fn insert_after(
    syntax: &Syntax,
    node: Node<'_>,
    step: &str,
    lines: &[Line<'_>],
) -> Option<Change> {
    let text = syntax.file().text();
    if let (Some(indent), Some(_)) = (indentation(syntax, node), own_lines(syntax, node)) {
        let eol = syntax.line_ending();
        let rendered = render(indent, step, lines).join(eol);
        let end = line_end(text, code_end(syntax, node));
        return Some(Change::new(end..end, format!("{eol}{rendered}")));
    }
    let end = code_end(syntax, node);
    inline(node, lines).map(|text| Change::new(end..end, format!("; {text}")))
}

fn inline(node: Node<'_>, lines: &[Line<'_>]) -> Option<String> {
    let simple = node.child_by_field_name("body").is_none()
        && node.child_by_field_name("consequence").is_none()
        && node.kind() != "try_statement";
    match lines {
        [(0, text)] if simple && !text.ends_with(':') => Some((*text).to_owned()),
        _ => None,
    }
}

/// Whether a statement is the only one of its block.
pub fn alone(node: Node<'_>) -> bool {
    node.parent().is_none_or(|block| {
        let mut cursor = block.walk();
        block
            .named_children(&mut cursor)
            .filter(|c| !c.is_extra())
            .count()
            < 2
    })
}

/// Removes a statement: its lines, or `pass` in its place where something must stand.
pub fn remove(syntax: &Syntax, node: Node<'_>) -> Change {
    match own_lines(syntax, node) {
        Some(lines) if !alone(node) => Change::new(lines, ""),
        _ => Change::new(node.start_byte()..code_end(syntax, node), "pass"),
    }
}

/// The statement's text re-indented from its own indentation to `indent`, without the first
/// line's indentation; `None` where a string spans lines, whose content would change.
pub fn reindented(syntax: &Syntax, node: Node<'_>, indent: &str) -> Option<String> {
    let own = indentation(syntax, node)?;
    if has_long_string(node) {
        return None;
    }
    let text = syntax.text(node).trim_end();
    let mut out = String::with_capacity(text.len() + 16);
    for (i, line) in text.split_inclusive('\n').enumerate() {
        if i == 0 {
            out.push_str(line);
        } else if let Some(rest) = line.strip_prefix(own) {
            out.push_str(indent);
            out.push_str(rest);
        } else if line.trim().is_empty() {
            out.push_str(line);
        } else {
            return None;
        }
    }
    Some(out)
}

fn has_long_string(node: Node<'_>) -> bool {
    if node.kind() == "string" {
        return node.start_position().row != node.end_position().row;
    }
    let mut cursor = node.walk();
    node.named_children(&mut cursor).any(has_long_string)
}

/// Whether nothing behind a statement runs.
pub fn leaves(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "return_statement" | "raise_statement" | "break_statement" | "continue_statement"
    )
}

/// The statements of a block, comments left out.
pub fn statements(block: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = block.walk();
    block
        .named_children(&mut cursor)
        .filter(|c| !c.is_extra())
        .collect()
}

/// Whether a node is a docstring-like statement: a string and nothing else.
pub fn is_docstring(node: Node<'_>) -> bool {
    node.kind() == "expression_statement"
        && node.named_child_count() == 1
        && node
            .named_child(0)
            .is_some_and(|c| matches!(c.kind(), "string" | "concatenated_string"))
}
