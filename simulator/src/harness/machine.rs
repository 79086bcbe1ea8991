//! A run: frames, events, and what stops it.

use std::collections::HashMap;

use ruff_python_ast::{Parameters, Stmt};

use super::heap::{Heap, canonical};
use super::names::{Names, names};
use super::object::{Kind, Object, Ref, ScopeId};
use super::program::Program;
use crate::grammar::step::{Effect, Operation};
use crate::literal::{self, Literal};
use crate::simulator::Unavailable;
use crate::state::EventKind;

/// Whoever knows what operations do: a model, or a real interpreter.
pub trait Operations {
    /// The effect of an operation and the natural logarithm of the probability that it is right.
    fn perform(&self, operation: &Operation) -> Result<Answer, Unavailable>;
}

impl<O: Operations + ?Sized> Operations for &O {
    fn perform(&self, operation: &Operation) -> Result<Answer, Unavailable> {
        (**self).perform(operation)
    }
}

impl<O: Operations + ?Sized> Operations for Box<O> {
    fn perform(&self, operation: &Operation) -> Result<Answer, Unavailable> {
        (**self).perform(operation)
    }
}

/// What an operation is said to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Its effect.
    pub effect: Effect,
    /// Natural logarithm of the probability that it is right: 0 for what is certain.
    pub log_probability: f64,
}

/// Where a run ends at the latest, and when an answer counts as unknown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Events.
    pub events: usize,
    /// Operations that are asked for.
    pub operations: usize,
    /// Calls within calls.
    pub depth: usize,
    /// Answers less probable than this, 0 to 1, are not believed.
    pub threshold: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            events: 10_000,
            operations: 5_000,
            depth: 100,
            threshold: 0.0,
        }
    }
}

/// A variable that is given a value by hand, as a debugger's `set x = 3` does.
#[derive(Debug, Clone, PartialEq)]
pub struct Override {
    /// Number of the state at which it happens.
    pub event: usize,
    /// Name in the running function.
    pub name: String,
    /// Its value from there on.
    pub value: Literal,
}

/// A state that was passed.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Kind.
    pub kind: EventKind,
    /// Number of the activation in the order of calls, from 0.
    pub activation: usize,
    /// The activation that called; none for the first.
    pub caller: Option<usize>,
    /// Function, with its class.
    pub function: String,
    /// Line about to run, the `def` for a call; from 1.
    pub line: u32,
    /// Locals as Python writes them, parameters first.
    pub locals: Vec<(String, String)>,
    /// What is returned or raised.
    pub value: Option<String>,
    /// Natural logarithm of the joint probability of all answers so far.
    pub log_probability: f64,
    /// How many operations were asked for so far.
    pub operations: usize,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// With a value, as Python writes it.
    Returned(String),
    /// With an exception: the name of its class and its text.
    Raised(String, String),
    /// Where nobody knows how to go on: why.
    Unknown(String),
    /// At a limit: which.
    Limit(&'static str),
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// States in order.
    pub events: Vec<Event>,
    /// Its end.
    pub ended: Ended,
    /// Joint log-probability.
    pub log_probability: f64,
}

