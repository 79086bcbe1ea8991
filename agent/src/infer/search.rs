//! Finding calls that reach a goal: combinations of kinds first, then variation of what came nearest.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use ndbg_dataset::random::Random;
use ndbg_simulator::literal::{self, Literal};
use ndbg_tools::Cancel;
use ndbg_tools::python::executions::{Call, Description, Execution, Outcome};

use super::child::child;
use super::distance::difference;
use super::ending::Ending;
use super::genes::{Genes, Slot, call, fits, is_as_said};
use super::objects::add_objects;
use super::pace::Pace;
use super::pool::Pool;
use super::population::{Member, Population, niche};
use super::reduce::{Hit, reduced};
use super::score::{Aim, score};
use super::seeds::{Ground, kinds_of};
use super::standard;
use super::types::Known;
use super::value::{Kind, Value};
use crate::fix::stop::Stop;

/// Calls at once: few at first, because most goals are easy.
const FIRST_BATCH: usize = 48;
const SLOW_BATCH: usize = 4;
const BATCH: usize = 192;
/// Calls without progress after which the search starts over from its best.
const PATIENCE: usize = 6_000;
/// Calls beyond the first one that reached the goal, where several are wanted. No time: a seed gives the
/// same answers on every machine.
const FURTHER: usize = 6_000;
/// Calls beyond the first one where it ends in a way that is worth less than others.
const BETTER: usize = 2_000;
/// Seconds that slow calls may take to end in a better way.
const BETTER_SECONDS: f64 = 3.0;
/// Seconds of calls of a batch that are still executed when one has reached the goal, so that what was seen does
/// not depend on the machine.
const REST: f64 = 1.0;
/// Calls that reached the goal that are kept.
const HITS: usize = 400;
/// Calls that did it only after others that are put up with, and those after which the module is loaded again.
const STRAYS: usize = 24;
const RELOADS: usize = 6;

/// Executes calls.
pub trait Executes {
    /// What became of each call, in order; of fewer calls where time is over.
    ///
    /// # Errors
    /// No process, or an interruption.
    fn run(&mut self, calls: &[Call]) -> Result<Vec<Execution>, Stop>;

    /// What becomes of a call in a new process; none where there is no time for it.
    ///
    /// # Errors
    /// As `run`.
    fn confirm(&mut self, call: &Call) -> Result<Option<Execution>, Stop>;

    /// Loads the module again, so that nothing is left of earlier calls.
    ///
    /// # Errors
    /// As `run`.
    fn reload(&mut self) -> Result<(), Stop>;
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
    /// Classes and names of its module.
    pub known: Known<'a>,
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
    /// How many calls are made as small as can be, where one is looked for.
    pub shown: usize,
    /// Whether a call that reaches the goal has to do so in a new process, too, before it counts.
    pub confirms: bool,
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
    /// What ended it, where that was a limit.
    pub limit: Option<Limit>,
}

/// A limit of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Of time.
    Seconds,
    /// Of executions.
    Executions,
}

/// Proposes calls, given how often it was asked before; nothing when it has no more.
pub type Proposals<'p> = dyn FnMut(usize) -> Vec<Genes> + 'p;

/// A search that is under way.
pub struct Search<'a, 'e> {
    pub task: &'a Task<'a>,
    pub executor: &'e mut dyn Executes,
    pub budget: Budget,
    pub pace: Pace,
    pub done: Searched,
    /// Calls that reached the goal.
    pub hits: Vec<Hit>,
    cancel: &'a Cancel,
    random: Random,
    tried: HashSet<u64>,
    seen: HashSet<u32>,
    population: Population,
    nearest: f64,
    last_progress: usize,
    /// Calls to try next, before any other.
    waiting: Vec<Genes>,
    /// After how many executions a call first reached the goal, and when.
    first_found: Option<(usize, Instant)>,
    /// Calls that did it only after others.
    strays: usize,
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
        pace: Pace::default(),
        done: Searched::default(),
        hits: Vec::new(),
        cancel,
        random: Random::of(task.seed, 0),
        tried: HashSet::new(),
        seen: HashSet::new(),
        population: Population::default(),
        nearest: f64::INFINITY,
        last_progress: 0,
        waiting: Vec::new(),
        first_found: None,
        strays: 0,
    };
    search.go(proposals)?;
    search.done.limit = search.limit();
    let hits = std::mem::take(&mut search.hits);
    search.done.found = if task.answers == 1 {
        reduced(&mut search, hits)?
    } else {
        hits.into_iter().map(|hit| hit.genes).collect()
    };
    Ok(search.done)
}

