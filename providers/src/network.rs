//! Connections: certificates, proxies, and what goes wrong before a server says anything.

use crate::config::Config;
use crate::failure::Failure;
use reqwest::{Client, NoProxy, Proxy, Url};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A client that follows no redirects, since a key that goes along would reach another host, and
/// that asks `config` for proxies instead of the process's environment. Fails with
/// [`Failure::BadFile`] for certificates and with [`Failure::BadName`] for a proxy.
pub(crate) fn client(config: &Config) -> Result<Client, Failure> {
    let mut builder = Client::builder()
        .user_agent(concat!("ndbg-agent/", env!("CARGO_PKG_VERSION")))
        .tls_backend_preconfigured(tls(config)?)
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(config.limits.connect)
        .tcp_nodelay(true)
        .no_proxy();
    for proxy in proxies(config)? {
        builder = builder.proxy(proxy);
    }
    builder.build().map_err(|error| Failure::NoNetwork {
        host: "the network".to_owned(),
        message: causes(&error),
    })
}

fn tls(config: &Config) -> Result<ClientConfig, Failure> {
    let mut roots = RootCertStore::empty();
    let named = config.variable("SSL_CERT_FILE").map(PathBuf::from);
    if let Some(path) = &named {
        // Whoever names a file instead of the system's means it instead of the system's.
        add(&mut roots, path)?;
    } else {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        // A system without certificates, as in small containers, still has those built in.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    if let Some(path) = &config.ca_file {
        add(&mut roots, path)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Failure::NoNetwork {
            host: "the network".to_owned(),
            message: error.to_string(),
        })?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(config)
}

fn add(roots: &mut RootCertStore, path: &Path) -> Result<(), Failure> {
    let bad = |message: String| Failure::BadFile {
        path: path.display().to_string(),
        message,
    };
    let text = std::fs::read(path).map_err(|error| bad(error.to_string()))?;
    let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&text)
        .collect::<Result<_, _>>()
        .map_err(|error| bad(format!("it is not in PEM form, {error}")))?;
    let (added, _) = roots.add_parsable_certificates(certificates);
    if added == 0 {
        return Err(bad("it holds no certificate in PEM form".to_owned()));
    }
    Ok(())
}

fn proxies(config: &Config) -> Result<Vec<Proxy>, Failure> {
    let variable = |upper: &str| {
        config
            .variable(upper)
            .or_else(|| config.variable(&upper.to_ascii_lowercase()))
    };
    // A proxy cannot reach this machine's loopback, whatever `NO_PROXY` forgets.
    let without = format!(
        "{},localhost,127.0.0.0/8,::1",
        variable("NO_PROXY").unwrap_or_default()
    );
    let all = variable("ALL_PROXY");
    let mut proxies = Vec::new();
    for (name, make) in [
        (
            "HTTPS_PROXY",
            Proxy::https as fn(String) -> reqwest::Result<Proxy>,
        ),
        ("HTTP_PROXY", Proxy::http),
    ] {
        let Some(address) = variable(name).or_else(|| all.clone()) else {
            continue;
        };
        let proxy = make(address.clone()).map_err(|error| Failure::BadName {
            name: crate::secret::redact(&address, &[]),
            message: format!("`{name}` cannot be used as a proxy, {}", causes(&error)),
        })?;
        proxies.push(proxy.no_proxy(NoProxy::from_string(&without)));
    }
    Ok(proxies)
}

/// Host and, if unusual, port of an address.
pub(crate) fn host_of(url: &str) -> String {
    Url::parse(url).map_or_else(
        |_| url.to_owned(),
        |url| match (url.host_str(), url.port()) {
            (Some(host), Some(port)) => format!("{host}:{port}"),
            (Some(host), None) => host.to_owned(),
            (None, _) => url.to_string(),
        },
    )
}

/// An error with what caused it, without the address.
pub(crate) fn causes(error: &reqwest::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if parts.last().is_none_or(|last| !last.contains(&text)) {
            parts.push(text);
        }
        source = cause.source();
    }
    if parts.is_empty() {
        return error.to_string();
    }
    // The outermost ones only say that it failed.
    let skip = parts.len().saturating_sub(2);
    parts[skip..].join(": ")
}
