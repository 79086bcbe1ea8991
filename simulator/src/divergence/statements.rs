//! Statements that should have left a name with something else.

use ruff_python_ast::{Expr, ExprCall, Operator, Stmt};

use super::belief::Want;
use super::{Walk, same, sources, syntax};
use crate::literal::Literal;
use crate::recording::EventId;

/// What the content before a change is worth against the change.
const BEFORE: f64 = 0.45;

impl<'a> Walk<'a> {
    /// A statement should have left a name with something else.
    pub(super) fn bound(&mut self, statement: &'a Stmt, at: EventId, want: &Want) -> bool {
        match statement {
            Stmt::Assign(assign) => {
                let mut bound = false;
                let mut is_bound = false;
                for target in &assign.targets {
                    is_bound |= syntax::binds(target, &want.name);
                    bound |= self.assigned(target, &assign.value, at, want);
                }
                if is_bound {
                    return bound;
                }
                self.touched(statement, at, want)
            }
            Stmt::AnnAssign(assign) => match &assign.value {
                Some(value) => self.assigned(&assign.target, value, at, want),
                None => false,
            },
            Stmt::AugAssign(assign) => {
                if !assign.target.is_name_expr() {
                    return self.touched(statement, at, want);
                }
                let text = format!("v0 {} v1", assign.op.as_str());
                let slots = [&*assign.target, &*assign.value];
                self.operation(&text, &slots, at, &want.belief)
            }
            Stmt::For(walked) if syntax::binds(&walked.target, &want.name) => {
                let was = self.held_after(at, &want.name);
                let belief = want.belief.another(1.0, was.as_ref());
                self.wanted(&walked.iter, at, &belief)
            }
            Stmt::With(managed) => {
                let belief = want.belief.another(1.0, None);
                let mut further = false;
                for item in &managed.items {
                    further |= self.wanted(&item.context_expr, at, &belief);
                }
                further
            }
            Stmt::Expr(inner) => match &*inner.value {
                Expr::Call(call) if self.passed(call, at, want) => true,
                Expr::Call(call) => self.changed(statement, call, at, want),
                _ => false,
            },
            _ => self.touched(statement, at, want),
        }
    }

    /// What a name holds after the statement at a state.
    pub(super) fn held_after(&self, at: EventId, name: &str) -> Option<Literal> {
        let next = self.recording().next_in_activation(at)?;
        self.held(next, name)
    }

    /// A statement that changed the object of a name in some other way: by what it used, or before.
    fn touched(&mut self, statement: &'a Stmt, at: EventId, want: &Want) -> bool {
        if self.changed_below(at, want) {
            return true;
        }
        let recorded = self.names_of(&self.calls_at(at));
        let mut found = Vec::new();
        for expression in syntax::expressions(statement) {
            match expression {
                Expr::Call(call) => found.extend(sources::of_arguments(call, &recorded)),
                other => found.extend(sources::of(other, &recorded)),
            }
        }
        found.retain(|one| !matches!(one, sources::Source::Name(_, name) if *name == want.name));
        let was = self.held_after(at, &want.name);
        let belief = want.belief.another(1.0 - BEFORE, was.as_ref());
        let further = self.spread(found, Vec::new(), at, &belief);
        self.before(want, at, BEFORE) || further
    }

    /// A call during a statement changed the object of a name under another name.
    fn changed_below(&mut self, at: EventId, want: &Want) -> bool {
        let Some(serial) = self.local(at, &want.name).map(|held| held.serial) else {
            return false;
        };
        if serial == 0 {
            return false;
        }
        let recording = self.recording();
        for activation in self.calls_at(at).into_iter().rev() {
            let activation = recording.activation(activation);
            let locals = recording.locals(activation.first);
            let Some(alias) = locals.iter().find(|held| held.serial == serial) else {
                continue;
            };
            let name = recording.text(alias.name).to_owned();
            let mut event = Some(activation.last);
            // Names change after their binding: those are what happened in this call.
            while let Some(here) = event.filter(|here| *here > activation.first && self.pay()) {
                let mut changes = recording.event(here).changes.iter();
                if changes.any(|change| recording.text(change.name) == name) {
                    return self.want(&name, activation.last, want.belief.clone());
                }
                event = recording.previous_in_activation(here);
            }
        }
        false
    }

