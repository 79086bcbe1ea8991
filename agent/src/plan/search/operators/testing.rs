//! The one way to test an operator: source, and fragments with what should become of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use ndbg_tools::source::SourceFile;
use ndbg_tools::source::syntax::Syntax;

use super::Operator;
use crate::plan::search::canonical::{Canonical, apply};
use crate::plan::search::generate::generate_with;
use crate::plan::{Facts, SuspectFunction, SuspectStatement};

/// Facts that suspect every statement of `source` alike.
pub fn uniform_facts(path: &str, source: &str) -> Facts {
    let file = SourceFile::decode(path, source.as_bytes()).unwrap();
    let syntax = Arc::new(Syntax::parse(file).unwrap());
    let functions = syntax
        .functions()
        .iter()
        .map(|f| SuspectFunction {
            file: path.into(),
            qualname: f.qualname.clone(),
            first_line: f.first_line,
            last_line: f.last_line,
            score: 1.0,
            ochiai: 1.0,
            reasons: Vec::new(),
        })
        .collect();
    let statements = syntax
        .statements()
        .iter()
        .map(|s| SuspectStatement {
            file: path.into(),
            qualname: s
                .function
                .map_or_else(String::new, |i| syntax.functions()[i].qualname.clone()),
            first_line: s.first_line,
            last_line: s.last_line,
            score: 1.0,
            ochiai: 1.0,
            reasons: Vec::new(),
        })
        .collect();
    Facts {
        files: BTreeMap::from([(path.into(), syntax)]),
        functions,
        statements,
        ..Facts::default()
    }
}

/// Every source that the operator turns `source` into, best first.
pub fn results(operator: &Operator, source: &str) -> Vec<String> {
    let facts = uniform_facts("a.py", source);
    let syntax = facts.files.values().next().unwrap();
    let mut canonical = Canonical::new().unwrap();
    generate_with(&facts, usize::MAX, &[operator])
        .iter()
        .filter(|d| canonical.fingerprint(0, syntax, &d.changes).is_some())
        .filter_map(|d| apply(source, &(0..source.len()), &d.changes))
        .collect()
}

/// Checks that the operator turns the first occurrence of each `from` in `source` into `to`,
/// among other things.
#[track_caller]
pub fn check(operator: &Operator, source: &str, expected: &[(&str, &str)]) {
    let found = results(operator, source);
    for (from, to) in expected {
        assert!(source.contains(from), "`{from}` is not in the source");
        let wanted = source.replacen(from, to, 1);
        assert!(
            found.contains(&wanted),
            "`{}` does not turn `{from}` into `{to}`; it offers:\n{}",
            operator.name,
            found
                .iter()
                .map(|s| changed_lines(source, s))
                .collect::<Vec<_>>()
                .join("\n")
        );
    }
}

fn changed_lines(old: &str, new: &str) -> String {
    let old: Vec<_> = old.lines().collect();
    new.lines()
        .filter(|l| !old.contains(l))
        .collect::<Vec<_>>()
        .join(" / ")
}
