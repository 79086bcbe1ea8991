//! A language model as a planner: what is opened, what it may take, what is written down.

use std::time::Instant;

use camino::Utf8PathBuf;
use ndbg_providers::{
    Endpoint, Failure, Journal, Meter, Model, Price, Prices, Provider, Recorder, Replayer, Secret,
    open,
};
use ndbg_tools::Cancel;

use super::evidence::Evidence;
use super::session::note;
use super::settings::ModelSettings;
use super::stop::Stop;
use crate::outcome::Outcome;
use crate::plan::llm::{Exchange, LlmPlanner, Means, check_prompts};
use crate::plan::local::LocalModel;
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
    deadline: Instant,
) -> Result<LlmPlanner<'a>, Stop> {
    let source = source(settings)?;
    let price = price(settings, &source)?;
    let mut limits = settings.limits.clone();
    // A server that nobody pays is in no list that would know its context.
    let known = price
        .map(|price| price.context)
        .filter(|&tokens| tokens > 0);
    limits.context = limits.context.or(known);
    let endpoint = endpoint(settings, &source, &mut limits.context, reporter)?;
    let mut caps = settings.caps;
    let is_priced = price.is_some() || settings.replay.is_some();
    if !is_priced {
        // Tokens are held to all the same.
        caps.max_cost = None;
        let text = format!(
            "the price of `{}` is not known: its cost is not limited, its tokens are",
            settings.name
        );
        let hint = "`--prices FILE` adds it, `--max-tokens` limits tokens".to_owned();
        note(reporter, Level::Warning, text, Some(hint));
    } else if price.is_none() {
        caps.max_cost = None;
    }
    let meter = Meter::new(price, caps);
    let watch = move |exchange: Exchange| reporter.emit(Event::Model(exchange));
    Ok(LlmPlanner::new(Means {
        endpoint,
        meter,
        limits,
        prompts_folder: settings.prompts.clone(),
        lookup: Box::new(evidence),
        watch: Box::new(watch),
        cancel: cancel.clone(),
        deadline,
        secrets: secrets(),
    }))
}

/// Whether all that the user named is there, before anything takes time. Nothing is asked, but of a file its
/// first bytes.
///
/// # Errors
/// No such name, no key, or files that cannot be read.
pub fn check(settings: &ModelSettings, reporter: &Reporter) -> Result<(), Stop> {
    reporter.hide(&secrets());
    let source = source(settings)?;
    price(settings, &source)?;
    check_prompts(settings.prompts.as_deref())
        .map_err(|error| Stop::new(Outcome::Usage, error.to_string()))?;
    match (&settings.replay, &source) {
        (Some(folder), _) => {
            Replayer::open(folder.as_std_path(), &[]).map_err(usage)?;
        }
        (None, Source::Server(model)) => {
            open(model, &settings.config).map_err(unreachable)?;
        }
        (None, Source::File(path)) if !path.is_file() => {
            return Err(Stop::new(
                Outcome::Usage,
                format!("there is no file `{path}`"),
            ));
        }
        (None, Source::File(_)) => {}
    }
    Ok(())
}

/// Keys in the environment, whoever they are for: none of them belongs into a report.
fn secrets() -> Vec<Secret> {
    let variables = Provider::ALL
        .iter()
        .filter_map(|provider| provider.variable());
    variables
        .chain(["NDBG_API_KEY"])
        .filter_map(|name| std::env::var(name).ok())
        .filter(|value| !value.trim().is_empty())
        .map(Secret::new)
        .collect()
}

/// The price of a model; of the user's own list also under the name alone, wherever its server is.
fn price(settings: &ModelSettings, source: &Source) -> Result<Option<Price>, Stop> {
    let Source::Server(model) = source else {
        return Ok(Some(Price::FREE));
    };
    if let Some(own) = own_prices(settings)? {
        let named = Model::parse(&settings.name, None).ok();
        if let Some(price) = named.and_then(|named| own.of(&named)) {
            return Ok(Some(price));
        }
        return Ok(Prices::built_in().overridden_by(own).of(model));
    }
    Ok(Prices::built_in().of(model))
}

/// Where a model is.
enum Source {
    /// In a file, to be run here.
    File(Utf8PathBuf),
    /// Behind a server.
    Server(Model),
}

fn source(settings: &ModelSettings) -> Result<Source, Stop> {
    match LocalModel::named(&settings.name) {
        Some(path) if settings.base_url.is_none() => Ok(Source::File(path)),
        _ => Model::parse(&settings.name, settings.base_url.as_deref())
            .map(Source::Server)
            .map_err(usage),
    }
}

/// Opens what answers; a file also says how many tokens fit.
fn endpoint(
    settings: &ModelSettings,
    source: &Source,
    context: &mut Option<u64>,
    reporter: &Reporter,
) -> Result<Box<dyn Endpoint>, Stop> {
    // What is replayed needs no key and no file.
    if let Some(folder) = &settings.replay {
        let replayer = Replayer::open(folder.as_std_path(), &[]).map_err(usage)?;
        return Ok(Box::new(replayer));
    }
    let (live, secrets): (Box<dyn Endpoint>, Vec<Secret>) = match source {
        Source::File(path) => {
            let model = LocalModel::open(path)?;
            *context = context.or(Some(model.context()));
            (Box::new(model), Vec::new())
        }
        Source::Server(model) => {
            let live = open(model, &settings.config).map_err(unreachable)?;
            let secrets = live.secrets().to_vec();
            (Box::new(live), secrets)
        }
    };
    reporter.hide(&secrets);
    let live: Box<dyn Endpoint> = match &settings.journal {
        Some(folder) => {
            Box::new(Journal::open(live, folder.as_std_path(), &secrets).map_err(usage)?)
        }
        None => live,
    };
    Ok(match &settings.record {
        Some(folder) => Box::new(Recorder::new(live, folder.as_std_path(), &secrets)),
        None => live,
    })
}

fn own_prices(settings: &ModelSettings) -> Result<Option<Prices>, Stop> {
    let Some(path) = &settings.prices else {
        return Ok(None);
    };
    let wrong = |error: String| Stop::new(Outcome::Usage, format!("`{path}`: {error}"));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    Prices::parse(&text)
        .map(Some)
        .map_err(|error| wrong(error.to_string()))
}

#[allow(clippy::needless_pass_by_value)] // It stands where errors are mapped.
fn usage(failure: Failure) -> Stop {
    Stop::new(Outcome::Usage, failure.to_string()).hint(failure.hint())
}

#[allow(clippy::needless_pass_by_value)] // It stands where errors are mapped.
fn unreachable(failure: Failure) -> Stop {
    Stop::new(Outcome::Environment, failure.to_string()).hint(failure.hint())
}
