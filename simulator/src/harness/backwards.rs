//! From what a function returned back to what it may have been given.
//!
//! The walk follows the syntax from a `return` towards the parameters: names that are bound on a
//! straight line are followed through their assignments, and each operation on the way is asked
//! backwards: [`Inverse`] gives a value that its unknown slot may have had. Loops and branches beside the
//! way are stepped over as if they changed nothing. A parameter that is not reached gets the value of
//! what was built from it, or a default by how it is used. What comes out is a guess, to be tried by
//! running the function.

mod usage;

use std::collections::HashMap;

use ruff_python_ast::{Expr, ExprCall, Operator, Stmt, StmtFunctionDef, UnaryOp};

use self::usage::{Usage, bound_in, constant, constants, names_in, parameters, usages};
use super::program::Program;
use crate::grammar::step::{Effect, Operation};
use crate::literal::{self, Literal};

/// Whoever knows what an operation may have been done to.
pub trait Inverse {
    /// Text of a value that slot `hole` may have had; its operand is not looked at.
    fn invert(&self, operation: &Operation, effect: &Effect, hole: usize) -> Option<String>;
}

/// How deep expressions are followed.
const DEPTH: usize = 30;

/// Arguments with which `function` may have returned `output`, in the order of its parameters. None
/// where there is no such function, or `output` is no literal.
pub fn arguments<I: Inverse>(
    program: &Program,
    function: &str,
    output: &str,
    inverse: &I,
) -> Option<Vec<String>> {
    let output = literal::parse(output).ok()?;
    let definition = defined(program, function)?;
    let mut walk = Walk::new(program, definition, inverse);
    walk.function(definition, &output);
    Some(walk.arguments(definition, &output))
}

/// Arguments with which `function` may have come to `line` (from 1) with local variables that hold these
/// literals; in the order of its parameters. None where there is no such function, or no statement there.
pub fn arguments_before<I: Inverse>(
    program: &Program,
    function: &str,
    line: u32,
    held: &[(String, Literal)],
    inverse: &I,
) -> Option<Vec<String>> {
    let definition = defined(program, function)?;
    let mut ways = Vec::new();
    collect_ways(
        &definition.body,
        &|statement| program.line_of(statement) == program.statement_line(line),
        &mut Vec::new(),
        &mut ways,
    );
    let way = ways.pop()?;
    let mut walk = Walk::new(program, definition, inverse);
    let names = names_in(definition);
    for (name, value) in held {
        // As the source spells it, so that it lives as long as the tree.
        if let Some(name) = names.get(name.as_str()) {
            walk.wanted.insert(name, value.clone());
        }
    }
    walk.back(&way);
    let nothing = Literal::None;
    Some(walk.arguments(definition, &nothing))
}

fn defined<'p>(program: &'p Program, function: &str) -> Option<&'p StmtFunctionDef> {
    program.body().iter().find_map(|statement| match statement {
        Stmt::FunctionDef(definition) if definition.name.as_str() == function => Some(definition),
        _ => None,
    })
}

struct Walk<'p, 'i, I> {
    inverse: &'i I,
    /// What names must hold at the place that is reached.
    wanted: HashMap<&'p str, Literal>,
    /// Names that hold one literal throughout.
    constants: HashMap<&'p str, Literal>,
    usages: HashMap<&'p str, Usage>,
    depth: usize,
}

/// A statement with the blocks that lead to it, the outermost first: a block, and where in it.
type Way<'p> = Vec<(&'p [Stmt], usize)>;

impl<'p, 'i, I: Inverse> Walk<'p, 'i, I> {
    fn new(program: &'p Program, definition: &'p StmtFunctionDef, inverse: &'i I) -> Self {
        Self {
            inverse,
            wanted: HashMap::new(),
            constants: constants(program.body(), definition),
            usages: usages(definition),
            depth: 0,
        }
    }

