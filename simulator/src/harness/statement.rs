//! Statements: which one is next follows from the syntax and from what is true.

use ruff_python_ast::{Expr, Stmt, StmtFor, StmtIf, StmtWhile};
use ruff_text_size::Ranged;

use super::machine::{Interrupt, Leave, Machine, Operations, Outcome};
use super::object::{Binding, Code, Object, Ref};
use crate::state::EventKind;

impl<'p, O: Operations> Machine<'p, '_, O> {
    /// Runs statements in order.
    pub(super) fn block(&mut self, body: &'p [Stmt]) -> Outcome<Leave> {
        for statement in body {
            match self.statement(statement)? {
                Leave::Falls => {}
                other => return Ok(other),
            }
        }
        Ok(Leave::Falls)
    }

    fn statement(&mut self, statement: &'p Stmt) -> Outcome<Leave> {
        self.statements += 1;
        if self.statements > self.limits.events * 4 {
            return Err(Interrupt::Limit("statements"));
        }
        if !is_silent(statement) {
            let line = first_line(self.program, statement);
            // What stands behind its header, or behind a semicolon, makes no state of its own.
            if self.frame().last != Some((EventKind::Line, line)) {
                self.event(EventKind::Line, line, None)?;
            }
        }
        match statement {
            Stmt::Expr(inner) => {
                if !is_constant(&inner.value) {
                    self.expression(&inner.value)?;
                }
            }
            Stmt::Assign(assign) => {
                let value = self.expression(&assign.value)?;
                for target in &assign.targets {
                    self.assign(target, value)?;
                }
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    let value = self.expression(value)?;
                    self.assign(&assign.target, value)?;
                }
            }
            Stmt::AugAssign(assign) => {
                self.augmented(&assign.target, assign.op, &assign.value)?;
            }
            Stmt::Return(inner) => {
                let value = match &inner.value {
                    Some(value) => self.expression(value)?,
                    None => self.heap.none(),
                };
                return Ok(Leave::Returns(value));
            }
            Stmt::If(choice) => return self.choice(choice),
            Stmt::While(repeated) => return self.repeated(repeated),
            Stmt::For(walked) => return self.walked(walked),
            Stmt::Break(_) => return Ok(Leave::Breaks),
            Stmt::Continue(_) => return Ok(Leave::Continues),
            Stmt::Pass(_) | Stmt::Global(_) | Stmt::Nonlocal(_) | Stmt::TypeAlias(_) => {}
            Stmt::Try(attempt) => return self.attempt(attempt),
            Stmt::Raise(raise) => return self.raised(raise),
            Stmt::Assert(assert) => self.asserted(&assert.test, assert.msg.as_deref())?,
            Stmt::Delete(delete) => {
                for target in &delete.targets {
                    self.delete(target)?;
                }
            }
            Stmt::FunctionDef(function) => {
                let value = self.function(function)?;
                self.bind(function.name.as_str(), value);
            }
            Stmt::ClassDef(class) => {
                let value = self.class(class)?;
                self.bind(class.name.as_str(), value);
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    let whole = alias.name.as_str();
                    let first = whole.split('.').next().unwrap_or(whole);
                    let (bound, module) = match &alias.asname {
                        Some(name) => (name.as_str(), whole),
                        None => (first, first),
                    };
                    let module = self.heap.add(Object::Module(module.to_owned()));
                    self.bind(bound, module);
                }
            }
            Stmt::ImportFrom(import) => {
                let module = import.module.as_ref().map_or("", |name| name.as_str());
                for alias in &import.names {
                    let name = alias.name.as_str();
                    let bound = alias.asname.as_ref().map_or(name, |name| name.as_str());
                    let value = if matches!(module, "typing" | "__future__" | "typing_extensions") {
                        Object::Builtin(name.to_owned())
                    } else if import.level > 0 {
                        Object::Unknown(format!("`{name}` is imported from another file"))
                    } else {
                        Object::Builtin(format!("{module}.{name}"))
                    };
                    let value = self.heap.add(value);
                    self.bind(bound, value);
                }
            }
            Stmt::With(_) => return Err(unsupported("`with`")),
            Stmt::Match(_) => return Err(unsupported("`match`")),
            Stmt::IpyEscapeCommand(_) => return Err(unsupported("IPython's commands")),
        }
        Ok(Leave::Falls)
    }

    fn choice(&mut self, choice: &'p StmtIf) -> Outcome<Leave> {
        let test = self.expression(&choice.test)?;
        if self.truth(test)? {
            return self.block(&choice.body);
        }
        for clause in &choice.elif_else_clauses {
            let Some(test) = &clause.test else {
                return self.block(&clause.body);
            };
            let line = self.program.line_of(test);
            self.event(EventKind::Line, line, None)?;
            let test = self.expression(test)?;
            if self.truth(test)? {
                return self.block(&clause.body);
            }
        }
        Ok(Leave::Falls)
    }

    fn repeated(&mut self, repeated: &'p StmtWhile) -> Outcome<Leave> {
        let line = self.program.line_of(repeated);
        let mut first = true;
        loop {
            if !first {
                self.event(EventKind::Line, line, None)?;
            }
            first = false;
            let test = self.expression(&repeated.test)?;
            if !self.truth(test)? {
                return self.block(&repeated.orelse);
            }
            match self.block(&repeated.body)? {
                Leave::Falls | Leave::Continues => {}
                Leave::Breaks => return Ok(Leave::Falls),
                returns @ Leave::Returns(_) => return Ok(returns),
            }
        }
    }

    fn walked(&mut self, walked: &'p StmtFor) -> Outcome<Leave> {
        if walked.is_async {
            return Err(unsupported("`async for`"));
        }
        let line = self.program.line_of(walked);
        let iterable = self.expression(&walked.iter)?;
        let mut walk = self.walk(iterable)?;
        let mut first = true;
        loop {
            if !first {
                self.event(EventKind::Line, line, None)?;
            }
            first = false;
            let Some(item) = self.advance(&mut walk)? else {
                return self.block(&walked.orelse);
            };
            self.assign(&walked.target, item)?;
            match self.block(&walked.body)? {
                Leave::Falls | Leave::Continues => {}
                Leave::Breaks => return Ok(Leave::Falls),
                returns @ Leave::Returns(_) => return Ok(returns),
            }
        }
    }

    /// `target += value`: in place for what changes in place, a new value else.
    fn augmented(
        &mut self,
        target: &'p Expr,
        operator: ruff_python_ast::Operator,
        value: &'p Expr,
    ) -> Outcome<()> {
        match target {
            Expr::Name(name) => {
                let old = self.load(name.id.as_str())?;
                let new = self.combined(old, operator, value)?;
                self.bind(name.id.as_str(), new);
                Ok(())
            }
            Expr::Attribute(attribute) => {
                let holder = self.expression(&attribute.value)?;
                let old = self.attribute(holder, attribute.attr.as_str())?;
                let new = self.combined(old, operator, value)?;
                self.set_attribute(holder, attribute.attr.as_str(), new)
            }
            Expr::Subscript(subscript) if !subscript.slice.is_slice_expr() => {
                let holder = self.expression(&subscript.value)?;
                let key = self.expression(&subscript.slice)?;
                let old = self.item(holder, key)?;
                let new = self.combined(old, operator, value)?;
                self.store_item(holder, key, new)
            }
            _ => Err(unsupported("an augmented assignment of this form")),
        }
    }

    fn combined(
        &mut self,
        old: Ref,
        operator: ruff_python_ast::Operator,
        value: &'p Expr,
    ) -> Outcome<Ref> {
        let value = self.expression(value)?;
        let in_place = match operator {
            ruff_python_ast::Operator::Add => "__iadd__",
            ruff_python_ast::Operator::Sub => "__isub__",
            ruff_python_ast::Operator::Mult => "__imul__",
            _ => "__ior__",
        };
        if let Some(result) = self.special_method(old, in_place, &[value])? {
            return Ok(result);
        }
        let changes = match self.heap.get(old) {
            Object::List(_) => matches!(
                operator,
                ruff_python_ast::Operator::Add | ruff_python_ast::Operator::Mult
            ),
            Object::Set(_) => matches!(
                operator,
                ruff_python_ast::Operator::BitOr
                    | ruff_python_ast::Operator::BitAnd
                    | ruff_python_ast::Operator::Sub
                    | ruff_python_ast::Operator::BitXor
            ),
            Object::Dict(_) => operator == ruff_python_ast::Operator::BitOr,
            _ => false,
        };
        if changes {
            let symbol = operator.as_str();
            self.ask(&format!("v0 {symbol}= v1"), &[old, value], false)?;
            return Ok(old);
        }
        self.binary(operator, old, value)
    }

    /// A function's definition, with its decorators that only say how it is bound.
    pub(super) fn function(
        &mut self,
        function: &'p ruff_python_ast::StmtFunctionDef,
    ) -> Outcome<Ref> {
        let mut binding = Binding::Plain;
        for decorator in &function.decorator_list {
            let name = match &decorator.expression {
                Expr::Name(name) => name.id.as_str(),
                // `@v.setter`: reading gives what the property gave; setting is not simulated.
                Expr::Attribute(attribute)
                    if matches!(attribute.attr.as_str(), "setter" | "deleter")
                        && matches!(&*attribute.value, Expr::Name(of) if of.id == function.name.id) =>
                {
                    return self.expression(&attribute.value);
                }
                _ => "",
            };
            binding = match name {
                "staticmethod" => Binding::Static,
                "classmethod" => Binding::Class,
                "property" => Binding::Property,
                _ => {
                    return Ok(self.heap.unknown(format!(
                        "`{}` has a decorator that is not simulated",
                        function.name
                    )));
                }
            };
        }
        let defaults = self.defaults(Some(&function.parameters))?;
        let scope = self.scope();
        Ok(self.heap.add(Object::Function {
            code: Code::Def(function),
            scope,
            defaults,
            binding,
        }))
    }
}

fn unsupported(what: &str) -> Interrupt {
    Interrupt::Unknown(format!("{what} is not simulated"))
}

/// Statements of which Python makes no line.
fn is_silent(statement: &Stmt) -> bool {
    match statement {
        Stmt::Global(_) | Stmt::Nonlocal(_) => true,
        Stmt::AnnAssign(assign) => assign.value.is_none() && assign.target.is_name_expr(),
        _ => false,
    }
}

fn is_constant(expression: &Expr) -> bool {
    expression.is_literal_expr()
}

/// The line that Python names first: that of a decorator for what is decorated.
fn first_line(program: &super::program::Program, statement: &Stmt) -> u32 {
    let decorators = match statement {
        Stmt::FunctionDef(function) => function.decorator_list.first(),
        Stmt::ClassDef(class) => class.decorator_list.first(),
        _ => None,
    };
    match decorators {
        Some(decorator) => program.line_of(decorator),
        None => program.line_at(statement.start()),
    }
}
