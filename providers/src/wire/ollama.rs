//! Ollama's own chat API, which unlike its copy of OpenAI's lets one set the size of the context.

use super::{Call, held, instructions, set_options};
use crate::answer::{Answer, Trouble, count, json_text, parse, text};
use crate::model::Model;
use crate::offer::{Offer, Without};
use crate::reply::{Finish, Usage};
use crate::request::{Message, Request};
use serde_json::{Value, json};

pub(super) fn call(model: &Model, request: &Request, without: &Without) -> Call {
    let mut options = json!({
        "num_predict": request.max_tokens,
        "num_ctx": context(request),
    });
    set_options(&mut options, request, without, "temperature", Some("seed"));
    let system = instructions(request, without);
    let system = (!system.is_empty()).then(|| json!({"role": "system", "content": system}));
    let messages: Vec<Value> = system
        .into_iter()
        .chain(request.messages.iter().map(message))
        .collect();
    let mut body = json!({
        "model": model.name,
        "messages": messages,
        "options": options,
        "stream": !without.contains(&Offer::Stream),
    });
    if let Some(schema) = held(request, without) {
        body["format"] = schema.schema.clone();
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({"type": "function", "function": {"name": tool.name,
                "description": tool.description, "parameters": tool.parameters}})
        });
        body["tools"] = tools.collect();
    }
    Call {
        path: "/api/chat".to_owned(),
        headers: Vec::new(),
        body,
    }
}

/// Tokens of context to ask for. The server's default is small and what does not fit is dropped from
/// the front without a word; each new size loads the model again, so there are few of them.
fn context(request: &Request) -> u64 {
    (request.prompt_estimate() + u64::from(request.max_tokens))
        .next_power_of_two()
        .max(8192)
}

fn message(message: &Message) -> Value {
    match message {
        Message::User { text } => json!({"role": "user", "content": text}),
        Message::Assistant { text, calls } => {
            let mut message = json!({"role": "assistant", "content": text});
            if !calls.is_empty() {
                let calls = calls.iter().map(
                    |call| json!({"function": {"name": call.name, "arguments": call.object()}}),
                );
                message["tool_calls"] = calls.collect();
            }
            message
        }
        Message::Tool { name, text, .. } => {
            json!({"role": "tool", "tool_name": name, "content": text})
        }
    }
}

pub(super) fn read(data: &str, answer: &mut Answer) -> Result<(), Trouble> {
    let value = parse(data)?;
    if value.get("error").is_some() {
        return Err(Trouble::Server(value));
    }
    if value.get("message").is_none() && value.get("done").is_none() {
        return Err(Trouble::Malformed("a line is no part of a chat".to_owned()));
    }
    answer
        .text
        .push_str(text(&value, "/message/content").unwrap_or_default());
    answer
        .thinking
        .push_str(text(&value, "/message/thinking").unwrap_or_default());
    let calls = value
        .pointer("/message/tool_calls")
        .and_then(Value::as_array);
    for piece in calls.into_iter().flatten() {
        if let Some(call) = answer.call(answer.calls.len()) {
            text(piece, "/function/name")
                .unwrap_or_default()
                .clone_into(&mut call.name);
            call.arguments = piece
                .pointer("/function/arguments")
                .map(json_text)
                .unwrap_or_default();
            if let Some(id) = text(piece, "/id") {
                id.clone_into(&mut call.id);
            }
        }
    }
    if value.get("done") == Some(&Value::Bool(true)) {
        answer.ended = true;
        answer.finish = Some(match text(&value, "/done_reason") {
            Some("length") => Finish::Length,
            _ => Finish::Stop,
        });
        if value.get("eval_count").is_some() {
            answer.usage = Some(Usage {
                prompt: count(&value, "/prompt_eval_count"),
                completion: count(&value, "/eval_count"),
                cached: count(&value, "/prompt_eval_cached_count"),
                ..Usage::default()
            });
        }
    }
    Ok(())
}
