//! What a server's error means.
//!
//! Providers agree neither on status codes nor on the shape of errors, so the text decides where the
//! status does not. The phrases are those of the servers themselves; each has a test.

use crate::failure::Failure;
use crate::offer::{Offer, Without, blamed};
use crate::request::Request;
use serde_json::Value;
use std::time::Duration;

/// An error as it came.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Said {
    /// HTTP status; 0 for an error inside a stream.
    pub status: u16,
    /// The body or the event.
    pub body: String,
    /// From the headers.
    pub retry_after: Option<Duration>,
}

/// What it means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Complaint {
    /// The server does not take an option; without it, it may.
    Refuses(Offer),
    /// The call has failed.
    Failed {
        failure: Failure,
        /// Whether another attempt may succeed.
        passing: bool,
        retry_after: Option<Duration>,
    },
}

/// The parts of an error that are worth reading.
struct Parts {
    /// One line for people.
    message: String,
    /// Message, codes and types in lower case, to look for phrases in.
    text: String,
    parameter: Option<String>,
    status: u16,
    retry_after: Option<Duration>,
}

/// Reads an error of `provider` about `model`.
pub(crate) fn judge(
    provider: &str,
    model: &str,
    said: &Said,
    request: &Request,
    without: &Without,
) -> Complaint {
    let parts = parts(said);
    let status = parts.status;
    let has = |phrases: &[&str]| phrases.iter().any(|phrase| parts.text.contains(phrase));
    let provider = || provider.to_owned();
    let message = || parts.message.clone();
    let failed = |failure: Failure, passing: bool| Complaint::Failed {
        failure,
        passing,
        retry_after: parts.retry_after,
    };

    if has(OVERFLOW) || (status == 413 && !has(&["rate limit"])) {
        let limit = limit(&parts.text);
        return failed(
            Failure::ContextOverflow {
                limit,
                message: message(),
            },
            false,
        );
    }
    if has(WRONG_KEY) || status == 401 {
        return failed(
            Failure::WrongKey {
                provider: provider(),
                message: message(),
            },
            false,
        );
    }
    let pace = has(&["per minute", "perminute", "per second"]) || parts.retry_after.is_some();
    let spent =
        has(SPENT) || (has(&["exceeded your current quota", "resource_exhausted"]) && !pace);
    if status == 402 || (spent && (matches!(status, 0 | 400 | 403 | 429))) {
        return failed(
            Failure::QuotaExhausted {
                provider: provider(),
                message: message(),
            },
            false,
        );
    }
    if has(DECLINED) {
        return failed(
            Failure::Refused {
                provider: provider(),
                message: message(),
            },
            false,
        );
    }
    if status == 429 || has(&["rate_limit", "rate limit", "too many requests"]) {
        let retry_after = parts
            .retry_after
            .map(|wait| wait.as_millis().div_ceil(1000) as u64);
        let failure = Failure::RateLimited {
            provider: provider(),
            retry_after,
            message: message(),
        };
        return failed(failure, true);
    }
    let about_model = has(&["model", "deployment"]) && has(UNKNOWN);
    if about_model && matches!(status, 0 | 400 | 403 | 404 | 422)
        || has(&["model_not_found", "not_found_error"])
    {
        let failure = Failure::UnknownModel {
            provider: provider(),
            model: model.to_owned(),
            near: Vec::new(),
        };
        return failed(failure, false);
    }
    if status == 403 {
        return failed(
            Failure::WrongKey {
                provider: provider(),
                message: message(),
            },
            false,
        );
    }
    // Servers that lack an option say so in many ways, and some of them with an error of their own.
    let option = matches!(status, 0 | 400 | 404 | 422 | 501)
        || (status == 500 && has(&["grammar", "json_schema", "response_format"]));
    if option && let Some(offer) = blamed(&parts.text, parts.parameter.as_deref(), request, without)
    {
        return Complaint::Refuses(offer);
    }
    if matches!(status, 408 | 409 | 425) || status >= 500 || (status == 0 && has(BUSY)) {
        return failed(
            Failure::Overloaded {
                provider: provider(),
                status,
                message: message(),
            },
            true,
        );
    }
    failed(
        Failure::BadRequest {
            provider: provider(),
            status,
            message: message(),
        },
        false,
    )
}

const OVERFLOW: &[&str] = &[
    "context_length_exceeded",
    "maximum context length",
    "prompt is too long",
    "exceed context limit",
    "exceeds the available context size",
    "exceed_context_size",
    "input token count",
    "exceeds the maximum number of tokens",
    "context window",
    "maximum allowed number of input tokens",
];

const WRONG_KEY: &[&str] = &[
    "invalid_api_key",
    "api_key_invalid",
    "api key not valid",
    "invalid x-api-key",
    "incorrect api key",
    "authentication_error",
    "no auth credentials",
];

const SPENT: &[&str] = &[
    "insufficient_quota",
    "credit balance is too low",
    "insufficient credits",
    "billing_hard_limit",
    "billing_error",
    "perday",
];

