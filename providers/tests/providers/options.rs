//! Options that a server refuses are left out, and that is remembered.

use crate::serving::{Server, ask, hello, live};
use ndbg_providers::{Failure, Offer, Request, Schema};
use serde_json::{Value, json};

const CHAT: &str = include_str!("streams/chat.txt");

fn full() -> Request {
    Request {
        temperature: Some(0.2),
        seed: Some(1),
        schema: Some(Schema {
            name: "patch".to_owned(),
            schema: json!({"type": "object"}),
        }),
        ..hello()
    }
}

fn refusal(message: &str, parameter: &str) -> String {
    json!({"error": {"message": message, "type": "invalid_request_error", "param": parameter,
        "code": "unsupported_parameter"}})
    .to_string()
}

#[test]
fn refused_options_are_left_out_one_by_one_and_for_good() {
    let limit = "Unsupported parameter: 'max_completion_tokens' is not supported with this model. Use 'max_tokens' instead.";
    let temperature = "Unsupported value: 'temperature' does not support 0.2 with this model.";
    let server = Server::new()
        .says(
            400,
            "application/json",
            &refusal(limit, "max_completion_tokens"),
            1,
        )
        .says(
            400,
            "application/json",
            &refusal(temperature, "temperature"),
            1,
        )
        .says(
            422,
            "application/json",
            r#"{"detail":[{"msg":"Extra inputs are not permitted: seed"}]}"#,
            1,
        )
        .streams(&CHAT.replace("The sky", "{}").replace(" is blü.", ""));
    let mut endpoint = live("openai/gpt-5", &server.url());
    let reply = ask(&mut endpoint, &full()).reply();
    assert_eq!(
        reply.without,
        [Offer::Temperature, Offer::Seed, Offer::MaxTokens]
    );
    ask(&mut endpoint, &full()).reply();
    let bodies = server.bodies();
    assert_eq!(bodies.len(), 5, "the second request is right at once");
    let has = |body: &Value, name: &str| body.get(name).is_some();
    assert!(has(&bodies[0], "max_completion_tokens") && has(&bodies[0], "temperature"));
    for body in &bodies[3..] {
        assert!(has(body, "max_tokens") && has(body, "response_format"));
        for name in ["max_completion_tokens", "temperature", "seed"] {
            assert!(!has(body, name), "{name}");
        }
    }
}

#[test]
fn without_a_schema_the_model_is_told_in_words() {
    for (model, complaint, place) in [
        (
            "openai/m",
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
            "/messages/0/content",
        ),
        (
            "openai-responses/m",
            "Invalid parameter: 'text.format' of type 'json_schema' is not supported.",
            "/instructions",
        ),
        (
            "anthropic/m",
            "output_config: Extra inputs are not permitted",
            "/system/0/text",
        ),
        (
            "gemini/m",
            "Invalid JSON payload received. Unknown name \"responseJsonSchema\" at 'generation_config'",
            "/systemInstruction/parts/0/text",
        ),
        (
            "ollama/m",
            "invalid format: expected json_schema",
            "/messages/0/content",
        ),
    ] {
        let stream = match model {
            "openai/m" => CHAT,
            "openai-responses/m" => include_str!("streams/responses.txt"),
            "anthropic/m" => include_str!("streams/anthropic.txt"),
            "gemini/m" => include_str!("streams/gemini.txt"),
            _ => include_str!("streams/ollama.txt"),
        };
        let body = json!({"error": {"message": complaint}}).to_string();
        let server = Server::new()
            .says(400, "application/json", &body, 1)
            .streams(stream);
        let reply = ask(&mut live(model, &server.url()), &full()).reply();
        assert_eq!(reply.without, [Offer::Schema], "{model}");
        let told = server.bodies()[1]
            .pointer(place)
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned();
        assert!(
            told.starts_with("be brief\n\nAnswer with one JSON value"),
            "{model}: {told}"
        );
        assert!(told.ends_with("{\"type\":\"object\"}"), "{model}: {told}");
    }
}

#[test]
fn a_schema_that_is_ignored_is_told_in_words_the_next_time() {
    let server = Server::new().streams(CHAT);
    let mut endpoint = live("openai/m", &server.url());
    let reply = ask(&mut endpoint, &full()).reply();
    assert!(reply.json().is_err());
    assert_eq!(reply.without, [Offer::Schema]);
    ask(&mut endpoint, &full()).reply();
    let bodies = server.bodies();
    assert_eq!(
        bodies.len(),
        2,
        "nothing is asked twice behind the caller's back"
    );
    assert_eq!(bodies[1].get("response_format"), None);
    assert_ne!(bodies[1]["messages"][0], bodies[0]["messages"][0]);
}

#[test]
fn a_server_that_cannot_stream_is_asked_without() {
    let body = refusal(
        "Your organization must be verified to stream this model.",
        "stream",
    );
    let answer = json!({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]});
    let server = Server::new().says(400, "application/json", &body, 1).says(
        200,
        "application/json",
        &answer.to_string(),
        9,
    );
    let reply = ask(&mut live("openai/m", &server.url()), &hello()).reply();
    assert_eq!(
        (reply.text.as_str(), reply.without.as_slice()),
        ("hi", [Offer::Stream].as_slice())
    );
    assert_eq!(server.bodies()[1]["stream"], false);
    assert_eq!(server.bodies()[1].get("stream_options"), None);
}

#[test]
fn a_complaint_that_stays_ends_the_call() {
    let body = refusal("Unsupported parameter: 'temperature'", "temperature");
    let server = Server::new().says(400, "application/json", &body, 99);
    let failure = ask(&mut live("openai/m", &server.url()), &full()).failure();
    assert!(
        matches!(failure, Failure::BadRequest { status: 400, .. }),
        "{failure:?}"
    );
    assert_eq!(server.bodies().len(), 2);
}
