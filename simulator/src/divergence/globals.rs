//! Names of a module and attributes of a class that should have been something else: the statement that bound them
//! ran before the recording.

use ruff_python_ast::{Expr, Stmt};

use super::{Belief, LEAST, POINTS, Part, Walk, branches, syntax, writes};
use crate::literal::Literal;
use crate::recording::{EventId, FileId};

/// What a constant of a module is worth against what runs.
const MODULE: f64 = 0.5;

/// The least belief in an object that all objects of a class share and can change.
const SHARED: f64 = 0.25;

impl Walk<'_> {
    /// A name of a module should have been bound to something else.
    pub(super) fn global(&mut self, name: &str, at: EventId, belief: &Belief) -> bool {
        let file = self.file(at);
        let Some(places) = self.places.get(&file) else {
            return false;
        };
        if let Some(bound) = bound_in(places.body(), name) {
            let line = places.line_of(bound);
            self.still(file, line, "<module>", name, belief, MODULE, bound);
            return true;
        }
        if !is_imported(places.body(), name) {
            return false;
        }
        // Constants of another file of the project go by one name.
        let mut others: Vec<FileId> = self.places.keys().copied().collect();
        others.sort_unstable();
        for other in others {
            let places = &self.places[&other];
            if let Some(bound) = bound_in(places.body(), name) {
                let line = places.line_of(bound);
                self.still(other, line, "<module>", name, belief, MODULE, bound);
                return true;
            }
        }
        false
    }

    /// An attribute of a class should have been bound to something else.
    pub(super) fn class_attribute(&mut self, class: &str, name: &str, belief: &Belief) -> bool {
        let mut files: Vec<FileId> = self.places.keys().copied().collect();
        files.sort_unstable();
        for file in files {
            let places = &self.places[&file];
            let Some(definition) = places.class(class) else {
                continue;
            };
            if let Some(bound) = bound_in(&definition.body, name) {
                let line = places.line_of(bound);
                // What all objects share and any of them may change is suspect.
                let is_shared = syntax::expressions(bound)
                    .first()
                    .is_some_and(|value| is_changeable(value));
                let mut belief = belief.clone();
                if is_shared {
                    belief.confidence = belief.confidence.max(SHARED / MODULE);
                }
                let name = format!(".{name}");
                self.still(file, line, class, &name, &belief, MODULE, bound);
                return true;
            }
        }
        false
    }

    /// Adds the point of a statement that ran before the recording.
    #[allow(clippy::too_many_arguments)] // A point has these parts.
    fn still(
        &mut self,
        file: FileId,
        line: u32,
        function: &str,
        name: &str,
        belief: &Belief,
        kept: f64,
        statement: &Stmt,
    ) {
        let confidence = belief.confidence * kept;
        if confidence < LEAST || self.points.len() >= POINTS {
            return;
        }
        let recorded = syntax::expressions(statement)
            .first()
            .and_then(|value| syntax::constant(value))
            .map_or_else(branches::unrecorded, |held: Literal| held.to_string());
        let mut known = self.points.iter_mut();
        let same =
            known.find(|held| held.event.is_none() && held.line == line && held.file == file);
        if let Some(held) = same {
            held.confidence = (held.confidence + confidence).min(1.0);
            return;
        }
        self.points.push(super::Point {
            event: None,
            file,
            line,
            function: function.to_owned(),
            part: Part::Variable(name.to_owned()),
            recorded,
            needed: belief.needed_text(),
            needed_known: belief.needed.is_some(),
            confidence,
            predicted: belief.predicted,
            is_leaf: true,
        });
    }
}

/// The last statement of a block that binds a name.
fn bound_in<'p>(body: &'p [Stmt], name: &str) -> Option<&'p Stmt> {
    body.iter().rev().find(|statement| {
        matches!(statement, Stmt::Assign(_) | Stmt::AnnAssign(_))
            && !syntax::expressions(statement).is_empty()
            && writes::targets(statement)
                .iter()
                .any(|target| matches!(target, Expr::Name(held) if held.id.as_str() == name))
    })
}

/// Whether an expression makes an object that can be changed: a display, or an object of a class.
fn is_changeable(value: &Expr) -> bool {
    match value {
        Expr::List(_) | Expr::Dict(_) | Expr::Set(_) => true,
        Expr::Call(call) => syntax::callee(call).is_some_and(|name| {
            name.starts_with(char::is_uppercase) || matches!(name, "list" | "dict" | "set")
        }),
        _ => false,
    }
}

fn is_imported(body: &[Stmt], name: &str) -> bool {
    body.iter().any(|statement| match statement {
        Stmt::ImportFrom(import) => import
            .names
            .iter()
            .any(|one| one.asname.as_ref().unwrap_or(&one.name).as_str() == name),
        _ => false,
    })
}
