//! Mutation operators: the kinds of mistake that people make, one file a family.
//!
//! They are chosen by what is seen in bug fixes, not by what any repair tool can undo. To add one,
//! write a function that looks at one node and proposes edits, and list it in [`FAMILIES`].

mod arguments;
mod assignments;
mod attributes;
mod bounds;
mod branches;
mod calls;
mod constants;
mod copies;
mod exceptions;
mod logic;
mod names;
mod returns;
mod statements;
mod symbols;

use ndbg_tools::source::syntax::Syntax;
use tree_sitter::Node;

use super::site::{Mutation, Site, children};

/// Looks at one node of a function (or of a parameter list) and proposes mutations.
type Family = for<'a> fn(Node<'a>, &mut Site<'a>);

const FAMILIES: &[Family] = &[
    arguments::propose,
    assignments::propose,
    attributes::propose,
    bounds::propose,
    branches::propose,
    calls::propose,
    constants::propose,
    copies::propose,
    exceptions::propose,
    logic::propose,
    names::propose,
    returns::propose,
    statements::propose,
    symbols::propose,
];

/// All mutations of a file, in source order by family.
pub fn mutations(syntax: &Syntax) -> Vec<Mutation> {
    let mut site = Site::new(syntax);
    for family in FAMILIES {
        visit(syntax.root(), false, *family, &mut site);
    }
    site.finish()
}

/// Calls `family` on every node inside functions, but for annotations, decorators and docstrings.
fn visit<'a>(node: Node<'a>, inside: bool, family: Family, site: &mut Site<'a>) {
    match node.kind() {
        "type" | "decorator" | "comment" => return,
        "expression_statement" => {
            let only = children(node);
            if only.len() == 1 && matches!(only[0].kind(), "string" | "concatenated_string") {
                return;
            }
        }
        _ => {}
    }
    if inside {
        family(node, site);
    }
    let inside = inside || node.kind() == "function_definition";
    for child in children(node) {
        visit(child, inside, family, site);
    }
}

#[cfg(test)]
mod table {
    //! The table test that every family uses.

    use super::{Family, visit};
    use crate::seed::site::Site;
    use ndbg_tools::source::syntax::Syntax;
    use ndbg_tools::source::{SourceFile, apply_edits};

    /// What `family` makes of the body of a function, as `operator: body`, in order.
    pub fn mutants(family: Family, body: &str) -> Vec<String> {
        let text = if body.starts_with("def ") || body.starts_with("class ") {
            body.to_owned()
        } else {
            let lines: Vec<String> = body.lines().map(|line| format!("    {line}\n")).collect();
            format!("def fun(a, b, c):\n{}", lines.concat())
        };
        let file = SourceFile::decode("a.py", text.as_bytes()).unwrap();
        let syntax = Syntax::parse(file.clone()).unwrap();
        assert!(!syntax.has_errors(), "{text}");
        let mut site = Site::new(&syntax);
        visit(syntax.root(), false, family, &mut site);
        let mut out: Vec<String> = Vec::new();
        for mutation in site.finish() {
            let bytes = apply_edits(&file, &mutation.edits).unwrap();
            let after = String::from_utf8(bytes).unwrap();
            let parsed =
                Syntax::parse(SourceFile::decode("a.py", after.as_bytes()).unwrap()).unwrap();
            assert!(
                !parsed.has_errors(),
                "{} does not parse:\n{after}",
                mutation.operator
            );
            let shown = match after.strip_prefix("def fun(a, b, c):\n") {
                Some(rest) => rest
                    .lines()
                    .map(|line| line.strip_prefix("    ").unwrap_or(line))
                    .collect::<Vec<_>>()
                    .join("\n"),
                None => after.trim_end().to_owned(),
            };
            out.push(format!("{}: {shown}", mutation.operator));
        }
        out
    }

    /// Checks a family: for each body the mutants, all of them.
    pub fn check(family: Family, cases: &[(&str, &[&str])]) {
        for (body, expected) in cases {
            assert_eq!(mutants(family, body), *expected, "of:\n{body}");
        }
    }
}
