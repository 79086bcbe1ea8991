//! What one task showed.

use ndbg_tasks::{Grade, Task};
use serde::{Deserialize, Serialize};

use crate::outcome::Outcome;
use crate::report::event::{Event, Stamped};

/// How the run of `fix` on a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It said how.
    Said(Outcome),
    /// It went past its limit by so much that it was killed.
    Killed,
    /// It ended without its last event.
    Crashed,
}

impl Ending {
    /// At most nine letters.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Said(Outcome::Fixed) => "fixed",
            Self::Said(Outcome::NotFixed) => "not fixed",
            Self::Said(Outcome::Usage) => "usage",
            Self::Said(Outcome::NothingToFix) => "nothing",
            Self::Said(Outcome::Environment) => "no env",
            Self::Said(Outcome::Flaky) => "flaky",
            Self::Said(Outcome::Budget) => "budget",
            Self::Said(Outcome::Interrupted) => "stopped",
            Self::Killed => "killed",
            Self::Crashed => "crashed",
        }
    }
}

/// The result of one task, one line of the JSON file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Name of the task.
    pub task: String,
    /// Repository of a seeded bug.
    pub repository: Option<String>,
    /// Kind of mistake: of a seeded bug the mutation operator.
    pub kind: String,
    /// Difficulty of a bundled task.
    pub difficulty: Option<String>,
    /// How `fix` ended.
    pub ending: Ending,
    /// Passes the tests that `fix` could see.
    pub plausible: bool,
    /// Passes tests that `fix` has never seen; none when the task has no such tests.
    pub correct: Option<bool>,
    /// Whether the patch gives back the code from before the bug; none when that is not at hand.
    pub original: Option<bool>,
    /// Why the patch is not plausible or not correct.
    pub reason: Option<String>,
    /// Candidates run until the first plausible one.
    pub first_plausible: Option<u64>,
    /// Candidates run in all.
    pub executions: u64,
    /// Test processes and forks in all, verification included.
    pub test_runs: u64,
    /// Seconds that `fix` took.
    pub seconds: f64,
    /// One-based place of the first buggy line among the suspicious statements.
    pub statement_rank: Option<usize>,
    /// One-based place of the buggy function among the suspicious functions.
    pub function_rank: Option<usize>,
    /// What the patch claims.
    pub claim: Option<String>,
    /// Last words of `fix`.
    pub summary: String,
}

impl Record {
    /// A record of `task` from the events of `fix`; the grade is still to come.
    pub fn from_events(task: &Task, events: &[Stamped], ending: Ending, seconds: f64) -> Self {
        let mut record = Self {
            task: task.name.clone(),
            repository: task.seeded().map(|seeded| seeded.repository.clone()),
            kind: task.kind.clone(),
            difficulty: task.difficulty.map(|level| level.word().to_owned()),
            ending,
            plausible: false,
            correct: None,
            original: None,
            reason: None,
            first_plausible: None,
            executions: 0,
            test_runs: 0,
            seconds,
            statement_rank: None,
            function_rank: None,
            claim: None,
            summary: String::new(),
        };
        let mut claims: Vec<(u64, &str)> = Vec::new();
        for stamped in events {
            match &stamped.event {
                Event::Localized {
                    functions,
                    statements,
                } => {
                    let bug = &task.bug;
                    let statement = statements.iter().position(|s| {
                        s.file == bug.file
                            && bug
                                .lines
                                .iter()
                                .any(|line| (s.first_line..=s.last_line).contains(line))
                    });
                    let function = functions
                        .iter()
                        .position(|f| f.file == bug.file && f.qualname == bug.function);
                    record.statement_rank = statement.map(|place| place + 1);
                    record.function_rank = function.map(|place| place + 1);
                }
                Event::Candidate { .. } => record.executions += 1,
                Event::Plausible {
                    id,
                    claim,
                    executed,
                    ..
                } => {
                    record.first_plausible.get_or_insert(*executed);
                    claims.push((*id, claim));
                }
                Event::Verdict {
                    id, accepted: true, ..
                } => {
                    let claim = claims.iter().find(|(known, _)| known == id);
                    record.claim = claim.map(|(_, claim)| (*claim).to_owned());
                }
                Event::Finished {
                    summary,
                    executed,
                    test_runs,
                    ..
                } => {
                    record.executions = *executed;
                    record.test_runs = *test_runs;
                    record.summary.clone_from(summary);
                }
                _ => {}
            }
        }
        record
    }

    /// Adds the grade.
    pub fn grade(&mut self, grade: Grade) {
        self.plausible = grade.plausible;
        self.correct = grade.correct;
        self.original = grade.original;
        self.reason = grade.reason;
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use ndbg_tasks::{Bug, Origin};

    pub fn record(name: &str) -> Record {
        let task = Task {
            name: name.into(),
            summary: String::new(),
            kind: "boundary".into(),
            difficulty: None,
            test: Vec::new(),
            fail_to_pass: Vec::new(),
            bug: Bug {
                file: "a.py".into(),
                function: "f".into(),
                lines: vec![7],
            },
            folder: "/t".into(),
            hidden: "/h".into(),
            origin: Origin::Bundled,
        };
        let statement = |first: usize, last: usize| {
            format!(
                "{{\"file\":\"a.py\",\"qualname\":\"f\",\"first_line\":{first},\"last_line\":{last},\
                 \"score\":1.0,\"ochiai\":1.0,\"reasons\":[]}}"
            )
        };
        let lines = [
            format!(
                "{{\"at\":0.1,\"type\":\"localized\",\"functions\":[{}],\"statements\":[{},{}]}}",
                statement(1, 9),
                statement(2, 2),
                statement(6, 8)
            ),
            "{\"at\":0.2,\"type\":\"plausible\",\"id\":4,\"claim\":\"x\",\"executed\":12,\"diff\":\"\"}"
                .into(),
            "{\"at\":0.3,\"type\":\"verdict\",\"id\":4,\"accepted\":true,\"reason\":\"\"}".into(),
            "{\"at\":0.4,\"type\":\"finished\",\"outcome\":\"fixed\",\"exit_code\":0,\"summary\":\"s\",\
             \"executed\":15,\"test_runs\":20,\"seconds\":0.4,\"diff\":\"\"}"
                .into(),
        ];
        let events: Vec<Stamped> = lines
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        Record::from_events(&task, &events, Ending::Said(Outcome::Fixed), 1.5)
    }

    #[test]
    fn events_become_figures() {
        let record = record("demo");
        assert_eq!(record.statement_rank, Some(2));
        assert_eq!(record.function_rank, Some(1));
        assert_eq!(record.first_plausible, Some(12));
        assert_eq!((record.executions, record.test_runs), (15, 20));
        assert_eq!(record.claim.as_deref(), Some("x"));
    }
}
