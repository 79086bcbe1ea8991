//! What goes wrong, and how soon and how clearly that is said.

use crate::serving::{KEY, Server, ask, config, head, hello, live, live_with, raw};
use ndbg_providers::{Endpoint, Failure, Progress};
use serde_json::json;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};
use wiremock::ResponseTemplate;

const CHAT: &str = include_str!("streams/chat.txt");
const FAMILIES: [(&str, &str); 5] = [
    ("openai/m", CHAT),
    ("openai-responses/m", include_str!("streams/responses.txt")),
    ("anthropic/m", include_str!("streams/anthropic.txt")),
    ("gemini/m", include_str!("streams/gemini.txt")),
    ("ollama/m", include_str!("streams/ollama.txt")),
];

#[test]
fn a_wrong_key_is_said_at_once_and_does_not_show() {
    let body = json!({"error": {"message": format!("Incorrect API key provided: {KEY}."), "code": "invalid_api_key"}});
    for (model, _) in FAMILIES {
        let server = Server::new().says(401, "application/json", &body.to_string(), 99);
        let failure = ask(&mut live(model, &server.url()), &hello()).failure();
        assert!(matches!(failure, Failure::WrongKey { .. }), "{failure:?}");
        assert!(!format!("{failure:?} {failure}").contains(KEY));
        assert!(
            failure
                .to_string()
                .ends_with("Incorrect API key provided: ***"),
            "{failure}"
        );
        assert_eq!(server.bodies().len(), 1);
    }
}

#[test]
fn a_server_that_wants_a_key_where_none_is_known_names_the_variable() {
    let server = Server::new().says(401, "application/json", "{\"error\":\"Unauthorized\"}", 9);
    let none = ndbg_providers::Config::new(|_| None);
    let failure = ask(&mut live_with("m", &server.url(), &none), &hello()).failure();
    assert_eq!(
        failure.to_string(),
        "no key for `server`: `NDBG_API_KEY` is not set"
    );
}

#[test]
fn an_unknown_model_comes_with_near_names() {
    let body = json!({"error": {"message": "The model `qwen-coder` does not exist.", "code": "model_not_found"}});
    let server = Server::new()
        .says(404, "application/json", &body.to_string(), 9)
        .gets(
            "/v1/models",
            200,
            &json!({"data": [{"id": "Qwen/Qwen-Coder"}, {"id": "qwen-code"}, {"id": "whisper"}]}),
        );
    let failure = ask(&mut live("qwen-coder", &server.url()), &hello()).failure();
    assert_eq!(
        failure.to_string(),
        "`server` has no model `qwen-coder`; it has `Qwen/Qwen-Coder`, `qwen-code`"
    );
    assert_eq!(failure.hint(), "did you mean `Qwen/Qwen-Coder`?");
}

#[test]
fn a_context_that_is_too_small_is_said_with_its_limit() {
    let body = json!({"error": {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 9000,
        "n_ctx": 8192, "message": "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it"}});
    let server = Server::new().says(400, "application/json", &body.to_string(), 9);
    let failure = ask(&mut live("m", &server.url()), &hello()).failure();
    assert!(
        matches!(
            failure,
            Failure::ContextOverflow {
                limit: Some(8192),
                ..
            }
        ),
        "{failure:?}"
    );
}

#[test]
fn a_prompt_that_is_declined_is_no_reply() {
    let stream = "data: {\"promptFeedback\": {\"blockReason\": \"PROHIBITED_CONTENT\"},\"usageMetadata\": {\"promptTokenCount\": 9}}\n\n";
    let server = Server::new().streams(stream);
    let failure = ask(&mut live("gemini/m", &server.url()), &hello()).failure();
    assert_eq!(
        failure.to_string(),
        "`gemini` declined the prompt: PROHIBITED_CONTENT"
    );
}

#[test]
fn a_stream_that_breaks_off_is_tried_again_and_then_said() {
    for (model, stream) in FAMILIES {
        // After an event, where nothing looks wrong but the missing end, and inside of one.
        let after = stream[..stream.len() * 2 / 3].rfind('}').unwrap() + 1;
        let after = stream[..after].rfind('\n').unwrap() + 1;
        for end in [after, after + 30] {
            let server = Server::new().streams(&stream[..end]);
            let ended = ask(&mut live(model, &server.url()), &hello());
            let broken = "again: the reply broke off";
            let again = ended.shown.iter().filter(|line| line.starts_with(broken));
            assert_eq!(again.count(), 2, "{model}: {:?}", ended.shown);
            let failure = ended.failure();
            assert_eq!(
                failure,
                Failure::Truncated {
                    received: end as u64
                },
                "{model}"
            );
            assert_eq!(server.bodies().len(), 3);
        }
    }
}

