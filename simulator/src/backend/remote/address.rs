//! Where a server is.

use super::error::RemoteError;

/// The address of an API, without a slash at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    base: String,
    host: String,
}

impl Address {
    /// From what a person writes; without a path, `/v1` is meant.
    ///
    /// # Errors
    /// [`RemoteError::Address`] for what is no http or https address, or has more than a path in it.
    pub fn parse(text: &str) -> Result<Self, RemoteError> {
        let wrong = |problem: &'static str| Err(RemoteError::Address(problem));
        let Ok(uri) = text.trim().parse::<ureq::http::Uri>() else {
            return wrong("it cannot be read");
        };
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return wrong("it begins neither with `http://` nor with `https://`");
        }
        let Some(authority) = uri.authority() else {
            return wrong("it names no host");
        };
        if authority.as_str().contains('@') {
            return wrong("it has a password in it, which belongs into `NDBG_API_KEY`");
        }
        if uri.query().is_some() {
            return wrong("it has a query");
        }
        let path = uri.path().trim_end_matches('/');
        let path = if path.is_empty() { "/v1" } else { path };
        let scheme = uri.scheme_str().unwrap_or("http");
        Ok(Self {
            base: format!("{scheme}://{authority}{path}"),
            host: authority.host().to_owned(),
        })
    }

    /// The API.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Name or number of the host.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether what is said to it can be read on the way.
    pub fn is_encrypted(&self) -> bool {
        self.base.starts_with("https:")
    }

    /// Whether it is this machine, to which no proxy leads.
    pub fn is_loopback(&self) -> bool {
        let host = self.host.trim_matches(['[', ']']);
        let number = host.parse::<std::net::IpAddr>();
        host.eq_ignore_ascii_case("localhost") || number.is_ok_and(|number| number.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_completed() {
        for (text, base) in [
            ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1"),
            ("https://models.example/", "https://models.example/v1"),
            (
                "https://models.example/a/v1/",
                "https://models.example/a/v1",
            ),
        ] {
            assert_eq!(Address::parse(text).unwrap().base(), base);
        }
    }

    #[test]
    fn what_is_no_address_is_told_without_repeating_a_password() {
        for text in [
            "",
            "localhost:8000",
            "ftp://a",
            "http://",
            "http://me:secret@host/v1",
            "http://host/v1?key=secret",
        ] {
            let told = Address::parse(text).unwrap_err().to_string();
            assert!(!told.contains("secret"), "{told}");
        }
    }

    #[test]
    fn this_machine_is_known() {
        for (text, loopback) in [
            ("http://localhost", true),
            ("http://127.0.0.9:1", true),
            ("http://[::1]:80", true),
            ("http://10.0.0.1", false),
            ("https://localhost.example", false),
        ] {
            assert_eq!(
                Address::parse(text).unwrap().is_loopback(),
                loopback,
                "{text}"
            );
        }
    }
}
