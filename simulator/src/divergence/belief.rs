//! What was needed, and how sure that is.

use std::cmp::Ordering;

use super::{ANOTHER, same};
use crate::literal::Literal;
use crate::recording::EventId;

/// Differing parts of two values that are remembered.
const PARTS: usize = 8;

/// A needed value, and how sure that is.
#[derive(Debug, Clone)]
pub(super) struct Belief {
    /// None where another value than the recorded one was needed, whichever.
    pub needed: Option<Literal>,
    /// Where no value is known: parts that were recorded, and what was needed in their place. A source that holds
    /// such a part is known to be where it came from.
    parts: Vec<(Literal, Literal)>,
    /// The object is as it was but for this attribute, which should have been this, where that is known.
    pub attribute: Option<(String, Option<Literal>)>,
    pub confidence: f64,
    pub predicted: bool,
}

impl Belief {
    /// All belief in one value.
    pub fn of(needed: Literal) -> Self {
        Self {
            needed: Some(needed),
            ..Self::another_value()
        }
    }

    /// The same, where `was` was recorded.
    pub fn in_place(needed: &Literal, was: Option<&Literal>) -> Self {
        let mut belief = Self::of(needed.clone());
        if let Some(was) = was {
            differing(was, needed, &mut belief.parts);
        }
        belief
    }

    /// All belief in there being another value.
    pub fn another_value() -> Self {
        Self {
            needed: None,
            parts: Vec::new(),
            attribute: None,
            confidence: 1.0,
            predicted: false,
        }
    }

    /// A share of it with a value of its own.
    pub fn with(&self, needed: Literal, share: f64, predicted: bool) -> Self {
        Self {
            needed: Some(needed),
            parts: self.parts.clone(),
            attribute: None,
            confidence: self.confidence * share,
            predicted: self.predicted || predicted,
        }
    }

    /// A share of it.
    pub fn share(&self, share: f64) -> Self {
        Self {
            confidence: self.confidence * share,
            ..self.clone()
        }
    }

    /// A share without the value: what was recorded as `was` should have been something else.
    pub fn another(&self, share: f64, was: Option<&Literal>) -> Self {
        let mut parts = self.parts.clone();
        if let (Some(needed), Some(was)) = (&self.needed, was) {
            // What was told of the whole does not say less.
            differing(was, needed, &mut parts);
            parts.truncate(PARTS);
        }
        Self {
            needed: None,
            parts,
            confidence: self.confidence * share,
            ..self.clone()
        }
    }

    /// An object of which an attribute should have been what this says.
    pub fn for_attribute(&self, name: &str, share: f64) -> Self {
        let mut belief = self.another(share, None);
        belief.attribute = Some((name.to_owned(), self.needed.clone()));
        belief
    }

    /// What the attribute of an object should have been.
    pub fn of_attribute(&self, name: &str) -> Option<Self> {
        let (held, needed) = self.attribute.as_ref()?;
        (held == name).then(|| Self {
            needed: needed.clone(),
            attribute: None,
            ..self.clone()
        })
    }

    /// What a source that holds `held` should have held, if it is a part that differs.
    pub fn in_place_of(&self, held: &Literal) -> Option<&Literal> {
        let telling = match held {
            Literal::None | Literal::Bool(_) | Literal::Ellipsis => false,
            Literal::Int(value) => value.bits() > 1,
            other => other.len() != Some(0),
        };
        let mut found = self.parts.iter().filter(|(was, _)| same(was, held));
        let (_, needed) = found.next().filter(|_| telling)?;
        found
            .all(|(_, other)| same(needed, other))
            .then_some(needed)
    }

    /// The needed value as it is told.
    pub fn needed_text(&self) -> String {
        self.needed
            .as_ref()
            .map_or_else(|| ANOTHER.to_owned(), ToString::to_string)
    }
}

/// Smallest parts in which two values differ.
fn differing(was: &Literal, needed: &Literal, parts: &mut Vec<(Literal, Literal)>) {
    if parts.len() >= PARTS || same(was, needed) {
        return;
    }
    match (was, needed) {
        (Literal::List(a), Literal::List(b)) | (Literal::Tuple(a), Literal::Tuple(b)) => {
            // What only stands elsewhere does not differ.
            let left = without(a, b);
            let more = without(b, a);
            for (a, b) in left.into_iter().zip(more) {
                differing(a, b, parts);
            }
        }
        (Literal::Dict(a), Literal::Dict(_)) => {
            for (key, value) in a {
                if let Some(other) = needed.item(key) {
                    differing(value, &other, parts);
                }
            }
        }
        (Literal::Str(a), Literal::Str(b)) => {
            parts.push((was.clone(), needed.clone()));
            worded(a, b, parts);
        }
        _ => parts.push((was.clone(), needed.clone())),
    }
}

/// Items of one row that the other does not have.
fn without<'l>(items: &'l [Literal], others: &[Literal]) -> Vec<&'l Literal> {
    let mut others: Vec<&Literal> = others.iter().collect();
    let mut left = Vec::new();
    for item in items {
        match others.iter().position(|other| same(item, other)) {
            Some(place) => {
                others.swap_remove(place);
            }
            None => left.push(item),
        }
    }
    left
}

/// Words of two texts that differ, where both have as many.
fn worded(was: &str, needed: &str, parts: &mut Vec<(Literal, Literal)>) {
    let (a, b): (Vec<&str>, Vec<&str>) = (
        was.split_whitespace().collect(),
        needed.split_whitespace().collect(),
    );
    if a.len() != b.len() || a.len() < 2 {
        return;
    }
    for (a, b) in a.into_iter().zip(b).filter(|(a, b)| a != b) {
        parts.push((Literal::Str(a.to_owned()), Literal::Str(b.to_owned())));
    }
}

/// A name that should have held something else at a state.
#[derive(Debug, Clone)]
pub(super) struct Want {
    pub name: String,
    /// The state.
    pub at: EventId,
    pub belief: Belief,
}

impl PartialEq for Want {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Want {}

impl PartialOrd for Want {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Want {
    /// The likelier is greater; of two alike the later, then the name first in the alphabet.
    fn cmp(&self, other: &Self) -> Ordering {
        let confidence = self.belief.confidence.total_cmp(&other.belief.confidence);
        confidence
            .then(self.at.cmp(&other.at))
            .then_with(|| other.name.cmp(&self.name))
    }
}
