//! Finding calls that reach a goal: combinations of kinds first, then variation of what came nearest.

use std::collections::HashSet;
use std::time::Instant;

use ndbg_dataset::random::Random;
use ndbg_simulator::literal::{self, Literal};
use ndbg_tools::Cancel;
use ndbg_tools::python::executions::{Call, Description, Execution, Outcome};

use super::distance::difference;
use super::genes::{Genes, Slot, call, fits, order};
use super::mutate::{mutated, mutated_at};
use super::pool::Pool;
use super::population::{Member, Population, niche};
use super::score::{Aim, score};
use super::seeds::{add_objects, combinations, fitted, kinds_of, receiver};
use super::shrink::smaller;
use super::value::{Kind, Value};
use crate::fix::stop::Stop;

/// Calls at once: few at first, because most goals are easy.
const FIRST_BATCH: usize = 48;
const BATCH: usize = 192;
/// Calls without progress after which the search starts over from its best.
const PATIENCE: usize = 6_000;
/// Calls beyond the first one that reached the goal, where several are wanted. No time: a seed gives the
/// same answers on every machine.
const FURTHER: usize = 6_000;
/// Calls of one shrinking step, and of all of them.
const SHRINK_BATCH: usize = 64;
const SHRINK_CALLS: usize = 1_500;

/// Executes calls.
pub trait Executes {
    /// What became of each call, in order.
    ///
    /// # Errors
    /// No process, or an interruption.
    fn run(&mut self, calls: &[Call]) -> Result<Vec<Execution>, Stop>;
}

/// Where a search ends at the latest.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Executions.
    pub executions: usize,
    /// When to end.
    pub end: Instant,
}

/// What is searched for, and from what.
#[derive(Debug)]
pub struct Task<'a> {
    /// The function.
    pub description: &'a Description,
    /// Its slots.
    pub slots: &'a [Slot],
    /// How executions are scored.
    pub aim: &'a Aim,
    /// Values to start from.
    pub pool: Pool,
    /// Calls to try before all others, by who knows them.
    pub given: &'a [(&'static str, Vec<Genes>)],
    /// Whether it varies and combines values, or only tries what others propose.
    pub varies: bool,
    /// Different calls that are looked for. Of one the smallest is, of several whatever was found.
    pub answers: usize,
    /// Every draw follows from it.
    pub seed: u64,
}

/// What a search came to.
#[derive(Debug, Default)]
pub struct Searched {
    /// Calls that reached the goal, the smallest first.
    pub found: Vec<Genes>,
    /// The call that came nearest otherwise, with what became of it.
    pub nearest: Option<(Genes, Execution)>,
    /// Executions.
    pub executions: usize,
    /// Who proposed the first call that reached it, or its ancestor.
    pub source: Option<&'static str>,
    /// What was refused to calls, such as the network.
    pub refused: Vec<String>,
}

/// Proposes calls, given how often it was asked before; nothing when it has no more.
pub type Proposals<'p> = dyn FnMut(usize) -> Vec<Genes> + 'p;

struct Search<'a, 'e> {
    task: &'a Task<'a>,
    executor: &'e mut dyn Executes,
    budget: Budget,
    cancel: &'a Cancel,
    random: Random,
    tried: HashSet<String>,
    seen: HashSet<u32>,
    population: Population,
    done: Searched,
    /// How the calls that reached the goal ended.
    endings: Vec<Ending>,
    nearest: f64,
    last_progress: usize,
    /// Calls to try next, before any other.
    waiting: Vec<Genes>,
    /// After how many executions a call first reached the goal.
    first_found: Option<usize>,
}

/// Calls that wait at most.
const WAITING: usize = 64;

/// Searches for a call that reaches the goal, and makes it smaller.
///
/// # Errors
/// No process, or an interruption.
pub fn search(
    task: &Task<'_>,
    executor: &mut dyn Executes,
    proposals: &mut [(&'static str, &mut Proposals<'_>)],
    budget: Budget,
    cancel: &Cancel,
) -> Result<Searched, Stop> {
    let mut search = Search {
        task,
        executor,
        budget,
        cancel,
        random: Random::of(task.seed, 0),
        tried: HashSet::new(),
        seen: HashSet::new(),
        population: Population::default(),
        done: Searched::default(),
        endings: Vec::new(),
        nearest: f64::INFINITY,
        last_progress: 0,
        waiting: Vec::new(),
        first_found: None,
    };
    search.go(proposals)?;
    if !search.done.found.is_empty() && task.answers == 1 {
        search.shrink()?;
    }
    Ok(search.done)
}

