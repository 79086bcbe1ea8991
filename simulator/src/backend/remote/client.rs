//! Questions over HTTP, asked again where that may help.

use std::io;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body, Proxy, Timeout};

use super::address::Address;
use super::error::{RemoteError, plain};
use super::key::ApiKey;
use super::permits::Permits;
use super::wait::{Backoff, retry_after};

/// How a client behaves.
#[derive(Clone)]
pub struct Manners {
    /// To find the host and connect, at most.
    pub connect: Duration,
    /// For one attempt with all of its answer, at most.
    pub request: Duration,
    /// Attempts after the first one.
    pub retries: u32,
    /// Between attempts.
    pub backoff: Backoff,
    /// Questions under way at a time, at least 1.
    pub concurrency: usize,
    /// Bytes of an answer, at most.
    pub largest: u64,
    /// The key, if the server wants one.
    pub key: Option<ApiKey>,
}

/// What asks one server.
pub struct Client {
    address: Address,
    agent: Agent,
    manners: Manners,
    permits: Permits,
}

/// An attempt that failed.
struct Failure {
    error: RemoteError,
    /// Whether another one may succeed.
    again: bool,
    /// The wait that the server asks for.
    after: Option<Duration>,
}

impl Failure {
    fn last(error: RemoteError) -> Self {
        let (again, after) = (false, None);
        Self {
            error,
            again,
            after,
        }
    }

    fn passing(error: RemoteError) -> Self {
        let (again, after) = (true, None);
        Self {
            error,
            again,
            after,
        }
    }
}

impl Client {
    /// For a server. Nothing is asked yet.
    pub fn new(address: Address, manners: Manners) -> Self {
        let proxy = (!address.is_loopback()).then(Proxy::try_from_env).flatten();
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_resolve(Some(manners.connect))
            .timeout_connect(Some(manners.connect))
            .timeout_global(Some(manners.request))
            .max_idle_connections_per_host(manners.concurrency.max(1))
            .user_agent(concat!("ndbg/", env!("CARGO_PKG_VERSION")))
            .proxy(proxy)
            .build();
        Self {
            permits: Permits::new(manners.concurrency),
            agent: Agent::new_with_config(config),
            address,
            manners,
        }
    }

    /// How many questions may be under way.
    pub fn permits(&self) -> &Permits {
        &self.permits
    }

    /// Asks for what is at a path.
    pub fn get(&self, path: &str) -> Result<Value, RemoteError> {
        self.ask(path, None)
    }

    /// Sends JSON to a path; its answer.
    pub fn post(&self, path: &str, body: &Value) -> Result<Value, RemoteError> {
        self.ask(path, Some(body.to_string().as_bytes()))
    }

    fn ask(&self, path: &str, body: Option<&[u8]>) -> Result<Value, RemoteError> {
        let _permit = self.permits.take();
        let mut attempt = 0;
        loop {
            let failure = match self.once(path, body) {
                Ok(value) => return Ok(value),
                Err(failure) => failure,
            };
            let more = failure.again && attempt < self.manners.retries;
            let pause = self.manners.backoff.pause(attempt, failure.after);
            attempt += 1;
            match pause.filter(|_| more) {
                Some(pause) => thread::sleep(pause),
                None => return Err(counted(failure.error, attempt)),
            }
        }
    }

    fn once(&self, path: &str, body: Option<&[u8]>) -> Result<Value, Failure> {
        let url = format!("{}{path}", self.address.base());
        let key = self.manners.key.as_ref().map(ApiKey::header);
        let answer = match body {
            None => {
                let request = self.agent.get(&url);
                let request = match &key {
                    Some(key) => request.header("authorization", key),
                    None => request,
                };
                request.call()
            }
            Some(body) => {
                let request = self
                    .agent
                    .post(&url)
                    .header("content-type", "application/json");
                let request = match &key {
                    Some(key) => request.header("authorization", key),
                    None => request,
                };
                request.send(body)
            }
        };
        let mut answer = answer.map_err(|error| self.failed(error))?;
        let text = answer
            .body_mut()
            .with_config()
            .limit(self.manners.largest)
            .read_to_vec();
        let text = text.map_err(|error| self.failed(error))?;
        if answer.status().is_success() {
            return serde_json::from_slice(&text).map_err(|_| Failure::last(RemoteError::NotJson));
        }
        Err(self.refused(path, &answer, &text))
    }

