//! Values that the walk from the failing assertion says were needed: one run each tells whether they were.

use super::oracle::Force;
use super::place::{Kind, Place};
use super::scene::Scene;
use super::{FAVOURED, Synthesis, Work};
use crate::plan::{Candidate, Facts, Needed};

/// Needed values that are put in: a run each, like an edit, so that they have to be likelier than one.
const MOST: usize = 3;
const LEAST: f64 = 0.1;
/// They go before everything else.
const FIRST: f64 = 50.0;

impl Synthesis<'_> {
    /// What there is to put in for the needed values, the likeliest first.
    pub(super) fn needed(&self, facts: &Facts) -> Vec<(f64, Work)> {
        let mut found = Vec::new();
        let likely = facts.needed.iter().enumerate();
        for (number, needed) in likely.filter(|(_, one)| one.confidence >= LEAST) {
            for (at, scene) in self.scenes.iter().enumerate() {
                if scene.file != needed.file {
                    continue;
                }
                let places = scene.places.iter().filter(|place| suits(place, needed));
                found.extend(places.map(|place| {
                    let work = Work::Needed(at, place.number, number);
                    (FIRST + needed.confidence, work)
                }));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.truncate(MOST);
        found
    }

    /// Puts a needed value in; what follows where the test passes with it.
    pub(super) fn put_in_needed(
        &mut self,
        facts: &Facts,
        at: usize,
        place: usize,
        number: usize,
    ) -> Vec<Candidate> {
        let Some(needed) = facts.needed.get(number) else {
            return Vec::new();
        };
        let force = Force {
            place,
            test: Some(needed.test.clone()),
            visits: needed.visit.map(|visit| vec![visit]),
            value: value(&self.scenes[at], place, needed),
        };
        if !self.oracle.tests().contains(&needed.test)
            || !self.pass(at, &needed.test, std::slice::from_ref(&force))[0]
        {
            return Vec::new();
        }
        self.favour(at, place);
        if self.scenes[at].places[place].kind == Kind::Condition {
            // Which visits have to be turned around, and to what, is looked for as everywhere.
            self.survey(at);
            return self.flip(at, place);
        }
        self.explained_one(at, place, &force, true)
    }

    /// What is to be done at a place goes first from now on.
    fn favour(&mut self, at: usize, place: usize) {
        for (score, work) in self.work.iter_mut().flatten() {
            match work {
                Work::Survey(of) if *of == at => *score += FAVOURED,
                Work::Flip(of, one) | Work::Values(of, one, _) | Work::Calls(of, one)
                    if (*of, *one) == (at, place) =>
                {
                    *score += FAVOURED;
                }
                _ => {}
            }
        }
        self.scenes[at].favoured.insert(place);
        if let Some(work) = &mut self.work {
            work.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
    }
}

/// Whether a place is what a needed value is about.
fn suits(place: &Place, needed: &Needed) -> bool {
    if place.line != needed.line {
        return false;
    }
    let is_truth = matches!(needed.value.as_str(), "True" | "False");
    match (&needed.name, place.kind) {
        (None, Kind::Returned) => true,
        (None, Kind::Condition) => is_truth,
        (Some(name), Kind::Assigned) => {
            place.target.as_ref().or(place.added.as_ref()) == Some(name)
        }
        _ => false,
    }
}

/// What is put in, as an expression of the frame.
fn value(scene: &Scene, place: usize, needed: &Needed) -> String {
    match &scene.places[place].added {
        // What is added has to make up the difference.
        Some(name) => format!("({}) - ({name})", needed.value),
        None => needed.value.clone(),
    }
}