    fn arguments(&self, definition: &'p StmtFunctionDef, output: &Literal) -> Vec<String> {
        parameters(definition)
            .into_iter()
            .map(|name| self.argument(name, output).to_string())
            .collect()
    }

    fn function(&mut self, definition: &'p StmtFunctionDef, output: &Literal) {
        let mut exits = Vec::new();
        collect_ways(
            &definition.body,
            &|statement| matches!(statement, Stmt::Return(_)),
            &mut Vec::new(),
            &mut exits,
        );
        let Some(exit) = self.likeliest(exits, definition.body.len(), output) else {
            return;
        };
        if let Some(&(block, at)) = exit.last()
            && let Stmt::Return(inner) = &block[at]
            && let Some(value) = &inner.value
        {
            self.solve(value, output.clone());
        }
        self.back(&exit);
    }

    /// From the statement at the end of a way back to the beginning of the function.
    fn back(&mut self, way: &Way<'p>) {
        for (level, &(block, at)) in way.iter().enumerate().rev() {
            // The way leads out of a loop's body: an item was this one.
            if level + 1 < way.len()
                && let Stmt::For(walked) = &block[at]
                && let Expr::Name(name) = &*walked.target
                && let Some(item) = self.wanted.remove(name.id.as_str())
            {
                self.solve(&walked.iter, Literal::List(vec![item]));
            }
            for statement in block[..at].iter().rev() {
                self.before(statement);
            }
        }
    }

