//! Stores: names, attributes, keys, and what is unpacked.

use ruff_python_ast::Expr;

use super::machine::{Interrupt, Machine, Operations, Outcome};
use super::object::{Binding, Object, Ref, ScopeId};
use super::subscript::place;
use crate::literal::Literal;

impl<'p, O: Operations> Machine<'p, '_, O> {
    /// Where the running code binds a name.
    pub(super) fn declared_scope(&self, from: ScopeId, name: &str) -> ScopeId {
        let mut at = from;
        // A comprehension's own scope declares nothing.
        while let (None, Some(parent)) = {
            let scope = &self.scopes[at.0 as usize];
            (&scope.names, scope.parent)
        } {
            if self.scopes[at.0 as usize]
                .bindings
                .iter()
                .any(|(bound, _)| *bound == name)
            {
                return from;
            }
            at = parent;
        }
        let Some(names) = &self.scopes[at.0 as usize].names else {
            return from;
        };
        if names.globals.contains(&name) {
            return ScopeId(0);
        }
        if names.nonlocals.contains(&name) {
            let mut outer = self.scopes[at.0 as usize].parent;
            while let Some(id) = outer {
                let scope = &self.scopes[id.0 as usize];
                let has = scope
                    .names
                    .as_ref()
                    .is_some_and(|names| names.locals.contains(&name));
                if has && !scope.class {
                    return id;
                }
                outer = scope.parent;
            }
        }
        from
    }

    /// Binds a name where the running code means it.
    pub(super) fn bind(&mut self, name: &'p str, value: Ref) {
        // An assignment expression in a comprehension binds around it.
        let mut own = self.scope();
        while let (None, Some(parent)) = {
            let scope = &self.scopes[own.0 as usize];
            (&scope.names, scope.parent)
        } {
            own = parent;
        }
        let scope = self.declared_scope(own, name);
        self.bind_in(scope, name, Some(value));
    }

    pub(super) fn bind_in(&mut self, scope: ScopeId, name: &'p str, value: Option<Ref>) {
        let bindings = &mut self.scopes[scope.0 as usize].bindings;
        match bindings.iter_mut().find(|(bound, _)| *bound == name) {
            Some((_, held)) => *held = value,
            None => bindings.push((name, value)),
        }
    }

    /// `target = value` for the target of a comprehension.
    pub(super) fn assign_own(&mut self, target: &'p Expr, value: Ref) -> Outcome<()> {
        match target {
            Expr::Name(name) => {
                let scope = self.scope();
                self.bind_in(scope, name.id.as_str(), Some(value));
                Ok(())
            }
            Expr::Tuple(_) | Expr::List(_) => {
                for (target, value) in self.unpacked(target, value)? {
                    self.assign_own(target, value)?;
                }
                Ok(())
            }
            _ => self.assign(target, value),
        }
    }

    /// `target = value`.
    pub(super) fn assign(&mut self, target: &'p Expr, value: Ref) -> Outcome<()> {
        match target {
            Expr::Name(name) => {
                self.bind(name.id.as_str(), value);
                Ok(())
            }
            Expr::Tuple(_) | Expr::List(_) => {
                for (target, value) in self.unpacked(target, value)? {
                    self.assign(target, value)?;
                }
                Ok(())
            }
            Expr::Attribute(attribute) => {
                let holder = self.expression(&attribute.value)?;
                self.set_attribute(holder, attribute.attr.as_str(), value)
            }
            Expr::Subscript(subscript) => {
                let holder = self.expression(&subscript.value)?;
                if let Expr::Slice(_) = &*subscript.slice {
                    let (text, mut operands) = self.slice_text(&subscript.slice, 1)?;
                    operands.insert(0, holder);
                    let last = operands.len();
                    operands.push(value);
                    self.ask(&format!("v0[{text}] = v{last}"), &operands, false)?;
                    return Ok(());
                }
                let key = self.expression(&subscript.slice)?;
                self.store_item(holder, key, value)
            }
            Expr::Starred(starred) => self.assign(&starred.value, value),
            _ => Err(Interrupt::Unknown("a target of an unusual form".into())),
        }
    }

    fn unpacked(&mut self, target: &'p Expr, value: Ref) -> Outcome<Vec<(&'p Expr, Ref)>> {
        let targets: &'p [Expr] = match target {
            Expr::Tuple(tuple) => &tuple.elts,
            Expr::List(list) => &list.elts,
            _ => return Ok(Vec::new()),
        };
        if let Some(why) = self.unknown(value) {
            // Its parts are as unknown as the whole.
            return Ok(targets
                .iter()
                .map(|target| (target, self.heap.unknown(why.clone())))
                .collect());
        }
        let kind = self.type_name(value);
        let items = match self.all_items(value) {
            Err(Interrupt::Raise(_)) => {
                return Err(self.raise(
                    "TypeError",
                    format!("cannot unpack non-iterable {kind} object"),
                ));
            }
            other => other?,
        };
        let starred = targets.iter().position(Expr::is_starred_expr);
        let fits = match starred {
            Some(_) => items.len() + 1 >= targets.len(),
            None => items.len() == targets.len(),
        };
        if !fits {
            let (wanted, given) = (targets.len(), items.len());
            let message = if starred.is_some() {
                let wanted = wanted - 1;
                format!("not enough values to unpack (expected at least {wanted}, got {given})")
            } else if given < wanted {
                format!("not enough values to unpack (expected {wanted}, got {given})")
            } else {
                format!("too many values to unpack (expected {wanted})")
            };
            return Err(self.raise("ValueError", message));
        }
        let Some(star) = starred else {
            return Ok(targets.iter().zip(items).collect());
        };
        let behind = targets.len() - star - 1;
        let middle = items[star..items.len() - behind].to_vec();
        let rest = self.heap.add(Object::List(middle));
        let mut pairs: Vec<(&'p Expr, Ref)> = Vec::new();
        pairs.extend(targets[..star].iter().zip(items[..star].iter().copied()));
        pairs.push((&targets[star], rest));
        let last = &items[items.len() - behind..];
        pairs.extend(targets[star + 1..].iter().zip(last.iter().copied()));
        Ok(pairs)
    }

    /// `holder[key] = value`.
    pub(super) fn store_item(&mut self, holder: Ref, key: Ref, value: Ref) -> Outcome<()> {
        if self
            .special_method(holder, "__setitem__", &[key, value])?
            .is_some()
        {
            return Ok(());
        }
        if let Some(why) = self.unknown(key) {
            // Some item of it changed, nobody knows which.
            if matches!(self.heap.get(holder), Object::List(_) | Object::Dict(_)) {
                self.heap.set(holder, Object::Unknown(why));
            }
            return Ok(());
        }
        match self.heap.get(holder).clone() {
            Object::List(mut items) => {
                if let Some(index) = self.index(key) {
                    let Some(at) = place(&index, items.len()) else {
                        let message = "list assignment index out of range";
                        return Err(self.raise("IndexError", message));
                    };
                    items[at] = value;
                    self.heap.set(holder, Object::List(items));
                    return Ok(());
                }
            }
            Object::Dict(mut pairs) => {
                self.hashable(key)?;
                self.put(&mut pairs, key, value);
                self.heap.set(holder, Object::Dict(pairs));
                return Ok(());
            }
            Object::Unknown(_) => return Ok(()),
            Object::Tuple(_) | Object::Atom(Literal::Str(_)) => {
                let kind = self.type_name(holder);
                return Err(self.raise(
                    "TypeError",
                    format!("'{kind}' object does not support item assignment"),
                ));
            }
            _ => {}
        }
        self.ask("v0[v1] = v2", &[holder, key, value], false)?;
        Ok(())
    }

    /// `del target`.
    pub(super) fn delete(&mut self, target: &'p Expr) -> Outcome<()> {
        match target {
            Expr::Name(name) => {
                let name = name.id.as_str();
                self.load(name)?;
                let own = self.scope();
                let scope = self.declared_scope(own, name);
                self.scopes[scope.0 as usize]
                    .bindings
                    .retain(|(bound, _)| *bound != name);
                Ok(())
            }
            Expr::Tuple(tuple) => tuple.elts.iter().try_for_each(|target| self.delete(target)),
            Expr::List(list) => list.elts.iter().try_for_each(|target| self.delete(target)),
            Expr::Attribute(attribute) => {
                let holder = self.expression(&attribute.value)?;
                let name = attribute.attr.as_str();
                self.attribute(holder, name)?;
                if let Object::Instance { attributes, .. } = self.heap.get_mut(holder) {
                    attributes.retain(|(held, _)| *held != name);
                }
                Ok(())
            }
            Expr::Subscript(subscript) => {
                let holder = self.expression(&subscript.value)?;
                if let Expr::Slice(_) = &*subscript.slice {
                    let (text, mut operands) = self.slice_text(&subscript.slice, 1)?;
                    operands.insert(0, holder);
                    self.ask(&format!("del v0[{text}]"), &operands, false)?;
                    return Ok(());
                }
                let key = self.expression(&subscript.slice)?;
                match self.heap.get(holder).clone() {
                    Object::List(mut items) => {
                        if let Some(index) = self.index(key) {
                            let Some(at) = place(&index, items.len()) else {
                                let message = "list assignment index out of range";
                                return Err(self.raise("IndexError", message));
                            };
                            items.remove(at);
                            self.heap.set(holder, Object::List(items));
                            return Ok(());
                        }
                    }
                    Object::Dict(mut pairs) => {
                        let Some(at) = self.find(&pairs, key) else {
                            return Err(self.raise_with("KeyError", vec![key]));
                        };
                        pairs.remove(at);
                        self.heap.set(holder, Object::Dict(pairs));
                        return Ok(());
                    }
                    _ => {}
                }
                if self
                    .special_method(holder, "__delitem__", &[key])?
                    .is_some()
                {
                    return Ok(());
                }
                self.ask("del v0[v1]", &[holder, key], false)?;
                Ok(())
            }
            _ => Err(Interrupt::Unknown("`del` of an unusual form".into())),
        }
    }

    /// `holder.name = value`.
    pub(super) fn set_attribute(&mut self, holder: Ref, name: &'p str, value: Ref) -> Outcome<()> {
        let class = match self.heap.get(holder) {
            Object::Instance { class, .. } => Some(*class),
            _ => None,
        };
        if let Some(class) = class {
            // What stands under the name may be a property, or a setter behind a decorator.
            let descriptor = self.class_attribute(class, name).is_some_and(|found| {
                matches!(
                    self.heap.get(found),
                    Object::Unknown(_)
                        | Object::Function {
                            binding: Binding::Property,
                            ..
                        }
                )
            });
            if descriptor {
                return Err(Interrupt::Unknown(
                    "setters of properties are not simulated".into(),
                ));
            }
            if self.class_attribute(class, "__setattr__").is_some() {
                return Err(Interrupt::Unknown("`__setattr__` is not simulated".into()));
            }
        }
        if matches!(
            self.heap.get(holder),
            Object::Function { .. } | Object::Builtin(_) | Object::Module(_) | Object::Bound { .. }
        ) {
            return Err(Interrupt::Unknown(
                "attributes that are set on functions and modules are not simulated".into(),
            ));
        }
        match self.heap.get_mut(holder) {
            Object::Instance { attributes, .. }
            | Object::Class { attributes, .. }
            | Object::Exception { attributes, .. } => {
                match attributes.iter_mut().find(|(held, _)| *held == name) {
                    Some((_, held)) => *held = value,
                    None => attributes.push((name, value)),
                }
                Ok(())
            }
            Object::Unknown(_) => Ok(()),
            _ => {
                let kind = self.type_name(holder);
                Err(self.raise(
                    "AttributeError",
                    format!("'{kind}' object has no attribute '{name}'"),
                ))
            }
        }
    }
}
