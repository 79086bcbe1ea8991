//! The search planner: edit operators over the syntax tree, ordered by suspiciousness, prior and
//! type fit. Needs no key and no network.
//!
//! `generate` walks the suspicious statements and lets each operator of `operators` look at
//! each node; what they propose is scored and sorted. Candidates are materialised, parsed and
//! deduplicated by their syntax only when they are asked for. When all single edits are through,
//! `pairs` combines edits of one function, led by the results so far.

// Tables of weights read best with one case a line, equal or not.
#![allow(clippy::match_same_arms)]

mod bindings;
mod canonical;
mod foresight;
mod generate;
pub(super) mod layout;
mod legal;
mod names;
mod operators;
mod pairs;
mod precedence;
mod proposals;
mod roles;
mod scope;
mod site;
mod suspicion;
mod types;
mod unit;
mod usage;
mod weights;

use std::collections::{HashMap, HashSet, VecDeque};

use ndbg_tools::source::Edit;
use ndbg_tools::source::syntax::Syntax;

use self::canonical::Canonical;
use self::foresight::Foresight;
pub use self::foresight::{Looks, files as with_files};
use self::layout::Change;
use self::operators::OPERATORS;
use self::pairs::{Pairs, Verdict};
use self::proposals::Draft;
pub use self::weights::Features;
use camino::Utf8Path;
use serde_json::Value as Json;

use super::{Candidate, Facts, Feedback, Pace, PlanError, Planner, Screened};

/// Name, rationale and prior of every operator, for reports and documentation.
pub fn catalogue() -> impl Iterator<Item = (&'static str, &'static str, f64)> {
    OPERATORS.iter().map(|o| (o.name, o.rationale, o.prior))
}

/// Limits of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchOptions {
    /// Functions looked at, the most suspicious ones first.
    pub max_functions: usize,
    /// Whether to go on with pairs of edits when all single edits are through.
    pub pairs: bool,
    /// Pairs proposed at most.
    pub max_pairs: usize,
    /// Candidates proposed at most, pairs included.
    pub max_candidates: usize,
    /// Whether it looks at what edits do before they run.
    pub foresight: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            max_functions: 12,
            pairs: true,
            max_pairs: 5_000,
            max_candidates: 50_000,
            foresight: true,
        }
    }
}

/// Near misses of a function that bring pairs forward.
const LEADS: usize = 3;
/// How far results of the run raise an edit at most, whichever: many of them say little more than some.
const RAISED: f64 = 12.0;
/// How far another value that has made a failing test pass raises the edits of its statement.
const FAVOURED: f64 = 3.0;
/// Partners that each of them is combined with.
const PARTNERS: usize = 80;
/// What such a pair is worth against its partner alone.
const LEAD_WEIGHT: f64 = 0.6;

/// The search planner. The facts must stay the same from call to call.
#[derive(Debug)]
pub struct SearchPlanner {
    options: SearchOptions,
    canonical: Option<Canonical>,
    /// Single edits still to come, worst first, so that the best one is popped.
    queue: Option<Vec<Draft>>,
    /// Single edits proposed, with what became of them, by candidate number.
    proposed: HashMap<u64, (Draft, Verdict)>,
    pairs: Option<Pairs>,
    /// Pairs that a near miss brought forward, worst first.
    urgent: Vec<(Draft, Draft, f64)>,
    /// Near misses that did so, by file and function.
    leads: HashMap<(usize, usize), usize>,
    known: HashSet<u64>,
    next_id: u64,
    /// What is foreseen of the queue.
    foresight: Foresight,
    /// Drafts that are put off, best first; those that do nothing are apart.
    later: VecDeque<Draft>,
    never: VecDeque<Draft>,
}

impl Default for SearchPlanner {
    fn default() -> Self {
        Self::new(SearchOptions::default())
    }
}

