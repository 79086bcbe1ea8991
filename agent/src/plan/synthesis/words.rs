//! What expressions are made of: terms of the function, its literals and those of its module. What a failing
//! assertion expects is not among them: to write it into the code would repair the test alone.

use std::collections::BTreeSet;

use ndbg_tools::source::syntax::{Function, Syntax};
use tree_sitter::Node;

use super::oracle::Vocabulary;
use crate::plan::Failure;

/// Most terms, and literals of the function and of its module.
const TERMS: usize = 40;
const OWN: usize = 16;
const OTHERS: usize = 24;
/// Longest term and literal.
const LONGEST: usize = 60;
/// Values that say nothing about the one case that fails.
const EMPTY: [&str; 7] = ["0", "1", "2", "-1", "\"\"", "None", "[]"];

/// Gathers the vocabulary of a function.
pub fn vocabulary(syntax: &Syntax, function: &Function) -> Vocabulary {
    let mut words = Words {
        syntax,
        terms: Vec::new(),
        literals: Vec::new(),
    };
    if let Some(body) = syntax
        .root()
        .descendant_for_byte_range(function.span.start, function.span.end)
    {
        words.visit(body, true);
    }
    let own: Vec<String> = words.literals.iter().take(OWN).cloned().collect();
    let terms = words.terms;
    let mut all = Words {
        syntax,
        terms: Vec::new(),
        literals: Vec::new(),
    };
    all.visit(syntax.root(), false);
    let mut constants: Vec<(String, u32)> = own.iter().map(|text| (text.clone(), 2)).collect();
    for text in EMPTY {
        if !own.iter().any(|known| known == text) {
            constants.push((
                text.to_owned(),
                if text == "0" || text == "1" { 2 } else { 3 },
            ));
        }
    }
    let others = all
        .literals
        .into_iter()
        .filter(|text| !own.contains(text) && !EMPTY.contains(&text.as_str()));
    constants.extend(others.take(OTHERS).map(|text| (text, 3)));
    Vocabulary { terms, constants }
}

/// Literals that stand beside a literal in a list, a dictionary or a series of comparisons of the module: the other
/// names of what it is one of.
pub fn kin(syntax: &Syntax, literal: &str) -> Vec<String> {
    let mut found = Vec::new();
    beside(syntax, syntax.root(), &plain(literal), &mut found);
    found
}

fn beside(syntax: &Syntax, node: Node<'_>, literal: &str, found: &mut Vec<String>) {
    let mut cursor = node.walk();
    let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
    let sides: Vec<Vec<&str>> = match node.kind() {
        "dictionary" => ["key", "value"]
            .iter()
            .map(|field| {
                let pairs = children.iter();
                pairs
                    .filter_map(|pair| pair.child_by_field_name(field))
                    .map(|side| syntax.text(side))
                    .collect()
            })
            .collect(),
        "list" | "tuple" | "set" => vec![children.iter().map(|c| syntax.text(*c)).collect()],
        _ => Vec::new(),
    };
    for side in sides {
        if side.iter().any(|text| plain(text) == literal) {
            for text in side {
                if is_literal(text) && plain(text) != literal {
                    push(found, text, OTHERS);
                }
            }
        }
    }
    for child in children {
        beside(syntax, child, literal, found);
    }
}

struct Words<'a> {
    syntax: &'a Syntax,
    terms: Vec<String>,
    literals: Vec<String>,
}

impl Words<'_> {
    fn visit(&mut self, node: Node<'_>, terms: bool) {
        let text = self.syntax.text(node);
        let short = text.len() <= LONGEST && !text.contains('\n');
        match node.kind() {
            "expression_statement" if crate::plan::search::layout::is_docstring(node) => return,
            // Names of their own.
            "lambda"
            | "list_comprehension"
            | "set_comprehension"
            | "dictionary_comprehension"
            | "generator_expression"
                if terms =>
            {
                return;
            }
            "string" => {
                let plain = text.starts_with(['"', '\'']);
                if short && plain && text.len() <= 24 {
                    push(&mut self.literals, text, usize::MAX);
                }
                return;
            }
            "integer" | "float" if short => push(&mut self.literals, text, usize::MAX),
            "binary_operator" | "attribute" | "subscript" | "call" | "comparison_operator"
                if short && terms =>
            {
                push(&mut self.terms, text, TERMS);
            }
            _ => {}
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for child in children {
            self.visit(child, terms);
        }
    }
}

fn push(list: &mut Vec<String>, text: &str, most: usize) {
    if list.len() < most && !list.iter().any(|known| known == text) {
        list.push(text.to_owned());
    }
}

/// Literals that failing assertions expect.
pub fn expected(failures: &[Failure]) -> BTreeSet<String> {
    failures
        .iter()
        .filter_map(|failure| failure.sides.as_ref())
        .flat_map(|sides| [sides.left.clone(), sides.right.clone()])
        .map(|text| plain(&text))
        .collect()
}

/// A literal without what Python does not care for.
fn plain(text: &str) -> String {
    text.trim().replace('"', "'")
}

/// Whether a text is nothing but a literal.
pub fn is_literal(text: &str) -> bool {
    let text = text.trim();
    let number = text.trim_start_matches('-');
    matches!(text, "None" | "True" | "False" | "[]" | "{}" | "()")
        || (text.len() > 1 && text.starts_with(['"', '\'']) && text.ends_with(['"', '\'']))
        || (number.starts_with(|c: char| c.is_ascii_digit())
            && number
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_'))
}

/// Whether a literal may be written into the code as a value of its own: it says nothing about the case that
/// fails, or the module says it already and the failing assertion does not.
pub fn may_write(text: &str, expected: &BTreeSet<String>) -> bool {
    !is_literal(text) || !expected.contains(&plain(text))
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;
    use ndbg_tools::source::SourceFile;

    use super::*;
    use crate::plan::Sides;

    #[test]
    fn words_are_those_of_the_function_first() {
        let text = "NAMES = {'old': 1}\n\n\ndef f(a):\n    \"\"\"Do.\"\"\"\n    return a.b + 7\n";
        let file = SourceFile::decode(Utf8Path::new("a.py"), text.as_bytes()).unwrap();
        let syntax = Syntax::parse(file).unwrap();
        let words = vocabulary(&syntax, &syntax.functions()[0]);
        assert_eq!(words.terms, ["a.b + 7", "a.b"]);
        assert_eq!(words.constants[0], ("7".to_owned(), 2));
        assert!(words.constants.contains(&("'old'".to_owned(), 3)));
        assert!(!words.constants.iter().any(|(text, _)| text.contains("Do.")));
    }

    #[test]
    fn kin_of_a_literal_stand_beside_it() {
        let text = "MARKS = {'added': 'A', 'deleted': 'D'}\nOTHER = ['x', 'y']\n";
        let file = SourceFile::decode(Utf8Path::new("a.py"), text.as_bytes()).unwrap();
        let syntax = Syntax::parse(file).unwrap();
        assert_eq!(kin(&syntax, "\"added\""), ["'deleted'"]);
    }

    #[test]
    fn what_an_assertion_expects_is_not_written() {
        let failure = Failure {
            sides: Some(Sides {
                op: "==".into(),
                left: "3".into(),
                right: "'gone'".into(),
                lossy: false,
            }),
            ..Failure::default()
        };
        let known = expected(&[failure]);
        assert!(!may_write("\"gone\"", &known));
        assert!(!may_write("3", &known));
        assert!(may_write("4", &known));
        assert!(may_write("gone", &known));
    }
}
