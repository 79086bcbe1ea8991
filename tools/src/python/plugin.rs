//! The Python side, embedded: pytest plugin, recorder, warm runner.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../python/", $name)))),*]
    };
}

/// Name of the plugin for `-p`.
pub const PLUGIN: &str = "ndbg_pytest_plugin";

const FILES: &[(&str, &str)] = embedded!["ndbg_probe.py"];

/// Writes the Python side into `folder`, which goes on `PYTHONPATH`.
pub fn install(folder: &Utf8Path) -> std::io::Result<Utf8PathBuf> {
    fs::create_dir_all(folder)?;
    for (name, text) in FILES {
        fs::write(folder.join(name), text)?;
    }
    Ok(folder.to_owned())
}