const DECLINED: &[&str] = &[
    "content_filter",
    "content_policy_violation",
    "responsibleaipolicyviolation",
    "requires moderation",
    "invalid_prompt",
    "flagged as potentially violating",
];

const UNKNOWN: &[&str] = &[
    "not found",
    "not_found",
    "does not exist",
    "not a valid model",
    "unknown model",
    "invalid model",
    "no endpoints found",
    "deploymentnotfound",
    "is not supported for generatecontent",
];

const BUSY: &[&str] = &[
    "overloaded",
    "server_error",
    "internal",
    "unavailable",
    "timeout",
    "timed out",
    "upstream",
];

fn parts(said: &Said) -> Parts {
    let value: Option<Value> = serde_json::from_str(said.body.trim()).ok();
    // Gemini wraps an error in a list when it does not stream events.
    let value = match value {
        Some(Value::Array(mut items)) if !items.is_empty() => Some(items.swap_remove(0)),
        other => other,
    };
    let Some(value) = value.filter(Value::is_object) else {
        let plain = said.body.trim();
        let shown = if plain.starts_with('<') {
            "an HTML page".to_owned()
        } else {
            one_line(plain)
        };
        let message = if shown.is_empty() {
            format!("status {} without a text", said.status)
        } else {
            shown
        };
        return Parts {
            text: plain.to_lowercase(),
            message,
            parameter: None,
            status: said.status,
            retry_after: said.retry_after,
        };
    };
    let error = value
        .get("error")
        .filter(|e| !e.is_null())
        .unwrap_or(&value);
    let string = |pointer: &str| error.pointer(pointer).and_then(Value::as_str);
    let mut message = error
        .as_str()
        .or_else(|| string("/message"))
        .or_else(|| value.get("message").and_then(Value::as_str))
        .or_else(|| string("/detail"))
        .or_else(|| string("/detail/0/msg"))
        .or_else(|| string("/error"))
        .map_or_else(|| error.to_string(), str::to_owned);
    // OpenRouter passes on what the server behind it said.
    if let Some(raw) = string("/metadata/raw") {
        message = format!("{message}: {raw}");
    }
    let code = error
        .get("code")
        .and_then(Value::as_u64)
        .map(|code| code as u16);
    let status = match (said.status, code) {
        (0, Some(code @ 400..=599)) => code,
        (status, _) => status,
    };
    let delay = error
        .get("details")
        .and_then(Value::as_array)
        .and_then(|details| {
            details.iter().find_map(|detail| {
                let delay = detail.get("retryDelay")?.as_str()?;
                let seconds: f64 = delay.trim_end_matches('s').parse().ok()?;
                Duration::try_from_secs_f64(seconds).ok()
            })
        });
    Parts {
        // The whole of it: codes hide in many places, and echoes of the prompt in none of these.
        text: value.to_string().to_lowercase(),
        message: one_line(&message),
        parameter: string("/param").map(str::to_lowercase),
        status,
        retry_after: said.retry_after.or(delay),
    }
}

/// Text in one line, 400 characters at most.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= 400 {
        return line.trim_end_matches('.').to_owned();
    }
    let cut: String = line.chars().take(400).collect();
    format!("{cut}…")
}

