//! A debugger whose states a language model says: whole trajectories, in the grammars `nd` and `cwm`.
//!
//! A position is the text so far. [`crate::grammar::nd`] has a token for every action of both
//! directions. [`crate::grammar::cwm`] knows the next state only, so its other actions are many of
//! those, and calls are skipped by forcing their return; it has no way back and names no exits.
//!
//! What a model says is a state only if it is one: it is read by the decoders of the grammars, under
//! masks that let nothing through but the lines of the code and the names in it. Anything else is
//! [`Unavailable::Unknown`].
//!
//! The grammars print what changed. Locals are completed with what was printed before, as a reader
//! would: forwards all of them are known (a name that was deleted stays, since nothing says so);
//! backwards those that were printed on the level, all of them at its call.

mod code;
mod cwm;
mod json;
mod mask;
mod nd;
mod position;
mod tokens;

pub use position::Position;

use crate::debugger::{Arrival, Debugger, Stopped, Trust};
use crate::grammar::nd::main_line;
use crate::model::{Dialect, Generated, LanguageModel, Mask, ModelError, Request, Sampling};
use crate::simulator::{Prediction, Provenance, Simulator, Unavailable};
use crate::state::{Action, EventKind, State};
use crate::trajectory::Direction;
use code::Code;
use tokens::Tokens;

/// States that one action may take to compose in the grammar of CWM, if nothing else is said.
const STATES: usize = 1000;

/// Where a trajectory begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// CODE of the trace: whole lines.
    pub code: String,
    /// The state that is given: the call, or backwards the return.
    pub state: State,
}

impl Start {
    /// The call of a `main` that calls `function(arguments)`, behind the source of what it runs.
    pub fn main(source: &str, function: &str, arguments: &str) -> Self {
        let main = main_line(function, arguments);
        Self {
            code: format!("{}{main}\n", whole_lines(source)),
            state: State {
                event: EventKind::Call,
                locals: Vec::new(),
                source: main,
            },
        }
    }

    /// The call of a function with arguments as texts of values; `def` is the line of its `def`.
    pub fn call(source: &str, def: &str, arguments: &[(String, String)]) -> Self {
        Self {
            code: whole_lines(source),
            state: State {
                event: EventKind::Call,
                locals: arguments.to_vec(),
                source: def.to_owned(),
            },
        }
    }

    /// The return of `value` by `line` of a function.
    pub fn returned(source: &str, line: &str, value: &str) -> Self {
        Self {
            code: whole_lines(source),
            state: State {
                event: EventKind::Return,
                locals: vec![(String::new(), value.to_owned())],
                source: line.to_owned(),
            },
        }
    }
}

fn whole_lines(source: &str) -> String {
    let end = if source.is_empty() || source.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{source}{end}")
}

/// A model as a debugger.
pub struct TrajectoryModel<M> {
    model: M,
    tokens: Tokens,
    sampling: Sampling,
    states: usize,
    forward: Option<Opened>,
    inverse: Option<Opened>,
}

/// A start whose code is prepared for masks.
struct Opened {
    start: Start,
    code: Code,
}

impl<M: LanguageModel> TrajectoryModel<M> {
    /// Over the run that begins at `forward`, the one that ends at `inverse`, or both. Answers are the
    /// most probable ones.
    ///
    /// # Errors
    /// [`Unavailable::Unknown`] for a model that does not speak whole trajectories, or lacks tokens.
    pub fn new(
        model: M,
        forward: Option<Start>,
        inverse: Option<Start>,
    ) -> Result<Self, Unavailable> {
        let tokens = Tokens::new(model.vocabulary(), model.dialect())?;
        let open = |start: Option<Start>| {
            let open = |start: Start| {
                let code = Code::new(&model, &tokens, &start.code)?;
                Ok::<_, Unavailable>(Opened { start, code })
            };
            start.map(open).transpose()
        };
        Ok(Self {
            forward: open(forward)?,
            inverse: open(inverse)?,
            model,
            tokens,
            sampling: Sampling::Greedy,
            states: STATES,
        })
    }

    /// Answers are chosen in another way; only the first sample counts.
    #[must_use]
    pub fn sampled(mut self, sampling: Sampling) -> Self {
        self.sampling = sampling;
        self
    }

    /// States that one action may take to compose, in the grammar of CWM.
    #[must_use]
    pub fn budget(mut self, states: usize) -> Self {
        self.states = states;
        self
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }

    fn opened(&self, direction: Direction) -> Result<&Opened, Unavailable> {
        let (opened, missing) = match direction {
            Direction::Forward => (&self.forward, "the run's beginning is not given"),
            Direction::Inverse => (&self.inverse, "the run's end is not given"),
        };
        opened.as_ref().ok_or_else(|| unknown(missing))
    }

    fn begin(&self, start: &Start, direction: Direction) -> Result<Stopped<Position>, Unavailable> {
        let position = match self.model.dialect() {
            Dialect::Nd => nd::begin(self, start, direction)?,
            _ => cwm::begin(self, start, direction)?,
        };
        Ok(Stopped {
            position,
            state: start.state.clone(),
            calling: false,
            // It is what was asked about.
            trust: Trust {
                provenance: Provenance::Predicted,
                confidence: 1.0,
            },
        })
    }

