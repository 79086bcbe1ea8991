//! Where what happened and what was needed part.
//!
//! A failing test says what a function should have returned. From there the walk goes backwards through the
//! recorded frame: which value of each name, branch or call would have led to what was needed, all else as
//! it was recorded? Every step is a [`Point`]: a statement, what it did, what it would have had to do. A
//! point from which nothing leads further back is where a repair has to be made, if the mistake is one
//! mistake and on this way.
//!
//! An operation is undone by rules where they give one answer ([`exact`]), else by whoever is asked
//! ([`Inverse`]); a point that rests on such an answer is *predicted*. No point is more than a
//! hypothesis until the test was run with its needed value put in.

mod assertion;
pub mod exact;
mod expressions;
mod names;
mod places;
mod statements;

use std::collections::{HashMap, HashSet, VecDeque};

use ruff_python_ast::{Expr, ExprCall, Stmt};

use self::places::Places;
use crate::harness::Program;
use crate::harness::backwards::Inverse;
use crate::literal::{self, Literal};
use crate::recording::{ActivationId, EventId, FileId, Recording};

/// Points found at most.
const POINTS: usize = 200;
/// How unlikely a hypothesis may become.
const LEAST: f64 = 1e-3;
/// What a wrong branch is worth against a wrong value.
const BRANCH: f64 = 0.35;
/// What an attribute is worth, whose object is not known.
const SOME_OBJECT: f64 = 0.7;
/// What an answer that was asked for is worth against one by rule.
const ASKED: f64 = 0.6;

/// What a point is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// The value of a `return`.
    Returned,
    /// A name that the statement binds or changes.
    Variable(String),
    /// An argument of the function, bound by its call.
    Argument(String),
    /// A condition.
    Branch,
}

/// A statement whose effect would have had to be another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// State before the statement.
    pub event: EventId,
    /// Its file.
    pub file: FileId,
    /// Its one-based line.
    pub line: u32,
    /// The function.
    pub function: String,
    /// What it is about.
    pub part: Part,
    /// What was recorded.
    pub recorded: String,
    /// What was needed.
    pub needed: String,
    /// 0 to 1: how much of the belief in all hypotheses is with this one.
    pub confidence: f64,
    /// Whether an answer on the way was predicted, and not given by a rule.
    pub predicted: bool,
    /// Whether nothing leads further back.
    pub is_leaf: bool,
}

/// A recording with the sources of its files.
pub struct Ground<'a> {
    /// The run.
    pub recording: &'a Recording,
    /// Sources that may be looked at; a file without one is not walked through.
    pub programs: &'a HashMap<FileId, Program>,
    /// Who is asked what rules do not say.
    pub inverse: Option<&'a dyn Inverse>,
}

/// The points behind the return of `activation`, which should have been `needed`; the first is the return
/// itself.
pub fn points(ground: &Ground<'_>, activation: ActivationId, needed: &Literal) -> Vec<Point> {
    let belief = Belief {
        needed: needed.clone(),
        confidence: 1.0,
        predicted: false,
    };
    walked(ground, |walk| {
        walk.returned(activation, &belief);
    })
}

/// The points behind a failed assertion: `assert a == b`, `assert a`, `assert not a` or `self.assertEqual(a, b)`,
/// which ran at the state `event`. `left` and `right` are what the two sides were, where they are known.
pub fn points_of_assertion(
    ground: &Ground<'_>,
    event: EventId,
    left: Option<&Literal>,
    right: Option<&Literal>,
) -> Vec<Point> {
    walked(ground, |walk| {
        if let Some((actual, needed)) = walk.asserted(event, left, right) {
            let belief = Belief {
                needed,
                confidence: 1.0,
                predicted: false,
            };
            walk.wanted(actual, event, &belief);
        }
    })
}

fn walked<'a>(ground: &'a Ground<'a>, begin: impl FnOnce(&mut Walk<'a>)) -> Vec<Point> {
    let places: HashMap<FileId, Places<'_>> = ground
        .programs
        .iter()
        .map(|(file, program)| (*file, Places::of(program)))
        .collect();
    let mut walk = Walk {
        ground,
        places,
        todo: VecDeque::new(),
        seen: HashSet::new(),
        points: Vec::new(),
    };
    begin(&mut walk);
    while let Some(want) = walk.todo.pop_front() {
        if walk.points.len() >= POINTS {
            break;
        }
        walk.name(&want);
    }
    walk.points
}

/// A needed value, and how sure that is.
#[derive(Debug, Clone)]
struct Belief {
    needed: Literal,
    confidence: f64,
    predicted: bool,
}

