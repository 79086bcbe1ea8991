use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use ndbg_tools::source::SourceFile;
use ndbg_tools::source::syntax::Syntax;

use super::oracle::{Angelic, Found, Question, Reply, Task};
use super::*;
use crate::plan::{SuspectFunction, SuspectStatement};

/// A candidate with a number.
pub fn candidate(id: u64) -> Candidate {
    Candidate {
        id,
        edits: vec![Edit::replace("a.py", 0..0, id.to_string())],
        operator: "op".into(),
        claim: String::new(),
        file: "a.py".into(),
        line: 1,
        qualname: "f".into(),
        score: 1.0,
        base: 1.0,
    }
}

const SOURCE: &str = "def f(a, b):\n    if a > 1:\n        return b\n    return a\n";

/// The test passes where the condition is turned around; one expression is known for it.
struct Fake {
    tests: Vec<String>,
    runs: Cell<u64>,
    told: Rc<RefCell<Vec<Angelic>>>,
}

impl Oracle for Fake {
    fn tests(&self) -> &[String] {
        &self.tests
    }

    fn ask(&mut self, _: &[Edit], questions: &[Question]) -> Vec<Option<Reply>> {
        self.runs.set(self.runs.get() + questions.len() as u64);
        let reply = |question: &Question| {
            let mut reply = Reply::default();
            let turned = |f: &oracle::Force| f.place == 0 && f.value.starts_with("not ");
            if question.force.iter().any(turned) {
                reply.passed.clone_from(&question.tests);
            }
            match &question.task {
                Task::Survey => {
                    let seen = |place| (place, "t".to_owned(), vec!["False".to_owned()]);
                    reply.found.seen = vec![seen(0), seen(3)];
                }
                Task::Synthesize(..) => {
                    reply.found = Found {
                        found: vec![(3, "a > 1 or b".into())],
                        states: 3,
                        ..Found::default()
                    }
                }
                _ => {}
            }
            Some(reply)
        };
        questions.iter().map(reply).collect()
    }

    fn runs(&self) -> u64 {
        self.runs.get()
    }

    fn is_spent(&self) -> bool {
        false
    }

    fn announce(&self, angelic: Angelic) {
        self.told.borrow_mut().push(angelic);
    }
}

fn facts() -> Facts {
    let file = SourceFile::decode("a.py", SOURCE.as_bytes()).unwrap();
    let syntax = Arc::new(Syntax::parse(file).unwrap());
    Facts {
        files: [("a.py".into(), syntax)].into(),
        functions: vec![SuspectFunction {
            file: "a.py".into(),
            qualname: "f".into(),
            first_line: 1,
            last_line: 4,
            score: 1.0,
            ochiai: 1.0,
            reasons: Vec::new(),
        }],
        statements: vec![SuspectStatement {
            file: "a.py".into(),
            qualname: "f".into(),
            first_line: 2,
            last_line: 2,
            score: 0.9,
            ochiai: 0.9,
            reasons: Vec::new(),
        }],
        ..Facts::default()
    }
}

#[test]
fn a_condition_that_passes_turned_around_is_told_and_synthesised() {
    let told = Rc::default();
    let mut stage = Synthesis::new(Box::new(Fake {
        tests: vec!["t".into()],
        runs: Cell::new(0),
        told: Rc::clone(&told),
    }));
    let found = stage.turn(&facts(), Duration::from_secs(5));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].operator, "synthesis-condition");
    assert_eq!(found[0].claim, "`a > 1` should be `a > 1 or b`");
    assert_eq!((found[0].line, found[0].edits.len()), (2, 1));
    assert_eq!(told.borrow()[0].place, "a > 1");
    // A survey, one visit turned around, and the synthesis.
    assert_eq!(stage.executed(), 3);
    assert_eq!(stage.executed(), 0);
    // What was proposed is not proposed again, and all else helps no test.
    while !stage.is_done() {
        assert!(stage.turn(&facts(), Duration::from_secs(5)).is_empty());
    }
}
