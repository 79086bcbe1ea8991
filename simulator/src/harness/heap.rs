//! Where values live. Two names of one list are two references to one place.

use super::object::{Object, Ref};
use crate::literal::Literal;

/// All values of a run.
#[derive(Debug, Clone, Default)]
pub struct Heap<'p> {
    objects: Vec<Object<'p>>,
}

impl<'p> Heap<'p> {
    pub fn add(&mut self, object: Object<'p>) -> Ref {
        self.objects.push(object);
        Ref(self.objects.len() as u32 - 1)
    }

    pub fn get(&self, at: Ref) -> &Object<'p> {
        &self.objects[at.0 as usize]
    }

    pub fn set(&mut self, at: Ref, object: Object<'p>) {
        self.objects[at.0 as usize] = object;
    }

    pub fn get_mut(&mut self, at: Ref) -> &mut Object<'p> {
        &mut self.objects[at.0 as usize]
    }

    pub fn atom(&mut self, literal: Literal) -> Ref {
        self.add(Object::Atom(literal))
    }

    pub fn none(&mut self) -> Ref {
        self.atom(Literal::None)
    }

    pub fn unknown(&mut self, why: impl Into<String>) -> Ref {
        self.add(Object::Unknown(why.into()))
    }

    /// A literal, with a place for each part of it.
    pub fn literal(&mut self, literal: Literal) -> Ref {
        let object = self.object_of(literal);
        self.add(object)
    }

    fn object_of(&mut self, literal: Literal) -> Object<'p> {
        match literal {
            Literal::List(items) => Object::List(self.literals(items)),
            Literal::Tuple(items) => Object::Tuple(self.literals(items)),
            Literal::Set(items) => Object::Set(self.literals(canonical(items))),
            Literal::FrozenSet(items) => Object::FrozenSet(self.literals(canonical(items))),
            Literal::Dict(items) => Object::Dict(
                items
                    .into_iter()
                    .map(|(key, value)| (self.literal(key), self.literal(value)))
                    .collect(),
            ),
            atom => Object::Atom(atom),
        }
    }

    fn literals(&mut self, items: Vec<Literal>) -> Vec<Ref> {
        items.into_iter().map(|item| self.literal(item)).collect()
    }

    /// The literal that a value is; none for what holds something that is none.
    pub fn literal_of(&self, at: Ref) -> Option<Literal> {
        self.literal_within(at, 0)
    }

    fn literal_within(&self, at: Ref, depth: usize) -> Option<Literal> {
        // Deep enough for people's values, and the end of a list that holds itself.
        if depth > 40 {
            return None;
        }
        let all = |items: &[Ref]| {
            items
                .iter()
                .map(|&item| self.literal_within(item, depth + 1))
                .collect::<Option<Vec<_>>>()
        };
        Some(match self.get(at) {
            Object::Atom(literal) => literal.clone(),
            Object::List(items) => Literal::List(all(items)?),
            Object::Tuple(items) => Literal::Tuple(all(items)?),
            Object::Set(items) => Literal::Set(all(items)?),
            Object::FrozenSet(items) => Literal::FrozenSet(all(items)?),
            Object::Dict(items) => Literal::Dict(
                items
                    .iter()
                    .map(|&(key, value)| {
                        Some((
                            self.literal_within(key, depth + 1)?,
                            self.literal_within(value, depth + 1)?,
                        ))
                    })
                    .collect::<Option<_>>()?,
            ),
            _ => return None,
        })
    }

    /// Parts of a container; keys and values in turn for a dictionary.
    pub fn parts(&self, at: Ref) -> Vec<Ref> {
        match self.get(at) {
            Object::List(items)
            | Object::Tuple(items)
            | Object::Set(items)
            | Object::FrozenSet(items)
            | Object::View(_, items)
            | Object::Iterator(items, _) => items.clone(),
            Object::Dict(items) => items.iter().flat_map(|&(k, v)| [k, v]).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether a value can change under its name.
    fn is_mutable(&self, at: Ref) -> bool {
        matches!(
            self.get(at),
            Object::List(_) | Object::Dict(_) | Object::Set(_) | Object::Instance { .. }
        )
    }

    /// Puts a predicted value into the heap. A part of it that equals a changeable part of an operand
    /// *is* that part, as for `zip`, slices, `sorted` and `dict.get`: builtins hand their items on.
    ///
    /// `whole` says whether the value itself may be a part, as for `dict.get`, or is new, as a slice.
    pub fn adopt(&mut self, literal: Literal, operands: &[Ref], whole: bool) -> Ref {
        let mut known = Vec::new();
        for &operand in operands {
            self.mutable_parts(operand, 0, &mut known);
        }
        if known.is_empty() {
            return self.literal(literal);
        }
        if whole {
            return self.adopted(literal, &known);
        }
        let object = self.with_adopted(literal, &known);
        self.add(object)
    }

    fn adopted(&mut self, literal: Literal, known: &[(Literal, Ref)]) -> Ref {
        if let Some((_, at)) = known.iter().find(|(held, _)| *held == literal) {
            return *at;
        }
        let object = self.with_adopted(literal, known);
        self.add(object)
    }

    fn with_adopted(&mut self, literal: Literal, known: &[(Literal, Ref)]) -> Object<'p> {
        match literal {
            Literal::List(items) => Object::List(self.all_adopted(items, known)),
            Literal::Tuple(items) => Object::Tuple(self.all_adopted(items, known)),
            Literal::Dict(items) => Object::Dict(
                items
                    .into_iter()
                    .map(|(k, v)| (self.literal(k), self.adopted(v, known)))
                    .collect(),
            ),
            other => self.object_of(other),
        }
    }

    fn all_adopted(&mut self, items: Vec<Literal>, known: &[(Literal, Ref)]) -> Vec<Ref> {
        items
            .into_iter()
            .map(|item| self.adopted(item, known))
            .collect()
    }

    fn mutable_parts(&self, at: Ref, depth: usize, known: &mut Vec<(Literal, Ref)>) {
        if depth > 6 || known.len() > 200 {
            return;
        }
        for part in self.parts(at) {
            if self.is_mutable(part)
                && let Some(literal) = self.literal_of(part)
            {
                known.push((literal, part));
            }
            self.mutable_parts(part, depth + 1, known);
        }
    }

    /// Gives a changed container its new contents; parts that stay are the same ones as before, and
    /// parts that equal another operand are that operand.
    pub fn change(&mut self, at: Ref, literal: Literal, operands: &[Ref]) {
        let mut known: Vec<(Literal, Ref)> = Vec::new();
        for part in self.parts(at) {
            if let Some(literal) = self.literal_of(part) {
                known.push((literal, part));
            }
        }
        // Nothing becomes a part of itself because it looks like one.
        for &operand in operands.iter().filter(|&&operand| operand != at) {
            if self.is_mutable(operand)
                && let Some(literal) = self.literal_of(operand)
            {
                known.push((literal, operand));
            }
            self.mutable_parts(operand, 0, &mut known);
        }
        // Each part is used once, so that two equal lists stay two.
        let take = |heap: &mut Self, literal: Literal, known: &mut Vec<(Literal, Ref)>| match known
            .iter()
            .position(|(held, _)| *held == literal)
        {
            Some(found) => known.remove(found).1,
            None => heap.literal(literal),
        };
        let object = match literal {
            Literal::List(items) => Object::List(
                items
                    .into_iter()
                    .map(|item| take(self, item, &mut known))
                    .collect(),
            ),
            Literal::Set(items) => Object::Set(
                canonical(items)
                    .into_iter()
                    .map(|item| take(self, item, &mut known))
                    .collect(),
            ),
            Literal::Dict(items) => Object::Dict(
                items
                    .into_iter()
                    .map(|(key, value)| {
                        (take(self, key, &mut known), take(self, value, &mut known))
                    })
                    .collect(),
            ),
            other => self.object_of(other),
        };
        self.set(at, object);
    }
}

/// The order in which sets are written: sorted where their items have an order, by text else.
pub fn canonical(mut items: Vec<Literal>) -> Vec<Literal> {
    let ordered = items
        .iter()
        .all(|a| items.iter().all(|b| a.order(b).is_some()));
    if ordered {
        items.sort_by(|a, b| a.order(b).unwrap_or(std::cmp::Ordering::Equal));
    } else {
        items.sort_by_cached_key(ToString::to_string);
    }
    items
}
