//! Which handler takes an exception, and what a handled one leaves.

use ruff_python_ast::{ExceptHandler, Expr, StmtRaise, StmtTry};

use super::machine::{Interrupt, Leave, Machine, Operations, Outcome};
use super::object::{Kind, Object, Ref};
use crate::literal::Literal;
use crate::state::EventKind;

/// The class that a builtin exception derives from; none for what is no exception.
pub(super) fn parent(name: &str) -> Option<&'static str> {
    Some(match name {
        "Exception" | "KeyboardInterrupt" | "SystemExit" | "GeneratorExit" => "BaseException",
        "ArithmeticError" | "AssertionError" | "AttributeError" | "BufferError" | "EOFError"
        | "ImportError" | "LookupError" | "MemoryError" | "NameError" | "OSError"
        | "ReferenceError" | "RuntimeError" | "StopIteration" | "StopAsyncIteration"
        | "SyntaxError" | "SystemError" | "TypeError" | "ValueError" | "Warning" => "Exception",
        "FloatingPointError" | "OverflowError" | "ZeroDivisionError" => "ArithmeticError",
        "IndexError" | "KeyError" => "LookupError",
        "UnboundLocalError" => "NameError",
        "ModuleNotFoundError" => "ImportError",
        "NotImplementedError" | "RecursionError" => "RuntimeError",
        "UnicodeError" => "ValueError",
        "UnicodeDecodeError" | "UnicodeEncodeError" | "UnicodeTranslateError" => "UnicodeError",
        "IOError" => "Exception",
        "FileNotFoundError" | "FileExistsError" | "PermissionError" | "TimeoutError"
        | "ConnectionError" | "IsADirectoryError" | "NotADirectoryError" => "OSError",
        "DeprecationWarning" | "UserWarning" | "FutureWarning" | "RuntimeWarning" => "Warning",
        _ => return None,
    })
}

