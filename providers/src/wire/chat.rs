//! OpenAI's chat completions, which most servers speak.

use super::{Call, held, instructions, set_options};
use crate::answer::{Answer, Trouble, count, json_text, parse, text};
use crate::model::Model;
use crate::offer::{Offer, Without};
use crate::provider::Provider;
use crate::reply::{Finish, Usage};
use crate::request::{Message, Request};
use crate::schema::is_strict;
use serde_json::{Value, json};

pub(super) fn call(model: &Model, request: &Request, without: &Without) -> Call {
    let mut messages = Vec::new();
    let system = instructions(request, without);
    if !system.is_empty() {
        // Claude models behind OpenRouter cache what is marked; others do so by themselves.
        let marked = model.provider == Provider::OpenRouter
            && model.name.starts_with("anthropic/")
            && !without.contains(&Offer::Cache);
        let content = if marked {
            json!([{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}])
        } else {
            json!(system)
        };
        messages.push(json!({"role": "system", "content": content}));
    }
    messages.extend(request.messages.iter().map(message));
    let stream = !without.contains(&Offer::Stream);
    let mut body = json!({"messages": messages, "stream": stream});
    if !model.name.is_empty() {
        body["model"] = json!(model.name);
    }
    if stream && !without.contains(&Offer::StreamUsage) {
        body["stream_options"] = json!({"include_usage": true});
    }
    let other = without.contains(&Offer::MaxTokens);
    let limit = if model.provider.says_completion_tokens() == other {
        "max_tokens"
    } else {
        "max_completion_tokens"
    };
    body[limit] = request.max_tokens.into();
    set_options(&mut body, request, without, "temperature", Some("seed"));
    if let Some(schema) = held(request, without) {
        body["response_format"] = json!({"type": "json_schema", "json_schema": {
            "name": schema.name,
            "schema": schema.schema,
            "strict": is_strict(&schema.schema),
        }});
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({"type": "function", "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            }})
        });
        body["tools"] = tools.collect();
    }
    Call {
        path: "/chat/completions".to_owned(),
        headers: Vec::new(),
        body,
    }
}

fn message(message: &Message) -> Value {
    match message {
        Message::User { text } => json!({"role": "user", "content": text}),
        Message::Assistant { text, calls } if calls.is_empty() => {
            json!({"role": "assistant", "content": text})
        }
        Message::Assistant { text, calls } => {
            let calls: Vec<Value> = calls
                .iter()
                .map(|call| {
                    // Servers reject a history whose arguments are no JSON, even their own model's.
                    let arguments = call.object().to_string();
                    json!({"id": call.id, "type": "function",
                        "function": {"name": call.name, "arguments": arguments}})
                })
                .collect();
            let content = if text.is_empty() {
                Value::Null
            } else {
                json!(text)
            };
            json!({"role": "assistant", "content": content, "tool_calls": calls})
        }
        Message::Tool { id, text, .. } => {
            json!({"role": "tool", "tool_call_id": id, "content": text})
        }
    }
}

pub(super) fn read(data: &str, answer: &mut Answer) -> Result<(), Trouble> {
    if data.trim() == "[DONE]" {
        answer.ended = true;
        return Ok(());
    }
    let value = parse(data)?;
    if value.get("error").is_some_and(|error| !error.is_null()) {
        return Err(Trouble::Server(value));
    }
    if let Some(usage) = value.get("usage").filter(|usage| usage.is_object()) {
        answer.usage = Some(Usage {
            prompt: count(usage, "/prompt_tokens"),
            completion: count(usage, "/completion_tokens"),
            cached: count(usage, "/prompt_tokens_details/cached_tokens"),
            cost: usage.get("cost").and_then(Value::as_f64),
            ..Usage::default()
        });
    }
    let Some(choice) = value.pointer("/choices/0") else {
        return if value.is_object() {
            Ok(())
        } else {
            Err(Trouble::Malformed(format!("an event is `{value}`")))
        };
    };
    // A server that does not stream sends the whole message under another name.
    let delta = choice.get("delta").or_else(|| choice.get("message"));
    if let Some(delta) = delta {
        match delta.get("content") {
            Some(Value::String(piece)) => answer.text.push_str(piece),
            Some(Value::Array(pieces)) => {
                for piece in pieces.iter().filter_map(|piece| text(piece, "/text")) {
                    answer.text.push_str(piece);
                }
            }
            _ => {}
        }
        let thinking = text(delta, "/reasoning_content").or_else(|| text(delta, "/reasoning"));
        answer.thinking.push_str(thinking.unwrap_or_default());
        answer
            .refusal
            .push_str(text(delta, "/refusal").unwrap_or_default());
        let calls = delta.get("tool_calls").and_then(Value::as_array);
        for (position, piece) in calls.into_iter().flatten().enumerate() {
            let index = piece.get("index").and_then(Value::as_u64);
            let index = index.map_or(position, |index| index as usize);
            let Some(call) = answer.call(index) else {
                return Err(Trouble::Malformed(format!("a call has the index {index}")));
            };
            if let Some(id) = text(piece, "/id").filter(|id| !id.is_empty()) {
                id.clone_into(&mut call.id);
            }
            call.name
                .push_str(text(piece, "/function/name").unwrap_or_default());
            if let Some(arguments) = piece.pointer("/function/arguments") {
                call.arguments.push_str(&json_text(arguments));
            }
        }
    }
    match text(choice, "/finish_reason") {
        None => {}
        Some("length" | "max_tokens") => answer.finish = Some(Finish::Length),
        Some("tool_calls" | "function_call") => answer.finish = Some(Finish::ToolUse),
        Some("content_filter") => answer.finish = Some(Finish::Refusal),
        Some("error") => return Err(Trouble::Server(choice.clone())),
        Some(_) => answer.finish = Some(Finish::Stop),
    }
    Ok(())
}
