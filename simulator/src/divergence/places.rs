//! Statements by line, and the conditions above them.

use std::collections::{HashMap, HashSet};

use ruff_python_ast::{ExceptHandler, Expr, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::Ranged;

use super::{syntax, writes};
use crate::harness::Program;

/// A condition that lets statements run.
#[derive(Debug, Clone, Copy)]
pub struct Condition<'p> {
    /// The expression; none for the clause of a handler.
    pub test: Option<&'p Expr>,
    /// Its line.
    pub line: u32,
    /// Whether the statement runs when it is true.
    pub taken: bool,
    /// What the other way would have returned.
    pub gives: Option<&'p Expr>,
}

/// Conditions above a statement that are remembered.
const CONDITIONS: usize = 6;

/// What lies on which line of a program.
pub struct Places<'p> {
    program: &'p Program,
    statements: HashMap<u32, &'p Stmt>,
    /// The nearest last.
    above: HashMap<u32, Vec<Condition<'p>>>,
    functions: HashMap<u32, &'p StmtFunctionDef>,
    classes: HashMap<&'p str, &'p StmtClassDef>,
    /// Line of the function that a line belongs to.
    owners: HashMap<u32, u32>,
    /// By function and name: conditions below which the name is bound or changed.
    conditional: HashMap<(u32, &'p str), Vec<Condition<'p>>>,
    /// Functions by line, conditions and what is raised below them.
    raises: Vec<(u32, Condition<'p>, Option<&'p str>)>,
    handlers: HashSet<u32>,
    /// Lines of handlers' bodies.
    handling: HashSet<u32>,
}

/// Where a block lies.
struct Block<'p> {
    above: Vec<Condition<'p>>,
    function: u32,
    is_handler: bool,
}

impl<'p> Block<'p> {
    /// The same place below one more condition.
    fn below(&self, condition: Condition<'p>) -> Self {
        let mut above = self.above.clone();
        above.push(condition);
        Self { above, ..*self }
    }

    fn same(&self) -> Self {
        Self {
            above: self.above.clone(),
            ..*self
        }
    }
}

impl<'p> Places<'p> {
    /// Looks through a program.
    pub fn of(program: &'p Program) -> Self {
        let mut places = Self {
            program,
            statements: HashMap::new(),
            above: HashMap::new(),
            functions: HashMap::new(),
            classes: HashMap::new(),
            owners: HashMap::new(),
            conditional: HashMap::new(),
            raises: Vec::new(),
            handlers: HashSet::new(),
            handling: HashSet::new(),
        };
        let block = Block {
            above: Vec::new(),
            function: 0,
            is_handler: false,
        };
        places.block(program.body(), block);
        places
    }