    /// What a status other than success means.
    fn refused(&self, path: &str, answer: &Response<Body>, text: &[u8]) -> Failure {
        let status = answer.status();
        let header = |name: &str| {
            answer
                .headers()
                .get(name)
                .and_then(|value| value.to_str().ok())
        };
        let message = self.message(text);
        let length = ["context", "too long", "maximum length"];
        let is_long = || {
            length
                .iter()
                .any(|word| message.to_lowercase().contains(word))
        };
        let number = status.as_u16();
        Failure::last(match status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                return Failure {
                    error: RemoteError::Busy {
                        status: number,
                        attempts: 1,
                    },
                    again: true,
                    after: header("retry-after").and_then(retry_after),
                };
            }
            StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT => {
                return Failure::passing(RemoteError::Status {
                    status: number,
                    message,
                });
            }
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                RemoteError::Refused { status: number }
            }
            StatusCode::NOT_FOUND => {
                let model = message.to_lowercase().contains("model");
                let address = format!("{}{path}", self.address.base());
                let what = if model {
                    "this model".to_owned()
                } else {
                    format!("`{address}`")
                };
                RemoteError::NotFound { what, message }
            }
            StatusCode::PAYLOAD_TOO_LARGE => RemoteError::TooLong(message),
            StatusCode::BAD_REQUEST if is_long() => RemoteError::TooLong(message),
            _ if status.is_redirection() => {
                RemoteError::Redirect(plain(header("location").unwrap_or("elsewhere")))
            }
            _ => RemoteError::Status {
                status: number,
                message,
            },
        })
    }

    /// The words of a server about an error, in the two forms that there are.
    fn message(&self, text: &[u8]) -> String {
        let value: Value = serde_json::from_slice(text).unwrap_or_default();
        let told = [
            &value["error"]["message"],
            &value["message"],
            &value["error"],
            &value["detail"],
        ];
        let told = told.into_iter().find_map(Value::as_str);
        let message = plain(told.unwrap_or(&String::from_utf8_lossy(text)));
        match &self.manners.key {
            Some(key) => key.hide(&message),
            None => message,
        }
    }

    /// What kept a request from being answered at all.
    fn failed(&self, error: ureq::Error) -> Failure {
        let address = self.address.base().to_owned();
        let down = |problem: String| {
            Failure::passing(RemoteError::Down {
                address: address.clone(),
                problem,
            })
        };
        let tls = |problem: String| {
            Failure::last(RemoteError::Tls {
                address: address.clone(),
                problem,
            })
        };
        let unknown = || Failure::last(RemoteError::Host(self.address.host().to_owned()));
        match error {
            ureq::Error::Timeout(phase) => {
                let connecting = matches!(phase, Timeout::Connect | Timeout::Resolve);
                let (what, limit) = if connecting {
                    ("connecting", self.manners.connect)
                } else {
                    ("the answer", self.manners.request)
                };
                let milliseconds = limit.as_millis();
                Failure::last(RemoteError::Slow { what, milliseconds })
            }
            ureq::Error::HostNotFound => unknown(),
            ureq::Error::BodyExceedsLimit(limit) => Failure::last(RemoteError::TooLarge(limit)),
            ureq::Error::Rustls(error) => tls(error.to_string()),
            ureq::Error::Tls(problem) => tls(problem.to_owned()),
            ureq::Error::TlsRequired => tls("it is not encrypted".to_owned()),
            ureq::Error::InvalidProxyUrl => {
                Failure::last(RemoteError::Proxy("its address cannot be read".to_owned()))
            }
            ureq::Error::ConnectProxyFailed(problem) => {
                Failure::last(RemoteError::Proxy(plain(&problem)))
            }
            ureq::Error::ConnectionFailed => down("no connection".to_owned()),
            ureq::Error::Io(error) if error.to_string().contains("lookup address") => unknown(),
            ureq::Error::Io(error)
                if self.address.is_encrypted() && error.kind() == io::ErrorKind::InvalidData =>
            {
                tls(error.to_string())
            }
            ureq::Error::Io(error) => down(error.to_string()),
            // Headers or a body that are no HTTP.
            other => Failure::last(RemoteError::Shape(plain(&other.to_string()))),
        }
    }
}

fn counted(error: RemoteError, attempts: u32) -> RemoteError {
    match error {
        RemoteError::Busy { status, .. } => RemoteError::Busy { status, attempts },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_key_is_sent_and_never_repeated() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let lines = BufReader::new(&stream).lines().map_while(Result::ok);
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            let body = "the key k-123 is wrong";
            let length = body.len();
            let head_of_answer = "HTTP/1.1 400 Bad Request\r\nContent-Length:";
            write!(stream, "{head_of_answer} {length}\r\n\r\n{body}").unwrap();
            head
        });
        let manners = Manners {
            connect: Duration::from_secs(5),
            request: Duration::from_secs(5),
            retries: 0,
            backoff: Backoff {
                first: Duration::ZERO,
                longest: Duration::ZERO,
            },
            concurrency: 1,
            largest: 1 << 20,
            key: ApiKey::new("k-123"),
        };
        let client = Client::new(Address::parse(&url).unwrap(), manners);
        let told = client.get("/models").unwrap_err().to_string();
        assert!(told.contains("the key … is wrong"), "{told}");
        let head = server.join().unwrap();
        assert!(
            head.iter()
                .any(|line| line.eq_ignore_ascii_case("authorization: Bearer k-123"))
        );
    }
}