impl Belief {
    fn with(&self, needed: Literal, share: f64, predicted: bool) -> Self {
        Self {
            needed,
            confidence: self.confidence * share,
            predicted: self.predicted || predicted,
        }
    }
}

/// What a statement has to do with a name that should have held something else after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// It gave the wrong value; whether that leads further back.
    Here(bool),
    /// It only carried on what was wrong before.
    Earlier,
}

impl Bound {
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Here(false), other) => other,
            _ => self,
        }
    }
}

/// A name that should have held something else at a state.
#[derive(Debug, Clone)]
struct Want {
    name: String,
    /// The state.
    at: EventId,
    belief: Belief,
}

struct Walk<'a> {
    ground: &'a Ground<'a>,
    places: HashMap<FileId, Places<'a>>,
    todo: VecDeque<Want>,
    seen: HashSet<(EventId, String, String)>,
    points: Vec<Point>,
}

impl<'a> Walk<'a> {
    fn recording(&self) -> &'a Recording {
        self.ground.recording
    }

    fn file(&self, event: EventId) -> FileId {
        self.recording().code_of(event).file
    }

    fn statement(&self, event: EventId) -> Option<&'a Stmt> {
        let places = self.places.get(&self.file(event))?;
        places.statement(self.recording().event(event).line)
    }

    /// A recorded value of a name at a state.
    fn held(&self, at: EventId, name: &str) -> Option<Literal> {
        let recording = self.recording();
        let change = recording.locals(at).get(recording, name)?;
        let text = change.value?;
        if recording.is_lossy(text) {
            return None;
        }
        literal::parse(recording.text(text)).ok()
    }

    /// Adds a point; none when it is known, or too unlikely.
    fn point(
        &mut self,
        at: EventId,
        part: Part,
        recorded: String,
        belief: &Belief,
    ) -> Option<usize> {
        if belief.confidence < LEAST {
            return None;
        }
        let needed = belief.needed.to_string();
        if !self.seen.insert((at, format!("{part:?}"), needed.clone())) {
            return None;
        }
        let event = self.recording().event(at);
        self.points.push(Point {
            event: at,
            file: self.file(at),
            line: event.line,
            function: self.recording().function(event.activation).to_owned(),
            part,
            recorded,
            needed,
            confidence: belief.confidence,
            predicted: belief.predicted,
            is_leaf: true,
        });
        Some(self.points.len() - 1)
    }

    /// Remembers that a name should have held something else; false when it did hold that.
    fn want(&mut self, name: &str, at: EventId, belief: Belief) -> bool {
        match self.held(at, name) {
            Some(held) if !same(&held, &belief.needed) && !self.is_given(at, name) => {
                self.todo.push_back(Want {
                    name: name.to_owned(),
                    at,
                    belief,
                });
                true
            }
            _ => false,
        }
    }

    /// What an expression is at a state, as far as the recording and constants say.
    fn known(&self, expression: &Expr, at: EventId) -> Option<Literal> {
        match expression {
            Expr::Name(name) => self.held(at, name.id.as_str()),
            Expr::Subscript(subscript) => {
                let held = self.known(&subscript.value, at)?;
                held.item(&self.known(&subscript.slice, at)?)
            }
            Expr::Call(call) => self.called(call, at).and_then(|activation| {
                let recording = self.recording();
                let value = recording
                    .event(recording.activation(activation).last)
                    .value?;
                (!recording.is_lossy(value))
                    .then(|| literal::parse(recording.text(value)).ok())
                    .flatten()
            }),
            _ => places::constant(expression),
        }
    }

    /// The recorded call that a call expression made, when there is one alone.
    fn called(&self, call: &ExprCall, at: EventId) -> Option<ActivationId> {
        let name = places::callee(call)?;
        let recording = self.recording();
        let mut calls = recording.called_during(at).filter(|activation| {
            recording
                .function(*activation)
                .rsplit('.')
                .next()
                .is_some_and(|last| last == name)
        });
        let only = calls.next()?;
        calls.next().is_none().then_some(only)
    }
}

/// Whether both are numbers, and no truths.
fn are_numbers(a: &Literal, b: &Literal) -> bool {
    let is_number = |one: &Literal| matches!(one, Literal::Int(_) | Literal::Float(_));
    is_number(a) && is_number(b)
}

/// Whether two values are one, types included: a needed `1.0` is no `1`.
fn same(a: &Literal, b: &Literal) -> bool {
    a.type_name() == b.type_name() && a.equals(b)
}

#[cfg(test)]
mod tests;
