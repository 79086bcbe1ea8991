//! Errors as real servers word them.

use super::*;
use serde_json::json;

fn judged(status: u16, body: &dyn ToString) -> Complaint {
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

fn failure(status: u16, body: &dyn ToString) -> (Failure, bool) {
    match judged(status, body) {
        Complaint::Failed {
            failure, passing, ..
        } => (failure, passing),
        other @ Complaint::Refuses(_) => panic!("{other:?}"),
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
    let (found, _) = failure(404, &"404 page not found");
    assert!(
        matches!(found, Failure::BadRequest { status: 404, .. }),
        "{found:?}"
    );
    assert!(found.hint().contains("/v1"));
    let (found, _) = failure(404, &"<html><body>Not here</body></html>");
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
