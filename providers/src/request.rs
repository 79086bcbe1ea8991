//! What is asked of a model, independent of the provider.

use crate::schema::{Schema, canonical};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// One request: instructions, a conversation and how to answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Instructions that stand before the conversation; empty for none.
    pub system: String,
    /// The conversation, oldest first; the last message is not the assistant's.
    pub messages: Vec<Message>,
    /// The JSON that the reply's text must be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Schema>,
    /// Functions that the model may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    /// The most tokens that may be generated, those of thinking included.
    pub max_tokens: u32,
    /// Sampling temperature; `None` leaves it to the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Sampling seed, where the provider has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "kebab-case")]
pub enum Message {
    /// What the caller says.
    User {
        /// The message.
        text: String,
    },
    /// What the model said.
    Assistant {
        /// The message; may be empty beside calls.
        text: String,
        /// Functions that it called, each of which the next messages must answer.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
    },
    /// What a function gave.
    Tool {
        /// [`ToolCall::id`] of the call that this answers.
        id: String,
        /// [`ToolCall::name`] of the call that this answers.
        name: String,
        /// The result.
        text: String,
    },
}

/// A function that the model may call; the caller runs it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Letters, digits, `_` and `-`; 64 at most.
    pub name: String,
    /// What it does and when to call it.
    pub description: String,
    /// JSON Schema of the arguments: an object.
    pub parameters: Value,
}

/// A call that the model asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's name for this call, or `call_N` where it gives none.
    pub id: String,
    /// The function.
    pub name: String,
    /// JSON text of the arguments as the model wrote it; may be cut off or invalid.
    pub arguments: String,
    /// Opaque bytes that Gemini wants back with the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

impl Message {
    /// A message of the caller.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into() }
    }

    /// A message of the model without calls.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant {
            text: text.into(),
            calls: Vec::new(),
        }
    }

    /// Who speaks: `user`, `assistant` or `tool`.
    pub fn role(&self) -> &'static str {
        match self {
            Self::User { .. } => "user",
            Self::Assistant { .. } => "assistant",
            Self::Tool { .. } => "tool",
        }
    }

    /// What is said.
    pub fn text(&self) -> &str {
        match self {
            Self::User { text } | Self::Assistant { text, .. } | Self::Tool { text, .. } => text,
        }
    }
}

impl ToolCall {
    /// The arguments as an object; empty when the text is none.
    pub(crate) fn object(&self) -> Value {
        match serde_json::from_str(&self.arguments) {
            Ok(Value::Object(object)) => Value::Object(object),
            _ => Value::Object(serde_json::Map::new()),
        }
    }
}

impl Request {
    /// A request of one user message.
    pub fn new(system: impl Into<String>, text: impl Into<String>, max_tokens: u32) -> Self {
        Self {
            system: system.into(),
            messages: vec![Message::user(text)],
            schema: None,
            tools: Vec::new(),
            max_tokens,
            temperature: None,
            seed: None,
        }
    }

    /// SHA-256 of the request's canonical JSON (keys sorted), 64 hexadecimal digits.
    pub fn hash(&self) -> String {
        let value = serde_json::to_value(self).unwrap_or_default();
        let digest = Sha256::digest(canonical(&value).as_bytes());
        digest.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// Tokens that the prompt will take, estimated upwards: see [`estimate_tokens`].
    pub fn prompt_estimate(&self) -> u64 {
        let json = |value: &Value| value.to_string().len();
        let messages: usize = self
            .messages
            .iter()
            .map(|message| {
                let calls = match message {
                    Message::Assistant { calls, .. } => calls
                        .iter()
                        .map(|call| call.name.len() + call.arguments.len() + 24)
                        .sum(),
                    _ => 0,
                };
                message.text().len() + calls
            })
            .sum();
        let tools: usize = self
            .tools
            .iter()
            .map(|tool| tool.name.len() + tool.description.len() + json(&tool.parameters))
            .sum();
        let schema = self.schema.as_ref().map_or(0, |s| json(&s.schema));
        // Templates put a handful of tokens around each message.
        let frames = 8 * (self.messages.len() as u64 + 2);
        estimate_tokens(self.system.len() + messages + tools + schema) + frames
    }
}

/// Tokens in so many bytes of text: bytes / 3.2, rounded up. English and source code have 3.5 to 4.5
/// bytes a token in today's vocabularies, so this errs upwards by a tenth to a third; text in scripts
/// of three bytes a letter comes out about right. Long runs of digits or base64 can exceed it.
pub fn estimate_tokens(bytes: usize) -> u64 {
    (bytes as u64 * 10).div_ceil(32)
}
