//! The run behind a debugger when nobody recorded one: a model predicts it, again from where a
//! variable was set.

use std::fmt;

use ndbg_simulator::harness::{self, Limits, Operations, Override, Program, Run};
use ndbg_simulator::literal::Literal;
use ndbg_simulator::recording::EventId;
use ndbg_tools::trace::{Meta, Opened};

/// A program with whoever predicts it, and the prediction.
pub struct Predicted {
    program: Program,
    operations: Box<dyn Operations + Sync>,
    limits: Limits,
    /// Name of the file.
    file: String,
    /// Name of the model.
    model: String,
    overrides: Vec<Override>,
    run: Run,
}

impl fmt::Debug for Predicted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Predicted")
            .field("file", &self.file)
            .field("model", &self.model)
            .field("overrides", &self.overrides)
            .finish_non_exhaustive()
    }
}

impl Predicted {
    /// Predicts a run.
    pub fn new(
        program: Program,
        operations: Box<dyn Operations + Sync>,
        limits: Limits,
        file: String,
        model: String,
    ) -> Self {
        let run = harness::run(&program, &operations, limits);
        Self {
            program,
            operations,
            limits,
            file,
            model,
            overrides: Vec::new(),
            run,
        }
    }

    /// The model's name.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// How the run ended.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The prediction as what a debugger opens; none for one without a state.
    pub fn opened(&self) -> Option<Opened> {
        let recording = harness::recording(&self.program, &self.run, &self.file).ok()?;
        if recording.is_empty() {
            return None;
        }
        Some(Opened {
            meta: Meta {
                format: "ndbg".into(),
                version: 1,
                written_by: String::new(),
                what: "prediction".into(),
                python: String::new(),
                command: Vec::new(),
                events: Some(recording.len() as u64),
            },
            recording,
            cut_off: None,
            bytes: 0,
        })
    }

    /// How sure a state is, as text: never rounded up to certainty.
    pub fn confidence(&self, id: EventId) -> String {
        self.run
            .events
            .get(id.index())
            .map_or_else(String::new, |event| {
                crate::simulate::confidence(event.log_probability)
            })
    }

    /// Gives a variable a value at a state; what was set later is forgotten.
    pub fn set(&mut self, at: EventId, name: &str, value: Literal) -> Result<(), String> {
        let event = &self.run.events[at.index()];
        let known: Vec<&str> = event.locals.iter().map(|(held, _)| held.as_str()).collect();
        if !known.contains(&name) {
            return Err(if known.is_empty() {
                format!("`{name}` is not bound here; nothing is")
            } else {
                format!("`{name}` is not bound here; {} are", known.join(", "))
            });
        }
        self.overrides.retain(|held| {
            held.event < at.index() || (held.event == at.index() && held.name != name)
        });
        self.overrides.push(Override {
            event: at.index(),
            name: name.to_owned(),
            value,
        });
        self.run = harness::run_with(
            &self.program,
            &self.operations,
            self.limits,
            &self.overrides,
        );
        Ok(())
    }
}
