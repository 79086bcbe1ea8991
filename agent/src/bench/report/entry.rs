//! What reports and comparisons know of one run: a task under one setting.

use std::collections::BTreeMap;

use serde::Serialize;

/// What a run was made with. Runs of the same settings belong together, whatever folder they lie in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Settings {
    /// Who proposed patches.
    pub planner: String,
    /// Language model of the planner.
    pub model: Option<String>,
    /// Simulator that took part; none when the results do not say.
    pub simulator: Option<String>,
    /// Everything else: limits, the benchmark, versions.
    pub more: BTreeMap<String, String>,
}

impl Settings {
    /// Names and values, the most telling first.
    pub fn parts(&self) -> Vec<(String, String)> {
        let mut parts = vec![("planner".to_owned(), self.planner.clone())];
        if let Some(model) = &self.model {
            parts.push(("model".into(), model.clone()));
        }
        if let Some(simulator) = &self.simulator {
            parts.push(("simulator".into(), simulator.clone()));
        }
        let more = self.more.iter();
        parts.extend(more.map(|(name, value)| (name.clone(), value.clone())));
        parts
    }

    /// `planner search, simulator on, limit 60 s`.
    pub fn line(&self) -> String {
        let parts = self.parts();
        let parts = parts.iter().map(|(name, value)| format!("{name} {value}"));
        parts.collect::<Vec<_>>().join(", ")
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum End {
    /// The patch, or that there is none, was judged.
    Judged {
        /// How `fix` ended, in a word.
        said: String,
        /// Passes the tests that `fix` saw.
        plausible: bool,
        /// By the official rule of SWE-bench; none where the task has no such rule.
        resolved: Option<bool>,
        /// Passes tests that it has never seen; none when there are none.
        correct: Option<bool>,
    },
    /// It could not be tried or graded, which says nothing about `fix`.
    Infrastructure {
        /// Kind of failure.
        class: String,
        /// What happened.
        message: String,
    },
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Name of the task.
    pub task: String,
    /// What it was run with.
    #[serde(skip)]
    pub settings: Settings,
    /// Repository, where the task has one.
    pub repository: Option<String>,
    /// Kind of bug.
    pub kind: String,
    /// How it ended.
    #[serde(flatten)]
    pub end: End,
    /// Candidates executed until the first plausible patch.
    pub first_plausible_executions: Option<u64>,
    /// Seconds until the first plausible patch.
    pub first_plausible_seconds: Option<f64>,
    /// Candidates executed in all.
    pub executions: u64,
    /// Test processes and forks in all, verification included.
    pub test_runs: u64,
    /// Seconds that `fix` took.
    pub seconds: f64,
    /// Seconds beyond `fix`: environments, copies, grading.
    pub harness_seconds: f64,
    /// Tokens of a language model, prompts and replies.
    pub tokens: u64,
    /// US dollars that they cost; none when the price is not known.
    pub cost: Option<f64>,
    /// One-based place of the bug's first line among the suspicious statements.
    pub statement_rank: Option<usize>,
    /// One-based place of the bug's function among the suspicious functions.
    pub function_rank: Option<usize>,
    /// Tests of PASS_TO_PASS that fail here without any patch: the rule of SWE-bench cannot be met.
    pub broken_here: usize,
    /// Why the patch is not plausible or not correct.
    pub reason: Option<String>,
}

impl Entry {
    /// Whether it says something about `fix`.
    pub const fn is_judged(&self) -> bool {
        matches!(self.end, End::Judged { .. })
    }

    /// Whether the patch passes the tests that `fix` saw; none when nothing was judged.
    pub const fn plausible(&self) -> Option<bool> {
        match self.end {
            End::Judged { plausible, .. } => Some(plausible),
            End::Infrastructure { .. } => None,
        }
    }

    /// Whether it is resolved by the official rule; none where there is no such rule.
    pub const fn resolved(&self) -> Option<bool> {
        match self.end {
            End::Judged { resolved, .. } => resolved,
            End::Infrastructure { .. } => None,
        }
    }

    /// Whether the patch passes tests that `fix` has never seen; none when there are none.
    pub const fn correct(&self) -> Option<bool> {
        match self.end {
            End::Judged { correct, .. } => correct,
            End::Infrastructure { .. } => None,
        }
    }

    /// How it ended, in a word or two.
    pub fn word(&self) -> &str {
        match &self.end {
            End::Judged { said, .. } => said,
            End::Infrastructure { class, .. } => class,
        }
    }
}

#[cfg(test)]
pub(in crate::bench) mod tests {
    use super::*;

    /// Settings of a planner.
    pub fn settings(planner: &str) -> Settings {
        Settings {
            planner: planner.into(),
            model: (planner != "search").then(|| "anthropic/claude-haiku-4-5".into()),
            simulator: Some("default".into()),
            more: BTreeMap::from([("limit".into(), "60 s".into())]),
        }
    }

    /// A run that found a plausible patch after `executions` candidates, or none.
    pub fn entry(planner: &str, task: &str, first: Option<u64>, correct: Option<bool>) -> Entry {
        Entry {
            task: task.into(),
            settings: settings(planner),
            repository: Some("pallets/flask".into()),
            kind: "boundary".into(),
            end: End::Judged {
                said: if first.is_some() { "fixed" } else { "budget" }.into(),
                plausible: first.is_some(),
                resolved: Some(correct == Some(true)),
                correct: correct.filter(|_| task != "no-hidden"),
            },
            first_plausible_executions: first,
            first_plausible_seconds: first.map(|n| n as f64 / 4.0),
            executions: first.map_or(5_000, |n| n + 100),
            test_runs: first.map_or(5_020, |n| n + 130),
            seconds: first.map_or(60.0, |n| n as f64 / 4.0 + 3.5),
            harness_seconds: 1.5,
            tokens: if planner == "search" { 0 } else { 12_345 },
            cost: Some(if planner == "search" { 0.0 } else { 0.0123 }),
            statement_rank: Some(2),
            function_rank: first.map(|_| 1),
            broken_here: usize::from(task == "url-router"),
            reason: None,
        }
    }

    /// A run that was never judged.
    pub fn failed(planner: &str, task: &str, class: &str) -> Entry {
        Entry {
            end: End::Infrastructure {
                class: class.into(),
                message: format!("{class} of {task} failed"),
            },
            ..entry(planner, task, None, None)
        }
    }

    /// Two planners on five tasks, and what can go wrong.
    pub fn results() -> Vec<Entry> {
        let mut all = vec![
            entry("search", "csv-expenses", Some(3), Some(true)),
            entry("search", "league-table", Some(9), Some(true)),
            entry("search", "no-hidden", Some(1394), Some(false)),
            entry("search", "url-router", None, Some(false)),
            failed(
                "search",
                "astropy__astropy-12907-with-a-long-name",
                "install",
            ),
            entry("llm", "csv-expenses", Some(1), Some(true)),
            entry("llm", "league-table", Some(2), Some(false)),
            failed("llm", "no-hidden", "rate limit"),
            entry("llm", "url-router", Some(4), Some(true)),
            entry("llm", "<script>alert(1)</script>", None, Some(false)),
        ];
        all[3].kind = "premature exit".into();
        all[8].kind = "premature exit".into();
        all[3].repository = None;
        all[8].repository = None;
        all
    }
}