impl SearchPlanner {
    /// A planner that has not looked at anything yet.
    pub fn new(options: SearchOptions) -> Self {
        Self {
            foresight: if options.foresight {
                Foresight::default()
            } else {
                Foresight::none()
            },
            later: VecDeque::new(),
            never: VecDeque::new(),
            options,
            canonical: Canonical::new(),
            queue: None,
            proposed: HashMap::new(),
            pairs: None,
            urgent: Vec::new(),
            leads: HashMap::new(),
            known: HashSet::new(),
            next_id: 0,
        }
    }

    /// What was known of a single edit that was proposed, and whether it is foreseen to do nothing.
    pub fn features(&self, candidate: u64) -> Option<(Features, bool)> {
        let (draft, _) = self.proposed.get(&candidate)?;
        Some((draft.features, self.foresight.is_nothing(draft)))
    }

    fn learn(&mut self, feedback: &[Feedback]) {
        let mut boosts = Vec::new();
        let mut leads = Vec::new();
        for result in feedback {
            let verdict = Verdict::of(&result.screened);
            if let Some((draft, known)) = self.proposed.get_mut(&result.candidate.id) {
                *known = verdict;
                let id = result.candidate.id;
                self.foresight.hear(id, draft, &result.screened);
                if let Screened::NearMiss { broken, .. } = &result.screened {
                    let weight = if broken.is_empty() { 1.0 } else { 0.5 };
                    if broken.is_empty() {
                        leads.push(draft.clone());
                    }
                    boosts.push((
                        draft.file,
                        draft.function,
                        draft.statement,
                        draft.operator,
                        weight,
                    ));
                }
            }
        }
        if boosts.is_empty() {
            return;
        }
        // A near miss says that the place is right: its statement first, then the same kind of
        // edit elsewhere in the function.
        if let Some(queue) = &mut self.queue {
            for draft in queue.iter_mut() {
                for (file, function, statement, operator, weight) in &boosts {
                    if draft.file != *file {
                        continue;
                    }
                    if draft.statement == *statement {
                        draft.score *= 1.0 + 0.5 * weight;
                    } else if draft.function == *function && draft.operator == *operator {
                        draft.score *= 1.0 + 0.2 * weight;
                    }
                }
            }
            for draft in queue.iter_mut() {
                draft.score = draft.score.min(draft.base * RAISED);
            }
            proposals::sort(queue);
            queue.reverse();
        }
        if self.options.pairs {
            for lead in leads {
                self.bring_forward(&lead);
            }
        }
    }

    /// Combines a near miss with the best other edits of its function at once: what fixes some of
    /// the failing tests and breaks none is likely one half of the repair.
    fn bring_forward(&mut self, lead: &Draft) {
        let count = self.leads.entry((lead.file, lead.function)).or_default();
        if *count >= LEADS {
            return;
        }
        *count += 1;
        let waiting = self.queue.iter().flatten();
        let tried = self
            .proposed
            .values()
            .filter(|(_, verdict)| *verdict != Verdict::Hopeless)
            .map(|(draft, _)| draft);
        let mut partners: Vec<Draft> = waiting
            .chain(tried)
            .filter(|d| d.file == lead.file && d.function == lead.function)
            .filter(|d| pairs::apart(d, lead))
            .cloned()
            .collect();
        proposals::sort(&mut partners);
        partners.truncate(PARTNERS);
        for partner in partners {
            let score = partner.score * LEAD_WEIGHT;
            self.urgent.push((lead.clone(), partner, score));
        }
        self.urgent.sort_by(|a, b| a.2.total_cmp(&b.2));
    }

    fn next_single(&mut self, facts: &Facts) -> Option<Candidate> {
        if self.foresight.is_over() && !self.never.is_empty() {
            // What was foreseen did not come true.
            self.later.append(&mut self.never);
            proposals::sort(self.later.make_contiguous());
        }
        loop {
            let waiting = self.queue.as_ref()?.last().map(|draft| draft.score);
            let again = self.later.front().map(|draft| draft.score);
            let is_again = match (waiting, again) {
                (Some(waiting), Some(again)) => self.foresight.is_over() && again >= waiting,
                (waiting, _) => waiting.is_none(),
            };
            if is_again {
                let draft = self.later.pop_front()?;
                return self.single(facts, draft);
            }
            let draft = self.queue.as_mut()?.pop()?;
            let Some((_, syntax)) = facts.files.iter().nth(draft.file) else {
                continue;
            };
            let canonical = self.canonical.as_mut()?;
            let Some(print) = canonical.fingerprint(draft.file, syntax, &draft.changes) else {
                continue;
            };
            if !self.known.insert(print) {
                continue;
            }
            if self.foresight.puts_off(&draft) && !self.foresight.audits(self.next_id) {
                self.put_off(draft);
                continue;
            }
            return self.single(facts, draft);
        }
    }

