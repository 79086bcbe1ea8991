//! Models behind servers.

use std::fs;

use camino::Utf8PathBuf;
use ndbg_simulator::backend::remote::{self, ApiKey, Settings};
use ndbg_simulator::grammar::step::Vocabulary;
use ndbg_simulator::model::{Dialect, LanguageModel};

use super::files;
use crate::fix::stop::Stop;
use crate::outcome::Outcome;

/// What a server does not say about the model behind it.
#[derive(Debug, Clone, Default)]
pub struct Served {
    /// The grammar that the model speaks; `step` if nothing is said.
    pub dialect: Option<Dialect>,
    /// Its `tokenizer.json`; the grammar `step` has one of its own.
    pub tokenizer: Option<Utf8PathBuf>,
    /// Its name there; without one the server must have one model.
    pub name: Option<String>,
    /// Tokens that it can read and write at once.
    pub context: Option<usize>,
}

/// Asks the server at `url` for what it serves.
///
/// # Errors
/// The server cannot be used, or what was said does not fit it.
pub(super) fn open(url: &str, served: &Served) -> Result<Box<dyn LanguageModel>, Stop> {
    let dialect = served.dialect.unwrap_or(Dialect::Step);
    let tokenizer = match &served.tokenizer {
        Some(path) => Some(fs::read(path).map_err(|error| {
            Stop::new(Outcome::Usage, format!("`{path}`: {error}"))
                .hint("name the model's `tokenizer.json` with `--tokenizer`")
        })?),
        None if dialect == Dialect::Step => Some(Vocabulary::get().tokenizer_json().into_bytes()),
        None => None,
    };
    let mut settings = Settings::new(dialect);
    settings.tokenizer = tokenizer;
    settings.model.clone_from(&served.name);
    settings.context = served.context;
    settings.manners.key = ApiKey::from_environment();
    match remote::open(url, settings) {
        Ok(model) => Ok(Box::new(model)),
        Err(error) => Err(files::wrong(url, &error)),
    }
}
