//! Records: whole, free of secrets, and replayed bit for bit.

use crate::serving::{KEY, Server, ask, hello, live};
use ndbg_providers::{Endpoint, Failure, Journal, Message, Recorder, Replayer, Request};
use serde_json::{Value, json};
use std::path::Path;

const CHAT: &str = include_str!("streams/chat.txt");

fn read(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

fn second() -> Request {
    let mut request = hello();
    request.temperature = Some(0.1 + 0.2);
    request.messages.push(Message::assistant("The sky is blü."));
    request
        .messages
        .push(Message::user("and\nat night\nwhen it is dark?"));
    request
}

#[test]
fn what_was_recorded_is_replayed_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let calls = include_str!("streams/chat-calls.txt");
    let declined =
        json!({"error": {"message": "nope", "code": "content_policy_violation"}}).to_string();
    let server = Server::new()
        .says(200, "text/event-stream", CHAT, 1)
        .says(200, "text/event-stream", calls, 1)
        .says(400, "application/json", &declined, 1);
    let inner = live("openrouter/m", &server.url());
    let secrets = inner.secrets().to_vec();
    let mut recorder = Recorder::new(inner, folder.path(), &secrets);
    let requests = [hello(), second(), hello()];
    let lived: Vec<_> = requests
        .iter()
        .map(|request| ask(&mut recorder, request).result)
        .collect();
    assert!(lived[1].as_ref().unwrap().usage.cost.is_some());
    assert!(matches!(lived[2], Err(Failure::Refused { .. })));
    let url = server.url();
    drop(server);

    let mut replayer = Replayer::open(folder.path(), &[]).unwrap();
    assert_eq!(replayer.model(), "openrouter/m");
    assert_eq!(replayer.left(), 3);
    for (request, was) in requests.iter().zip(&lived) {
        let ended = ask(&mut replayer, request);
        assert_eq!(&ended.result, was);
        if let Ok(reply) = was {
            assert_eq!(ended.shown.concat(), reply.text);
        }
    }
    let failure = ask(&mut replayer, &hello()).failure();
    assert_eq!(
        failure.to_string(),
        "exchange 4 is not in the recording: the recording ends after 3 exchanges"
    );
    let file = read(folder.path(), "0001.json");
    assert_eq!(file["format"], 1);
    assert_eq!(file["model"], "openrouter/m");
    assert_eq!(file["request_sha256"], hello().hash());
    assert!(file["took_us"].as_u64().unwrap() > 0);
    assert_eq!(file["reply"]["usage"]["prompt"], 1200);
    assert_eq!(
        read(folder.path(), "0003.json")["failure"]["kind"],
        "refused"
    );
    assert!(!url.is_empty());
}

#[test]
fn a_mismatch_says_which_message_differs_first() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::new().streams(CHAT);
    let mut recorder = Recorder::new(live("m", &server.url()), folder.path(), &[]);
    ask(&mut recorder, &hello()).reply();
    ask(&mut recorder, &second()).reply();

    let mut changed = second();
    changed.messages[2] = Message::user("and\nat dawn\nwhen it is dark?");
    let mut replayer = Replayer::open(folder.path(), &[]).unwrap();
    ask(&mut replayer, &hello()).reply();
    let failure = ask(&mut replayer, &changed).failure();
    assert_eq!(
        failure,
        Failure::Replay {
            exchange: 2,
            message: "message 3 (`user`) differs from line 2 on".to_owned(),
            diff: " and\n-at night\n+at dawn\n when it is dark?".to_owned(),
        }
    );
    // The right request is still answered.
    ask(&mut replayer, &second()).reply();
}

