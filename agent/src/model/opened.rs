//! A model that is open.

use camino::Utf8Path;
use ndbg_simulator::Unavailable;
use ndbg_simulator::backend::embedded;
use ndbg_simulator::backend::step::StepModel;
use ndbg_simulator::grammar::step::Operation;
use ndbg_simulator::harness::{Answer, Operations};
use ndbg_simulator::model::{Dialect, LanguageModel, ModelError};
use ndbg_tools::Cancel;
use ndbg_tools::python::operations::Interpreter;

use super::files;
use super::named::Named;
use super::reality::Reality;
use super::server::{self, Served};
use crate::fix::stop::Stop;
use crate::outcome::Outcome;

/// What predicts.
#[allow(clippy::large_enum_variant)] // There is one of it in a process.
pub enum Model {
    /// Performs operations by prediction.
    Step(Box<StepModel<Box<dyn LanguageModel>>>),
    /// Speaks whole trajectories, in the dialect `nd` or `cwm`.
    Language(Box<dyn LanguageModel>),
    /// Performs operations in a real interpreter.
    Oracle(Interpreter, Reality),
}

impl std::fmt::Debug for Model {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Model({})", self.name())
    }
}

/// Opens a model. `served` is what is said about it where its files or its server do not; `python` is
/// the interpreter of the oracle.
///
/// # Errors
/// There is no such model, its files are not right, nobody trained it, or its server does not answer.
pub fn open(
    named: &Named,
    served: &Served,
    python: Option<&Utf8Path>,
    cancel: &Cancel,
) -> Result<Model, Stop> {
    let model: Box<dyn LanguageModel> = match named {
        Named::Oracle => {
            let reality = Reality::open(python, cancel)?;
            return Ok(Model::Oracle(reality.operations()?, reality));
        }
        Named::Embedded => Box::new(embedded::open().map_err(|error| match &error {
            ModelError::Weights(why) if why.contains("random") => files::untrained("embedded"),
            _ => files::wrong("embedded", &error),
        })?),
        Named::Folder(path) => files::folder(path, served.dialect)?,
        Named::Gguf(path) => files::gguf(path, served.dialect)?,
        Named::Remote(url) => server::open(url, served)?,
    };
    Ok(match model.dialect() {
        Dialect::Step => Model::Step(Box::new(StepModel::new(model))),
        Dialect::Nd | Dialect::Cwm => Model::Language(model),
    })
}

impl Model {
    /// Why the model itself failed last; not that it did not know.
    pub fn failure(&self) -> Option<String> {
        match self {
            Self::Step(model) => model.failure(),
            Self::Oracle(..) | Self::Language(_) => None,
        }
    }

    /// Short name for reports.
    pub fn name(&self) -> &str {
        match self {
            Self::Step(model) => model.model().name(),
            Self::Language(model) => model.name(),
            Self::Oracle(..) => "oracle",
        }
    }

    /// The language model itself; none for the oracle.
    pub fn language(&self) -> Option<&dyn LanguageModel> {
        match self {
            Self::Step(model) => Some(model.model().as_ref()),
            Self::Language(model) => Some(model.as_ref()),
            Self::Oracle(..) => None,
        }
    }

    /// Refuses what performs no operations; `what` is the command that needs them.
    ///
    /// # Errors
    /// The model speaks another dialect.
    pub fn performs_operations(&self, what: &str) -> Result<(), Stop> {
        let Self::Language(model) = self else {
            return Ok(());
        };
        let dialect = model.dialect().name();
        let message =
            format!("`{what}` needs a model of the dialect `step`, this one speaks `{dialect}`");
        Err(Stop::new(Outcome::Usage, message)
            .hint("use `--model embedded`, or train one with `dataset build --grammar step`"))
    }
}

impl Operations for Model {
    fn perform(&self, operation: &Operation) -> Result<Answer, Unavailable> {
        match self {
            Self::Step(model) => model.perform(operation),
            Self::Oracle(interpreter, _) => interpreter.perform(operation),
            Self::Language(model) => Err(Unavailable::Unknown(format!(
                "a model of the dialect `{}` performs no operations",
                model.dialect().name()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_not_there_is_named() {
        let named = "http://127.0.0.1:9".parse().unwrap();
        let stop = open(&named, &Served::default(), None, &Cancel::default()).unwrap_err();
        assert!(stop.message.contains("127.0.0.1:9"), "{}", stop.message);
    }
}
