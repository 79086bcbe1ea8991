//! Values: others are put in, one run for each distinct one; those that help are looked for as expressions.

use super::Synthesis;
use super::oracle::{Force, Question, Shape, Task};
use super::place::Kind;
use super::scene::short;
use super::words::{is_literal, may_write};
use crate::plan::{Candidate, Facts};

/// What a value is put in relation to.
pub const RECORDED: &str = "__ndbg_recorded__";
/// Values near a number, a truth value and a series.
const NUMBERS: [&str; 3] = [
    "__ndbg_recorded__ + 1",
    "__ndbg_recorded__ - 1",
    "-__ndbg_recorded__",
];
const TRUTH: [&str; 1] = ["not __ndbg_recorded__"];
const SERIES: [&str; 2] = ["__ndbg_recorded__[1:]", "__ndbg_recorded__[:-1]"];
/// Distinct values that are tried before all places have had their turn.
pub const FIRST: usize = 12;
/// Longest side of a failing assertion that is put in.
const SIDE: usize = 200;
/// Failing tests in which values are put in.
const TESTS: usize = 2;
/// Values that help and are looked for.
const HELPFUL: usize = 4;
/// Visits, and values at each, that are tried one by one.
const VISITS: usize = 4;
const SINGLE: usize = 10;

impl Synthesis<'_> {
    /// Puts other values in at a place.
    pub(super) fn put_in(
        &mut self,
        facts: &Facts,
        at: usize,
        place: usize,
        more: bool,
    ) -> Vec<Candidate> {
        let mut values = self.others(at, place);
        // One visit of many is likelier to be the wrong one where a value leaves the function.
        let returned = self.scenes[at].places[place].kind == Kind::Returned;
        if more {
            let others = values.split_off(FIRST.min(values.len()));
            let mut found = self.forced(at, place, &others);
            if found.is_empty() && !returned {
                found = self.at_single_visits(at, place, &values);
            }
            return found;
        }
        values.truncate(FIRST);
        values.extend(self.near(at, place));
        // What the assertion expects shows whether the place matters; it is never written.
        let sides = facts.failures.iter().filter_map(|f| f.sides.as_ref());
        for side in sides.flat_map(|s| [&s.right, &s.left]) {
            let side = expects(side);
            if side.len() <= SIDE && !values.iter().any(|known| known == side) {
                values.push(side.to_owned());
            }
        }
        let mut found = self.forced(at, place, &values);
        if found.is_empty() && returned {
            found = self.at_single_visits(at, place, &values);
        }
        found
    }

    /// Forces a place to each of some values, at every visit.
    pub(super) fn forced(&mut self, at: usize, place: usize, values: &[String]) -> Vec<Candidate> {
        let mut tests = self.visited(at, place);
        tests.truncate(TESTS);
        let mut helping: Vec<(usize, Vec<Force>)> = Vec::new();
        for (test, _) in &tests {
            let forces: Vec<Force> = values
                .iter()
                .map(|value| whole(place, test, value))
                .collect();
            let passing = self.pass(at, test, &forces);
            for (number, force) in forces.into_iter().enumerate() {
                if !passing.get(number).copied().unwrap_or_default() {
                    continue;
                }
                match helping.iter_mut().find(|(known, _)| *known == number) {
                    Some((_, forces)) => forces.push(force),
                    None => helping.push((number, vec![force])),
                }
            }
        }
        // Those that help most tests, the simplest first.
        helping.sort_by_key(|(number, forces)| (std::cmp::Reverse(forces.len()), *number));
        let mut found = Vec::new();
        for (order, (number, forces)) in helping.iter().take(HELPFUL).enumerate() {
            let value = &values[*number];
            found.extend(self.explained(at, place, value, forces, order == 0));
        }
        found
    }

    /// Expressions for a value that helps at every visit.
    fn explained(
        &mut self,
        at: usize,
        place: usize,
        value: &str,
        forces: &[Force],
        is_first: bool,
    ) -> Vec<Candidate> {
        let reply = self.solve(at, place, forces, Shape::Value);
        if is_first && let Some(force) = forces.first() {
            let visit = reply
                .as_ref()
                .and_then(|r| r.found.examples.first().cloned());
            self.tell(at, place, force, shown(value), visit);
        }
        let mut found = Vec::new();
        if let Some(reply) = &reply {
            found.extend(self.replacing(at, place, &reply.found, "synthesis-value", 0.55));
        }
        if let Some(text) = self.written(at, place, value) {
            found.extend(self.replaced(at, place, &[text], "synthesis-value", 0.3));
        }
        // One state is no reason to believe in anything but a condition of its own.
        if self.scenes[at].places[place].kind != Kind::Argument {
            found.extend(self.guarded(at, place, value, forces));
        }
        found
    }

    /// Conditions that hold where a value is needed, and nowhere else.
    fn guarded(
        &mut self,
        at: usize,
        place: usize,
        value: &str,
        forces: &[Force],
    ) -> Vec<Candidate> {
        let Some(text) = self.written(at, place, value) else {
            return Vec::new();
        };
        let Some(reply) = self.solve(at, place, forces, Shape::Guard) else {
            return Vec::new();
        };
        self.guarding(at, place, &reply.found, &text)
    }

    /// A value at one visit of several: a new branch, or an expression for all of them.
    fn at_single_visits(&mut self, at: usize, place: usize, values: &[String]) -> Vec<Candidate> {
        let mut tests = self.visited(at, place);
        tests.truncate(TESTS);
        for (test, visits) in tests {
            let count = if visits.len() > 1 {
                visits.len().min(VISITS)
            } else {
                0
            };
            let mut forces = Vec::new();
            for visit in 0..count {
                for value in values.iter().take(SINGLE) {
                    forces.push(Force {
                        visits: Some(vec![visit]),
                        ..whole(place, &test, value)
                    });
                }
            }
            let found = self.single(at, place, &test, forces);
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// What follows from the forces of one test that make it pass.
    pub(super) fn single(
        &mut self,
        at: usize,
        place: usize,
        test: &str,
        forces: Vec<Force>,
    ) -> Vec<Candidate> {
        let passing = self.pass(at, test, &forces);
        let helping: Vec<Force> = forces
            .into_iter()
            .zip(passing)
            .filter_map(|(force, passes)| passes.then_some(force))
            .take(HELPFUL)
            .collect();
        let mut found = Vec::new();
        for (order, force) in helping.iter().enumerate() {
            found.extend(self.explained_one(at, place, force, order == 0));
        }
        found
    }

    /// What follows from one force that makes its test pass.
    pub(super) fn explained_one(
        &mut self,
        at: usize,
        place: usize,
        force: &Force,
        is_first: bool,
    ) -> Vec<Candidate> {
        let forces = std::slice::from_ref(force);
        let reply = self.solve(at, place, forces, Shape::Value);
        if is_first {
            let visit = reply
                .as_ref()
                .and_then(|r| r.found.examples.first().cloned());
            self.tell(at, place, force, shown(&force.value), visit);
        }
        let mut found = Vec::new();
        if let Some(reply) = reply {
            found.extend(self.replacing(at, place, &reply.found, "synthesis-value", 0.5));
        }
        found.extend(self.guarded(at, place, &force.value, forces));
        found
    }

    /// Expressions that give distinct values at a place, the simplest first.
    pub(super) fn others(&mut self, at: usize, place: usize) -> Vec<String> {
        if let Some(known) = self.values.get(&(at, place)) {
            return known.clone();
        }
        let tests = self.visited(at, place).into_iter().map(|(test, _)| test);
        let question = Question {
            tests: tests.collect(),
            task: Task::Values(
                self.scenes[at].words.clone(),
                place,
                self.scenes[at].places[place].text.clone(),
            ),
            ..Question::default()
        };
        let reply = self.ask(at, &[question]).pop().flatten();
        let found: Vec<String> = reply
            .into_iter()
            .flat_map(|reply| reply.found.found)
            .map(|(_, text)| text)
            .collect();
        self.values.insert((at, place), found.clone());
        found
    }

    /// Values near those that were computed at a place.
    pub(super) fn near(&self, at: usize, place: usize) -> Vec<String> {
        let near = near(&self.visited(at, place));
        near.iter().map(|text| (*text).to_owned()).collect()
    }

    /// How a value that was put in is written; none where it must not be.
    pub(super) fn written(&self, at: usize, place: usize, value: &str) -> Option<String> {
        let scene = &self.scenes[at];
        let spot = &scene.places[place];
        if !may_write(value, &scene.expected) {
            return None;
        }
        // A literal that the source does not hold comes from the assertion.
        let known = scene.words.constants.iter().any(|(text, _)| text == value)
            || matches!(value, "True" | "False");
        if is_literal(value) && !known {
            return None;
        }
        if !value.contains(RECORDED) {
            let grown = self.values.get(&(at, place));
            let own = is_literal(value)
                || grown.is_some_and(|texts| texts.iter().any(|text| text == value))
                || spot
                    .call
                    .as_ref()
                    .is_some_and(|call| value.starts_with(&call.callee));
            return own.then(|| value.to_owned());
        }
        let own = match &spot.target {
            Some(target) => target.clone(),
            None if spot
                .text
                .chars()
                .all(|c| c.is_alphanumeric() || c == '_' || c == '.') =>
            {
                spot.text.clone()
            }
            None => format!("({})", spot.text),
        };
        Some(value.replace(RECORDED, &own))
    }
}

/// Values near those that were computed, by what they look like.
fn near(visits: &[(String, Vec<String>)]) -> &'static [&'static str] {
    let value = visits.iter().flat_map(|(_, values)| values).next();
    let value = value.map_or("", String::as_str);
    match value.chars().next() {
        _ if value == "True" || value == "False" => &TRUTH,
        Some('0'..='9' | '-') => &NUMBERS,
        Some('\'' | '"' | '[' | '(') => &SERIES,
        _ => &[],
    }
}

/// A side of an assertion without what `pytest.approx` puts around it.
fn expects(side: &str) -> &str {
    let inner = side.split_once("expected=").map(|(_, rest)| rest);
    let number = inner.and_then(|rest| rest.split([' ', '>']).next());
    let number = number.or_else(|| side.split_once(" ± ").map(|(number, _)| number));
    number.unwrap_or(side)
}

/// A place forced at every visit of a test.
pub fn whole(place: usize, test: &str, value: &str) -> Force {
    Force {
        place,
        test: Some(test.to_owned()),
        visits: None,
        value: value.to_owned(),
    }
}

/// A value in words.
pub fn shown(value: &str) -> String {
    format!("`{}`", short(&value.replace(RECORDED, "its value")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn approximate_sides_are_numbers() {
        assert_eq!(expects("<ApproxScalar expected=212 rel=None>"), "212");
        assert_eq!(expects("212 ± 2.1e-04"), "212");
        assert_eq!(expects("[1, 2]"), "[1, 2]");
    }
}
