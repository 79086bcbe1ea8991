//! What edits are foreseen to do, before any of them runs.
//!
//! One run of the unchanged code evaluates what many edits change at each of its visits
//! (`ndbg_foresee.py`). An edit that gives the same values at all of them changes nothing that the failing
//! tests do; edits whose statements give the same values do the same. Both are put off, not thrown away: they
//! run when nothing else is left. Some are run all the same, to see whether what is foreseen comes true;
//! where it does not, nobody looks any more.

use std::collections::{HashMap, HashSet};

use camino::Utf8PathBuf;
use ndbg_tools::source::syntax::{Function, Syntax};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::proposals::Draft;
use super::weights::WEIGHTS;
use crate::plan::{Facts, Needed, Pace, Screened};

/// Edits of the first look, of which each next one takes four times as many.
const FIRST: usize = 96;
const MOST: usize = 1_536;
/// Share of the candidates that a look is believed to save, before anything was seen.
const SAVED: f64 = 0.35;
/// Seconds of evaluating an edit at the visits of a run.
const EVALUATING: f64 = 0.000_3;
/// A traced run against a plain one.
const TRACED: f64 = 1.5;
/// Candidates that are still to come, whatever was tried: nobody knows how many.
const TO_COME: f64 = 5.0;
/// Of so many that are put off one is run, to see.
const AUDIT: usize = 24;
/// What was foreseen comes true in this share, or nobody looks any more.
const PRECISION: f64 = 0.9;

/// What an edit is foreseen to do in the failing tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Foreseen {
    /// Nothing.
    Nothing,
    /// The same as all others of its group: number of the look, number in it.
    Group(usize, u64),
    /// Nobody knows before it runs.
    Unclear,
}

/// How looks did so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Looks {
    /// Runs in which a probe looked on.
    pub looks: usize,
    /// Seconds that they took.
    pub seconds: f64,
    /// Edits that were looked at.
    pub looked: usize,
    /// Of these, edits that change nothing that the failing tests see.
    pub nothing: usize,
    /// Of these, edits of which nothing can be told before they run.
    pub unclear: usize,
    /// Edits that were put off.
    pub put_off: usize,
    /// Edits that would have been put off and ran all the same: they failed, as foreseen.
    pub right: usize,
    /// Those of them that did not.
    pub wrong: usize,
}

/// What is foreseen of the drafts of a search.
#[derive(Debug, Default)]
pub struct Foresight {
    known: HashMap<usize, Foreseen>,
    /// Groups of which one failed as before or otherwise.
    failed: HashSet<Foreseen>,
    /// Those that run to see whether it is true, by candidate.
    audited: HashSet<u64>,
    audits: usize,
    asked: Vec<usize>,
    /// Seconds that the last look took.
    took: Option<f64>,
    tally: Looks,
    is_over: bool,
}

impl Foresight {
    /// One that never looks.
    pub fn none() -> Self {
        Self {
            is_over: true,
            ..Self::default()
        }
    }

    /// How it did so far.
    pub fn looks(&self) -> Looks {
        self.tally
    }

    /// Whether a look is worth its time: what is left of the search, by what it did so far, against what a
    /// look takes.
    fn is_due(&self, pace: Pace) -> bool {
        let put_off = if self.tally.looked > 0 {
            (self.tally.put_off as f64 + SAVED) / (self.tally.looked as f64 + 1.0)
        } else {
            SAVED
        };
        let saved = (pace.executed as f64 + TO_COME) * put_off * pace.seconds;
        let cost = self
            .took
            .unwrap_or(pace.seconds * TRACED + FIRST as f64 * EVALUATING);
        saved > cost
    }

