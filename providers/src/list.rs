//! What can be reached: every provider, whether it has a key, and the models that it lists.

use crate::answer::text;
use crate::config::Config;
use crate::endpoint::Stop;
use crate::failure::Failure;
use crate::model::Model;
use crate::network::{self, causes, host_of};
use crate::provider::{Language, Provider};
use crate::target::{Target, locate};
use crate::{keys, live, secret, transfer};
use reqwest::Client;
use serde::Serialize;
use serde_json::Value;
use std::time::{Duration, Instant};

/// How long a list of models may take; a server that is there answers sooner.
const PATIENCE: Duration = Duration::from_secs(4);

/// A provider and what stands between it and an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reachable {
    /// What stands before the `/` in the names of its models.
    pub provider: &'static str,
    /// Its address; empty where none is configured.
    pub base_url: String,
    /// Its key.
    pub key: KeyState,
    /// Whether the server answered at all; `None` where it was not asked, for lack of a key or of
    /// an address.
    pub reachable: Option<bool>,
    /// Names of models as `--model` takes them, sorted. Azure lists models, not deployments.
    pub models: Vec<String>,
    /// What is missing, one line, with what to do about it.
    pub why_not: Option<String>,
}

/// Whether there is a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum KeyState {
    /// There is one.
    Found {
        /// The variable's name, or the path of the file.
        from: String,
    },
    /// There is none, and one is needed.
    Missing {
        /// The variable that would hold it.
        variable: String,
    },
    /// There is none, and none is needed.
    NotNeeded,
}

/// Asks every provider that can be asked, all at once, and the server at `base_url` if one is given.
/// A key is sent to its own host only. Fails with [`Failure::BadFile`] where the file with keys or
/// with certificates cannot be used.
pub fn list(config: &Config, base_url: Option<&str>) -> Result<Vec<Reachable>, Failure> {
    let client = network::client(config)?;
    let secrets = keys::all(config);
    let mut asked = Vec::new();
    for provider in Provider::ALL {
        // One account, one list.
        if provider == Provider::OpenAiResponses {
            continue;
        }
        let mut model = Model {
            provider,
            name: String::new(),
            base_url: None,
        };
        if provider == Provider::Compatible {
            let Some(url) = base_url else { continue };
            model = Model::parse(url, None)?;
        }
        let target = match locate(&model, config) {
            Err(failure @ Failure::BadFile { .. }) => return Err(failure),
            other => other,
        };
        asked.push((provider, target));
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> = asked
            .into_iter()
            .map(|(provider, target)| {
                let (client, secrets) = (&client, &secrets);
                scope.spawn(move || one(client, provider, target, secrets))
            })
            .collect();
        Ok(threads
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .collect())
    })
}

fn one(
    client: &Client,
    provider: Provider,
    target: Result<Target, Failure>,
    secrets: &[secret::Secret],
) -> Reachable {
    let mut entry = Reachable {
        provider: provider.prefix(),
        base_url: String::new(),
        key: KeyState::NotNeeded,
        reachable: None,
        models: Vec::new(),
        why_not: None,
    };
    let target = match target {
        Ok(target) => target,
        Err(Failure::BadName { message, .. }) => {
            entry.why_not = Some(message);
            return entry;
        }
        Err(failure) => {
            entry.why_not = Some(failure.to_string());
            return entry;
        }
    };
    entry.base_url.clone_from(&target.base);
    match (&target.key, target.variable) {
        (Some(key), _) => {
            entry.key = KeyState::Found {
                from: key.from.clone(),
            }
        }
        (None, Some(variable)) if provider.needs_key() => {
            entry.why_not = Some(format!("no key: set `{variable}`"));
            entry.key = KeyState::Missing {
                variable: variable.to_owned(),
            };
            return entry;
        }
        _ => {}
    }
    let answer = live::runtime().and_then(|runtime| {
        let answer = runtime.block_on(models(client, provider, &target));
        runtime.shutdown_background();
        answer
    });
    entry.reachable = Some(!matches!(answer, Err(Failure::NoNetwork { .. })));
    match answer {
        Ok(names) => {
            entry.models = names
                .into_iter()
                .map(|name| match provider {
                    Provider::Compatible => format!("{}#{name}", target.base),
                    _ => format!("{}/{name}", provider.prefix()),
                })
                .collect();
            if entry.models.is_empty() {
                entry.why_not = Some(match provider {
                    Provider::Ollama => "no model yet: `ollama pull NAME`".to_owned(),
                    _ => "it lists no models".to_owned(),
                });
            }
        }
        Err(failure) => entry.why_not = Some(secret::redact(&failure.to_string(), secrets)),
    }
    entry
}

