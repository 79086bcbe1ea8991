//! Folders of the user's that are ours.

use camino::Utf8PathBuf;

/// Folder for configuration: `NDBG_AGENT_CONFIG`, `XDG_CONFIG_HOME/ndbg-agent` or `~/.config/ndbg-agent`.
pub fn config_folder() -> Utf8PathBuf {
    let variable = |name: &str| {
        std::env::var(name)
            .ok()
            .filter(|value| !value.is_empty())
            .map(Utf8PathBuf::from)
    };
    variable("NDBG_AGENT_CONFIG")
        .or_else(|| variable("XDG_CONFIG_HOME").map(|path| path.join("ndbg-agent")))
        .or_else(|| variable("HOME").map(|path| path.join(".config/ndbg-agent")))
        .unwrap_or_else(|| "/etc/ndbg-agent".into())
}