    /// The next look, if one is due, at the best drafts that nobody looked at; `queue` has the best one last.
    pub fn look(&mut self, facts: &Facts, queue: &[Draft], pace: Pace) -> Option<Json> {
        if self.is_over || !self.asked.is_empty() || !self.is_due(pace) {
            return None;
        }
        // While the best ones are known there is nothing to ask.
        let soon = queue.iter().rev().take(SOON);
        if soon.clone().count() == 0 || soon.clone().all(|d| self.known.contains_key(&d.number)) {
            return None;
        }
        let most = (FIRST << (2 * self.tally.looks.min(8))).min(MOST);
        let mut functions: Vec<((usize, usize), Json)> = Vec::new();
        for draft in queue.iter().rev() {
            if self.asked.len() >= most {
                break;
            }
            if self.known.contains_key(&draft.number) {
                continue;
            }
            self.asked.push(draft.number);
            let Some((path, syntax)) = facts.files.iter().nth(draft.file) else {
                continue;
            };
            let Some(function) = around(syntax, draft) else {
                continue;
            };
            if facts
                .imported
                .contains(&(path.clone(), function.qualname.clone()))
            {
                continue;
            }
            let text = syntax.file().text();
            let start = text[..function.span.start].rfind('\n').map_or(0, |n| n + 1);
            let start = before_decorators(text, start, function);
            let end = function.span.end;
            let edits: Vec<Json> = draft
                .changes
                .iter()
                .map(|c| json!([c.range.start - start, c.range.end - start, c.text]))
                .collect();
            let edit = json!([draft.number, edits]);
            let key = (draft.file, function.span.start);
            match functions.iter_mut().find(|(known, _)| *known == key) {
                Some((_, one)) => {
                    if let Some(all) = one["edits"].as_array_mut() {
                        all.push(edit);
                    }
                }
                None => functions.push((
                    key,
                    json!({"file": path, "line": function.outer_line, "text": &text[start..end],
                           "edits": [edit]}),
                )),
            }
        }
        if functions.is_empty() {
            self.settle();
            return None;
        }
        let functions: Vec<Json> = functions.into_iter().map(|(_, one)| one).collect();
        let needed: Vec<Json> = facts.needed.iter().map(asked).collect();
        Some(
            json!({"mode": "foresee", "functions": functions, "needed": needed,
                    "seconds": 0.3 + self.asked.len() as f64 * 0.001}),
        )
    }

    /// What a look showed; none where there was no answer. `queue` is sorted anew when it changes.
    pub fn looked(
        &mut self,
        facts: &Facts,
        answer: Option<&Json>,
        seconds: f64,
        queue: &mut [Draft],
    ) {
        self.took = Some(seconds);
        let rows = answer.and_then(|answer| answer["edits"].as_array());
        let Some(rows) = rows else {
            self.is_over = true;
            self.asked.clear();
            return;
        };
        let mut beliefs: HashMap<usize, f64> = HashMap::new();
        for row in rows {
            let Some(number) = row[0].as_u64() else {
                continue;
            };
            let number = number as usize;
            let foreseen = match row[1].as_str() {
                Some("none") => Foreseen::Nothing,
                Some("differs") => row[2]
                    .as_u64()
                    .map_or(Foreseen::Unclear, |g| Foreseen::Group(self.tally.looks, g)),
                _ => Foreseen::Unclear,
            };
            self.known.insert(number, foreseen);
            let met = row[3].as_array().into_iter().flatten();
            let belief = met
                .filter_map(|at| facts.needed.get(at.as_u64()? as usize))
                .map(|needed| needed.confidence)
                .fold(0.0, f64::max);
            if belief > 0.0 {
                beliefs.insert(number, belief);
            }
        }
        self.tally.looked += self.asked.len();
        self.tally.looks += 1;
        self.tally.seconds += seconds;
        let asked = self.asked.clone();
        self.settle();
        for number in asked {
            match self.known.get(&number) {
                Some(Foreseen::Nothing) => self.tally.nothing += 1,
                Some(Foreseen::Unclear) => self.tally.unclear += 1,
                _ => {}
            }
        }
        if !beliefs.is_empty() {
            for draft in queue.iter_mut() {
                if let Some(&belief) = beliefs.get(&draft.number) {
                    draft.features.needed = belief;
                    draft.score *= WEIGHTS.meets(belief);
                }
            }
        }
    }

