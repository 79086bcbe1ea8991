//! Proxies and certificates.

use crate::serving::{KEY, Server, ask, config, head, hello, live_with, raw, read_request};
use ndbg_providers::{Config, Failure};
use std::io::Write;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

const CHAT: &str = include_str!("streams/chat.txt");

fn with(variables: &[(&'static str, String)]) -> Config {
    let variables = variables.to_vec();
    let mut made = Config::new(move |name| {
        let found = variables.iter().find(|(key, _)| *key == name);
        found
            .map(|(_, value)| value.clone())
            .or_else(|| (name == "NDBG_API_KEY").then(|| KEY.to_owned()))
    });
    made.limits = config().limits;
    made
}

#[test]
fn a_proxy_is_used_but_not_for_what_it_is_not_for() {
    let proxy = Server::new().streams(CHAT);
    let direct = Server::new().streams(CHAT);
    let target = "http://models.example.com/v1";
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"] {
        let before = proxy.requests().len();
        let config = with(&[(name, proxy.url())]);
        ask(&mut live_with("m", target, &config), &hello()).reply();
        let requests = proxy.requests();
        assert_eq!(requests.len(), before + 1, "{name}");
        let host = requests[before]
            .headers
            .get("host")
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        assert_eq!(host, "models.example.com");
    }
    let before = proxy.requests().len();
    let config = with(&[("HTTP_PROXY", proxy.url())]);
    ask(&mut live_with("m", &direct.url(), &config), &hello()).reply();
    assert_eq!(proxy.requests().len(), before, "loopback needs no proxy");
    let mut config = with(&[
        ("HTTP_PROXY", proxy.url()),
        ("NO_PROXY", "example.com".to_owned()),
    ]);
    config.limits.attempts = 1;
    let failure = ask(&mut live_with("m", target, &config), &hello()).failure();
    assert!(matches!(failure, Failure::NoNetwork { .. }), "{failure:?}");
    assert_eq!(proxy.requests().len(), before);
}

#[test]
fn an_encrypted_connection_goes_through_a_tunnel() {
    let seen = Arc::new(Mutex::new(String::new()));
    let lines = seen.clone();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://me:s3cret@{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            *lines.lock().unwrap() = read_request(&mut stream).unwrap_or_default();
            stream
                .write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
                .unwrap();
        }
    });
    let mut config = with(&[("HTTPS_PROXY", url)]);
    config.limits.attempts = 1;
    let failure = ask(
        &mut live_with("m", "https://models.example.com/v1", &config),
        &hello(),
    )
    .failure();
    assert!(matches!(failure, Failure::NoNetwork { .. }), "{failure:?}");
    let head = seen.lock().unwrap().clone();
    assert!(
        head.starts_with("CONNECT models.example.com:443 HTTP/1.1"),
        "{head}"
    );
    assert!(
        head.to_lowercase().contains("proxy-authorization: basic"),
        "{head}"
    );
    assert!(!head.contains(KEY), "the proxy does not see the key");
    assert!(!format!("{failure:?}").contains("s3cret"));
}

#[test]
fn a_certificate_of_ones_own_is_trusted_when_it_is_named() {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, made.cert.pem()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let server = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let server = Arc::new(server);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!(
        "https://localhost:{}/v1",
        listener.local_addr().unwrap().port()
    );
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = rustls::ServerConnection::new(server.clone()).unwrap();
            let mut stream = rustls::StreamOwned::new(connection, stream.unwrap());
            if read_request(&mut stream).is_some() {
                head(&mut stream);
                let _ = stream.write_all(CHAT.as_bytes());
                stream.conn.send_close_notify();
                let _ = stream.flush();
            }
        }
    });
    let plain = config();
    let failure = ask(&mut live_with("m", &url, &plain), &hello()).failure();
    let Failure::NoNetwork { message, .. } = failure else {
        panic!("{failure:?}")
    };
    assert!(message.contains("certificate"), "{message}");

    let mut trusting = config();
    trusting.ca_file = Some(file.clone());
    assert_eq!(
        ask(&mut live_with("m", &url, &trusting), &hello())
            .reply()
            .text,
        "The sky is blü."
    );
    let named = with(&[("SSL_CERT_FILE", file.display().to_string())]);
    assert_eq!(
        ask(&mut live_with("m", &url, &named), &hello())
            .reply()
            .text,
        "The sky is blü."
    );
}

#[test]
fn a_certificate_file_that_is_none_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    let mut config = config();
    config.ca_file = Some(file.clone());
    let model = ndbg_providers::Model::parse("m", Some("https://localhost:1")).unwrap();
    for text in [None, Some("no certificate")] {
        if let Some(text) = text {
            std::fs::write(&file, text).unwrap();
        }
        let Err(failure) = ndbg_providers::open(&model, &config) else {
            panic!("it was opened")
        };
        assert!(matches!(failure, Failure::BadFile { .. }), "{failure:?}");
    }
}

#[test]
fn a_key_that_is_no_key_is_not_sent() {
    let url = raw(|_, stream| head(stream));
    let config = Config::new(|name| (name == "NDBG_API_KEY").then(|| "line\nbreak".to_owned()));
    let failure = ask(&mut live_with("m", &url, &config), &hello()).failure();
    assert!(matches!(failure, Failure::WrongKey { .. }), "{failure:?}");
}
