//! Keys that cannot be printed, and text made free of them.

use serde::{Serialize, Serializer};
use std::fmt;

const MASK: &str = "***";

/// Text that must not be seen: shown, logged or serialised it is `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key; white space around it is dropped, since files and shells add it.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(text.as_ref().trim().to_owned())
    }

    /// The key itself, for the header that carries it and for nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(MASK)
    }
}

/// The text with `***` in place of every secret given and of what looks like one: keys with the
/// prefixes of known services, tokens after `Bearer` and in headers and queries that carry keys, and
/// passwords in URLs. What looks like one must be long and hold a digit, so that a placeholder in
/// source code stays as it is.
pub fn redact(text: &str, secrets: &[Secret]) -> String {
    let mut out = text.to_owned();
    for secret in secrets {
        // Shorter ones would blank out ordinary words; no service hands out such keys.
        if secret.0.len() >= 6 {
            out = out.replace(&secret.0, MASK);
        }
    }
    mask_passwords(&mask_tokens(&out))
}

/// How keys of known services begin.
const PREFIXES: [&str; 14] = [
    "sk-",
    "sk_",
    "pk-",
    "rk_",
    "AIza",
    "gsk_",
    "xai-",
    "hf_",
    "ghp_",
    "gho_",
    "github_pat_",
    "AKIA",
    "nvapi-",
    "csk-",
];

/// What stands before a key, in lower case.
const INTRODUCTIONS: [&str; 11] = [
    "bearer",
    "x-api-key",
    "x-goog-api-key",
    "api-key",
    "apikey",
    "api_key",
    "?key",
    "&key",
    "?token",
    "&token",
    "access_token",
];

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~' | '+' | '/')
}

fn mask_tokens(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_token) {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        let end = from.find(|c| !is_token(c)).unwrap_or(from.len());
        let (token, after) = from.split_at(end);
        if is_key(token, &out) {
            out.push_str(MASK);
        } else {
            out.push_str(token);
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

fn is_key(token: &str, before: &str) -> bool {
    let digit = token.bytes().any(|b| b.is_ascii_digit());
    let letter = token.bytes().any(|b| b.is_ascii_alphabetic());
    if token.len() >= 20 && digit && PREFIXES.iter().any(|prefix| token.starts_with(prefix)) {
        return true;
    }
    if token.len() < 16 || !digit || !letter {
        return false;
    }
    let before = before.trim_end_matches([' ', ':', '=', '"', '\'', '\\']);
    INTRODUCTIONS.iter().any(|introduction| {
        before.len() >= introduction.len()
            && before
                .get(before.len() - introduction.len()..)
                .is_some_and(|tail| tail.eq_ignore_ascii_case(introduction))
    })
}

/// `scheme://user:password@host` without the password.
fn mask_passwords(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, from) = rest.split_at(at + 3);
        out.push_str(before);
        let end = from
            .find(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '`' | '<' | '>'))
            .unwrap_or(from.len());
        let (authority, after) = from.split_at(end);
        match authority.rsplit_once('@') {
            Some((user, host)) if user.contains(':') => {
                let name = user.split(':').next().unwrap_or_default();
                out.extend([name, ":", MASK, "@", host]);
            }
            _ => out.push_str(authority),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_does_not_show_in_any_form() {
        let secret = Secret::new(" sk-live-1234567890abcdef\n");
        assert_eq!(format!("{secret} {secret:?}"), "*** ***");
        assert_eq!(serde_json::to_string(&secret).unwrap(), "\"***\"");
        assert_eq!(secret.expose(), "sk-live-1234567890abcdef");
    }

    #[test]
    fn redaction_removes_known_keys_and_what_looks_like_one() {
        let known = [Secret::new("hunter2hunter2")];
        for (text, clean) in [
            ("key hunter2hunter2 is wrong", "key *** is wrong"),
            (
                "Authorization: Bearer abc.DEF-123_456789xyz",
                "Authorization: Bearer ***",
            ),
            ("'x-api-key': 'zz99zz99zz99zz99'", "'x-api-key': '***'"),
            (
                "GET /v1?alt=sse&key=AB12CD34EF56GH78 failed",
                "GET /v1?alt=sse&key=*** failed",
            ),
            ("provided: sk-proj-abcdefghij0123456789.", "provided: ***"),
            (
                "via http://me:s3cret@proxy:3128/",
                "via http://me:***@proxy:3128/",
            ),
            ("AIzaSyA0123456789012345678901234567890 ok", "*** ok"),
        ] {
            assert_eq!(redact(text, &known), clean);
        }
    }

    #[test]
    fn redaction_leaves_source_code_alone() {
        for text in [
            "headers = {\"Authorization\": f\"Bearer {token}\"}",
            "api_key = os.environ[\"OPENAI_API_KEY\"]",
            "key = sorted_by_the_longest_name",
            "git@github.com:owner/repo.git and https://example.org/a@b",
            "sk-learn is not a key; sk-something-without-digits neither",
            "naïve ü text: Bearer",
        ] {
            assert_eq!(redact(text, &[]), text);
        }
    }
}
