//! Breakpoints: a line, a function or a condition.

use ndbg_simulator::EventKind;
use ndbg_simulator::expression::{Expression, Outcome};
use ndbg_simulator::literal::Literal;
use ndbg_simulator::recording::{EventId, FileId, Locals, Recording};

use super::names::StateNames;

/// Where a breakpoint lies.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// A one-based line of a file.
    Line(FileId, u32),
    /// Calls of a function, by qualified name or its last part.
    Function(String),
    /// Wherever the condition becomes true.
    Anywhere,
}

/// A breakpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct Breakpoint {
    /// Its number, from 1.
    pub number: usize,
    /// Where.
    pub place: Place,
    /// When: text and expression.
    pub condition: Option<(String, Expression)>,
}

impl Breakpoint {
    /// Whether a run stops at an event with these locals.
    pub fn stops_at(&self, run: &Recording, id: EventId, locals: &Locals) -> bool {
        self.at(run, id, locals)
            .is_some_and(|outcome| outcome.holds())
    }

    /// What the condition comes to at an event; none where the breakpoint does not lie.
    pub fn at(&self, run: &Recording, id: EventId, locals: &Locals) -> Option<Outcome> {
        let here = match &self.place {
            Place::Line(file, line) => {
                let event = run.event(id);
                event.line == *line
                    && run.code_of(id).file == *file
                    && (event.kind == EventKind::Line || event.kind == EventKind::Call)
            }
            Place::Function(name) => {
                run.is_first_of_frame(id) && is_named(run.function(run.event(id).activation), name)
            }
            Place::Anywhere => true,
        };
        here.then(|| match &self.condition {
            Some((_, condition)) => condition.evaluate(&StateNames::with(run, id, locals)),
            None => Outcome::Value(Literal::Bool(true)),
        })
    }

    /// As the list of breakpoints shows it.
    pub fn text(&self, run: &Recording) -> String {
        let place = match &self.place {
            Place::Line(file, line) => format!("{}:{line}", run.files()[file.index()].name),
            Place::Function(name) => format!("call of {name}"),
            Place::Anywhere => "anywhere".into(),
        };
        let condition = self.condition.as_ref();
        let condition = condition.map_or(String::new(), |(text, _)| format!(" if {text}"));
        format!("{}: {place}{condition}", self.number)
    }
}

/// Whether a condition is true in the state of an event.
pub fn holds(run: &Recording, id: EventId, locals: &Locals, condition: &Expression) -> bool {
    condition
        .evaluate(&StateNames::with(run, id, locals))
        .holds()
}

/// Whether a qualified name is meant by what a user types: all of it or its end.
pub fn is_named(qualname: &str, typed: &str) -> bool {
    qualname == typed
        || qualname
            .strip_suffix(typed)
            .is_some_and(|rest| rest.ends_with('.'))
}
