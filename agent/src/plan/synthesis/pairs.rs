//! Two places at once: where a value brings a failing test nearer to passing, another one may do the rest.

use super::Synthesis;
use super::oracle::{Force, Question, Shape};
use super::place::Kind;
use super::scene::short;
use super::values::{FIRST, shown, whole};
use crate::plan::Candidate;

/// Leads of a function, and those of one of its places.
const LEADS: usize = 4;
const OF_PLACE: usize = 2;
/// Places that are tried with each, and passing pairs that are looked into.
const PLACES: usize = 6;
const PASSING: usize = 3;
/// Expressions of each place, and candidates of a pair.
const EXPRESSIONS: usize = 4;
const CANDIDATES: usize = 9;

impl Synthesis<'_> {
    /// Puts values in at a second place while a lead is in at the first.
    pub(super) fn put_in_two(&mut self, at: usize) -> Vec<Candidate> {
        let mut found = Vec::new();
        for lead in self.leads(at) {
            let Some(test) = lead.test.clone() else {
                continue;
            };
            let mut passing: Vec<Force> = Vec::new();
            for place in self.beside(at, &lead) {
                let mut values = self.others(at, place);
                values.truncate(FIRST);
                values.extend(self.near(at, place));
                let forces: Vec<Force> = values
                    .iter()
                    .map(|value| whole(place, &test, value))
                    .collect();
                let questions: Vec<Question> = forces
                    .iter()
                    .map(|force| Question {
                        tests: vec![test.clone()],
                        force: vec![lead.clone(), force.clone()],
                        ..Question::default()
                    })
                    .collect();
                let replies = self.ask(at, &questions);
                for (force, reply) in forces.into_iter().zip(replies) {
                    if reply.is_some_and(|reply| reply.passed.contains(&test)) {
                        passing.push(force);
                    }
                }
            }
            for force in passing.into_iter().take(PASSING) {
                found.extend(self.both(at, &lead, &force));
            }
            if !found.is_empty() {
                break;
            }
        }
        found
    }

    /// Expressions for both places.
    fn both(&mut self, at: usize, lead: &Force, other: &Force) -> Vec<Candidate> {
        let forces = [lead.clone(), other.clone()];
        let mut texts: Vec<Vec<String>> = Vec::new();
        for force in &forces {
            let reply = self.solve(at, force.place, &forces, Shape::Value);
            if texts.is_empty() {
                let visit = reply
                    .as_ref()
                    .and_then(|r| r.found.examples.first().cloned());
                let beside = short(&self.scenes[at].places[other.place].text);
                let (one, two) = (shown(&lead.value), shown(&other.value));
                let needed = format!("{one} (with {two} for `{beside}`)");
                self.tell(at, lead.place, lead, needed, visit);
            }
            let found = reply.map(|reply| reply.found.found).unwrap_or_default();
            let mut of_place: Vec<String> = found.into_iter().map(|(_, text)| text).collect();
            of_place.truncate(EXPRESSIONS);
            of_place.extend(self.written(at, force.place, &force.value));
            texts.push(of_place);
        }
        self.replaced_both(
            at,
            (lead.place, &texts[0]),
            (other.place, &texts[1]),
            CANDIDATES,
        )
    }

    /// The best leads of a function, of each place a few.
    fn leads(&self, at: usize) -> Vec<Force> {
        let mut all: Vec<&(f64, Force)> = self.scenes[at].leads.iter().collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut found: Vec<Force> = Vec::new();
        for (_, force) in all {
            let same = found.iter().filter(|known| known.place == force.place);
            if same.count() < OF_PLACE && !found.contains(force) {
                found.push(force.clone());
            }
        }
        found.truncate(LEADS);
        found
    }

    /// Other places of values that the test visits, those that are next to it first.
    fn beside(&self, at: usize, lead: &Force) -> Vec<usize> {
        let scene = &self.scenes[at];
        let own = &scene.places[lead.place];
        let visits = |number: usize| {
            let tests = scene.visits.get(&number)?;
            tests.get(lead.test.as_ref()?)
        };
        let mut places: Vec<(usize, usize)> = scene
            .places
            .iter()
            .filter(|place| matches!(place.kind, Kind::Assigned | Kind::Returned))
            .filter(|place| visits(place.number).is_some())
            .filter(|place| {
                place.range.end <= own.range.start || own.range.end <= place.range.start
            })
            .map(|place| (place.line.abs_diff(own.line), place.number))
            .collect();
        places.sort_unstable();
        places.into_iter().take(PLACES).map(|(_, n)| n).collect()
    }
}
