//! Writes down what an endpoint is asked and what it answers.

use crate::endpoint::{Endpoint, Progress, Stop};
use crate::failure::Failure;
use crate::record::{self, Exchange, FORMAT, Outcome};
use crate::reply::Reply;
use crate::request::Request;
use crate::secret::Secret;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// An endpoint whose exchanges end up in a folder.
///
/// What it hands on is what it wrote, secrets removed, so that a replay takes the same course. A call
/// that was cancelled is not written: it had no outcome.
pub struct Recorder<E> {
    inner: E,
    folder: PathBuf,
    next: usize,
    secrets: Vec<Secret>,
}

impl<E: Endpoint> Recorder<E> {
    /// Records into a folder, which is made if need be, behind what it already holds.
    pub fn new(inner: E, folder: &Path, secrets: &[Secret]) -> Self {
        Self {
            inner,
            folder: folder.to_owned(),
            next: record::count(folder) + 1,
            secrets: secrets.to_vec(),
        }
    }

    /// Goes on at a number, over what stands there.
    pub(crate) fn from(inner: E, folder: &Path, secrets: &[Secret], next: usize) -> Self {
        Self {
            next,
            ..Self::new(inner, folder, secrets)
        }
    }

    /// Writes the next exchange under this number, over what stands there.
    pub(crate) fn go_on_at(&mut self, next: usize) {
        self.next = next;
    }
}

impl<E: Endpoint> Endpoint for Recorder<E> {
    fn model(&self) -> String {
        self.inner.model()
    }

    fn complete(
        &mut self,
        request: &Request,
        progress: &mut dyn FnMut(Progress<'_>),
        stop: Stop<'_>,
    ) -> Result<Reply, Failure> {
        let asked_at = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let began = Instant::now();
        let result = self.inner.complete(request, progress, stop);
        if result == Err(Failure::Cancelled) {
            return result;
        }
        let took = began.elapsed();
        let request = record::redacted(request, &self.secrets);
        let exchange = Exchange {
            format: FORMAT,
            model: record::redacted(&self.inner.model(), &self.secrets),
            asked_at_ms: asked_at.as_millis() as u64,
            took_us: took.as_micros() as u64,
            request_sha256: request.hash(),
            request,
            outcome: record::redacted(&Outcome::of(result), &self.secrets),
        };
        record::write(&self.folder, self.next, &exchange)?;
        self.next += 1;
        exchange.outcome.result()
    }
}
