//! Classes of the program, their instances, and attributes.

use ruff_python_ast::{Expr, Stmt, StmtClassDef};

use super::exceptions::parent;
use super::machine::{Frame, Interrupt, Machine, Operations, Outcome};
use super::object::{Binding, Kind, Object, Ref};
use crate::literal::Literal;

impl<'p, O: Operations> Machine<'p, '_, O> {
    /// A class definition: its body runs in a scope of its own, which becomes its attributes.
    pub(super) fn class(&mut self, class: &'p StmtClassDef) -> Outcome<Ref> {
        let data = match class
            .decorator_list
            .first()
            .map(|decorator| &decorator.expression)
        {
            None => false,
            Some(Expr::Name(name)) if name.id.as_str() == "dataclass" => true,
            Some(Expr::Call(call)) => match &*call.func {
                Expr::Name(name) => name.id.as_str() == "dataclass",
                _ => false,
            },
            Some(Expr::Attribute(attribute)) => attribute.attr.as_str() == "dataclass",
            Some(_) => false,
        };
        if !data && !class.decorator_list.is_empty() {
            let why = format!("`{}` has a decorator that is not simulated", class.name);
            return Ok(self.heap.unknown(why));
        }
        let mut bases = Vec::new();
        if let Some(arguments) = &class.arguments {
            for base in &arguments.args {
                bases.push(self.expression(base)?);
            }
        }
        let names = self.names_of(None, &class.body);
        let outer = self.scope();
        let scope = self.new_scope(outer, Some(names), true);
        self.frames.push(Frame {
            scope,
            activation: 0,
            function: class.name.to_string(),
            line: 0,
            last: None,
            shown: false,
            handling: Vec::new(),
            noted: None,
            method: None,
        });
        let result = self.block(&class.body);
        self.frames.pop();
        result?;
        let attributes: Vec<(&'p str, Ref)> = self.scopes[scope.0 as usize]
            .bindings
            .iter()
            .filter_map(|(name, value)| Some((*name, (*value)?)))
            .collect();
        let fields = data.then(|| {
            let mut fields: Vec<(&'p str, Option<Ref>)> = Vec::new();
            for &base in &bases {
                if let Object::Class {
                    fields: Some(inherited),
                    ..
                } = self.heap.get(base)
                {
                    fields.extend(inherited.iter().copied());
                }
            }
            for statement in &class.body {
                if let Stmt::AnnAssign(field) = statement
                    && let Expr::Name(name) = &*field.target
                {
                    let name = name.id.as_str();
                    let default = attributes.iter().find(|(held, _)| *held == name);
                    fields.push((name, default.map(|(_, value)| *value)));
                }
            }
            fields
        });
        Ok(self.heap.add(Object::Class {
            definition: class,
            bases,
            attributes,
            fields,
        }))
    }

    /// A class and all that it derives from, in the order of lookup (C3, as Python has it).
    pub(super) fn lineage(&self, class: Ref) -> Vec<Ref> {
        self.linearised(class, 0)
    }

    fn linearised(&self, class: Ref, depth: usize) -> Vec<Ref> {
        let Object::Class { bases, .. } = self.heap.get(class) else {
            return vec![class];
        };
        if depth > 32 {
            return vec![class];
        }
        let mut lists: Vec<Vec<Ref>> = bases
            .iter()
            .map(|&base| self.linearised(base, depth + 1))
            .collect();
        lists.push(bases.clone());
        let mut found = vec![class];
        loop {
            lists.retain(|list| !list.is_empty());
            let heads = lists.iter().map(|list| list[0]);
            let free = |head: &Ref| lists.iter().all(|list| !list[1..].contains(head));
            // Python refuses classes without such an order when they are defined.
            let Some(next) = heads.clone().find(free).or_else(|| heads.clone().next()) else {
                return found;
            };
            found.push(next);
            for list in &mut lists {
                list.retain(|&other| other != next);
            }
        }
    }

    /// Builtin exceptions among what a class derives from.
    pub(super) fn builtin_bases(&self, class: Ref) -> Vec<String> {
        self.lineage(class)
            .into_iter()
            .filter_map(|base| match self.heap.get(base) {
                Object::Builtin(name) => Some(name.clone()),
                _ => None,
            })
            .collect()
    }

    /// What a class or one that it derives from has under a name.
    pub(super) fn class_attribute(&self, class: Ref, name: &str) -> Option<Ref> {
        self.found_on(class, name).map(|(value, _)| value)
    }

    fn found_on(&self, class: Ref, name: &str) -> Option<(Ref, Ref)> {
        self.lineage(class).into_iter().find_map(|class| {
            let Object::Class { attributes, .. } = self.heap.get(class) else {
                return None;
            };
            let (_, value) = attributes.iter().find(|(held, _)| *held == name)?;
            Some((*value, class))
        })
    }

    /// `class(…)`.
    pub(super) fn instantiate(
        &mut self,
        class: Ref,
        arguments: Vec<Ref>,
        keywords: Vec<(&'p str, Ref)>,
    ) -> Outcome<Ref> {
        let bases = self.builtin_bases(class);
        let exception = bases
            .iter()
            .any(|name| parent(name).is_some() || name == "BaseException");
        let foreign = bases
            .iter()
            .find(|name| !exception && name.as_str() != "object");
        if let Some(base) = foreign {
            let why = format!("`{}` derives from `{base}`", self.class_name(class));
            return Ok(self.heap.unknown(why));
        }
        let instance = self.heap.add(if exception {
            Object::Exception {
                kind: Kind::Own(class),
                arguments: arguments.clone(),
                attributes: Vec::new(),
            }
        } else {
            Object::Instance {
                class,
                attributes: Vec::new(),
            }
        });
        if let Some((init, owner)) = self.found_on(class, "__init__") {
            let mut all = vec![instance];
            all.extend(arguments);
            self.invoke(init, all, keywords, Some((owner, instance)))?;
        } else if let Some(fields) = self.fields(class) {
            self.fill(instance, &fields, arguments, &keywords)?;
        } else if !exception && (!arguments.is_empty() || !keywords.is_empty()) {
            let name = self.class_name(class).to_owned();
            return Err(self.raise("TypeError", format!("{name}() takes no arguments")));
        }
        Ok(instance)
    }

    fn fields(&self, class: Ref) -> Option<Vec<(&'p str, Option<Ref>)>> {
        self.lineage(class)
            .into_iter()
            .find_map(|class| match self.heap.get(class) {
                Object::Class {
                    fields: Some(fields),
                    ..
                } => Some(fields.clone()),
                _ => None,
            })
    }

    /// The `__init__` that a data class gets.
    fn fill(
        &mut self,
        instance: Ref,
        fields: &[(&'p str, Option<Ref>)],
        arguments: Vec<Ref>,
        keywords: &[(&'p str, Ref)],
    ) -> Outcome<()> {
        if arguments.len() > fields.len() {
            return Err(self.raise("TypeError", "__init__() takes fewer arguments"));
        }
        let mut arguments = arguments.into_iter();
        for (name, default) in fields {
            let given = arguments.next().or_else(|| {
                keywords
                    .iter()
                    .find(|(key, _)| key == name)
                    .map(|(_, v)| *v)
            });
            let Some(value) = given.or(*default) else {
                return Err(self.raise(
                    "TypeError",
                    format!("__init__() missing 1 required positional argument: '{name}'"),
                ));
            };
            self.set_attribute(instance, name, value)?;
        }
        Ok(())
    }

    /// Equality of instances of one data class, field by field.
    pub(super) fn equal_fields(&self, left: Ref, right: Ref) -> Option<bool> {
        let (
            Object::Instance {
                class: a,
                attributes: left,
            },
            Object::Instance {
                class: b,
                attributes: right,
            },
        ) = (self.heap.get(left), self.heap.get(right))
        else {
            return None;
        };
        self.fields(*a)?;
        if a != b {
            return Some(false);
        }
        let mut same = true;
        for (name, value) in left {
            let (_, other) = right.iter().find(|(held, _)| held == name)?;
            let (value, other) = (self.heap.literal_of(*value)?, self.heap.literal_of(*other)?);
            same &= value.equals(&other);
        }
        Some(same)
    }

    /// Calls a special method of the program's own class; none where there is no such method.
    pub(super) fn special_method(
        &mut self,
        receiver: Ref,
        name: &str,
        arguments: &[Ref],
    ) -> Outcome<Option<Ref>> {
        let class = match self.heap.get(receiver) {
            Object::Instance { class, .. } => *class,
            Object::Exception {
                kind: Kind::Own(class),
                ..
            } => *class,
            _ => return Ok(None),
        };
        let Some((function, owner)) = self.found_on(class, name) else {
            return Ok(None);
        };
        let mut all = vec![receiver];
        all.extend_from_slice(arguments);
        self.invoke(function, all, Vec::new(), Some((owner, receiver)))
            .map(Some)
    }

    /// `value.name`.
    pub(super) fn attribute(&mut self, value: Ref, name: &'p str) -> Outcome<Ref> {
        let (own, class) = match self.heap.get(value) {
            Object::Instance { class, attributes } => {
                let found = attributes.iter().find(|(held, _)| *held == name);
                (found.map(|(_, value)| *value), *class)
            }
            Object::Class { .. } => {
                if let Some((found, _)) = self.found_on(value, name) {
                    return Ok(match self.heap.get(found) {
                        Object::Function {
                            binding: Binding::Class,
                            ..
                        } => self.heap.add(Object::Bound {
                            receiver: value,
                            function: found,
                        }),
                        _ => found,
                    });
                }
                if name == "__name__" {
                    let text = self.class_name(value).to_owned();
                    return Ok(self.heap.atom(Literal::Str(text)));
                }
                let class = self.class_name(value).to_owned();
                return Err(self.raise(
                    "AttributeError",
                    format!("type object '{class}' has no attribute '{name}'"),
                ));
            }
            Object::Exception { kind, .. } => {
                let kind = kind.clone();
                if let Some(found) = self.exception_attribute(value, name) {
                    return Ok(found);
                }
                match kind {
                    Kind::Own(class) => (None, class),
                    Kind::Builtin(_) => {
                        return Ok(self.heap.unknown(format!("`{name}` of an exception")));
                    }
                }
            }
            Object::Super { receiver, class } => {
                let (receiver, class) = (*receiver, *class);
                return Ok(self.behind(receiver, class, name));
            }
            Object::Module(module) => {
                let whole = format!("{module}.{name}");
                return self.of_module(whole);
            }
            Object::Unknown(why) => {
                let why = why.clone();
                return Ok(self.heap.unknown(why));
            }
            Object::Builtin(of) => {
                if name == "__name__" {
                    let text = of.rsplit('.').next().unwrap_or(of).to_owned();
                    return Ok(self.heap.atom(Literal::Str(text)));
                }
                let whole = format!("{of}.{name}");
                return Ok(self.heap.add(Object::Builtin(whole)));
            }
            Object::Function { code, .. } if name == "__name__" => {
                let text = match code {
                    super::object::Code::Def(definition) => definition.name.to_string(),
                    super::object::Code::Lambda(_) => "<lambda>".into(),
                };
                return Ok(self.heap.atom(Literal::Str(text)));
            }
            _ => return self.builtin_attribute(value, name),
        };
        if let Some((found, owner)) = self.found_on(class, name) {
            let _ = owner;
            match self.heap.get(found) {
                Object::Function {
                    binding: Binding::Property,
                    ..
                } => {
                    return self.invoke(found, vec![value], Vec::new(), Some((owner, value)));
                }
                Object::Function {
                    binding: Binding::Static,
                    ..
                } if own.is_none() => {
                    return Ok(found);
                }
                Object::Function {
                    binding: Binding::Class,
                    ..
                } if own.is_none() => {
                    return Ok(self.heap.add(Object::Bound {
                        receiver: class,
                        function: found,
                    }));
                }
                Object::Function { .. } if own.is_none() => {
                    return Ok(self.heap.add(Object::Bound {
                        receiver: value,
                        function: found,
                    }));
                }
                _ if own.is_none() => return Ok(found),
                _ => {}
            }
        }
        if let Some(own) = own {
            return Ok(own);
        }
        match name {
            "__class__" => return Ok(class),
            "__dict__" => return Ok(self.heap.unknown("`__dict__` is not simulated")),
            _ => {}
        }
        if self.class_attribute(class, "__getattr__").is_some() {
            return Err(Interrupt::Unknown("`__getattr__` is not simulated".into()));
        }
        let class = self.class_name(class).to_owned();
        Err(self.raise(
            "AttributeError",
            format!("'{class}' object has no attribute '{name}'"),
        ))
    }

    /// An attribute of a value of a builtin type: a method, or an error; of others nothing is known before it
    /// is called.
    fn builtin_attribute(&mut self, value: Ref, name: &'p str) -> Outcome<Ref> {
        let kind = self.type_name(value);
        if let Some((methods, values)) = super::attributes::of(&kind)
            && !methods.contains(&name)
        {
            if values.contains(&name) || name.starts_with("__") {
                return Ok(self
                    .heap
                    .unknown(format!("`{name}` of a value of type {kind}")));
            }
            return Err(self.raise(
                "AttributeError",
                format!("'{kind}' object has no attribute '{name}'"),
            ));
        }
        Ok(self.heap.add(Object::BuiltinMethod {
            receiver: value,
            name,
        }))
    }

    /// An attribute of `super()`.
    fn behind(&mut self, receiver: Ref, class: Ref, name: &'p str) -> Ref {
        let own = match self.heap.get(receiver) {
            Object::Instance { class, .. } => *class,
            Object::Exception {
                kind: Kind::Own(class),
                ..
            } => *class,
            _ => receiver,
        };
        let lineage = self.lineage(own);
        let behind = lineage.iter().position(|&held| held == class).unwrap_or(0) + 1;
        for &base in &lineage[behind.min(lineage.len())..] {
            let Object::Class { attributes, .. } = self.heap.get(base) else {
                continue;
            };
            if let Some((_, found)) = attributes.iter().find(|(held, _)| *held == name) {
                let found = *found;
                return match self.heap.get(found) {
                    Object::Function { .. } => self.heap.add(Object::Bound {
                        receiver,
                        function: found,
                    }),
                    _ => found,
                };
            }
        }
        // What every object has; an exception's `__init__` keeps its arguments.
        self.heap.add(Object::BuiltinMethod { receiver, name })
    }

    /// Constants of modules are asked for; functions wait for their call.
    fn of_module(&mut self, whole: String) -> Outcome<Ref> {
        match whole.as_str() {
            "math.pi" => return Ok(self.heap.atom(Literal::Float(std::f64::consts::PI))),
            "math.e" => return Ok(self.heap.atom(Literal::Float(std::f64::consts::E))),
            "math.inf" => return Ok(self.heap.atom(Literal::Float(f64::INFINITY))),
            "math.nan" => return Ok(self.heap.atom(Literal::Float(f64::NAN))),
            "string.ascii_lowercase"
            | "string.ascii_uppercase"
            | "string.ascii_letters"
            | "string.digits"
            | "string.punctuation"
            | "string.whitespace"
            | "string.hexdigits" => return self.ask(&whole, &[], false),
            _ => {}
        }
        Ok(self.heap.add(Object::Builtin(whole)))
    }
}
