//! Google's Gemini API.

use super::{Call, held, instructions, set_options};
use crate::answer::{Answer, Trouble, count, parse, text};
use crate::model::Model;
use crate::offer::{Offer, Without};
use crate::reply::{Finish, Usage};
use crate::request::{Message, Request, ToolCall};
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(super) fn call(model: &Model, request: &Request, without: &Without) -> Call {
    let mut config = json!({"maxOutputTokens": request.max_tokens});
    set_options(&mut config, request, without, "temperature", Some("seed"));
    if let Some(schema) = held(request, without) {
        config["responseMimeType"] = json!("application/json");
        config["responseJsonSchema"] = schema.schema.clone();
    }
    let mut body = json!({
        "contents": contents(&request.messages),
        "generationConfig": config,
    });
    let system = instructions(request, without);
    if !system.is_empty() {
        body["systemInstruction"] = json!({"parts": [{"text": system}]});
    }
    if !request.tools.is_empty() {
        let declarations: Vec<Value> = request
            .tools
            .iter()
            .map(|tool| {
                json!({"name": tool.name, "description": tool.description,
                    "parametersJsonSchema": tool.parameters})
            })
            .collect();
        body["tools"] = json!([{"functionDeclarations": declarations}]);
    }
    let method = if without.contains(&Offer::Stream) {
        "generateContent"
    } else {
        "streamGenerateContent?alt=sse"
    };
    let name = model.name.strip_prefix("models/").unwrap_or(&model.name);
    Call {
        path: format!("/models/{}:{method}", escaped(name)),
        headers: Vec::new(),
        body,
    }
}

/// A name inside a path: what would end the path or begin a query is escaped.
fn escaped(name: &str) -> String {
    name.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

/// Messages as turns that alternate; results of functions belong to the user's.
fn contents(messages: &[Message]) -> Vec<Value> {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, parts) = match message {
            Message::User { text } => ("user", vec![json!({"text": text})]),
            Message::Assistant { text, calls } => {
                let said = (!text.is_empty()).then(|| json!({"text": text}));
                let calls = calls.iter().map(|call| {
                    let mut part = json!({"functionCall":
                        {"id": call.id, "name": call.name, "args": call.object()}});
                    if let Some(signature) = &call.signature {
                        part["thoughtSignature"] = json!(signature);
                    }
                    part
                });
                ("model", said.into_iter().chain(calls).collect())
            }
            Message::Tool { id, name, text } => (
                "user",
                vec![json!({"functionResponse":
                    {"id": id, "name": name, "response": {"result": text}}})],
            ),
        };
        match turns.last_mut() {
            Some((last, before)) if *last == role => before.extend(parts),
            _ => turns.push((role, parts)),
        }
    }
    turns
        .into_iter()
        .map(|(role, parts)| json!({"role": role, "parts": parts}))
        .collect()
}

pub(super) fn read(data: &str, answer: &mut Answer) -> Result<(), Trouble> {
    let value = parse(data)?;
    if value.get("error").is_some() {
        return Err(Trouble::Server(value));
    }
    if let Some(reason) = text(&value, "/promptFeedback/blockReason") {
        return Err(Trouble::Blocked(reason.to_owned()));
    }
    if let Some(usage) = value.get("usageMetadata") {
        answer.usage = Some(Usage {
            prompt: count(usage, "/promptTokenCount") + count(usage, "/toolUsePromptTokenCount"),
            completion: count(usage, "/candidatesTokenCount") + count(usage, "/thoughtsTokenCount"),
            cached: count(usage, "/cachedContentTokenCount"),
            ..Usage::default()
        });
    }
    let Some(candidate) = value.pointer("/candidates/0") else {
        return Ok(());
    };
    let parts = candidate
        .pointer("/content/parts")
        .and_then(Value::as_array);
    for part in parts.into_iter().flatten() {
        let piece = text(part, "/text").unwrap_or_default();
        if part.get("thought") == Some(&Value::Bool(true)) {
            answer.thinking.push_str(piece);
        } else {
            answer.text.push_str(piece);
        }
        if let Some(call) = part.get("functionCall") {
            let number = answer.calls.len();
            answer.calls.push(ToolCall {
                id: text(call, "/id").map_or_else(|| format!("call_{number}"), str::to_owned),
                name: text(call, "/name").unwrap_or_default().to_owned(),
                arguments: call
                    .get("args")
                    .map_or_else(|| "{}".to_owned(), Value::to_string),
                signature: text(part, "/thoughtSignature").map(str::to_owned),
            });
        }
    }
    match text(candidate, "/finishReason") {
        None | Some("FINISH_REASON_UNSPECIFIED") => {}
        Some("STOP") => answer.finish = Some(Finish::Stop),
        Some("MAX_TOKENS") => answer.finish = Some(Finish::Length),
        Some(reason @ ("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL")) => {
            return Err(Trouble::Malformed(format!(
                "the model's call is unusable, `{reason}`"
            )));
        }
        // Safety, recitation, block lists, personal data: all are refusals of the service.
        Some(reason) => {
            let detail = text(candidate, "/finishMessage").unwrap_or(reason);
            detail.clone_into(&mut answer.refusal);
            answer.finish = Some(Finish::Refusal);
        }
    }
    Ok(())
}
