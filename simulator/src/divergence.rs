//! Where what happened and what was needed part.
//!
//! A failing test says what a function should have returned, or which exception should not have been raised. From
//! there the walk goes backwards through the recorded frames: which value of each name, branch or call would have
//! led to what was needed, all else as it was recorded? Every step is a [`Point`]: a statement, what it did, what it
//! would have had to do. A point from which nothing leads further back is where a repair has to be made, if the
//! mistake is one mistake and on this way.
//!
//! An operation is undone by rules where they give one answer ([`exact`]), else by whoever is asked
//! ([`Inverse`]); a point that rests on such an answer is *predicted*. Where neither says anything, the walk goes on
//! as a dynamic slice: another value was needed, whichever.
//!
//! Belief flows: each statement keeps a share for itself, by how much it decides ([`blame`]), and hands the rest to
//! what it rests on. No point is more than a hypothesis until the test was run with its needed value put in.

mod arguments;
mod assertion;
mod attributes;
mod belief;
mod blame;
mod branches;
pub mod exact;
mod expressions;
mod globals;
mod known;
mod names;
mod objects;
mod places;
mod raised;
mod slice;
mod sources;
mod statements;
mod syntax;
mod writes;

use std::cell::{Cell, OnceCell};
use std::collections::{BinaryHeap, HashMap, HashSet};

use ruff_python_ast::Stmt;

use self::belief::{Belief, Want};
use self::places::Places;
use self::writes::Writes;
use crate::harness::Program;
use crate::harness::backwards::Inverse;
use crate::literal::Literal;
use crate::recording::{ActivationId, EventId, FileId, Recording};
use crate::state::EventKind;

/// Points found at most.
const POINTS: usize = 300;
/// Names looked after at most.
const STEPS: usize = 3000;
/// Events looked at, at most: what keeps the walk short on a long recording.
const FUEL: u64 = 20_000_000;
/// How unlikely a hypothesis may become.
const LEAST: f64 = 1e-3;
/// What the conditions above a statement are worth against what it rests on.
const BRANCH: f64 = 0.26;
/// What they are worth in a test, which is right.
const BRANCH_OF_TEST: f64 = 0.1;
/// What the conditions above a statement are worth that raised.
const RAISED: f64 = 0.7;
/// What a statement takes of the rest when nothing more is known of where that comes from.
const UNKNOWN_END: f64 = 0.3;
/// What a statement takes of the rest that returns a constant below a condition.
const FIXED_END: f64 = 0.1;
/// The least belief in what is out of order whatever was needed: a default that an earlier call changed, an iterator
/// that was gone through before.
const EVIDENCE: f64 = 0.5;
/// What an answer that was asked for is worth against one by rule.
const ASKED: f64 = 0.6;
/// So many more wrong answers than good ones, and nobody is asked any more.
const DISTRUST: u32 = 4;
/// What a statement met again is worth against the first time: its share was given already.
const AGAIN: f64 = 0.15;

/// What a point needs, where nothing more is known.
pub const ANOTHER: &str = "another value";

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
    /// An exception that the statement raised.
    Raised,
}

/// A statement whose effect would have had to be another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// State before the statement; none for what ran before the recording: class bodies and modules.
    pub event: Option<EventId>,
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
    /// What was needed; [`ANOTHER`] where that is not known.
    pub needed: String,
    /// Whether the needed value is known.
    pub needed_known: bool,
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
    /// Files that are right, whatever they do: tests. They are walked through and get no points.
    pub trusted: &'a HashSet<FileId>,
    /// Who is asked what rules do not say.
    pub inverse: Option<&'a dyn Inverse>,
}