impl<'p, O: Operations> Machine<'p, '_, O> {
    /// `try`.
    pub(super) fn attempt(&mut self, statement: &'p StmtTry) -> Outcome<Leave> {
        if statement.is_star {
            return Err(Interrupt::Unknown("`except*` is not simulated".into()));
        }
        let mut result = self.block(&statement.body);
        match result {
            Ok(Leave::Falls) => result = self.block(&statement.orelse),
            Err(Interrupt::Raise(exception)) => {
                self.note(exception)?;
                result = self.handled(statement, exception);
            }
            _ => {}
        }
        if statement.finalbody.is_empty()
            || matches!(&result, Err(Interrupt::Unknown(_) | Interrupt::Limit(_)))
        {
            return result;
        }
        match self.block(&statement.finalbody)? {
            Leave::Falls => result,
            // Leaving from `finally` forgets what was under way.
            other => Ok(other),
        }
    }

    fn handled(&mut self, statement: &'p StmtTry, exception: Ref) -> Outcome<Leave> {
        for ExceptHandler::ExceptHandler(handler) in &statement.handlers {
            let line = self.program.line_of(handler);
            self.event(EventKind::Line, line, None)?;
            let takes = match &handler.type_ {
                None => true,
                Some(kinds) => {
                    let kinds = self.expression(kinds)?;
                    self.is_kind(exception, kinds)?
                }
            };
            if !takes {
                continue;
            }
            let name = handler
                .name
                .as_ref()
                .map(ruff_python_ast::Identifier::as_str);
            if let Some(name) = name {
                self.bind(name, exception);
            }
            self.frame().handling.push(exception);
            let result = self.block(&handler.body);
            self.frame().handling.pop();
            if let Err(Interrupt::Raise(another)) = &result {
                self.note(*another)?;
            }
            if let Some(name) = name {
                let own = self.scope();
                let scope = self.declared_scope(own, name);
                self.scopes[scope.0 as usize]
                    .bindings
                    .retain(|(bound, _)| *bound != name);
            }
            return result;
        }
        Err(Interrupt::Raise(exception))
    }

    /// `isinstance(exception, kinds)`.
    fn is_kind(&mut self, exception: Ref, kinds: Ref) -> Outcome<bool> {
        match self.heap.get(kinds).clone() {
            Object::Tuple(all) => {
                for kind in all {
                    if self.is_kind(exception, kind)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Object::Builtin(name) => Ok(self.derives(exception, &name)),
            Object::Class { .. } => Ok(match self.heap.get(exception) {
                Object::Exception {
                    kind: Kind::Own(class),
                    ..
                } => {
                    let class = *class;
                    self.lineage(class).contains(&kinds)
                }
                _ => false,
            }),
            _ => Err(Interrupt::Unknown("which exceptions are handled".into())),
        }
    }

    fn derives(&self, exception: Ref, wanted: &str) -> bool {
        let Object::Exception { kind, .. } = self.heap.get(exception) else {
            return false;
        };
        let wanted = if matches!(wanted, "IOError" | "EnvironmentError") {
            "OSError"
        } else {
            wanted
        };
        let mut names: Vec<String> = match kind {
            Kind::Builtin(name) => vec![name.clone()],
            Kind::Own(class) => self.builtin_bases(*class),
        };
        while let Some(name) = names.pop() {
            if name == wanted {
                return true;
            }
            names.extend(parent(&name).map(str::to_owned));
        }
        false
    }

    /// `raise`.
    pub(super) fn raised(&mut self, statement: &'p StmtRaise) -> Outcome<Leave> {
        let Some(what) = &statement.exc else {
            let handling = self
                .frames
                .iter()
                .rev()
                .find_map(|frame| frame.handling.last().copied());
            return Err(match handling {
                Some(exception) => Interrupt::Raise(exception),
                None => self.raise("RuntimeError", "No active exception to reraise"),
            });
        };
        let value = self.expression(what)?;
        if let Some(cause) = &statement.cause {
            self.expression(cause)?;
        }
        self.raise_value(value)
    }

    fn raise_value<T>(&mut self, value: Ref) -> Outcome<T> {
        match self.heap.get(value).clone() {
            Object::Exception { .. } => Err(Interrupt::Raise(value)),
            Object::Builtin(name) if parent(&name).is_some() || name == "BaseException" => {
                Err(self.raise_with(&name, Vec::new()))
            }
            Object::Class { .. } => {
                let instance = self.instantiate(value, Vec::new(), Vec::new())?;
                Err(
                    if matches!(self.heap.get(instance), Object::Exception { .. }) {
                        Interrupt::Raise(instance)
                    } else {
                        self.raise("TypeError", "exceptions must derive from BaseException")
                    },
                )
            }
            Object::Unknown(why) => Err(Interrupt::Unknown(format!("what is raised: {why}"))),
            _ => Err(self.raise("TypeError", "exceptions must derive from BaseException")),
        }
    }

    /// `assert`.
    pub(super) fn asserted(&mut self, test: &'p Expr, message: Option<&'p Expr>) -> Outcome<()> {
        let value = self.expression(test)?;
        if self.truth(value)? {
            return Ok(());
        }
        let arguments = match message {
            Some(message) => vec![self.expression(message)?],
            None => Vec::new(),
        };
        Err(self.raise_with("AssertionError", arguments))
    }

    /// Attributes of an exception.
    pub(super) fn exception_attribute(&mut self, at: Ref, name: &str) -> Option<Ref> {
        let Object::Exception {
            arguments,
            attributes,
            ..
        } = self.heap.get(at)
        else {
            return None;
        };
        if let Some((_, value)) = attributes.iter().find(|(held, _)| *held == name) {
            return Some(*value);
        }
        match name {
            "args" => {
                let arguments = arguments.clone();
                Some(self.heap.add(Object::Tuple(arguments)))
            }
            "__cause__" | "__context__" => Some(self.heap.atom(Literal::None)),
            _ => None,
        }
    }
}
