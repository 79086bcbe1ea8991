//! Where keys come from: the environment, then `keys.toml` in the configuration folder.

use crate::config::Config;
use crate::failure::Failure;
use crate::provider::Provider;
use crate::secret::Secret;
use std::collections::BTreeMap;
use std::path::Path;

/// The file's name. It holds lines such as `ANTHROPIC_API_KEY = "…"`: the variables' own names.
pub const KEYS_FILE: &str = "keys.toml";

/// A key and where it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The key.
    pub secret: Secret,
    /// The variable's name, or the path of the file.
    pub from: String,
}

/// Looks a key up by the name of its variable. Fails with [`Failure::BadFile`] for a file that others
/// can read or that is none of ours, even if the key is not in it: it would be used the next time.
pub(crate) fn find(config: &Config, variable: &str) -> Result<Option<Key>, Failure> {
    if let Some(value) = config.variable(variable) {
        return Ok(Some(Key {
            secret: Secret::new(value),
            from: variable.to_owned(),
        }));
    }
    let Some(path) = config.folder.as_ref().map(|folder| folder.join(KEYS_FILE)) else {
        return Ok(None);
    };
    let key = read(&path)?.remove(variable);
    Ok(key.map(|secret| Key {
        secret,
        from: path.display().to_string(),
    }))
}

/// Every key that is known, for redaction.
pub(crate) fn all(config: &Config) -> Vec<Secret> {
    let mut secrets: Vec<Secret> = Vec::new();
    for variable in Provider::ALL.into_iter().filter_map(Provider::variable) {
        if let Ok(Some(key)) = find(config, variable)
            && !secrets.contains(&key.secret)
        {
            secrets.push(key.secret);
        }
    }
    secrets
}

fn read(path: &Path) -> Result<BTreeMap<String, Secret>, Failure> {
    let bad = |message: String| Failure::BadFile {
        path: path.display().to_string(),
        message,
    };
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(bad(error.to_string())),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o177 != 0 {
            return Err(bad(format!("its mode is {mode:04o} and must be 0600")));
        }
    }
    let _ = metadata;
    let text = std::fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
    // The parser's own message would quote the line, and with it a key.
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(1, |span| {
            text[..span.start.min(text.len())].lines().count().max(1)
        });
        bad(format!("line {line} is not of the form `NAME = \"key\"`"))
    })?;
    table
        .into_iter()
        .map(|(name, value)| {
            let known = Provider::ALL
                .iter()
                .any(|p| p.variable() == Some(name.as_str()));
            match value {
                toml::Value::String(text) if known => Ok((name, Secret::new(text))),
                _ if !known => Err(bad(format!("`{name}` is no name of a key"))),
                _ => Err(bad(format!("`{name}` is not a text in quotes"))),
            }
        })
        .collect()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn folder(text: &str, mode: u32) -> (tempfile::TempDir, Config) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(KEYS_FILE);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let mut config =
            Config::new(|name| (name == "OPENAI_API_KEY").then(|| "from-env".to_owned()));
        config.folder = Some(folder.path().to_owned());
        (folder, config)
    }

    #[test]
    fn the_environment_comes_before_the_file() {
        let (_folder, config) = folder(
            "OPENAI_API_KEY = \"from-file\"\nGEMINI_API_KEY = \"from-file\"\n",
            0o600,
        );
        let key = find(&config, "OPENAI_API_KEY").unwrap().unwrap();
        assert_eq!(
            (key.secret.expose(), key.from.as_str()),
            ("from-env", "OPENAI_API_KEY")
        );
        let key = find(&config, "GEMINI_API_KEY").unwrap().unwrap();
        assert_eq!(key.secret.expose(), "from-file");
        assert!(key.from.ends_with(KEYS_FILE));
        assert_eq!(find(&config, "OPENROUTER_API_KEY").unwrap(), None);
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        for mode in [0o644, 0o640, 0o660, 0o604, 0o700] {
            let (_folder, config) = folder("GEMINI_API_KEY = \"x\"\n", mode);
            let failure = find(&config, "GEMINI_API_KEY").unwrap_err();
            let message = failure.to_string();
            assert!(
                message.ends_with(&format!("its mode is {mode:04o} and must be 0600")),
                "{message}"
            );
            assert!(failure.hint().contains("chmod 600"));
        }
    }

    #[test]
    fn a_broken_file_is_reported_without_its_contents() {
        for (text, message) in [
            (
                "GEMINI_API_KEY = \"a\"\nOPENAI = s3cr3t",
                "line 2 is not of the form",
            ),
            (
                "GEMINI_KEY = \"s3cr3t\"",
                "`GEMINI_KEY` is no name of a key",
            ),
            (
                "GEMINI_API_KEY = 7",
                "`GEMINI_API_KEY` is not a text in quotes",
            ),
        ] {
            let (_folder, config) = folder(text, 0o600);
            let failure = format!("{:?}", find(&config, "GEMINI_API_KEY").unwrap_err());
            assert!(failure.contains(message), "{failure}");
            assert!(!failure.contains("s3cr3t"), "{failure}");
        }
    }
}
