//! The identity of a candidate: the syntax of the code it leads to, not its spelling.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use ndbg_tools::source::syntax::{Syntax, as_python_reads};
use tree_sitter::{Node, Parser};

use super::layout::Change;

/// Parses edited functions and fingerprints them.
pub struct Canonical {
    parser: Parser,
    originals: HashMap<(usize, usize), Option<u64>>,
}

impl std::fmt::Debug for Canonical {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Canonical").finish_non_exhaustive()
    }
}

impl Canonical {
    /// A parser for Python.
    pub fn new() -> Option<Self> {
        let mut parser = Parser::new();
        parser
            .set_language(&tree_sitter_python::LANGUAGE.into())
            .ok()?;
        Some(Self {
            parser,
            originals: HashMap::new(),
        })
    }

    /// A fingerprint of the code after `changes`; `None` when it would not compile or when it is
    /// the code before. Comments, white space, redundant parentheses and quote style do not count.
    pub fn fingerprint(&mut self, file: usize, syntax: &Syntax, changes: &[Change]) -> Option<u64> {
        let region = region(syntax, changes)?;
        let text = syntax.file().text();
        let original = if let Some(known) = self.originals.get(&(file, region.start)) {
            *known
        } else {
            let found = self.parse(syntax, &region, &text[region.clone()]);
            self.originals.insert((file, region.start), found);
            found
        };
        let edited = apply(text, &region, changes)?;
        let after = self.parse(syntax, &region, &edited)?;
        if original == Some(after) {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        (file, region.start, after).hash(&mut hasher);
        Some(hasher.finish())
    }

    /// The fingerprint of a whole file.
    #[cfg(test)]
    pub fn of_file(&mut self, syntax: &Syntax) -> Option<u64> {
        let text = syntax.file().text();
        self.parse(syntax, &(0..text.len()), text)
    }

    fn parse(&mut self, syntax: &Syntax, region: &Range<usize>, edited: &str) -> Option<u64> {
        let text = syntax.file().text();
        let line = text[..region.start]
            .rfind(['\n', '\r'])
            .map_or(0, |i| i + 1);
        let indent = &text[line..region.start];
        let indent = indent.rfind('\x0c').map_or(indent, |i| &indent[i + 1..]);
        let source = if indent.is_empty() {
            edited.to_owned()
        } else if indent.trim().is_empty() {
            format!("if 1:\n{indent}{edited}")
        } else {
            edited.to_owned()
        };
        let tree = self.parser.parse(as_python_reads(&source).as_ref(), None)?;
        let root = tree.root_node();
        if root.has_error() || !super::legal::legal(root, &source) {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        hash(root, &source, &mut hasher);
        Some(hasher.finish())
    }
}

/// The text range that is parsed alone: the outermost function, else the top-level statement, that
/// holds all changes.
pub fn region(syntax: &Syntax, changes: &[Change]) -> Option<Range<usize>> {
    let start = changes.iter().map(|c| c.range.start).min()?;
    let end = changes.iter().map(|c| c.range.end).max()?;
    let mut node = syntax.root();
    let mut best = None;
    loop {
        let mut cursor = node.walk();
        // An insertion behind a statement may stand past its end, on the same line or before the
        // next statement.
        let child = node
            .named_children(&mut cursor)
            .filter(|c| !c.is_extra() && c.start_byte() <= start)
            .last();
        let Some(child) = child else { break };
        let next = child
            .next_named_sibling()
            .map_or(node.end_byte().max(end), |n| n.start_byte());
        if end > next {
            break;
        }
        match child.kind() {
            "function_definition" | "decorated_definition" => {
                best = Some(child.start_byte()..child.end_byte().max(end));
                let class = child
                    .child_by_field_name("definition")
                    .is_some_and(|d| d.kind() == "class_definition");
                if !class {
                    break;
                }
                node = child;
            }
            "class_definition" => {
                best = Some(child.start_byte()..child.end_byte().max(end));
                node = child;
            }
            "block" => node = child,
            _ => {
                best = best.or(Some(child.start_byte()..child.end_byte().max(end)));
                break;
            }
        }
    }
    best.or_else(|| Some(0..syntax.file().text().len()))
}

/// The text of `region` after `changes`; `None` when they overlap or leave the region.
pub fn apply(text: &str, region: &Range<usize>, changes: &[Change]) -> Option<String> {
    let mut sorted: Vec<&Change> = changes.iter().collect();
    sorted.sort_by_key(|c| (c.range.start, c.range.end));
    let mut out = String::with_capacity(region.len() + 64);
    let mut at = region.start;
    for change in sorted {
        if change.range.start < at || change.range.end > region.end {
            return None;
        }
        out.push_str(text.get(at..change.range.start)?);
        out.push_str(&change.text);
        at = change.range.end;
    }
    out.push_str(text.get(at..region.end)?);
    Some(out)
}

fn hash(node: Node<'_>, source: &str, hasher: &mut DefaultHasher) {
    if node.is_extra() {
        return;
    }
    match node.kind() {
        "parenthesized_expression" => {
            let mut cursor = node.walk();
            for child in node.named_children(&mut cursor) {
                hash(child, source, hasher);
            }
        }
        "string_start" => {
            let text = source[node.byte_range()].trim_end_matches(['"', '\'']);
            text.to_ascii_lowercase().hash(hasher);
        }
        "string_end" => 1_u8.hash(hasher),
        // Their text has parts without a node.
        "string_content" | "format_specifier" => source[node.byte_range()].hash(hasher),
        kind => {
            // A parenthesised tuple is the same as a bare one.
            let tuple = matches!(kind, "tuple" | "expression_list");
            let kind_id = if tuple { 0 } else { node.kind_id() };
            kind_id.hash(hasher);
            if node.child_count() == 0 {
                source[node.byte_range()].hash(hasher);
                return;
            }
            let mut cursor = node.walk();
            for child in node.children(&mut cursor) {
                if tuple && !child.is_named() {
                    continue;
                }
                hash(child, source, hasher);
            }
            u16::MAX.hash(hasher);
        }
    }
}

#[cfg(test)]
mod tests {
    use ndbg_tools::source::SourceFile;

    use super::*;

    fn fingerprint(source: &str, from: &str, to: &str) -> Option<u64> {
        let file = SourceFile::decode("a.py", source.as_bytes()).unwrap();
        let syntax = Syntax::parse(file).unwrap();
        let at = source.find(from).unwrap();
        Canonical::new()
            .unwrap()
            .fingerprint(0, &syntax, &[Change::new(at..at + from.len(), to)])
    }

    const SOURCE: &str = "class A:\n\tdef f(self, a, b):\n\t\treturn a - b\n\n\tx = 1\n";

    #[test]
    fn spelling_does_not_count() {
        let plain = fingerprint(SOURCE, "a - b", "a + b").unwrap();
        assert_eq!(fingerprint(SOURCE, "a - b", "(a+b)"), Some(plain));
        assert_eq!(fingerprint(SOURCE, "a - b", "a + (b)  # sum"), Some(plain));
        assert_ne!(fingerprint(SOURCE, "a - b", "b + a"), Some(plain));
        assert_eq!(fingerprint(SOURCE, "a - b", "(a - b)"), None);
    }

    #[test]
    fn every_line_ending_that_python_knows_is_one() {
        for ending in ["\r\n", "\r"] {
            let source = SOURCE.replace('\n', ending);
            assert!(
                fingerprint(&source, "a - b", "a + b").is_some(),
                "{ending:?}"
            );
            assert!(fingerprint(&source, "a - b", "a -").is_none(), "{ending:?}");
        }
    }

    #[test]
    fn grouping_counts() {
        let source = "def f(a, b, c):\n    return a\n";
        assert_ne!(
            fingerprint(source, "return a", "return a - (b - c)"),
            fingerprint(source, "return a", "return a - b - c")
        );
    }

    #[test]
    fn code_that_does_not_parse_is_rejected() {
        assert_eq!(fingerprint(SOURCE, "a - b", "a -"), None);
        assert_eq!(fingerprint(SOURCE, "a - b", "f(x=1, 2)"), None);
        assert_eq!(fingerprint(SOURCE, "return a - b", "break"), None);
    }
}
