//! An answer as it grows, whatever language it comes in.

use crate::reply::{Finish, Usage};
use crate::request::ToolCall;
use serde_json::Value;

/// What has come so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Answer {
    pub text: String,
    pub thinking: String,
    /// The reason given for declining.
    pub refusal: String,
    pub calls: Vec<ToolCall>,
    pub usage: Option<Usage>,
    /// Set once the server says why it ended; an answer without it is cut off.
    pub finish: Option<Finish>,
    /// Nothing follows.
    pub ended: bool,
}

/// Why an event does not add to the answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Trouble {
    /// It is not of the language.
    Malformed(String),
    /// The server reports an error.
    Server(Value),
    /// The prompt was declined.
    Blocked(String),
}

impl Answer {
    /// Whether anything of the answer has come.
    pub fn has_begun(&self) -> bool {
        !(self.text.is_empty()
            && self.thinking.is_empty()
            && self.refusal.is_empty()
            && self.calls.is_empty())
    }

    /// The call at a position, which servers count from 0; made if new.
    pub fn call(&mut self, index: usize) -> Option<&mut ToolCall> {
        // A server that counts from nowhere must not make us reserve memory.
        if index > 512 {
            return None;
        }
        while self.calls.len() <= index {
            self.calls.push(ToolCall {
                id: format!("call_{}", self.calls.len()),
                name: String::new(),
                arguments: String::new(),
                signature: None,
            });
        }
        self.calls.get_mut(index)
    }

    /// Text and reason once it is complete: a refusal shows its own text, and calls count as calls
    /// even where the server says that it simply stopped.
    pub fn settled(&self) -> (String, Finish) {
        let finish = self.finish.unwrap_or(Finish::Length);
        let refused = finish == Finish::Refusal || !self.refusal.is_empty();
        if refused {
            let text = if self.text.is_empty() {
                &self.refusal
            } else {
                &self.text
            };
            return (text.clone(), Finish::Refusal);
        }
        if finish == Finish::Stop && !self.calls.is_empty() {
            return (self.text.clone(), Finish::ToolUse);
        }
        (self.text.clone(), finish)
    }
}

/// JSON of an event.
pub(crate) fn parse(data: &str) -> Result<Value, Trouble> {
    serde_json::from_str(data).map_err(|error| {
        let start: String = data.chars().take(80).collect();
        Trouble::Malformed(format!("{error} in `{start}`"))
    })
}

/// A count at a path, 0 where there is none.
pub(crate) fn count(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

/// Text at a path, if it is text.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str)
}

/// JSON text of a value that servers send as text or as JSON.
pub(crate) fn json_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
