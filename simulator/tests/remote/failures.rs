//! Everything that can go wrong, by kind.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ndbg_simulator::backend::remote::{self, RemoteError, Settings};
use ndbg_simulator::model::{LanguageModel, ModelError, Request, Sampling, Trie};
use serde_json::{Value, json};

use crate::server::{Answer, Server, quick};

fn request(prompt: &[u32]) -> Request<'_> {
    Request {
        prompt,
        sampling: Sampling::Greedy,
        stop: &[261],
        max_tokens: 4,
        mask: None,
    }
}

/// A whole answer of vLLM: `1`, then the end.
fn good() -> Value {
    json!({"choices": [{"index": 0, "text": "1", "finish_reason": "stop", "token_ids": [49, 261],
        "logprobs": {"tokens": ["token_id:49", "token_id:261"], "token_logprobs": [-0.5, -0.25]}}],
        "usage": {"prompt_tokens": 2, "completion_tokens": 2}})
}

fn with(change: impl Fn(&mut Value)) -> Value {
    let mut answer = good();
    change(&mut answer["choices"][0]);
    answer
}

fn remote_error(error: ModelError) -> RemoteError {
    match error {
        ModelError::Remote(error) => error,
        other => panic!("{other}"),
    }
}

/// The error after one way of answering, with settings.
fn told(answer: Answer, change: impl Fn(&mut Settings)) -> (RemoteError, usize) {
    let server = Server::start("vllm", move |_, _| answer.clone());
    let model = server.open(change).unwrap();
    let error = model.generate(&request(&[256, 49])).unwrap_err();
    (remote_error(error), server.seen().len())
}

fn status(status: u16, body: &str) -> RemoteError {
    told(Answer::text(status, body), |_| ()).0
}

#[test]
fn a_server_that_is_down_is_asked_again_and_then_named() {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let error = remote::open(&format!("http://{port}"), quick())
        .err()
        .unwrap();
    let error = remote_error(error);
    assert!(matches!(error, RemoteError::Down { .. }), "{error}");
    assert!(
        error.to_string().contains("is the server running"),
        "{error}"
    );
}

#[test]
fn a_host_that_is_not_known_is_named() {
    let mut settings = quick();
    settings.manners.connect = Duration::from_secs(2);
    let error = remote_error(
        remote::open("http://nowhere.invalid/v1", settings)
            .err()
            .unwrap(),
    );
    // Without a network the question for the name may itself take too long.
    assert!(
        matches!(error, RemoteError::Host(_) | RemoteError::Slow { .. }),
        "{error:?}"
    );
}

#[test]
fn a_server_that_is_not_encrypted_is_no_https_server() {
    let server = Server::start("vllm", |_, _| Answer::json(&good()));
    let url = server.url.replace("http:", "https:");
    let error = remote_error(remote::open(&url, quick()).err().unwrap());
    assert!(matches!(error, RemoteError::Tls { .. }), "{error:?}");
}

#[test]
fn a_slow_server_is_not_waited_for() {
    let mut slow = Answer::json(&good());
    slow.delay = Duration::from_secs(3);
    let begun = Instant::now();
    let (error, asked) = told(slow, |settings| {
        settings.manners.request = Duration::from_millis(300);
    });
    assert_eq!(
        error,
        RemoteError::Slow {
            what: "the answer",
            milliseconds: 300
        }
    );
    assert_eq!(asked, 1);
    assert!(begun.elapsed() < Duration::from_secs(3));
}

#[test]
fn refusals_are_told_by_kind() {
    assert_eq!(status(401, "{}"), RemoteError::Refused { status: 401 });
    assert_eq!(status(403, ""), RemoteError::Refused { status: 403 });
    let model = r#"{"error": {"message": "The model `x` does not exist.", "code": 404}}"#;
    assert!(
        status(404, model)
            .to_string()
            .contains("this model: The model `x`")
    );
    let path = status(404, r#"{"detail": "Not Found"}"#).to_string();
    assert!(
        path.contains("/v1/completions` ") || path.contains("/v1/completions`:"),
        "{path}"
    );
    let llama = r#"{"error": {"code": 400, "type": "exceed_context_size_error",
        "message": "request (100 tokens) exceeds the available context size (64 tokens)"}}"#;
    assert!(matches!(status(400, llama), RemoteError::TooLong(_)));
    assert!(matches!(status(413, ""), RemoteError::TooLong(_)));
    let other = status(400, r#"{"error": {"message": "a\u001b[2Jb"}}"#);
    assert_eq!(
        other,
        RemoteError::Status {
            status: 400,
            message: "a[2Jb".into()
        }
    );
    assert!(matches!(
        status(500, "oh"),
        RemoteError::Status { status: 500, .. }
    ));
    let (error, asked) = told(
        Answer::text(302, "").header("Location: http://elsewhere/v1"),
        |_| (),
    );
    assert_eq!(error, RemoteError::Redirect("http://elsewhere/v1".into()));
    assert_eq!(asked, 1);
}

#[test]
fn a_busy_server_is_asked_again_as_often_as_is_allowed() {
    for number in [429, 503] {
        let (error, asked) = told(Answer::text(number, ""), |settings| {
            settings.manners.retries = 2;
        });
        assert_eq!(
            error,
            RemoteError::Busy {
                status: number,
                attempts: 3
            }
        );
        assert_eq!(asked, 3);
    }
    let (_, asked) = told(Answer::text(502, ""), |settings| {
        settings.manners.retries = 1;
    });
    assert_eq!(asked, 2);
}

