//! What is sent to `/completions`.

use serde_json::{Map, Value, json};

use super::server::{Kind, Served};
use crate::model::Sampling;

/// Smallest share of the probable that servers take; 0 means the most probable token alone.
const LEAST_TOP_P: f32 = 1e-6;

/// A question without the things that differ between servers.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// Token ids or a text.
    pub prompt: Value,
    /// How to choose.
    pub sampling: Sampling,
    /// The first of the samples that are asked for.
    pub first: usize,
    /// Number of samples in one answer.
    pub count: usize,
    /// Tokens at most.
    pub max_tokens: usize,
    /// Ids that end an answer.
    pub stop: &'a [u32],
    /// The texts of those.
    pub stop_texts: &'a [String],
    /// Whether the ids of the server are ours.
    pub ids: bool,
}

impl Question<'_> {
    /// As JSON for a server.
    pub fn body(&self, served: &Served) -> Value {
        let mut body = Map::new();
        let mut set = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
        set("model", json!(served.model));
        set("prompt", self.prompt.clone());
        set("max_tokens", json!(self.max_tokens));
        set("logprobs", json!(1));
        set("stream", json!(false));
        match self.sampling {
            Sampling::Random {
                temperature,
                top_p,
                seed,
                ..
            } if temperature > 0.0 => {
                set("temperature", json!(temperature));
                set("top_p", json!(top_p.clamp(LEAST_TOP_P, 1.0)));
                set("seed", json!(seed_of(seed, self.first)));
            }
            _ => set("temperature", json!(0)),
        }
        if self.count > 1 {
            set("n", json!(self.count));
        }
        match served.kind {
            Kind::Vllm | Kind::Sglang => {
                // The stop tokens are given, so that nothing else may end an answer.
                set("ignore_eos", json!(true));
                set(
                    "stop_token_ids",
                    json!(if self.ids { self.stop } else { &[] }),
                );
                if !self.ids && !self.stop_texts.is_empty() {
                    set("stop", json!(self.stop_texts));
                }
                set("skip_special_tokens", json!(false));
                set("spaces_between_special_tokens", json!(false));
                set("top_k", json!(-1));
                set("min_p", json!(0));
                set("repetition_penalty", json!(1));
                if self.ids {
                    set("return_token_ids", json!(true));
                }
                if served.kind == Kind::Vllm {
                    set("include_stop_str_in_output", json!(true));
                    set("return_tokens_as_token_ids", json!(self.ids));
                } else {
                    set("no_stop_trim", json!(true));
                }
            }
            Kind::LlamaCpp => {
                set("stop", json!(self.stop_texts));
                // A stop token is found by its text, and hidden tokens have none.
                set("preserved_tokens", json!(self.stop_texts));
                set("return_tokens", json!(true));
                set("verbose", json!(true));
                set("samplers", json!(["temperature", "top_p"]));
                set("top_k", json!(0));
                set("min_p", json!(0));
                set("repeat_penalty", json!(1));
                set("cache_prompt", json!(true));
            }
            Kind::Other => {
                if !self.stop_texts.is_empty() {
                    set("stop", json!(self.stop_texts));
                }
            }
        }
        Value::Object(body)
    }
}

/// Seeds of servers have 31 bits. Each sample has its own, as those of vLLM do.
fn seed_of(seed: u64, sample: usize) -> u32 {
    let folded = (seed ^ (seed >> 31)) as u32 & 0x7fff_ffff;
    folded.wrapping_add(sample as u32) & 0x7fff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(kind: Kind, sampling: Sampling) -> Value {
        let served = Served {
            kind,
            model: "m".into(),
            context: None,
            vocabulary: None,
        };
        let question = Question {
            prompt: json!([1, 2]),
            sampling,
            first: 0,
            count: sampling.samples(),
            max_tokens: 5,
            stop: &[7],
            stop_texts: &["<|end|>".to_owned()],
            ids: true,
        };
        question.body(&served)
    }

    #[test]
    fn each_server_is_asked_in_its_own_way() {
        let random = Sampling::Random {
            temperature: 0.5,
            top_p: 0.0,
            seed: u64::MAX,
            samples: 3,
        };
        let vllm = body(Kind::Vllm, random);
        assert_eq!(vllm["stop_token_ids"], json!([7]));
        assert_eq!(
            (vllm["n"].clone(), vllm["skip_special_tokens"].clone()),
            (json!(3), json!(false))
        );
        assert!(vllm["top_p"].as_f64() > Some(0.0) && vllm["seed"].as_u64() < Some(1 << 31));
        assert!(vllm["stop"].is_null());
        let llama = body(Kind::LlamaCpp, Sampling::Greedy);
        assert_eq!(
            (llama["temperature"].clone(), llama["stop"].clone()),
            (json!(0), json!(["<|end|>"]))
        );
        assert!(llama["seed"].is_null() && llama["n"].is_null());
        // Nothing that a strict server refuses.
        let other = body(Kind::Other, Sampling::Greedy);
        let names: Vec<&String> = other.as_object().unwrap().keys().collect();
        assert_eq!(
            names,
            [
                "logprobs",
                "max_tokens",
                "model",
                "prompt",
                "stop",
                "stream",
                "temperature"
            ]
        );
    }

    #[test]
    fn samples_have_different_seeds() {
        assert_eq!(seed_of(5, 0), 5);
        assert_ne!(seed_of(5, 1), seed_of(5, 2));
        assert_ne!(seed_of(1 << 40, 0), seed_of(0, 0));
    }
}
