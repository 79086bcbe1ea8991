//! Every way in which a call can end without a reply, and what to do about each.

use serde::{Deserialize, Serialize};

/// Why there is no reply. Messages hold no secrets: see [`crate::redact`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Failure {
    /// The name of a model, or its base URL, cannot be read.
    #[error("`{name}` names no model: {message}")]
    BadName {
        /// What was given.
        name: String,
        /// What is wrong with it.
        message: String,
    },
    /// No key where one is needed.
    #[error("no key for `{provider}`: {} is not set", either(variables))]
    NoKey {
        /// Whose key is missing.
        provider: String,
        /// Environment variables, any of which would do.
        variables: Vec<String>,
    },
    /// The file with keys, or with certificates, cannot be used.
    #[error("`{path}` cannot be used: {message}")]
    BadFile {
        /// The file.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// The provider does not accept the key, or not for this.
    #[error("`{provider}` does not accept the key: {message}")]
    WrongKey {
        /// Who said so.
        provider: String,
        /// What the provider said.
        message: String,
    },
    /// No connection.
    #[error("cannot reach `{host}`: {message}")]
    NoNetwork {
        /// Host, and port if it is not the usual one.
        host: String,
        /// What failed: the name, the connection, TLS, the proxy.
        message: String,
    },
    /// The provider has no such model.
    #[error("`{provider}` has no model `{model}`{}", offers(near))]
    UnknownModel {
        /// Who said so.
        provider: String,
        /// The name that was asked for.
        model: String,
        /// Names that the server lists and that come close, nearest first.
        near: Vec<String>,
    },
    /// Too many requests, and waiting for longer than allowed would not have helped.
    #[error("`{provider}` limits the rate: {message}")]
    RateLimited {
        /// Who said so.
        provider: String,
        /// Seconds after which it may go on, where the server says so.
        retry_after: Option<u64>,
        /// What the provider said.
        message: String,
    },
    /// The server cannot answer now.
    #[error("`{provider}` cannot answer now: {message}")]
    Overloaded {
        /// Who said so.
        provider: String,
        /// HTTP status; 0 where the error came inside a stream.
        status: u16,
        /// What the provider said.
        message: String,
    },
    /// Prompt and reply do not fit the model's context.
    #[error("the request does not fit the context of the model{}: {message}", of(*limit))]
    ContextOverflow {
        /// Tokens that fit, where the server says so.
        limit: Option<u64>,
        /// What the provider said.
        message: String,
    },
    /// The prompt was declined before anything was generated.
    #[error("`{provider}` declined the prompt: {message}")]
    Refused {
        /// Who said so.
        provider: String,
        /// What the provider said.
        message: String,
    },
    /// The connection stood, but nothing came.
    #[error("no answer for {seconds} s")]
    Stalled {
        /// How long nothing came.
        seconds: u64,
    },
    /// The call took longer than it may.
    #[error("no complete reply within {seconds} s")]
    TimedOut {
        /// How long the call may take.
        seconds: u64,
    },
    /// The stream ended before the reply did.
    #[error("the reply broke off after {received} bytes")]
    Truncated {
        /// Bytes of the body that had come.
        received: u64,
    },
    /// The server's answer is not of its own format.
    #[error("the answer cannot be read: {message}")]
    Malformed {
        /// What was found.
        message: String,
    },
    /// The server does not understand the request.
    #[error("`{provider}` rejects the request ({status}): {message}")]
    BadRequest {
        /// Who said so.
        provider: String,
        /// HTTP status; 0 where the error came inside a stream.
        status: u16,
        /// What the provider said.
        message: String,
    },
    /// The account has nothing left.
    #[error("the account with `{provider}` is used up: {message}")]
    QuotaExhausted {
        /// Who said so.
        provider: String,
        /// What the provider said.
        message: String,
    },
    /// The caller said stop.
    #[error("cancelled")]
    Cancelled,
    /// A recording does not hold this request.
    #[error("exchange {exchange} is not in the recording: {message}")]
    Replay {
        /// Which exchange, from 1.
        exchange: usize,
        /// What differs first.
        message: String,
        /// A short diff of the text that differs, lines with `-` recorded, with `+` asked; or empty.
        diff: String,
    },
    /// An exchange cannot be written down.
    #[error("cannot record into `{path}`: {message}")]
    Record {
        /// The file.
        path: String,
        /// What went wrong.
        message: String,
    },
}

