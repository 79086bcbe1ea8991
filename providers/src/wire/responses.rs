//! OpenAI's responses API.

use super::{Call, held, instructions, set_options};
use crate::answer::{Answer, Trouble, count, json_text, parse, text};
use crate::model::Model;
use crate::offer::{Offer, Without};
use crate::reply::{Finish, Usage};
use crate::request::{Message, Request, ToolCall};
use crate::schema::is_strict;
use serde_json::{Value, json};

pub(super) fn call(model: &Model, request: &Request, without: &Without) -> Call {
    let input: Vec<Value> = request.messages.iter().flat_map(items).collect();
    let mut body = json!({
        "model": model.name,
        "input": input,
        "stream": !without.contains(&Offer::Stream),
        // Nothing of the user's stays with the provider longer than it must.
        "store": false,
        "max_output_tokens": request.max_tokens,
    });
    let system = instructions(request, without);
    if !system.is_empty() {
        body["instructions"] = json!(system);
    }
    set_options(&mut body, request, without, "temperature", None);
    if let Some(schema) = held(request, without) {
        body["text"] = json!({"format": {
            "type": "json_schema",
            "name": schema.name,
            "schema": schema.schema,
            "strict": is_strict(&schema.schema),
        }});
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({"type": "function", "name": tool.name, "description": tool.description,
                "parameters": tool.parameters, "strict": false})
        });
        body["tools"] = tools.collect();
    }
    Call {
        path: "/responses".to_owned(),
        headers: Vec::new(),
        body,
    }
}

fn items(message: &Message) -> Vec<Value> {
    match message {
        Message::User { text } => vec![json!({"role": "user", "content": text})],
        Message::Assistant { text, calls } => {
            let said = (!text.is_empty()).then(|| json!({"role": "assistant", "content": text}));
            let calls = calls.iter().map(|call| {
                json!({"type": "function_call", "call_id": call.id, "name": call.name,
                    "arguments": call.object().to_string()})
            });
            said.into_iter().chain(calls).collect()
        }
        Message::Tool { id, text, .. } => {
            vec![json!({"type": "function_call_output", "call_id": id, "output": text})]
        }
    }
}

pub(super) fn read(data: &str, answer: &mut Answer) -> Result<(), Trouble> {
    if data.trim() == "[DONE]" {
        answer.ended = true;
        return Ok(());
    }
    let value = parse(data)?;
    let delta = text(&value, "/delta").unwrap_or_default();
    match text(&value, "/type").unwrap_or_default() {
        "response.output_text.delta" => answer.text.push_str(delta),
        "response.refusal.delta" => answer.refusal.push_str(delta),
        "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
            answer.thinking.push_str(delta);
        }
        "response.output_item.done" => {
            if let Some(call) = value.get("item").and_then(function_call) {
                answer.calls.push(call);
            }
        }
        "response.completed" | "response.incomplete" | "response.failed" => {
            let response = value.get("response").cloned().unwrap_or_default();
            return whole(&response, answer);
        }
        "error" => return Err(Trouble::Server(value)),
        "" if text(&value, "/object") == Some("response") => return whole(&value, answer),
        "" if value.get("error").is_some() => return Err(Trouble::Server(value)),
        "" => return Err(Trouble::Malformed("an event has no type".to_owned())),
        _ => {}
    }
    Ok(())
}

/// The response object that ends a stream, or is all that comes.
fn whole(response: &Value, answer: &mut Answer) -> Result<(), Trouble> {
    if text(response, "/status") == Some("failed") {
        return Err(Trouble::Server(response.clone()));
    }
    if answer.text.is_empty() && answer.calls.is_empty() && answer.refusal.is_empty() {
        let output = response.get("output").and_then(Value::as_array);
        for item in output.into_iter().flatten() {
            answer.calls.extend(function_call(item));
            let parts = item.get("content").and_then(Value::as_array);
            for part in parts.into_iter().flatten() {
                if text(item, "/type") == Some("message") {
                    answer
                        .text
                        .push_str(text(part, "/text").unwrap_or_default());
                    answer
                        .refusal
                        .push_str(text(part, "/refusal").unwrap_or_default());
                }
            }
        }
    }
    if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
        answer.usage = Some(Usage {
            prompt: count(usage, "/input_tokens"),
            completion: count(usage, "/output_tokens"),
            cached: count(usage, "/input_tokens_details/cached_tokens"),
            ..Usage::default()
        });
    }
    answer.finish = Some(match text(response, "/incomplete_details/reason") {
        Some("content_filter") => Finish::Refusal,
        Some(_) => Finish::Length,
        None if text(response, "/status") == Some("incomplete") => Finish::Length,
        None => Finish::Stop,
    });
    answer.ended = true;
    Ok(())
}

fn function_call(item: &Value) -> Option<ToolCall> {
    (text(item, "/type") == Some("function_call")).then(|| ToolCall {
        id: text(item, "/call_id").unwrap_or_default().to_owned(),
        name: text(item, "/name").unwrap_or_default().to_owned(),
        arguments: item.get("arguments").map(json_text).unwrap_or_default(),
        signature: None,
    })
}