impl Search<'_, '_> {
    fn go(&mut self, proposals: &mut [(&'static str, &mut Proposals<'_>)]) -> Result<(), Stop> {
        let mut pool = self.task.pool.clone();
        add_objects(&mut pool, &self.task.description.classes, &mut self.random);
        let kinds: Vec<Vec<Kind>> = self
            .task
            .slots
            .iter()
            .map(|slot| kinds_of(slot, self.task.description, &pool))
            .collect();
        let mut asked = 0;
        for (source, calls) in self.task.given {
            self.try_all(calls.clone(), source)?;
        }
        if self.task.varies {
            let seeds = combinations(
                self.task.slots,
                &kinds,
                self.task.description,
                &pool,
                &mut self.random,
            );
            for genes in seeds.chunks(BATCH) {
                self.try_all(genes.to_vec(), "search")?;
            }
        }
        self.propose(proposals, asked)?;
        loop {
            if self.is_over()? {
                return Ok(());
            }
            if !self.task.varies {
                asked += 1;
                if self.propose(proposals, asked)? == 0 {
                    return Ok(());
                }
                continue;
            }
            let size = if self.done.executions < 2_000 {
                FIRST_BATCH
            } else {
                BATCH
            };
            let mut batch = std::mem::take(&mut self.waiting);
            for _ in 0..4 * size {
                if batch.len() >= size {
                    break;
                }
                batch.push(self.child(&kinds, &pool));
            }
            let fresh = self.try_all(batch, "search")?;
            let idle = self.done.executions - self.last_progress;
            if idle > PATIENCE || fresh == 0 {
                asked += 1;
                self.population.thin(if asked % 3 == 0 { 0 } else { 4 });
                self.last_progress = self.done.executions;
                self.nearest = self.population.best().map_or(f64::INFINITY, |m| m.score);
                self.propose(proposals, asked)?;
                if fresh == 0 {
                    self.tried.clear();
                }
                if self.task.slots.is_empty() {
                    return Ok(());
                }
            }
        }
    }

    fn propose(
        &mut self,
        proposals: &mut [(&'static str, &mut Proposals<'_>)],
        asked: usize,
    ) -> Result<usize, Stop> {
        let mut count = 0;
        for (source, propose) in proposals.iter_mut() {
            if self.is_over()? {
                break;
            }
            let genes = propose(asked);
            count += genes.len();
            self.try_all(genes, source)?;
        }
        Ok(count)
    }

    fn is_over(&self) -> Result<bool, Stop> {
        if self.cancel.is_set() {
            return Err(Stop::interrupted());
        }
        let enough = match self.first_found {
            None => false,
            Some(_) if self.done.found.len() >= self.task.answers => true,
            Some(executions) => self.done.executions >= executions + FURTHER,
        };
        Ok(enough
            || self.done.executions >= self.budget.executions
            || Instant::now() >= self.budget.end)
    }

