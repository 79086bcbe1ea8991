//! What statements bind and change: names, attributes, and the events at which that happened.

use std::collections::HashMap;

use ruff_python_ast::{Expr, ExprAttribute, ExprCall, Stmt};

use super::Walk;
use super::places::Places;
use crate::recording::{EventId, FileId, Recording};
use crate::state::EventKind;

/// Events looked through for writes, at most.
const EVENTS: usize = 4_000_000;

/// Events at which an attribute of some object was assigned or changed, in order.
#[derive(Debug, Default)]
pub(super) struct Writes(HashMap<String, Vec<EventId>>);

impl Writes {
    /// Goes once over the events of a recording.
    fn of(recording: &Recording, places: &HashMap<FileId, Places<'_>>) -> Self {
        let mut lines: HashMap<(FileId, u32), Vec<&str>> = HashMap::new();
        let mut found: HashMap<String, Vec<EventId>> = HashMap::new();
        let skipped = recording.len().saturating_sub(EVENTS);
        for event in recording.events().skip(skipped) {
            if recording.kind(event) != EventKind::Line {
                continue;
            }
            let file = recording.code_of(event).file;
            let line = recording.event(event).line;
            let written = lines.entry((file, line)).or_insert_with(|| {
                let statement = places.get(&file).and_then(|places| places.statement(line));
                statement.map(attributes).unwrap_or_default()
            });
            for name in written.iter() {
                if let Some(events) = found.get_mut(*name) {
                    events.push(event);
                } else {
                    found.insert((*name).to_owned(), vec![event]);
                }
            }
        }
        Self(found)
    }
}

impl Walk<'_> {
    /// Events before `at` at which an attribute of this name was written, the last first.
    pub(super) fn writes_before(&self, name: &str, at: EventId) -> Vec<EventId> {
        let writes = self
            .writes
            .get_or_init(|| Writes::of(self.recording(), &self.places));
        let events = writes.0.get(name).map_or(&[][..], Vec::as_slice);
        let end = events.partition_point(|event| *event < at);
        events[..end].iter().rev().copied().collect()
    }
}

/// Names that a statement binds, or whose objects it changes by a method, an item or an attribute.
pub(super) fn names(statement: &Stmt) -> Vec<&str> {
    let mut found = Vec::new();
    for target in targets(statement) {
        named(target, &mut found);
    }
    if let Some(call) = called(statement)
        && let Expr::Attribute(method) = &*call.func
    {
        named(&method.value, &mut found);
    }
    found
}

fn named<'p>(target: &'p Expr, found: &mut Vec<&'p str>) {
    match target {
        Expr::Name(name) => found.push(name.id.as_str()),
        Expr::Tuple(tuple) => tuple.elts.iter().for_each(|one| named(one, found)),
        Expr::List(list) => list.elts.iter().for_each(|one| named(one, found)),
        Expr::Starred(starred) => named(&starred.value, found),
        Expr::Attribute(attribute) => named(&attribute.value, found),
        Expr::Subscript(subscript) => named(&subscript.value, found),
        _ => {}
    }
}

/// Names of the attributes that a statement assigns or may change.
fn attributes(statement: &Stmt) -> Vec<&str> {
    let written = written(statement);
    written.into_iter().map(|one| one.attr.as_str()).collect()
}

/// Attributes that a statement assigns, whose items it assigns, or whose objects it hands to a call that is not
/// looked into: `a.b = …`, `a.b[k] = …`, `a.b.append(…)`, `heappush(a.b, …)`.
pub(super) fn written(statement: &Stmt) -> Vec<&ExprAttribute> {
    let mut found: Vec<&ExprAttribute> = Vec::new();
    for target in targets(statement) {
        outermost(target, &mut found);
    }
    let call = called(statement).or_else(|| match statement {
        // `last = self.items.pop()`
        Stmt::Assign(assign) => assign.value.as_call_expr(),
        Stmt::Return(inner) => inner.value.as_deref().and_then(Expr::as_call_expr),
        _ => None,
    });
    if let Some(call) = call {
        match &*call.func {
            Expr::Attribute(method) if is_changing(method.attr.as_str()) => {
                outermost(&method.value, &mut found);
            }
            _ => {}
        }
        if called(statement).is_some() {
            for argument in &call.arguments.args {
                outermost(argument, &mut found);
            }
        }
    }
    found
}

/// Methods that return something and change their object, too.
fn is_changing(method: &str) -> bool {
    !method.starts_with("get")
        && !matches!(
            method,
            "items" | "keys" | "values" | "copy" | "index" | "count" | "join" | "split" | "strip"
        )
}

fn outermost<'p>(target: &'p Expr, found: &mut Vec<&'p ExprAttribute>) {
    match target {
        Expr::Attribute(attribute) => found.push(attribute),
        Expr::Subscript(subscript) => outermost(&subscript.value, found),
        Expr::Tuple(tuple) => tuple.elts.iter().for_each(|one| outermost(one, found)),
        _ => {}
    }
}

/// What a statement assigns to or deletes.
pub(super) fn targets(statement: &Stmt) -> Vec<&Expr> {
    match statement {
        Stmt::Assign(assign) => assign.targets.iter().collect(),
        Stmt::AnnAssign(assign) => vec![&*assign.target],
        Stmt::AugAssign(assign) => vec![&*assign.target],
        Stmt::For(walked) => vec![&*walked.target],
        Stmt::Delete(deleted) => deleted.targets.iter().collect(),
        Stmt::With(managed) => managed
            .items
            .iter()
            .filter_map(|item| item.optional_vars.as_deref())
            .collect(),
        _ => Vec::new(),
    }
}

/// The call that a statement consists of.
pub(super) fn called(statement: &Stmt) -> Option<&ExprCall> {
    match statement {
        Stmt::Expr(inner) => inner.value.as_call_expr(),
        _ => None,
    }
}
