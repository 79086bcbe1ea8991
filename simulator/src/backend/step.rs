//! A language model that speaks the step grammar, as the one who performs operations.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::grammar::step::{
    Effect, Operation, ValueMask, Vocabulary, decode_effect, decode_hole, encode_effect,
    encode_inverse, encode_question,
};
use crate::harness::{Answer, Operations};
use crate::model::{Generated, LanguageModel, ModelError, Request, Sampling};
use crate::simulator::Unavailable;

/// Tokens of an answer at most.
const MAX_ANSWER: usize = 200;

/// Asks a model for the effects of operations. The same question is asked once.
pub struct StepModel<M> {
    model: M,
    sampling: Sampling,
    known: Mutex<HashMap<Operation, Result<Answer, Unavailable>>>,
    failure: Mutex<Option<String>>,
}

impl<M: LanguageModel> StepModel<M> {
    /// Answers are the most probable ones.
    pub fn new(model: M) -> Self {
        Self::sampled(model, Sampling::Greedy)
    }

    /// Answers are chosen in another way.
    pub fn sampled(model: M, sampling: Sampling) -> Self {
        Self {
            model,
            sampling,
            known: Mutex::new(HashMap::new()),
            failure: Mutex::new(None),
        }
    }

    /// Why the model itself failed last, such as a server that went away; not that it did not know.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().ok()?.clone()
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// Effects of many operations, asked at once.
    pub fn perform_all(&self, operations: &[Operation]) -> Vec<Result<Answer, Unavailable>> {
        let room = self.model.context();
        let questions: Vec<Vec<u32>> = operations.iter().map(encode_question).collect();
        let fits: Vec<usize> = (0..questions.len())
            .filter(|&at| questions[at].len() < room)
            .collect();
        let stop = end();
        let requests: Vec<Request<'_>> = fits
            .iter()
            .map(|&at| self.request(&questions[at], &stop, &ValueMask::Effect))
            .collect();
        let mut answers: Vec<Result<Answer, Unavailable>> =
            operations.iter().map(|_| Err(too_long())).collect();
        match self.model.generate_batch(&requests) {
            Ok(generated) => {
                for (&at, generated) in fits.iter().zip(&generated) {
                    answers[at] = answer(&operations[at], generated);
                }
            }
            Err(error) => {
                if let (ModelError::Remote(_), Ok(mut failure)) = (&error, self.failure.lock()) {
                    *failure = Some(error.to_string());
                }
                for &at in &fits {
                    answers[at] = Err(failed(&error));
                }
            }
        }
        answers
    }

    /// Natural logarithm of the probability of each effect.
    pub fn score(
        &self,
        operation: &Operation,
        effects: &[Effect],
    ) -> Result<Vec<f64>, Unavailable> {
        let answers: Vec<Vec<u32>> = effects
            .iter()
            .map(|effect| encode_effect(operation, effect))
            .collect();
        self.model
            .score(&encode_question(operation), &answers)
            .map_err(|error| failed(&error))
    }

    /// Values that slot `hole` may have had, with the logarithms of their probabilities.
    pub fn invert(
        &self,
        operation: &Operation,
        effect: &Effect,
        hole: usize,
        sampling: Sampling,
    ) -> Result<Vec<(String, f64)>, Unavailable> {
        let question = encode_inverse(operation, effect, hole)
            .ok_or_else(|| Unavailable::Unknown("no such slot".into()))?;
        if question.len() >= self.model.context() {
            return Err(too_long());
        }
        let stop = end();
        let request = Request {
            sampling,
            ..self.request(&question, &stop, &ValueMask::Value)
        };
        let generated = self
            .model
            .generate(&request)
            .map_err(|error| failed(&error))?;
        Ok(generated
            .iter()
            .filter(|generated| generated.stopped)
            .filter_map(|generated| {
                Some((
                    decode_hole(&generated.tokens).ok()?,
                    generated.unmasked_logprob(),
                ))
            })
            .collect())
    }

    fn request<'a>(&self, prompt: &'a [u32], stop: &'a [u32], mask: &'a ValueMask) -> Request<'a> {
        Request {
            prompt,
            sampling: drawn_for(self.sampling, prompt),
            stop,
            max_tokens: MAX_ANSWER
                .min(self.model.context() - prompt.len().min(self.model.context())),
            mask: Some(mask),
        }
    }
}

impl<M: LanguageModel> Operations for StepModel<M> {
    fn perform(&self, operation: &Operation) -> Result<Answer, Unavailable> {
        if let Ok(known) = self.known.lock()
            && let Some(answer) = known.get(operation)
        {
            return answer.clone();
        }
        let answer = self
            .perform_all(std::slice::from_ref(operation))
            .pop()
            .unwrap_or_else(|| Err(too_long()));
        if let Ok(mut known) = self.known.lock() {
            known.insert(operation.clone(), answer.clone());
        }
        answer
    }
}

/// Sampling with a seed of its own for each question: else one unlucky draw would spoil all answers of
/// a seed at once.
fn drawn_for(sampling: Sampling, prompt: &[u32]) -> Sampling {
    let Sampling::Random {
        temperature,
        top_p,
        seed,
        samples,
    } = sampling
    else {
        return sampling;
    };
    // FNV-1a over tokens.
    let mixed = prompt
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64 ^ seed, |hash, &token| {
            (hash ^ u64::from(token)).wrapping_mul(0x0100_0000_01b3)
        });
    Sampling::Random {
        temperature,
        top_p,
        seed: mixed,
        samples,
    }
}

fn end() -> Vec<u32> {
    Vocabulary::get().id("end").into_iter().collect()
}

fn answer(operation: &Operation, generated: &Generated) -> Result<Answer, Unavailable> {
    if !generated.stopped {
        return Err(Unavailable::Unknown("the answer does not end".into()));
    }
    let effect = decode_effect(operation, &generated.tokens)
        .map_err(|error| Unavailable::Unknown(error.to_string()))?;
    Ok(Answer {
        effect,
        log_probability: generated.unmasked_logprob(),
    })
}

fn too_long() -> Unavailable {
    Unavailable::Unknown("the values are longer than the model reads".into())
}

fn failed(error: &ModelError) -> Unavailable {
    Unavailable::Unknown(error.to_string())
}
