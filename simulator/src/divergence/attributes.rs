//! Attributes that should have held something else: who wrote them last on the same object.

use ruff_python_ast::{Expr, ExprAttribute, Stmt};

use super::{Belief, LEAST, Part, Walk, blame, branches, objects, sources, syntax, writes};
use crate::literal::{self, Literal};
use crate::recording::EventId;

/// What a write is worth when it is not known whether it was of the same object.
const SOME_OBJECT: f64 = 0.7;
/// What the object itself is worth: another one may have been meant.
const OBJECT: f64 = 0.15;
/// What the object of a method is worth: the method may have been called on another one.
const SELF: f64 = 0.1;
/// Writes of one name looked at for that of the object.
const WRITES: usize = 2000;
/// What the content before a change is worth against the change.
const BEFORE: f64 = 0.45;

impl<'a> Walk<'a> {
    /// An attribute should have held something else at a state.
    pub(super) fn attribute(
        &mut self,
        attribute: &'a ExprAttribute,
        at: EventId,
        belief: &Belief,
    ) -> bool {
        if belief.confidence < LEAST {
            return false;
        }
        let name = attribute.attr.as_str();
        let object = &*attribute.value;
        // A property, or a method that is called somewhere else.
        if self.passed_on(name, at, belief) {
            return true;
        }
        let text = self.described(object, at).map(str::to_owned);
        let held = text
            .as_deref()
            .and_then(|text| objects::attribute(text, name))
            .and_then(|text| literal::parse(text).ok());
        if let (Some(held), Some(needed)) = (&held, &belief.needed)
            && super::same(held, needed)
        {
            return false;
        }
        let is_self = matches!(object, Expr::Name(held) if held.id.as_str() == "self");
        let share = 1.0 - if is_self { SELF } else { OBJECT };
        let serial = self.identity(object, at);
        if let Some((event, is_sure)) = self.writer(name, serial, at) {
            let sure = if is_sure { 1.0 } else { SOME_OBJECT };
            self.written(name, event, text.as_deref(), &belief.share(share * sure));
            self.wanted(object, at, &belief.another(1.0 - share, held.as_ref()));
            return true;
        }
        let class = text.as_deref().and_then(objects::type_of);
        let is_own = text
            .as_deref()
            .is_some_and(|text| objects::attribute(text, name).is_some());
        if !is_own
            && let Some(class) = class
            && self.class_attribute(class, name, belief)
        {
            return true;
        }
        if let Some(class) = class
            && self.made(class, name, serial, at, belief)
        {
            return true;
        }
        match object {
            Expr::Name(held) => {
                // A module or a class is no variable.
                self.local(at, held.id.as_str()).is_some()
                    && self.wanted(object, at, &belief.for_attribute(name, 1.0))
            }
            _ => self.wanted(object, at, &belief.for_attribute(name, 1.0)),
        }
    }

    /// The last write of an attribute before a state, and whether it surely was of the object.
    fn writer(&self, name: &str, serial: Option<u32>, at: EventId) -> Option<(EventId, bool)> {
        let mut unsure = None;
        for event in self.writes_before(name, at).into_iter().take(WRITES) {
            let statement = self.statement(event)?;
            let written = writes::written(statement);
            let same_name = written.into_iter().find(|one| one.attr.as_str() == name);
            let Some(target) = same_name else { continue };
            match (serial, self.identity(&target.value, event)) {
                (Some(a), Some(b)) if a == b => return Some((event, true)),
                (Some(_), Some(_)) => {}
                _ => unsure = unsure.or(Some((event, false))),
            }
        }
        unsure
    }

    /// A statement that wrote an attribute should have written something else.
    fn written(&mut self, name: &str, event: EventId, text: Option<&str>, belief: &Belief) {
        let Some(statement) = self.statement(event) else {
            return;
        };
        let written = writes::written(statement);
        let Some(target) = written.into_iter().find(|one| one.attr.as_str() == name) else {
            return;
        };
        let recorded = text
            .and_then(|text| objects::attribute(text, name))
            .map_or_else(branches::unrecorded, str::to_owned);
        let kept = blame::of_statement(statement).max(match statement {
            Stmt::Expr(_) => blame::CHANGE,
            _ => 0.0,
        });
        let part = Part::Variable(format!(".{name}"));
        let name = name.to_owned();
        self.point(event, part, recorded, belief, kept, |walk, belief| {
            walk.rewritten(statement, target, &name, event, belief)
        });
    }