/// Why an evaluation does not come to a value.
#[derive(Debug)]
pub(super) enum Interrupt {
    Raise(Ref),
    Unknown(String),
    Limit(&'static str),
}

pub(super) type Outcome<T> = Result<T, Interrupt>;

/// How a block of statements is left.
#[derive(Debug)]
pub(super) enum Leave {
    Falls,
    Breaks,
    Continues,
    Returns(Ref),
}

#[derive(Debug)]
pub(super) struct Scope<'p> {
    pub bindings: Vec<(&'p str, Option<Ref>)>,
    pub parent: Option<ScopeId>,
    /// A class body is not seen from the functions in it.
    pub class: bool,
    /// Names of the function; none for a comprehension, which binds only what it binds.
    pub names: Option<std::rc::Rc<Names<'p>>>,
}

#[derive(Debug)]
pub(super) struct Frame {
    pub scope: ScopeId,
    pub activation: usize,
    pub function: String,
    pub line: u32,
    /// Kind and line of its last state.
    pub last: Option<(EventKind, u32)>,
    /// Whether its states are shown: those of the module and of class bodies are not.
    pub shown: bool,
    /// The exception that a handler is dealing with.
    pub handling: Vec<Ref>,
    /// The exception whose passing was last noted.
    pub noted: Option<Ref>,
    /// The class that the running method was found in, and its receiver, for `super()`.
    pub method: Option<(Ref, Ref)>,
}

pub(super) struct Machine<'p, 'o, O: Operations> {
    pub program: &'p Program,
    pub operations: &'o O,
    pub limits: Limits,
    pub heap: Heap<'p>,
    pub scopes: Vec<Scope<'p>>,
    pub frames: Vec<Frame>,
    pub events: Vec<Event>,
    pub log_probability: f64,
    pub asked: usize,
    pub activations: usize,
    pub statements: usize,
    pub names: HashMap<usize, std::rc::Rc<Names<'p>>>,
    pub overrides: &'o [Override],
}

/// Runs the module and then the call.
pub fn run<O: Operations + Sync>(program: &Program, operations: &O, limits: Limits) -> Run {
    run_with(program, operations, limits, &[])
}

/// Runs the module and then the call, with variables set by hand on the way.
pub fn run_with<O: Operations + Sync>(
    program: &Program,
    operations: &O,
    limits: Limits,
    overrides: &[Override],
) -> Run {
    // Python's depth of calls is many times that of a Rust thread's usual stack.
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new()
            .stack_size(256 << 20)
            .spawn_scoped(scope, || {
                let mut machine = Machine::new(program, operations, limits);
                machine.overrides = overrides;
                machine.whole_run()
            });
        match worker.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(run)) => run,
            _ => Run {
                events: Vec::new(),
                ended: Ended::Unknown("the harness ran out of memory for calls".into()),
                log_probability: 0.0,
            },
        }
    })
}

impl<'p, 'o, O: Operations> Machine<'p, 'o, O> {
    fn new(program: &'p Program, operations: &'o O, limits: Limits) -> Self {
        Self {
            program,
            operations,
            limits,
            heap: Heap::default(),
            scopes: vec![Scope {
                bindings: Vec::new(),
                parent: None,
                class: false,
                names: None,
            }],
            frames: Vec::new(),
            events: Vec::new(),
            log_probability: 0.0,
            asked: 0,
            activations: 0,
            statements: 0,
            names: HashMap::new(),
            overrides: &[],
        }
    }

    fn whole_run(mut self) -> Run {
        self.frames.push(Frame {
            scope: ScopeId(0),
            activation: 0,
            function: "<module>".into(),
            line: 0,
            last: None,
            shown: false,
            handling: Vec::new(),
            noted: None,
            method: None,
        });
        let program = self.program;
        let result = self
            .block(program.body())
            .and_then(|_| self.expression(program.call()));
        let ended = match result {
            Ok(value) => match self.heap.get(value) {
                Object::Unknown(why) => Ended::Unknown(why.clone()),
                _ => Ended::Returned(self.text(value)),
            },
            Err(Interrupt::Raise(exception)) => {
                let (kind, message) = self.exception_text(exception);
                Ended::Raised(kind, message)
            }
            Err(Interrupt::Unknown(why)) => Ended::Unknown(why),
            Err(Interrupt::Limit(which)) => Ended::Limit(which),
        };
        Run {
            events: self.events,
            ended,
            log_probability: self.log_probability,
        }
    }

