//! Calls with other arguments, two at a time: what is returned or assigned is often one call that is nearly right.

use super::Synthesis;
use super::oracle::Force;
use super::values::whole;
use super::words::{is_literal, kin};
use crate::plan::{Candidate, Facts};

/// Other texts of one argument, and calls in all.
const OTHERS: usize = 8;
const CALLS: usize = 48;
/// Visits that are looked at one by one.
const VISITS: usize = 6;
const SINGLE: usize = 24;

impl Synthesis<'_> {
    /// Calls with one or two other arguments, at every visit and at single ones.
    pub(super) fn call_otherwise(
        &mut self,
        _facts: &Facts,
        at: usize,
        place: usize,
    ) -> Vec<Candidate> {
        let Some(call) = self.scenes[at].places[place].call.clone() else {
            return Vec::new();
        };
        let mut choices: Vec<Vec<String>> = Vec::new();
        for (number, text) in &call.arguments {
            choices.push(self.choices(at, *number, text));
        }
        let values = calls(&call.callee, &call.arguments, &choices);
        let Some((test, visits)) = self.visited(at, place).into_iter().next() else {
            return Vec::new();
        };
        let mut forces: Vec<Force> = Vec::new();
        for value in &values {
            forces.push(whole(place, &test, value));
        }
        if visits.len() > 1 {
            for visit in 0..visits.len().min(VISITS) {
                for value in values.iter().take(SINGLE) {
                    forces.push(Force {
                        visits: Some(vec![visit]),
                        ..whole(place, &test, value)
                    });
                }
            }
        }
        self.single(at, place, &test, forces)
    }
}

impl Synthesis<'_> {
    /// What else an argument may be: for a literal those beside it in the module and those of the function, for
    /// anything else expressions with other values.
    fn choices(&mut self, at: usize, place: usize, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        if is_literal(text) {
            let scene = &self.scenes[at];
            found = kin(&scene.syntax, text);
            let alike =
                |other: &str| other.starts_with(['"', '\'']) == text.starts_with(['"', '\'']);
            let others = scene.words.constants.iter().map(|(text, _)| text);
            for other in others.filter(|other| alike(other)) {
                if !found.contains(other) {
                    found.push(other.clone());
                }
            }
        } else {
            let others = self.others(at, place);
            found.extend(others.into_iter().filter(|other| !is_literal(other)));
        }
        found.retain(|other| other != text);
        found.truncate(OTHERS);
        found
    }
}

/// The calls with one other argument, then those with two.
fn calls(callee: &str, arguments: &[(usize, String)], choices: &[Vec<String>]) -> Vec<String> {
    let write = |changed: &[(usize, &String)]| {
        let texts: Vec<&str> = arguments
            .iter()
            .enumerate()
            .map(|(at, (_, text))| {
                let other = changed.iter().find(|(which, _)| *which == at);
                other.map_or(text.as_str(), |(_, text)| text.as_str())
            })
            .collect();
        format!("{callee}({})", texts.join(", "))
    };
    let mut found = Vec::new();
    for (first, choice) in choices.iter().enumerate() {
        for text in choice {
            found.push(write(&[(first, text)]));
        }
    }
    // Pairs by how far down both stand, so that the likely ones are among those that fit.
    let mut pairs: Vec<(usize, String)> = Vec::new();
    for (first, choice) in choices.iter().enumerate() {
        for (second, others) in choices.iter().enumerate().skip(first + 1) {
            for (i, one) in choice.iter().enumerate() {
                for (j, other) in others.iter().enumerate() {
                    pairs.push((i + j, write(&[(first, one), (second, other)])));
                }
            }
        }
    }
    pairs.sort_by_key(|(rank, _)| *rank);
    found.extend(pairs.into_iter().map(|(_, text)| text));
    found.truncate(CALLS);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_argument_is_changed_before_two() {
        let arguments = [(0, "a".to_owned()), (1, "'x'".to_owned())];
        let choices = [vec!["b".to_owned()], vec!["'y'".to_owned()]];
        assert_eq!(
            calls("F", &arguments, &choices),
            ["F(b, 'x')", "F(a, 'y')", "F(b, 'y')"]
        );
    }
}