    /// What the value that a statement wrote to an attribute rests on.
    fn rewritten(
        &mut self,
        statement: &'a Stmt,
        target: &'a ExprAttribute,
        name: &str,
        event: EventId,
        belief: &Belief,
    ) -> bool {
        match statement {
            Stmt::Assign(assign) => {
                let is_whole = assign
                    .targets
                    .iter()
                    .any(|one| matches!(one, Expr::Attribute(held) if held.attr.as_str() == name));
                if is_whole {
                    return self.wanted(&assign.value, event, belief);
                }
                self.item_written(assign.targets.first(), &assign.value, target, event, belief)
            }
            Stmt::AnnAssign(assign) => match &assign.value {
                Some(value) => self.wanted(value, event, belief),
                None => false,
            },
            Stmt::AugAssign(assign) if assign.target.is_attribute_expr() => {
                let text = format!("v0 {} v1", assign.op.as_str());
                let slots = [&*assign.target, &*assign.value];
                self.operation(&text, &slots, event, belief)
            }
            _ => {
                let mut found = Vec::new();
                let recorded = self.names_of(&self.calls_at(event));
                for expression in syntax::expressions(statement) {
                    let inner = match expression {
                        Expr::Call(call) => sources::of_arguments(call, &recorded),
                        other => sources::of(other, &recorded),
                    };
                    found.extend(inner);
                }
                found.retain(|one| !matches!(one, sources::Source::Attribute(held) if held.attr.as_str() == name));
                let belief = belief.another(1.0, None);
                let is_alone = found.is_empty();
                let share = if is_alone { 0.0 } else { 1.0 - BEFORE };
                let further = self.spread(found, Vec::new(), event, &belief.share(share));
                self.earlier(target, event, &belief.share(1.0 - share)) || further
            }
        }
    }

    /// `a.b[key] = value`.
    fn item_written(
        &mut self,
        whole: Option<&'a Expr>,
        value: &'a Expr,
        target: &'a ExprAttribute,
        event: EventId,
        belief: &Belief,
    ) -> bool {
        let key = match whole {
            Some(Expr::Subscript(subscript)) => self.known(&subscript.slice, event),
            _ => None,
        };
        if let (Some(key), Some(needed)) = (key, &belief.needed) {
            match needed.item(&key) {
                Some(item)
                    if self
                        .known(value, event)
                        .is_some_and(|held| super::same(&held, &item)) =>
                {
                    return self.earlier(target, event, belief);
                }
                Some(item) => return self.wanted(value, event, &belief.with(item, 1.0, false)),
                None => {}
            }
        }
        let belief = belief.another(1.0, None);
        let further = self.wanted(value, event, &belief.share(1.0 - BEFORE));
        self.earlier(target, event, &belief.share(BEFORE)) || further
    }

    /// The attribute as it was before a change of it.
    fn earlier(&mut self, target: &'a ExprAttribute, event: EventId, belief: &Belief) -> bool {
        let serial = self.identity(&target.value, event);
        let name = target.attr.as_str();
        match self.writer(name, serial, event) {
            Some((earlier, _)) => {
                self.written(name, earlier, None, belief);
                true
            }
            None => false,
        }
    }

    /// The object was made with the attribute: by a constructor without source, such as that of a data class.
    fn made(
        &mut self,
        class: &str,
        name: &str,
        serial: Option<u32>,
        at: EventId,
        belief: &Belief,
    ) -> bool {
        let recording = self.recording();
        let before = recording
            .activations()
            .partition_point(|activation| activation.first < at);
        let mut found = None;
        for activation in recording.activations()[..before].iter().rev().take(WRITES) {
            if !self.pay() {
                break;
            }
            let function = recording.text(recording.codes()[activation.code.index()].qualname);
            if function.strip_suffix(".__init__") != Some(class) {
                continue;
            }
            let own = self.local(activation.first, "self").map(|held| held.serial);
            if serial.is_none() || own == serial {
                found = activation.parent_event;
                break;
            }
        }
        let Some(event) = found else { return false };
        let Some(call) = self
            .statement(event)
            .and_then(|statement| syntax::call_in(statement, class))
        else {
            return false;
        };
        let belief = belief.for_attribute(name, if serial.is_some() { 1.0 } else { SOME_OBJECT });
        let Some(inner) = self.argument_for(call, name) else {
            return false;
        };
        let Some(belief) = belief.of_attribute(name) else {
            return false;
        };
        let recorded = self
            .known(inner, event)
            .map_or_else(branches::unrecorded, |held: Literal| held.to_string());
        let part = Part::Argument(name.to_owned());
        let kept = blame::of_expression(inner);
        self.point(event, part, recorded, &belief, kept, |walk, belief| {
            walk.wanted(inner, event, belief)
        })
    }
}
