//! A language model as a planner: what is opened, what it may take, what is written down.

use ndbg_providers::{
    Endpoint, Failure, Journal, Meter, Model, Prices, Recorder, Replayer, Secret, open,
};
use ndbg_tools::Cancel;

use super::evidence::Evidence;
use super::session::note;
use super::settings::ModelSettings;
use super::stop::Stop;
use crate::outcome::Outcome;
use crate::plan::llm::{Exchange, LlmPlanner};
use crate::report::{Event, Level, Reporter};

/// Opens the model. Nothing is asked yet.
///
/// # Errors
/// No such name, no key, or files that cannot be read.
pub fn planner<'a>(
    settings: &ModelSettings,
    evidence: Evidence<'a>,
    reporter: &'a Reporter,
    cancel: &Cancel,
) -> Result<LlmPlanner<'a>, Stop> {
    let model = Model::parse(&settings.name, settings.base_url.as_deref()).map_err(usage)?;
    let price = prices(settings)?.of(&model);
    let mut limits = settings.limits.clone();
    // A server that nobody pays is in no list that would know its context.
    let known = price
        .map(|price| price.context)
        .filter(|&tokens| tokens > 0);
    limits.context = limits.context.or(known);
    let endpoint = endpoint(settings, &model, reporter)?;
    let mut caps = settings.caps;
    let is_priced = price.is_some() || settings.replay.is_some();
    if !is_priced {
        // Tokens are held to all the same.
        caps.max_cost = None;
        let text =
            format!("the price of `{model}` is not known: its cost is not limited, its tokens are");
        let hint = "`--prices FILE` adds it, `--max-tokens` limits tokens".to_owned();
        note(reporter, Level::Warning, text, Some(hint));
    } else if price.is_none() {
        caps.max_cost = None;
    }
    let meter = Meter::new(price, caps);
    let watch = move |exchange: Exchange| reporter.emit(Event::Model(exchange));
    Ok(LlmPlanner::new(
        endpoint,
        meter,
        limits,
        settings.prompts.clone(),
        Box::new(evidence),
        Box::new(watch),
        cancel.clone(),
    ))
}

fn endpoint(
    settings: &ModelSettings,
    model: &Model,
    reporter: &Reporter,
) -> Result<Box<dyn Endpoint>, Stop> {
    // What is replayed needs no key.
    if let Some(folder) = &settings.replay {
        let replayer = Replayer::open(folder.as_std_path(), &[]).map_err(usage)?;
        return Ok(Box::new(replayer));
    }
    let live = open(model, &settings.config).map_err(unreachable)?;
    let secrets: Vec<Secret> = live.secrets().to_vec();
    reporter.hide(&secrets);
    let live: Box<dyn Endpoint> = match &settings.journal {
        Some(folder) => {
            Box::new(Journal::open(live, folder.as_std_path(), &secrets).map_err(usage)?)
        }
        None => Box::new(live),
    };
    Ok(match &settings.record {
        Some(folder) => Box::new(Recorder::new(live, folder.as_std_path(), &secrets)),
        None => live,
    })
}

fn prices(settings: &ModelSettings) -> Result<Prices, Stop> {
    let built_in = Prices::built_in();
    let Some(path) = &settings.prices else {
        return Ok(built_in);
    };
    let wrong = |error: String| Stop::new(Outcome::Usage, format!("`{path}`: {error}"));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let own = Prices::parse(&text).map_err(|error| wrong(error.to_string()))?;
    Ok(built_in.overridden_by(own))
}

#[allow(clippy::needless_pass_by_value)] // It stands where errors are mapped.
fn usage(failure: Failure) -> Stop {
    Stop::new(Outcome::Usage, failure.to_string()).hint(failure.hint())
}

#[allow(clippy::needless_pass_by_value)] // It stands where errors are mapped.
fn unreachable(failure: Failure) -> Stop {
    Stop::new(Outcome::Environment, failure.to_string()).hint(failure.hint())
}
