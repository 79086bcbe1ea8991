//! Anthropic's messages API.

use super::{Call, held, instructions, set_options};
use crate::answer::{Answer, Trouble, count, parse, text};
use crate::model::Model;
use crate::offer::{Offer, Without};
use crate::reply::Finish;
use crate::request::{Message, Request, ToolCall};
use crate::schema::closed;
use serde_json::{Value, json};

pub(super) fn call(model: &Model, request: &Request, without: &Without) -> Call {
    let mut messages = turns(&request.messages);
    let cached = !without.contains(&Offer::Cache);
    if cached && let Some(block) = messages.last_mut().and_then(last_block) {
        // The next request of a conversation begins with all of this one.
        block["cache_control"] = json!({"type": "ephemeral"});
    }
    let mut body = json!({
        "model": model.name,
        "max_tokens": request.max_tokens,
        "messages": messages,
        "stream": !without.contains(&Offer::Stream),
    });
    let system = instructions(request, without);
    if !system.is_empty() {
        let mut block = json!({"type": "text", "text": system});
        if cached {
            block["cache_control"] = json!({"type": "ephemeral"});
        }
        body["system"] = json!([block]);
    }
    set_options(&mut body, request, without, "temperature", None);
    if let Some(schema) = held(request, without) {
        let schema = closed(&schema.schema);
        body["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({"name": tool.name, "description": tool.description,
                "input_schema": tool.parameters})
        });
        body["tools"] = tools.collect();
    }
    Call {
        path: "/messages".to_owned(),
        headers: vec![("anthropic-version", "2023-06-01")],
        body,
    }
}

/// Messages as turns that alternate: results of tools belong to the user's turn, all in one, or the
/// server misses them.
fn turns(messages: &[Message]) -> Vec<Value> {
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, blocks) = match message {
            Message::User { text } => ("user", vec![json!({"type": "text", "text": text})]),
            Message::Assistant { text, calls } => {
                // The server takes no empty text.
                let said = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
                let calls = calls.iter().map(|call| {
                    json!({"type": "tool_use", "id": call.id, "name": call.name,
                        "input": call.object()})
                });
                ("assistant", said.into_iter().chain(calls).collect())
            }
            Message::Tool { id, text, .. } => (
                "user",
                vec![json!({"type": "tool_result", "tool_use_id": id, "content": text})],
            ),
        };
        match turns.last_mut() {
            Some((last, before)) if *last == role => before.extend(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    turns
        .into_iter()
        .filter(|(_, content)| !content.is_empty())
        .map(|(role, content)| json!({"role": role, "content": content}))
        .collect()
}

fn last_block(message: &mut Value) -> Option<&mut Value> {
    message.get_mut("content")?.as_array_mut()?.last_mut()
}

pub(super) fn read(data: &str, answer: &mut Answer) -> Result<(), Trouble> {
    let value = parse(data)?;
    match text(&value, "/type").unwrap_or_default() {
        "message_start" => {
            if let Some(usage) = value.pointer("/message/usage") {
                count_tokens(usage, answer);
            }
        }
        "content_block_start" => {
            if let Some(block) = value.get("content_block") {
                start(block, answer);
            }
        }
        "content_block_delta" => {
            let delta = value.get("delta").unwrap_or(&Value::Null);
            answer
                .text
                .push_str(text(delta, "/text").unwrap_or_default());
            answer
                .thinking
                .push_str(text(delta, "/thinking").unwrap_or_default());
            // Blocks come one after the other, so a piece belongs to the last one begun.
            if let (Some(piece), Some(call)) =
                (text(delta, "/partial_json"), answer.calls.last_mut())
            {
                call.arguments.push_str(piece);
            }
        }
        "message_delta" => {
            if let Some(usage) = value.get("usage") {
                count_tokens(usage, answer);
            }
            if let Some(reason) = text(&value, "/delta/stop_reason") {
                answer.finish = Some(finish(reason));
            }
        }
        "message_stop" => {
            answer.ended = true;
            for call in answer
                .calls
                .iter_mut()
                .filter(|call| call.arguments.is_empty())
            {
                "{}".clone_into(&mut call.arguments);
            }
        }
        "message" => {
            for block in value
                .get("content")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
            {
                start(block, answer);
                if let (Some(input), Some(call)) = (block.get("input"), answer.calls.last_mut()) {
                    call.arguments = input.to_string();
                }
            }
            if let Some(usage) = value.get("usage") {
                count_tokens(usage, answer);
            }
            answer.finish = text(&value, "/stop_reason").map(finish);
            answer.ended = true;
        }
        "error" => return Err(Trouble::Server(value)),
        "" => return Err(Trouble::Malformed("an event has no type".to_owned())),
        _ => {}
    }
    Ok(())
}

fn start(block: &Value, answer: &mut Answer) {
    match text(block, "/type") {
        Some("text") => answer
            .text
            .push_str(text(block, "/text").unwrap_or_default()),
        Some("thinking") => {
            answer
                .thinking
                .push_str(text(block, "/thinking").unwrap_or_default());
        }
        Some("tool_use") => answer.calls.push(ToolCall {
            id: text(block, "/id").unwrap_or_default().to_owned(),
            name: text(block, "/name").unwrap_or_default().to_owned(),
            arguments: String::new(),
            signature: None,
        }),
        _ => {}
    }
}

fn finish(reason: &str) -> Finish {
    match reason {
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "tool_use" => Finish::ToolUse,
        "refusal" => Finish::Refusal,
        _ => Finish::Stop,
    }
}

/// Counts come at the start and, grown, at the end; `input_tokens` leaves out what the cache holds.
fn count_tokens(usage: &Value, answer: &mut Answer) {
    let known = answer.usage.get_or_insert_default();
    let cached = count(usage, "/cache_read_input_tokens").max(known.cached);
    let written = count(usage, "/cache_creation_input_tokens").max(known.cache_written);
    let fresh = known.prompt - known.cached - known.cache_written;
    let fresh = count(usage, "/input_tokens").max(fresh);
    known.cached = cached;
    known.cache_written = written;
    known.prompt = fresh + cached + written;
    known.completion = count(usage, "/output_tokens").max(known.completion);
}
