//! What the source of a module binds at its top: names that a call may use, and under which a module has the
//! classes of the standard library.

use std::collections::{HashMap, HashSet};

use ruff_python_ast::{Expr, Stmt};

/// Names of a module.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Expressions by what they stand for: `datetime.date` is `dt.date` after `import datetime as dt`.
    standard: HashMap<String, String>,
    bound: HashSet<String>,
}

/// Modules whose classes arguments may be of, and those classes.
const STANDARD: &[(&str, &[&str])] = &[
    ("datetime", &["date", "datetime", "time", "timedelta"]),
    ("decimal", &["Decimal"]),
    ("fractions", &["Fraction"]),
    (
        "pathlib",
        &["Path", "PurePath", "PosixPath", "PurePosixPath"],
    ),
    ("re", &["compile"]),
];

impl Names {
    /// Names of a source; none of what does not parse.
    pub fn of(source: &str) -> Self {
        let mut names = Self::default();
        if let Ok(parsed) = ruff_python_parser::parse_module(source) {
            names.read(&parsed.syntax().body);
        }
        names
    }

    /// How the module writes a class of the standard library, if it has it.
    pub fn standard(&self, full: &str) -> Option<&str> {
        self.standard.get(full).map(String::as_str)
    }

    /// Whether a name is bound at the top of the module.
    pub fn has(&self, name: &str) -> bool {
        self.bound.contains(name)
    }

    fn read(&mut self, body: &[Stmt]) {
        for statement in body {
            match statement {
                Stmt::Import(import) => {
                    for alias in &import.names {
                        let full = alias.name.as_str();
                        let name = alias.asname.as_ref().map_or(full, |name| name.as_str());
                        self.bind(name.split('.').next().unwrap_or(name));
                        let known = STANDARD.iter().find(|(module, _)| *module == full);
                        for class in known.map_or(&[][..], |(_, classes)| classes) {
                            let written = format!("{name}.{class}");
                            self.standard.insert(format!("{full}.{class}"), written);
                        }
                    }
                }
                Stmt::ImportFrom(import) => {
                    let module = import.module.as_ref().map_or("", |name| name.as_str());
                    let known = STANDARD.iter().find(|(known, _)| *known == module);
                    for alias in &import.names {
                        let full = alias.name.as_str();
                        let name = alias.asname.as_ref().map_or(full, |name| name.as_str());
                        self.bind(name);
                        if known.is_some_and(|(_, classes)| classes.contains(&full)) {
                            self.standard
                                .insert(format!("{module}.{full}"), name.to_owned());
                        }
                    }
                }
                Stmt::FunctionDef(function) => self.bind(function.name.as_str()),
                Stmt::ClassDef(class) => self.bind(class.name.as_str()),
                Stmt::Assign(assigned) => {
                    for target in &assigned.targets {
                        self.bind_target(target);
                    }
                }
                Stmt::AnnAssign(assigned) => self.bind_target(&assigned.target),
                Stmt::If(branch) => {
                    self.read(&branch.body);
                    for clause in &branch.elif_else_clauses {
                        self.read(&clause.body);
                    }
                }
                Stmt::Try(tried) => {
                    self.read(&tried.body);
                    for handler in &tried.handlers {
                        let ruff_python_ast::ExceptHandler::ExceptHandler(handler) = handler;
                        self.read(&handler.body);
                    }
                    self.read(&tried.orelse);
                    self.read(&tried.finalbody);
                }
                Stmt::With(with) => self.read(&with.body),
                _ => {}
            }
        }
    }

    fn bind(&mut self, name: &str) {
        self.bound.insert(name.to_owned());
    }

    fn bind_target(&mut self, target: &Expr) {
        match target {
            Expr::Name(name) => self.bind(name.id.as_str()),
            Expr::Tuple(tuple) => {
                for element in &tuple.elts {
                    self.bind_target(element);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_the_standard_library_have_the_names_that_the_module_gives_them() {
        let names = Names::of(
            "import datetime as dt\nimport re\nfrom decimal import Decimal as D\n\
             try:\n    from pathlib import Path\nexcept ImportError:\n    Path = None\n\
             from typing import Optional\nA, B = 1, 2\n\ndef f(): ...\n",
        );
        for (full, written) in [
            ("datetime.date", Some("dt.date")),
            ("decimal.Decimal", Some("D")),
            ("pathlib.Path", Some("Path")),
            ("re.compile", Some("re.compile")),
            ("fractions.Fraction", None),
        ] {
            assert_eq!(names.standard(full), written, "{full}");
        }
        for name in ["dt", "D", "Path", "Optional", "A", "B", "f"] {
            assert!(names.has(name), "{name}");
        }
        assert!(!names.has("datetime"));
        assert!(!Names::of("def f(:").has("f"));
    }
}
