//! Loads by key and slices.

use num_bigint::BigInt;
use ruff_python_ast::Expr;

use super::machine::{Machine, Operations, Outcome};
use super::object::{Object, Ref};
use crate::literal::Literal;

impl<'p, O: Operations> Machine<'p, '_, O> {
    /// `value[slice]`.
    pub(super) fn subscript(&mut self, value: Ref, slice: &'p Expr) -> Outcome<Ref> {
        if let Expr::Slice(_) = slice {
            let (text, mut operands) = self.slice_text(slice, 1)?;
            operands.insert(0, value);
            return self.ask(&format!("v0[{text}]"), &operands, false);
        }
        let key = self.expression(slice)?;
        self.item(value, key)
    }

    /// `value[key]`: what a list, tuple or dictionary holds there is followed, not computed.
    pub(super) fn item(&mut self, value: Ref, key: Ref) -> Outcome<Ref> {
        if let Some(result) = self.special_method(value, "__getitem__", &[key])? {
            return Ok(result);
        }
        if let Some(why) = self.unknown(key) {
            return Ok(self.heap.unknown(why));
        }
        match self.heap.get(value) {
            Object::List(items) | Object::Tuple(items) => {
                let kind = if matches!(self.heap.get(value), Object::List(_)) {
                    "list"
                } else {
                    "tuple"
                };
                let items = items.clone();
                if let Some(index) = self.index(key) {
                    return match place(&index, items.len()) {
                        Some(at) => Ok(items[at]),
                        None => Err(self.raise("IndexError", format!("{kind} index out of range"))),
                    };
                }
            }
            Object::Dict(pairs) => {
                let pairs = pairs.clone();
                self.hashable(key)?;
                if let Some(at) = self.find(&pairs, key) {
                    return Ok(pairs[at].1);
                }
                if self.heap.literal_of(key).is_some() {
                    return Err(self.raise_with("KeyError", vec![key]));
                }
            }
            Object::Builtin(_) | Object::Class { .. } => {
                // A generic type, as in an annotation.
                return Ok(value);
            }
            _ => {}
        }
        self.ask("v0[v1]", &[value, key], true)
    }

    /// The integer of an index; none for what is no index.
    pub(super) fn index(&self, key: Ref) -> Option<BigInt> {
        match self.heap.get(key) {
            Object::Atom(Literal::Int(value)) => Some(value.clone()),
            Object::Atom(Literal::Bool(value)) => Some(BigInt::from(u8::from(*value))),
            _ => None,
        }
    }

    /// Where a dictionary holds a key.
    pub(super) fn find(&self, pairs: &[(Ref, Ref)], key: Ref) -> Option<usize> {
        let wanted = self.heap.literal_of(key);
        pairs.iter().position(|&(held, _)| {
            held == key
                || match (&wanted, self.heap.literal_of(held)) {
                    (Some(wanted), Some(held)) => wanted.equals(&held),
                    _ => self.identical(held, key),
                }
        })
    }

    /// Stores under a key as a dictionary does: in its place, or at the end.
    pub(super) fn put(&mut self, pairs: &mut Vec<(Ref, Ref)>, key: Ref, value: Ref) {
        match self.find(pairs, key) {
            Some(at) => pairs[at].1 = value,
            None => pairs.push((key, value)),
        }
    }

    /// The text of a slice over slots from `first` on, and what is in them.
    pub(super) fn slice_text(
        &mut self,
        slice: &'p Expr,
        first: usize,
    ) -> Outcome<(String, Vec<Ref>)> {
        let mut operands = Vec::new();
        let mut text = String::new();
        if let Expr::Slice(slice) = slice {
            let parts = [&slice.lower, &slice.upper, &slice.step];
            for (at, part) in parts.into_iter().enumerate() {
                if at == 1 || (at == 2 && part.is_some()) {
                    text.push(':');
                }
                if let Some(part) = part {
                    text.push('v');
                    text.push_str(&(first + operands.len()).to_string());
                    operands.push(self.expression(part)?);
                }
            }
        }
        Ok((text, operands))
    }
}

/// The place of an index in a sequence.
pub(super) fn place(index: &BigInt, length: usize) -> Option<usize> {
    let index = i64::try_from(index).ok()?;
    let at = if index < 0 {
        length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?
    } else {
        usize::try_from(index).ok()?
    };
    (at < length).then_some(at)
}
