//! Expressions: operands first, from left to right, and then the operation.

use ruff_python_ast::{
    BoolOp, CmpOp, ConversionFlag, Expr, FStringPart, InterpolatedStringElement, Number, Operator,
    UnaryOp,
};

use super::machine::{Interrupt, Machine, Operations, Outcome};
use super::object::{Binding, Code, Object, Ref, ScopeId};
use crate::literal::{self, Literal};

impl<'p, O: Operations> Machine<'p, '_, O> {
    /// The value of an expression.
    pub(super) fn expression(&mut self, expression: &'p Expr) -> Outcome<Ref> {
        match expression {
            Expr::NoneLiteral(_) => Ok(self.heap.none()),
            Expr::BooleanLiteral(value) => Ok(self.heap.atom(Literal::Bool(value.value))),
            Expr::EllipsisLiteral(_) => Ok(self.heap.atom(Literal::Ellipsis)),
            Expr::StringLiteral(text) => {
                Ok(self.heap.atom(Literal::Str(text.value.to_str().to_owned())))
            }
            Expr::BytesLiteral(bytes) => {
                let bytes: Vec<u8> = bytes.value.bytes().collect();
                Ok(self.heap.atom(Literal::Bytes(bytes)))
            }
            Expr::NumberLiteral(number) => Ok(self.number(&number.value)),
            Expr::Name(name) => self.load(name.id.as_str()),
            Expr::Named(named) => {
                let value = self.expression(&named.value)?;
                self.assign(&named.target, value)?;
                Ok(value)
            }
            Expr::BoolOp(operation) => {
                let until = operation.op == BoolOp::Or;
                let mut value = None;
                for operand in &operation.values {
                    let found = self.expression(operand)?;
                    value = Some(found);
                    // The last one is the value whether it is true or not.
                    let last = operation
                        .values
                        .last()
                        .is_some_and(|l| std::ptr::eq(l, operand));
                    if !last && self.truth(found)? == until {
                        break;
                    }
                }
                value.ok_or_else(|| Interrupt::Unknown("an empty expression".into()))
            }
            Expr::UnaryOp(operation) => {
                let operand = self.expression(&operation.operand)?;
                match operation.op {
                    UnaryOp::Not => {
                        let holds = !self.truth(operand)?;
                        Ok(self.heap.atom(Literal::Bool(holds)))
                    }
                    UnaryOp::USub => self.negated(&operation.operand, operand),
                    UnaryOp::UAdd => self.ask("+v0", &[operand], false),
                    UnaryOp::Invert => self.ask("~v0", &[operand], false),
                }
            }
            Expr::BinOp(operation) => {
                let left = self.expression(&operation.left)?;
                let right = self.expression(&operation.right)?;
                self.binary(operation.op, left, right)
            }
            Expr::Compare(comparison) => {
                let mut left = self.expression(&comparison.left)?;
                let pairs = comparison.ops.iter().zip(&comparison.comparators);
                let count = comparison.ops.len();
                for (at, (operator, right)) in pairs.enumerate() {
                    let right = self.expression(right)?;
                    let value = self.compared(*operator, left, right)?;
                    if at + 1 == count || !self.truth(value)? {
                        return Ok(value);
                    }
                    left = right;
                }
                Ok(left)
            }
            Expr::If(choice) => {
                let test = self.expression(&choice.test)?;
                let taken = if self.truth(test)? {
                    &choice.body
                } else {
                    &choice.orelse
                };
                self.expression(taken)
            }
            Expr::List(list) => {
                let items = self.items(&list.elts)?;
                Ok(self.heap.add(Object::List(items)))
            }
            Expr::Tuple(tuple) => {
                let items = self.items(&tuple.elts)?;
                Ok(self.heap.add(Object::Tuple(items)))
            }
            Expr::Set(set) => {
                let items = self.items(&set.elts)?;
                self.set_of(items)
            }
            Expr::Dict(dict) => {
                let mut pairs = Vec::new();
                for item in &dict.items {
                    let Some(key) = &item.key else {
                        let other = self.expression(&item.value)?;
                        let Object::Dict(others) = self.heap.get(other).clone() else {
                            return Ok(self.heap.unknown("`**` of what is no known dictionary"));
                        };
                        for (key, value) in others {
                            self.put(&mut pairs, key, value);
                        }
                        continue;
                    };
                    let key = self.expression(key)?;
                    let value = self.expression(&item.value)?;
                    self.hashable(key)?;
                    self.put(&mut pairs, key, value);
                }
                Ok(self.heap.add(Object::Dict(pairs)))
            }
            Expr::Subscript(subscript) => {
                let value = self.expression(&subscript.value)?;
                self.subscript(value, &subscript.slice)
            }
            Expr::Attribute(attribute) => {
                let value = self.expression(&attribute.value)?;
                self.attribute(value, attribute.attr.as_str())
            }
            Expr::Call(call) => self.call(call),
            Expr::FString(text) => {
                let mut parts = Vec::new();
                for part in &text.value {
                    match part {
                        FStringPart::Literal(literal) => parts.push(literal.value.to_string()),
                        FStringPart::FString(formatted) => {
                            match self.formatted(&formatted.elements)? {
                                Ok(text) => parts.push(text),
                                Err(unknown) => return Ok(unknown),
                            }
                        }
                    }
                }
                Ok(self.heap.atom(Literal::Str(parts.concat())))
            }
            Expr::Lambda(lambda) => {
                let parameters = lambda.parameters.as_deref();
                let defaults = self.defaults(parameters)?;
                let scope = self.scope();
                Ok(self.heap.add(Object::Function {
                    code: Code::Lambda(lambda),
                    scope,
                    defaults,
                    binding: Binding::Plain,
                }))
            }
            Expr::ListComp(inner) => {
                let items = self.comprehension(&inner.generators, &[&inner.elt])?;
                Ok(self.heap.add(Object::List(items)))
            }
            Expr::Generator(inner) => {
                let items = self.comprehension(&inner.generators, &[&inner.elt])?;
                Ok(self.heap.add(Object::Iterator(items, 0)))
            }
            Expr::SetComp(inner) => {
                let items = self.comprehension(&inner.generators, &[&inner.elt])?;
                self.set_of(items)
            }
            Expr::DictComp(inner) => {
                let Some(key) = &inner.key else {
                    return Ok(self
                        .heap
                        .unknown("a dictionary unpacked in a comprehension"));
                };
                let flat = self.comprehension(&inner.generators, &[key, &inner.value])?;
                let mut pairs = Vec::new();
                for pair in flat.chunks_exact(2) {
                    self.hashable(pair[0])?;
                    self.put(&mut pairs, pair[0], pair[1]);
                }
                Ok(self.heap.add(Object::Dict(pairs)))
            }
            Expr::Starred(_) | Expr::Slice(_) => Ok(self
                .heap
                .unknown("a starred expression or slice on its own")),
            Expr::Await(_)
            | Expr::Yield(_)
            | Expr::YieldFrom(_)
            | Expr::TString(_)
            | Expr::IpyEscapeCommand(_) => Err(Interrupt::Unknown(
                "generators, coroutines and template strings are not simulated".into(),
            )),
        }
    }

    fn number(&mut self, number: &Number) -> Ref {
        let literal = match number {
            Number::Int(value) => match literal::parse(&value.to_string()) {
                Ok(literal) => literal,
                Err(_) => return self.heap.unknown("a number in an unusual form"),
            },
            Number::Float(value) => Literal::Float(*value),
            Number::Complex { real, imag } => Literal::Complex(*real, *imag),
        };
        self.heap.atom(literal)
    }

    /// `-x`: a negative number in the source is a constant, everything else is asked.
    fn negated(&mut self, source: &Expr, operand: Ref) -> Outcome<Ref> {
        if source.is_number_literal_expr() {
            match self.heap.get(operand) {
                Object::Atom(Literal::Int(value)) => {
                    let value = -value.clone();
                    return Ok(self.heap.atom(Literal::Int(value)));
                }
                Object::Atom(Literal::Float(value)) => {
                    let value = -*value;
                    return Ok(self.heap.atom(Literal::Float(value)));
                }
                _ => {}
            }
        }
        if let Some(result) = self.special_method(operand, "__neg__", &[])? {
            return Ok(result);
        }
        self.ask("-v0", &[operand], false)
    }

    pub(super) fn binary(&mut self, operator: Operator, left: Ref, right: Ref) -> Outcome<Ref> {
        let (symbol, method, reflected) = operator_names(operator);
        if let Some(result) = self.special_method(left, method, &[right])? {
            return Ok(result);
        }
        if let Some(result) = self.special_method(right, reflected, &[left])? {
            return Ok(result);
        }
        self.ask(&format!("v0 {symbol} v1"), &[left, right], false)
    }

    fn compared(&mut self, operator: CmpOp, left: Ref, right: Ref) -> Outcome<Ref> {
        let symbol = operator.as_str();
        match operator {
            CmpOp::Is | CmpOp::IsNot => {
                if let Some(why) = self.unknown(left).or_else(|| self.unknown(right)) {
                    return Ok(self.heap.unknown(why));
                }
                let same = self.identical(left, right);
                return Ok(self
                    .heap
                    .atom(Literal::Bool(same == (operator == CmpOp::Is))));
            }
            CmpOp::In | CmpOp::NotIn => {
                if let Some(result) = self.special_method(right, "__contains__", &[left])? {
                    let holds = self.truth(result)? == (operator == CmpOp::In);
                    return Ok(self.heap.atom(Literal::Bool(holds)));
                }
            }
            _ => {
                let names = match operator {
                    CmpOp::Eq => ("__eq__", "__eq__"),
                    CmpOp::NotEq => ("__ne__", "__ne__"),
                    CmpOp::Lt => ("__lt__", "__gt__"),
                    CmpOp::LtE => ("__le__", "__ge__"),
                    CmpOp::Gt => ("__gt__", "__lt__"),
                    _ => ("__ge__", "__le__"),
                };
                if let Some(result) = self.special_method(left, names.0, &[right])? {
                    return Ok(result);
                }
                if let Some(result) = self.special_method(right, names.1, &[left])? {
                    return Ok(result);
                }
                if matches!(operator, CmpOp::Eq | CmpOp::NotEq)
                    && let Some(same) = self.same_object(left, right)?
                {
                    let holds = same == (operator == CmpOp::Eq);
                    return Ok(self.heap.atom(Literal::Bool(holds)));
                }
            }
        }
        self.ask(&format!("v0 {symbol} v1"), &[left, right], false)
    }

    /// Equality of objects of the program's own classes, which is identity unless they say otherwise;
    /// none where neither side is one.
    fn same_object(&mut self, left: Ref, right: Ref) -> Outcome<Option<bool>> {
        for (one, other) in [(left, right), (right, left)] {
            if matches!(self.heap.get(one), Object::Instance { .. })
                && let Some(result) = self.special_method(one, "__ne__", &[other])?
            {
                return Ok(Some(!self.truth(result)?));
            }
        }
        let own = |object: &Object<'_>| {
            matches!(
                object,
                Object::Instance { .. } | Object::Class { .. } | Object::Function { .. }
            )
        };
        let either = own(self.heap.get(left)) || own(self.heap.get(right));
        if !either || self.unknown(left).or_else(|| self.unknown(right)).is_some() {
            return Ok(None);
        }
        if let Some(same) = self.equal_fields(left, right) {
            return Ok(Some(same));
        }
        Ok(Some(self.identical(left, right)))
    }

    /// `is`. Small values that Python keeps once are one however they were made.
    pub(super) fn identical(&self, left: Ref, right: Ref) -> bool {
        if left == right {
            return true;
        }
        match (self.heap.get(left), self.heap.get(right)) {
            (Object::Atom(a), Object::Atom(b)) => {
                a.type_name() == b.type_name()
                    && matches!(
                        a,
                        Literal::None
                            | Literal::Bool(_)
                            | Literal::Ellipsis
                            | Literal::Int(_)
                            | Literal::Str(_)
                    )
                    && a == b
            }
            (Object::Builtin(a), Object::Builtin(b)) => a == b,
            (Object::Tuple(a), Object::Tuple(b)) => a.is_empty() && b.is_empty(),
            _ => false,
        }
    }

    /// Items of a display, with starred ones spread.
    pub(super) fn items(&mut self, expressions: &'p [Expr]) -> Outcome<Vec<Ref>> {
        let mut items = Vec::with_capacity(expressions.len());
        for expression in expressions {
            if let Expr::Starred(starred) = expression {
                let value = self.expression(&starred.value)?;
                items.extend(self.all_items(value)?);
            } else {
                items.push(self.expression(expression)?);
            }
        }
        Ok(items)
    }

    /// A set of values, each once.
    fn set_of(&mut self, items: Vec<Ref>) -> Outcome<Ref> {
        let mut held: Vec<(Literal, Ref)> = Vec::new();
        for item in items {
            self.hashable(item)?;
            let Some(literal) = self.heap.literal_of(item) else {
                return Ok(self.heap.unknown("a set of what is no literal"));
            };
            if !held.iter().any(|(other, _)| other.equals(&literal)) {
                held.push((literal, item));
            }
        }
        let items = self.in_set_order(held.into_iter().map(|(_, item)| item).collect());
        Ok(self.heap.add(Object::Set(items)))
    }

    /// Raises what Python raises for keys that can change.
    pub(super) fn hashable(&mut self, key: Ref) -> Outcome<()> {
        let kind = match self.heap.get(key) {
            Object::List(_) => "list",
            Object::Dict(_) => "dict",
            Object::Set(_) => "set",
            Object::Tuple(items) => {
                for item in items.clone() {
                    self.hashable(item)?;
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        Err(self.raise("TypeError", format!("unhashable type: '{kind}'")))
    }

    /// Whether a value counts as true; a branch on what is unknown ends the run.
    pub(super) fn truth(&mut self, value: Ref) -> Outcome<bool> {
        let holds = match self.heap.get(value) {
            Object::Atom(literal) => literal.is_true(),
            Object::List(items)
            | Object::Tuple(items)
            | Object::Set(items)
            | Object::FrozenSet(items)
            | Object::View(_, items) => !items.is_empty(),
            Object::Dict(items) => !items.is_empty(),
            Object::Unknown(why) => {
                return Err(Interrupt::Unknown(format!("which way to go: {why}")));
            }
            Object::Instance { .. } => {
                for (method, wrapped) in [("__bool__", false), ("__len__", true)] {
                    if let Some(result) = self.special_method(value, method, &[])? {
                        let _ = wrapped;
                        return self.truth(result);
                    }
                }
                true
            }
            _ => true,
        };
        Ok(holds)
    }

    /// Why a value is unknown, if it is.
    pub(super) fn unknown(&self, value: Ref) -> Option<String> {
        match self.heap.get(value) {
            Object::Unknown(why) => Some(why.clone()),
            _ => None,
        }
    }

    /// The value of a name.
    pub(super) fn load(&mut self, name: &str) -> Outcome<Ref> {
        let own = self.scope();
        let mut at = Some(self.declared_scope(own, name));
        let mut first = true;
        while let Some(id) = at {
            let scope = &self.scopes[id.0 as usize];
            let found = scope.bindings.iter().find(|(bound, _)| *bound == name);
            if let Some((_, value)) = found
                && (first || !scope.class)
            {
                match value {
                    Some(value) => return Ok(*value),
                    None => return Err(self.unbound(name)),
                }
            }
            let local = scope
                .names
                .as_ref()
                .is_some_and(|names| names.locals.contains(&name));
            if local && !scope.class {
                return Err(if first || self.is_comprehension_of(own, id) {
                    self.unbound(name)
                } else {
                    self.raise(
                        "NameError",
                        format!(
                            "cannot access free variable '{name}' where it is not associated with a \
                             value in enclosing scope"
                        ),
                    )
                });
            }
            // What a comprehension reads first is its function's.
            first = first && scope.names.is_none() && scope.parent.is_some();
            at = scope.parent;
        }
        if is_builtin(name) {
            return Ok(self.heap.add(Object::Builtin(name.to_owned())));
        }
        Err(self.raise("NameError", format!("name '{name}' is not defined")))
    }

    fn is_comprehension_of(&self, inner: ScopeId, outer: ScopeId) -> bool {
        let mut at = inner;
        while at != outer {
            let scope = &self.scopes[at.0 as usize];
            if scope.names.is_some() {
                return false;
            }
            match scope.parent {
                Some(parent) => at = parent,
                None => return false,
            }
        }
        true
    }

    fn unbound(&mut self, name: &str) -> Interrupt {
        self.raise(
            "UnboundLocalError",
            format!(
                "cannot access local variable '{name}' where it is not associated with a value"
            ),
        )
    }

    /// The text of an f-string's parts, or an unknown value.
    fn formatted(
        &mut self,
        elements: &'p [InterpolatedStringElement],
    ) -> Outcome<Result<String, Ref>> {
        let mut text = String::new();
        for element in elements {
            let value = match element {
                InterpolatedStringElement::Literal(literal) => {
                    text.push_str(&literal.value);
                    continue;
                }
                InterpolatedStringElement::Interpolation(inner) => {
                    if let Some(debug) = &inner.debug_text {
                        text.push_str(debug.leading());
                        let range = inner.expression.range();
                        text.push_str(&self.program.source()[range]);
                        text.push_str(debug.trailing());
                    }
                    let value = self.expression(&inner.expression)?;
                    let shown = inner.debug_text.is_some() && inner.format_spec.is_none();
                    let converted = match inner.conversion {
                        ConversionFlag::None if shown => {
                            self.method_or("__repr__", "repr(v0)", value)?
                        }
                        ConversionFlag::None => value,
                        ConversionFlag::Str => self.method_or("__str__", "str(v0)", value)?,
                        ConversionFlag::Repr => self.method_or("__repr__", "repr(v0)", value)?,
                        ConversionFlag::Ascii => self.ask("ascii(v0)", &[value], false)?,
                    };
                    match &inner.format_spec {
                        None => converted,
                        Some(spec) => {
                            let spec = match self.formatted(&spec.elements)? {
                                Ok(spec) => self.heap.atom(Literal::Str(spec)),
                                Err(unknown) => return Ok(Err(unknown)),
                            };
                            self.ask("format(v0, v1)", &[converted, spec], false)?
                        }
                    }
                }
            };
            let value = match self.heap.get(value) {
                Object::Atom(Literal::Str(_)) => value,
                _ => self.method_or("__str__", "str(v0)", value)?,
            };
            match self.heap.get(value) {
                Object::Atom(Literal::Str(part)) => text.push_str(part),
                _ => return Ok(Err(self.heap.unknown("a part of an f-string is unknown"))),
            }
        }
        Ok(Ok(text))
    }

    /// A special method of the program's own class, or the operation on a builtin value.
    pub(super) fn method_or(&mut self, method: &str, expression: &str, value: Ref) -> Outcome<Ref> {
        if let Some(result) = self.special_method(value, method, &[])? {
            return Ok(result);
        }
        if method == "__str__"
            && let Some(result) = self.special_method(value, "__repr__", &[])?
        {
            return Ok(result);
        }
        if method == "__str__" && matches!(self.heap.get(value), Object::Exception { .. }) {
            let (_, message) = self.exception_text(value);
            return Ok(self.heap.atom(Literal::Str(message)));
        }
        self.ask(expression, &[value], false)
    }
}

use ruff_text_size::Ranged;

fn operator_names(operator: Operator) -> (&'static str, &'static str, &'static str) {
    match operator {
        Operator::Add => ("+", "__add__", "__radd__"),
        Operator::Sub => ("-", "__sub__", "__rsub__"),
        Operator::Mult => ("*", "__mul__", "__rmul__"),
        Operator::MatMult => ("@", "__matmul__", "__rmatmul__"),
        Operator::Div => ("/", "__truediv__", "__rtruediv__"),
        Operator::Mod => ("%", "__mod__", "__rmod__"),
        Operator::Pow => ("**", "__pow__", "__rpow__"),
        Operator::LShift => ("<<", "__lshift__", "__rlshift__"),
        Operator::RShift => (">>", "__rshift__", "__rrshift__"),
        Operator::BitOr => ("|", "__or__", "__ror__"),
        Operator::BitXor => ("^", "__xor__", "__rxor__"),
        Operator::BitAnd => ("&", "__and__", "__rand__"),
        Operator::FloorDiv => ("//", "__floordiv__", "__rfloordiv__"),
    }
}

/// Builtin functions, types and exceptions.
pub(crate) fn is_builtin(name: &str) -> bool {
    const OTHERS: &[&str] = &[
        "abs",
        "all",
        "any",
        "ascii",
        "bin",
        "bool",
        "bytearray",
        "bytes",
        "callable",
        "chr",
        "classmethod",
        "complex",
        "delattr",
        "dict",
        "dir",
        "divmod",
        "enumerate",
        "filter",
        "float",
        "format",
        "frozenset",
        "getattr",
        "hasattr",
        "hash",
        "hex",
        "id",
        "input",
        "int",
        "isinstance",
        "issubclass",
        "iter",
        "len",
        "list",
        "locals",
        "globals",
        "map",
        "max",
        "memoryview",
        "min",
        "next",
        "object",
        "oct",
        "open",
        "ord",
        "pow",
        "print",
        "property",
        "range",
        "repr",
        "reversed",
        "round",
        "set",
        "setattr",
        "slice",
        "sorted",
        "staticmethod",
        "str",
        "sum",
        "super",
        "tuple",
        "type",
        "vars",
        "zip",
        "eval",
        "exec",
        "NotImplemented",
        "__name__",
    ];
    OTHERS.contains(&name) || super::exceptions::parent(name).is_some() || name == "BaseException"
}
