//! Each language: what a full request becomes, and what a stream means.

use crate::serving::{KEY, Server, ask, hello, live};
use ndbg_providers::{Finish, Message, Reply, Request, Schema, Tool, ToolCall, Usage};
use serde_json::{Value, json};

fn call(id: &str, signature: Option<&str>) -> ToolCall {
    ToolCall {
        id: id.to_owned(),
        name: "read".to_owned(),
        arguments: "{\"path\": \"a.py\"}".to_owned(),
        signature: signature.map(str::to_owned),
    }
}

/// A request that uses everything.
fn full() -> Request {
    let mut request = hello();
    request.temperature = Some(0.5);
    request.seed = Some(7);
    request.schema = Some(Schema {
        name: "patch".to_owned(),
        schema: json!({"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}},
            "required": ["a"], "additionalProperties": false}),
    });
    request.tools = vec![Tool {
        name: "read".to_owned(),
        description: "Reads a file".to_owned(),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    }];
    request.messages.push(Message::Assistant {
        text: "Let me look.".to_owned(),
        calls: vec![call("c1", Some("sig")), call("c2", None)],
    });
    for id in ["c1", "c2"] {
        request.messages.push(Message::Tool {
            id: id.to_owned(),
            name: "read".to_owned(),
            text: format!("contents for {id}"),
        });
    }
    request.messages.push(Message::user("go on"));
    request
}

/// Asks with everything and gives back the reply and the one request that was sent.
fn sent(model: &str, stream: &str) -> (Reply, Vec<String>, wiremock::Request, Value) {
    let server = Server::new().streams(stream);
    let ended = ask(&mut live(model, &server.url()), &full());
    let shown = ended.shown.clone();
    let reply = ended.reply();
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    let request = requests.into_iter().next().unwrap();
    let body = request.body_json().unwrap();
    (reply, shown, request, body)
}

fn header(request: &wiremock::Request, name: &str) -> Option<String> {
    request
        .headers
        .get(name)
        .map(|value| value.to_str().unwrap().to_owned())
}

#[test]
fn chat_completions_carry_everything() {
    let (reply, shown, request, body) =
        sent("openai/gpt-4.1-mini", include_str!("streams/chat.txt"));
    assert_eq!(request.url.path(), "/v1/chat/completions");
    assert_eq!(
        header(&request, "authorization"),
        Some(format!("Bearer {KEY}"))
    );
    assert_eq!(
        body,
        json!({
            "model": "gpt-4.1-mini",
            "stream": true,
            "stream_options": {"include_usage": true},
            "max_completion_tokens": 100,
            "temperature": 0.5,
            "seed": 7,
            "messages": [
                {"role": "system", "content": "be brief"},
                {"role": "user", "content": "why is the sky blue?"},
                {"role": "assistant", "content": "Let me look.", "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a.py\"}"}},
                    {"id": "c2", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a.py\"}"}},
                ]},
                {"role": "tool", "tool_call_id": "c1", "content": "contents for c1"},
                {"role": "tool", "tool_call_id": "c2", "content": "contents for c2"},
                {"role": "user", "content": "go on"},
            ],
            "response_format": {"type": "json_schema", "json_schema": {
                "name": "patch", "strict": true, "schema": full().schema.unwrap().schema}},
            "tools": [{"type": "function", "function": {"name": "read", "description": "Reads a file",
                "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}}],
        })
    );
    assert_eq!(reply.text, "The sky is blü.");
    assert_eq!(reply.finish, Finish::Stop);
    assert_eq!(shown, ["The sky", " is blü."]);
    let usage = Usage {
        prompt: 1200,
        completion: 6,
        cached: 1024,
        ..Usage::default()
    };
    assert_eq!(reply.usage, usage);
    assert!(reply.time_to_first_token <= reply.elapsed);
}

