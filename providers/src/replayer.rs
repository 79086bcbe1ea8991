//! Answers from a folder of exchanges, without a network.

use crate::difference::difference;
use crate::endpoint::{Endpoint, Progress, Stop};
use crate::failure::Failure;
use crate::record;
use crate::reply::Reply;
use crate::request::Request;
use crate::secret::Secret;
use std::path::{Path, PathBuf};

/// Gives the recorded outcomes in their order, each to the request that was recorded with it.
pub struct Replayer {
    folder: PathBuf,
    next: usize,
    held: usize,
    secrets: Vec<Secret>,
}

impl Replayer {
    /// Opens a folder. `secrets` are those that a recorder would have removed; a request that holds
    /// none needs none. Fails with [`Failure::Replay`] if the folder holds no exchange.
    pub fn open(folder: &Path, secrets: &[Secret]) -> Result<Self, Failure> {
        let replayer = Self::at(folder, secrets, record::count(folder));
        if replayer.held == 0 {
            return Err(Failure::Replay {
                exchange: 1,
                message: format!("`{}` holds no `0001.json`", folder.display()),
                diff: String::new(),
            });
        }
        Ok(replayer)
    }

    pub(crate) fn at(folder: &Path, secrets: &[Secret], held: usize) -> Self {
        Self {
            folder: folder.to_owned(),
            next: 1,
            held,
            secrets: secrets.to_vec(),
        }
    }

    /// Gives no more answers; the number of the first one that was not given.
    pub(crate) fn give_up(&mut self) -> usize {
        self.held = self.next - 1;
        self.next
    }

    /// Exchanges that have not been asked for yet.
    pub fn left(&self) -> usize {
        (self.held + 1).saturating_sub(self.next)
    }
}

impl Endpoint for Replayer {
    fn model(&self) -> String {
        let number = self.next.min(self.held).max(1);
        record::read(&self.folder, number).map_or_else(|_| String::new(), |exchange| exchange.model)
    }

    fn complete(
        &mut self,
        request: &Request,
        progress: &mut dyn FnMut(Progress<'_>),
        stop: Stop<'_>,
    ) -> Result<Reply, Failure> {
        if stop() {
            return Err(Failure::Cancelled);
        }
        let number = self.next;
        if number > self.held {
            return Err(Failure::Replay {
                exchange: number,
                message: format!("the recording ends after {} exchanges", self.held),
                diff: String::new(),
            });
        }
        let exchange = record::read(&self.folder, number)?;
        let asked = record::redacted(request, &self.secrets);
        if asked.hash() != exchange.request_sha256 {
            let (message, diff) = difference(&exchange.request, &asked);
            return Err(Failure::Replay {
                exchange: number,
                message,
                diff,
            });
        }
        self.next += 1;
        let result = exchange.outcome.result();
        if let Ok(reply) = &result
            && !reply.text.is_empty()
        {
            progress(Progress::Text(&reply.text));
        }
        result
    }
}
