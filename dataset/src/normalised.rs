//! Source text with everything taken away that a renaming or a reformatting changes.

use std::collections::HashMap;

use sha2::{Digest, Sha256};
use tree_sitter::{Node, Parser};

use crate::profile::Unparsed;
use crate::shard::hex;

/// Tokens of a text in normal form, and those of each of its functions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Normalised {
    /// Tokens of the whole text: names as slots in order of appearance, literals as their kind, without
    /// comments, docstrings and annotations. Attributes, keywords and builtins stay: `x.upper()` and
    /// `x.lower()` differ.
    pub tokens: Vec<String>,
    /// Tokens as they are written, comments left out.
    pub written: Vec<String>,
    /// The outermost functions and methods, slots counted anew in each.
    pub functions: Vec<NormalisedFunction>,
}

/// A function in normal form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NormalisedFunction {
    /// Its name in the text.
    pub name: String,
    /// Hash of its normal form: equal for functions that differ in names, literals and layout only.
    pub hash: String,
    /// Tokens in it.
    pub tokens: usize,
}

impl Normalised {
    /// Hash of the whole text in normal form.
    pub fn hash(&self) -> String {
        hash(&self.tokens)
    }
}

/// Names that mean the same everywhere.
const FIXED: &[&str] = &[
    "self",
    "cls",
    "main",
    "Exception",
    "ValueError",
    "TypeError",
    "KeyError",
    "IndexError",
    "RuntimeError",
    "ZeroDivisionError",
    "StopIteration",
    "AttributeError",
    "LookupError",
    "OSError",
    "abs",
    "all",
    "any",
    "bin",
    "bool",
    "bytes",
    "callable",
    "chr",
    "dict",
    "divmod",
    "enumerate",
    "filter",
    "float",
    "format",
    "frozenset",
    "getattr",
    "hasattr",
    "hash",
    "hex",
    "id",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "min",
    "next",
    "object",
    "oct",
    "ord",
    "pow",
    "print",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "setattr",
    "slice",
    "sorted",
    "str",
    "sum",
    "super",
    "tuple",
    "type",
    "vars",
    "zip",
];

/// Brings a text into normal form. A generated `main` without parameters is left out: it only holds
/// the call.
pub fn normalise(source: &str) -> Result<Normalised, Unparsed> {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_python::LANGUAGE.into())
        .map_err(|_| Unparsed)?;
    let tree = parser.parse(source, None).ok_or(Unparsed)?;
    if tree.root_node().has_error() {
        return Err(Unparsed);
    }
    let mut normalised = Normalised::default();
    Reader {
        source,
        slots: HashMap::new(),
    }
    .read(tree.root_node(), &mut normalised.tokens);
    written(tree.root_node(), source, &mut normalised.written);
    functions(tree.root_node(), source, &mut normalised.functions);
    Ok(normalised)
}

fn text<'a>(node: Node<'_>, source: &'a str) -> &'a str {
    source.get(node.byte_range()).unwrap_or_default()
}

fn is_call_holder(node: Node<'_>, source: &str) -> bool {
    let name = node
        .child_by_field_name("name")
        .map_or("", |name| text(name, source));
    let parameters = node.child_by_field_name("parameters");
    node.kind() == "function_definition"
        && name == "main"
        && parameters.is_none_or(|parameters| parameters.named_child_count() == 0)
}

fn functions(node: Node<'_>, source: &str, found: &mut Vec<NormalisedFunction>) {
    let mut cursor = node.walk();
    for child in node.named_children(&mut cursor) {
        if child.kind() != "function_definition" {
            functions(child, source, found);
        } else if !is_call_holder(child, source) {
            let mut tokens = Vec::new();
            Reader {
                source,
                slots: HashMap::new(),
            }
            .read(child, &mut tokens);
            let name = child
                .child_by_field_name("name")
                .map_or("", |name| text(name, source));
            found.push(NormalisedFunction {
                name: name.to_owned(),
                hash: hash(&tokens),
                tokens: tokens.len(),
            });
        }
    }
}

fn hash(tokens: &[String]) -> String {
    let mut hash = Sha256::new();
    for token in tokens {
        hash.update(token.as_bytes());
        hash.update([0]);
    }
    hex(&hash.finalize()[..16])
}

/// Tokens as they stand, which is what a copy has in common with its original.
fn written(node: Node<'_>, source: &str, tokens: &mut Vec<String>) {
    match node.kind() {
        "comment" => {}
        "string" | "concatenated_string" => tokens.push(text(node, source).to_owned()),
        _ if node.child_count() == 0 => {
            let token = text(node, source).trim();
            if !token.is_empty() {
                tokens.push(token.to_owned());
            }
        }
        _ => {
            let mut cursor = node.walk();
            for child in node.children(&mut cursor) {
                written(child, source, tokens);
            }
        }
    }
}

