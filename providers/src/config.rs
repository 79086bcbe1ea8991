//! What a connection depends on, besides the model.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Looks up an environment variable by name.
pub type Environment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Where keys, certificates and proxies come from, and how long things may take.
#[derive(Clone)]
pub struct Config {
    /// Looks up variables: keys, `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`,
    /// `SSL_CERT_FILE`, `OLLAMA_HOST`, `AZURE_OPENAI_ENDPOINT`.
    pub environment: Environment,
    /// The folder that may hold `keys.toml`.
    pub folder: Option<PathBuf>,
    /// Certificates in PEM form that are trusted besides those of the system.
    pub ca_file: Option<PathBuf>,
    /// How long things may take.
    pub limits: Limits,
}

/// How long things may take, and how often they are tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Until a connection stands, TLS included.
    pub connect: Duration,
    /// Until the first byte of an answer. A local server reads the whole prompt before it says
    /// anything, and models that think are silent for minutes.
    pub first_byte: Duration,
    /// Between two pieces of an answer.
    pub stall: Duration,
    /// For the whole call, waits and attempts included.
    pub total: Duration,
    /// Attempts, the first included.
    pub attempts: u32,
    /// The most that the wait before the second attempt takes; doubled for each further one.
    pub backoff: Duration,
    /// The longest wait before an attempt. A server that wants a longer one ends the call.
    pub longest_wait: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_mins(5),
            stall: Duration::from_mins(1),
            total: Duration::from_mins(15),
            attempts: 6,
            backoff: Duration::from_secs(1),
            longest_wait: Duration::from_mins(1),
        }
    }
}

impl Config {
    /// With a look-up of variables and nothing else.
    pub fn new(environment: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self {
            environment: Arc::new(environment),
            folder: None,
            ca_file: None,
            limits: Limits::default(),
        }
    }

    /// A variable that is set and not empty.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        (self.environment)(name).filter(|value| !value.trim().is_empty())
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("folder", &self.folder)
            .field("ca_file", &self.ca_file)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
