//! A server that speaks like one of OpenAI's kind and says what a test wants, in order.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value as Json, json};

/// What it answers to one request.
#[derive(Debug, Clone)]
pub enum Says {
    /// A text, streamed in pieces.
    Text(String),
    /// A call of a function.
    Call(&'static str, Json),
    /// A status and a body.
    Status(u16, String),
    /// The beginning of a text, and then the connection ends.
    BreaksOff(String),
    /// The head of an answer, and nothing more while the connection stands.
    Silence,
    /// A text that a limit of tokens cut off.
    Cut(String),
}

/// A running server.
#[derive(Debug)]
pub struct ModelServer {
    port: u16,
    requests: Arc<Mutex<Vec<Json>>>,
    keys: Arc<Mutex<Vec<String>>>,
}

impl ModelServer {
    /// Answers in this order, and with the last answer from then on.
    pub fn start(answers: Vec<Says>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let keys = Arc::new(Mutex::new(Vec::new()));
        let (seen, held) = (Arc::clone(&requests), Arc::clone(&keys));
        thread::spawn(move || {
            let mut number = 0;
            for stream in listener.incoming() {
                let Ok(stream) = stream else { continue };
                let answer = &answers[number.min(answers.len() - 1)];
                if serve(stream, answer, &seen, &held).unwrap_or(false) {
                    number += 1;
                }
            }
        });
        Self {
            port,
            requests,
            keys,
        }
    }

    /// Its address, with a model's name.
    pub fn model(&self) -> String {
        format!("http://127.0.0.1:{}/v1#tester", self.port)
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Json> {
        self.requests.lock().unwrap().clone()
    }

    /// What requests said for authorization.
    pub fn keys(&self) -> Vec<String> {
        self.keys.lock().unwrap().clone()
    }
}

/// Whether it was a request for an answer.
fn serve(
    mut stream: TcpStream,
    answer: &Says,
    requests: &Mutex<Vec<Json>>,
    keys: &Mutex<Vec<String>>,
) -> std::io::Result<bool> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        match name.to_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "authorization" => keys.lock().unwrap().push(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    if !first.starts_with("POST") {
        respond(&mut stream, 200, "application/json", r#"{"data": []}"#)?;
        return Ok(false);
    }
    requests
        .lock()
        .unwrap()
        .push(serde_json::from_slice(&body).unwrap_or_default());
    match answer {
        Says::Status(status, text) => respond(&mut stream, *status, "application/json", text)?,
        Says::Text(text) => {
            let events = pieces(text) + &ending("stop") + "data: [DONE]\n\n";
            respond(&mut stream, 200, "text/event-stream", &events)?;
        }
        Says::Cut(text) => {
            let events = pieces(text) + &ending("length") + "data: [DONE]\n\n";
            respond(&mut stream, 200, "text/event-stream", &events)?;
        }
        Says::BreaksOff(text) => {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
                        Content-Length: 100000\r\n\r\n";
            stream.write_all(head.as_bytes())?;
            stream.write_all(pieces(text).as_bytes())?;
        }
        Says::Silence => {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
            stream.write_all(head.as_bytes())?;
            stream.flush()?;
            thread::spawn(move || {
                thread::sleep(std::time::Duration::from_mins(2));
                drop(stream);
            });
            return Ok(true);
        }
        Says::Call(name, arguments) => {
            let delta = json!({ "tool_calls": [{
                "index": 0, "id": "call_1", "type": "function",
                "function": { "name": name, "arguments": arguments.to_string() },
            }]});
            let events = event(&delta) + &ending("tool_calls") + "data: [DONE]\n\n";
            respond(&mut stream, 200, "text/event-stream", &events)?;
        }
    }
    Ok(true)
}

fn respond(stream: &mut TcpStream, status: u16, kind: &str, body: &str) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn event(delta: &Json) -> String {
    let chunk = json!({
        "id": "1", "object": "chat.completion.chunk", "model": "tester",
        "choices": [{ "index": 0, "delta": delta, "finish_reason": null }],
    });
    format!("data: {chunk}\n\n")
}

fn pieces(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    letters
        .chunks(20)
        .map(|part| event(&json!({ "content": part.iter().collect::<String>() })))
        .collect()
}

fn ending(reason: &str) -> String {
    let chunk = json!({
        "id": "1", "object": "chat.completion.chunk", "model": "tester",
        "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }],
        "usage": { "prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050 },
    });
    format!("data: {chunk}\n\n")
}
