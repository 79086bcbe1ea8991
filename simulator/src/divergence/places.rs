//! Statements by line, the conditions above them, the calls in them.

use std::collections::HashMap;

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, ExprCall, Number, Stmt, StmtFunctionDef, UnaryOp};

use crate::harness::Program;
use crate::literal::Literal;

/// A condition: the expression, its line, and whether the block below runs when it is true.
type Condition<'p> = (&'p Expr, u32, bool);

/// What lies on which line of a program.
pub struct Places<'p> {
    program: &'p Program,
    statements: HashMap<u32, &'p Stmt>,
    above: HashMap<u32, Condition<'p>>,
    functions: HashMap<u32, &'p StmtFunctionDef>,
}

impl<'p> Places<'p> {
    /// Looks through a program.
    pub fn of(program: &'p Program) -> Self {
        let mut places = Self {
            program,
            statements: HashMap::new(),
            above: HashMap::new(),
            functions: HashMap::new(),
        };
        places.block(program.body(), None);
        places
    }

    /// The statement that a line belongs to.
    pub fn statement(&self, line: u32) -> Option<&'p Stmt> {
        self.statements
            .get(&self.program.statement_line(line))
            .copied()
    }

    /// The nearest condition that lets a line's statement run.
    pub fn condition_above(&self, line: u32) -> Option<Condition<'p>> {
        self.above.get(&self.program.statement_line(line)).copied()
    }

    /// Place of a parameter among the positional ones of the function whose `def` is at this line; a method's
    /// object is not counted.
    pub fn position_of(&self, line: u32, name: &str) -> Option<usize> {
        let definition = self
            .functions
            .get(&self.program.statement_line(line))
            .or_else(|| self.functions.get(&line))?;
        let names: Vec<&str> = definition
            .parameters
            .posonlyargs
            .iter()
            .chain(&definition.parameters.args)
            .map(|parameter| parameter.parameter.name.as_str())
            .filter(|name| *name != "self" && *name != "cls")
            .collect();
        names.iter().position(|held| *held == name)
    }

    /// The positional parameter at a place, counted as [`Places::position_of`] does.
    pub fn parameter_at(&self, line: u32, position: usize) -> Option<&'p str> {
        let definition = self
            .functions
            .get(&self.program.statement_line(line))
            .or_else(|| self.functions.get(&line))?;
        definition
            .parameters
            .posonlyargs
            .iter()
            .chain(&definition.parameters.args)
            .map(|parameter| parameter.parameter.name.as_str())
            .filter(|name| *name != "self" && *name != "cls")
            .nth(position)
    }

    fn block(&mut self, body: &'p [Stmt], above: Option<Condition<'p>>) {
        for statement in body {
            let line = self.program.line_of(statement);
            self.statements.entry(line).or_insert(statement);
            if let Some(condition) = above {
                self.above.entry(line).or_insert(condition);
            }
            self.inside(statement, line, above);
        }
    }

    fn inside(&mut self, statement: &'p Stmt, line: u32, above: Option<Condition<'p>>) {
        match statement {
            Stmt::FunctionDef(definition) => {
                self.functions.insert(line, definition);
                self.block(&definition.body, None);
            }
            Stmt::ClassDef(definition) => self.block(&definition.body, None),
            Stmt::If(choice) => {
                self.block(&choice.body, Some((&choice.test, line, true)));
                let mut last: Condition<'p> = (&choice.test, line, false);
                for clause in &choice.elif_else_clauses {
                    match &clause.test {
                        Some(test) => {
                            let line = self.program.line_of(test);
                            self.block(&clause.body, Some((test, line, true)));
                            last = (test, line, false);
                        }
                        None => self.block(&clause.body, Some(last)),
                    }
                }
            }
            Stmt::While(repeated) => {
                self.block(&repeated.body, Some((&repeated.test, line, true)));
                self.block(&repeated.orelse, above);
            }
            Stmt::For(walked) => {
                self.block(&walked.body, above);
                self.block(&walked.orelse, above);
            }
            Stmt::With(managed) => self.block(&managed.body, above),
            Stmt::Try(attempt) => {
                self.block(&attempt.body, above);
                for handler in &attempt.handlers {
                    let ruff_python_ast::ExceptHandler::ExceptHandler(handler) = handler;
                    self.block(&handler.body, above);
                }
                self.block(&attempt.orelse, above);
                self.block(&attempt.finalbody, above);
            }
            _ => {}
        }
    }
}

