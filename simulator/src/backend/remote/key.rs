//! What a server wants to know before it answers.

/// Name of the environment variable with the key.
pub const VARIABLE: &str = "NDBG_API_KEY";

/// A secret. It is never shown: there is no way to format it.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    /// From [`VARIABLE`]; none if that is not set, empty, or cannot stand in a header.
    pub fn from_environment() -> Option<Self> {
        Self::new(&std::env::var(VARIABLE).ok()?)
    }

    pub(super) fn new(text: &str) -> Option<Self> {
        let plain = text.trim();
        let header = plain.bytes().all(|byte| byte.is_ascii_graphic());
        (header && !plain.is_empty()).then(|| Self(plain.to_owned()))
    }

    /// The value of the header `Authorization`.
    pub(super) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// A server's message without the key, which some of them repeat.
    pub(super) fn hide(&self, message: &str) -> String {
        message.replace(&self.0, "…")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_what_can_stand_in_a_header() {
        assert!(ApiKey::new("").is_none());
        assert!(ApiKey::new("a\nb: c").is_none());
        let key = ApiKey::new(" k1\n").unwrap();
        assert_eq!(key.header(), "Bearer k1");
        assert_eq!(key.hide("wrong key k1"), "wrong key …");
    }
}
