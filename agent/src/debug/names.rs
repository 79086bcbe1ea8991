//! What the names of an expression mean at an event.

use ndbg_simulator::EventKind;
use ndbg_simulator::expression::{Names, Outcome};
use ndbg_simulator::literal::Literal;
use ndbg_simulator::recording::{EventId, Locals, Recording};

/// The state at an event.
pub struct StateNames<'r> {
    run: &'r Recording,
    id: EventId,
    locals: &'r Locals,
}

impl<'r> StateNames<'r> {
    /// The state at `id`, whose locals are known.
    pub fn with(run: &'r Recording, id: EventId, locals: &'r Locals) -> Self {
        Self { run, id, locals }
    }
}

/// Name of an event's kind.
pub fn kind_name(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Call => "call",
        EventKind::Line => "line",
        EventKind::Return => "return",
        EventKind::Exception => "exception",
    }
}

impl Names for StateNames<'_> {
    fn name(&self, name: &str) -> Option<&str> {
        let binding = self.locals.get(self.run, name)?;
        binding.value.map(|value| self.run.text(value))
    }

    fn special(&self, name: &str) -> Option<Outcome> {
        let event = self.run.event(self.id);
        let text = |text: &str| Outcome::Value(Literal::Str(text.to_owned()));
        let number = |number: usize| Outcome::Value(Literal::Int(number.into()));
        Some(match name {
            "event" => text(kind_name(event.kind)),
            "function" => text(self.run.function(event.activation)),
            "file" => text(&self.run.file_of(self.id).name),
            "line" => number(event.line as usize),
            "depth" => number(self.run.depth(self.id)),
            "value" => Outcome::from_text(self.run.text(event.value?)),
            "exception" => text(self.run.text(event.exception?)),
            _ => return None,
        })
    }
}
