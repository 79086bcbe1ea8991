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
mod tests;
