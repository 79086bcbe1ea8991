//! A recording that is gone on with: what it holds is replayed, the rest is asked and recorded.

use crate::endpoint::{Endpoint, Progress, Stop};
use crate::failure::Failure;
use crate::record::{self, Outcome};
use crate::recorder::Recorder;
use crate::replayer::Replayer;
use crate::reply::Reply;
use crate::request::Request;
use crate::secret::Secret;
use std::path::Path;

/// An endpoint that survives an interruption: opened on the same folder, it takes the same course up
/// to where it was and pays for nothing twice. From a request on that is not the recorded one, everything
/// is asked and recorded anew, over what stands there: a run may take another course the second time.
pub struct Journal<E> {
    past: Replayer,
    future: Recorder<E>,
}

impl<E: Endpoint> Journal<E> {
    /// Opens a folder, empty or not. Failures at its end are asked again, since they are probably why
    /// it ended. Fails with [`Failure::Replay`] if another model was asked or a file cannot be read.
    pub fn open(inner: E, folder: &Path, secrets: &[Secret]) -> Result<Self, Failure> {
        let mut held = record::count(folder);
        while held > 0 {
            let exchange = record::read(folder, held)?;
            if matches!(exchange.outcome, Outcome::Reply(_)) {
                break;
            }
            held -= 1;
        }
        if held > 0 {
            let recorded = record::read(folder, 1)?.model;
            let asked = record::redacted(&inner.model(), secrets);
            if recorded != asked {
                return Err(Failure::Replay {
                    exchange: 1,
                    message: format!("it was answered by `{recorded}`, not by `{asked}`"),
                    diff: String::new(),
                });
            }
        }
        Ok(Self {
            past: Replayer::at(folder, secrets, held),
            future: Recorder::from(inner, folder, secrets, held + 1),
        })
    }

    /// Exchanges that will be answered from the folder.
    pub fn replayable(&self) -> usize {
        self.past.left()
    }
}

impl<E: Endpoint> Endpoint for Journal<E> {
    fn model(&self) -> String {
        self.future.model()
    }

    fn complete(
        &mut self,
        request: &Request,
        progress: &mut dyn FnMut(Progress<'_>),
        stop: Stop<'_>,
    ) -> Result<Reply, Failure> {
        if self.past.left() > 0 {
            match self.past.complete(request, progress, stop) {
                Err(Failure::Replay { .. }) => {
                    let number = self.past.give_up();
                    self.future.go_on_at(number);
                }
                result => return result,
            }
        }
        self.future.complete(request, progress, stop)
    }
}