#[test]
fn a_connection_that_is_reset_is_tried_again() {
    let url = raw(|number, stream| {
        if number == 0 {
            return;
        }
        head(stream);
        if number == 1 {
            stream.write_all(&CHAT.as_bytes()[..400]).unwrap();
            return;
        }
        stream.write_all(CHAT.as_bytes()).unwrap();
    });
    let ended = ask(&mut live("m", &url), &hello());
    assert_eq!(
        ended
            .shown
            .iter()
            .filter(|line| line.starts_with("again"))
            .count(),
        2
    );
    assert_eq!(ended.reply().text, "The sky is blü.");
}

#[test]
fn a_stream_that_is_none_is_malformed() {
    for (model, stream) in [
        ("openai/m", "data: {\"choices\": [{\"delta\"\n\n"),
        ("openai/m", "data: hello\n\n"),
        ("anthropic/m", "data: {\"no\": \"type\"}\n\n"),
        ("openai-responses/m", "data: {\"no\": \"type\"}\n\n"),
        ("gemini/m", "data: <html>\n\n"),
        ("ollama/m", "{\"choices\": []}\n"),
    ] {
        let server = Server::new().streams(stream);
        let failure = ask(&mut live(model, &server.url()), &hello()).failure();
        assert!(
            matches!(failure, Failure::Malformed { .. }),
            "{model} {failure:?}"
        );
    }
    let server = Server::new().says(200, "text/html", "<html>Log in</html>", 9);
    let failure = ask(&mut live("m", &server.url()), &hello()).failure();
    assert_eq!(
        failure.to_string(),
        "the answer cannot be read: it is of the type `text/html`"
    );
}

#[test]
fn a_server_that_falls_silent_is_given_up() {
    for begun in [false, true] {
        let url = raw(move |_, stream| {
            if begun {
                head(stream);
                stream.write_all(&CHAT.as_bytes()[..600]).unwrap();
            }
            std::thread::sleep(Duration::from_secs(3));
        });
        let mut config = config();
        config.limits.attempts = 1;
        config.limits.stall = Duration::from_millis(300);
        config.limits.first_byte = Duration::from_millis(300);
        let began = Instant::now();
        let failure = ask(&mut live_with("m", &url, &config), &hello()).failure();
        assert_eq!(failure, Failure::Stalled { seconds: 1 });
        assert!(began.elapsed() < Duration::from_secs(2));
    }
}

