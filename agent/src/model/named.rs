//! Which model: what `--model` says.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use camino::Utf8PathBuf;

/// A model by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// The small model that is part of the program.
    Embedded,
    /// A real interpreter: no model, and always right.
    Oracle,
    /// A folder as Hugging Face saves it.
    Folder(Utf8PathBuf),
    /// A file of llama.cpp.
    Gguf(Utf8PathBuf),
    /// A server.
    Remote(String),
}

impl FromStr for Named {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let path = Utf8PathBuf::from(text);
        Ok(match text {
            "embedded" => Self::Embedded,
            "oracle" => Self::Oracle,
            _ if text.starts_with("http://") || text.starts_with("https://") => {
                Self::Remote(text.to_owned())
            }
            _ if path
                .extension()
                .is_some_and(|end| end.eq_ignore_ascii_case("gguf")) =>
            {
                Self::Gguf(path)
            }
            _ => Self::Folder(path),
        })
    }
}

impl fmt::Display for Named {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => out.write_str("embedded"),
            Self::Oracle => out.write_str("oracle"),
            Self::Folder(path) | Self::Gguf(path) => out.write_str(path.as_str()),
            Self::Remote(url) => out.write_str(url),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_kind_of_model_it_is() {
        let named = |text: &str| -> Named { text.parse().unwrap() };
        assert_eq!(named("embedded"), Named::Embedded);
        assert_eq!(named("oracle"), Named::Oracle);
        assert_eq!(named("./embedded"), Named::Folder("./embedded".into()));
        assert_eq!(named("a/b.GGUF"), Named::Gguf("a/b.GGUF".into()));
        assert_eq!(
            named("http://localhost:8000"),
            Named::Remote("http://localhost:8000".into())
        );
        for text in ["embedded", "oracle", "models/step", "http://localhost:8000"] {
            assert_eq!(named(text).to_string(), text);
        }
    }
}