/// The number of tokens that fit, as servers word it.
fn limit(text: &str) -> Option<u64> {
    let after = |phrase: &str| {
        let rest = &text[text.find(phrase)? + phrase.len()..];
        let rest = rest.trim_start_matches(|c: char| !c.is_ascii_digit() && !c.is_alphabetic());
        let digits: String = rest
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == ',')
            .filter(char::is_ascii_digit)
            .collect();
        digits.parse().ok()
    };
    [
        "maximum context length is",
        "maximum context length of",
        "tokens allowed",
        "n_ctx",
        "available context size",
        "context window of",
        " >",
    ]
    .iter()
    .find_map(|phrase| after(phrase))
    .filter(|&limit| limit > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn judged(status: u16, body: impl ToString) -> Complaint {
        let said = Said {
            status,
            body: body.to_string(),
            retry_after: None,
        };
        judge(
            "p",
            "m",
            &said,
            &Request::new("", "hello", 10),
            &Without::new(),
        )
    }

    fn failure(status: u16, body: impl ToString) -> (Failure, bool) {
        match judged(status, body) {
            Complaint::Failed {
                failure, passing, ..
            } => (failure, passing),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_context_that_is_too_small_is_found_with_its_limit() {
        for (status, body, limit) in [
            (
                400,
                json!({"error": {"message": "This model's maximum context length is 128000 tokens. However, your messages resulted in 200000 tokens.", "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}}),
                Some(128_000),
            ),
            (
                400,
                json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 208310 tokens > 200000 maximum"}}),
                Some(200_000),
            ),
            (
                400,
                json!({"type": "error", "error": {"type": "invalid_request_error", "message": "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again"}}),
                Some(200_000),
            ),
            (
                400,
                json!({"error": {"code": 400, "message": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", "status": "INVALID_ARGUMENT"}}),
                Some(1_048_576),
            ),
            (
                400,
                json!({"error": {"code": 400, "message": "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it", "type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 8192}}),
                Some(8192),
            ),
            (
                413,
                json!({"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}),
                None,
            ),
        ] {
            let (found, passing) = failure(status, &body);
            let Failure::ContextOverflow { limit: told, .. } = found else {
                panic!("{found:?}")
            };
            assert_eq!((told, passing), (limit, false), "{body}");
        }
    }

    #[test]
    fn a_key_that_is_not_accepted_is_found() {
        for (status, body) in [
            (
                401,
                json!({"error": {"message": "Incorrect API key provided: sk-x.", "code": "invalid_api_key"}}),
            ),
            (
                401,
                json!({"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}),
            ),
            (
                400,
                json!({"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}),
            ),
            (
                403,
                json!({"error": {"code": 403, "message": "Permission denied", "status": "PERMISSION_DENIED"}}),
            ),
        ] {
            assert!(
                matches!(failure(status, &body), (Failure::WrongKey { .. }, false)),
                "{body}"
            );
        }
    }

    #[test]
    fn a_model_that_is_not_there_is_found() {
        for (status, body) in [
            (
                404,
                json!({"error": {"message": "The model `m` does not exist or you do not have access to it.", "code": "model_not_found"}}),
            ),
            (
                404,
                json!({"type": "error", "error": {"type": "not_found_error", "message": "model: m"}}),
            ),
            (
                404,
                json!({"error": {"code": 404, "message": "models/m is not found for API version v1beta", "status": "NOT_FOUND"}}),
            ),
            (404, json!({"error": "model 'm' not found"})),
            (
                400,
                json!({"error": {"message": "m is not a valid model ID", "code": 400}}),
            ),
            (
                404,
                json!({"object": "error", "message": "The model `m` does not exist.", "type": "NotFoundError", "code": 404}),
            ),
        ] {
            assert!(
                matches!(
                    failure(status, &body),
                    (Failure::UnknownModel { .. }, false)
                ),
                "{body}"
            );
        }
    }

    #[test]
    fn an_address_that_is_not_there_is_no_missing_model() {
        let (found, _) = failure(404, "404 page not found");
        assert!(
            matches!(found, Failure::BadRequest { status: 404, .. }),
            "{found:?}"
        );
        assert!(found.hint().contains("/v1"));
        let (found, _) = failure(404, "<html><body>Not here</body></html>");
        assert!(found.to_string().ends_with("an HTML page"), "{found}");
    }

    #[test]
    fn an_empty_account_is_not_a_limited_rate() {
        for (status, body) in [
            (
                429,
                json!({"error": {"message": "You exceeded your current quota, please check your plan and billing details.", "type": "insufficient_quota", "code": "insufficient_quota"}}),
            ),
            (
                400,
                json!({"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low to access the Anthropic API."}}),
            ),
            (
                402,
                json!({"error": {"message": "Insufficient credits", "code": 402}}),
            ),
        ] {
            assert!(
                matches!(
                    failure(status, &body),
                    (Failure::QuotaExhausted { .. }, false)
                ),
                "{body}"
            );
        }
        let body = json!({"error": {"code": 429, "message": "You exceeded your current quota, please check your plan and billing details.", "status": "RESOURCE_EXHAUSTED",
            "details": [{"retryDelay": "37s"}]}});
        let (found, passing) = failure(429, &body);
        assert!(passing);
        assert!(
            matches!(
                found,
                Failure::RateLimited {
                    retry_after: Some(37),
                    ..
                }
            ),
            "{found:?}"
        );
    }

    #[test]
    fn what_passes_is_told_from_what_does_not() {
        for (status, body, passes) in [
            (
                429,
                json!({"error": {"message": "Rate limit reached for m", "code": "rate_limit_exceeded"}}),
                true,
            ),
            (
                529,
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
                true,
            ),
            (
                0,
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
                true,
            ),
            (
                0,
                json!({"error": {"code": 502, "message": "Provider returned error"}}),
                true,
            ),
            (500, json!({"error": {"message": "boom"}}), true),
            (
                503,
                json!({"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}),
                true,
            ),
            (408, json!({}), true),
            (409, json!({}), true),
            (
                400,
                json!({"error": {"message": "messages: required"}}),
                false,
            ),
            (405, json!({}), false),
        ] {
            assert_eq!(failure(status, &body).1, passes, "{status} {body}");
        }
    }

    #[test]
    fn a_prompt_that_is_declined_is_found() {
        let body = json!({"error": {"message": "The response was filtered", "code": "content_filter",
            "innererror": {"code": "ResponsibleAIPolicyViolation"}}});
        assert!(matches!(
            failure(400, &body),
            (Failure::Refused { .. }, false)
        ));
    }
}