    fn put_off(&mut self, draft: Draft) {
        if self.foresight.is_nothing(&draft) {
            // As if it had run: beside another edit it may do something.
            let id = u64::MAX - draft.number as u64;
            self.proposed
                .insert(id, (draft.clone(), Verdict::Unchanged));
            self.never.push_back(draft);
        } else {
            self.later.push_back(draft);
        }
    }

    fn single(&mut self, facts: &Facts, draft: Draft) -> Option<Candidate> {
        let (_, syntax) = facts.files.iter().nth(draft.file)?;
        let name = OPERATORS[draft.operator].name.to_owned();
        let claim = claim(syntax, &draft);
        let mut candidate = self.candidate(syntax, draft.changes.clone(), name, claim, draft.score);
        candidate.base = draft.base;
        self.proposed.insert(candidate.id, (draft, Verdict::Unseen));
        Some(candidate)
    }

    /// Lists all single edits, once.
    fn prepare(&mut self, facts: &Facts) {
        if self.queue.is_none() {
            let mut drafts = generate::generate(facts, self.options.max_functions);
            drafts.reverse();
            self.queue = Some(drafts);
        }
    }

    fn next_urgent(&mut self, facts: &Facts) -> Option<Candidate> {
        let best = self
            .queue
            .as_ref()
            .and_then(|q| q.last())
            .map_or(0.0, |d| d.score);
        while self.urgent.last().is_some_and(|u| u.2 >= best) {
            let (first, second, score) = self.urgent.pop()?;
            if let Some(candidate) = self.pair(facts, &first, &second, score) {
                return Some(candidate);
            }
        }
        None
    }

    fn next_pair(&mut self, facts: &Facts) -> Option<Candidate> {
        loop {
            let pairs = self
                .pairs
                .get_or_insert_with(|| Pairs::new(&self.proposed, self.options.max_pairs));
            let (first, second, score) = pairs.next()?;
            let (first, second) = (first.clone(), second.clone());
            if let Some(candidate) = self.pair(facts, &first, &second, score) {
                return Some(candidate);
            }
        }
    }

    fn pair(
        &mut self,
        facts: &Facts,
        first: &Draft,
        second: &Draft,
        score: f64,
    ) -> Option<Candidate> {
        let (_, syntax) = facts.files.iter().nth(first.file)?;
        let changes: Vec<Change> = first
            .changes
            .iter()
            .chain(&second.changes)
            .cloned()
            .collect();
        let canonical = self.canonical.as_mut()?;
        let print = canonical.fingerprint(first.file, syntax, &changes)?;
        if !self.known.insert(print) {
            return None;
        }
        let name = format!(
            "{}+{}",
            OPERATORS[first.operator].name, OPERATORS[second.operator].name
        );
        let claim = format!("{}, and {}", claim(syntax, first), claim(syntax, second));
        let mut candidate = self.candidate(syntax, changes, name, claim, score);
        candidate.base = candidate.base.min(first.base.min(second.base));
        Some(candidate)
    }

    fn candidate(
        &mut self,
        syntax: &Syntax,
        mut changes: Vec<Change>,
        operator: String,
        claim: String,
        score: f64,
    ) -> Candidate {
        changes.sort_by_key(|c| (c.range.start, c.range.end));
        let file = syntax.file();
        let at = changes.first().map_or(0, |c| c.range.start);
        let line = file.line_of(at);
        let id = self.next_id;
        self.next_id += 1;
        Candidate {
            id,
            edits: changes
                .into_iter()
                .map(|c| Edit::replace(file.path(), c.range, c.text))
                .collect(),
            operator,
            claim,
            file: file.path().to_owned(),
            line,
            qualname: syntax
                .function_at_line(line)
                .map_or_else(String::new, |i| syntax.functions()[i].qualname.clone()),
            score,
            base: score,
        }
    }
}

