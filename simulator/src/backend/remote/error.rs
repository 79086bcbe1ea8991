//! What can go wrong with a server.

use thiserror::Error;

/// Longest part of a server's own words that is repeated.
const LONGEST_MESSAGE: usize = 300;

/// Why a server gave no answer that can be used. Each says what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RemoteError {
    /// The address is none.
    #[error("the model's address is not usable: {0}")]
    Address(&'static str),
    /// Nobody listens there, or the connection broke.
    #[error("{address} does not answer ({problem}): is the server running there?")]
    Down {
        /// Of the API.
        address: String,
        /// What the system said.
        problem: String,
    },
    /// The host is not known.
    #[error("there is no host `{0}`: check the address and the network")]
    Host(String),
    /// No encrypted connection.
    #[error(
        "no encrypted connection to {address} ({problem}): does it speak https, with a certificate that is known?"
    )]
    Tls {
        /// Of the API.
        address: String,
        /// What the handshake said.
        problem: String,
    },
    /// The proxy of the environment does not work.
    #[error("the proxy does not work ({0}): check HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY")]
    Proxy(String),
    /// It took too long.
    #[error(
        "{what} took longer than {milliseconds} ms: the server is slow or busy, or the limit is too low"
    )]
    Slow {
        /// Connecting, or all of the request.
        what: &'static str,
        /// The limit.
        milliseconds: u128,
    },
    /// 401 or 403.
    #[error(
        "the server refuses the key (status {status}): set NDBG_API_KEY to one that may use this model"
    )]
    Refused {
        /// Of HTTP.
        status: u16,
    },
    /// 404, or a model that is not in the list.
    #[error("the server does not know {what}: {message}")]
    NotFound {
        /// Of the API or the model.
        what: String,
        /// Its words, or what it has.
        message: String,
    },
    /// 413, or 400 for the length.
    #[error("the question is longer than the server reads: {0}")]
    TooLong(String),
    /// 429 or 503, to the end.
    #[error(
        "the server is busy (status {status}) after {attempts} attempts: ask less at a time, or later"
    )]
    Busy {
        /// Of HTTP.
        status: u16,
        /// Number of times that it was asked.
        attempts: u32,
    },
    /// It sends elsewhere, where nobody follows: the key is for this address.
    #[error("the server sends to `{0}`: give that address if it is trusted")]
    Redirect(String),
    /// Any other status.
    #[error("the server answers with status {status}: {message}")]
    Status {
        /// Of HTTP.
        status: u16,
        /// Its words.
        message: String,
    },
    /// More bytes than are read.
    #[error("the answer is longer than {0} bytes: is that a server of language models?")]
    TooLarge(u64),
    /// No JSON at all.
    #[error("the answer is not JSON: is that the address of an API (…/v1)?")]
    NotJson,
    /// JSON of another shape.
    #[error("the answer has another shape than /v1/completions gives: {0}")]
    Shape(String),
    /// No choices in it.
    #[error("the answer has no choices")]
    NoChoices,
    /// No probabilities in it, without which nothing can be said about confidence.
    #[error("the answer lacks the probabilities of its tokens: the server must support `logprobs`")]
    NoLogprobs,
    /// A token that the vocabulary does not have.
    #[error(
        "the answer has a token that the vocabulary lacks: `{0}`; is the tokenizer that of the model?"
    )]
    UnknownToken(String),
    /// The answer is none that was allowed: it is not used.
    #[error("the answer is not one that can be: token {at} (from 0) is not allowed there")]
    OutsideMask {
        /// Which token.
        at: usize,
    },
    /// The server stopped for another reason than a stop token or the length.
    #[error("the server broke off: `{0}`")]
    BrokenOff(String),
    /// What this server cannot do.
    #[error("{0}")]
    Unsupported(String),
}

/// A server's words: one short line, nothing in it that moves a cursor.
pub(super) fn plain(message: &str) -> String {
    let mut out = String::new();
    for word in message.split_whitespace() {
        if out.len() > LONGEST_MESSAGE {
            out.push('…');
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        let shown = word.chars().filter(|letter| !letter.is_control());
        out.extend(shown.take(LONGEST_MESSAGE));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn words_of_a_server_are_short_and_plain() {
        assert_eq!(plain("a\n\x1b[2J  b"), "a [2J b");
        assert!(plain(&"long ".repeat(1000)).len() < 320);
        assert!(plain(&"x".repeat(5000)).len() < 320);
    }
}
