//! The first calls of a search: a value of each kind for each parameter, in all combinations that are not too many.

use ndbg_dataset::random::Random;
use ndbg_simulator::literal;

use super::genes::{Genes, Slot, Way};
use super::objects::receiver;
use super::pool::Pool;
use super::types::Known;
use super::value::{Kind, Row, Value};

/// Combinations that are tried before anything else.
pub const COMBINATIONS: usize = 500;
/// Kinds that are tried where nothing says what a parameter is.
const KINDS: &[Kind] = &[
    Kind::Str,
    Kind::Int,
    Kind::Row(Row::List),
    Kind::Dict,
    Kind::Row(Row::Tuple),
    Kind::None,
    Kind::Float,
    Kind::Row(Row::Set),
    Kind::Bool,
    Kind::Bytes,
];
/// How deep annotated containers are filled.
const DEPTH: usize = 4;

/// Kinds of values for a slot, the likeliest first.
pub fn kinds_of(slot: &Slot, known: Known<'_>, pool: &Pool) -> Vec<Kind> {
    match slot.way {
        Way::Star => return vec![Kind::Row(Row::Tuple)],
        Way::StarStar => return vec![Kind::Dict],
        Way::Receiver => return vec![Kind::Built],
        Way::Place | Way::Either | Way::Name => {}
    }
    let said = slot.said.as_ref();
    let mut kinds = said.map_or_else(Vec::new, |said| said.kinds(known.classes));
    if kinds.is_empty() {
        if let Some(Ok(default)) = slot.default.as_deref().map(literal::parse) {
            kinds.push(Value::from(default).kind());
        }
        for kind in KINDS {
            if !kinds.contains(kind) {
                kinds.push(*kind);
            }
        }
        for kind in [Kind::Named, Kind::Built] {
            if pool.has(kind) {
                kinds.push(kind);
            }
        }
    }
    kinds
}

/// What calls are made of.
#[derive(Debug, Clone, Copy)]
pub struct Ground<'a> {
    /// What is varied.
    pub slots: &'a [Slot],
    /// Kinds for each slot.
    pub kinds: &'a [Vec<Kind>],
    /// Classes and names of the module.
    pub known: Known<'a>,
    /// Values.
    pub pool: &'a Pool,
}

impl Ground<'_> {
    /// How many combinations there are.
    pub fn combinations(&self) -> usize {
        1 + self.all().min(COMBINATIONS)
    }

    /// One more choice where there is a default.
    fn choices(&self, slot: usize) -> usize {
        self.kinds[slot].len() + usize::from(!self.slots[slot].required)
    }

    fn all(&self) -> usize {
        (0..self.slots.len())
            .map(|slot| self.choices(slot))
            .try_fold(1usize, usize::checked_mul)
            .unwrap_or(usize::MAX)
    }

    /// A call with a telling value of a kind for each slot: the `number`th of all combinations, or a random one
    /// where they are too many.
    pub fn combination(&self, number: usize, random: &mut Random) -> Genes {
        let Some(mut rest) = number.checked_sub(1) else {
            // What may be left out is left out at first.
            let slots = self.slots.iter().enumerate();
            return slots
                .map(|(at, slot)| {
                    slot.required
                        .then(|| self.telling(at, self.kinds[at][0], random))
                })
                .collect();
        };
        let all = self.all();
        let mut genes = Vec::with_capacity(self.slots.len());
        for (number, slot) in self.slots.iter().enumerate() {
            let count = self.choices(number);
            let at = if all <= COMBINATIONS {
                let at = rest % count;
                rest /= count;
                at
            } else {
                random.below(count).min(random.below(count))
            };
            let at = if slot.required {
                Some(at)
            } else {
                at.checked_sub(1)
            };
            genes.push(at.map(|at| self.telling(number, self.kinds[number][at], random)));
        }
        genes
    }

    /// A value of a kind with which something happens: not the empty one.
    fn telling(&self, at: usize, kind: Kind, random: &mut Random) -> Value {
        let slot = &self.slots[at];
        if matches!(slot.way, Way::Receiver) {
            return receiver(slot, self.known, self.pool, random);
        }
        if let Some(value) = self.as_said(slot, kind, random) {
            return value;
        }
        let held = self.pool.of(kind);
        let value = if held.is_empty() {
            self.pool.draw(random, kind)
        } else {
            held[random.below(held.len().min(8))].clone()
        };
        fitted(slot, value, self.pool, random)
    }

    /// A value of a kind for a slot.
    pub fn value(&self, at: usize, kind: Kind, random: &mut Random) -> Value {
        let slot = &self.slots[at];
        if matches!(slot.way, Way::Receiver) {
            return receiver(slot, self.known, self.pool, random);
        }
        if random.chance(0.9)
            && let Some(value) = self.as_said(slot, kind, random)
        {
            return value;
        }
        let value = self.pool.draw(random, kind);
        fitted(slot, value, self.pool, random)
    }

    /// A value whose items are what the annotation says.
    fn as_said(&self, slot: &Slot, kind: Kind, random: &mut Random) -> Option<Value> {
        if matches!(slot.way, Way::Star | Way::StarStar) {
            return None;
        }
        let said = slot.said.as_ref().filter(|said| said.is_structured())?;
        // What the goal and the source hold comes first where it fits.
        let held = self.pool.of(kind);
        if !held.is_empty() && random.chance(0.3) {
            let value = &held[random.below(held.len().min(16))];
            if said.takes(value) {
                return Some(value.clone());
            }
        }
        for _ in 0..8 {
            let value = said.draw(self.known, self.pool, random, DEPTH);
            if value.kind() == kind {
                return Some(value);
            }
        }
        None
    }
}

/// A value that may stand in a slot.
pub fn fitted(slot: &Slot, value: Value, pool: &Pool, random: &mut Random) -> Value {
    if super::genes::fits(slot.way, &value) {
        return value;
    }
    match slot.way {
        Way::Star => Value::Many(
            Row::Tuple,
            (0..random.below(4)).map(|_| pool.item(random, 1)).collect(),
        ),
        Way::StarStar => Value::Dict(Vec::new()),
        _ => value,
    }
}
