//! `ndbg-agent models`.

use std::fmt::Write as _;

use camino::Utf8PathBuf;
use clap::Args;
use ndbg_providers::{KeyState, Reachable, list};

use super::planner::config;
use super::trace::say;
use crate::fix::stop::Stop;
use crate::outcome::Outcome;

/// Models that are shown of one provider without `--all`.
const SHOWN: usize = 8;

/// List language models that can be reached, and what the others lack
///
/// Asks every provider that has a key, and servers on this machine (Ollama,
/// LM Studio, or one at --base-url), for the models they have. A key is
/// sent to its own provider only.
///
///   ndbg-agent models
///   ndbg-agent models --base-url http://localhost:8000/v1
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct ModelsArguments {
    /// Address of an OpenAI-compatible server
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Certificates (PEM) that are trusted besides those of the system
    #[arg(long, value_name = "FILE")]
    ca_file: Option<Utf8PathBuf>,
    /// Every model
    #[arg(long)]
    all: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub fn run(arguments: &ModelsArguments) -> Outcome {
    let config = config(arguments.ca_file.as_ref());
    let found = match list(&config, arguments.base_url.as_deref()) {
        Ok(found) => found,
        Err(failure) => {
            return say(&Stop::new(Outcome::Usage, failure.to_string()).hint(failure.hint()));
        }
    };
    let text = if arguments.json {
        let shown = serde_json::json!({ "format": 1, "providers": found });
        format!("{shown:#}\n")
    } else {
        found
            .iter()
            .map(|one| shown(one, arguments.all))
            .collect::<String>()
    };
    if let Err(stop) = super::print(text.as_bytes()) {
        return super::trace::say(&stop);
    }
    if found.iter().any(|one| !one.models.is_empty()) {
        Outcome::Fixed
    } else {
        Outcome::NotFixed
    }
}

fn shown(one: &Reachable, all: bool) -> String {
    let mut text = one.provider.to_owned();
    if !one.base_url.is_empty() {
        let _ = write!(text, "  {}", one.base_url);
    }
    if let KeyState::Found { from } = &one.key {
        let _ = write!(text, "  key from {from}");
    }
    text.push('\n');
    if let Some(why) = &one.why_not {
        let _ = writeln!(text, "  {why}");
    }
    let most = if all { usize::MAX } else { SHOWN };
    for model in one.models.iter().take(most) {
        let _ = writeln!(text, "  {model}");
    }
    if one.models.len() > most {
        let _ = writeln!(
            text,
            "  and {} more; --all lists them",
            one.models.len() - most
        );
    }
    text
}