    pub(super) fn frame(&mut self) -> &mut Frame {
        // The module's frame is never popped.
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    pub(super) fn scope(&self) -> ScopeId {
        self.frames.last().map_or(ScopeId(0), |frame| frame.scope)
    }

    pub(super) fn new_scope(
        &mut self,
        parent: ScopeId,
        names: Option<std::rc::Rc<Names<'p>>>,
        class: bool,
    ) -> ScopeId {
        self.scopes.push(Scope {
            bindings: Vec::new(),
            parent: Some(parent),
            class,
            names,
        });
        ScopeId(self.scopes.len() as u32 - 1)
    }

    /// The names of a body, found once.
    pub(super) fn names_of(
        &mut self,
        parameters: Option<&'p Parameters>,
        body: &'p [Stmt],
    ) -> std::rc::Rc<Names<'p>> {
        let key = body.as_ptr() as usize;
        self.names
            .entry(key)
            .or_insert_with(|| std::rc::Rc::new(names(parameters, body)))
            .clone()
    }

    /// Notes a state of the running function.
    pub(super) fn event(&mut self, kind: EventKind, line: u32, value: Option<Ref>) -> Outcome<()> {
        let frame = self.frame();
        frame.line = line;
        frame.last = Some((kind, line));
        self.set_by_hand();
        let Some(frame) = self.frames.last().filter(|frame| frame.shown) else {
            return Ok(());
        };
        if self.events.len() >= self.limits.events {
            return Err(Interrupt::Limit("states"));
        }
        let caller = self
            .frames
            .iter()
            .rev()
            .skip(1)
            .find(|frame| frame.shown)
            .map(|frame| frame.activation);
        let event = Event {
            kind,
            activation: frame.activation,
            caller,
            function: frame.function.clone(),
            line,
            locals: self.locals_of(frame.scope),
            value: value.map(|value| self.text(value)),
            log_probability: self.log_probability,
            operations: self.asked,
        };
        self.events.push(event);
        Ok(())
    }

    /// Gives variables the values that they are to have from the next state on.
    fn set_by_hand(&mut self) {
        let (overrides, next) = (self.overrides, self.events.len());
        let scope = self.scope();
        let shown = self.frames.last().is_some_and(|frame| frame.shown);
        for change in overrides
            .iter()
            .filter(|change| shown && change.event == next)
        {
            let names = self.scopes[scope.0 as usize].names.clone();
            let known = names.and_then(|names| {
                names
                    .locals
                    .iter()
                    .find(|name| **name == change.name)
                    .copied()
            });
            if let Some(name) = known {
                let value = self.heap.literal(change.value.clone());
                self.bind_in(scope, name, Some(value));
            }
        }
    }

    /// Notes an exception that passes through the running function, once.
    pub(super) fn note(&mut self, exception: Ref) -> Outcome<()> {
        let frame = self.frame();
        if frame.noted == Some(exception) {
            return Ok(());
        }
        frame.noted = Some(exception);
        let line = frame.line;
        self.event(EventKind::Exception, line, Some(exception))
    }

    fn locals_of(&self, scope: ScopeId) -> Vec<(String, String)> {
        let scope = &self.scopes[scope.0 as usize];
        let Some(names) = &scope.names else {
            return Vec::new();
        };
        names
            .locals
            .iter()
            .filter_map(|name| {
                let (_, value) = scope.bindings.iter().find(|(bound, _)| bound == name)?;
                Some(((*name).to_owned(), self.text((*value)?)))
            })
            .collect()
    }

