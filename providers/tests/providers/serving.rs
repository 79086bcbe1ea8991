//! Servers that say what a test wants, and calls to them.

use ndbg_providers::{
    Config, Endpoint, Failure, Limits, Live, Model, Progress, Reply, Request, open,
};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers};

pub const KEY: &str = "ndbg-test-key-0123456789abcdef";

/// A mock server that tests use without a runtime of their own.
pub struct Server(MockServer);

pub fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

impl Server {
    pub fn new() -> Self {
        Self(wait(MockServer::start()))
    }

    /// Answers every POST, from now on, `times` times at most, earlier rules first.
    pub fn says(self, status: u16, kind: &str, body: &str, times: u64) -> Self {
        let template = ResponseTemplate::new(status).set_body_raw(body.to_owned(), kind);
        self.answers(template, times)
    }

    pub fn answers(self, template: ResponseTemplate, times: u64) -> Self {
        let mock = Mock::given(matchers::method("POST"))
            .respond_with(template)
            .up_to_n_times(times);
        wait(mock.mount(&self.0));
        self
    }

    pub fn streams(self, body: &str) -> Self {
        self.says(200, "text/event-stream; charset=utf-8", body, u64::MAX)
    }

    pub fn gets(self, path: &str, status: u16, body: &Value) -> Self {
        let mock = Mock::given(matchers::method("GET"))
            .and(matchers::path(path))
            .respond_with(ResponseTemplate::new(status).set_body_json(body));
        wait(mock.mount(&self.0));
        self
    }

    pub fn url(&self) -> String {
        self.0.uri()
    }

    /// Requests so far.
    pub fn requests(&self) -> Vec<wiremock::Request> {
        wait(self.0.received_requests()).unwrap()
    }

    /// Bodies of the POST requests so far.
    pub fn bodies(&self) -> Vec<Value> {
        self.requests()
            .iter()
            .filter(|request| request.method.as_str() == "POST")
            .map(|request| request.body_json().unwrap())
            .collect()
    }
}

/// A server below HTTP: `script` writes what follows the request of each connection, counted from 0.
pub fn raw(script: impl Fn(usize, &mut TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let Ok(mut stream) = stream else { return };
            if read_request(&mut stream).is_some() {
                script(number, &mut stream);
            }
        }
    });
    format!("http://{address}")
}

/// The head of a request, once its body has come.
pub fn read_request(stream: &mut impl Read) -> Option<String> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let count = stream.read(&mut piece).ok()?;
        if count == 0 {
            return None;
        }
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes);
        let Some(end) = text.find("\r\n\r\n") else {
            continue;
        };
        let length = text
            .to_lowercase()
            .lines()
            .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok())
            .unwrap_or(0);
        if bytes.len() >= end + 4 + length {
            return Some(text[..end].to_owned());
        }
    }
}

/// The head of an answer without a length, so that its end is the connection's.
pub fn head(stream: &mut impl Write) {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    stream.flush().unwrap();
}

/// Short waits, and the key in the variable of user-given addresses.
pub fn config() -> Config {
    let mut config = Config::new(|name| (name == "NDBG_API_KEY").then(|| KEY.to_owned()));
    config.limits = Limits {
        connect: Duration::from_secs(5),
        first_byte: Duration::from_secs(10),
        stall: Duration::from_secs(10),
        total: Duration::from_secs(30),
        attempts: 3,
        backoff: Duration::from_millis(20),
        longest_wait: Duration::from_secs(2),
    };
    config
}

pub fn live(model: &str, url: &str) -> Live {
    live_with(model, url, &config())
}

pub fn live_with(model: &str, url: &str, config: &Config) -> Live {
    open(&Model::parse(model, Some(url)).unwrap(), config).unwrap()
}

/// What a call showed and how it ended.
pub struct Ended {
    pub shown: Vec<String>,
    pub result: Result<Reply, Failure>,
}

impl Ended {
    pub fn reply(self) -> Reply {
        self.result.unwrap()
    }

    pub fn failure(self) -> Failure {
        self.result.unwrap_err()
    }
}

pub fn ask(endpoint: &mut impl Endpoint, request: &Request) -> Ended {
    let mut shown = Vec::new();
    let result = endpoint.complete(
        request,
        &mut |progress| {
            shown.push(match progress {
                Progress::Text(text) => text.to_owned(),
                Progress::Thinking(text) => format!("({text})"),
                Progress::Again { why, .. } => format!("again: {why}"),
            });
        },
        &|| false,
    );
    Ended { shown, result }
}

pub fn hello() -> Request {
    Request::new("be brief", "why is the sky blue?", 100)
}
