//! What one task showed.

use ndbg_tasks::{Bug, Grade, Infrastructure, Instance, Task};
use serde::{Deserialize, Serialize};

use crate::outcome::Outcome;
use crate::plan::llm::Exchange;
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
    /// It was not run: the task's surroundings failed, or the known repair was judged in its place.
    NotRun,
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
            Self::NotRun => "not run",
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
    /// Resolved by the official rule of SWE-bench; none where the task's format has no such rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<bool>,
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
    /// Seconds until the first plausible patch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_plausible_seconds: Option<f64>,
    /// Planners that proposed patches, in the order in which they began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub planners: Vec<String>,
    /// Language model that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tokens of prompts and of replies; 0 without a model.
    #[serde(default)]
    pub tokens: Tokens,
    /// US dollars; none where a price is not known, 0 without a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Why the task could not be tried or graded. Says nothing about the patch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infrastructure: Option<Infrastructure>,
    /// How often it was tried, when the first try failed for such a reason.
    #[serde(default = "once")]
    pub tries: u32,
    /// Seconds beyond `fix` itself: copies, grading.
    #[serde(default)]
    pub harness_seconds: f64,
    /// Whether the environment had to be made; the time for it is in `harness_seconds`.
    #[serde(default)]
    pub environment_made: bool,
    /// Tests of PASS_TO_PASS that fail here without any patch.
    #[serde(default)]
    pub broken_here: usize,
}

fn once() -> u32 {
    1
}

/// Tokens of a conversation with a language model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Of prompts, those from a cache among them.
    pub prompt: u64,
    /// Of replies.
    pub completion: u64,
}

/// What a record takes over from its task.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its repository, where tables are to say it.
    pub repository: Option<&'a str>,
    /// Kind of mistake.
    pub kind: &'a str,
    /// Difficulty.
    pub difficulty: Option<&'a str>,
    /// Where the mistake is.
    pub bug: Option<&'a Bug>,
}

impl<'a> From<&'a Task> for Subject<'a> {
    fn from(task: &'a Task) -> Self {
        Self {
            name: &task.name,
            repository: task.seeded().map(|seeded| seeded.repository.as_str()),
            kind: &task.kind,
            difficulty: task.difficulty.map(ndbg_tasks::task::Difficulty::word),
            bug: Some(&task.bug),
        }
    }
}

impl<'a> From<&'a Instance> for Subject<'a> {
    fn from(instance: &'a Instance) -> Self {
        Self {
            name: &instance.id,
            repository: Some(&instance.repository),
            kind: &instance.kind,
            difficulty: instance.difficulty.as_deref(),
            bug: instance.bug.as_ref(),
        }
    }
}

impl Record {
    /// A record of a task that was not run.
    pub fn not_run(subject: Subject<'_>) -> Self {
        Self::from_events(subject, &[], Ending::NotRun, 0.0)
    }

    /// A record of a task from the events of `fix`; the grade is still to come.
    pub fn from_events(
        subject: Subject<'_>,
        events: &[Stamped],
        ending: Ending,
        seconds: f64,
    ) -> Self {
        let mut record = Self {
            task: subject.name.to_owned(),
            repository: subject.repository.map(str::to_owned),
            kind: subject.kind.to_owned(),
            difficulty: subject.difficulty.map(str::to_owned),
            ending,
            plausible: false,
            resolved: None,
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
            first_plausible_seconds: None,
            planners: Vec::new(),
            model: None,
            tokens: Tokens::default(),
            cost: Some(0.0),
            infrastructure: None,
            tries: 1,
            harness_seconds: 0.0,
            environment_made: false,
            broken_here: 0,
        };
        let mut claims: Vec<(u64, &str)> = Vec::new();
        for stamped in events {
            match &stamped.event {
                Event::Localized {
                    functions,
                    statements,
                } => {
                    let Some(bug) = subject.bug else {
                        continue;
                    };
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
                Event::PlanStarted { planner, .. } if !record.planners.contains(planner) => {
                    record.planners.push(planner.clone());
                }
                Event::Model(Exchange::Asked { model, .. }) => {
                    record.model = Some(model.clone());
                }
                Event::Model(Exchange::Answered {
                    prompt,
                    completion,
                    cost,
                    ..
                }) => {
                    record.tokens.prompt += prompt;
                    record.tokens.completion += completion;
                    record.cost = *cost;
                }
                Event::Plausible {
                    id,
                    claim,
                    executed,
                    ..
                } => {
                    record.first_plausible.get_or_insert(*executed);
                    record.first_plausible_seconds.get_or_insert(stamped.at);
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
        self.resolved = grade.resolved;
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
        Record::from_events(
            Subject::from(&task),
            &events,
            Ending::Said(Outcome::Fixed),
            1.5,
        )
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
