//! Arguments that say who proposes patches.

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};
use ndbg_providers::{Caps, Config};
use ndbg_tools::folders::config_folder;

use crate::fix::settings::{ModelSettings, PlannerSettings};
use crate::fix::stop::Stop;
use crate::outcome::Outcome;
use crate::plan::llm::Limits;

/// Who proposes patches.
#[derive(Debug, Clone, Args)]
pub struct PlannerArguments {
    /// Who proposes patches: edit operators, a language model, or the model when they stop
    #[arg(long, value_enum, default_value_t = Who::Search, value_name = "WHO", help_heading = "Planner")]
    planner: Who,
    /// Language model: anthropic/NAME, openai/NAME, gemini/NAME, ollama/NAME, …, a server's address, or FILE.gguf
    ///
    /// `ndbg-agent models` lists what can be reached. Keys come from the environment
    /// (`ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, …) or from `keys.toml` in the configuration folder,
    /// which only its owner may read; never from the command line.
    #[arg(long, value_name = "MODEL", help_heading = "Planner")]
    model: Option<String>,
    /// Address of the model's server, if it is not the provider's own
    #[arg(long, value_name = "URL", requires = "model", help_heading = "Planner")]
    base_url: Option<String>,
    /// Certificates (PEM) that are trusted besides those of the system
    #[arg(long, value_name = "FILE", help_heading = "Planner")]
    ca_file: Option<Utf8PathBuf>,
    /// US dollars that the model may cost
    ///
    /// Asked before each request, supposing the worst. A model whose price is not known is held to
    /// --max-tokens alone.
    #[arg(long, value_name = "USD", default_value_t = 1.0, value_parser = dollars, help_heading = "Planner")]
    max_cost: f64,
    /// Tokens that the model may take, prompts and replies together
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Planner")]
    max_tokens: u64,
    /// Rounds with the model
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u64).range(1..=100), help_heading = "Planner")]
    max_rounds: u64,
    /// Tokens of one reply
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(64..), help_heading = "Planner")]
    reply_tokens: u32,
    /// Tokens that the model takes in all, where the price list does not say it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1_000..), help_heading = "Planner")]
    context: Option<u64>,
    /// Prices (TOML) that go before the built-in ones
    #[arg(long, value_name = "FILE", help_heading = "Planner")]
    prices: Option<Utf8PathBuf>,
    /// Folder with templates (`system.txt`, `facts.txt`, `round.txt`, `repair.txt`) in place of the built-in ones
    #[arg(long, value_name = "DIR", help_heading = "Planner")]
    prompts: Option<Utf8PathBuf>,
    /// Write the exchanges with the model to this folder, without secrets
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with = "replay",
        help_heading = "Planner"
    )]
    record: Option<Utf8PathBuf>,
    /// Take the model's replies from a folder that --record wrote; no network
    #[arg(long, value_name = "DIR", help_heading = "Planner")]
    replay: Option<Utf8PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Who {
    /// Edit operators over the syntax tree; needs no key
    Search,
    /// A language model
    #[value(alias = "model")]
    Llm,
    /// The search, and the model when it stops
    Auto,
}

fn dollars(text: &str) -> Result<f64, String> {
    match text.trim_start_matches('$').parse() {
        Ok(value) if (0.0..=1e6).contains(&value) => Ok(value),
        _ => Err("it has to be an amount in US dollars".into()),
    }
}

/// How providers are reached: the process's variables, the configuration folder.
pub fn config(ca_file: Option<&Utf8PathBuf>) -> Config {
    let mut config = Config::new(|name| std::env::var(name).ok());
    config.folder = Some(config_folder().into_std_path_buf());
    config.ca_file = ca_file.map(|path| path.clone().into_std_path_buf());
    config
}

impl PlannerArguments {
    /// Settles the arguments; `journal` is where exchanges are kept for going on later.
    ///
    /// # Errors
    /// A planner that needs a model, without one, or the other way round.
    pub fn settle(self, journal: Utf8PathBuf) -> Result<PlannerSettings, Stop> {
        let usage = |message: &str, hint: &str| Stop::new(Outcome::Usage, message).hint(hint);
        let Some(name) = self.model else {
            return match self.planner {
                Who::Search => Ok(PlannerSettings::Search),
                Who::Llm | Who::Auto => Err(usage(
                    "no model is named",
                    "`--model PROVIDER/NAME`; `ndbg-agent models` lists what can be reached",
                )),
            };
        };
        if self.planner == Who::Search {
            return Err(usage(
                "a model is named, but the search planner asks none",
                "add `--planner llm`, or `--planner auto` for the search first",
            ));
        }
        let model = ModelSettings {
            config: config(self.ca_file.as_ref()),
            name,
            base_url: self.base_url,
            caps: Caps {
                max_cost: Some(self.max_cost),
                max_tokens: Some(self.max_tokens),
            },
            limits: Limits {
                rounds: self.max_rounds as usize,
                reply: self.reply_tokens,
                context: self.context,
            },
            prices: self.prices,
            prompts: self.prompts,
            journal: (self.record.is_none() && self.replay.is_none()).then_some(journal),
            record: self.record,
            replay: self.replay,
        };
        Ok(match self.planner {
            Who::Auto => PlannerSettings::Auto(Box::new(model)),
            Who::Search | Who::Llm => PlannerSettings::Model(Box::new(model)),
        })
    }
}