impl Search<'_, '_> {
    fn go(&mut self, proposals: &mut [(&'static str, &mut Proposals<'_>)]) -> Result<(), Stop> {
        let task = self.task;
        let mut pool = task.pool.clone();
        add_objects(&mut pool, task.known, &mut self.random);
        standard::add_all(&mut pool, task.known.names, &mut self.random);
        let kinds: Vec<Vec<Kind>> = task
            .slots
            .iter()
            .map(|slot| kinds_of(slot, task.known, &pool))
            .collect();
        let ground = Ground {
            slots: task.slots,
            kinds: &kinds,
            known: task.known,
            pool: &pool,
        };
        let mut asked = 0;
        for (source, calls) in task.given {
            self.try_all(calls.clone(), source)?;
        }
        if task.varies {
            let count = ground.combinations();
            for start in (0..count).step_by(BATCH) {
                let seeds = self.made(BATCH.min(count - start), |at, search| {
                    ground.combination(start + at, &mut search.random)
                })?;
                self.try_all(seeds, "search")?;
            }
        }
        self.propose(proposals, asked)?;
        loop {
            if self.is_over()? {
                return Ok(());
            }
            if !task.varies {
                asked += 1;
                if self.propose(proposals, asked)? == 0 {
                    return Ok(());
                }
                continue;
            }
            // Where calls are slow, each is to know what those before it told.
            let size = if self.pace.is_slow() {
                SLOW_BATCH
            } else if self.done.executions < 2_000 {
                FIRST_BATCH
            } else {
                BATCH
            };
            let mut batch = std::mem::take(&mut self.waiting);
            let missing = size.saturating_sub(batch.len());
            batch.extend(self.made(missing, |_, search| {
                child(&ground, &search.population, &mut search.random)
            })?);
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
                if task.slots.is_empty() {
                    return Ok(());
                }
            }
        }
    }

    /// Calls that are made one after the other, as long as there is time: large ones take some.
    fn made(
        &mut self,
        count: usize,
        mut next: impl FnMut(usize, &mut Self) -> Genes,
    ) -> Result<Vec<Genes>, Stop> {
        let mut made = Vec::with_capacity(count);
        for at in 0..count {
            if at % 8 == 7 && self.is_over()? {
                break;
            }
            made.push(next(at, self));
        }
        Ok(made)
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
        Ok(self.is_spent()? || self.is_enough())
    }

    /// Whether a limit is reached.
    ///
    /// # Errors
    /// An interruption.
    pub fn is_spent(&self) -> Result<bool, Stop> {
        if self.cancel.is_set() {
            return Err(Stop::interrupted());
        }
        Ok(self.limit().is_some() || self.strays > STRAYS)
    }

    fn limit(&self) -> Option<Limit> {
        if self.done.executions >= self.budget.executions {
            Some(Limit::Executions)
        } else if Instant::now() >= self.budget.end {
            Some(Limit::Seconds)
        } else {
            None
        }
    }

    fn is_enough(&self) -> bool {
        let Some((executions, at)) = self.first_found else {
            return false;
        };
        let since = self.done.executions - executions;
        if self.task.answers > 1 {
            return self.hits.len() >= self.task.answers || since >= FURTHER;
        }
        let is_best = self.hits.iter().any(|hit| hit.rank == 0);
        let is_slow = self.pace.is_slow() && at.elapsed().as_secs_f64() > BETTER_SECONDS;
        is_best || since >= BETTER || is_slow
    }

    /// Executes calls, as many at once as are done soon, and hands each with what became of it to `then`, until
    /// time is over or `then` says that it is enough; how many were executed.
    ///
    /// # Errors
    /// No process, or an interruption.
    pub fn execute(
        &mut self,
        genes: Vec<Genes>,
        calls: &[Call],
        mut then: impl FnMut(&mut Self, Genes, Execution) -> Result<(), Stop>,
        enough: impl Fn(&Self) -> bool,
    ) -> Result<usize, Stop> {
        let mut genes = genes.into_iter();
        let mut count = 0;
        while count < calls.len() && !self.is_spent()? {
            let rest = &calls[count..];
            // Few calls are left of a quick batch: what is seen is the same on every machine.
            if enough(self) && self.pace.expected(rest.len()) > REST {
                break;
            }
            let left = self.budget.end.saturating_duration_since(Instant::now());
            let size = self.pace.next(rest, left.max(Duration::from_millis(1)));
            let begun = Instant::now();
            let executions = self.executor.run(&rest[..size])?;
            self.pace.learn(size, begun.elapsed());
            if executions.is_empty() {
                break;
            }
            count += executions.len();
            self.done.executions += executions.len();
            // The genes come second: a row that ends first takes nothing from the other.
            for (execution, genes) in executions.into_iter().zip(genes.by_ref()) {
                then(self, genes, execution)?;
            }
        }
        Ok(count)
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
            let mut hasher = DefaultHasher::new();
            call.hash(&mut hasher);
            if calls.len() < left && self.tried.insert(hasher.finish()) {
                kept.push(genes);
                calls.push(call);
            }
        }
        self.execute(
            kept,
            &calls,
            |search, genes, execution| search.learn(genes, execution, source),
            Self::is_enough,
        )
    }

    /// A call that reached the goal, if it does.
    ///
    /// # Errors
    /// No process, or an interruption.
    pub fn hit(&mut self, genes: &Genes, execution: &mut Execution) -> Result<Option<Hit>, Stop> {
        let ending = Ending::of(execution);
        if !execution.reached || !ending.tells() {
            execution.reached = false;
            return Ok(None);
        }
        if self.task.confirms {
            let confirmed = self.executor.confirm(&call(self.task.slots, genes))?;
            if !confirmed.as_ref().is_some_and(|run| run.reached) {
                self.strays += 1;
                if self.strays <= RELOADS {
                    self.executor.reload()?;
                }
                match confirmed {
                    Some(run) => *execution = run,
                    None => execution.reached = false,
                }
                return Ok(None);
            }
        }
        let said = is_as_said(self.task.slots, genes);
        Ok(Some(Hit {
            genes: genes.clone(),
            rank: 2 * ending.rank() + usize::from(!said),
            ending,
        }))
    }

    fn learn(
        &mut self,
        genes: Genes,
        mut execution: Execution,
        source: &'static str,
    ) -> Result<(), Stop> {
        if let Outcome::Refused(what) = &execution.outcome
            && !self.done.refused.contains(what)
        {
            self.done.refused.push(what.clone());
        }
        if let Some(hit) = self.hit(&genes, &mut execution)? {
            self.done.source.get_or_insert(source);
            let executions = self.done.executions;
            self.first_found
                .get_or_insert_with(|| (executions, Instant::now()));
            if self.task.answers > 1 || hit.rank > 0 {
                // Others like it may do it, too, or in a better way.
                let member = Member::new(genes.clone(), hit.rank as f64, None);
                self.population.add(niche(&genes, &[]), member);
            }
            if self.hits.len() < HITS || self.task.answers > 1 {
                self.hits.push(hit);
            }
            return Ok(());
        }
        if self.is_spent()? {
            return Ok(());
        }
        let score = score(self.task.aim, &execution, self.task.description.lines);
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
        let member = Member::new(genes.clone(), score, differs);
        self.population.add(niche(&genes, way), member);
        if score < self.nearest {
            self.nearest = score;
            self.done.nearest = Some((genes, execution));
        }
        Ok(())
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
}
