//! Keeping items of a benchmark out of training data.
//!
//! Two checks: a function of the item has the syntax tree of a benchmark's function once names and
//! literals are set aside, or the item and a benchmark item share a run of tokens as they are written.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::near_duplicates::{fnv, mix};
use crate::normalised::{Normalised, normalise};

/// A benchmark file that cannot be read.
#[derive(Debug, Error)]
pub enum BenchmarkError {
    /// A line is no JSON.
    #[error("line {line}: {source}")]
    Json {
        /// From 1.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
    /// A line has no such field, or it holds no text.
    #[error("line {line}: no text in `{field}`")]
    Field {
        /// From 1.
        line: usize,
        /// The field.
        field: String,
    },
}

/// Why an item is contaminated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "check", rename_all = "kebab-case")]
pub enum Contamination {
    /// A function is the same but for names and literals.
    SameTree {
        /// Name of the function in the item.
        function: String,
        /// The benchmark's item.
        of: String,
    },
    /// Runs of tokens are the same.
    SharedTokens {
        /// The benchmark's item with the most of them.
        of: String,
        /// How many of its runs the item has.
        shared: usize,
        /// How many it has in all.
        total: usize,
    },
}

impl Contamination {
    /// For reports: which check, and which item of the benchmark.
    pub fn reason(&self) -> String {
        match self {
            Self::SameTree { function, of } => {
                format!("`{function}` has the syntax tree of `{of}`")
            }
            Self::SharedTokens { of, shared, total } => {
                format!("shares {shared} of {total} runs of tokens with `{of}`")
            }
        }
    }

    /// Name of the check, for counts.
    pub fn check(&self) -> &'static str {
        match self {
            Self::SameTree { .. } => "same tree",
            Self::SharedTokens { .. } => "shared tokens",
        }
    }
}

/// What is known of a benchmark.
#[derive(Debug, Clone, Default)]
pub struct Benchmark {
    run: usize,
    trees: HashMap<String, usize>,
    runs: HashMap<u64, Vec<usize>>,
    names: Vec<String>,
    totals: Vec<usize>,
    /// Items whose code could not be parsed: only their text as a whole could be compared.
    pub unparsed: Vec<String>,
}

/// Tokens of a run. Shorter ones are idioms that many programs share.
pub const RUN: usize = 13;

/// Functions of so few tokens say the same by chance (`return a + b`).
const SMALLEST: usize = 8;

impl Benchmark {
    /// Reads a benchmark: JSON lines with code in `field` and perhaps a name in `id`.
    pub fn read(text: &str, field: &str, run: usize) -> Result<Self, BenchmarkError> {
        let mut benchmark = Self {
            run: run.max(1),
            ..Self::default()
        };
        for (number, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
        {
            let number = number + 1;
            let item: serde_json::Value =
                serde_json::from_str(line).map_err(|source| BenchmarkError::Json {
                    line: number,
                    source,
                })?;
            let code = item.get(field).and_then(serde_json::Value::as_str);
            let code = code.ok_or_else(|| BenchmarkError::Field {
                line: number,
                field: field.to_owned(),
            })?;
            let name = match item.get("id") {
                Some(serde_json::Value::String(name)) => name.clone(),
                Some(other) => other.to_string(),
                None => format!("line {number}"),
            };
            benchmark.add(name, code);
        }
        Ok(benchmark)
    }

    fn add(&mut self, name: String, code: &str) {
        let Ok(item) = normalise(code) else {
            self.unparsed.push(name);
            return;
        };
        let index = self.names.len();
        for function in item
            .functions
            .iter()
            .filter(|function| function.tokens >= SMALLEST)
        {
            self.trees.entry(function.hash.clone()).or_insert(index);
        }
        let runs = runs(&item.written, self.run);
        self.totals.push(runs.len());
        for run in runs {
            let holders = self.runs.entry(run).or_default();
            if holders.last() != Some(&index) {
                holders.push(index);
            }
        }
        self.names.push(name);
    }

    /// Items read.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether nothing was read.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Whether an item is too near to the benchmark.
    pub fn check(&self, item: &Normalised) -> Option<Contamination> {
        for function in item
            .functions
            .iter()
            .filter(|function| function.tokens >= SMALLEST)
        {
            if let Some(of) = self.trees.get(&function.hash) {
                let (function, of) = (function.name.clone(), self.names[*of].clone());
                return Some(Contamination::SameTree { function, of });
            }
        }
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        for run in runs(&item.written, self.run) {
            for holder in self.runs.get(&run).into_iter().flatten() {
                *shared.entry(*holder).or_default() += 1;
            }
        }
        let (of, shared) = shared
            .into_iter()
            .max_by_key(|(of, count)| (*count, usize::MAX - of))?;
        Some(Contamination::SharedTokens {
            of: self.names[of].clone(),
            shared,
            total: self.totals[of],
        })
    }
}

/// Hashes of the distinct runs of `length` tokens.
fn runs(tokens: &[String], length: usize) -> Vec<u64> {
    let hashes: Vec<u64> = tokens.iter().map(|token| fnv(token.as_bytes())).collect();
    let mut runs: Vec<u64> = hashes
        .windows(length)
        .map(|run| run.iter().fold(0, |hash, token| mix(hash ^ token)))
        .collect();
    runs.sort_unstable();
    runs.dedup();
    runs
}

/// What was dropped and why.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecontaminationReport {
    /// Items checked.
    pub checked: usize,
    /// Items dropped by check.
    pub counts: BTreeMap<String, usize>,
    /// Each dropped item, by its place, with the reason.
    pub dropped: BTreeMap<usize, Contamination>,
}