#[test]
fn no_secret_gets_into_a_record_or_a_debug_output() {
    let folder = tempfile::tempdir().unwrap();
    let echo = format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"your key is {KEY}\"}},\"finish_reason\":\"stop\"}}]}}\n\n"
    );
    let server = Server::new().says(200, "text/event-stream", &echo, 1).says(
        400,
        "application/json",
        &json!({"error": {"message": format!("bad {KEY}")}}).to_string(),
        1,
    );
    let inner = live("m", &server.url());
    let secrets = inner.secrets().to_vec();
    assert!(!format!("{secrets:?} {:?}", crate::serving::config()).contains(KEY));
    let mut recorder = Recorder::new(inner, folder.path(), &secrets);
    let telling = Request::new("", format!("export NDBG_API_KEY={KEY}"), 10);
    let reply = ask(&mut recorder, &telling).reply();
    assert_eq!(reply.text, "your key is ***");
    let failure = ask(&mut recorder, &telling).failure();
    assert!(!format!("{failure:?}").contains(KEY));
    for name in ["0001.json", "0002.json"] {
        let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(!text.contains(KEY), "{text}");
        assert!(text.contains("export NDBG_API_KEY=***"), "{text}");
    }
    // Whoever replays with the same key in place asks for the same thing.
    let mut replayer = Replayer::open(folder.path(), &secrets).unwrap();
    assert_eq!(ask(&mut replayer, &telling).reply(), reply);
}

#[test]
fn a_journal_replays_what_is_there_and_goes_on_live() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::new().streams(CHAT);
    let mut first = Journal::open(live("m", &server.url()), folder.path(), &[]).unwrap();
    assert_eq!(first.replayable(), 0);
    let reply = ask(&mut first, &hello()).reply();
    drop(first);

    let mut resumed = Journal::open(live("m", &server.url()), folder.path(), &[]).unwrap();
    assert_eq!(resumed.replayable(), 1);
    assert_eq!(ask(&mut resumed, &hello()).reply(), reply);
    assert_eq!(server.bodies().len(), 1, "nothing is paid for twice");
    ask(&mut resumed, &second()).reply();
    assert_eq!(server.bodies().len(), 2);
    assert!(folder.path().join("0002.json").exists());
}

#[test]
fn a_journal_asks_anew_from_the_first_request_that_is_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::new().streams(CHAT);
    let mut first = Journal::open(live("m", &server.url()), folder.path(), &[]).unwrap();
    ask(&mut first, &hello()).reply();
    ask(&mut first, &hello()).reply();
    drop(first);

    let mut resumed = Journal::open(live("m", &server.url()), folder.path(), &[]).unwrap();
    assert_eq!(resumed.replayable(), 2);
    ask(&mut resumed, &hello()).reply();
    assert_eq!(server.bodies().len(), 2);
    let before = read(folder.path(), "0002.json");
    ask(&mut resumed, &second()).reply();
    assert_eq!(server.bodies().len(), 3);
    assert_ne!(
        read(folder.path(), "0002.json")["request"],
        before["request"]
    );
    assert!(!folder.path().join("0003.json").exists());
}

#[test]
fn a_journal_asks_again_what_failed_last() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::new()
        .says(
            402,
            "application/json",
            "{\"error\":{\"message\":\"no credit\"}}",
            1,
        )
        .streams(CHAT);
    let mut first = Journal::open(live("m", &server.url()), folder.path(), &[]).unwrap();
    assert!(matches!(
        ask(&mut first, &hello()).failure(),
        Failure::QuotaExhausted { .. }
    ));
    drop(first);
    let mut resumed = Journal::open(live("m", &server.url()), folder.path(), &[]).unwrap();
    ask(&mut resumed, &hello()).reply();
    assert!(read(folder.path(), "0001.json").get("reply").is_some());
    assert!(!folder.path().join("0002.json").exists());
}

#[test]
fn a_journal_of_another_model_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::new().streams(CHAT);
    let mut first = Journal::open(live("openai/a", &server.url()), folder.path(), &[]).unwrap();
    ask(&mut first, &hello()).reply();
    let Err(failure) = Journal::open(live("openai/b", &server.url()), folder.path(), &[]) else {
        panic!("it was opened");
    };
    assert!(
        failure
            .to_string()
            .ends_with("answered by `openai/a`, not by `openai/b`"),
        "{failure}"
    );
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let Err(failure) = Replayer::open(folder.path(), &[]) else {
        panic!("it was opened")
    };
    assert!(
        failure.to_string().contains("holds no `0001.json`"),
        "{failure}"
    );
    for (text, message) in [
        ("{\"format\": 9}", "has format 9, this program reads 1"),
        ("{}", "is no exchange"),
        ("{", "is not JSON"),
    ] {
        std::fs::write(folder.path().join("0001.json"), text).unwrap();
        let failure = ask(&mut Replayer::open(folder.path(), &[]).unwrap(), &hello()).failure();
        assert!(failure.to_string().contains(message), "{failure}");
    }
}