/// What a call names: `f` of `f(x)` and of `m.f(x)`.
pub fn callee(call: &ExprCall) -> Option<&str> {
    match &*call.func {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        _ => None,
    }
}

/// The call of a function in a statement, when there is one alone.
pub fn call_in<'p>(statement: &'p Stmt, function: &str) -> Option<&'p ExprCall> {
    struct Calls<'p, 'n> {
        name: &'n str,
        found: Vec<&'p ExprCall>,
    }
    impl<'p> Visitor<'p> for Calls<'p, '_> {
        fn visit_expr(&mut self, expression: &'p Expr) {
            if let Expr::Call(call) = expression
                && callee(call) == Some(self.name)
            {
                self.found.push(call);
            }
            walk_expr(self, expression);
        }

        // The blocks of a compound statement run at other states.
        fn visit_body(&mut self, _: &'p [Stmt]) {}
    }
    let mut calls = Calls {
        name: function.rsplit('.').next().unwrap_or(function),
        found: Vec::new(),
    };
    calls.visit_stmt(statement);
    match calls.found.as_slice() {
        [only] => Some(only),
        _ => None,
    }
}

/// The expression that a call gives for a parameter.
pub fn argument_of<'p>(
    call: &'p ExprCall,
    name: &str,
    position: Option<usize>,
) -> Option<&'p Expr> {
    let keyword = call
        .arguments
        .keywords
        .iter()
        .find(|keyword| keyword.arg.as_ref().is_some_and(|key| key.as_str() == name));
    if let Some(keyword) = keyword {
        return Some(&keyword.value);
    }
    let argument = call.arguments.args.get(position?)?;
    (!argument.is_starred_expr()).then_some(argument)
}

/// The attribute that a statement assigns, and the expression of its value.
pub fn assigned_attribute(statement: &Stmt) -> Option<(&str, &Expr)> {
    let (target, value) = match statement {
        Stmt::Assign(assign) => match assign.targets.as_slice() {
            [target] => (target, &*assign.value),
            _ => return None,
        },
        Stmt::AnnAssign(assign) => (&*assign.target, assign.value.as_deref()?),
        Stmt::AugAssign(assign) => (&*assign.target, &*assign.value),
        _ => return None,
    };
    match target {
        Expr::Attribute(attribute) => Some((attribute.attr.as_str(), value)),
        _ => None,
    }
}

/// The value of a literal in the source.
pub fn constant(expression: &Expr) -> Option<Literal> {
    Some(match expression {
        Expr::NoneLiteral(_) => Literal::None,
        Expr::BooleanLiteral(held) => Literal::Bool(held.value),
        Expr::StringLiteral(held) => Literal::Str(held.value.to_str().to_owned()),
        Expr::NumberLiteral(held) => match &held.value {
            Number::Int(value) => Literal::Int(value.to_string().parse().ok()?),
            Number::Float(value) => Literal::Float(*value),
            Number::Complex { .. } => return None,
        },
        Expr::UnaryOp(operation) if operation.op == UnaryOp::USub => {
            match constant(&operation.operand)? {
                Literal::Int(value) => Literal::Int(-value),
                Literal::Float(value) => Literal::Float(-value),
                _ => return None,
            }
        }
        Expr::List(list) => Literal::List(list.elts.iter().map(constant).collect::<Option<_>>()?),
        Expr::Tuple(tuple) => {
            Literal::Tuple(tuple.elts.iter().map(constant).collect::<Option<_>>()?)
        }
        Expr::Dict(dict) if dict.items.is_empty() => Literal::Dict(Vec::new()),
        _ => return None,
    })
}
