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

pub mod exact;
mod places;

use std::collections::{HashMap, HashSet, VecDeque};

use ruff_python_ast::{BoolOp, Expr, ExprCall, ExprSubscript, Stmt, UnaryOp};

use self::places::Places;
use crate::grammar::step::{Effect, Operation};
use crate::harness::Program;
use crate::harness::backwards::Inverse;
use crate::literal::{self, Literal};
use crate::recording::{ActivationId, EventId, FileId, Recording};
use crate::state::EventKind;

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

    /// What an assertion was about, and what that should have been.
    fn asserted(
        &self,
        event: EventId,
        left: Option<&Literal>,
        right: Option<&Literal>,
    ) -> Option<(&'a Expr, Literal)> {
        let sides = |a: &'a Expr, b: &'a Expr| {
            // What is written down is what was expected.
            if places::constant(a).is_some() {
                Some((b, left?.clone()))
            } else {
                Some((a, right?.clone()))
            }
        };
        match self.statement(event)? {
            Stmt::Assert(held) => match &*held.test {
                Expr::Compare(comparison) => {
                    let ([operator], [right]) = (&*comparison.ops, &*comparison.comparators) else {
                        return None;
                    };
                    match operator.as_str() {
                        "==" | "is" => sides(&comparison.left, right),
                        _ => Some((&held.test, Literal::Bool(true))),
                    }
                }
                Expr::UnaryOp(operation) if operation.op == UnaryOp::Not => {
                    Some((&operation.operand, Literal::Bool(false)))
                }
                other => Some((other, Literal::Bool(true))),
            },
            Stmt::Expr(inner) => {
                let Expr::Call(call) = &*inner.value else {
                    return None;
                };
                let [a, b, ..] = &*call.arguments.args else {
                    return None;
                };
                let name = places::callee(call)?;
                name.starts_with("assert").then(|| sides(a, b)).flatten()
            }
            _ => None,
        }
    }

    /// An attribute should have held something else: so should what was assigned to it last. Which object's it
    /// was is not looked at.
    fn attribute(&mut self, name: &str, at: EventId, belief: &Belief) -> bool {
        let recording = self.recording();
        let mut earlier = at.0;
        while earlier > 0 {
            earlier -= 1;
            let event = EventId(earlier);
            if recording.kind(event) != EventKind::Line {
                continue;
            }
            let Some(statement) = self.statement(event) else {
                continue;
            };
            let Some((target, value)) = places::assigned_attribute(statement) else {
                continue;
            };
            if target != name {
                continue;
            }
            let belief = belief.with(belief.needed.clone(), SOME_OBJECT, false);
            let recorded = self
                .known(value, event)
                .map_or_else(|| "?".to_owned(), |held| held.to_string());
            let part = Part::Variable(format!(".{name}"));
            if let Some(number) = self.point(event, part, recorded, &belief) {
                let plain = !matches!(statement, Stmt::AugAssign(_));
                let further = plain && self.wanted(value, event, &belief);
                self.points[number].is_leaf = !further;
                self.branch(event, &belief);
            }
            return true;
        }
        false
    }

    /// A call should have returned something else.
    fn returned(&mut self, activation: ActivationId, belief: &Belief) -> bool {
        let recording = self.recording();
        let last = recording.activation(activation).last;
        let event = recording.event(last);
        let Some(value) = event.value else {
            return false;
        };
        if event.kind != EventKind::Return || recording.is_lossy(value) {
            return false;
        }
        let recorded = recording.text(value).to_owned();
        if literal::parse(&recorded).is_ok_and(|held| held.equals(&belief.needed)) {
            return false;
        }
        let Some(before) = recording.previous_in_activation(last) else {
            return false;
        };
        if !self.ground.programs.contains_key(&self.file(before)) {
            return false;
        }
        let Some(number) = self.point(before, Part::Returned, recorded, belief) else {
            return false;
        };
        let mut further = false;
        if let Some(Stmt::Return(inner)) = self.statement(before)
            && let Some(value) = &inner.value
        {
            further = self.wanted(value, before, belief);
        }
        self.branch(before, belief);
        self.points[number].is_leaf = !further;
        true
    }

    /// The condition that let a statement run might have been the other way round.
    fn branch(&mut self, at: EventId, belief: &Belief) {
        let recording = self.recording();
        let Some(places) = self.places.get(&self.file(at)) else {
            return;
        };
        let Some((condition, line, taken)) = places.condition_above(recording.event(at).line)
        else {
            return;
        };
        let mut earlier = recording.previous_in_activation(at);
        while let Some(event) = earlier {
            if recording.event(event).line == line && recording.kind(event) == EventKind::Line {
                break;
            }
            earlier = recording.previous_in_activation(event);
        }
        let Some(event) = earlier else { return };
        let flipped = belief.with(Literal::Bool(!taken), BRANCH, belief.predicted);
        let recorded = if taken { "True" } else { "False" };
        if let Some(number) = self.point(event, Part::Branch, recorded.into(), &flipped) {
            let further = self.wanted(condition, event, &flipped);
            self.points[number].is_leaf = !further;
        }
    }

    /// The last event up to `at` before which a name was bound or changed.
    fn binding(&self, at: EventId, name: &str) -> Option<EventId> {
        let recording = self.recording();
        let is_it = |event: &EventId| {
            let mut changes = recording.event(*event).changes.iter();
            changes.any(|change| recording.text(change.name) == name)
        };
        std::iter::successors(Some(at), |&event| recording.previous_in_activation(event))
            .find(is_it)
    }

    /// Whether a loop bound the name: what it walks through is what it was given.
    fn is_given(&self, at: EventId, name: &str) -> bool {
        let before = self
            .binding(at, name)
            .and_then(|after| self.recording().previous_in_activation(after));
        before.is_some_and(|before| matches!(self.statement(before), Some(Stmt::For(_))))
    }

    /// A name should have held something else.
    fn name(&mut self, want: &Want) {
        let recording = self.recording();
        let Some(after) = self.binding(want.at, &want.name) else {
            return;
        };
        let recorded = self.held(after, &want.name).map(|held| held.to_string());
        let Some(recorded) = recorded else { return };
        let Some(before) = recording.previous_in_activation(after) else {
            self.argument(after, want, recorded);
            return;
        };
        if recording.kind(before) == EventKind::Call {
            // Bound together with the arguments.
            self.argument(before, want, recorded);
            return;
        }
        let part = Part::Variable(want.name.clone());
        let bound = match self.statement(before) {
            Some(statement) => self.bound(statement, before, want),
            None => Bound::Here(false),
        };
        match bound {
            Bound::Earlier => {
                self.want(&want.name, before, want.belief.clone());
            }
            Bound::Here(further) => {
                if let Some(number) = self.point(before, part, recorded, &want.belief) {
                    self.points[number].is_leaf = !further;
                    self.branch(before, &want.belief);
                }
            }
        }
    }

    /// An argument should have been something else: so should what the caller gave.
    fn argument(&mut self, first: EventId, want: &Want, recorded: String) {
        let recording = self.recording();
        let part = Part::Argument(want.name.clone());
        let Some(number) = self.point(first, part, recorded, &want.belief) else {
            return;
        };
        let event = recording.event(first);
        let activation = recording.activation(event.activation);
        let Some(caller) = activation.parent_event else {
            return;
        };
        let function = recording.function(event.activation).to_owned();
        let (Some(statement), Some(places)) =
            (self.statement(caller), self.places.get(&self.file(first)))
        else {
            return;
        };
        let position = places.position_of(event.line, &want.name);
        let Some(call) = places::call_in(statement, &function) else {
            return;
        };
        if let Some(given) = places::argument_of(call, &want.name, position) {
            let further = self.wanted(given, caller, &want.belief);
            self.points[number].is_leaf = !further;
        }
    }

    /// A statement should have left a name with something else.
    fn bound(&mut self, statement: &'a Stmt, at: EventId, want: &Want) -> Bound {
        match statement {
            Stmt::Assign(assign) => {
                let mut bound = Bound::Here(false);
                for target in &assign.targets {
                    bound = bound.or(self.assigned(target, &assign.value, at, want));
                }
                bound
            }
            Stmt::AnnAssign(assign) => match &assign.value {
                Some(value) => self.assigned(&assign.target, value, at, want),
                None => Bound::Here(false),
            },
            Stmt::AugAssign(assign) => {
                if assign.op == ruff_python_ast::Operator::Add
                    && let Some(bound) = self.extended(at, want)
                {
                    return bound;
                }
                let text = format!("v0 {} v1", assign.op.as_str());
                let slots = [&*assign.target, &*assign.value];
                Bound::Here(self.operation(&text, &slots, at, &want.belief))
            }
            Stmt::Expr(inner) => match &*inner.value {
                Expr::Call(call) if self.passed(call, at, want) => Bound::Here(true),
                Expr::Call(call) => self.changed(call, at, want),
                _ => Bound::Here(false),
            },
            _ => Bound::Here(false),
        }
    }

    /// A function that was given an object and changed it: there it should have become something else.
    fn passed(&mut self, call: &'a ExprCall, at: EventId, want: &Want) -> bool {
        let Some(activation) = self.called(call, at) else {
            return false;
        };
        let recording = self.recording();
        let (first, last) = {
            let activation = recording.activation(activation);
            (activation.first, activation.last)
        };
        let Some(places) = self.places.get(&self.file(first)) else {
            return false;
        };
        let is_it =
            |given: &Expr| matches!(given, Expr::Name(name) if name.id.as_str() == want.name);
        let position = call.arguments.args.iter().position(is_it);
        let keyword = call
            .arguments
            .keywords
            .iter()
            .find(|keyword| is_it(&keyword.value))
            .and_then(|keyword| keyword.arg.as_ref());
        let parameter = match (position, keyword) {
            (Some(position), _) => places.parameter_at(recording.event(first).line, position),
            (None, Some(keyword)) => Some(keyword.as_str()),
            (None, None) => None,
        };
        let Some(parameter) = parameter.map(str::to_owned) else {
            return false;
        };
        let before = recording.previous_in_activation(last).unwrap_or(last);
        self.want(&parameter, last, want.belief.clone())
            || self.want(&parameter, before, want.belief.clone())
    }

    /// `text += more`, built up piece by piece: see [`Walk::changed`].
    fn extended(&self, at: EventId, want: &Want) -> Option<Bound> {
        match (self.held(at, &want.name)?, &want.belief.needed) {
            (Literal::Str(before), Literal::Str(needed)) => Some(if needed.starts_with(&before) {
                Bound::Here(false)
            } else {
                Bound::Earlier
            }),
            _ => None,
        }
    }

    fn assigned(&mut self, target: &'a Expr, value: &'a Expr, at: EventId, want: &Want) -> Bound {
        match target {
            Expr::Name(name) if name.id.as_str() == want.name => {
                Bound::Here(self.wanted(value, at, &want.belief))
            }
            Expr::Tuple(targets) => {
                let Expr::Tuple(values) = value else {
                    return Bound::Here(false);
                };
                let place = targets.elts.iter().position(
                    |target| matches!(target, Expr::Name(name) if name.id.as_str() == want.name),
                );
                match place.and_then(|place| values.elts.get(place)) {
                    Some(value) => Bound::Here(self.wanted(value, at, &want.belief)),
                    None => Bound::Here(false),
                }
            }
            Expr::Subscript(subscript) => {
                let Expr::Name(name) = &*subscript.value else {
                    return Bound::Here(false);
                };
                if name.id.as_str() != want.name {
                    return Bound::Here(false);
                }
                match self.known(&subscript.slice, at) {
                    Some(key) => self.item_assigned(value, &key, at, want),
                    None => Bound::Here(false),
                }
            }
            _ => Bound::Here(false),
        }
    }

    /// `name[key] = value`: the last assignment to an item that is not as needed is where it goes wrong.
    fn item_assigned(&mut self, value: &'a Expr, key: &Literal, at: EventId, want: &Want) -> Bound {
        let Some(item) = want.belief.needed.item(key) else {
            return Bound::Here(false);
        };
        if self.known(value, at).is_some_and(|held| same(&held, &item)) {
            return Bound::Earlier;
        }
        Bound::Here(self.wanted(value, at, &want.belief.with(item, 1.0, false)))
    }

    /// A method that changes its object: `xs.append(x)`. What is built up goes wrong where it is first no
    /// beginning of what was needed; what is appended later only follows.
    fn changed(&mut self, call: &'a ExprCall, at: EventId, want: &Want) -> Bound {
        let Expr::Attribute(method) = &*call.func else {
            return Bound::Here(false);
        };
        let (Expr::Name(name), [argument]) = (&*method.value, &*call.arguments.args) else {
            return Bound::Here(false);
        };
        if name.id.as_str() != want.name || method.attr.as_str() != "append" {
            return Bound::Here(false);
        }
        let (Some(Literal::List(before)), Literal::List(needed)) =
            (self.held(at, &want.name), &want.belief.needed)
        else {
            return Bound::Here(false);
        };
        let is_beginning = before.len() <= needed.len()
            && before
                .iter()
                .zip(needed)
                .all(|(held, needed)| held.equals(needed));
        if !is_beginning {
            return Bound::Earlier;
        }
        match needed.get(before.len()) {
            Some(item) => {
                let belief = want.belief.with(item.clone(), 1.0, false);
                Bound::Here(self.wanted(argument, at, &belief))
            }
            // It should not have run.
            None => Bound::Here(false),
        }
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

    /// An expression should have had another value at a state. Whether that leads further back.
    fn wanted(&mut self, expression: &'a Expr, at: EventId, belief: &Belief) -> bool {
        if belief.confidence < LEAST {
            return false;
        }
        match expression {
            Expr::Name(name) => self.want(name.id.as_str(), at, belief.clone()),
            Expr::List(list) => self.displayed(&list.elts, at, belief),
            Expr::Tuple(tuple) => self.displayed(&tuple.elts, at, belief),
            Expr::If(choice) => match self.known(&choice.test, at) {
                Some(test) if test.is_true() => self.wanted(&choice.body, at, belief),
                Some(_) => self.wanted(&choice.orelse, at, belief),
                None => false,
            },
            Expr::BoolOp(operation) => {
                // One operand alone is to blame: the others are as they were.
                let truth = belief.needed.is_true();
                let blamed: Vec<&Expr> = operation
                    .values
                    .iter()
                    .filter(|one| {
                        let held = self.known(one, at).map(|held| held.is_true());
                        match (operation.op, truth) {
                            (BoolOp::And, true) => held == Some(false),
                            (BoolOp::Or, false) => held == Some(true),
                            _ => true,
                        }
                    })
                    .collect();
                let share = 1.0 / blamed.len().max(1) as f64;
                let belief = belief.with(Literal::Bool(truth), share, false);
                let mut further = false;
                for one in blamed {
                    further |= self.wanted(one, at, &belief);
                }
                further
            }
            Expr::UnaryOp(operation) => match operation.op {
                UnaryOp::Not => {
                    let flipped = Literal::Bool(!belief.needed.is_true());
                    self.wanted(&operation.operand, at, &belief.with(flipped, 1.0, false))
                }
                UnaryOp::USub => self.operation("-v0", &[&operation.operand], at, belief),
                UnaryOp::UAdd => self.operation("+v0", &[&operation.operand], at, belief),
                UnaryOp::Invert => self.operation("~v0", &[&operation.operand], at, belief),
            },
            Expr::BinOp(operation) => {
                let text = format!("v0 {} v1", operation.op.as_str());
                self.operation(&text, &[&operation.left, &operation.right], at, belief)
            }
            Expr::Compare(comparison) => {
                let ([operator], [right]) = (&*comparison.ops, &*comparison.comparators) else {
                    return false;
                };
                let text = format!("v0 {} v1", operator.as_str());
                self.operation(&text, &[&comparison.left, right], at, belief)
            }
            Expr::Subscript(subscript) if !subscript.slice.is_slice_expr() => {
                self.operation("v0[v1]", &[&subscript.value, &subscript.slice], at, belief)
            }
            Expr::Call(call) => self.call(call, at, belief),
            Expr::Attribute(attribute) => self.attribute(attribute.attr.as_str(), at, belief),
            Expr::Subscript(subscript) => self.sliced(subscript, at, belief),
            _ => false,
        }
    }

    /// `xs[:n]`: the beginning should have been another one, the rest is as it was.
    fn sliced(&mut self, subscript: &'a ExprSubscript, at: EventId, belief: &Belief) -> bool {
        let Expr::Slice(slice) = &*subscript.slice else {
            return false;
        };
        let (None, None, Some(upper)) = (&slice.lower, &slice.step, &slice.upper) else {
            return false;
        };
        let (Some(whole), Some(Literal::Int(end))) =
            (self.known(&subscript.value, at), self.known(upper, at))
        else {
            return false;
        };
        let Some(end) = usize::try_from(&end).ok() else {
            return false;
        };
        let needed = match (whole, &belief.needed) {
            (Literal::List(whole), Literal::List(needed)) => {
                let rest = whole.iter().skip(end).cloned();
                Literal::List(needed.iter().cloned().chain(rest).collect())
            }
            _ => return false,
        };
        self.wanted(&subscript.value, at, &belief.with(needed, 1.0, false))
    }

    fn displayed(&mut self, elements: &'a [Expr], at: EventId, belief: &Belief) -> bool {
        let (Literal::List(items) | Literal::Tuple(items)) = &belief.needed else {
            return false;
        };
        if items.len() != elements.len() {
            return false;
        }
        let items = items.clone();
        let mut further = false;
        for (element, item) in elements.iter().zip(items) {
            further |= self.wanted(element, at, &belief.with(item, 1.0, false));
        }
        further
    }

    fn call(&mut self, call: &'a ExprCall, at: EventId, belief: &Belief) -> bool {
        if let Some(activation) = self.called(call, at) {
            return self.returned(activation, belief);
        }
        let (name, mut slots) = match &*call.func {
            Expr::Name(name) if crate::harness::expression::is_builtin(name.id.as_str()) => {
                (name.id.to_string(), Vec::new())
            }
            Expr::Attribute(method) => (format!("v0.{}", method.attr), vec![&*method.value]),
            _ => return false,
        };
        if !call.arguments.keywords.is_empty() {
            return false;
        }
        let mut parts = Vec::new();
        for argument in &call.arguments.args {
            if argument.is_starred_expr() || argument.is_lambda_expr() {
                return false;
            }
            parts.push(format!("v{}", slots.len()));
            slots.push(argument);
        }
        self.operation(&format!("{name}({})", parts.join(", ")), &slots, at, belief)
    }

    /// Undoes an operation for each of its slots, the others being as they were.
    fn operation(&mut self, text: &str, slots: &[&'a Expr], at: EventId, belief: &Belief) -> bool {
        let known: Vec<Option<Literal>> = slots.iter().map(|slot| self.known(slot, at)).collect();
        let mut found = Vec::new();
        for hole in 0..slots.len() {
            if places::constant(slots[hole]).is_some() {
                continue;
            }
            let others = known
                .iter()
                .enumerate()
                .all(|(at, held)| at == hole || held.is_some());
            if !others {
                continue;
            }
            let operands: Vec<&Literal> = known
                .iter()
                .enumerate()
                .map(|(at, held)| {
                    held.as_ref()
                        .filter(|_| at != hole)
                        .unwrap_or(&Literal::None)
                })
                .collect();
            let was = known[hole].as_ref();
            match exact::invert(text, &operands, &belief.needed, hole, was) {
                exact::Inverted::Value(value) => found.push((hole, value, false)),
                exact::Inverted::Nothing => {}
                exact::Inverted::Unknown => {
                    if let Some(value) = self.asked(text, &operands, &belief.needed, hole) {
                        found.push((hole, value, true));
                    }
                }
            }
        }
        // A number in place of a truth, or text in place of a list, is hardly what was meant.
        let fits = |hole: usize, value: &Literal| {
            let was = known[hole].as_ref();
            was.is_none_or(|was| was.type_name() == value.type_name() || are_numbers(was, value))
        };
        if found.iter().any(|(hole, value, _)| fits(*hole, value)) {
            found.retain(|(hole, value, _)| fits(*hole, value));
        }
        let share = 1.0 / found.len().max(1) as f64;
        let mut further = false;
        for (hole, value, asked) in found {
            if known[hole].as_ref().is_some_and(|held| same(held, &value)) {
                continue;
            }
            let share = if asked { share * ASKED } else { share };
            further |= self.wanted(slots[hole], at, &belief.with(value, share, asked));
        }
        further
    }

    fn asked(
        &self,
        text: &str,
        operands: &[&Literal],
        needed: &Literal,
        hole: usize,
    ) -> Option<Literal> {
        let operation = Operation {
            expression: text.to_owned(),
            operands: operands.iter().map(ToString::to_string).collect(),
        };
        let effect = Effect::Gives {
            result: needed.to_string(),
            after: None,
        };
        let said = self.ground.inverse?.invert(&operation, &effect, hole)?;
        literal::parse(&said).ok()
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