    fn go(
        &self,
        code: &Code,
        position: &Position,
        action: &Action,
    ) -> Result<Arrival<Position>, Unavailable> {
        match self.model.dialect() {
            Dialect::Nd => nd::step(self, code, position, action),
            _ => cwm::step(self, code, position, action),
        }
    }

    /// Natural logarithm of the probability that `action` leads from a position to a state. `calling`
    /// says that it is the duplicate of an event that called.
    ///
    /// A state may be printed whole or as what changed, and which one depends on levels, which a state
    /// does not have. So this is the logarithm of the sum over both.
    ///
    /// # Errors
    /// What keeps the model from answering, and for the grammar of CWM always.
    pub fn score(
        &self,
        position: &Position,
        action: &Action,
        next: &State,
        calling: bool,
    ) -> Result<f64, Unavailable> {
        let opened = self.opened(position.direction)?;
        self.score_in(&opened.code, position, action, next, calling)
    }

    fn score_in(
        &self,
        code: &Code,
        position: &Position,
        action: &Action,
        next: &State,
        calling: bool,
    ) -> Result<f64, Unavailable> {
        if self.model.dialect() != Dialect::Nd {
            return Err(unknown(
                "only the grammar `nd` scores what an action leads to",
            ));
        }
        nd::score(self, code, position, action, next, calling)
    }

    /// Asks the model; an answer that does not end is none.
    fn ask(&self, prompt: &[u32], stop: &[u32], mask: &dyn Mask) -> Result<Generated, Unavailable> {
        let room = self.model.context().saturating_sub(prompt.len());
        if room == 0 {
            return Err(unknown("the trajectory is longer than the model reads"));
        }
        let request = Request {
            prompt,
            sampling: self.sampling,
            stop,
            max_tokens: room,
            mask: Some(mask),
        };
        let answers = self
            .model
            .generate(&request)
            .map_err(|error| failed(&error))?;
        let answer = answers
            .into_iter()
            .next()
            .ok_or_else(|| unknown("no answer"))?;
        if answer.stopped {
            Ok(answer)
        } else {
            Err(unknown("the model's answer does not end"))
        }
    }
}

impl<M: LanguageModel> Debugger for TrajectoryModel<M> {
    type Position = Position;

    fn name(&self) -> &str {
        self.model.name()
    }

    fn entry(&self, direction: Direction) -> Result<Stopped<Position>, Unavailable> {
        self.begin(&self.opened(direction)?.start, direction)
    }

    fn step(&self, position: &Position, action: &Action) -> Result<Arrival<Position>, Unavailable> {
        self.go(&self.opened(position.direction)?.code, position, action)
    }
}

/// Questions about one step: the state is where a trajectory begins.
impl<M: LanguageModel> Simulator for TrajectoryModel<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn predict(
        &self,
        source: &str,
        state: &State,
        action: &Action,
    ) -> Result<Prediction, Unavailable> {
        let (code, position) = self.alone(source, state, action)?;
        match self.go(&code, &position, action)? {
            Arrival::Stopped(stopped) => Ok(Prediction {
                state: stopped.state,
                provenance: stopped.trust.provenance,
                confidence: stopped.trust.confidence,
            }),
            Arrival::Exited { .. } | Arrival::RecordingEnds => {
                Err(unknown("the action leads to no state but out of the scope"))
            }
        }
    }

    fn score(
        &self,
        source: &str,
        state: &State,
        action: &Action,
        next: &State,
    ) -> Result<f64, Unavailable> {
        let (code, position) = self.alone(source, state, action)?;
        self.score_in(&code, &position, action, next, false)
    }
}

impl<M: LanguageModel> TrajectoryModel<M> {
    fn alone(
        &self,
        source: &str,
        state: &State,
        action: &Action,
    ) -> Result<(Code, Position), Unavailable> {
        let direction = if nd::is_inverse(action) {
            Direction::Inverse
        } else {
            Direction::Forward
        };
        let start = Start {
            code: whole_lines(source),
            state: state.clone(),
        };
        let code = Code::new(&self.model, &self.tokens, &start.code)?;
        Ok((code, self.begin(&start, direction)?.position))
    }
}

fn unknown(problem: &str) -> Unavailable {
    Unavailable::Unknown(problem.to_owned())
}

fn failed(error: &ModelError) -> Unavailable {
    Unavailable::Unknown(error.to_string())
}

/// How sure an answer is, from the logarithm of its probability.
fn predicted(logprob: f64) -> Trust {
    Trust {
        provenance: Provenance::Predicted,
        confidence: logprob.exp().clamp(0.0, 1.0),
    }
}

/// The texts of a state's locals, or its one value.
fn value_of(state: &State) -> &str {
    state.locals.first().map_or("", |(_, value)| value)
}

fn has_value(event: EventKind) -> bool {
    matches!(event, EventKind::Return | EventKind::Exception)
}

fn check_breakpoint(code: &Code, source: &str) -> Result<(), Unavailable> {
    if source.trim().is_empty() {
        return Err(crate::transition::Inapplicable::BlankBreakpoint.into());
    }
    if code.has_line(source) {
        Ok(())
    } else {
        Err(unknown("a breakpoint is at a line of the code"))
    }
}
