//! A run taken apart into statements, each with the operations that it asked.

use std::collections::HashMap;

use super::statement_kind::{StatementKind, kinds_by_line};
use crate::harness::{Event, Program};
use crate::state::EventKind;

/// A statement that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Number of the state before it: a line.
    pub event: usize,
    /// Number of the next state of the same activation; none where the run ends first.
    pub next: Option<usize>,
    /// Its line.
    pub line: u32,
    /// What it is.
    pub kind: StatementKind,
    /// Numbers of the operations that it asked, in order, those of functions that it called left out.
    pub operations: Vec<usize>,
}

/// The statements of a run in order. `asked` is how many operations the whole run asked: what lies
/// between two states belongs to the statement that was running. Operations of the module's body and
/// of arguments belong to none.
pub fn taken_apart(program: &Program, events: &[Event], asked: usize) -> Vec<Statement> {
    let kinds = kinds_by_line(program);
    let mut statements: Vec<Statement> = Vec::new();
    // For each activation, its statement that runs and where its `for`s are.
    let mut running: HashMap<usize, usize> = HashMap::new();
    let mut entered: HashMap<(usize, u32), usize> = HashMap::new();
    for (number, event) in events.iter().enumerate() {
        if let Some(&last) = running.get(&event.activation) {
            statements[last].next.get_or_insert(number);
        }
        if event.kind == EventKind::Line {
            let mut kind = kinds
                .get(&event.line)
                .copied()
                .unwrap_or(StatementKind::Other);
            if kind == StatementKind::ForEntry && goes_on(events, number, &mut entered) {
                kind = StatementKind::ForNext;
            }
            running.insert(event.activation, statements.len());
            statements.push(Statement {
                event: number,
                next: None,
                line: event.line,
                kind,
                operations: Vec::new(),
            });
        }
        let owner = match event.kind {
            EventKind::Return => event.caller.and_then(|caller| running.get(&caller)),
            EventKind::Call => None,
            EventKind::Line | EventKind::Exception => running.get(&event.activation),
        };
        let until = events.get(number + 1).map_or(asked, |next| next.operations);
        if let Some(&owner) = owner {
            statements[owner].operations.extend(event.operations..until);
        }
    }
    for statement in &mut statements {
        // Python does not come back to `while True`, so that no line tells of another entry.
        if statement.kind == StatementKind::ForNext && !statement.operations.is_empty() {
            statement.kind = StatementKind::ForEntry;
        }
    }
    statements
}

/// Whether a `for` is come back to rather than entered: only the entry asks for what it walks through,
/// and between two turns nothing before the loop runs.
fn goes_on(events: &[Event], number: usize, entered: &mut HashMap<(usize, u32), usize>) -> bool {
    let event = &events[number];
    let key = (event.activation, event.line);
    let last = entered.insert(key, number);
    // A loop within a loop is entered again: then the line before it is not in its body.
    last.is_some_and(|last| {
        let between = events[last + 1..number]
            .iter()
            .filter(|other| other.activation == event.activation && other.kind == EventKind::Line);
        between.clone().all(|other| other.line > event.line)
    })
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::grammar::step::{Effect, Operation};
    use crate::harness::{Answer, Limits, Operations, run};
    use crate::simulator::Unavailable;
    use std::sync::Mutex;

    /// Adds and makes ranges.
    struct Adding(Mutex<RefCell<Vec<String>>>);

    impl Operations for Adding {
        fn perform(&self, operation: &Operation) -> Result<Answer, Unavailable> {
            let held = self.0.lock().unwrap();
            held.borrow_mut().push(operation.expression.clone());
            let numbers: Vec<i64> = operation
                .operands
                .iter()
                .filter_map(|text| text.parse().ok())
                .collect();
            let result = match operation.expression.as_str() {
                "v0 + v1" => (numbers[0] + numbers[1]).to_string(),
                "range(v0)" => format!("range(0, {})", numbers[0]),
                other => panic!("{other}"),
            };
            Ok(Answer {
                effect: Effect::Gives {
                    result,
                    after: None,
                },
                log_probability: 0.0,
            })
        }
    }

    #[test]
    fn operations_belong_to_the_statement_that_was_running() {
        use StatementKind::{Assignment, Augmented, ForEntry, ForNext, Return};
        let source = "\
def g(a):
    return a + 1

def f(n):
    t = 0
    for i in range(n):
        for j in range(n):
            t += i
    t = g(t) + g(t + 1)
    return t
";
        let program = Program::parse(source, "f(2)").unwrap();
        let adding = Adding(Mutex::default());
        let run = run(&program, &adding, Limits::default());
        let asked = adding.0.lock().unwrap().borrow().len();
        let statements = taken_apart(&program, &run.events, asked);
        let shown: Vec<(u32, StatementKind, usize)> = statements
            .iter()
            .map(|statement| (statement.line, statement.kind, statement.operations.len()))
            .collect();
        let inner = |first: StatementKind| {
            [
                (7, first, 1),
                (8, Augmented, 1),
                (7, ForNext, 0),
                (8, Augmented, 1),
                (7, ForNext, 0),
            ]
        };
        let mut expected = vec![(5, Assignment, 0), (6, ForEntry, 1)];
        expected.extend(inner(ForEntry));
        expected.push((6, ForNext, 0));
        expected.extend(inner(ForEntry));
        expected.push((6, ForNext, 0));
        expected.extend([
            (9, Assignment, 2),
            (2, Return, 1),
            (2, Return, 1),
            (10, Return, 0),
        ]);
        assert_eq!(shown, expected);
        let all: usize = statements
            .iter()
            .map(|statement| statement.operations.len())
            .sum();
        assert_eq!(all, asked);
        let call = &statements[14];
        assert_eq!(call.line, 9);
        assert_eq!(run.events[call.next.unwrap()].line, 10);
    }
}