    /// The exit that can have given the output: one that returns it as it is, else one at the end.
    fn likeliest(&self, exits: Vec<Way<'p>>, length: usize, output: &Literal) -> Option<Way<'p>> {
        let mut best: Option<(i32, Way<'p>)> = None;
        for exit in exits {
            let Some(&(block, at)) = exit.last() else {
                continue;
            };
            let Stmt::Return(inner) = &block[at] else {
                continue;
            };
            let value = inner
                .value
                .as_deref()
                .map(|value| constant(value, &self.constants));
            let score = match value {
                None => i32::from(*output == Literal::None) * 4 - 1,
                Some(Some(held)) => i32::from(held.equals(output)) * 4 - 1,
                Some(None) => 1 + i32::from(exit[0].1 + 1 == length),
            };
            if best.as_ref().is_none_or(|(least, _)| score >= *least) {
                best = Some((score, exit));
            }
        }
        best.map(|(_, exit)| exit)
    }

    /// What names held before a statement, from what they hold after it.
    fn before(&mut self, statement: &'p Stmt) {
        match statement {
            Stmt::Assign(assign) => {
                for target in &assign.targets {
                    self.unassigned(target, &assign.value);
                }
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.unassigned(&assign.target, value);
                }
            }
            Stmt::AugAssign(assign) => {
                if let Expr::Name(name) = &*assign.target
                    && let Some(value) = self.wanted.remove(name.id.as_str())
                {
                    let text = format!("v0 {} v1", assign.op.as_str());
                    self.operation(&text, &[&assign.target, &assign.value], &gives(&value));
                }
            }
            Stmt::Expr(inner) => {
                if let Expr::Call(call) = &*inner.value
                    && let Expr::Attribute(method) = &*call.func
                    && let Expr::Name(name) = &*method.value
                    && let Some(after) = self.wanted.remove(name.id.as_str())
                {
                    let effect = Effect::Gives {
                        result: "None".into(),
                        after: Some(after.to_string()),
                    };
                    self.called(call, &effect);
                    // What cannot be undone changed nothing, as far as is known.
                    self.wanted.entry(name.id.as_str()).or_insert(after);
                }
            }
            Stmt::For(walked) => {
                // What is built from items is taken for what they came from.
                let built = bound_in(&walked.body);
                let value = self.wanted.iter().find(|(name, _)| built.contains(*name));
                let value = value.map(|(_, value)| value.clone());
                if let (Some(value), Some(name)) = (value, source_of(&walked.iter))
                    && !self.constants.contains_key(name)
                {
                    self.want(name, value);
                }
            }
            _ => {}
        }
    }

    fn unassigned(&mut self, target: &'p Expr, value: &'p Expr) {
        match target {
            Expr::Name(name) => {
                if let Some(held) = self.wanted.remove(name.id.as_str()) {
                    self.solve(value, held);
                }
            }
            Expr::Tuple(targets) => {
                let held: Vec<Option<Literal>> = targets
                    .elts
                    .iter()
                    .map(|target| match target {
                        Expr::Name(name) => self.wanted.remove(name.id.as_str()),
                        _ => None,
                    })
                    .collect();
                if let Expr::Tuple(values) = value
                    && values.elts.len() == held.len()
                {
                    for (value, held) in values.elts.iter().zip(held) {
                        if let Some(held) = held {
                            self.solve(value, held);
                        }
                    }
                } else if let Some(held) = held.into_iter().collect::<Option<Vec<_>>>() {
                    self.solve(value, Literal::Tuple(held));
                }
            }
            _ => {}
        }
    }

    fn want(&mut self, name: &'p str, value: Literal) {
        let usage = self.usages.get(name).copied().unwrap_or_default();
        self.wanted
            .entry(name)
            .or_insert_with(|| usage.fitted(value));
    }

    /// Finds what the names in an expression must hold for it to have a value.
    fn solve(&mut self, expression: &'p Expr, value: Literal) {
        if self.depth > DEPTH {
            return;
        }
        self.depth += 1;
        self.solve_one(expression, value);
        self.depth -= 1;
    }

    fn solve_one(&mut self, expression: &'p Expr, value: Literal) {
        match expression {
            Expr::Name(name) => {
                let name = name.id.as_str();
                if !self.constants.contains_key(name) {
                    self.want(name, value);
                }
            }
            Expr::List(list) => self.displayed(&list.elts, &value),
            Expr::Tuple(tuple) => self.displayed(&tuple.elts, &value),
            Expr::Set(set) => self.displayed(&set.elts, &value),
            Expr::Dict(dict) => {
                if let Literal::Dict(pairs) = value
                    && pairs.len() == dict.items.len()
                {
                    for (item, (key, value)) in dict.items.iter().zip(pairs) {
                        if let Some(own) = &item.key {
                            self.solve(own, key);
                        }
                        self.solve(&item.value, value);
                    }
                }
            }
            Expr::If(choice) => {
                let other = constant(&choice.body, &self.constants);
                if other.is_some_and(|held| !held.equals(&value)) {
                    self.solve(&choice.orelse, value);
                } else {
                    self.solve(&choice.body, value);
                }
            }
            Expr::BoolOp(operation) => {
                let mut open = operation.values.iter();
                if let Some(first) = open.find(|one| constant(one, &self.constants).is_none()) {
                    self.solve(first, value);
                }
            }
            Expr::UnaryOp(operation) => match operation.op {
                UnaryOp::Not => {
                    if let Literal::Bool(holds) = value {
                        self.solve(&operation.operand, Literal::Bool(!holds));
                    }
                }
                UnaryOp::USub => self.operation("-v0", &[&operation.operand], &gives(&value)),
                UnaryOp::UAdd => self.operation("+v0", &[&operation.operand], &gives(&value)),
                UnaryOp::Invert => self.operation("~v0", &[&operation.operand], &gives(&value)),
            },
            Expr::BinOp(operation) => {
                let text = format!("v0 {} v1", symbol(operation.op));
                self.operation(&text, &[&operation.left, &operation.right], &gives(&value));
            }
            Expr::Compare(comparison) => {
                if let ([operator], [right]) = (&*comparison.ops, &*comparison.comparators) {
                    let text = format!("v0 {} v1", operator.as_str());
                    self.operation(&text, &[&comparison.left, right], &gives(&value));
                }
            }
            Expr::Call(call) => self.called(call, &gives(&value)),
            Expr::Subscript(subscript) => {
                if let Expr::Slice(slice) = &*subscript.slice {
                    let mut slots = vec![&*subscript.value];
                    let mut text = String::new();
                    for (at, part) in [&slice.lower, &slice.upper, &slice.step].iter().enumerate() {
                        if at == 1 || (at == 2 && part.is_some()) {
                            text.push(':');
                        }
                        if let Some(part) = part {
                            text.push('v');
                            text.push_str(&slots.len().to_string());
                            slots.push(part);
                        }
                    }
                    self.operation(&format!("v0[{text}]"), &slots, &gives(&value));
                } else {
                    self.operation(
                        "v0[v1]",
                        &[&subscript.value, &subscript.slice],
                        &gives(&value),
                    );
                }
            }
            Expr::ListComp(inner) => self.comprehended(&inner.generators, &inner.elt, value),
            Expr::Generator(inner) => self.comprehended(&inner.generators, &inner.elt, value),
            Expr::SetComp(inner) => self.comprehended(&inner.generators, &inner.elt, value),
            Expr::Named(named) => self.solve(&named.value, value),
            _ => {}
        }
    }

    fn displayed(&mut self, elements: &'p [Expr], value: &Literal) {
        if let Literal::List(items) | Literal::Tuple(items) | Literal::Set(items) = value
            && items.len() == elements.len()
        {
            for (element, item) in elements.iter().zip(items) {
                self.solve(element, item.clone());
            }
        }
    }

    /// A comprehension over one iterable: each item of the value had an item of its own.
    fn comprehended(
        &mut self,
        generators: &'p [ruff_python_ast::Comprehension],
        element: &'p Expr,
        value: Literal,
    ) {
        let ([generator], Literal::List(items) | Literal::Set(items) | Literal::Tuple(items)) =
            (generators, value)
        else {
            return;
        };
        let Expr::Name(target) = &generator.target else {
            return;
        };
        let target = target.id.as_str();
        let outer = self.wanted.remove(target);
        let mut sources = Vec::new();
        for item in items {
            self.solve(element, item);
            sources.extend(self.wanted.remove(target));
        }
        if let Some(outer) = outer {
            self.wanted.insert(target, outer);
        }
        self.solve(&generator.iter, Literal::List(sources));
    }

    /// A builtin function, or a method of a builtin value.
    fn called(&mut self, call: &'p ExprCall, effect: &Effect) {
        let (name, mut slots) = match &*call.func {
            Expr::Name(name) if super::expression::is_builtin(name.id.as_str()) => {
                (name.id.to_string(), Vec::new())
            }
            Expr::Attribute(method) => (format!("v0.{}", method.attr), vec![&*method.value]),
            _ => return,
        };
        let mut parts = Vec::new();
        for argument in &call.arguments.args {
            if argument.is_starred_expr() || argument.is_lambda_expr() {
                return;
            }
            parts.push(format!("v{}", slots.len()));
            slots.push(argument);
        }
        for keyword in &call.arguments.keywords {
            let Some(key) = &keyword.arg else { return };
            // What sorts by a function gives the same items.
            if key.as_str() == "key" {
                continue;
            }
            parts.push(format!("{key}=v{}", slots.len()));
            slots.push(&keyword.value);
        }
        self.operation(&format!("{name}({})", parts.join(", ")), &slots, effect);
    }

    /// Asks an operation backwards for its first slot that is not known.
    fn operation(&mut self, text: &str, slots: &[&'p Expr], effect: &Effect) {
        let mut known: Vec<Option<Literal>> = slots.iter().map(|slot| self.known(slot)).collect();
        let Some(hole) = known.iter().position(Option::is_none) else {
            return;
        };
        for (at, slot) in slots.iter().enumerate().skip(hole + 1) {
            if known[at].is_some() {
                continue;
            }
            // One unknown at a time: the others are what they are likely to be.
            let Expr::Name(name) = slot else { return };
            let usage = self
                .usages
                .get(name.id.as_str())
                .copied()
                .unwrap_or_default();
            let value = usage.default_value();
            self.want(name.id.as_str(), value.clone());
            known[at] = Some(value);
        }
        let operands = known.iter().map(|value| {
            value
                .as_ref()
                .map_or_else(|| "None".to_owned(), Literal::to_string)
        });
        let operation = Operation {
            expression: text.to_owned(),
            operands: operands.collect(),
        };
        let found = self.inverse.invert(&operation, effect, hole);
        if let Some(value) = found.and_then(|text| read(&text)) {
            self.solve(slots[hole], value);
        }
    }

    /// What an expression is, without asking: a constant, or a name that is decided.
    fn known(&self, expression: &Expr) -> Option<Literal> {
        if let Expr::Name(name) = expression
            && let Some(value) = self.wanted.get(name.id.as_str())
        {
            return Some(value.clone());
        }
        constant(expression, &self.constants)
    }

    /// The value of a parameter at the beginning.
    fn argument(&self, name: &str, output: &Literal) -> Literal {
        if let Some(value) = self.wanted.get(name) {
            return value.clone();
        }
        let usage = self.usages.get(name).copied().unwrap_or_default();
        let fitted = usage.fitted(output.clone());
        if usage.takes(&fitted) {
            fitted
        } else {
            usage.default_value()
        }
    }
}

fn gives(value: &Literal) -> Effect {
    Effect::Gives {
        result: value.to_string(),
        after: None,
    }
}

/// A value that was said, views and iterators as lists.
fn read(text: &str) -> Option<Literal> {
    let inner = ["dict_keys(", "dict_values(", "dict_items(", "iter("]
        .iter()
        .find_map(|name| text.strip_prefix(name)?.strip_suffix(')'));
    literal::parse(inner.unwrap_or(text)).ok()
}

/// The name whose items a loop walks through: `x`, `enumerate(x)`, `x.items()`, `range(len(x))`.
fn source_of(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Call(call) => match (&*call.func, call.arguments.args.first()) {
            (Expr::Attribute(method), None) => source_of(&method.value),
            (_, Some(first)) => source_of(first),
            _ => None,
        },
        Expr::Subscript(subscript) => source_of(&subscript.value),
        _ => None,
    }
}

fn symbol(operator: Operator) -> &'static str {
    operator.as_str()
}