struct Reader<'a> {
    source: &'a str,
    slots: HashMap<&'a str, usize>,
}

impl Reader<'_> {
    fn read(&mut self, node: Node<'_>, tokens: &mut Vec<String>) {
        match node.kind() {
            "comment" | "type" | "string_content" | "string_start" | "string_end" => return,
            "function_definition" if is_call_holder(node, self.source) => return,
            "string" | "concatenated_string" if !is_formatted(node) => {
                tokens.push("\"\"".to_owned());
                return;
            }
            "integer" => {
                tokens.push("0".to_owned());
                return;
            }
            "float" => {
                tokens.push("0.0".to_owned());
                return;
            }
            "expression_statement" if is_docstring(node) => return,
            "identifier" => {
                let token = self.name(node);
                tokens.push(token);
                return;
            }
            "parenthesized_expression" => {
                // The tree says what binds to what.
                tokens.push("(".to_owned());
                self.children(node, tokens);
                tokens.push(")".to_owned());
                return;
            }
            "block" => {
                tokens.push("{".to_owned());
                self.children(node, tokens);
                tokens.push("}".to_owned());
                return;
            }
            _ => {}
        }
        if node.child_count() == 0 {
            let token = text(node, self.source).trim();
            // Layout: brackets of arguments, commas and colons follow from the tree.
            if !matches!(token, "" | "," | ":" | "->" | ";") {
                tokens.push(token.to_owned());
            }
            return;
        }
        self.children(node, tokens);
    }

    fn children(&mut self, node: Node<'_>, tokens: &mut Vec<String>) {
        let parenthesized = node.kind() == "parenthesized_expression";
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            if !parenthesized || child.is_named() {
                self.read(child, tokens);
            }
        }
    }

    fn name(&mut self, node: Node<'_>) -> String {
        let name = text(node, self.source);
        let parent = node.parent();
        let attribute = parent.is_some_and(|up| {
            up.kind() == "attribute" && up.child_by_field_name("attribute") == Some(node)
                || up.kind() == "keyword_argument" && up.child_by_field_name("name") == Some(node)
        });
        if attribute || FIXED.contains(&name) {
            return name.to_owned();
        }
        // A slot keeps its number through the text.
        let name = self.source.get(node.byte_range()).unwrap_or_default();
        let next = self.slots.len();
        format!("v{}", *self.slots.entry(name).or_insert(next))
    }
}

fn is_formatted(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).any(|child| {
        child.kind() == "interpolation" || (child.kind() == "string" && is_formatted(child))
    })
}

fn is_docstring(node: Node<'_>) -> bool {
    node.named_child_count() == 1
        && node.named_child(0).is_some_and(|only| {
            matches!(only.kind(), "string" | "concatenated_string") && !is_formatted(only)
        })
}

#[cfg(test)]
mod tests {
    use super::normalise;

    fn hash(source: &str) -> String {
        normalise(source).unwrap().functions[0].hash.clone()
    }

    #[test]
    fn names_literals_and_layout_do_not_count() {
        let one = hash("def f(a, b=1):\n    'doc'\n    # why\n    return a.upper() + \"x\"*b\n");
        let two = hash("def g(text: str, n: int = 25) -> str:\n    return text.upper()+'yy' * n\n");
        assert_eq!(one, two);
    }

    #[test]
    fn what_a_function_does_counts() {
        let base = hash("def f(a, b):\n    return a.upper() + b\n");
        for other in [
            "def f(a, b):\n    return a.lower() + b\n",
            "def f(a, b):\n    return b.upper() + a\n",
            "def f(a, b):\n    return a.upper() - b\n",
            "def f(a, b):\n    a.upper()\n    return b\n",
        ] {
            assert_ne!(base, hash(other), "{other}");
        }
        let nested = hash("def f(a):\n    if a:\n        a = 1\n    return a\n");
        assert_ne!(
            nested,
            hash("def f(a):\n    if a:\n        a = 1\n        return a\n")
        );
    }

    #[test]
    fn the_call_in_main_does_not_count() {
        let one = normalise("def f(a):\n    return a\n\n\ndef main():\n    return f(1)\n").unwrap();
        let two =
            normalise("def f(a):\n    return a\n\n\ndef main():\n    return f('x', 2)\n").unwrap();
        assert_eq!(one.hash(), two.hash());
        assert_eq!(one.functions.len(), 1);
    }
}
