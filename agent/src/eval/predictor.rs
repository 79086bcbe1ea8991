//! Who is evaluated.

use ndbg_simulator::Unavailable;
use ndbg_simulator::backend::step::StepModel;
use ndbg_simulator::grammar::step::{Effect, Operation};
use ndbg_simulator::harness::Answer;
use ndbg_simulator::model::Sampling;

use crate::model::Model;

/// Answers to operations, many at once, and backwards.
pub trait Predictor: Sync {
    /// For reports.
    fn name(&self) -> String;

    /// Effects of operations, in their order.
    fn answers(
        &self,
        operations: &[Operation],
        sampling: Sampling,
    ) -> Vec<Result<Answer, Unavailable>>;

    /// Values that slot `hole` may have had; none from whoever cannot run backwards.
    fn invert(
        &self,
        operation: &Operation,
        effect: &Effect,
        hole: usize,
        sampling: Sampling,
    ) -> Option<Vec<String>>;

    /// Whether it runs backwards at all.
    fn runs_backwards(&self) -> bool;

    /// Whether it is a real interpreter, so that samples would all be the same.
    fn is_certain(&self) -> bool;
}

impl Predictor for Model {
    fn name(&self) -> String {
        match self.language() {
            Some(model) => format!("{} ({})", model.name(), model.dialect().name()),
            None => "oracle (a real interpreter)".to_owned(),
        }
    }

    fn answers(
        &self,
        operations: &[Operation],
        sampling: Sampling,
    ) -> Vec<Result<Answer, Unavailable>> {
        match self {
            Self::Step(model) if sampling == Sampling::Greedy => model.perform_all(operations),
            Self::Step(model) => {
                StepModel::sampled(model.model(), sampling).perform_all(operations)
            }
            Self::Oracle(interpreter, _) => match interpreter.perform_all(operations) {
                Ok(effects) => effects
                    .into_iter()
                    .map(|effect| {
                        Ok(Answer {
                            effect,
                            log_probability: 0.0,
                        })
                    })
                    .collect(),
                Err(error) => {
                    let unknown = Unavailable::Unknown(error.to_string());
                    operations.iter().map(|_| Err(unknown.clone())).collect()
                }
            },
            Self::Language(_) => operations.iter().map(|_| Err(Unavailable::Off)).collect(),
        }
    }

    fn invert(
        &self,
        operation: &Operation,
        effect: &Effect,
        hole: usize,
        sampling: Sampling,
    ) -> Option<Vec<String>> {
        let Self::Step(model) = self else {
            return None;
        };
        let found = model
            .invert(operation, effect, hole, sampling)
            .unwrap_or_default();
        Some(found.into_iter().map(|(value, _)| value).collect())
    }

    fn runs_backwards(&self) -> bool {
        matches!(self, Self::Step(_))
    }

    fn is_certain(&self) -> bool {
        matches!(self, Self::Oracle(..))
    }
}