impl Planner for SearchPlanner {
    fn name(&self) -> &'static str {
        "search"
    }

    fn propose(
        &mut self,
        facts: &Facts,
        feedback: &[Feedback],
        limit: usize,
    ) -> Result<Vec<Candidate>, PlanError> {
        if self.canonical.is_none() {
            return Err(PlanError::Failed(
                "the Python grammar does not fit the parser".to_owned(),
            ));
        }
        self.prepare(facts);
        self.learn(feedback);
        let mut out = Vec::new();
        while out.len() < limit && self.next_id < self.options.max_candidates as u64 {
            let next = self
                .next_urgent(facts)
                .or_else(|| self.next_single(facts))
                .or_else(|| {
                    let pairs = self.options.pairs;
                    pairs.then(|| self.next_pair(facts)).flatten()
                })
                .or_else(|| {
                    let draft = self.never.pop_front()?;
                    self.single(facts, draft)
                });
            match next {
                Some(candidate) => out.push(candidate),
                None => break,
            }
        }
        Ok(out)
    }

    /// Single edits that are still to come, duplicates in syntax included; pairs are counted when
    /// it is known how many there are.
    fn remaining(&self) -> Option<usize> {
        let queue = self.queue.as_ref()?;
        let left = self
            .options
            .max_candidates
            .saturating_sub(self.next_id as usize);
        let pairs = match &self.pairs {
            Some(pairs) => pairs.remaining(),
            None if self.options.pairs => return None,
            None => 0,
        };
        let later = self.later.len() + self.never.len();
        Some((queue.len() + later + self.urgent.len() + pairs).min(left))
    }

    fn favour(&mut self, facts: &Facts, file: &Utf8Path, line: usize) {
        let Some(queue) = &mut self.queue else { return };
        let Some((number, syntax)) = facts
            .files
            .iter()
            .enumerate()
            .find_map(|(number, (path, syntax))| (path == file).then_some((number, syntax)))
        else {
            return;
        };
        for draft in queue.iter_mut() {
            if draft.file == number && syntax.file().line_of(draft.statement) == line {
                draft.score = (draft.score * FAVOURED).min(draft.base * RAISED);
            }
        }
        proposals::sort(queue);
        queue.reverse();
    }

    fn look(&mut self, facts: &Facts, pace: Pace) -> Option<Json> {
        self.prepare(facts);
        self.foresight.look(facts, self.queue.as_ref()?, pace)
    }

    fn looked(&mut self, facts: &Facts, answer: Option<&Json>, seconds: f64) {
        let Some(queue) = &mut self.queue else { return };
        self.foresight.looked(facts, answer, seconds, queue);
        proposals::sort(queue);
        queue.reverse();
    }

    fn looks(&self) -> Looks {
        self.foresight.looks()
    }
}

/// What a draft believes, in a few words.
fn claim(syntax: &Syntax, draft: &Draft) -> String {
    let Some(change) = draft.changes.last() else {
        return String::new();
    };
    let old = short(&syntax.file().text()[change.range.clone()]);
    let new = short(&change.text);
    if let Some(claim) = draft.claim {
        let what = if new.is_empty() { old } else { new };
        return format!("{claim}: `{what}`");
    }
    match (old.is_empty(), new.is_empty()) {
        (true, _) => format!("`{new}` is missing"),
        (_, true) => format!("`{old}` should go"),
        _ => format!("`{old}` should be `{new}`"),
    }
}

fn short(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.chars().count() <= 60 {
        return flat;
    }
    let head: String = flat.chars().take(57).collect();
    format!("{head}...")
}

#[cfg(test)]
mod tests;
