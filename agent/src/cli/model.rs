//! Arguments that say which model predicts.

use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};
use ndbg_simulator::model::Dialect;
use ndbg_tools::Cancel;

use crate::fix::stop::Stop;
use crate::model::{self, Model, Named, Served};

/// The model, and the interpreter that knows better.
#[derive(Debug, Args)]
pub struct ModelArguments {
    /// `embedded`, folder of a checkpoint, FILE.gguf, a server's URL, or `oracle` (a real interpreter)
    #[arg(
        long,
        value_name = "MODEL",
        default_value = "embedded",
        help_heading = "Model"
    )]
    pub model: Named,
    /// Grammar that the model speaks, if its files do not say
    #[arg(long, value_enum, value_name = "DIALECT", help_heading = "Model")]
    pub dialect: Option<SpokenDialect>,
    /// The `tokenizer.json` of a model behind a server; the dialect `step` needs none
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    pub tokenizer: Option<Utf8PathBuf>,
    /// Name of the model on the server, if it has several; its key is in `NDBG_API_KEY`
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub served_as: Option<String>,
    /// Tokens that a model behind a server reads and writes at once, if it does not say
    #[arg(long, value_name = "TOKENS", help_heading = "Model", value_parser = clap::value_parser!(u32).range(16..))]
    pub context: Option<u32>,
}

/// [`Dialect`] on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SpokenDialect {
    /// Whole trajectories, forwards and backwards
    Nd,
    /// The released CWM weights
    Cwm,
    /// One operation and its effect
    Step,
}

impl From<SpokenDialect> for Dialect {
    fn from(spoken: SpokenDialect) -> Self {
        match spoken {
            SpokenDialect::Nd => Self::Nd,
            SpokenDialect::Cwm => Self::Cwm,
            SpokenDialect::Step => Self::Step,
        }
    }
}

impl ModelArguments {
    /// Opens the model; `python` is the oracle's interpreter.
    ///
    /// # Errors
    /// As for [`model::open`].
    pub fn open(&self, python: Option<&Utf8PathBuf>, cancel: &Cancel) -> Result<Model, Stop> {
        let served = Served {
            dialect: self.dialect.map(Dialect::from),
            tokenizer: self.tokenizer.clone(),
            name: self.served_as.clone(),
            context: self.context.map(|tokens| tokens as usize),
        };
        model::open(
            &self.model,
            &served,
            python.map(camino::Utf8PathBuf::as_path),
            cancel,
        )
    }
}
