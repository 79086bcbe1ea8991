//! What a run is asked to do, settled: no argument parsing and no environment beyond this point.

use std::time::Duration;

use camino::Utf8PathBuf;

/// How the project is opened and its tests are run.
#[derive(Debug, Clone)]
pub struct ProjectSettings {
    /// The project's folder as given.
    pub repo: Utf8PathBuf,
    /// Tests asked for, as given; empty = whatever fails.
    pub tests: Vec<String>,
    /// Interpreter asked for.
    pub python: Option<Utf8PathBuf>,
    /// Whether the project and its test requirements may be installed into a managed environment.
    pub install: bool,
    /// Further pytest arguments.
    pub pytest_args: Vec<String>,
    /// Variables for the tests.
    pub env: Vec<(String, String)>,
    /// Memory that tests may use beyond what the interpreter has at start; none = unlimited.
    pub memory_limit: Option<u64>,
    /// Baseline runs of the target.
    pub baseline_runs: usize,
}

impl ProjectSettings {
    /// A project whose tests run in the environment that is there, all of them, once.
    pub fn as_it_is(
        repo: Utf8PathBuf,
        python: Option<Utf8PathBuf>,
        memory_limit: Option<u64>,
    ) -> Self {
        Self {
            repo,
            tests: Vec::new(),
            python,
            install: false,
            pytest_args: Vec::new(),
            env: Vec::new(),
            memory_limit,
            baseline_runs: 1,
        }
    }
}

/// Limits of a run.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Wall clock.
    pub time: Duration,
    /// Candidates screened plus verification runs.
    pub executions: u64,
}

/// Everything `fix` is asked to do.
#[allow(clippy::struct_excessive_bools)] // Each is a switch of its own on the command line.
#[derive(Debug, Clone)]
pub struct FixSettings {
    /// The project.
    pub project: ProjectSettings,
    /// Limits.
    pub limits: Limits,
    /// Candidates run at a time.
    pub jobs: usize,
    /// Functions that the search looks into.
    pub max_functions: usize,
    /// Whether pairs of edits are tried after single ones.
    pub pairs: bool,
    /// Whether values are put in at places, and expressions synthesised for what they need.
    pub synthesis: bool,
    /// Whether edits are put off that are foreseen to change nothing, or what others changed in vain.
    pub foresight: bool,
    /// How many further candidates are screened after the first plausible one, to compare.
    pub alternatives: u64,
    /// Whether the warm runner may be used.
    pub warm: bool,
    /// Who proposes patches.
    pub planner: PlannerSettings,
    /// What answers where rules do not, when the failing runs are walked backwards; none = they are not.
    pub simulator: Option<crate::model::Named>,
}

/// Who proposes patches.
#[derive(Debug, Clone)]
pub enum PlannerSettings {
    /// Edit operators over the syntax tree.
    Search,
    /// A language model.
    Model(Box<ModelSettings>),
    /// The search, and a language model when it stops.
    Auto(Box<ModelSettings>),
}

/// A language model and what it may take.
#[derive(Clone)]
pub struct ModelSettings {
    /// Its name, as the user gave it.
    pub name: String,
    /// Address of its server, if it is not the provider's own.
    pub base_url: Option<String>,
    /// How the provider is reached: variables, keys, certificates.
    pub config: ndbg_providers::Config,
    /// What may be spent.
    pub caps: ndbg_providers::Caps,
    /// Rounds, tokens of a reply, tokens of the context.
    pub limits: crate::plan::llm::Limits,
    /// Prices that go before the built-in ones.
    pub prices: Option<Utf8PathBuf>,
    /// Templates in place of the built-in ones.
    pub prompts: Option<Utf8PathBuf>,
    /// Folder to which exchanges are written.
    pub record: Option<Utf8PathBuf>,
    /// Folder of exchanges that stand for the model.
    pub replay: Option<Utf8PathBuf>,
    /// Folder of exchanges that are gone on from.
    pub journal: Option<Utf8PathBuf>,
}

impl std::fmt::Debug for ModelSettings {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "ModelSettings({})", self.name)
    }
}