#[test]
fn chat_completions_stream_calls_in_pieces() {
    let stream = include_str!("streams/chat-calls.txt");
    let (reply, shown, _, body) = sent("openrouter/anthropic/claude-haiku-4.5", stream);
    assert_eq!(body["max_tokens"], 100);
    assert_eq!(
        body["messages"][0]["content"],
        json!([{"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}])
    );
    assert_eq!(reply.finish, Finish::ToolUse);
    assert_eq!(shown, ["(Look at the file.)"]);
    let calls: Vec<_> = reply
        .tool_calls
        .iter()
        .map(|c| (c.id.as_str(), c.arguments.as_str()))
        .collect();
    assert_eq!(
        calls,
        [
            ("call_a", "{\"path\": \"a.py\"}"),
            ("call_b", "{\"path\": \"b.py\"}")
        ]
    );
    assert_eq!(reply.usage.cost, Some(0.00057));
}

#[test]
fn responses_carry_everything() {
    let (reply, shown, request, body) = sent(
        "openai-responses/gpt-5",
        include_str!("streams/responses.txt"),
    );
    assert_eq!(request.url.path(), "/v1/responses");
    assert_eq!(
        header(&request, "authorization"),
        Some(format!("Bearer {KEY}"))
    );
    assert_eq!(
        body,
        json!({
            "model": "gpt-5",
            "stream": true,
            "store": false,
            "instructions": "be brief",
            "max_output_tokens": 100,
            "temperature": 0.5,
            "input": [
                {"role": "user", "content": "why is the sky blue?"},
                {"role": "assistant", "content": "Let me look."},
                {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{\"path\":\"a.py\"}"},
                {"type": "function_call", "call_id": "c2", "name": "read", "arguments": "{\"path\":\"a.py\"}"},
                {"type": "function_call_output", "call_id": "c1", "output": "contents for c1"},
                {"type": "function_call_output", "call_id": "c2", "output": "contents for c2"},
                {"role": "user", "content": "go on"},
            ],
            "text": {"format": {"type": "json_schema", "name": "patch", "strict": true,
                "schema": full().schema.unwrap().schema}},
            "tools": [{"type": "function", "name": "read", "description": "Reads a file", "strict": false,
                "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}],
        })
    );
    assert_eq!(reply.text, "The sky is blü.");
    assert_eq!(shown, ["The sky", " is blü."]);
    assert_eq!(reply.finish, Finish::ToolUse);
    assert_eq!(reply.tool_calls[0].id, "call_a");
    let usage = Usage {
        prompt: 1200,
        completion: 60,
        cached: 1024,
        ..Usage::default()
    };
    assert_eq!(reply.usage, usage);
}

#[test]
fn anthropic_messages_carry_everything() {
    let (reply, shown, request, body) = sent(
        "anthropic/claude-haiku-4-5",
        include_str!("streams/anthropic.txt"),
    );
    assert_eq!(request.url.path(), "/v1/messages");
    assert_eq!(header(&request, "x-api-key"), Some(KEY.to_owned()));
    assert_eq!(
        header(&request, "anthropic-version"),
        Some("2023-06-01".to_owned())
    );
    assert_eq!(header(&request, "authorization"), None);
    let mark = json!({"type": "ephemeral"});
    assert_eq!(
        body,
        json!({
            "model": "claude-haiku-4-5",
            "stream": true,
            "max_tokens": 100,
            "temperature": 0.5,
            "system": [{"type": "text", "text": "be brief", "cache_control": mark}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "why is the sky blue?"}]},
                {"role": "assistant", "content": [
                    {"type": "text", "text": "Let me look."},
                    {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a.py"}},
                    {"type": "tool_use", "id": "c2", "name": "read", "input": {"path": "a.py"}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "contents for c1"},
                    {"type": "tool_result", "tool_use_id": "c2", "content": "contents for c2"},
                    {"type": "text", "text": "go on", "cache_control": mark},
                ]},
            ],
            "output_config": {"format": {"type": "json_schema", "schema":
                {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"],
                 "additionalProperties": false}}},
            "tools": [{"name": "read", "description": "Reads a file",
                "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}}}],
        })
    );
    assert_eq!(reply.text, "The sky is blü.");
    assert_eq!(shown, ["(Rayleigh.)", "The sky", " is blü."]);
    assert_eq!(reply.finish, Finish::ToolUse);
    assert_eq!(
        reply.tool_calls,
        [ToolCall {
            id: "toolu_1".to_owned(),
            ..call("", None)
        }]
    );
    let usage = Usage {
        prompt: 1200,
        completion: 89,
        cached: 1024,
        cache_written: 164,
        ..Usage::default()
    };
    assert_eq!(reply.usage, usage);
}

#[test]
fn gemini_contents_carry_everything() {
    let (reply, shown, request, body) = sent(
        "gemini/gemini-3-flash-preview",
        include_str!("streams/gemini.txt"),
    );
    assert_eq!(
        request.url.path(),
        "/v1beta/models/gemini-3-flash-preview:streamGenerateContent"
    );
    assert_eq!(request.url.query(), Some("alt=sse"));
    assert_eq!(header(&request, "x-goog-api-key"), Some(KEY.to_owned()));
    assert_eq!(
        body,
        json!({
            "systemInstruction": {"parts": [{"text": "be brief"}]},
            "generationConfig": {"maxOutputTokens": 100, "temperature": 0.5, "seed": 7,
                "responseMimeType": "application/json",
                "responseJsonSchema": full().schema.unwrap().schema},
            "contents": [
                {"role": "user", "parts": [{"text": "why is the sky blue?"}]},
                {"role": "model", "parts": [
                    {"text": "Let me look."},
                    {"functionCall": {"id": "c1", "name": "read", "args": {"path": "a.py"}}, "thoughtSignature": "sig"},
                    {"functionCall": {"id": "c2", "name": "read", "args": {"path": "a.py"}}},
                ]},
                {"role": "user", "parts": [
                    {"functionResponse": {"id": "c1", "name": "read", "response": {"result": "contents for c1"}}},
                    {"functionResponse": {"id": "c2", "name": "read", "response": {"result": "contents for c2"}}},
                    {"text": "go on"},
                ]},
            ],
            "tools": [{"functionDeclarations": [{"name": "read", "description": "Reads a file",
                "parametersJsonSchema": {"type": "object", "properties": {"path": {"type": "string"}}}}]}],
        })
    );
    assert_eq!(reply.text, "The sky is blü.");
    assert_eq!(shown, ["(Rayleigh.)", "The sky", " is blü."]);
    assert_eq!(reply.finish, Finish::ToolUse);
    assert_eq!(reply.tool_calls[0].id, "call_267014");
    assert_eq!(reply.tool_calls[0].signature.as_deref(), Some("Eq4KCqsK"));
    let usage = Usage {
        prompt: 1200,
        completion: 60,
        cached: 1024,
        ..Usage::default()
    };
    assert_eq!(reply.usage, usage);
}

#[test]
fn ollama_chats_carry_everything() {
    let server = Server::new().says(
        200,
        "application/x-ndjson",
        include_str!("streams/ollama.txt"),
        9,
    );
    let ended = ask(&mut live("ollama/qwen3:8b", &server.url()), &full());
    assert_eq!(ended.shown, ["(Rayleigh.)", "The sky", " is blü."]);
    let reply = ended.reply();
    let requests = server.requests();
    assert_eq!(requests[0].url.path(), "/api/chat");
    assert_eq!(
        server.bodies()[0],
        json!({
            "model": "qwen3:8b",
            "stream": true,
            "options": {"num_predict": 100, "num_ctx": 8192, "temperature": 0.5, "seed": 7},
            "messages": [
                {"role": "system", "content": "be brief"},
                {"role": "user", "content": "why is the sky blue?"},
                {"role": "assistant", "content": "Let me look.", "tool_calls": [
                    {"function": {"name": "read", "arguments": {"path": "a.py"}}},
                    {"function": {"name": "read", "arguments": {"path": "a.py"}}},
                ]},
                {"role": "tool", "tool_name": "read", "content": "contents for c1"},
                {"role": "tool", "tool_name": "read", "content": "contents for c2"},
                {"role": "user", "content": "go on"},
            ],
            "format": full().schema.unwrap().schema,
            "tools": [{"type": "function", "function": {"name": "read", "description": "Reads a file",
                "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}}],
        })
    );
    assert_eq!(reply.text, "The sky is blü.");
    assert_eq!(reply.finish, Finish::ToolUse);
    assert_eq!(reply.tool_calls[0].arguments, "{\"path\":\"a.py\"}");
    assert_eq!((reply.usage.prompt, reply.usage.completion), (1200, 60));
}

#[test]
fn a_long_prompt_gets_a_context_of_its_size_from_ollama() {
    let server = Server::new().says(
        200,
        "application/x-ndjson",
        include_str!("streams/ollama.txt"),
        9,
    );
    let request = Request::new("", "x".repeat(64_000), 4000);
    ask(&mut live("ollama/qwen3:8b", &server.url()), &request).reply();
    assert_eq!(server.bodies()[0]["options"]["num_ctx"], 32768);
}

#[test]
fn azure_uses_its_own_header_and_address() {
    let server = Server::new().streams(include_str!("streams/chat.txt"));
    let url = server.url();
    let mut config = ndbg_providers::Config::new(move |name| match name {
        "AZURE_OPENAI_ENDPOINT" => Some(url.clone()),
        "AZURE_OPENAI_API_KEY" => Some(KEY.to_owned()),
        _ => None,
    });
    config.limits = crate::serving::config().limits;
    let model = ndbg_providers::Model::parse("azure/deployed", None).unwrap();
    ask(
        &mut ndbg_providers::open(&model, &config).unwrap(),
        &hello(),
    )
    .reply();
    let request = &server.requests()[0];
    assert_eq!(request.url.path(), "/openai/v1/chat/completions");
    assert_eq!(header(request, "api-key"), Some(KEY.to_owned()));
    assert_eq!(header(request, "authorization"), None);
    assert_eq!(server.bodies()[0]["model"], "deployed");
}

#[test]
fn a_server_without_a_key_and_without_a_name_is_asked_for_what_it_has() {
    let server = Server::new().streams(include_str!("streams/chat.txt"));
    let config = ndbg_providers::Config::new(|_| None);
    let model = ndbg_providers::Model::parse(&server.url(), None).unwrap();
    ask(
        &mut ndbg_providers::open(&model, &config).unwrap(),
        &hello(),
    )
    .reply();
    assert_eq!(header(&server.requests()[0], "authorization"), None);
    assert_eq!(server.bodies()[0].get("model"), None);
    assert_eq!(server.bodies()[0]["max_tokens"], 100);
}

#[test]
fn a_server_that_does_not_count_is_estimated() {
    let stream = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"0123456789abcdef\"},\"finish_reason\":\"stop\"}]}\n\n";
    let server = Server::new().streams(stream);
    let reply = ask(&mut live("x", &server.url()), &hello()).reply();
    assert_eq!(reply.finish, Finish::Stop);
    assert_eq!(
        reply.usage,
        Usage {
            prompt: hello().prompt_estimate(),
            completion: 5,
            estimated: true,
            ..Usage::default()
        }
    );
}

#[test]
fn every_language_says_when_the_limit_was_reached() {
    let chat = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n";
    let responses = "data: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n\n\
        data: {\"type\":\"response.incomplete\",\"response\":{\"status\":\"incomplete\",\"incomplete_details\":{\"reason\":\"max_output_tokens\"}}}\n\n";
    let anthropic = "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"a\"}}\n\n\
        data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"},\"usage\":{\"output_tokens\":1}}\n\n\
        data: {\"type\":\"message_stop\"}\n\n";
    let gemini = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]},\"finishReason\":\"MAX_TOKENS\"}]}\n\n";
    let ollama = "{\"message\":{\"content\":\"a\"},\"done\":true,\"done_reason\":\"length\"}\n";
    for (model, stream) in [
        ("openai/m", chat),
        ("openai-responses/m", responses),
        ("anthropic/m", anthropic),
        ("gemini/m", gemini),
        ("ollama/m", ollama),
    ] {
        let server = Server::new().streams(stream);
        let reply = ask(&mut live(model, &server.url()), &hello()).reply();
        assert_eq!(
            (reply.text.as_str(), reply.finish),
            ("a", Finish::Length),
            "{model}"
        );
    }
}

#[test]
fn every_language_says_when_the_model_declines() {
    let chat = "data: {\"choices\":[{\"index\":0,\"delta\":{\"refusal\":\"I'm sorry\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let filtered = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"content_filter\"}]}\n\ndata: [DONE]\n\n";
    let responses = "data: {\"type\":\"response.refusal.delta\",\"delta\":\"I'm sorry\"}\n\n\
        data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n";
    let anthropic = "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\"},\"usage\":{\"output_tokens\":1}}\n\n\
        data: {\"type\":\"message_stop\"}\n\n";
    let gemini = "data: {\"candidates\":[{\"finishReason\":\"PROHIBITED_CONTENT\",\"finishMessage\":\"I'm sorry\"}]}\n\n";
    for (model, stream, text) in [
        ("openai/m", chat, "I'm sorry"),
        ("azure/m", filtered, ""),
        ("openai-responses/m", responses, "I'm sorry"),
        ("anthropic/m", anthropic, ""),
        ("gemini/m", gemini, "I'm sorry"),
    ] {
        let server = Server::new().streams(stream);
        let reply = ask(&mut live(model, &server.url()), &hello()).reply();
        assert_eq!(
            (reply.text.as_str(), reply.finish),
            (text, Finish::Refusal),
            "{model}"
        );
    }
}

#[test]
fn a_server_that_answers_in_one_piece_is_understood() {
    let chat = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": "a",
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}]},
        "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 3, "completion_tokens": 1}});
    let responses = json!({"object": "response", "status": "completed", "output": [
        {"type": "message", "content": [{"type": "output_text", "text": "a"}]},
        {"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"}],
        "usage": {"input_tokens": 3, "output_tokens": 1}});
    let anthropic = json!({"type": "message", "stop_reason": "tool_use", "content": [
        {"type": "text", "text": "a"}, {"type": "tool_use", "id": "c", "name": "read", "input": {}}],
        "usage": {"input_tokens": 3, "output_tokens": 1}});
    let gemini = json!({"candidates": [{"content": {"parts": [{"text": "a"},
        {"functionCall": {"id": "c", "name": "read", "args": {}}}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 1}});
    for (model, body) in [
        ("openai/m", chat),
        ("openai-responses/m", responses),
        ("anthropic/m", anthropic),
        ("gemini/m", gemini),
    ] {
        let server = Server::new().says(200, "application/json", &body.to_string(), 9);
        let reply = ask(&mut live(model, &server.url()), &hello()).reply();
        assert_eq!(
            (reply.text.as_str(), reply.finish),
            ("a", Finish::ToolUse),
            "{model}"
        );
        assert_eq!(
            reply.tool_calls,
            [ToolCall {
                id: "c".into(),
                name: "read".into(),
                arguments: "{}".into(),
                signature: None
            }]
        );
        assert_eq!(
            (reply.usage.prompt, reply.usage.completion),
            (3, 1),
            "{model}"
        );
    }
}