/// The ways to all statements that are looked for.
fn collect_ways<'p>(
    body: &'p [Stmt],
    wanted: &dyn Fn(&Stmt) -> bool,
    path: &mut Way<'p>,
    ways: &mut Vec<Way<'p>>,
) {
    for (at, statement) in body.iter().enumerate() {
        path.push((body, at));
        if wanted(statement) {
            ways.push(path.clone());
        }
        let mut within = |block: &'p [Stmt]| collect_ways(block, wanted, path, ways);
        match statement {
            Stmt::If(choice) => {
                within(&choice.body);
                for clause in &choice.elif_else_clauses {
                    within(&clause.body);
                }
            }
            Stmt::For(walked) => {
                within(&walked.body);
                within(&walked.orelse);
            }
            Stmt::While(repeated) => {
                within(&repeated.body);
                within(&repeated.orelse);
            }
            Stmt::With(managed) => within(&managed.body),
            Stmt::Try(attempt) => {
                within(&attempt.body);
                for handler in &attempt.handlers {
                    let ruff_python_ast::ExceptHandler::ExceptHandler(handler) = handler;
                    within(&handler.body);
                }
                within(&attempt.orelse);
                within(&attempt.finalbody);
            }
            _ => {}
        }
        path.pop();
    }
}

#[cfg(test)]
mod tests;