    /// A new call: a variation of one or two that came near, or one drawn anew.
    fn child(&mut self, kinds: &[Vec<Kind>], pool: &Pool) -> Genes {
        let task = self.task;
        let random = &mut self.random;
        let parent = if random.chance(0.08) {
            None
        } else {
            self.population.parent(random)
        };
        let Some(parent) = parent else {
            return task
                .slots
                .iter()
                .zip(kinds)
                .map(|(slot, kinds)| {
                    if !slot.required && random.chance(0.5) {
                        return None;
                    }
                    let at = random.below(kinds.len()).min(random.below(kinds.len()));
                    let value = match slot.way {
                        super::genes::Way::Receiver => {
                            receiver(slot, task.description, pool, random)
                        }
                        _ => pool.draw(random, kinds[at]),
                    };
                    Some(fitted(slot, value, pool, random))
                })
                .collect();
        };
        let mut genes = parent.genes.clone();
        // At the place where the result goes wrong: many functions go through their input in order.
        if let Some((start, end)) = parent.differs
            && random.chance(0.3)
        {
            let at = random.below(genes.len().max(1));
            if let Some(Some(value)) = genes.get(at) {
                let length = match value {
                    Value::Atom(Literal::Str(text)) => text.chars().count(),
                    other => other.parts().len(),
                };
                let place = if random.chance(0.7) {
                    start
                } else {
                    length.saturating_sub(end + 1)
                };
                let value = mutated_at(value, place, pool, random);
                if fits(task.slots[at].way, &value) {
                    genes[at] = Some(value);
                }
                return genes;
            }
        }
        if genes.len() > 1
            && random.chance(0.15)
            && let Some(other) = self.population.parent(random)
        {
            for (gene, theirs) in genes.iter_mut().zip(&other.genes) {
                if random.chance(0.5) {
                    gene.clone_from(theirs);
                }
            }
        }
        if genes.is_empty() {
            return genes;
        }
        let changes = 1 + random.below(3).min(random.below(3));
        for _ in 0..changes {
            let at = random.below(genes.len());
            let slot = &task.slots[at];
            genes[at] = match &genes[at] {
                Some(_) if !slot.required && random.chance(0.1) => None,
                Some(value) => {
                    let value = if random.chance(0.1) {
                        let kind = *random.pick(&kinds[at]);
                        pool.draw(random, kind)
                    } else {
                        mutated(value, pool, random)
                    };
                    if fits(slot.way, &value) {
                        Some(value)
                    } else {
                        genes[at].clone()
                    }
                }
                None if random.chance(0.5) => {
                    let kind = *random.pick(&kinds[at]);
                    let value = pool.draw(random, kind);
                    Some(fitted(slot, value, pool, random))
                }
                None => None,
            };
        }
        genes
    }

    /// Executes calls that were not tried yet, and keeps what they tell; how many there were.
    fn try_all(&mut self, genes: Vec<Genes>, source: &'static str) -> Result<usize, Stop> {
        if self.is_over()? {
            return Ok(0);
        }
        let left = self.budget.executions - self.done.executions;
        let mut kept = Vec::new();
        let mut calls = Vec::new();
        for genes in genes {
            let call = call(self.task.slots, &genes);
            let text = format!("{:?}", (&call.receiver, &call.arguments));
            if calls.len() < left && self.tried.insert(text) {
                kept.push(genes);
                calls.push(call);
            }
        }
        if calls.is_empty() {
            return Ok(0);
        }
        let executions = self.executor.run(&calls)?;
        self.done.executions += executions.len();
        let count = executions.len();
        for (genes, execution) in kept.into_iter().zip(executions) {
            self.learn(genes, execution, source);
        }
        Ok(count)
    }

    fn learn(&mut self, genes: Genes, execution: Execution, source: &'static str) {
        if let Outcome::Refused(what) = &execution.outcome
            && !self.done.refused.contains(what)
        {
            self.done.refused.push(what.clone());
        }
        let score = score(self.task.aim, &execution, self.task.description.lines);
        if execution.reached {
            self.done.source.get_or_insert(source);
            self.first_found.get_or_insert(self.done.executions);
            if self.task.answers > 1 {
                // Others like it may do it, too.
                let member = Member {
                    genes: genes.clone(),
                    score,
                    differs: None,
                };
                self.population.add(niche(&genes, &[]), member);
            }
            self.endings.push(Ending::of(&execution));
            self.done.found.push(genes);
            return;
        }
        let new = execution
            .covered
            .iter()
            .filter(|branch| self.seen.insert(**branch))
            .count();
        if new > 0 || score < self.nearest - 1e-9 {
            self.last_progress = self.done.executions;
        }
        let mut differs = None;
        if let (
            Aim::Value(wanted),
            Outcome::Returned {
                text, cut: false, ..
            },
        ) = (self.task.aim, &execution.outcome)
            && let Ok(found) = literal::parse(text)
        {
            differs = difference(&found, wanted);
            self.turn_round(&genes, found, wanted);
        }
        // Ways through the function compete only where nothing tells how near they came.
        let way: &[u32] = match (self.task.aim, execution.distance) {
            (Aim::Reported, None) => &execution.covered,
            _ => &[],
        };
        self.population.add(
            niche(&genes, way),
            Member {
                genes: genes.clone(),
                score,
                differs,
            },
        );
        if score < self.nearest {
            self.nearest = score;
            self.done.nearest = Some((genes, execution));
        }
    }