    /// The statement that a line belongs to.
    pub fn statement(&self, line: u32) -> Option<&'p Stmt> {
        self.statements
            .get(&self.program.statement_line(line))
            .copied()
    }

    /// Statements of the module.
    pub fn body(&self) -> &'p [Stmt] {
        self.program.body()
    }

    /// The line of a part of the program.
    pub fn line_of(&self, part: &impl Ranged) -> u32 {
        self.program.line_of(part)
    }

    /// The conditions that let a line's statement run, the nearest first: those of the blocks around it, and those
    /// that would have left a block before it.
    pub fn conditions_above(&self, line: u32) -> Vec<Condition<'p>> {
        let found = self.above.get(&self.program.statement_line(line));
        found
            .into_iter()
            .flatten()
            .rev()
            .take(CONDITIONS)
            .copied()
            .collect()
    }

    /// Conditions below which the function of a line binds or changes a name.
    pub fn conditional_writes(&self, line: u32, name: &str) -> Vec<Condition<'p>> {
        let line = self.program.statement_line(line);
        let Some(&owner) = self.owners.get(&line) else {
            return Vec::new();
        };
        let found = self.conditional.get(&(owner, name));
        found.into_iter().flatten().copied().collect()
    }

    /// Conditions below which the function whose `def` is at a line raises, in order, and what it raises.
    pub fn raises_of(&self, line: u32) -> Vec<(Condition<'p>, Option<&'p str>)> {
        let line = self.program.statement_line(line);
        let found = self.raises.iter().filter(|(owner, _, _)| *owner == line);
        found
            .map(|(_, condition, raised)| (*condition, *raised))
            .collect()
    }

    /// Whether a line is the clause of a handler.
    pub fn is_handler(&self, line: u32) -> bool {
        self.handlers.contains(&line)
    }

    /// Whether a line lies in the body of a handler.
    pub fn is_handling(&self, line: u32) -> bool {
        self.handling.contains(&self.program.statement_line(line))
    }

    /// A class of the module by its name.
    pub fn class(&self, name: &str) -> Option<&'p StmtClassDef> {
        self.classes.get(name).copied()
    }

    /// Place of a parameter among the positional ones of the function whose `def` is at this line; a method's
    /// object is not counted.
    pub fn position_of(&self, line: u32, name: &str) -> Option<usize> {
        self.parameters(line)?.position(|held| held == name)
    }

    /// The positional parameter at a place, counted as [`Places::position_of`] does.
    pub fn parameter_at(&self, line: u32, position: usize) -> Option<&'p str> {
        self.parameters(line)?.nth(position)
    }

    /// The first parameter of the function whose `def` is at this line.
    pub fn first_parameter(&self, line: u32) -> Option<&'p str> {
        let parameters = &self.function(line)?.parameters;
        let mut names = parameters.posonlyargs.iter().chain(&parameters.args);
        Some(names.next()?.parameter.name.as_str())
    }

    /// The default of a parameter of the function whose `def` is at this line.
    pub fn default_of(&self, line: u32, name: &str) -> Option<&'p Expr> {
        let parameters = &self.function(line)?.parameters;
        let mut all = parameters
            .posonlyargs
            .iter()
            .chain(&parameters.args)
            .chain(&parameters.kwonlyargs);
        all.find(|one| one.parameter.name.as_str() == name)?
            .default
            .as_deref()
    }

    fn function(&self, line: u32) -> Option<&'p StmtFunctionDef> {
        self.functions
            .get(&self.program.statement_line(line))
            .or_else(|| self.functions.get(&line))
            .copied()
    }

    fn parameters(&self, line: u32) -> Option<impl Iterator<Item = &'p str> + use<'p>> {
        let definition = self.function(line)?;
        let names = definition
            .parameters
            .posonlyargs
            .iter()
            .chain(&definition.parameters.args)
            .map(|parameter| parameter.parameter.name.as_str())
            .filter(|name| *name != "self" && *name != "cls");
        Some(names)
    }

    fn block(&mut self, body: &'p [Stmt], mut block: Block<'p>) {
        for statement in body {
            let line = self.program.line_of(statement);
            self.statements.entry(line).or_insert(statement);
            self.owners.entry(line).or_insert(block.function);
            self.above
                .entry(line)
                .or_insert_with(|| block.above.clone());
            if block.is_handler {
                self.handling.insert(line);
            }
            if let Some(&nearest) = block.above.last() {
                for name in writes::names(statement) {
                    let conditions = self.conditional.entry((block.function, name)).or_default();
                    if conditions.iter().all(|held| held.line != nearest.line) {
                        conditions.push(nearest);
                    }
                }
            }
            if let (Stmt::Raise(raised), Some(&nearest)) = (statement, block.above.last()) {
                let raised = raised.exc.as_deref().and_then(syntax::raised_name);
                self.raises.push((block.function, nearest, raised));
            }
            self.inside(statement, line, &block);
            // What comes after an exit runs because its condition was false.
            self.exits(statement, line, &mut block.above);
            let more = block.above.len().saturating_sub(CONDITIONS * 2);
            block.above.drain(..more);
        }
    }

    fn inside(&mut self, statement: &'p Stmt, line: u32, block: &Block<'p>) {
        match statement {
            Stmt::FunctionDef(definition) => {
                self.functions.insert(line, definition);
                let block = Block {
                    above: Vec::new(),
                    function: line,
                    is_handler: false,
                };
                self.block(&definition.body, block);
            }
            Stmt::ClassDef(definition) => {
                self.classes.insert(definition.name.as_str(), definition);
                self.block(&definition.body, block.same());
            }
            Stmt::If(choice) => {
                let mut last = condition(&choice.test, line, true);
                self.block(&choice.body, block.below(last));
                let mut block = block.same();
                for clause in &choice.elif_else_clauses {
                    last.taken = false;
                    block = block.below(last);
                    match &clause.test {
                        Some(test) => {
                            last = condition(test, self.program.line_of(test), true);
                            self.block(&clause.body, block.below(last));
                        }
                        None => self.block(&clause.body, block.same()),
                    }
                }
            }
            Stmt::While(repeated) => {
                let test = condition(&repeated.test, line, true);
                self.block(&repeated.body, block.below(test));
                self.block(&repeated.orelse, block.same());
            }
            Stmt::For(walked) => {
                self.block(&walked.body, block.same());
                self.block(&walked.orelse, block.same());
            }
            Stmt::With(managed) => self.block(&managed.body, block.same()),
            Stmt::Try(attempt) => {
                self.block(&attempt.body, block.same());
                for handler in &attempt.handlers {
                    let ExceptHandler::ExceptHandler(handler) = handler;
                    self.handlers.insert(self.program.line_of(handler));
                    let mut block = block.same();
                    block.is_handler = true;
                    self.block(&handler.body, block);
                }
                self.block(&attempt.orelse, block.same());
                self.block(&attempt.finalbody, block.same());
            }
            _ => {}
        }
    }

    /// Conditions below a statement that would have left the block, or the loop, that it stands in.
    fn exits(&self, statement: &'p Stmt, line: u32, found: &mut Vec<Condition<'p>>) {
        match statement {
            Stmt::If(choice) => {
                if leaves(&choice.body) {
                    found.push(exit(&choice.test, line, &choice.body));
                }
                for clause in &choice.elif_else_clauses {
                    if let (Some(test), true) = (&clause.test, leaves(&clause.body)) {
                        found.push(exit(test, self.program.line_of(test), &clause.body));
                    }
                }
            }
            Stmt::For(walked) => self.exits_of(&walked.body, found),
            Stmt::While(repeated) => {
                found.push(condition(&repeated.test, line, false));
                self.exits_of(&repeated.body, found);
            }
            _ => {}
        }
    }

    fn exits_of(&self, body: &'p [Stmt], found: &mut Vec<Condition<'p>>) {
        for statement in body {
            if let Stmt::If(choice) = statement
                && matches!(choice.body.last(), Some(Stmt::Return(_) | Stmt::Break(_)))
            {
                let line = self.program.line_of(statement);
                found.push(exit(&choice.test, line, &choice.body));
            }
        }
    }
}

fn condition(test: &Expr, line: u32, taken: bool) -> Condition<'_> {
    Condition {
        test: Some(test),
        line,
        taken,
        gives: None,
    }
}

/// The condition below which a block leaves; what comes after ran because it was false.
fn exit<'p>(test: &'p Expr, line: u32, body: &'p [Stmt]) -> Condition<'p> {
    let gives = match body.last() {
        Some(Stmt::Return(inner)) => inner.value.as_deref(),
        _ => None,
    };
    Condition {
        gives,
        ..condition(test, line, false)
    }
}

/// Whether nothing comes after a block. One that raises would not have given another value.
fn leaves(body: &[Stmt]) -> bool {
    matches!(
        body.last(),
        Some(Stmt::Return(_) | Stmt::Continue(_) | Stmt::Break(_))
    )
}
