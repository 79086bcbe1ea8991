//! What can be said without a model.

use std::collections::HashMap;

use crate::grammar::step::{Effect, Operation};
use crate::harness::{Answer, Operations};
use crate::simulator::Unavailable;

/// Says that an operation gives its first operand and changes nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Copied;

impl Copied {
    /// What it says.
    pub fn effect(operation: &Operation) -> Effect {
        match operation.operands.first() {
            Some(first) => Effect::Gives {
                result: first.clone(),
                after: None,
            },
            None => Effect::Opaque,
        }
    }
}

impl Operations for Copied {
    fn perform(&self, operation: &Operation) -> Result<Answer, Unavailable> {
        Ok(Answer {
            effect: Self::effect(operation),
            log_probability: 0.0,
        })
    }
}

/// How often which effect was seen.
#[derive(Debug, Clone, Default)]
pub struct Frequencies {
    counts: HashMap<String, HashMap<String, (Effect, usize)>>,
    all: HashMap<String, (Effect, usize)>,
}

impl Frequencies {
    /// Counts an effect.
    pub fn add(&mut self, operation: &Operation, effect: &Effect) {
        // Effects have no order and are not hashed; their text is.
        let key = format!("{effect:?}");
        let own = self.counts.entry(operation.expression.clone()).or_default();
        for counts in [own, &mut self.all] {
            counts
                .entry(key.clone())
                .or_insert_with(|| (effect.clone(), 0))
                .1 += 1;
        }
    }

    /// The most frequent effect of an operation's expression, or of all operations if the expression
    /// was never seen; [`Effect::Opaque`] if nothing was.
    pub fn effect(&self, operation: &Operation) -> Effect {
        let counts = self.counts.get(&operation.expression).unwrap_or(&self.all);
        // By text where counts are equal, so that the answer does not depend on the order of a map.
        let best = counts
            .iter()
            .max_by(|(a, (_, one)), (b, (_, other))| one.cmp(other).then_with(|| b.cmp(a)));
        best.map_or(Effect::Opaque, |(_, (effect, _))| effect.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(expression: &str) -> Operation {
        Operation {
            expression: expression.into(),
            operands: vec!["1".into(), "2".into()],
        }
    }

    fn gives(result: &str) -> Effect {
        Effect::Gives {
            result: result.into(),
            after: None,
        }
    }

    #[test]
    fn the_most_frequent_effect_of_an_expression_is_said() {
        let mut seen = Frequencies::default();
        assert_eq!(seen.effect(&operation("v0 + v1")), Effect::Opaque);
        for result in ["3", "3", "4"] {
            seen.add(&operation("v0 + v1"), &gives(result));
        }
        seen.add(&operation("v0 < v1"), &gives("True"));
        assert_eq!(seen.effect(&operation("v0 + v1")), gives("3"));
        assert_eq!(seen.effect(&operation("v0 < v1")), gives("True"));
        assert_eq!(seen.effect(&operation("v0 * v1")), gives("3"));
    }

    #[test]
    fn a_copy_is_the_first_operand() {
        assert_eq!(Copied::effect(&operation("v0 + v1")), gives("1"));
    }
}
