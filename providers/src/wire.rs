//! The languages that servers speak: a request's body, and what an event adds to the answer.
//!
//! Each file has a `call` and a `read`, both without side effects.

mod anthropic;
mod chat;
mod gemini;
mod ollama;
mod responses;

use crate::answer::{Answer, Trouble};
use crate::model::Model;
use crate::offer::{Offer, Without};
use crate::provider::Language;
use crate::request::Request;
use crate::sse::Event;
use serde_json::Value;

/// What is sent, besides the credential.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    /// Follows the base address.
    pub path: String,
    pub headers: Vec<(&'static str, &'static str)>,
    pub body: Value,
}

/// The call for a request without the options that the server has refused.
pub(crate) fn call(model: &Model, request: &Request, without: &Without) -> Call {
    match model.provider.language() {
        Language::Anthropic => anthropic::call(model, request, without),
        Language::Chat => chat::call(model, request, without),
        Language::Responses => responses::call(model, request, without),
        Language::Gemini => gemini::call(model, request, without),
        Language::Ollama => ollama::call(model, request, without),
    }
}

/// Adds an event to the answer.
pub(crate) fn read(language: Language, event: &Event, answer: &mut Answer) -> Result<(), Trouble> {
    match language {
        Language::Anthropic => anthropic::read(&event.data, answer),
        Language::Chat => chat::read(&event.data, answer),
        Language::Responses => responses::read(&event.data, answer),
        Language::Gemini => gemini::read(&event.data, answer),
        Language::Ollama => ollama::read(&event.data, answer),
    }
}

/// The instructions, with the schema in words where no server holds the reply to it.
fn instructions(request: &Request, without: &Without) -> String {
    match &request.schema {
        Some(schema) if without.contains(&Offer::Schema) => {
            let spelled = schema.instruction();
            if request.system.is_empty() {
                spelled
            } else {
                format!("{}\n\n{spelled}", request.system)
            }
        }
        _ => request.system.clone(),
    }
}

/// The schema, unless the server has refused it.
fn held<'a>(request: &'a Request, without: &Without) -> Option<&'a crate::schema::Schema> {
    request
        .schema
        .as_ref()
        .filter(|_| !without.contains(&Offer::Schema))
}

/// Sets the options that have one name and one value.
fn set_options(
    body: &mut Value,
    request: &Request,
    without: &Without,
    temperature: &str,
    seed: Option<&str>,
) {
    if let Some(value) = request.temperature
        && !without.contains(&Offer::Temperature)
    {
        body[temperature] = value.into();
    }
    if let (Some(value), Some(name)) = (request.seed, seed)
        && !without.contains(&Offer::Seed)
    {
        body[name] = value.into();
    }
}
