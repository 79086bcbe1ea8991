//! A server of the test's own, on the loopback interface.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ndbg_simulator::backend::remote::{self, Backoff, Remote, Settings};
use ndbg_simulator::model::{Dialect, ModelError};
use serde_json::{Value, json};

pub const TOKENIZER: &[u8] = include_bytes!("../fixtures/llama/tokenizer.json");

/// A request.
#[derive(Clone, Debug)]
pub struct Seen {
    pub line: String,
    pub headers: String,
    pub body: Value,
}

/// What is answered.
#[derive(Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: String,
    pub body: Vec<u8>,
    /// Before anything is written.
    pub delay: Duration,
    /// Leaves so many bytes of the body out and closes.
    pub missing: usize,
}

impl Answer {
    pub fn text(status: u16, body: &str) -> Self {
        Self {
            status,
            headers: String::new(),
            body: body.as_bytes().to_vec(),
            delay: Duration::ZERO,
            missing: 0,
        }
    }

    pub fn json(body: &Value) -> Self {
        Self::text(200, &body.to_string())
    }

    pub fn header(mut self, line: &str) -> Self {
        self.headers += line;
        self.headers += "\r\n";
        self
    }
}

/// A server that answers completions in one way; `/models` by itself.
pub struct Server {
    pub url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// `owner` is what `/models` says of it. The number counts completions.
    pub fn start(
        owner: &str,
        answer: impl Fn(&Seen, usize) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let models = json!({"object": "list", "data": [
            {"id": "tiny", "owned_by": owner, "max_model_len": 64}]});
        let (requests, answer) = (Arc::clone(&seen), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (requests, answer) = (Arc::clone(&requests), Arc::clone(&answer));
                let models = Answer::json(&models);
                std::thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    let Some(request) = read(&mut stream) else {
                        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
                        return;
                    };
                    let answer = if request.line.contains("/models") {
                        models
                    } else {
                        let number = {
                            let mut requests = requests.lock().unwrap();
                            requests.push(request.clone());
                            requests.len() - 1
                        };
                        answer(&request, number)
                    };
                    write(&mut stream, &answer);
                });
            }
        });
        Self { url, seen }
    }

    /// The completions that were asked for.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// A model there.
    pub fn open(&self, change: impl Fn(&mut Settings)) -> Result<Remote, ModelError> {
        let mut settings = quick();
        change(&mut settings);
        remote::open(&self.url, settings)
    }
}

/// Settings that do not keep a test waiting.
pub fn quick() -> Settings {
    let mut settings = Settings::new(Dialect::Step);
    settings.tokenizer = Some(TOKENIZER.to_vec());
    settings.manners.backoff = Backoff {
        first: Duration::from_millis(5),
        longest: Duration::from_secs(2),
    };
    settings
}

fn read(stream: &mut TcpStream) -> Option<Seen> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut headers = String::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        headers += &header.to_lowercase();
    }
    let length = headers
        .lines()
        .find_map(|header| header.strip_prefix("content-length:"));
    let length = length.map_or(0, |length| length.trim().parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    (!line.is_empty()).then_some(Seen {
        line,
        headers,
        body,
    })
}

fn write(stream: &mut TcpStream, answer: &Answer) {
    std::thread::sleep(answer.delay);
    let head = format!(
        "HTTP/1.1 {} Is\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n{}\r\n",
        answer.status,
        answer.body.len(),
        answer.headers,
    );
    let shown = answer.body.len() - answer.missing;
    // The client may have gone already.
    let _ = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(&answer.body[..shown]));
}
