//! Options that not every server takes, and finding out from its complaint which one it means.

use crate::request::Request;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// An option that a request can do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Offer {
    /// Output held to a schema; without it the model is told in words.
    Schema,
    /// A temperature.
    Temperature,
    /// A seed.
    Seed,
    /// The first spelling of the token limit; without it the other one is used.
    MaxTokens,
    /// Token counts at the end of a stream.
    StreamUsage,
    /// Marks for the prompt cache.
    Cache,
    /// Streaming; without it the reply comes in one piece.
    Stream,
}

/// What a server has refused so far.
pub(crate) type Without = BTreeSet<Offer>;

/// The option that a server's complaint is about, if the request carries it. `message` is in lower
/// case; `parameter` is the name the server blames, where it says one.
pub(crate) fn blamed(
    message: &str,
    parameter: Option<&str>,
    request: &Request,
    without: &Without,
) -> Option<Offer> {
    let unwanted = [
        "unsupported",
        "not support",
        "unrecognized",
        "unknown",
        "unexpected",
        "extra inputs",
        "not permitted",
        "not allowed",
        "only the default",
        "deprecated",
        "instead",
        "invalid",
        "cannot",
        "must",
    ]
    .iter()
    .any(|word| message.contains(word));
    let names = |words: &[&str]| {
        words
            .iter()
            .any(|word| parameter.is_some_and(|p| p.contains(word)) || message.contains(word))
    };
    let schema = [
        "response_format",
        "json_schema",
        "output_config",
        "output_format",
        "text.format",
        "responseschema",
        "responsejsonschema",
        "response_json_schema",
        "response_schema",
        "response_mime_type",
        "responsemimetype",
        "structured output",
        "additionalproperties",
        "grammar",
    ];
    let found = if request.schema.is_some() && names(&schema) {
        Offer::Schema
    } else if names(&["stream_options"]) {
        Offer::StreamUsage
    } else if !unwanted {
        return None;
    } else if request.temperature.is_some() && names(&["temperature"]) {
        Offer::Temperature
    } else if request.seed.is_some() && names(&["seed"]) {
        Offer::Seed
    } else if names(&["max_tokens", "max_completion_tokens"])
        // A limit that is too high is not a spelling that is unknown.
        && !names(&["too large", "at most", "exceed", "greater than", "less than"])
    {
        Offer::MaxTokens
    } else if names(&["cache_control"]) {
        Offer::Cache
    } else if parameter == Some("stream") || names(&["to stream this model", "streaming"]) {
        Offer::Stream
    } else {
        return None;
    };
    (!without.contains(&found)).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Request {
        Request {
            temperature: Some(0.0),
            seed: Some(1),
            schema: Some(crate::schema::Schema {
                name: "patch".to_owned(),
                schema: serde_json::json!({"type": "object"}),
            }),
            ..Request::new("", "hello", 100)
        }
    }

    #[test]
    fn complaints_of_real_servers_name_their_option() {
        for (message, parameter, offer) in [
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Some("max_tokens"),
                Some(Offer::MaxTokens),
            ),
            (
                "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
                Some("temperature"),
                Some(Offer::Temperature),
            ),
            (
                "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
                None,
                Some(Offer::Schema),
            ),
            (
                "output_config: Extra inputs are not permitted",
                None,
                Some(Offer::Schema),
            ),
            (
                "`temperature` is deprecated for this model.",
                None,
                Some(Offer::Temperature),
            ),
            (
                "Unknown name \"seed\" at 'generation_config': Cannot find field.",
                None,
                Some(Offer::Seed),
            ),
            (
                "Your organization must be verified to stream this model.",
                Some("stream"),
                Some(Offer::Stream),
            ),
            (
                "max_tokens is too large: 99999. This model supports at most 4096 completion tokens",
                Some("max_tokens"),
                None,
            ),
            ("messages: at least one message is required", None, None),
        ] {
            let found = blamed(&message.to_lowercase(), parameter, &full(), &Without::new());
            assert_eq!(found, offer, "{message}");
        }
    }

    #[test]
    fn an_option_is_blamed_once_and_only_when_it_was_sent() {
        let message = "unsupported value: temperature";
        let without = Without::from([Offer::Temperature]);
        assert_eq!(blamed(message, None, &full(), &without), None);
        let plain = Request::new("", "hello", 100);
        assert_eq!(blamed(message, None, &plain, &Without::new()), None);
    }
}
