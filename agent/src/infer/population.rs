//! Calls that a search goes on from: the best of each niche, so that a promising kind of input is not crowded
//! out by one that came nearer at first.

use std::hash::{DefaultHasher, Hash, Hasher};

use ndbg_dataset::random::Random;

use super::genes::{Genes, size};
use super::value::Value;

/// Niches that are kept.
const NICHES: usize = 24;
/// Members of each.
const MEMBERS: usize = 10;

/// A call that was executed.
#[derive(Debug, Clone)]
pub struct Member {
    /// Its values.
    pub genes: Genes,
    /// How near it came.
    pub score: f64,
    /// Where what it returned begins to differ from what was wanted: from the start, from the end.
    pub differs: Option<(usize, usize)>,
    /// How much there is to read.
    size: usize,
}

impl Member {
    /// A member.
    pub fn new(genes: Genes, score: f64, differs: Option<(usize, usize)>) -> Self {
        Self {
            size: size(&genes),
            genes,
            score,
            differs,
        }
    }
}

/// Members by niche; the best first in each.
#[derive(Debug, Default)]
pub struct Population {
    niches: Vec<(u64, Vec<Member>)>,
}

/// What calls compete within: the kinds of their values, and `way` for whatever else tells them apart.
pub fn niche(genes: &Genes, way: &[u32]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for gene in genes {
        gene.as_ref().map(Value::kind).hash(&mut hasher);
        // Objects that are built in another way can hold what these cannot.
        if let Some(Value::Built(class, _)) = gene {
            class.hash(&mut hasher);
        }
    }
    way.hash(&mut hasher);
    hasher.finish()
}

impl Population {
    /// Lets a member in if it is among the best of its niche.
    pub fn add(&mut self, niche: u64, member: Member) {
        let before = |a: &Member, b: &Member| (a.score, a.size).partial_cmp(&(b.score, b.size));
        let at = self.niches.iter().position(|(key, _)| *key == niche);
        let at = at.unwrap_or_else(|| {
            self.niches.push((niche, Vec::new()));
            self.niches.len() - 1
        });
        let members = &mut self.niches[at].1;
        let place = members
            .partition_point(|held| before(held, &member).is_some_and(std::cmp::Ordering::is_le));
        members.insert(place, member);
        members.truncate(MEMBERS);
        if self.niches.len() > 2 * NICHES {
            self.niches
                .sort_by(|(_, a), (_, b)| a[0].score.total_cmp(&b[0].score));
            self.niches.truncate(NICHES);
        }
    }

    /// Forgets all but the best member of the best niches.
    pub fn thin(&mut self, niches: usize) {
        self.niches
            .sort_by(|(_, a), (_, b)| a[0].score.total_cmp(&b[0].score));
        self.niches.truncate(niches);
        for (_, members) in &mut self.niches {
            members.truncate(1);
        }
    }

    /// The best member.
    pub fn best(&self) -> Option<&Member> {
        let best = self
            .niches
            .iter()
            .filter_map(|(_, members)| members.first());
        best.min_by(|a, b| a.score.total_cmp(&b.score))
    }

    /// A member, better ones more often.
    pub fn parent(&self, random: &mut Random) -> Option<&Member> {
        if self.niches.is_empty() {
            return None;
        }
        let tournament = (0..3).map(|_| random.below(self.niches.len()));
        let score = |at: &usize| self.niches[*at].1[0].score;
        let at = tournament.min_by(|a, b| score(a).total_cmp(&score(b)))?;
        let members = &self.niches[at].1;
        let rank = random.below(members.len()).min(random.below(members.len()));
        members.get(rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(number: i64, score: f64) -> Member {
        Member::new(vec![Some(Value::int(number))], score, None)
    }

    #[test]
    fn the_best_of_each_niche_stay_and_small_ones_win_ties() {
        let mut population = Population::default();
        for number in 0..40 {
            population.add(1, member(number, 40.0 - number as f64));
        }
        population.add(2, member(7, 100.0));
        population.add(2, member(1, 100.0));
        let best = population.best().unwrap();
        assert_eq!(best.genes, vec![Some(Value::int(39))]);
        assert_eq!(population.niches[0].1.len(), MEMBERS);
        population.add(2, member(100, 100.0));
        assert_eq!(population.niches[1].1[2].genes, vec![Some(Value::int(100))]);
        population.thin(1);
        assert_eq!(population.niches.len(), 1);
        assert_eq!(population.niches[0].1.len(), 1);
    }

    #[test]
    fn parents_are_drawn_from_more_than_one_niche() {
        let mut population = Population::default();
        for key in 0..100 {
            population.add(key, member(key as i64, key as f64));
        }
        assert!(population.niches.len() <= 2 * NICHES);
        let mut random = Random::of(1, 1);
        let drawn: std::collections::HashSet<String> = (0..100)
            .filter_map(|_| population.parent(&mut random))
            .map(|member| format!("{:?}", member.genes))
            .collect();
        assert!(drawn.len() > 5);
    }
}