    /// Asks for an operation on values. Unknown when one of them is, or none is a literal.
    ///
    /// `whole`: see [`Heap::adopt`].
    pub(super) fn ask(&mut self, expression: &str, operands: &[Ref], whole: bool) -> Outcome<Ref> {
        let mut texts = Vec::with_capacity(operands.len());
        for &operand in operands {
            match self.operand(operand) {
                Ok(text) => texts.push(text),
                Err(_)
                    if operands
                        .iter()
                        .any(|&operand| self.has_own_methods(operand)) =>
                {
                    return Err(Interrupt::Unknown(format!(
                        "`{expression}` may call methods of the program's classes"
                    )));
                }
                Err(why) => {
                    self.spoil(expression, operands);
                    return Ok(self.heap.unknown(why));
                }
            }
        }
        if self.asked >= self.limits.operations {
            return Err(Interrupt::Limit("operations"));
        }
        self.asked += 1;
        let operation = Operation {
            expression: expression.to_owned(),
            operands: texts,
        };
        let answer = match self.operations.perform(&operation) {
            Ok(answer) => answer,
            Err(Unavailable::Unknown(why)) => {
                self.spoil(expression, operands);
                return Ok(self.heap.unknown(why));
            }
            Err(other) => return Err(Interrupt::Unknown(other.to_string())),
        };
        let sure = answer.log_probability.exp();
        if sure < self.limits.threshold {
            self.spoil(expression, operands);
            return Ok(self
                .heap
                .unknown(format!("`{expression}` is not sure enough: {sure:.2}")));
        }
        self.log_probability += answer.log_probability;
        match answer.effect {
            Effect::Gives { result, after } => {
                // An iterator is used up by whoever walks through it.
                for &operand in operands {
                    self.use_up(expression, operand);
                }
                if let (Some(after), Some(&changed)) = (after, operands.first()) {
                    match literal::parse(&after) {
                        Ok(literal) => self.heap.change(changed, literal, operands),
                        Err(_) => self.heap.set(changed, Object::Unknown("no literal".into())),
                    }
                }
                Ok(self.value_of_text(&result, operands, whole))
            }
            Effect::Raises { kind, message } => Err(self.raise(&kind, message)),
            Effect::Opaque => Ok(self
                .heap
                .unknown(format!("`{expression}` gives no literal"))),
        }
    }

    fn value_of_text(&mut self, text: &str, operands: &[Ref], whole: bool) -> Ref {
        for (kind, name) in [
            ("dict_keys", "dict_keys("),
            ("dict_values", "dict_values("),
            ("dict_items", "dict_items("),
            ("iter", "iter("),
        ] {
            let inner = text
                .strip_prefix(name)
                .and_then(|inner| inner.strip_suffix(')'));
            if let Some(Ok(literal)) = inner.map(literal::parse) {
                let list = self.heap.adopt(literal, operands, false);
                let items = self.heap.parts(list);
                return self.heap.add(if kind == "iter" {
                    Object::Iterator(items, 0)
                } else {
                    Object::View(kind, items)
                });
            }
        }
        match literal::parse(text) {
            Ok(literal) => self.heap.adopt(literal, operands, whole),
            Err(_) => self.named_value(text),
        }
    }

