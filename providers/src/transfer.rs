//! One attempt: send, and read the answer piece by piece.

use crate::answer::{Answer, Trouble};
use crate::complaint::Said;
use crate::config::Limits;
use crate::endpoint::{Progress, Stop};
use crate::failure::Failure;
use crate::network::{causes, host_of};
use crate::provider::Language;
use crate::schema::spelled;
use crate::sse::{Decoder, Event};
use crate::wire::{self, Call};
use crate::{keys::Key, provider::Provider, retry};
use reqwest::{Client, Response};
use std::future::Future;
use std::pin::pin;
use std::time::{Duration, Instant, SystemTime};

/// How often a wait looks whether it should go on.
const TICK: Duration = Duration::from_millis(20);

/// More than any model writes; a server that sends more is none.
const MOST_BYTES: u64 = 64 << 20;

/// More of an error is not read.
const MOST_ERROR_BYTES: usize = 64 << 10;

/// An answer with the time of its first piece.
pub(crate) struct Arrived {
    pub answer: Answer,
    pub first: Duration,
}

/// Why an attempt gave no answer.
#[derive(Debug)]
pub(crate) enum Missed {
    /// The server reports an error.
    Said(Said),
    /// It ends here, or with `passing` another attempt may succeed.
    Failed { failure: Failure, passing: bool },
}

/// Why a wait ended early.
pub(crate) enum Cut {
    Cancelled,
    TooLong,
    Deadline,
}

/// Where an attempt goes and how long it may take.
pub(crate) struct Attempt<'a> {
    pub client: &'a Client,
    pub base: &'a str,
    pub provider: Provider,
    pub key: Option<&'a Key>,
    pub limits: &'a Limits,
    /// When the whole call has to be over.
    pub deadline: Instant,
    pub stop: Stop<'a>,
}

/// Waits for `work`, at most `limit`, and looks at the flag and the deadline meanwhile.
pub(crate) async fn within<T>(
    stop: Stop<'_>,
    deadline: Instant,
    limit: Duration,
    work: impl Future<Output = T>,
) -> Result<T, Cut> {
    let mut work = pin!(work);
    let end = Instant::now() + limit;
    loop {
        if stop() {
            return Err(Cut::Cancelled);
        }
        if let Ok(done) = tokio::time::timeout(TICK, work.as_mut()).await {
            return Ok(done);
        }
        let now = Instant::now();
        if now >= deadline {
            return Err(Cut::Deadline);
        }
        if now >= end {
            return Err(Cut::TooLong);
        }
    }
}