    /// Whether a statement only carried on what was wrong with a name before it.
    pub(super) fn carries_on(&self, statement: &Stmt, at: EventId, want: &Want) -> bool {
        let Some(needed) = &want.belief.needed else {
            return false;
        };
        match statement {
            Stmt::AugAssign(assign) if assign.op == Operator::Add => {
                match (self.held(at, &want.name), needed) {
                    (Some(Literal::Str(before)), Literal::Str(needed)) => {
                        !needed.starts_with(&before)
                    }
                    _ => false,
                }
            }
            Stmt::Assign(assign) => match assign.targets.as_slice() {
                [Expr::Subscript(subscript)] => {
                    let key = self.known(&subscript.slice, at);
                    let item = key.as_ref().and_then(|key| needed.item(key));
                    let after = self.held_after(at, &want.name);
                    let given = key.and_then(|key| after?.item(&key));
                    item.zip(given).is_some_and(|(a, b)| same(&a, &b))
                }
                _ => false,
            },
            Stmt::Expr(inner) => match &*inner.value {
                Expr::Call(call) => {
                    let appended = syntax::callee(call) == Some("append")
                        && matches!(&*call.func, Expr::Attribute(method) if matches!(&*method.value, Expr::Name(name) if name.id.as_str() == want.name));
                    match (self.held(at, &want.name), needed) {
                        (Some(Literal::List(before)), Literal::List(needed)) if appended => {
                            !is_beginning(&before, needed)
                        }
                        _ => false,
                    }
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// A function that was given an object and changed it: there it should have become something else.
    pub(super) fn passed(&mut self, call: &'a ExprCall, at: EventId, want: &Want) -> bool {
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

    fn assigned(&mut self, target: &'a Expr, value: &'a Expr, at: EventId, want: &Want) -> bool {
        match target {
            Expr::Name(name) if name.id.as_str() == want.name => {
                self.wanted(value, at, &want.belief)
            }
            Expr::Tuple(targets) => {
                let place = targets.elts.iter().position(
                    |target| matches!(target, Expr::Name(name) if name.id.as_str() == want.name),
                );
                let (Expr::Tuple(values), Some(place)) = (value, place) else {
                    return self.unpacked(value, place, at, want);
                };
                match values.elts.get(place) {
                    Some(value) => self.wanted(value, at, &want.belief),
                    None => false,
                }
            }
            Expr::Subscript(subscript) => {
                let Expr::Name(name) = &*subscript.value else {
                    return false;
                };
                if name.id.as_str() != want.name {
                    return false;
                }
                let key = self.known(&subscript.slice, at);
                self.item_assigned(value, key.as_ref(), at, want)
            }
            _ => false,
        }
    }

    /// `a, b = pair`: the pair as it was but for one item.
    fn unpacked(
        &mut self,
        value: &'a Expr,
        place: Option<usize>,
        at: EventId,
        want: &Want,
    ) -> bool {
        let whole = match self.known(value, at) {
            Some(Literal::Tuple(items)) => Some(items),
            _ => None,
        };
        if let (Some(mut items), Some(place), Some(needed)) = (whole, place, &want.belief.needed)
            && let Some(item) = items.get_mut(place)
        {
            *item = needed.clone();
            let belief = want.belief.with(Literal::Tuple(items), 1.0, false);
            return self.wanted(value, at, &belief);
        }
        let was = self.held_after(at, &want.name);
        self.wanted(value, at, &want.belief.another(1.0, was.as_ref()))
    }

    /// `name[key] = value`: the last assignment to an item that is not as needed is where it goes wrong.
    fn item_assigned(
        &mut self,
        value: &'a Expr,
        key: Option<&Literal>,
        at: EventId,
        want: &Want,
    ) -> bool {
        let needed = want.belief.needed.as_ref();
        let item = key.and_then(|key| needed.and_then(|needed| needed.item(key)));
        if let Some(item) = item {
            return self.wanted(value, at, &want.belief.with(item, 1.0, false));
        }
        let was = self.held_after(at, &want.name);
        let belief = want.belief.another(1.0 - BEFORE, was.as_ref());
        let further = self.wanted(value, at, &belief);
        self.before(want, at, BEFORE) || further
    }

    /// A method that changes its object: `xs.append(x)`. What is built up goes wrong where it is first no
    /// beginning of what was needed; what is appended later only follows.
    fn changed(
        &mut self,
        statement: &'a Stmt,
        call: &'a ExprCall,
        at: EventId,
        want: &Want,
    ) -> bool {
        let (Expr::Attribute(method), [argument]) = (&*call.func, &*call.arguments.args) else {
            return self.touched(statement, at, want);
        };
        let is_it = matches!(&*method.value, Expr::Name(name) if name.id.as_str() == want.name);
        let before = self.held(at, &want.name);
        let (Some(Literal::List(before)), Some(Literal::List(needed)), true) = (
            before,
            &want.belief.needed,
            is_it && method.attr.as_str() == "append",
        ) else {
            return self.touched(statement, at, want);
        };
        // What only stands at another place may be told from what is missing.
        let after = self.held_after(at, &want.name);
        if let Some(Literal::List(items)) = &after
            && let Some(given) = items.get(before.len())
        {
            if let Some(other) = want.belief.in_place_of(given) {
                let belief = want.belief.with(other.clone(), 1.0, false);
                return self.wanted(argument, at, &belief);
            }
            if needed.iter().any(|item| same(item, given)) {
                return self.wanted(argument, at, &want.belief.another(0.5, None));
            }
        }
        match needed.get(before.len()) {
            Some(item) => {
                let belief = want.belief.with(item.clone(), 1.0, false);
                self.wanted(argument, at, &belief)
            }
            // It should not have run.
            None => false,
        }
    }
}

fn is_beginning(before: &[Literal], needed: &[Literal]) -> bool {
    before.len() <= needed.len() && before.iter().zip(needed).all(|(a, b)| a.equals(b))
}
