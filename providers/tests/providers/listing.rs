//! What can be reached.

use crate::serving::{KEY, Server, config};
use ndbg_providers::{Config, KeyState, Reachable, list};
use serde_json::json;
use std::time::{Duration, Instant};

fn entry<'a>(entries: &'a [Reachable], provider: &str) -> &'a Reachable {
    entries
        .iter()
        .find(|entry| entry.provider == provider)
        .unwrap()
}

#[test]
fn every_provider_says_what_it_has_or_lacks() {
    let ollama = Server::new().gets(
        "/api/tags",
        200,
        &json!({"models": [{"name": "qwen3:8b"}, {"name": "a:1b"}]}),
    );
    let azure = Server::new().gets(
        "/openai/v1/models",
        401,
        &json!({"error": {"message": "Access denied"}}),
    );
    let own = Server::new().gets(
        "/v1/models",
        200,
        &json!({"object": "list", "data": [{"id": "m"}]}),
    );
    let (ollama_url, azure_url) = (ollama.url(), azure.url());
    let mut config = Config::new(move |name| match name {
        "OLLAMA_HOST" => Some(ollama_url.clone()),
        "AZURE_OPENAI_ENDPOINT" => Some(azure_url.clone()),
        "AZURE_OPENAI_API_KEY" | "NDBG_API_KEY" => Some(KEY.to_owned()),
        _ => None,
    });
    config.limits = crate::serving::config().limits;
    let entries = list(&config, Some(&own.url())).unwrap();

    let found = entry(&entries, "ollama");
    assert_eq!(found.models, ["ollama/a:1b", "ollama/qwen3:8b"]);
    assert_eq!(
        (found.reachable, &found.key),
        (Some(true), &KeyState::NotNeeded)
    );
    assert!(
        ollama
            .requests()
            .iter()
            .all(|request| request.headers.get("authorization").is_none())
    );

    let found = entry(&entries, "azure");
    assert_eq!(
        found.key,
        KeyState::Found {
            from: "AZURE_OPENAI_API_KEY".to_owned()
        }
    );
    assert_eq!(
        found.why_not.as_deref(),
        Some("`azure` does not accept the key: Access denied")
    );
    assert_eq!(found.reachable, Some(true));

    let found = entry(&entries, "server");
    assert_eq!(found.models, [format!("{}/v1#m", own.url())]);
    let sent = own.requests()[0]
        .headers
        .get("authorization")
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    assert_eq!(sent, format!("Bearer {KEY}"));

    let found = entry(&entries, "anthropic");
    assert_eq!(
        found.key,
        KeyState::Missing {
            variable: "ANTHROPIC_API_KEY".to_owned()
        }
    );
    assert_eq!(
        (found.reachable, found.why_not.as_deref()),
        (None, Some("no key: set `ANTHROPIC_API_KEY`"))
    );
    assert!(!serde_json::to_string(&entries).unwrap().contains(KEY));
}

#[test]
fn an_address_that_is_missing_is_named() {
    let entries = list(&Config::new(|_| None), None).unwrap();
    let found = entry(&entries, "azure");
    assert_eq!(
        found.why_not.as_deref(),
        Some("`AZURE_OPENAI_ENDPOINT` is not set")
    );
    assert!(entries.iter().all(|entry| entry.provider != "server"));
}

#[test]
fn servers_that_hang_are_waited_for_together_and_not_long() {
    let hang = crate::serving::raw(|_, _| std::thread::sleep(Duration::from_secs(20)));
    let url = hang.clone();
    let mut config = Config::new(move |name| (name == "OLLAMA_HOST").then(|| url.clone()));
    config.limits = crate::serving::config().limits;
    let began = Instant::now();
    let entries = list(&config, Some(&hang)).unwrap();
    assert!(
        began.elapsed() < Duration::from_secs(7),
        "{:?}",
        began.elapsed()
    );
    let found = entry(&entries, "ollama");
    assert_eq!(found.reachable, Some(false));
    assert!(
        found
            .why_not
            .as_deref()
            .unwrap()
            .ends_with("no answer within 4 s"),
        "{found:?}"
    );
}

#[cfg(unix)]
#[test]
fn a_file_with_keys_that_others_can_read_stops_the_list() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("keys.toml"), "OPENAI_API_KEY = \"x\"\n").unwrap();
    let mut config = config();
    config.folder = Some(folder.path().to_owned());
    let failure = list(&config, None).unwrap_err();
    assert!(failure.to_string().contains("must be 0600"), "{failure}");
}