    /// What a function makes of the goal may be what it makes the goal of: reversing, swapping, ciphers.
    fn turn_round(&mut self, genes: &Genes, found: Literal, wanted: &Literal) {
        if self.waiting.len() >= WAITING {
            return;
        }
        let (wanted, found) = (Value::from(wanted.clone()), Value::from(found));
        for at in 0..genes.len() {
            if genes[at].as_ref() == Some(&wanted) && fits(self.task.slots[at].way, &found) {
                let mut turned = genes.clone();
                turned[at] = Some(found.clone());
                self.waiting.push(turned);
            }
        }
    }

    /// Smaller calls that still reach the goal and end alike, as long as there are any.
    fn shrink(&mut self) -> Result<(), Stop> {
        let endings = std::mem::take(&mut self.endings);
        let mut found: Vec<(Genes, Ending)> = std::mem::take(&mut self.done.found)
            .into_iter()
            .zip(endings)
            .collect();
        found.sort_by_cached_key(|(genes, _)| order(genes));
        let (mut best, mut ending) = found.remove(0);
        let mut spent = 0;
        let mut pending = smaller(self.task.slots, &best);
        while !pending.is_empty() && spent < SHRINK_CALLS && Instant::now() < self.budget.end {
            if self.cancel.is_set() {
                return Err(Stop::interrupted());
            }
            let rest = pending.split_off(pending.len().min(SHRINK_BATCH));
            let calls: Vec<Call> = pending
                .iter()
                .map(|genes| call(self.task.slots, genes))
                .collect();
            let executions = self.executor.run(&calls)?;
            spent += executions.len();
            let mut reached: Vec<(Genes, Ending)> = pending
                .into_iter()
                .zip(executions)
                .filter(|(_, execution)| execution.reached)
                .map(|(genes, execution)| (genes, Ending::of(&execution)))
                .filter(|(_, other)| ending.may_become(other))
                .collect();
            reached.sort_by_cached_key(|(genes, _)| order(genes));
            let mut reached = reached.into_iter();
            let next = reached.next();
            // The others are small, too.
            found.extend(reached);
            pending = match next {
                Some((genes, other)) if order(&genes) < order(&best) => {
                    found.push((best, ending));
                    (best, ending) = (genes, other);
                    smaller(self.task.slots, &best)
                }
                other => {
                    found.extend(other);
                    rest
                }
            };
        }
        self.done.executions += spent;
        found.push((best, ending));
        found.sort_by_cached_key(|(genes, _)| order(genes));
        let mut found: Vec<Genes> = found.into_iter().map(|(genes, _)| genes).collect();
        found.dedup();
        self.done.found = found;
        Ok(())
    }
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Ending {
    /// One version: with a value, or in another way.
    One(Way),
    /// Two versions.
    Two(Way, Way),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Way {
    Value,
    /// With a class of exceptions.
    Raised(String),
    Other,
}

impl Way {
    fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Returned { .. } => Self::Value,
            Outcome::Raised { class, .. } => Self::Raised(class.clone()),
            _ => Self::Other,
        }
    }
}

impl Ending {
    fn of(execution: &Execution) -> Self {
        let first = Way::of(&execution.outcome);
        match &execution.other {
            None => Self::One(first),
            Some(other) => Self::Two(first, Way::of(other)),
        }
    }

    /// Whether a call may be replaced by a smaller one that ends in this way. Two versions part over the same
    /// thing only if both go on to end as they did; one may come to return a value.
    fn may_become(&self, other: &Self) -> bool {
        self == other || *other == Self::One(Way::Value)
    }
}
