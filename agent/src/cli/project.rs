//! Arguments that say which project, which tests and which interpreter.

use camino::Utf8PathBuf;
use clap::Args;

use crate::fix::settings::ProjectSettings;

/// The project and how its tests are run.
#[derive(Debug, Args)]
pub struct ProjectArguments {
    /// Folder of the project; may lie inside a larger repository
    #[arg(
        long,
        value_name = "DIR",
        default_value = ".",
        help_heading = "Project"
    )]
    pub repo: Utf8PathBuf,
    /// Failing test: a file, a folder or a node id; may be repeated. Without it, whatever fails
    #[arg(
        long = "test",
        short = 't',
        value_name = "TEST",
        help_heading = "Project"
    )]
    pub tests: Vec<String>,
    /// Interpreter, or folder of a virtual environment, that runs the tests
    #[arg(long, value_name = "PATH", help_heading = "Project")]
    pub python: Option<Utf8PathBuf>,
    /// Install the project and its declared test requirements into an environment of ndbg-agent's
    #[arg(long, help_heading = "Project")]
    pub install: bool,
    /// Further argument for pytest, for example `--pytest-arg=--no-header`; may be repeated
    #[arg(
        long = "pytest-arg",
        value_name = "ARG",
        allow_hyphen_values = true,
        help_heading = "Project"
    )]
    pub pytest_args: Vec<String>,
    /// Environment variable for the tests, `NAME=VALUE` or `NAME` to pass one on; may be repeated
    ///
    /// Tests get a clean environment: PATH, HOME, the locale and a few more.
    #[arg(
        long = "env",
        short = 'e',
        value_name = "NAME[=VALUE]",
        value_parser = variable,
        help_heading = "Project"
    )]
    pub env: Vec<String>,
    /// Memory that tests may use, in MiB; 0 = no limit
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = 2048,
        help_heading = "Limits"
    )]
    pub memory: u64,
    /// Runs of the untouched target before anything is tried
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=50), help_heading = "Limits")]
    pub baseline_runs: u8,
}

/// Refuses what can be no name of a variable.
fn variable(text: &str) -> Result<String, String> {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    if name.is_empty() || name.contains('\0') {
        return Err("write `NAME=VALUE`, or `NAME` to pass a variable on".into());
    }
    Ok(text.to_owned())
}

impl ProjectArguments {
    /// Settles the arguments.
    pub fn settle(self) -> ProjectSettings {
        let env = self
            .env
            .into_iter()
            .filter_map(|text| match text.split_once('=') {
                Some((name, value)) => Some((name.to_owned(), value.to_owned())),
                None => std::env::var(&text).ok().map(|value| (text, value)),
            })
            .collect();
        ProjectSettings {
            repo: self.repo,
            tests: self.tests,
            python: self.python,
            install: self.install,
            pytest_args: self.pytest_args,
            env,
            memory_limit: (self.memory > 0).then_some(self.memory << 20),
            baseline_runs: usize::from(self.baseline_runs),
        }
    }
}
