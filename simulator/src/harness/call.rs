//! Calls: binding of arguments, functions of the program, and builtins that call back.

use ruff_python_ast::{Expr, ExprCall, Parameters, Stmt};

use super::exceptions::parent;
use super::machine::{Frame, Interrupt, Leave, Machine, Operations, Outcome};
use super::object::{Code, Object, Ref};
use crate::literal::Literal;
use crate::state::EventKind;

type Keywords<'p> = Vec<(&'p str, Ref)>;

impl<'p, O: Operations> Machine<'p, '_, O> {
    /// A call expression.
    pub(super) fn call(&mut self, call: &'p ExprCall) -> Outcome<Ref> {
        let function = self.expression(&call.func)?;
        let mut arguments = Vec::new();
        let mut keywords: Keywords<'p> = Vec::new();
        for argument in &call.arguments.args {
            if let Expr::Starred(starred) = argument {
                let value = self.expression(&starred.value)?;
                arguments.extend(self.all_items(value)?);
            } else {
                arguments.push(self.expression(argument)?);
            }
        }
        for keyword in &call.arguments.keywords {
            let value = self.expression(&keyword.value)?;
            match &keyword.arg {
                Some(name) => keywords.push((name.as_str(), value)),
                None => {
                    let Object::Dict(pairs) = self.heap.get(value).clone() else {
                        return Ok(self.heap.unknown("`**` of what is no known dictionary"));
                    };
                    for (key, value) in pairs {
                        let Object::Atom(Literal::Str(name)) = self.heap.get(key).clone() else {
                            return Err(self.raise("TypeError", "keywords must be strings"));
                        };
                        match self.parameter_named(function, &name) {
                            Some(name) => keywords.push((name, value)),
                            None => return Ok(self.heap.unknown("`**` with names of its own")),
                        }
                    }
                }
            }
        }
        if let Some(Expr::Name(name)) = Some(&*call.func)
            && name.id.as_str() == "super"
            && matches!(self.heap.get(function), Object::Builtin(_))
        {
            let method = self.frames.last().and_then(|frame| frame.method);
            return match method {
                Some((class, receiver)) => Ok(self.heap.add(Object::Super { receiver, class })),
                None => Err(self.raise("RuntimeError", "super(): no arguments")),
            };
        }
        self.apply(function, arguments, keywords)
    }

    /// The name of a parameter as the source holds it.
    fn parameter_named(&self, function: Ref, name: &str) -> Option<&'p str> {
        let parameters = match self.heap.get(function) {
            Object::Function { code, .. } => parameters_of(*code),
            Object::Bound { function, .. } => return self.parameter_named(*function, name),
            Object::Class { .. } => {
                let init = self.class_attribute(function, "__init__")?;
                return self.parameter_named(init, name);
            }
            _ => None,
        };
        let found = parameters?
            .iter_non_variadic_params()
            .find(|p| p.name().as_str() == name)?;
        Some(found.name().as_str())
    }

    /// Calls a value.
    pub(super) fn apply(
        &mut self,
        function: Ref,
        arguments: Vec<Ref>,
        keywords: Keywords<'p>,
    ) -> Outcome<Ref> {
        match self.heap.get(function).clone() {
            Object::Function { .. } => self.invoke(function, arguments, keywords, None),
            Object::Bound { receiver, function } => {
                let owner = self.owner_of(receiver, function);
                let mut all = vec![receiver];
                all.extend(arguments);
                match self.heap.get(function) {
                    Object::Function { .. } => {
                        self.invoke(function, all, keywords, owner.map(|o| (o, receiver)))
                    }
                    _ => self.apply(function, all, keywords),
                }
            }
            Object::Class { .. } => self.instantiate(function, arguments, keywords),
            Object::Instance { .. } => {
                match self.special_method(function, "__call__", &arguments)? {
                    Some(value) => Ok(value),
                    None => {
                        let name = self.type_name(function);
                        Err(self.raise("TypeError", format!("'{name}' object is not callable")))
                    }
                }
            }
            Object::BuiltinMethod { receiver, name } => {
                self.builtin_method(receiver, name, arguments, keywords)
            }
            Object::Builtin(name) => self.builtin(&name, arguments, keywords),
            Object::Unknown(why) => {
                // Whatever it did to its arguments, nobody knows.
                for argument in arguments {
                    if matches!(
                        self.heap.get(argument),
                        Object::List(_) | Object::Dict(_) | Object::Set(_)
                    ) {
                        self.heap.set(argument, Object::Unknown(why.clone()));
                    }
                }
                Ok(self.heap.unknown(why))
            }
            _ => {
                let name = self.type_name(function);
                Err(self.raise("TypeError", format!("'{name}' object is not callable")))
            }
        }
    }

    fn owner_of(&self, receiver: Ref, function: Ref) -> Option<Ref> {
        let class = match self.heap.get(receiver) {
            Object::Instance { class, .. } => *class,
            Object::Exception {
                kind: super::object::Kind::Own(class),
                ..
            } => *class,
            Object::Class { .. } => receiver,
            _ => return None,
        };
        self.lineage(class)
            .into_iter()
            .find(|&class| match self.heap.get(class) {
                Object::Class { attributes, .. } => {
                    attributes.iter().any(|(_, held)| *held == function)
                }
                _ => false,
            })
    }

    /// Values of the parameters that have defaults.
    pub(super) fn defaults(&mut self, parameters: Option<&'p Parameters>) -> Outcome<Vec<Ref>> {
        let Some(parameters) = parameters else {
            return Ok(Vec::new());
        };
        let mut values = Vec::new();
        for parameter in parameters.iter_non_variadic_params() {
            if let Some(default) = &parameter.default {
                values.push(self.expression(default)?);
            }
        }
        Ok(values)
    }

    /// Calls a function of the program: a frame is pushed, its states are noted, it is popped.
    pub(super) fn invoke(
        &mut self,
        function: Ref,
        arguments: Vec<Ref>,
        keywords: Keywords<'p>,
        method: Option<(Ref, Ref)>,
    ) -> Outcome<Ref> {
        let Object::Function {
            code,
            scope,
            defaults,
            ..
        } = self.heap.get(function).clone()
        else {
            return self.apply(function, arguments, keywords);
        };
        if self.frames.len() > self.limits.depth {
            return Err(Interrupt::Limit("calls within calls"));
        }
        let parameters = parameters_of(code);
        let (name, names, line) = match code {
            Code::Def(definition) => {
                let names = self.names_of(Some(&definition.parameters), &definition.body);
                if names.generator || definition.is_async {
                    let why = format!("`{}` is a generator or coroutine", definition.name);
                    return Ok(self.heap.unknown(why));
                }
                // That of `def`: its decorators ran before.
                let line = self.program.line_of(&definition.name);
                (definition.name.to_string(), names, line)
            }
            Code::Lambda(lambda) => {
                let key = std::ptr::from_ref(lambda) as usize;
                let names = self
                    .names
                    .entry(key)
                    .or_insert_with(|| std::rc::Rc::new(super::names::names(parameters, &[])))
                    .clone();
                ("<lambda>".to_owned(), names, self.program.line_of(lambda))
            }
        };
        let bound = self.bound(&name, parameters, &defaults, arguments, keywords)?;
        let inner = self.new_scope(scope, Some(names), false);
        for (name, value) in bound {
            self.bind_in(inner, name, Some(value));
        }
        let owner = method.map(|(class, _)| format!("{}.", self.class_name(class)));
        let shown = matches!(code, Code::Def(_));
        let activation = self.activations;
        self.activations += usize::from(shown);
        self.frames.push(Frame {
            scope: inner,
            activation,
            function: owner.unwrap_or_default() + &name,
            line,
            last: None,
            shown,
            handling: Vec::new(),
            noted: None,
            method,
        });
        let result = self.body(code, line);
        self.frames.pop();
        result
    }

    fn body(&mut self, code: Code<'p>, line: u32) -> Outcome<Ref> {
        self.event(EventKind::Call, line, None)?;
        let result = match code {
            Code::Lambda(lambda) => return self.expression(&lambda.body),
            Code::Def(definition) => self.block(without_docstring(&definition.body)),
        };
        let value = match result {
            Ok(Leave::Returns(value)) => value,
            Ok(_) => self.heap.none(),
            Err(Interrupt::Raise(exception)) => {
                self.note(exception)?;
                let line = self.frame().line;
                let nothing = self.heap.none();
                self.event(EventKind::Return, line, Some(nothing))?;
                return Err(Interrupt::Raise(exception));
            }
            Err(other) => return Err(other),
        };
        let line = self.frame().line;
        self.event(EventKind::Return, line, Some(value))?;
        Ok(value)
    }

    /// Parameters with their values, or the `TypeError` that Python raises.
    fn bound(
        &mut self,
        name: &str,
        parameters: Option<&'p Parameters>,
        defaults: &[Ref],
        arguments: Vec<Ref>,
        mut keywords: Keywords<'p>,
    ) -> Outcome<Vec<(&'p str, Ref)>> {
        let Some(parameters) = parameters else {
            if arguments.is_empty() && keywords.is_empty() {
                return Ok(Vec::new());
            }
            let given = arguments.len();
            let were = if given == 1 { "was" } else { "were" };
            let message = format!("{name}() takes 0 positional arguments but {given} {were} given");
            return Err(self.raise("TypeError", message));
        };
        let mut bound = Vec::new();
        let mut defaults = defaults.iter().copied();
        let given = arguments.len();
        let mut arguments = arguments.into_iter();
        let mut missing: Vec<&str> = Vec::new();
        let positional = parameters.posonlyargs.iter().chain(&parameters.args);
        let count = parameters.posonlyargs.len() + parameters.args.len();
        let with_default = positional.clone().filter(|p| p.default.is_some()).count();
        for (at, parameter) in positional.enumerate() {
            let own = parameter.name().as_str();
            let default = parameter.default.as_ref().and_then(|_| defaults.next());
            let keyword = if at < parameters.posonlyargs.len() {
                None
            } else {
                keywords.iter().position(|(key, _)| *key == own)
            };
            let value = match (arguments.next(), keyword) {
                (Some(_), Some(_)) => {
                    let message = format!("{name}() got multiple values for argument '{own}'");
                    return Err(self.raise("TypeError", message));
                }
                (Some(value), None) => Some(value),
                (None, Some(at)) => Some(keywords.remove(at).1),
                (None, None) => default,
            };
            match value {
                Some(value) => bound.push((own, value)),
                None => missing.push(own),
            }
        }
        let rest: Vec<Ref> = arguments.collect();
        if !missing.is_empty() {
            let message = missing_text(name, "positional", &missing);
            return Err(self.raise("TypeError", message));
        }
        if let Some(variadic) = &parameters.vararg {
            let rest = self.heap.add(Object::Tuple(rest));
            bound.push((variadic.name().as_str(), rest));
        } else if !rest.is_empty() {
            let plural = if count == 1 { "" } else { "s" };
            let takes = if with_default > 0 {
                format!(
                    "from {} to {count} positional arguments",
                    count - with_default
                )
            } else {
                format!("{count} positional argument{plural}")
            };
            let were = if given == 1 { "was" } else { "were" };
            let message = format!("{name}() takes {takes} but {given} {were} given");
            return Err(self.raise("TypeError", message));
        }
        for parameter in &parameters.kwonlyargs {
            let own = parameter.name().as_str();
            let default = parameter.default.as_ref().and_then(|_| defaults.next());
            let keyword = keywords.iter().position(|(key, _)| *key == own);
            match keyword.map(|at| keywords.remove(at).1).or(default) {
                Some(value) => bound.push((own, value)),
                None => missing.push(own),
            }
        }
        if !missing.is_empty() {
            let message = missing_text(name, "keyword-only", &missing);
            return Err(self.raise("TypeError", message));
        }
        if let Some(variadic) = &parameters.kwarg {
            let mut pairs = Vec::new();
            for (key, value) in keywords {
                let key = self.heap.atom(Literal::Str(key.to_owned()));
                pairs.push((key, value));
            }
            let rest = self.heap.add(Object::Dict(pairs));
            bound.push((variadic.name().as_str(), rest));
        } else if let Some((key, _)) = keywords.first() {
            let message = format!("{name}() got an unexpected keyword argument '{key}'");
            return Err(self.raise("TypeError", message));
        }
        Ok(bound)
    }

    /// A builtin function or type.
    fn builtin(
        &mut self,
        name: &str,
        mut arguments: Vec<Ref>,
        mut keywords: Keywords<'p>,
    ) -> Outcome<Ref> {
        if parent(name).is_some() || name == "BaseException" {
            return Ok(self.heap.add(Object::Exception {
                kind: super::object::Kind::Builtin(name.to_owned()),
                arguments,
                attributes: Vec::new(),
            }));
        }
        match (name, &arguments[..]) {
            // They change what the harness keeps, names and attributes, behind its back.
            (
                "setattr" | "delattr" | "exec" | "eval" | "compile" | "globals" | "locals" | "vars"
                | "__import__" | "breakpoint",
                _,
            ) => return Err(Interrupt::Unknown(format!("`{name}` is not simulated"))),
            ("print", _) if !arguments.iter().any(|&value| self.has_own_methods(value)) => {
                return Ok(self.heap.none());
            }
            ("isinstance" | "issubclass", &[value, kinds]) => {
                if let Some(holds) = self.own_instance(value, kinds) {
                    return Ok(self.heap.atom(Literal::Bool(holds)));
                }
            }
            ("type", &[value]) => match self.heap.get(value) {
                Object::Instance { class, .. } => return Ok(*class),
                Object::Exception { .. } => {
                    let (kind, _) = self.exception_text(value);
                    return Ok(self.heap.add(Object::Builtin(kind)));
                }
                _ => {}
            },
            ("callable", &[value]) => {
                let holds = matches!(
                    self.heap.get(value),
                    Object::Function { .. }
                        | Object::Bound { .. }
                        | Object::Builtin(_)
                        | Object::BuiltinMethod { .. }
                        | Object::Class { .. }
                );
                return Ok(self.heap.atom(Literal::Bool(holds)));
            }
            ("getattr" | "hasattr", &[value, attribute, ..]) => {
                return self.attribute_named(name, value, attribute, arguments.get(2).copied());
            }
            ("map", [function, rest @ ..]) if !rest.is_empty() => {
                let columns = rest
                    .iter()
                    .map(|&column| self.all_items(column))
                    .collect::<Outcome<Vec<_>>>()?;
                let rows = columns.iter().map(Vec::len).min().unwrap_or(0);
                let function = *function;
                let mut items = Vec::new();
                for row in 0..rows {
                    let row = columns.iter().map(|column| column[row]).collect();
                    items.push(self.apply(function, row, Vec::new())?);
                }
                return Ok(self.heap.add(Object::Iterator(items, 0)));
            }
            ("filter", &[function, over]) => {
                let mut kept = Vec::new();
                for item in self.all_items(over)? {
                    let holds = if matches!(self.heap.get(function), Object::Atom(Literal::None)) {
                        item
                    } else {
                        self.apply(function, vec![item], Vec::new())?
                    };
                    if self.truth(holds)? {
                        kept.push(item);
                    }
                }
                return Ok(self.heap.add(Object::Iterator(kept, 0)));
            }
            ("len", &[value]) => {
                if let Some(result) = self.special_method(value, "__len__", &[])? {
                    return Ok(result);
                }
            }
            ("str" | "repr" | "int" | "float" | "abs" | "bool" | "hash", &[value]) => {
                let method = match name {
                    "str" => "__str__",
                    "repr" => "__repr__",
                    "int" => "__int__",
                    "float" => "__float__",
                    "abs" => "__abs__",
                    "hash" => "__hash__",
                    _ => "__bool__",
                };
                if name == "bool" {
                    let holds = self.truth(value)?;
                    return Ok(self.heap.atom(Literal::Bool(holds)));
                }
                return self.method_or(method, &format!("{name}(v0)"), value);
            }
            ("object", []) => return Ok(self.heap.unknown("a bare object")),
            ("super", _) => return Ok(self.heap.unknown("`super` with arguments")),
            ("dict", []) if !keywords.is_empty() => {
                let mut pairs = Vec::new();
                for (key, value) in keywords {
                    let key = self.heap.atom(Literal::Str(key.to_owned()));
                    pairs.push((key, value));
                }
                return Ok(self.heap.add(Object::Dict(pairs)));
            }
            ("list" | "tuple", &[value])
                // Objects that are no literals can still be collected.
                if self.heap.literal_of(value).is_none()
                    && matches!(
                        self.heap.get(value),
                        Object::List(_)
                            | Object::Tuple(_)
                            | Object::Iterator(..)
                            | Object::View(..)
                    )
                => {
                    let items = self.all_items(value)?;
                    if items
                        .iter()
                        .any(|&item| self.heap.literal_of(item).is_none())
                    {
                        return Ok(self.heap.add(if name == "list" {
                            Object::List(items)
                        } else {
                            Object::Tuple(items)
                        }));
                    }
                    let list = self.heap.add(Object::Iterator(items, 0));
                    return self.ask(&format!("{name}(v0)"), &[list], false);
                }
            _ => {}
        }
        if let Some(at) = keywords.iter().position(|(key, _)| *key == "key")
            && matches!(name, "sorted" | "max" | "min")
        {
            let function = keywords[at].1;
            if self.is_callable(function) {
                let over = if arguments.len() == 1 {
                    self.all_items(arguments[0])?
                } else {
                    arguments.clone()
                };
                let keys = self.keys(function, &over)?;
                let list = self.heap.add(Object::List(over));
                arguments = vec![list];
                keywords[at].1 = keys;
            } else {
                keywords.remove(at);
            }
        }
        let whole = matches!(name, "max" | "min" | "next");
        let text = call_text(name, 0, arguments.len(), &keywords);
        arguments.extend(keywords.into_iter().map(|(_, value)| value));
        self.ask(&text, &arguments, whole)
    }

    fn is_callable(&self, value: Ref) -> bool {
        !matches!(self.heap.get(value), Object::Atom(_) | Object::Unknown(_))
    }

    /// What a key function gives for each item, as a list.
    fn keys(&mut self, function: Ref, items: &[Ref]) -> Outcome<Ref> {
        let mut keys = Vec::new();
        for &item in items {
            keys.push(self.apply(function, vec![item], Vec::new())?);
        }
        Ok(self.heap.add(Object::List(keys)))
    }

    /// `isinstance` with a class or a value of the program's own.
    fn own_instance(&mut self, value: Ref, kinds: Ref) -> Option<bool> {
        match self.heap.get(kinds).clone() {
            Object::Tuple(all) => {
                let answers: Vec<Option<bool>> = all
                    .iter()
                    .map(|&kind| self.own_instance(value, kind))
                    .collect();
                if answers.contains(&Some(true)) {
                    return Some(true);
                }
                answers
                    .into_iter()
                    .collect::<Option<Vec<bool>>>()
                    .map(|_| false)
            }
            Object::Class { .. } => {
                let class = match self.heap.get(value) {
                    Object::Instance { class, .. } => *class,
                    Object::Exception {
                        kind: super::object::Kind::Own(class),
                        ..
                    } => *class,
                    Object::Class { .. } => value,
                    Object::Unknown(_) => return None,
                    _ => return Some(false),
                };
                Some(self.lineage(class).contains(&kinds))
            }
            Object::Builtin(name) => match self.heap.get(value) {
                Object::Instance { .. } => Some(name == "object"),
                Object::Function { .. } | Object::Class { .. } => Some(name == "object"),
                _ => None,
            },
            _ => None,
        }
    }

    fn attribute_named(
        &mut self,
        call: &str,
        value: Ref,
        attribute: Ref,
        default: Option<Ref>,
    ) -> Outcome<Ref> {
        let Object::Atom(Literal::Str(name)) = self.heap.get(attribute).clone() else {
            return Ok(self.heap.unknown("an attribute of an unknown name"));
        };
        let held = match self.heap.get(value) {
            Object::Instance { class, attributes } => {
                let own = attributes.iter().find(|(held, _)| *held == name);
                match own {
                    Some((_, value)) => Some(Some(*value)),
                    None if self.class_attribute(*class, &name).is_some() => None,
                    None => Some(None),
                }
            }
            _ => None,
        };
        match (call, held) {
            (_, None) => Ok(self.heap.unknown(format!("attribute `{name}` by its name"))),
            ("hasattr", Some(found)) => Ok(self.heap.atom(Literal::Bool(found.is_some()))),
            (_, Some(Some(found))) => Ok(found),
            (_, Some(None)) => match default {
                Some(default) => Ok(default),
                None => {
                    let kind = self.type_name(value);
                    Err(self.raise(
                        "AttributeError",
                        format!("'{kind}' object has no attribute '{name}'"),
                    ))
                }
            },
        }
    }

    /// A method of a builtin value.
    fn builtin_method(
        &mut self,
        receiver: Ref,
        name: &'p str,
        arguments: Vec<Ref>,
        mut keywords: Keywords<'p>,
    ) -> Outcome<Ref> {
        // `super().__init__(…)` of an exception keeps the arguments; of an object it does nothing.
        if name == "__init__" {
            if let Object::Exception {
                arguments: held, ..
            } = self.heap.get_mut(receiver)
            {
                *held = arguments;
            }
            return Ok(self.heap.none());
        }
        if let Some(at) = keywords.iter().position(|(key, _)| *key == "key")
            && name == "sort"
            && let Object::List(items) = self.heap.get(receiver).clone()
        {
            let function = keywords[at].1;
            if self.is_callable(function) {
                keywords[at].1 = self.keys(function, &items)?;
            } else {
                keywords.remove(at);
            }
        }
        // Objects that are no literals can still be kept in containers.
        if let Some(done) = self.kept(receiver, name, &arguments)? {
            return Ok(done);
        }
        let whole = matches!(
            name,
            "get" | "pop" | "popitem" | "setdefault" | "__getitem__"
        );
        let text = call_text(&format!("v0.{name}"), 1, arguments.len(), &keywords);
        let mut operands = vec![receiver];
        operands.extend(arguments);
        operands.extend(keywords.into_iter().map(|(_, value)| value));
        let given = self.ask(&text, &operands, whole)?;
        if matches!(name, "get" | "setdefault")
            && let (Object::Dict(pairs), Some(&key)) = (self.heap.get(receiver), operands.get(1))
            && let Some(at) = self.find(pairs, key)
            && self.heap.literal_of(pairs[at].1) == self.heap.literal_of(given)
        {
            // Of several equal values it is the one under the key.
            return Ok(pairs[at].1);
        }
        Ok(given)
    }

    /// `append` and its like with objects that have no text to ask with.
    fn kept(&mut self, receiver: Ref, name: &str, arguments: &[Ref]) -> Outcome<Option<Ref>> {
        let plain = self.heap.literal_of(receiver).is_some()
            && arguments
                .iter()
                .all(|&argument| self.heap.literal_of(argument).is_some());
        if plain
            || arguments
                .iter()
                .any(|&argument| self.unknown(argument).is_some())
        {
            return Ok(None);
        }
        match (self.heap.get(receiver).clone(), name, arguments) {
            (Object::List(mut items), "append", &[item]) => {
                items.push(item);
                self.heap.set(receiver, Object::List(items));
            }
            (Object::List(mut items), "pop", []) if !items.is_empty() => {
                let last = items.pop();
                self.heap.set(receiver, Object::List(items));
                return Ok(last);
            }
            (Object::List(mut items), "extend", &[other])
                if matches!(self.heap.get(other), Object::List(_) | Object::Tuple(_)) =>
            {
                items.extend(self.all_items(other)?);
                self.heap.set(receiver, Object::List(items));
            }
            (Object::Dict(pairs), "get", &[key, ..]) => {
                let found = self.find(&pairs, key).map(|at| pairs[at].1);
                let default = arguments.get(1).copied();
                return Ok(Some(match found.or(default) {
                    Some(value) => value,
                    None => self.heap.none(),
                }));
            }
            (Object::Dict(pairs), "values" | "keys" | "items", []) => {
                let kind = match name {
                    "values" => "dict_values",
                    "keys" => "dict_keys",
                    _ => "dict_items",
                };
                let items = pairs
                    .iter()
                    .map(|&(key, value)| match name {
                        "values" => value,
                        "keys" => key,
                        _ => self.heap.add(Object::Tuple(vec![key, value])),
                    })
                    .collect();
                return Ok(Some(self.heap.add(Object::View(kind, items))));
            }
            _ => return Ok(None),
        }
        Ok(Some(self.heap.none()))
    }
}

