//! Arguments that should have been something else: what the caller gave, or the default.

use ruff_python_ast::{Expr, ExprCall, Stmt};

use super::belief::{Belief, Want};
use super::{Part, Walk, blame, places::Places, same, syntax};
use crate::recording::EventId;

/// What a default that all calls share is worth: a list that one of them filled.
const SHARED: f64 = 0.8;
/// What a plain default is worth.
const DEFAULT: f64 = 0.15;
/// What the `def` keeps of what its caller gave.
const GIVEN: f64 = 0.02;
/// What a call keeps that hands a value on: the wrong one may be handed on.
const HANDED: f64 = 0.15;

impl<'a> Walk<'a> {
    /// An argument should have been something else: so should what the caller gave.
    pub(super) fn argument(&mut self, first: EventId, want: &Want, recorded: String) {
        let recording = self.recording();
        let part = Part::Argument(want.name.clone());
        let event = recording.event(first);
        let activation = recording.activation(event.activation);
        let function = recording.function(event.activation).to_owned();
        let Some(places) = self.places.get(&self.file(first)) else {
            return;
        };
        let given = activation.parent_event.and_then(|caller| {
            let statement = self.statement(caller)?;
            // `Point(1)` calls `Point.__init__`, and so may `super().__init__(1)`.
            let class = function.strip_suffix(".__init__");
            let call = class.and_then(|class| syntax::call_in(statement, class));
            let call = call.or_else(|| syntax::call_in(statement, &function))?;
            Some((caller, statement, call))
        });
        let position = places.position_of(event.line, &want.name);
        let argument = given.map(|(caller, statement, call)| {
            let given = syntax::argument_of(call, &want.name, position);
            let given = given.or_else(|| object_of(call, places, event.line, &want.name));
            (caller, statement, given)
        });
        let default = places.default_of(event.line, &want.name);
        let name = want.name.clone();
        match argument {
            Some((caller, statement, Some(given))) => {
                let is_object = matches!(&*name, "self" | "cls");
                let text = recorded.clone();
                self.point(
                    first,
                    part,
                    recorded,
                    &want.belief,
                    GIVEN,
                    |walk, belief| {
                        if is_object {
                            return walk.wanted(given, caller, belief);
                        }
                        walk.handed(given, statement, caller, name, text, belief)
                    },
                );
            }
            Some((_, _, None)) if default.is_some() => {
                // What the caller did not give is the default, unless an earlier call changed that.
                let fresh = default.and_then(syntax::constant);
                let held = self.held(first, &want.name);
                let is_changed = fresh
                    .zip(held)
                    .is_some_and(|(fresh, held)| !same(&fresh, &held));
                if is_changed {
                    self.evident(first, part, recorded, &want.belief.another(1.0, None));
                    return;
                }
                let shared = default.is_some_and(is_shared);
                let kept = if shared { SHARED } else { DEFAULT };
                self.point(first, part, recorded, &want.belief, kept, |_, _| true);
            }
            _ => {
                self.point(
                    first,
                    part,
                    recorded,
                    &want.belief,
                    GIVEN,
                    |walk, belief| walk.around(first, belief),
                );
            }
        }
    }

    /// A call that gave an argument should have given another one.
    fn handed(
        &mut self,
        given: &'a Expr,
        statement: &'a Stmt,
        caller: EventId,
        name: String,
        recorded: String,
        belief: &Belief,
    ) -> bool {
        let kept = blame::of_expression(given).max(HANDED);
        // A statement that is about the call has its own point.
        let is_about = matches!(statement, Stmt::Expr(_) | Stmt::Assign(_) | Stmt::Return(_));
        let kept = if is_about { kept } else { HANDED };
        let part = Part::Argument(name);
        self.point(caller, part, recorded, belief, kept, |walk, belief| {
            walk.wanted(given, caller, belief)
        })
    }

    /// What a call that cannot be read gave: all that its statement uses.
    fn around(&mut self, first: EventId, belief: &Belief) -> bool {
        let recording = self.recording();
        let activation = recording.activation_of(first);
        let Some(caller) = activation.parent_event else {
            return false;
        };
        let Some(statement) = self.statement(caller) else {
            return false;
        };
        let belief = belief.another(0.5, None);
        let mut further = false;
        for expression in syntax::expressions(statement) {
            let found = super::sources::of_statement(
                expression,
                self.called_name(recording.event(first).activation),
            );
            further |= self.spread(found, Vec::new(), caller, &belief);
        }
        further
    }
}

/// `thing` of `thing.method(x)` for the object of the method.
fn object_of<'p>(
    call: &'p ExprCall,
    places: &Places<'_>,
    line: u32,
    name: &str,
) -> Option<&'p Expr> {
    let Expr::Attribute(method) = &*call.func else {
        return None;
    };
    (places.first_parameter(line) == Some(name) && matches!(name, "self" | "cls"))
        .then_some(&*method.value)
}

/// Whether a default is made once and can be changed.
fn is_shared(default: &Expr) -> bool {
    matches!(
        default,
        Expr::List(_) | Expr::Dict(_) | Expr::Set(_) | Expr::Call(_) | Expr::ListComp(_)
    )
}