#[test]
fn what_a_busy_server_asks_for_is_waited() {
    let server = Server::start("vllm", |_, number| match number {
        0 => Answer::text(429, "").header("Retry-After: 1"),
        _ => Answer::json(&good()),
    });
    let model = server.open(|_| ()).unwrap();
    let begun = Instant::now();
    assert_eq!(
        model.generate(&request(&[256])).unwrap()[0].tokens,
        [49, 261]
    );
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!(server.seen().len(), 2);
    // Nobody waits for an hour.
    let (error, asked) = told(Answer::text(503, "").header("Retry-After: 3600"), |_| ());
    assert_eq!(
        error,
        RemoteError::Busy {
            status: 503,
            attempts: 1
        }
    );
    assert_eq!(asked, 1);
}

#[test]
fn half_an_answer_is_none() {
    let server = Server::start("vllm", |_, number| {
        let mut answer = Answer::json(&good());
        answer.missing = if number == 0 { 20 } else { 0 };
        answer
    });
    let model = server.open(|_| ()).unwrap();
    assert_eq!(
        model.generate(&request(&[256])).unwrap()[0].tokens,
        [49, 261]
    );
    assert_eq!(server.seen().len(), 2);
    let mut cut = Answer::json(&good());
    cut.missing = 20;
    let (error, _) = told(cut, |settings| settings.manners.retries = 0);
    assert!(matches!(error, RemoteError::Down { .. }), "{error:?}");
}

#[test]
fn answers_that_are_none_are_told_by_kind() {
    let said = |answer: Value| told(Answer::json(&answer), |_| ()).0;
    assert_eq!(status(200, "<html>"), RemoteError::NotJson);
    assert_eq!(said(json!([1])), RemoteError::NoChoices);
    assert_eq!(said(json!({"choices": []})), RemoteError::NoChoices);
    let lacking = with(|choice| choice["logprobs"] = Value::Null);
    assert_eq!(said(lacking), RemoteError::NoLogprobs);
    let lacking = with(|choice| choice["logprobs"]["token_logprobs"] = json!([null, -1.0]));
    assert_eq!(said(lacking), RemoteError::NoLogprobs);
    let unknown = with(|choice| choice["token_ids"] = json!([49, 7777]));
    assert_eq!(said(unknown), RemoteError::UnknownToken("7777".into()));
    let unknown = with(|choice| {
        choice["token_ids"] = Value::Null;
        choice["logprobs"]["tokens"] = json!(["\u{fffd}", "<|end|>"]);
    });
    assert_eq!(said(unknown), RemoteError::UnknownToken("\u{fffd}".into()));
    let broken = with(|choice| choice["finish_reason"] = json!("abort"));
    assert_eq!(said(broken), RemoteError::BrokenOff("abort".into()));
    for wrong in [
        with(|choice| choice["finish_reason"] = Value::Null),
        with(|choice| choice["index"] = json!(1)),
        with(|choice| choice["logprobs"]["token_logprobs"] = json!([-1.0])),
        with(|choice| choice["logprobs"]["token_logprobs"] = json!([0.5, -1.0])),
        with(|choice| choice["logprobs"]["token_logprobs"] = json!(["a", -1.0])),
        with(|choice| choice["token_ids"] = json!(["a", 261])),
        with(|choice| {
            choice["token_ids"] = json!([49, 49, 49, 49, 49]);
            choice["logprobs"]["token_logprobs"] = json!([-1, -1, -1, -1, -1]);
        }),
    ] {
        let error = said(wrong);
        assert!(matches!(error, RemoteError::Shape(_)), "{error:?}");
    }
    let (error, _) = told(Answer::json(&good()), |settings| {
        settings.manners.largest = 150;
    });
    assert_eq!(error, RemoteError::TooLarge(150));
}

#[test]
fn an_answer_outside_of_the_mask_is_no_prediction() {
    let server = Server::start("vllm", |_, _| Answer::json(&good()));
    let model = server.open(|_| ()).unwrap();
    let ask = |trie: &Trie| {
        let masked = Request {
            mask: Some(trie),
            ..request(&[256])
        };
        model.generate(&masked)
    };
    assert!(ask(&Trie::new([[49]], &[261])).unwrap()[0].stopped);
    let error = remote_error(ask(&Trie::new([[50]], &[261])).unwrap_err());
    assert_eq!(error, RemoteError::OutsideMask { at: 0 });
}

#[test]
fn questions_that_cannot_be_asked_are_not() {
    let server = Server::start("vllm", |_, _| Answer::json(&good()));
    let model = server.open(|_| ()).unwrap();
    let ask = |prompt: &[u32]| model.generate(&request(prompt)).unwrap_err().to_string();
    assert!(ask(&[]).contains("empty"));
    assert!(ask(&[9999]).contains("9999"));
    assert!(ask(&[1; 65]).contains("65 tokens"));
    let none = Request {
        max_tokens: 0,
        ..request(&[1])
    };
    assert!(model.generate(&none).unwrap()[0].tokens.is_empty());
    assert!(server.seen().is_empty());
}

#[test]
fn no_more_questions_at_a_time_than_are_allowed() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (inside, highest) = (Arc::clone(&now), Arc::clone(&most));
    let server = Server::start("vllm", move |_, _| {
        highest.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(40));
        inside.fetch_sub(1, Ordering::SeqCst);
        Answer::json(&good())
    });
    let model = server
        .open(|settings| settings.manners.concurrency = 3)
        .unwrap();
    let requests = [request(&[256]); 12];
    assert_eq!(model.generate_batch(&requests).unwrap().len(), 12);
    assert_eq!(server.seen().len(), 12);
    let most = most.load(Ordering::SeqCst);
    assert!((2..=3).contains(&most), "{most}");
}