/// The points behind the return of `activation`, which should have been `needed`; the first is the return
/// itself.
pub fn points(ground: &Ground<'_>, activation: ActivationId, needed: &Literal) -> Vec<Point> {
    walked(ground, |walk| {
        walk.returned(activation, &Belief::of(needed.clone()));
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
    walked(ground, |walk| walk.asserted(event, left, right))
}

/// The points behind the last exception of type `exception` among the events from `start` up to `end`.
pub fn points_of_exception(
    ground: &Ground<'_>,
    (start, end): (u32, u32),
    exception: &str,
) -> Vec<Point> {
    walked(ground, |walk| walk.raised(start, end, exception))
}

/// The points behind an exception of type `exception` that was expected of the block below the `with` at `event`,
/// or of the call there, and never raised.
pub fn points_of_nothing_raised(
    ground: &Ground<'_>,
    event: EventId,
    exception: Option<&str>,
) -> Vec<Point> {
    walked(ground, |walk| walk.not_raised(event, exception))
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
        writes: OnceCell::new(),
        fuel: Cell::new(FUEL),
        answers: Cell::new((0, 0)),
        todo: BinaryHeap::new(),
        seen: HashSet::new(),
        met: HashSet::new(),
        told: HashSet::new(),
        points: Vec::new(),
    };
    begin(&mut walk);
    for _ in 0..STEPS {
        let Some(want) = walk.todo.pop() else { break };
        if walk.points.len() >= POINTS {
            break;
        }
        walk.name(&want);
    }
    let trusted = |point: &Point| ground.trusted.contains(&point.file);
    walk.points.retain(|point| !trusted(point));
    walk.points
}

struct Walk<'a> {
    ground: &'a Ground<'a>,
    places: HashMap<FileId, Places<'a>>,
    /// Who writes which attribute; looked up once, when it is first needed.
    writes: OnceCell<Writes>,
    fuel: Cell<u64>,
    /// Answers that were asked for: good ones, and wrong ones or none.
    answers: Cell<(u32, u32)>,
    /// The likeliest first.
    todo: BinaryHeap<Want>,
    seen: HashSet<(EventId, String, String)>,
    /// Statements that have a point.
    met: HashSet<(FileId, u32)>,
    /// Statements that are out of order by themselves.
    told: HashSet<(FileId, u32)>,
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

    /// Whether the statement at a state returns a constant.
    fn is_fixed(&self, at: EventId) -> bool {
        match self.statement(at) {
            Some(Stmt::Return(inner)) => {
                let value = inner.value.as_deref();
                value.is_none_or(|value| syntax::constant(value).is_some())
            }
            _ => false,
        }
    }

    /// Pays for looking at one event; false when all is spent.
    fn pay(&self) -> bool {
        let left = self.fuel.get();
        self.fuel.set(left.saturating_sub(1));
        left > 0
    }

    /// Adds a point for the statement at `at` and hands its belief on: `onward` to what the statement's effect rests
    /// on, the rest to the conditions above it. `blame` is what the statement keeps. False when it was added before
    /// or is too unlikely.
    #[allow(clippy::needless_pass_by_value)] // A part is made for its point.
    fn point(
        &mut self,
        at: EventId,
        part: Part,
        recorded: String,
        belief: &Belief,
        blame: f64,
        onward: impl FnOnce(&mut Self, &Belief) -> bool,
    ) -> bool {
        let Some(number) = self.add(at, &part, recorded, belief) else {
            return false;
        };
        let event = self.recording().event(at);
        let is_first = self.met.insert((self.file(at), event.line));
        let is_trusted = self.ground.trusted.contains(&self.file(at));
        let kept = match (is_trusted, is_first) {
            (true, _) => 0.0,
            (false, true) => blame,
            (false, false) => blame * AGAIN,
        };
        let branches = self.branches_of(at, &part, belief);
        let share = match (&part, is_trusted) {
            // What is raised is decided above.
            (Part::Raised, _) => RAISED,
            (_, true) => BRANCH_OF_TEST,
            (_, false) => BRANCH,
        };
        let above = match (branches.is_empty(), is_first) {
            (true, _) => 0.0,
            (false, true) => share,
            (false, false) => share * AGAIN,
        };
        let on = (1.0 - kept) * (1.0 - above);
        let mut above = (1.0 - kept) * above;
        let further = onward(self, &belief.share(on));
        let mut own = kept;
        if !further && !is_trusted {
            // No other value leads there: the statement is wrong, or should not have run.
            let half = match (branches.is_empty(), belief.needed.is_some()) {
                // A parameter only takes what it is given.
                _ if self.recording().kind(at) == EventKind::Call => 0.0,
                (true, true) => 1.0,
                // A constant is what it is because of the way that led there.
                _ if self.is_fixed(at) => FIXED_END,
                (_, true) => 0.5,
                (_, false) => UNKNOWN_END,
            };
            own += on * half;
            if !branches.is_empty() {
                above += on * (1.0 - half);
            }
        }
        self.points[number].is_leaf = !further;
        self.points[number].confidence = belief.confidence * own;
        self.branch(branches, &belief.share(above));
        true
    }

    /// Adds a point for something that is out of order by itself.
    #[allow(clippy::needless_pass_by_value)] // A part is made for its point.
    fn evident(&mut self, at: EventId, part: Part, recorded: String, belief: &Belief) {
        let mut belief = belief.clone();
        belief.confidence = belief.confidence.max(EVIDENCE);
        if self.ground.trusted.contains(&self.file(at))
            || !self
                .told
                .insert((self.file(at), self.recording().event(at).line))
        {
            return;
        }
        self.add(at, &part, recorded, &belief);
    }

    /// Adds a point that has its whole belief; none when it is known, or too unlikely.
    fn add(
        &mut self,
        at: EventId,
        part: &Part,
        recorded: String,
        belief: &Belief,
    ) -> Option<usize> {
        if belief.confidence < LEAST || self.points.len() >= POINTS {
            return None;
        }
        let needed = belief.needed_text();
        if !self.seen.insert((at, format!("{part:?}"), needed.clone())) {
            return None;
        }
        let event = self.recording().event(at);
        self.points.push(Point {
            event: Some(at),
            file: self.file(at),
            line: event.line,
            function: self.recording().function(event.activation).to_owned(),
            part: part.clone(),
            recorded,
            needed,
            needed_known: belief.needed.is_some(),
            confidence: belief.confidence,
            predicted: belief.predicted,
            is_leaf: true,
        });
        Some(self.points.len() - 1)
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
