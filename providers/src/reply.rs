//! What comes back from a model.

use crate::failure::Failure;
use crate::offer::Offer;
use crate::request::ToolCall;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// A whole reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The text; with [`Finish::Refusal`] it may be the reason given, or empty.
    pub text: String,
    /// Functions that the model wants called, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Tokens, as the server counts them or estimated.
    pub usage: Usage,
    /// Why it ended.
    pub finish: Finish,
    /// Options that the server refused and that this reply was made without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<Offer>,
    /// From the last attempt's start to the first piece of text, thinking or call; whole
    /// microseconds.
    #[serde(rename = "time_to_first_token_us", with = "micros")]
    pub time_to_first_token: Duration,
    /// From the call to the reply, waits and failed attempts included; whole microseconds.
    #[serde(rename = "elapsed_us", with = "micros")]
    pub elapsed: Duration,
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    /// The model was done.
    Stop,
    /// The token limit was reached; the text is cut off.
    Length,
    /// The model, or a filter behind it, declined.
    Refusal,
    /// The model waits for the results of its calls.
    ToolUse,
}

/// Tokens of one exchange.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt, cached ones included.
    pub prompt: u64,
    /// Generated tokens, those of thinking included.
    pub completion: u64,
    /// Of `prompt`: read from the provider's cache.
    pub cached: u64,
    /// Of `prompt`: written to the provider's cache at a price of its own (Anthropic).
    #[serde(default)]
    pub cache_written: u64,
    /// True when the server gave no counts and these are made from bytes.
    pub estimated: bool,
    /// US dollars, where the server says what it charges (OpenRouter).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Reply {
    /// The text as JSON. A code fence around it is taken off, since models that nothing holds to a
    /// schema like to add one. Fails with [`Failure::Malformed`].
    pub fn json(&self) -> Result<Value, Failure> {
        let text = self.text.trim();
        let bare = text
            .strip_prefix("```")
            .and_then(|rest| rest.strip_suffix("```"))
            .map_or(text, |inner| {
                inner
                    .split_once('\n')
                    .map_or(inner, |(_language, body)| body)
            });
        serde_json::from_str(bare.trim()).map_err(|error| Failure::Malformed {
            message: format!("the reply is not JSON: {error}"),
        })
    }
}

mod micros {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    pub fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(duration.as_micros() as u64)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_micros)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_read_with_and_without_a_fence() {
        for text in [
            "{\"a\": 1}",
            "```json\n{\"a\": 1}\n```",
            "```\n{\"a\": 1}```\n",
        ] {
            let reply = Reply {
                text: text.to_owned(),
                tool_calls: Vec::new(),
                usage: Usage::default(),
                finish: Finish::Stop,
                without: Vec::new(),
                time_to_first_token: Duration::ZERO,
                elapsed: Duration::ZERO,
            };
            assert_eq!(reply.json().unwrap(), serde_json::json!({"a": 1}), "{text}");
        }
    }
}