/// Names that the server lists and that come close to the model's, nearest first, three at most.
/// Empty where it cannot be asked.
pub(crate) async fn near(
    client: &Client,
    target: &Target,
    model: &Model,
    stop: Stop<'_>,
) -> Vec<String> {
    let deadline = Instant::now() + PATIENCE;
    let listed = models(client, model.provider, target);
    match transfer::within(stop, deadline, PATIENCE, listed).await {
        Ok(Ok(listed)) => closest(&model.name, &listed),
        _ => Vec::new(),
    }
}

fn closest(name: &str, listed: &[String]) -> Vec<String> {
    let name = name.to_lowercase();
    let mut scored: Vec<(f64, &String)> = listed
        .iter()
        .map(|candidate| {
            let lower = candidate.to_lowercase();
            // A vendor in front, or a tag behind, is the usual slip.
            let bare = lower.rsplit('/').next().unwrap_or(&lower);
            let same = bare == name || bare.starts_with(&format!("{name}:"));
            let score = strsim::jaro_winkler(&name, &lower).max(strsim::jaro_winkler(&name, bare));
            (if same { 2.0 } else { score }, candidate)
        })
        .filter(|(score, _)| *score > 0.8)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored
        .into_iter()
        .take(3)
        .map(|(_, candidate)| candidate.clone())
        .collect()
}

async fn models(
    client: &Client,
    provider: Provider,
    target: &Target,
) -> Result<Vec<String>, Failure> {
    let path = match provider.language() {
        Language::Ollama => "/api/tags",
        Language::Gemini => "/models?pageSize=1000",
        Language::Anthropic => "/models?limit=1000",
        _ => "/models",
    };
    let mut request = client
        .get(format!("{}{path}", target.base))
        .timeout(PATIENCE);
    if provider == Provider::Anthropic {
        request = request.header("anthropic-version", "2023-06-01");
    }
    if let Some(key) = &target.key {
        let (name, value) = provider.credential(key.secret.expose());
        request = request.header(name, value);
    }
    let lost = |error: &reqwest::Error| Failure::NoNetwork {
        host: host_of(&target.base),
        message: if error.is_timeout() {
            format!("no answer within {} s", PATIENCE.as_secs())
        } else {
            causes(error)
        },
    };
    let response = request.send().await.map_err(|error| lost(&error))?;
    let status = response.status();
    let body = response.text().await.map_err(|error| lost(&error))?;
    if !status.is_success() {
        let said = crate::complaint::Said {
            status: status.as_u16(),
            body,
            retry_after: None,
        };
        let nothing = crate::request::Request::new("", "", 0);
        let none = crate::offer::Without::new();
        return Err(
            match crate::complaint::judge(provider.prefix(), "", &said, &nothing, &none) {
                crate::complaint::Complaint::Failed { failure, .. } => failure,
                crate::complaint::Complaint::Refuses(_) => {
                    Failure::Malformed { message: said.body }
                }
            },
        );
    }
    let value: Value = serde_json::from_str(&body).map_err(|error| Failure::Malformed {
        message: format!("the list of models is not JSON: {error}"),
    })?;
    let entries = value
        .get("data")
        .or_else(|| value.get("models"))
        .and_then(Value::as_array)
        .or_else(|| value.as_array());
    let mut names: Vec<String> = entries
        .into_iter()
        .flatten()
        .filter(|entry| generates(entry))
        .filter_map(|entry| text(entry, "/id").or_else(|| text(entry, "/name")))
        .map(|name| {
            name.strip_prefix("models/")
                .filter(|_| provider == Provider::Gemini)
                .unwrap_or(name)
                .to_owned()
        })
        .collect();
    names.sort();
    names.dedup();
    Ok(names)
}

/// Whether a model writes text, where the list says what models do.
fn generates(entry: &Value) -> bool {
    let methods = entry
        .get("supportedGenerationMethods")
        .and_then(Value::as_array);
    methods.is_none_or(|methods| methods.iter().any(|method| method == "generateContent"))
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn near_names_are_those_that_were_probably_meant() {
        let listed: Vec<String> = [
            "gpt-4.1",
            "gpt-4.1-mini",
            "openai/gpt-oss-20b",
            "whisper-1",
            "qwen3:8b",
        ]
        .map(str::to_owned)
        .to_vec();
        assert_eq!(closest("gpt-oss-20b", &listed)[0], "openai/gpt-oss-20b");
        assert_eq!(closest("gpt4.1", &listed), ["gpt-4.1", "gpt-4.1-mini"]);
        assert_eq!(closest("qwen3", &listed)[0], "qwen3:8b");
        assert!(closest("claude", &listed).is_empty());
    }
}