    /// What was asked for and not answered is unclear.
    fn settle(&mut self) {
        for number in std::mem::take(&mut self.asked) {
            self.known.entry(number).or_insert(Foreseen::Unclear);
        }
    }

    /// Whether a draft does nothing.
    pub fn is_nothing(&self, draft: &Draft) -> bool {
        self.known.get(&draft.number) == Some(&Foreseen::Nothing)
    }

    /// Whether a draft is put off: it does nothing, or what another did that failed.
    pub fn puts_off(&self, draft: &Draft) -> bool {
        if self.is_over {
            return false;
        }
        match self.known.get(&draft.number) {
            Some(Foreseen::Nothing) => true,
            Some(group @ Foreseen::Group(..)) => self.failed.contains(group),
            _ => false,
        }
    }

    /// Whether a draft that is put off runs all the same, as this candidate, to see.
    pub fn audits(&mut self, candidate: u64) -> bool {
        let is_audit = self.tally.put_off >= AUDIT * self.audits + 2;
        if is_audit {
            self.audits += 1;
            self.audited.insert(candidate);
        } else {
            self.tally.put_off += 1;
        }
        is_audit
    }

    /// Hears of a result.
    pub fn hear(&mut self, candidate: u64, draft: &Draft, screened: &Screened) {
        let fails = !matches!(screened, Screened::Plausible | Screened::NearMiss { .. });
        let known = self.known.get(&draft.number).copied();
        if let Some(group @ Foreseen::Group(..)) = known
            && fails
        {
            self.failed.insert(group);
        }
        if self.audited.remove(&candidate) {
            if fails {
                self.tally.right += 1;
            } else {
                self.tally.wrong += 1;
            }
            let (right, wrong) = (self.tally.right as f64, self.tally.wrong as f64);
            self.is_over |= wrong > 0.0 && (right + 1.0) / (right + wrong + 1.0) < PRECISION;
        }
    }

    /// Whether it looks no more.
    pub fn is_over(&self) -> bool {
        self.is_over
    }
}

/// Drafts that are proposed soon.
const SOON: usize = 8;

/// The innermost function that holds all changes of a draft; none at module level.
fn around<'s>(syntax: &'s Syntax, draft: &Draft) -> Option<&'s Function> {
    syntax
        .functions()
        .iter()
        .filter(|function| {
            draft.changes.iter().all(|change| {
                function.span.start <= change.range.start && change.range.end <= function.span.end
            })
        })
        .max_by_key(|function| function.span.start)
}

/// The start of the first decorator's line.
fn before_decorators(text: &str, start: usize, function: &Function) -> usize {
    let mut at = start;
    for _ in function.outer_line..function.first_line {
        at = text[..at.saturating_sub(1)]
            .rfind('\n')
            .map_or(0, |n| n + 1);
    }
    at
}

fn asked(needed: &Needed) -> Json {
    json!({"file": needed.file, "line": needed.line, "test": needed.test, "name": needed.name,
           "visit": needed.visit, "value": needed.value})
}