    /// A type or builtin function by its name, as `type(x)` gives it.
    fn named_value(&mut self, text: &str) -> Ref {
        if !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return self.heap.add(Object::Builtin(text.to_owned()));
        }
        self.heap.unknown(format!("`{text}` is no literal"))
    }

    /// A statement that would have changed its first operand leaves it unknown.
    fn spoil(&mut self, expression: &str, operands: &[Ref]) {
        let changes = expression.contains(" = ")
            || expression.contains("= v")
            || expression.starts_with("del ")
            || MUTATING
                .iter()
                .any(|name| expression.starts_with("v0.") && expression[3..].starts_with(name));
        if let Some(&first) = operands.first().filter(|_| changes)
            && matches!(
                self.heap.get(first),
                Object::List(_) | Object::Dict(_) | Object::Set(_)
            )
        {
            let why = format!("`{expression}` changed it in an unknown way");
            self.heap.set(first, Object::Unknown(why));
        }
    }

    fn use_up(&mut self, expression: &str, operand: Ref) {
        if let Object::Iterator(items, at) = self.heap.get_mut(operand) {
            if expression.starts_with("next(") {
                *at = (*at + 1).min(items.len());
            } else {
                *at = items.len();
            }
        }
    }

    /// The text of a value in a question, or why it has none.
    /// Whether a value is, or holds, an object whose class says how it compares, hashes, shows itself, …: a
    /// builtin that gets it may run the program's code.
    pub(super) fn has_own_methods(&self, at: Ref) -> bool {
        let mut waiting = vec![at];
        let mut seen = 0;
        while let Some(at) = waiting.pop() {
            seen += 1;
            if seen > 10_000 {
                return false;
            }
            match self.heap.get(at) {
                Object::Instance { class, .. } => {
                    const CALLED: &[&str] = &[
                        "__eq__",
                        "__ne__",
                        "__lt__",
                        "__le__",
                        "__gt__",
                        "__ge__",
                        "__hash__",
                        "__bool__",
                        "__len__",
                        "__str__",
                        "__repr__",
                        "__iter__",
                        "__next__",
                        "__contains__",
                        "__getitem__",
                        "__add__",
                        "__radd__",
                        "__index__",
                        "__format__",
                        "__call__",
                    ];
                    let own = |name: &&str| self.class_attribute(*class, name).is_some();
                    if CALLED.iter().any(own) {
                        return true;
                    }
                }
                Object::List(items)
                | Object::Tuple(items)
                | Object::Set(items)
                | Object::FrozenSet(items)
                | Object::View(_, items)
                | Object::Iterator(items, _) => waiting.extend(items),
                Object::Dict(pairs) => {
                    waiting.extend(pairs.iter().flat_map(|&(key, value)| [key, value]));
                }
                _ => {}
            }
        }
        false
    }

    fn operand(&self, at: Ref) -> Result<String, String> {
        match self.heap.get(at) {
            Object::Unknown(why) => Err(why.clone()),
            Object::Builtin(name) => Ok(name.clone()),
            Object::Iterator(items, from) => {
                Ok(format!("iter({})", self.list_text(&items[*from..])?))
            }
            Object::View(kind, items) => Ok(format!("{kind}({})", self.list_text(items)?)),
            // The classes of `isinstance(x, (int, float))`.
            Object::Tuple(items)
                if !items.is_empty()
                    && items
                        .iter()
                        .all(|&item| matches!(self.heap.get(item), Object::Builtin(_))) =>
            {
                let names: Vec<String> = items
                    .iter()
                    .map(|&item| self.operand(item))
                    .collect::<Result<_, _>>()?;
                let comma = if names.len() == 1 { "," } else { "" };
                Ok(format!("({}{comma})", names.join(", ")))
            }
            _ => self
                .heap
                .literal_of(at)
                .map(|literal| literal.to_string())
                .ok_or_else(|| format!("`{}` is no literal", self.text(at))),
        }
    }

    fn list_text(&self, items: &[Ref]) -> Result<String, String> {
        let items = items
            .iter()
            .map(|&item| self.heap.literal_of(item).ok_or("an item is no literal"))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Literal::List(items).to_string())
    }

    /// Raises a builtin exception.
    pub(super) fn raise(&mut self, kind: &str, message: impl Into<String>) -> Interrupt {
        let message = message.into();
        // The text of a `KeyError` is the key as it is written.
        let argument = match literal::parse(&message) {
            Ok(key) if kind == "KeyError" => key,
            _ => Literal::Str(message),
        };
        let argument = self.heap.literal(argument);
        self.raise_with(kind, vec![argument])
    }

    pub(super) fn raise_with(&mut self, kind: &str, arguments: Vec<Ref>) -> Interrupt {
        Interrupt::Raise(self.heap.add(Object::Exception {
            kind: Kind::Builtin(kind.to_owned()),
            arguments,
            attributes: Vec::new(),
        }))
    }

    /// Sorts what a set holds as sets are written.
    pub(super) fn in_set_order(&self, items: Vec<Ref>) -> Vec<Ref> {
        let mut literals = Vec::new();
        for &item in &items {
            match self.heap.literal_of(item) {
                Some(literal) => literals.push((literal, item)),
                None => return items,
            }
        }
        let mut left = literals.clone();
        canonical(literals.into_iter().map(|(literal, _)| literal).collect())
            .into_iter()
            .filter_map(|literal| {
                let at = left.iter().position(|(held, _)| *held == literal)?;
                Some(left.remove(at).1)
            })
            .collect()
    }
}

const MUTATING: &[&str] = &[
    "append",
    "extend",
    "insert",
    "remove",
    "pop",
    "clear",
    "sort",
    "reverse",
    "update",
    "add",
    "discard",
    "setdefault",
    "popitem",
    "difference_update",
    "intersection_update",
    "symmetric_difference_update",
];
