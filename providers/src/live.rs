//! A model behind the network.

use crate::answer::Answer;
use crate::complaint::{Complaint, judge};
use crate::config::{Config, Limits};
use crate::endpoint::{Endpoint, Progress, Stop};
use crate::failure::Failure;
use crate::keys;
use crate::list;
use crate::model::Model;
use crate::offer::{Offer, Without};
use crate::reply::{Finish, Reply, Usage};
use crate::request::{Request, estimate_tokens};
use crate::retry::{self, Enough};
use crate::secret::{Secret, redact};
use crate::target::{Target, locate_with_key};
use crate::transfer::{self, Arrived, Attempt, Missed};
use crate::{network, wire};
use reqwest::Client;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// A connection to a model. Remembers which options its server refuses.
pub struct Live {
    model: Model,
    target: Target,
    client: Client,
    limits: Limits,
    secrets: Vec<Secret>,
    without: Without,
    /// `None` only while it is being dropped.
    runtime: Option<Runtime>,
}

/// Prepares a connection; nothing is sent yet. Fails with [`Failure::NoKey`],
/// [`Failure::BadFile`] or [`Failure::BadName`].
pub fn open(model: &Model, config: &Config) -> Result<Live, Failure> {
    let target = locate_with_key(model, config)?;
    Ok(Live {
        model: model.clone(),
        target,
        client: network::client(config)?,
        limits: config.limits.clone(),
        secrets: keys::all(config),
        without: Without::new(),
        runtime: Some(runtime()?),
    })
}

/// A runtime on the calling thread.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::NoNetwork {
            host: "the network".to_owned(),
            message: error.to_string(),
        })
}

impl Live {
    /// The keys that this connection knows, for redaction elsewhere.
    pub fn secrets(&self) -> &[Secret] {
        &self.secrets
    }

    fn one(
        &mut self,
        request: &Request,
        deadline: Instant,
        progress: &mut dyn FnMut(Progress<'_>),
        stop: Stop<'_>,
    ) -> Result<Arrived, Missed> {
        let Some(runtime) = &self.runtime else {
            return Err(Missed::Failed {
                failure: Failure::Cancelled,
                passing: false,
            });
        };
        let call = wire::call(&self.model, request, &self.without);
        let attempt = Attempt {
            client: &self.client,
            base: &self.target.base,
            provider: self.model.provider,
            key: self.target.key.as_ref(),
            limits: &self.limits,
            deadline,
            stop,
        };
        runtime.block_on(transfer::run(&attempt, &call, progress))
    }

    /// The failure as the caller sees it: complete, and without secrets.
    fn explained(&self, failure: Failure, stop: Stop<'_>) -> Failure {
        let clean = |text: &str| redact(text, &self.secrets);
        match failure {
            Failure::UnknownModel {
                provider, model, ..
            } => {
                let near = self.runtime.as_ref().map(|runtime| {
                    runtime.block_on(list::near(&self.client, &self.target, &self.model, stop))
                });
                Failure::UnknownModel {
                    provider,
                    model,
                    near: near.unwrap_or_default(),
                }
            }
            // A server that wants a key where none was known says that it is wrong.
            Failure::WrongKey { provider, .. }
                if self.target.key.is_none() && self.target.variable.is_some() =>
            {
                Failure::NoKey {
                    provider,
                    variables: self.target.variable.iter().map(|&v| v.to_owned()).collect(),
                }
            }
            Failure::Refused { provider, message } => Failure::Refused {
                provider: if provider.is_empty() {
                    self.model.provider.prefix().to_owned()
                } else {
                    provider
                },
                message: clean(&message),
            },
            other => other.map_text(&clean),
        }
    }

    fn reply(&mut self, arrived: &Arrived, request: &Request, began: Instant) -> Reply {
        let (text, finish) = arrived.answer.settled();
        let mut reply = Reply {
            text,
            tool_calls: arrived.answer.calls.clone(),
            usage: usage(&arrived.answer, request),
            finish,
            without: self.without.iter().copied().collect(),
            time_to_first_token: whole_micros(arrived.first),
            elapsed: whole_micros(began.elapsed()),
        };
        // Some servers take a schema and pay no attention to it. This reply is what it is; from the
        // next request on the model is told in words.
        let held = request.schema.is_some() && !self.without.contains(&Offer::Schema);
        if held && finish == Finish::Stop && reply.json().is_err() {
            self.without.insert(Offer::Schema);
            reply.without = self.without.iter().copied().collect();
        }
        reply
    }
}

/// What the server counted, or an estimate where it counted nothing.
fn usage(answer: &Answer, request: &Request) -> Usage {
    match answer.usage {
        Some(usage) if usage.prompt + usage.completion > 0 => usage,
        _ => {
            let calls: usize = answer
                .calls
                .iter()
                .map(|call| call.arguments.len() + call.name.len())
                .sum();
            let bytes = answer.text.len() + answer.thinking.len() + answer.refusal.len() + calls;
            Usage {
                prompt: request.prompt_estimate(),
                completion: estimate_tokens(bytes),
                estimated: true,
                ..Usage::default()
            }
        }
    }
}

/// Records hold whole microseconds, and a replayed reply is to equal the one that was given.
fn whole_micros(time: Duration) -> Duration {
    Duration::from_micros(time.as_micros() as u64)
}

impl Endpoint for Live {
    fn model(&self) -> String {
        self.model.to_string()
    }

    fn complete(
        &mut self,
        request: &Request,
        progress: &mut dyn FnMut(Progress<'_>),
        stop: Stop<'_>,
    ) -> Result<Reply, Failure> {
        let began = Instant::now();
        let deadline = began + self.limits.total;
        let mut made = 0;
        loop {
            made += 1;
            let missed = match self.one(request, deadline, progress, stop) {
                Ok(arrived) => return Ok(self.reply(&arrived, request, began)),
                Err(missed) => missed,
            };
            let (failure, passing, asked) = match missed {
                Missed::Failed { failure, passing } => (failure, passing, None),
                Missed::Said(said) => {
                    let provider = self.model.provider.prefix();
                    match judge(provider, &self.model.name, &said, request, &self.without) {
                        Complaint::Refuses(offer) => {
                            // Each option is refused once at most, so this ends.
                            self.without.insert(offer);
                            made -= 1;
                            continue;
                        }
                        Complaint::Failed {
                            failure,
                            passing,
                            retry_after,
                        } => (failure, passing, retry_after),
                    }
                }
            };
            if !passing {
                return Err(self.explained(failure, stop));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match retry::wait(&self.limits, made, left, asked, retry::draw()) {
                Ok(wait) => {
                    let failure = failure.map_text(&|text| redact(text, &self.secrets));
                    progress(Progress::Again {
                        why: &failure,
                        wait,
                    });
                    let Some(runtime) = &self.runtime else {
                        return Err(Failure::Cancelled);
                    };
                    if !runtime.block_on(transfer::sleep(wait, stop)) {
                        return Err(Failure::Cancelled);
                    }
                }
                Err(Enough::Attempts | Enough::Wait) => return Err(self.explained(failure, stop)),
            }
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // Looking up a name blocks a thread that cannot be interrupted; nobody waits for it.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
