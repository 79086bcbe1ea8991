//! What every model looks like to a caller.

use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;
use std::time::Duration;

/// Asked often while waiting; true ends the call at once with [`Failure::Cancelled`].
pub type Stop<'a> = &'a dyn Fn() -> bool;

/// What happens while a reply is on its way.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress<'a> {
    /// A piece of the reply's text, to be appended to those before.
    Text(&'a str),
    /// A piece of what the model thinks before it answers; not part of the reply.
    Thinking(&'a str),
    /// The attempt failed; what came so far is void and another attempt begins after the wait.
    Again {
        /// Why the attempt failed.
        why: &'a Failure,
        /// How long until the next attempt.
        wait: Duration,
    },
}

/// Something that completes requests. Calls block; one at a time.
pub trait Endpoint: Send {
    /// The model's name as records and reports show it: `anthropic/claude-…`.
    fn model(&self) -> String;

    /// Sends a request and waits for the whole reply. Pieces are reported as they come.
    fn complete(
        &mut self,
        request: &Request,
        progress: &mut dyn FnMut(Progress<'_>),
        stop: Stop<'_>,
    ) -> Result<Reply, Failure>;
}

impl<E: Endpoint + ?Sized> Endpoint for Box<E> {
    fn model(&self) -> String {
        (**self).model()
    }

    fn complete(
        &mut self,
        request: &Request,
        progress: &mut dyn FnMut(Progress<'_>),
        stop: Stop<'_>,
    ) -> Result<Reply, Failure> {
        (**self).complete(request, progress, stop)
    }
}