/// Absolute paths are the runner's business.
pub fn files(probe: &mut Json, absolute: impl Fn(&str) -> Utf8PathBuf) {
    for list in ["functions", "needed"] {
        for one in probe[list].as_array_mut().into_iter().flatten() {
            if let Some(file) = one["file"].as_str() {
                one["file"] = json!(absolute(file));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::search::layout::Change;
    use crate::plan::search::operators::testing::uniform_facts;
    use crate::plan::search::weights::Features;

    const SOURCE: &str = "def f(a):\n    return a + 1\n";
    const SLOW: Pace = Pace {
        executed: 0,
        seconds: 2.0,
    };

    fn draft(number: usize) -> Draft {
        Draft {
            number,
            file: 0,
            function: 0,
            statement: 14,
            operator: 0,
            changes: vec![Change::new(25..26, format!("{}", number + 2))],
            claim: None,
            features: Features {
                suspicion: 1.0,
                prior: 1.0,
                fit: 1.0,
                better: 0,
                earlier: 0,
                alternatives: 1,
                added: 0,
                needed: 0.0,
            },
            score: 1.0,
            base: 1.0,
        }
    }

    /// Four drafts after a look: nothing, two alike, unclear.
    fn looked(facts: &Facts) -> (Foresight, Vec<Draft>) {
        let mut foresight = Foresight::default();
        let mut queue: Vec<Draft> = (0..4).map(draft).collect();
        let probe = foresight.look(facts, &queue, SLOW).unwrap();
        assert_eq!(probe["functions"][0]["edits"].as_array().unwrap().len(), 4);
        let answer = json!({"edits": [
            [0, "none", null, []], [1, "differs", 0, [0]], [2, "differs", 0, []], [3, "unclear", null, []],
        ]});
        foresight.looked(facts, Some(&answer), 0.1, &mut queue);
        (foresight, queue)
    }

    #[test]
    fn what_does_nothing_is_put_off_and_what_does_the_same_once_one_failed() {
        let facts = uniform_facts("a.py", SOURCE);
        let (mut foresight, queue) = looked(&facts);
        let off = |f: &Foresight| queue.iter().map(|d| f.puts_off(d)).collect::<Vec<_>>();
        assert_eq!(off(&foresight), [true, false, false, false]);
        foresight.hear(1, &queue[1], &Screened::Unchanged);
        assert_eq!(off(&foresight), [true, true, true, false]);
    }

    #[test]
    fn what_came_near_puts_nothing_off() {
        let facts = uniform_facts("a.py", SOURCE);
        let (mut foresight, queue) = looked(&facts);
        let near = Screened::NearMiss {
            fixed: vec!["t".into()],
            failing: Vec::new(),
            broken: vec!["u".into()],
        };
        foresight.hear(1, &queue[1], &near);
        assert!(!foresight.puts_off(&queue[2]));
    }

    #[test]
    fn an_edit_that_gives_what_is_needed_goes_first() {
        let mut facts = uniform_facts("a.py", SOURCE);
        facts.needed.push(Needed {
            file: "a.py".into(),
            line: 2,
            test: "t".into(),
            name: None,
            visit: None,
            value: "3".into(),
            confidence: 0.5,
        });
        let (_, queue) = looked(&facts);
        assert!(queue[1].score > queue[2].score);
        assert!((queue[1].base - queue[2].base).abs() < f64::EPSILON);
    }

    #[test]
    fn some_run_to_see_and_what_does_not_come_true_ends_it() {
        let facts = uniform_facts("a.py", SOURCE);
        let (mut foresight, queue) = looked(&facts);
        let audits: Vec<bool> = (10..14).map(|id| foresight.audits(id)).collect();
        assert_eq!(audits, [false, false, true, false]);
        foresight.hear(12, &queue[0], &Screened::Plausible);
        assert!(foresight.is_over());
        assert!(!foresight.puts_off(&queue[0]));
    }

    #[test]
    fn quick_tests_run_first_and_slow_ones_are_looked_at_first() {
        let facts = uniform_facts("a.py", SOURCE);
        let queue = [draft(0)];
        let quick = |executed| Pace {
            executed,
            seconds: 0.005,
        };
        let mut foresight = Foresight::default();
        assert!(foresight.look(&facts, &queue, quick(0)).is_none());
        assert!(foresight.look(&facts, &queue, quick(100)).is_some());
        assert!(Foresight::default().look(&facts, &queue, SLOW).is_some());
        assert!(Foresight::none().look(&facts, &queue, SLOW).is_none());
    }
}
