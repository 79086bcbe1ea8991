//! Where a request goes, and which key goes with it. A key only ever goes to its own host.

use crate::config::Config;
use crate::failure::Failure;
use crate::keys::{self, Key};
use crate::model::{Model, is_loopback};
use crate::provider::{BASE_URL_KEY, Provider};
use reqwest::Url;

/// An address and its key.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// Without a slash at the end.
    pub base: String,
    /// The key that belongs to this host.
    pub key: Option<Key>,
    /// The variable that may hold the key.
    pub variable: Option<&'static str>,
}

/// Finds the address and its key; a missing key is `None` here. Fails with [`Failure::BadName`] for
/// an address that is missing or cannot be used, with [`Failure::BadFile`] for the file with keys.
pub(crate) fn locate(model: &Model, config: &Config) -> Result<Target, Failure> {
    let provider = model.provider;
    let bad = |message: String| Failure::BadName {
        name: model.to_string(),
        message,
    };
    let configured = provider
        .address_variable()
        .and_then(|name| config.variable(name).map(|value| (name, value)));
    let (base, own) = match (&model.base_url, configured) {
        (Some(url), _) => (url.clone(), is_own_host(provider, url)),
        (None, Some((name, value))) => {
            let url = server(&value);
            if Url::parse(&url).is_err() {
                return Err(bad(format!(
                    "`{name}` holds `{value}`, which is no address"
                )));
            }
            (url, true)
        }
        (None, None) => match provider.address() {
            Some(address) => (address.to_owned(), true),
            None => {
                let name = provider.address_variable().unwrap_or("the base URL");
                return Err(bad(format!("`{name}` is not set")));
            }
        },
    };
    let url = Url::parse(&base).map_err(|error| bad(format!("`{base}` is no URL, {error}")))?;
    let base = with_path(provider, &url);
    let variable = if own {
        provider.variable()
    } else {
        Some(BASE_URL_KEY)
    };
    let key = match variable {
        Some(name) => keys::find(config, name)?,
        None => None,
    };
    // What a user configures as an address may be a plain one by mistake; a key is not worth that.
    let plain = url.scheme() == "http" && !is_loopback(&url);
    if plain && own && provider.needs_key() && key.is_some() {
        return Err(bad(format!("the key would go to `{base}` unencrypted")));
    }
    Ok(Target {
        base,
        key,
        variable,
    })
}

/// As [`locate`], but fails with [`Failure::NoKey`] where a key is needed and there is none.
pub(crate) fn locate_with_key(model: &Model, config: &Config) -> Result<Target, Failure> {
    let target = locate(model, config)?;
    let own = target.variable != Some(BASE_URL_KEY);
    match target.variable {
        Some(variable) if own && target.key.is_none() && model.provider.needs_key() => {
            Err(Failure::NoKey {
                provider: model.provider.prefix().to_owned(),
                variables: vec![variable.to_owned()],
            })
        }
        _ => Ok(target),
    }
}

fn is_own_host(provider: Provider, url: &str) -> bool {
    let host = |url: &str| {
        Url::parse(url)
            .ok()
            .map(|url| (url.scheme().to_owned(), url.host_str().map(str::to_owned)))
    };
    provider.address().is_some_and(|own| host(own) == host(url))
}

/// `OLLAMA_HOST` may lack the scheme and the port.
fn server(value: &str) -> String {
    let value = value.trim().trim_end_matches('/');
    if value.contains("://") {
        return value.to_owned();
    }
    let port = if value
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok())
    {
        ""
    } else {
        ":11434"
    };
    // What a server listens on everywhere is nothing that can be connected to everywhere.
    let value = value.replace("0.0.0.0", "127.0.0.1");
    format!("http://{value}{port}")
}

fn with_path(provider: Provider, url: &Url) -> String {
    let text = url.as_str().trim_end_matches('/');
    if provider == Provider::Ollama {
        return text
            .trim_end_matches("/v1")
            .trim_end_matches("/api")
            .to_owned();
    }
    if matches!(url.path(), "" | "/") {
        return format!("{text}{}", provider.usual_path());
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        Config::new(|name| match name {
            "OLLAMA_HOST" => Some("0.0.0.0".to_owned()),
            "AZURE_OPENAI_ENDPOINT" => Some("https://me.openai.azure.com/".to_owned()),
            name if name.ends_with("_API_KEY") => Some(format!("value of {name}")),
            _ => None,
        })
    }

    #[test]
    fn a_key_goes_to_its_own_host_only() {
        for (model, base_url, base, key) in [
            (
                "openai/x",
                None,
                "https://api.openai.com/v1",
                Some("OPENAI_API_KEY"),
            ),
            (
                "openai/x",
                Some("https://gate.example"),
                "https://gate.example/v1",
                Some("NDBG_API_KEY"),
            ),
            (
                "openai/x",
                Some("http://api.openai.com/v1"),
                "http://api.openai.com/v1",
                Some("NDBG_API_KEY"),
            ),
            (
                "openai/x",
                Some("https://api.openai.com/v1"),
                "https://api.openai.com/v1",
                Some("OPENAI_API_KEY"),
            ),
            (
                "anthropic/x",
                Some("http://127.0.0.1:1"),
                "http://127.0.0.1:1/v1",
                Some("NDBG_API_KEY"),
            ),
            (
                "azure/x",
                None,
                "https://me.openai.azure.com/openai/v1",
                Some("AZURE_OPENAI_API_KEY"),
            ),
            ("ollama/x", None, "http://127.0.0.1:11434", None),
            (
                "gemini/x",
                Some("http://127.0.0.1:1"),
                "http://127.0.0.1:1/v1beta",
                Some("NDBG_API_KEY"),
            ),
            (
                "http://gpu:8000",
                None,
                "http://gpu:8000/v1",
                Some("NDBG_API_KEY"),
            ),
        ] {
            let target = locate(&Model::parse(model, base_url).unwrap(), &config()).unwrap();
            assert_eq!(target.base, base, "{model}");
            assert_eq!(target.key.map(|k| k.from).as_deref(), key, "{model}");
        }
    }

    #[test]
    fn a_missing_key_is_named_where_one_is_needed() {
        let none = Config::new(|_| None);
        let model = Model::parse("anthropic/x", None).unwrap();
        let failure = locate_with_key(&model, &none).unwrap_err();
        assert_eq!(
            failure.to_string(),
            "no key for `anthropic`: `ANTHROPIC_API_KEY` is not set"
        );
        for (model, base_url) in [("ollama/x", None), ("openai/x", Some("http://gpu:8000"))] {
            let model = Model::parse(model, base_url).unwrap();
            assert!(locate_with_key(&model, &none).is_ok());
        }
    }

    #[test]
    fn a_key_is_not_sent_unencrypted_to_a_configured_address() {
        let plain = Config::new(|name| match name {
            "AZURE_OPENAI_ENDPOINT" => Some("http://me.example".to_owned()),
            "AZURE_OPENAI_API_KEY" => Some("k".to_owned()),
            _ => None,
        });
        let failure = locate(&Model::parse("azure/x", None).unwrap(), &plain).unwrap_err();
        assert!(failure.to_string().contains("unencrypted"), "{failure}");
    }
}