fn parameters_of(code: Code<'_>) -> Option<&Parameters> {
    match code {
        Code::Def(definition) => Some(&definition.parameters),
        Code::Lambda(lambda) => lambda.parameters.as_deref(),
    }
}

/// `name(v0, v1, key=v2)`, with slots from `first` on.
fn call_text(name: &str, first: usize, count: usize, keywords: &[(&str, Ref)]) -> String {
    let mut parts: Vec<String> = (first..first + count)
        .map(|slot| format!("v{slot}"))
        .collect();
    for (slot, (key, _)) in (first + count..).zip(keywords) {
        parts.push(format!("{key}=v{slot}"));
    }
    format!("{name}({})", parts.join(", "))
}

fn missing_text(name: &str, kind: &str, missing: &[&str]) -> String {
    let quoted: Vec<String> = missing.iter().map(|name| format!("'{name}'")).collect();
    let names = match &quoted[..] {
        [one] => one.clone(),
        [one, two] => format!("{one} and {two}"),
        [rest @ .., last] => format!("{}, and {last}", rest.join(", ")),
        [] => String::new(),
    };
    let plural = if missing.len() == 1 { "" } else { "s" };
    format!(
        "{name}() missing {} required {kind} argument{plural}: {names}",
        missing.len()
    )
}

/// Python makes no line of a function's first text.
fn without_docstring(body: &[Stmt]) -> &[Stmt] {
    match body {
        [Stmt::Expr(first), rest @ ..] if first.value.is_string_literal_expr() => rest,
        all => all,
    }
}
