//! Names of models.

use crate::failure::Failure;
use crate::provider::Provider;
use crate::secret::redact;
use reqwest::Url;
use std::fmt;
use std::net::IpAddr;

/// A model: who serves it, what it is called there and, if the user says so, where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// Who serves it.
    pub provider: Provider,
    /// What the provider calls it; empty for the first one that a server lists.
    pub name: String,
    /// An address given by the user, instead of the provider's own.
    pub base_url: Option<String>,
}

/// How a model may be named; shown with every name that cannot be read.
pub(crate) const FORMS: &str = "write `anthropic/NAME`, `openai/NAME`, `openai-responses/NAME`, \
     `gemini/NAME`, `openrouter/NAME`, `azure/DEPLOYMENT`, `ollama/NAME`, `lmstudio/NAME`, or give \
     the base URL of an OpenAI-compatible server: `http://localhost:8000/v1` or \
     `http://localhost:8000/v1#NAME`";

impl Model {
    /// Reads `PROVIDER/NAME`, or `URL` and `URL#NAME` for a server that speaks chat completions. With
    /// a base URL the provider says which language the server there speaks, and a name without a
    /// known provider belongs to one that speaks chat completions. Fails with [`Failure::BadName`].
    pub fn parse(text: &str, base_url: Option<&str>) -> Result<Self, Failure> {
        let text = text.trim();
        let bad = |message: &str| Failure::BadName {
            name: redact(text, &[]),
            message: message.to_owned(),
        };
        if text.contains("://") {
            if base_url.is_some() {
                return Err(bad("there is a base URL beside it"));
            }
            let (url, name) = text.split_once('#').unwrap_or((text, ""));
            return Ok(Self {
                provider: Provider::Compatible,
                name: name.to_owned(),
                base_url: Some(address(url).map_err(|message| bad(&message))?),
            });
        }
        let base_url = base_url
            .map(|url| address(url).map_err(|message| bad(&message)))
            .transpose()?;
        let known = text.split_once('/').and_then(|(prefix, name)| {
            let provider = Provider::ALL.into_iter().find(|p| p.prefix() == prefix)?;
            Some((provider, name))
        });
        match known {
            Some((_, "")) => Err(bad("nothing follows the `/`")),
            Some((Provider::Compatible, _)) if base_url.is_none() => {
                Err(bad("the base URL is missing"))
            }
            Some((provider, name)) => Ok(Self {
                provider,
                name: name.to_owned(),
                base_url,
            }),
            None if base_url.is_some() => Ok(Self {
                provider: Provider::Compatible,
                name: text.to_owned(),
                base_url,
            }),
            None if text.is_empty() => Err(bad("it is empty")),
            None if text.contains('/') => Err(bad("no provider is called so")),
            None => Err(bad("the provider is missing")),
        }
    }

    /// Whether the server is on this machine or in a private network, where nobody sends bills.
    pub fn is_local(&self) -> bool {
        match (&self.base_url, self.provider) {
            (Some(url), _) => Url::parse(url).is_ok_and(|url| is_private(&url)),
            (None, provider) => matches!(provider, Provider::Ollama | Provider::LmStudio),
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.base_url, self.provider, self.name.as_str()) {
            (Some(url), Provider::Compatible, "") => f.write_str(url),
            (Some(url), Provider::Compatible, name) => write!(f, "{url}#{name}"),
            (_, provider, name) => write!(f, "{}/{name}", provider.prefix()),
        }
    }
}

/// A base URL that can be used, without what does not belong to one.
fn address(text: &str) -> Result<String, String> {
    let text = text.trim();
    let url = Url::parse(text).map_err(|error| format!("`{text}` is no URL, {error}"))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(format!(
            "`{text}` is no URL of a server, which begins with `http`"
        ));
    }
    if url.password().is_some() {
        // Runs write down which model they asked, and are gone on with from what they wrote.
        let why = "its address holds a password, which reports would repeat; \
            keys go into `NDBG_API_KEY`, and a proxy on this machine can add a password";
        return Err(why.to_owned());
    }
    if url.query().is_some() {
        return Err(format!(
            "`{text}` has a query, which a base URL cannot have"
        ));
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// Loopback, private or link-local addresses, and names that only mean something nearby.
pub(crate) fn is_private(url: &Url) -> bool {
    let host = host(url);
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => {
            ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified()
        }
        Ok(IpAddr::V6(ip)) => {
            ip.is_loopback() || ip.is_unspecified() || (ip.segments()[0] & 0xfe00) == 0xfc00
        }
        Err(_) => {
            let name = host.to_ascii_lowercase();
            !name.contains('.')
                || [".local", ".localhost", ".internal", ".lan"]
                    .iter()
                    .any(|end| name.ends_with(end))
        }
    }
}