#[test]
fn a_call_ends_at_its_deadline_whatever_trickles_in() {
    let url = raw(|_, stream| {
        head(stream);
        for _ in 0..100 {
            if stream.write_all(b": still here\n\n").is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let mut config = config();
    config.limits.total = Duration::from_millis(500);
    let failure = ask(&mut live_with("m", &url, &config), &hello()).failure();
    assert_eq!(failure, Failure::TimedOut { seconds: 1 });
}

#[test]
fn busy_servers_are_tried_again() {
    for status in [408, 409, 429, 500, 502, 503, 504, 529] {
        let server = Server::new()
            .says(
                status,
                "application/json",
                "{\"error\":{\"message\":\"busy\"}}",
                2,
            )
            .streams(CHAT);
        let ended = ask(&mut live("openai/m", &server.url()), &hello());
        assert_eq!(ended.reply().text, "The sky is blü.", "{status}");
        assert_eq!(server.bodies().len(), 3);
    }
}

#[test]
fn an_error_inside_a_stream_is_tried_again() {
    let overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
    let server = Server::new()
        .says(200, "text/event-stream", overloaded, 1)
        .streams(FAMILIES[2].1);
    let ended = ask(&mut live("anthropic/m", &server.url()), &hello());
    assert_eq!(
        ended.shown[0],
        "again: `anthropic` cannot answer now: Overloaded"
    );
    assert_eq!(ended.reply().text, "The sky is blü.");
    let failed = "data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"Rate limit reached\"}}}\n\n";
    let server = Server::new().says(200, "text/event-stream", failed, 99);
    let failure = ask(&mut live("openai-responses/m", &server.url()), &hello()).failure();
    assert!(
        matches!(failure, Failure::RateLimited { .. }),
        "{failure:?}"
    );
    let server = Server::new().says(
        200,
        "application/x-ndjson",
        "{\"error\":\"model 'm' not found\"}\n",
        99,
    );
    let failure = ask(&mut live("ollama/m", &server.url()), &hello()).failure();
    assert!(
        matches!(failure, Failure::UnknownModel { .. }),
        "{failure:?}"
    );
}

#[test]
fn retry_after_is_waited_for() {
    let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(3));
    for (value, at_least) in [("1", 1000), (date.as_str(), 1000)] {
        let busy = ResponseTemplate::new(429).insert_header("retry-after", value);
        let server = Server::new().answers(busy, 1).streams(CHAT);
        let mut config = config();
        config.limits.longest_wait = Duration::from_secs(4);
        let began = Instant::now();
        ask(&mut live_with("m", &server.url(), &config), &hello()).reply();
        assert!(
            began.elapsed() >= Duration::from_millis(at_least),
            "{value}"
        );
    }
}

#[test]
fn a_wait_that_is_too_long_is_not_begun() {
    let busy = ResponseTemplate::new(429).insert_header("retry-after", "3600");
    let server = Server::new().answers(busy, 99);
    let began = Instant::now();
    let failure = ask(&mut live("m", &server.url()), &hello()).failure();
    assert!(
        matches!(
            failure,
            Failure::RateLimited {
                retry_after: Some(3600),
                ..
            }
        ),
        "{failure:?}"
    );
    assert_eq!(failure.hint(), "try again in 3600 s, or use another model");
    assert!(began.elapsed() < Duration::from_secs(1));
    assert_eq!(server.bodies().len(), 1);
}

#[test]
fn an_empty_account_is_not_tried_again() {
    let body = json!({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}});
    let server = Server::new().says(429, "application/json", &body.to_string(), 99);
    let failure = ask(&mut live("openai/m", &server.url()), &hello()).failure();
    assert!(
        matches!(failure, Failure::QuotaExhausted { .. }),
        "{failure:?}"
    );
    assert_eq!(server.bodies().len(), 1);
}

/// How long it takes a call to end once the flag is set, and how it ends.
fn cancelled(url: &str, after: Duration) -> (Failure, Duration) {
    let stop = Arc::new(AtomicBool::new(false));
    let (flag, set_at) = (stop.clone(), Instant::now() + after);
    std::thread::spawn(move || {
        std::thread::sleep(after);
        flag.store(true, Ordering::SeqCst);
    });
    let mut config = config();
    config.limits.longest_wait = Duration::from_secs(20);
    let mut endpoint = live_with("m", url, &config);
    let failure = endpoint
        .complete(&hello(), &mut |_: Progress<'_>| {}, &|| {
            stop.load(Ordering::SeqCst)
        })
        .unwrap_err();
    (failure, Instant::now().saturating_duration_since(set_at))
}

#[test]
fn a_call_is_cancelled_at_once_wherever_it_waits() {
    let silent = raw(|_, _| std::thread::sleep(Duration::from_secs(5)));
    let stalled = raw(|_, stream| {
        head(stream);
        stream.write_all(&CHAT.as_bytes()[..600]).unwrap();
        std::thread::sleep(Duration::from_secs(5));
    });
    let busy = ResponseTemplate::new(429).insert_header("retry-after", "15");
    let waiting = Server::new().answers(busy, 99);
    for url in [silent, stalled, waiting.url()] {
        let (failure, late) = cancelled(&url, Duration::from_millis(300));
        assert_eq!(failure, Failure::Cancelled);
        assert!(late < Duration::from_millis(1500), "{late:?}");
    }
}

#[test]
fn a_redirect_is_not_followed_and_the_key_stays() {
    let seen = Arc::new(AtomicUsize::new(0));
    let count = seen.clone();
    let other = raw(move |_, _| {
        count.fetch_add(1, Ordering::SeqCst);
    });
    let away = ResponseTemplate::new(307).insert_header("location", other.as_str());
    let server = Server::new().answers(away, 99);
    let failure = ask(&mut live("m", &server.url()), &hello()).failure();
    assert!(
        failure.to_string().contains("a key is not sent on"),
        "{failure}"
    );
    assert_eq!(seen.load(Ordering::SeqCst), 0);
}

#[test]
fn a_server_that_is_not_there_is_said_at_once() {
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let began = Instant::now();
    let failure = ask(
        &mut live("m", &format!("http://127.0.0.1:{port}")),
        &hello(),
    )
    .failure();
    let Failure::NoNetwork { host, message } = &failure else {
        panic!("{failure:?}")
    };
    assert_eq!(host, &format!("127.0.0.1:{port}"));
    assert!(message.to_lowercase().contains("refused"), "{message}");
    assert!(began.elapsed() < Duration::from_secs(2));
}
