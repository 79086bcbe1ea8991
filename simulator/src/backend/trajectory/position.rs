//! A place in a run, as a model knows it.

use std::sync::Arc;

use crate::state::EventKind;
use crate::trajectory::Direction;

/// Variables and the texts of their values, in order.
pub type Locals = Vec<(String, String)>;

/// The text so far, and what a reader of it knows. Cheap to clone.
#[derive(Debug, Clone, PartialEq)]
pub struct Position {
    /// Which way the trajectory goes.
    pub(super) direction: Direction,
    /// Up to the end of the state.
    pub(super) tokens: Arc<[u32]>,
    pub(super) event: EventKind,
    /// Whether it is the duplicate of an event that called.
    pub(super) calling: bool,
    /// What is known of each level that goes on, the innermost last; none of a level of which nothing
    /// was printed.
    pub(super) levels: Arc<Vec<Option<Locals>>>,
    /// At a return: whether an exception left the level; none where that was skipped.
    pub(super) unwound: Option<bool>,
}

impl Position {
    /// The text so far as tokens of the model: context, states and actions, up to the state's end.
    pub fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// What is known on the innermost level.
    pub(super) fn known(&self) -> Option<&Locals> {
        self.levels.last()?.as_ref()
    }
}

/// Puts what is shown over what is known.
pub(super) fn merged(known: &Locals, shown: &Locals) -> Locals {
    let mut locals = known.clone();
    for (name, value) in shown {
        match locals.iter_mut().find(|held| held.0 == *name) {
            Some(held) => held.1.clone_from(value),
            None => locals.push((name.clone(), value.clone())),
        }
    }
    locals
}