/// Whether a URL means this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = host(url);
    host.parse::<IpAddr>().map_or_else(
        |_| host == "localhost" || host.ends_with(".localhost"),
        |ip| ip.is_loopback() || ip.is_unspecified(),
    )
}

fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    host.trim_start_matches('[')
        .trim_end_matches(']')
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_an_address_is_refused_and_not_repeated() {
        let address = "https://me:hunter2@models.example/v1";
        for (text, base) in [(address, None), ("a/b", Some(address))] {
            let failure = Model::parse(text, base).unwrap_err();
            assert!(
                failure.to_string().contains("holds a password"),
                "{failure}"
            );
            assert!(!format!("{failure:?}").contains("hunter2"), "{failure:?}");
        }
    }

    #[test]
    fn names_of_every_form_are_read() {
        for (text, base, provider, name) in [
            ("anthropic/claude-x", None, Provider::Anthropic, "claude-x"),
            ("openai/gpt-4.1", None, Provider::OpenAi, "gpt-4.1"),
            (
                "openai-responses/gpt-5",
                None,
                Provider::OpenAiResponses,
                "gpt-5",
            ),
            (
                "gemini/gemini-2.5-pro",
                None,
                Provider::Gemini,
                "gemini-2.5-pro",
            ),
            ("ollama/qwen3:8b", None, Provider::Ollama, "qwen3:8b"),
            (
                "openrouter/meta/llama:free",
                None,
                Provider::OpenRouter,
                "meta/llama:free",
            ),
            (
                "azure/my-deployment",
                None,
                Provider::Azure,
                "my-deployment",
            ),
            ("http://gpu:8000/v1#a/b", None, Provider::Compatible, "a/b"),
            ("http://localhost:8080", None, Provider::Compatible, ""),
            (
                "Qwen/Qwen3",
                Some("http://gpu:8000"),
                Provider::Compatible,
                "Qwen/Qwen3",
            ),
            (
                "anthropic/claude-x",
                Some("https://gate.example"),
                Provider::Anthropic,
                "claude-x",
            ),
        ] {
            let model = Model::parse(text, base).unwrap();
            assert_eq!(
                (model.provider, model.name.as_str()),
                (provider, name),
                "{text}"
            );
        }
    }

    #[test]
    fn a_name_that_cannot_be_read_lists_the_forms() {
        for (text, message) in [
            ("", "it is empty"),
            ("gpt-4.1", "the provider is missing"),
            ("openaai/gpt-4.1", "no provider is called so"),
            ("openai/", "nothing follows the `/`"),
            (
                "ftp://host/v1",
                "`ftp://host/v1` is no URL of a server, which begins with `http`",
            ),
            ("server/x", "the base URL is missing"),
        ] {
            let failure = Model::parse(text, None).unwrap_err();
            assert_eq!(
                failure.to_string(),
                format!("`{text}` names no model: {message}")
            );
            assert!(failure.hint().contains("`anthropic/NAME`, `openai/NAME`"));
        }
    }

    #[test]
    fn names_are_shown_as_they_can_be_written() {
        for text in [
            "openai/gpt-4.1",
            "http://gpu:8000/v1#a/b",
            "http://gpu:8000/v1",
        ] {
            assert_eq!(Model::parse(text, None).unwrap().to_string(), text);
        }
    }

    #[test]
    fn servers_nearby_are_local() {
        for (text, local) in [
            ("ollama/x", true),
            ("openai/x", false),
            ("http://127.0.0.1:8000/v1", true),
            ("http://192.168.1.7:8000/v1", true),
            ("http://gpu:8000/v1", true),
            ("http://[::1]:8000/v1", true),
            ("https://api.example.com/v1", false),
            ("http://8.8.8.8/v1", false),
        ] {
            assert_eq!(
                Model::parse(text, None).unwrap().is_local(),
                local,
                "{text}"
            );
        }
    }
}