/// Sleeps; false if the flag was set meanwhile.
pub(crate) async fn sleep(time: Duration, stop: Stop<'_>) -> bool {
    let end = Instant::now() + time;
    loop {
        if stop() {
            return false;
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        tokio::time::sleep(left.min(TICK)).await;
    }
}

/// Sends a call and reads its answer to the end.
pub(crate) async fn run(
    attempt: &Attempt<'_>,
    call: &Call,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Arrived, Missed> {
    let began = Instant::now();
    let response = send(attempt, call).await?;
    if !response.status().is_success() {
        return Err(Missed::Said(said(attempt, response).await));
    }
    receive(attempt, response, began, progress).await
}

async fn send(attempt: &Attempt<'_>, call: &Call) -> Result<Response, Missed> {
    let mut request = attempt
        .client
        .post(format!("{}{}", attempt.base, call.path))
        .header(reqwest::header::CONTENT_TYPE, "application/json")
        .body(spelled(&call.body));
    for (name, value) in &call.headers {
        request = request.header(*name, *value);
    }
    if let Some(key) = attempt.key {
        let (name, value) = attempt.provider.credential(key.secret.expose());
        let mut value =
            reqwest::header::HeaderValue::from_str(&value).map_err(|_| Missed::Failed {
                failure: Failure::WrongKey {
                    provider: attempt.provider.prefix().to_owned(),
                    message: format!(
                        "the key from `{}` holds characters that no key has",
                        key.from
                    ),
                },
                passing: false,
            })?;
        value.set_sensitive(true);
        request = request.header(name, value);
    }
    match within(
        attempt.stop,
        attempt.deadline,
        attempt.limits.first_byte,
        request.send(),
    )
    .await
    {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(error)) => Err(unreachable(attempt, &error)),
        Err(cut) => Err(ended(attempt, &cut, attempt.limits.first_byte)),
    }
}

fn unreachable(attempt: &Attempt<'_>, error: &reqwest::Error) -> Missed {
    // A connection that was refused, or a name that does not exist, stays so for a while; one that
    // took too long or broke may not.
    let passing = error.is_timeout() || !error.is_connect();
    let message = if error.is_timeout() && error.is_connect() {
        format!(
            "no connection within {} s",
            attempt.limits.connect.as_secs()
        )
    } else {
        causes(error)
    };
    Missed::Failed {
        failure: Failure::NoNetwork {
            host: host_of(attempt.base),
            message,
        },
        passing,
    }
}

fn ended(attempt: &Attempt<'_>, cut: &Cut, limit: Duration) -> Missed {
    let (failure, passing) = match cut {
        Cut::Cancelled => (Failure::Cancelled, false),
        Cut::TooLong => (
            Failure::Stalled {
                seconds: whole_seconds(limit),
            },
            true,
        ),
        Cut::Deadline => {
            let seconds = whole_seconds(attempt.limits.total);
            (Failure::TimedOut { seconds }, false)
        }
    };
    Missed::Failed { failure, passing }
}

fn whole_seconds(time: Duration) -> u64 {
    time.as_millis().div_ceil(1000) as u64
}

/// The error that stands in a response.
async fn said(attempt: &Attempt<'_>, mut response: Response) -> Said {
    let status = response.status().as_u16();
    let retry_after = retry::asked(response.headers(), SystemTime::now());
    let redirect = response
        .headers()
        .get("location")
        .and_then(|value| value.to_str().ok())
        .map(|to| format!("it points to `{to}`, and a key is not sent on"));
    let mut body = Vec::new();
    while body.len() < MOST_ERROR_BYTES
        && let Ok(Ok(Some(piece))) = within(
            attempt.stop,
            attempt.deadline,
            attempt.limits.stall,
            response.chunk(),
        )
        .await
    {
        body.extend_from_slice(&piece);
    }
    let body = String::from_utf8_lossy(&body).into_owned();
    Said {
        status,
        body: redirect
            .filter(|_| (300..400).contains(&status))
            .unwrap_or(body),
        retry_after,
    }
}

async fn receive(
    attempt: &Attempt<'_>,
    mut response: Response,
    began: Instant,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Arrived, Missed> {
    let language = attempt.provider.language();
    let kind = response
        .headers()
        .get("content-type")
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
        .to_ascii_lowercase();
    // A server that cannot stream, or was told not to, sends one document.
    let whole = kind.starts_with("application/json") && language != Language::Ollama;
    let mut decoder = Decoder::default();
    let mut document = Vec::new();
    let mut received = 0_u64;
    let mut arriving = Arriving {
        answer: Answer::default(),
        first: None,
        began,
    };
    loop {
        let limit = if received == 0 {
            attempt.limits.first_byte
        } else {
            attempt.limits.stall
        };
        let piece = match within(attempt.stop, attempt.deadline, limit, response.chunk()).await {
            Ok(Ok(Some(piece))) => piece,
            Ok(Ok(None)) => break,
            // What broke after the server said that it was done has lost nothing.
            Ok(Err(_)) if arriving.answer.finish.is_some() => break,
            Ok(Err(_)) => return Err(truncated(received)),
            Err(Cut::TooLong) if arriving.answer.finish.is_some() => break,
            Err(cut) => return Err(ended(attempt, &cut, limit)),
        };
        received += piece.len() as u64;
        if received > MOST_BYTES {
            return Err(malformed("it does not end".to_owned()));
        }
        if whole {
            document.extend_from_slice(&piece);
            continue;
        }
        for event in decoder.push(&piece) {
            arriving.take(language, &event, progress)?;
        }
        if arriving.answer.ended {
            break;
        }
    }
    if whole {
        let data = String::from_utf8_lossy(&document).into_owned();
        arriving.take(language, &Event { data }, progress)?;
    } else if !arriving.answer.ended {
        for event in decoder.finish() {
            // The last event of a stream that broke off is cut, not malformed.
            if let Err(missed) = arriving.take(language, &event, progress) {
                let cut = matches!(
                    &missed,
                    Missed::Failed {
                        failure: Failure::Malformed { .. },
                        ..
                    }
                );
                return Err(if cut { truncated(received) } else { missed });
            }
        }
    }
    let Arriving { answer, first, .. } = arriving;
    if answer.finish.is_none() {
        return Err(
            if received == 0 || answer.has_begun() || !kind.contains("html") {
                truncated(received)
            } else {
                malformed(format!("it is of the type `{kind}`"))
            },
        );
    }
    Ok(Arrived {
        answer,
        first: first.unwrap_or_else(|| began.elapsed()),
    })
}

struct Arriving {
    answer: Answer,
    first: Option<Duration>,
    began: Instant,
}

impl Arriving {
    fn take(
        &mut self,
        language: Language,
        event: &Event,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), Missed> {
        let (text, thinking) = (self.answer.text.len(), self.answer.thinking.len());
        let outcome = wire::read(language, event, &mut self.answer);
        if self.first.is_none() && self.answer.has_begun() {
            self.first = Some(self.began.elapsed());
        }
        if self.answer.thinking.len() > thinking {
            progress(Progress::Thinking(&self.answer.thinking[thinking..]));
        }
        if self.answer.text.len() > text {
            progress(Progress::Text(&self.answer.text[text..]));
        }
        match outcome {
            Ok(()) => Ok(()),
            Err(Trouble::Malformed(message)) => Err(malformed(message)),
            Err(Trouble::Server(body)) => Err(Missed::Said(Said {
                status: 0,
                body: body.to_string(),
                retry_after: None,
            })),
            Err(Trouble::Blocked(message)) => Err(Missed::Failed {
                failure: Failure::Refused {
                    provider: String::new(),
                    message,
                },
                passing: false,
            }),
        }
    }
}

fn truncated(received: u64) -> Missed {
    Missed::Failed {
        failure: Failure::Truncated { received },
        passing: true,
    }
}

fn malformed(message: String) -> Missed {
    Missed::Failed {
        failure: Failure::Malformed { message },
        passing: false,
    }
}
