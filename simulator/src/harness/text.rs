//! Values as Python writes them.

use super::machine::{Machine, Operations};
use super::object::{Code, Kind, Object, Ref};

/// How deep a text goes.
const DEPTH: usize = 8;

impl<O: Operations> Machine<'_, '_, O> {
    /// Text of a value. What is unknown is `?`.
    pub(super) fn text(&self, at: Ref) -> String {
        self.text_within(at, 0)
    }

    fn text_within(&self, at: Ref, depth: usize) -> String {
        if let Some(literal) = self.heap.literal_of(at) {
            return literal.to_string();
        }
        if depth > DEPTH {
            return "...".into();
        }
        let inner = |items: &[Ref]| {
            let texts: Vec<String> = items
                .iter()
                .map(|&item| self.text_within(item, depth + 1))
                .collect();
            texts.join(", ")
        };
        match self.heap.get(at) {
            Object::Atom(literal) => literal.to_string(),
            Object::List(items) => format!("[{}]", inner(items)),
            Object::Tuple(items) if items.len() == 1 => format!("({},)", inner(items)),
            Object::Tuple(items) => format!("({})", inner(items)),
            Object::Set(items) => format!("{{{}}}", inner(items)),
            Object::FrozenSet(items) => format!("frozenset({{{}}})", inner(items)),
            Object::Dict(items) => {
                let texts: Vec<String> = items
                    .iter()
                    .map(|&(key, value)| {
                        let key = self.text_within(key, depth + 1);
                        format!("{key}: {}", self.text_within(value, depth + 1))
                    })
                    .collect();
                format!("{{{}}}", texts.join(", "))
            }
            Object::View(kind, items) => format!("{kind}([{}])", inner(items)),
            Object::Iterator(..) => "<iterator>".into(),
            Object::Function { code, .. } => match code {
                Code::Def(definition) => format!("<function {}>", definition.name),
                Code::Lambda(_) => "<function <lambda>>".into(),
            },
            Object::Bound { function, .. } => {
                format!("<bound {}>", self.text_within(*function, depth + 1))
            }
            Object::BuiltinMethod { name, .. } => format!("<built-in method {name}>"),
            Object::Class { definition, .. } => format!("<class {}>", definition.name),
            Object::Instance { class, attributes } => {
                let mut text = format!("<{}", self.class_name(*class));
                for (name, value) in attributes {
                    let value = self.text_within(*value, depth + 1);
                    text.extend([" ", name, "=", &value]);
                }
                text + ">"
            }
            Object::Exception { .. } => {
                let (kind, message) = self.exception_text(at);
                if message.is_empty() {
                    format!("{kind}()")
                } else {
                    format!("{kind}: {message}")
                }
            }
            Object::Builtin(name) => builtin_text(name),
            Object::Super { .. } => "<super>".into(),
            Object::Module(name) => format!("<module {name}>"),
            Object::Unknown(_) => "?".into(),
        }
    }

    pub(super) fn class_name(&self, class: Ref) -> &str {
        match self.heap.get(class) {
            Object::Class { definition, .. } => definition.name.as_str(),
            Object::Builtin(name) => name,
            _ => "object",
        }
    }

    /// Class and text of an exception, as `type(e).__name__` and `str(e)`.
    pub(super) fn exception_text(&self, at: Ref) -> (String, String) {
        let Object::Exception {
            kind, arguments, ..
        } = self.heap.get(at)
        else {
            return ("Exception".into(), String::new());
        };
        let name = match kind {
            Kind::Builtin(name) => name.clone(),
            Kind::Own(class) => self.class_name(*class).to_owned(),
        };
        let message = match arguments[..] {
            [] => String::new(),
            [one] => match self.heap.literal_of(one) {
                // A missing key is shown as it is written.
                Some(crate::literal::Literal::Str(text)) if name != "KeyError" => text,
                _ => self.text(one),
            },
            _ => {
                let texts: Vec<String> = arguments.iter().map(|&a| self.text(a)).collect();
                format!("({})", texts.join(", "))
            }
        };
        (name, message)
    }
}

/// A builtin function or type. What of a module is which cannot be told.
fn builtin_text(name: &str) -> String {
    const TYPES: &[&str] = &[
        "bool",
        "bytearray",
        "bytes",
        "classmethod",
        "complex",
        "dict",
        "enumerate",
        "filter",
        "float",
        "frozenset",
        "int",
        "list",
        "map",
        "memoryview",
        "object",
        "property",
        "range",
        "reversed",
        "set",
        "slice",
        "staticmethod",
        "str",
        "super",
        "tuple",
        "type",
        "zip",
    ];
    if name.contains('.') || name.starts_with("__") || name == "NotImplemented" {
        return "?".into();
    }
    if TYPES.contains(&name) || name.starts_with(char::is_uppercase) {
        return format!("<class {name}>");
    }
    format!("<builtin {name}>")
}