/// Checks every item.
pub fn decontaminate(benchmark: &Benchmark, items: &[Normalised]) -> DecontaminationReport {
    let mut report = DecontaminationReport {
        checked: items.len(),
        ..Default::default()
    };
    for (index, item) in items.iter().enumerate() {
        if let Some(found) = benchmark.check(item) {
            *report.counts.entry(found.check().to_owned()).or_default() += 1;
            report.dropped.insert(index, found);
        }
    }
    report
}

#[cfg(test)]
mod tests {
    use super::{Benchmark, Contamination, RUN, decontaminate};
    use crate::normalised::normalise;

    const CODE: &str = "def f(text, n):\n    out = ''\n    for c in text.strip():\n        if c.isalpha() and n > 0:\n            out += c.upper()\n    return out + str(n)\n";

    fn benchmark() -> Benchmark {
        let line = serde_json::json!({ "code": CODE, "id": "sample_1" }).to_string();
        Benchmark::read(&format!("{line}\n\n"), "code", RUN).unwrap()
    }

    #[test]
    fn renamed_copies_have_the_same_tree() {
        let copy = CODE
            .replace("text", "s")
            .replace("out", "result")
            .replace('0', "7");
        let found = benchmark().check(&normalise(&copy).unwrap()).unwrap();
        assert_eq!(
            found,
            Contamination::SameTree {
                function: "f".into(),
                of: "sample_1".into()
            }
        );
        assert_eq!(found.reason(), "`f` has the syntax tree of `sample_1`");
    }

    #[test]
    fn pasted_lines_share_runs_of_tokens() {
        let pasted = CODE.replace("return out + str(n)", "print(out)\n    return len(out)");
        let other = normalise("def f(a):\n    return a\n").unwrap();
        let report = decontaminate(&benchmark(), &[other, normalise(&pasted).unwrap()]);
        assert_eq!(report.counts.get("shared tokens"), Some(&1));
        assert!(
            matches!(&report.dropped[&1], Contamination::SharedTokens { shared, .. } if *shared > 5)
        );
    }

    #[test]
    fn idioms_are_no_contamination() {
        let code = "def g(rows):\n    out = ''\n    for r in rows:\n        if r.isalpha():\n            out += r\n    return out\n";
        assert_eq!(benchmark().check(&normalise(code).unwrap()), None);
    }

    #[test]
    fn bad_files_are_said_to_be_bad() {
        assert_eq!(
            Benchmark::read("{}", "code", RUN).unwrap_err().to_string(),
            "line 1: no text in `code`"
        );
        assert!(
            Benchmark::read("\n{", "code", RUN)
                .unwrap_err()
                .to_string()
                .starts_with("line 2: ")
        );
    }
}