impl Failure {
    /// What to do about it, one line.
    pub fn hint(&self) -> String {
        match self {
            Self::BadName { .. } => crate::model::FORMS.to_owned(),
            Self::NoKey { variables, .. } => format!(
                "set {} or put it into `keys.toml` in the configuration folder, mode 0600",
                either(variables)
            ),
            Self::BadFile { path, .. } => format!("repair, `chmod 600` or remove `{path}`"),
            Self::WrongKey { .. } => {
                "check that the key is whole, not expired and allowed to use this model".to_owned()
            }
            Self::NoNetwork { .. } => {
                "check that the server runs, the network, `HTTPS_PROXY` and `SSL_CERT_FILE`"
                    .to_owned()
            }
            Self::UnknownModel { near, .. } if near.is_empty() => {
                "`ndbg-agent models` lists what can be reached".to_owned()
            }
            Self::UnknownModel { near, .. } => format!("did you mean `{}`?", near[0]),
            Self::RateLimited {
                retry_after: Some(seconds),
                ..
            } => {
                format!("try again in {seconds} s, or use another model")
            }
            Self::RateLimited { .. } => "try again later, or use another model".to_owned(),
            Self::Overloaded { .. } => "try again later, or use another model".to_owned(),
            Self::ContextOverflow { .. } => {
                "show the model less, ask for fewer tokens, or use a model with a larger context"
                    .to_owned()
            }
            Self::Refused { .. } => "another model may answer".to_owned(),
            Self::Stalled { .. } | Self::TimedOut { .. } => {
                "a local server may need more time or a smaller model; try again".to_owned()
            }
            Self::Truncated { .. } => "try again; a proxy may cut long answers".to_owned(),
            Self::Malformed { .. } => {
                "check that the base URL belongs to the kind of server named".to_owned()
            }
            Self::BadRequest {
                status: 404 | 405, ..
            } => "check the base URL; most end with `/v1`".to_owned(),
            Self::BadRequest { .. } => {
                "the model may lack what is asked of it; try another".to_owned()
            }
            Self::QuotaExhausted { .. } => "add credit or use another provider".to_owned(),
            Self::Cancelled => "run it again; what was recorded is not asked again".to_owned(),
            Self::Replay { .. } => {
                "the program or its input has changed since; record again".to_owned()
            }
            Self::Record { .. } => "check that the folder can be written to".to_owned(),
        }
    }

    /// The same failure with every text that came from elsewhere passed through `clean`.
    #[must_use]
    pub(crate) fn map_text(mut self, clean: &dyn Fn(&str) -> String) -> Self {
        match &mut self {
            Self::BadName {
                message,
                name: text,
            }
            | Self::NoNetwork {
                message,
                host: text,
            }
            | Self::WrongKey {
                message,
                provider: text,
            }
            | Self::RateLimited {
                message,
                provider: text,
                ..
            }
            | Self::Overloaded {
                message,
                provider: text,
                ..
            }
            | Self::Refused {
                message,
                provider: text,
            }
            | Self::BadRequest {
                message,
                provider: text,
                ..
            }
            | Self::QuotaExhausted {
                message,
                provider: text,
            }
            | Self::Replay {
                message,
                diff: text,
                ..
            }
            | Self::BadFile {
                message,
                path: text,
            }
            | Self::Record {
                message,
                path: text,
            } => {
                *message = clean(message);
                *text = clean(text);
            }
            Self::ContextOverflow { message, .. } | Self::Malformed { message } => {
                *message = clean(message);
            }
            Self::UnknownModel { model, near, .. } => {
                *model = clean(model);
                for name in near {
                    *name = clean(name);
                }
            }
            Self::NoKey { .. }
            | Self::Stalled { .. }
            | Self::TimedOut { .. }
            | Self::Truncated { .. }
            | Self::Cancelled => {}
        }
        self
    }

    /// Whether the same request may succeed a little later.
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::RateLimited { .. }
                | Self::Overloaded { .. }
                | Self::Stalled { .. }
                | Self::Truncated { .. }
        )
    }
}

/// `A` or `B`.
fn either(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(" or ")
}

fn offers(near: &[String]) -> String {
    if near.is_empty() {
        return String::new();
    }
    let quoted: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    format!("; it has {}", quoted.join(", "))
}

fn of(limit: Option<u64>) -> String {
    limit.map_or(String::new(), |limit| format!(" of {limit} tokens"))
}
