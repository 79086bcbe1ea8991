//! The walk through an iterable that is known.

use num_bigint::BigInt;

use super::machine::{Interrupt, Machine, Operations, Outcome};
use super::object::{Object, Ref};
use crate::literal::Literal;

/// How far a walk is. A list is looked at as it is at each turn, as Python does.
#[derive(Debug)]
pub(super) struct Walk {
    over: Ref,
    at: usize,
    /// Items that were fixed when the walk began.
    fixed: Option<Vec<Ref>>,
    /// Size of the dictionary or set when the walk began.
    size: Option<usize>,
}

impl<O: Operations> Machine<'_, '_, O> {
    /// Begins a walk.
    pub(super) fn walk(&mut self, over: Ref) -> Outcome<Walk> {
        let mut walk = Walk {
            over,
            at: 0,
            fixed: None,
            size: None,
        };
        match self.heap.get(over) {
            Object::List(_) | Object::Iterator(..) | Object::Atom(Literal::Range(..)) => {}
            Object::Tuple(items) | Object::View(_, items) => walk.fixed = Some(items.clone()),
            Object::Set(items) | Object::FrozenSet(items) => {
                let items = items.clone();
                if items.len() > 1 && !self.in_hash_order(&items) {
                    return Err(Interrupt::Unknown(
                        "the order of a set, which its contents do not decide".into(),
                    ));
                }
                walk.size = Some(items.len());
                walk.fixed = Some(items);
            }
            Object::Dict(pairs) => {
                walk.size = Some(pairs.len());
                walk.fixed = Some(pairs.iter().map(|&(key, _)| key).collect());
            }
            Object::Atom(Literal::Str(text)) => {
                let characters: Vec<char> = text.chars().collect();
                let items = characters.into_iter();
                walk.fixed = Some(
                    items
                        .map(|c| self.heap.atom(Literal::Str(c.into())))
                        .collect(),
                );
            }
            Object::Atom(Literal::Bytes(bytes) | Literal::ByteArray(bytes)) => {
                let bytes = bytes.clone().into_iter();
                walk.fixed = Some(
                    bytes
                        .map(|b| self.heap.atom(Literal::Int(b.into())))
                        .collect(),
                );
            }
            Object::Unknown(why) => {
                return Err(Interrupt::Unknown(format!("what to loop over: {why}")));
            }
            Object::Instance { .. } => {
                if let Some(inner) = self.special_method(over, "__iter__", &[])? {
                    if inner == over {
                        return Err(Interrupt::Unknown(
                            "an iterator of the program's own".into(),
                        ));
                    }
                    return self.walk(inner);
                }
                let name = self.type_name(over);
                return Err(self.raise("TypeError", format!("'{name}' object is not iterable")));
            }
            _ => {
                let name = self.type_name(over);
                return Err(self.raise("TypeError", format!("'{name}' object is not iterable")));
            }
        }
        Ok(walk)
    }

    /// The next item; none at the end.
    pub(super) fn advance(&mut self, walk: &mut Walk) -> Outcome<Option<Ref>> {
        let size = match self.heap.get(walk.over) {
            Object::Dict(pairs) => Some(pairs.len()),
            Object::Set(items) => Some(items.len()),
            Object::Unknown(why) => return Err(Interrupt::Unknown(why.clone())),
            _ => None,
        };
        if walk.size.is_some() && size.is_some() && walk.size != size {
            let what = match self.heap.get(walk.over) {
                Object::Dict(_) => "dictionary changed size during iteration",
                _ => "Set changed size during iteration",
            };
            return Err(self.raise("RuntimeError", what));
        }
        if let Some(items) = &walk.fixed {
            let item = items.get(walk.at).copied();
            walk.at += 1;
            return Ok(item);
        }
        let number = match self.heap.get_mut(walk.over) {
            Object::List(items) => {
                let item = items.get(walk.at).copied();
                walk.at += 1;
                return Ok(item);
            }
            Object::Iterator(items, at) => {
                let item = items.get(*at).copied();
                *at += usize::from(item.is_some());
                return Ok(item);
            }
            Object::Atom(range @ Literal::Range(..)) => {
                range.item(&Literal::Int(BigInt::from(walk.at)))
            }
            _ => None,
        };
        walk.at += 1;
        Ok(number.map(|number| self.heap.atom(number)))
    }

    /// All items, for what is spread or unpacked.
    pub(super) fn all_items(&mut self, over: Ref) -> Outcome<Vec<Ref>> {
        let mut walk = self.walk(over)?;
        let mut items = Vec::new();
        while let Some(item) = self.advance(&mut walk)? {
            items.push(item);
            if items.len() > self.limits.events {
                return Err(Interrupt::Limit("items"));
            }
        }
        Ok(items)
    }

    /// Whether sorted order is that of the hash table: small whole numbers in a table with room for
    /// all of them.
    fn in_hash_order(&self, items: &[Ref]) -> bool {
        let mut slots = 8;
        while items.len() * 5 >= slots * 3 {
            slots *= 4;
        }
        items.iter().all(|&item| match self.heap.get(item) {
            Object::Atom(Literal::Int(value)) => {
                usize::try_from(value).is_ok_and(|value| value < slots)
            }
            Object::Atom(Literal::Bool(_)) => true,
            _ => false,
        })
    }

    /// The name of a value's type, for messages.
    pub(super) fn type_name(&self, at: Ref) -> String {
        match self.heap.get(at) {
            Object::Atom(literal) => literal.type_name().into(),
            Object::List(_) => "list".into(),
            Object::Tuple(_) => "tuple".into(),
            Object::Set(_) => "set".into(),
            Object::FrozenSet(_) => "frozenset".into(),
            Object::Dict(_) => "dict".into(),
            Object::View(kind, _) => (*kind).into(),
            Object::Iterator(..) => "generator".into(),
            Object::Function { .. } => "function".into(),
            Object::Bound { .. } => "method".into(),
            Object::BuiltinMethod { .. } => "builtin_function_or_method".into(),
            Object::Class { .. } => "type".into(),
            Object::Builtin(name) if name.chars().next().is_some_and(char::is_lowercase) => {
                "type".into()
            }
            Object::Builtin(_) => "type".into(),
            Object::Instance { class, .. } => self.class_name(*class).into(),
            Object::Exception { .. } => self.exception_text(at).0,
            Object::Super { .. } => "super".into(),
            Object::Module(_) => "module".into(),
            Object::Unknown(_) => "object".into(),
        }
    }
}
