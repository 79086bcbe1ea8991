//! Who serves models: names, addresses, variables. The only place that knows them.

use serde::{Deserialize, Serialize};

/// A kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provider {
    /// Claude models.
    Anthropic,
    /// OpenAI through the chat completions API.
    OpenAi,
    /// OpenAI through the responses API.
    OpenAiResponses,
    /// Gemini models.
    Gemini,
    /// Ollama, usually on this machine.
    Ollama,
    /// Many models through one account.
    OpenRouter,
    /// OpenAI models in an Azure resource; models are named by deployment.
    Azure,
    /// LM Studio on this machine.
    LmStudio,
    /// Any server that speaks chat completions: vLLM, llama.cpp, SGLang and others.
    Compatible,
}

/// The language that a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Anthropic,
    Chat,
    Responses,
    Gemini,
    Ollama,
}

impl Provider {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 9] = [
        Self::Anthropic,
        Self::OpenAi,
        Self::OpenAiResponses,
        Self::Gemini,
        Self::OpenRouter,
        Self::Azure,
        Self::Ollama,
        Self::LmStudio,
        Self::Compatible,
    ];

    /// What stands before the `/` in the name of a model.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
            Self::OpenRouter => "openrouter",
            Self::Azure => "azure",
            Self::LmStudio => "lmstudio",
            Self::Compatible => "server",
        }
    }

    /// The environment variable with the key for the provider's own address.
    pub fn variable(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::OpenAi | Self::OpenAiResponses => Some("OPENAI_API_KEY"),
            Self::Gemini => Some("GEMINI_API_KEY"),
            Self::OpenRouter => Some("OPENROUTER_API_KEY"),
            Self::Azure => Some("AZURE_OPENAI_API_KEY"),
            Self::Ollama | Self::LmStudio => None,
            Self::Compatible => Some(BASE_URL_KEY),
        }
    }

    /// Whether the provider's own address takes nothing without a key.
    pub(crate) fn needs_key(self) -> bool {
        !matches!(self, Self::Ollama | Self::LmStudio | Self::Compatible)
    }

    /// The environment variable with the provider's address, where it is the user's.
    pub(crate) fn address_variable(self) -> Option<&'static str> {
        match self {
            Self::Azure => Some("AZURE_OPENAI_ENDPOINT"),
            Self::Ollama => Some("OLLAMA_HOST"),
            _ => None,
        }
    }

    /// The provider's own address.
    pub(crate) fn address(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("https://api.anthropic.com/v1"),
            Self::OpenAi | Self::OpenAiResponses => Some("https://api.openai.com/v1"),
            Self::Gemini => Some("https://generativelanguage.googleapis.com/v1beta"),
            Self::OpenRouter => Some("https://openrouter.ai/api/v1"),
            Self::Ollama => Some("http://127.0.0.1:11434"),
            Self::LmStudio => Some("http://127.0.0.1:1234/v1"),
            Self::Azure | Self::Compatible => None,
        }
    }

    /// The path that is added to an address which has none.
    pub(crate) fn usual_path(self) -> &'static str {
        match self.language() {
            Language::Gemini => "/v1beta",
            Language::Ollama => "",
            _ if self == Self::Azure => "/openai/v1",
            _ => "/v1",
        }
    }

    pub(crate) fn language(self) -> Language {
        match self {
            Self::Anthropic => Language::Anthropic,
            Self::OpenAiResponses => Language::Responses,
            Self::Gemini => Language::Gemini,
            Self::Ollama => Language::Ollama,
            Self::OpenAi | Self::OpenRouter | Self::Azure | Self::LmStudio | Self::Compatible => {
                Language::Chat
            }
        }
    }

    /// Header and value that carry a key.
    pub(crate) fn credential(self, key: &str) -> (&'static str, String) {
        match self {
            Self::Anthropic => ("x-api-key", key.to_owned()),
            Self::Gemini => ("x-goog-api-key", key.to_owned()),
            Self::Azure => ("api-key", key.to_owned()),
            _ => ("authorization", format!("Bearer {key}")),
        }
    }

    /// Whether it knows `max_completion_tokens`, which newer models of OpenAI insist on.
    pub(crate) fn says_completion_tokens(self) -> bool {
        matches!(self, Self::OpenAi | Self::Azure)
    }
}

/// The variable with the key for an address that the user gives.
pub(crate) const BASE_URL_KEY: &str = "NDBG_API_KEY";
