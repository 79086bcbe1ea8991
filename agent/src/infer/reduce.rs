//! Smaller calls that still reach the goal and end alike.

use ndbg_tools::python::executions::Call;

use super::ending::Ending;
use super::genes::{Genes, call, order};
use super::search::Search;
use super::shrink::smaller;
use crate::fix::stop::Stop;

/// Calls of one step, and of all steps that make a call smaller; each answer after the first has fewer.
const STEP: usize = 64;
const CALLS: usize = 1_500;
const FURTHER_CALLS: usize = 500;

/// A call that reached the goal.
#[derive(Debug, Clone)]
pub struct Hit {
    /// Its values.
    pub genes: Genes,
    /// How it ended.
    pub ending: Ending,
    /// 0 for what ended best with arguments that are what the source says, more for what is worth less.
    pub rank: usize,
}

fn sorted(hits: &mut Vec<Hit>) {
    hits.sort_by_cached_key(|hit| (hit.rank, order(&hit.genes)));
    hits.dedup_by(|one, other| one.genes == other.genes);
}

/// As many answers as are shown, as small as they come, then what else was found.
pub fn reduced(search: &mut Search<'_, '_>, mut hits: Vec<Hit>) -> Result<Vec<Genes>, Stop> {
    let mut answers: Vec<Genes> = Vec::new();
    sorted(&mut hits);
    while answers.len() < search.task.shown {
        hits.retain(|hit| !answers.contains(&hit.genes));
        if hits.is_empty() {
            break;
        }
        let most = if answers.is_empty() {
            CALLS
        } else {
            FURTHER_CALLS
        };
        let first = hits.remove(0);
        let best = smallest(search, first, &answers, &mut hits, most)?;
        answers.push(best);
        sorted(&mut hits);
    }
    hits.retain(|hit| !answers.contains(&hit.genes));
    answers.extend(hits.into_iter().map(|hit| hit.genes));
    Ok(answers)
}

/// The smallest call that is found from one on, other than the answers there are; what else does it, too, goes
/// into `others`.
fn smallest(
    search: &mut Search<'_, '_>,
    mut best: Hit,
    answers: &[Genes],
    others: &mut Vec<Hit>,
    most: usize,
) -> Result<Genes, Stop> {
    let slots = search.task.slots;
    let next_to = |best: &Hit| {
        let mut made = smaller(slots, &best.genes);
        made.retain(|genes| !answers.contains(genes));
        made
    };
    let mut spent = 0;
    let mut pending = next_to(&best);
    while !pending.is_empty() && spent < most && !search.is_spent()? {
        let rest = pending.split_off(pending.len().min(STEP));
        let calls: Vec<Call> = pending
            .iter()
            .map(|genes| call(search.task.slots, genes))
            .collect();
        let mut reached: Vec<Hit> = Vec::new();
        let is_slow = search.pace.is_slow();
        let seen = std::cell::Cell::new(false);
        let executed = search.execute(
            pending,
            &calls,
            |search, genes, mut execution| {
                // A call that is confirmed at some expense need not be if a smaller one is.
                if search.task.confirms && !reached.is_empty() {
                    return Ok(());
                }
                if let Some(hit) = search.hit(&genes, &mut execution)?
                    && best.ending.may_become(&hit.ending)
                    && hit.rank <= best.rank
                {
                    seen.set(true);
                    reached.push(hit);
                }
                Ok(())
            },
            // The first that does is the smallest of all.
            |_| is_slow && seen.get(),
        )?;
        spent += executed.max(1);
        reached.sort_by_cached_key(|hit| order(&hit.genes));
        let mut reached = reached.into_iter();
        let next = reached.next();
        others.extend(reached);
        pending = match next {
            Some(hit) if order(&hit.genes) < order(&best.genes) => {
                others.push(std::mem::replace(&mut best, hit));
                next_to(&best)
            }
            other => {
                others.extend(other);
                rest
            }
        };
    }
    Ok(best.genes)
}
