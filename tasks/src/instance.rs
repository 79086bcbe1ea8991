//! One task of a benchmark, whatever file or folder it was described in.
//!
//! Every format of [`crate::formats`] is read into this, and everything after that (environments, runs,
//! grading) knows only this.

use camino::Utf8PathBuf;

use crate::task::Bug;

/// A task: a repository in which some tests fail, and what decides whether a patch mends it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Instance {
    /// Its name, unique in a benchmark.
    pub id: String,
    /// Name of the repository for tables, such as `owner/name`.
    pub repository: String,
    /// Where its files come from.
    pub source: Source,
    /// Unified diffs that are part of what a tool is given, in order: bugs, removals of tests.
    pub patches: Vec<Vec<u8>>,
    /// Unified diff that adds or changes the tests, applied before a tool is started; empty without one.
    pub test_patch: Vec<u8>,
    /// Test files that a diff cannot carry, or that come from another commit.
    pub test_files: Vec<TestFile>,
    /// What is wrong, in words.
    pub problem: String,
    /// What a tool is asked to make pass: node ids, files or folders; empty = `fail_to_pass`.
    pub targets: Vec<String>,
    /// Names of the tests that fail because of the bug, as the benchmark spells them.
    pub fail_to_pass: Vec<String>,
    /// Names of the tests that pass and must go on passing.
    pub pass_to_pass: Vec<String>,
    /// What a patch must make pass.
    pub required: Required,
    /// How the environment of its tests is made.
    pub setup: Setup,
    /// Version of Python that it asks for, such as `3.9`.
    pub python: Option<String>,
    /// Arguments for every run of the tests.
    pub pytest_args: Vec<String>,
    /// Variables for every run of the tests.
    pub env: Vec<(String, String)>,
    /// Paths that its tests are limited to; empty = the project's choice.
    pub paths: Vec<String>,
    /// The known repair.
    pub reference: Option<Vec<u8>>,
    /// Tests that a tool never sees.
    pub hidden: HiddenTests,
    /// Kind of mistake, where it is known.
    pub kind: String,
    /// Difficulty, where it is known.
    pub difficulty: Option<String>,
    /// Where the mistake is, where it is known.
    pub bug: Option<Bug>,
}

/// Where the files of a task come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A commit of a git repository.
    Git {
        /// `owner/name`, by which a local mirror is found.
        name: String,
        /// Address to clone from when there is no mirror.
        url: String,
        /// The commit.
        commit: String,
    },
    /// A folder, copied without the names in `left_out` (relative to it).
    Folder {
        /// The folder.
        path: Utf8PathBuf,
        /// What is no part of what a tool is given.
        left_out: Vec<Utf8PathBuf>,
    },
}

impl Default for Source {
    fn default() -> Self {
        Self::Folder {
            path: Utf8PathBuf::new(),
            left_out: Vec::new(),
        }
    }
}

/// A file that is put into the tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestFile {
    /// Path in the repository.
    pub to: Utf8PathBuf,
    /// Where its contents are.
    pub from: TestFileSource,
}

/// Where the contents of a [`TestFile`] are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestFileSource {
    /// A file on this machine.
    File(Utf8PathBuf),
    /// The same path at another commit of the repository.
    Commit(String),
}

/// What a patch must make pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Required {
    /// The tests that the task names: the official rule of SWE-bench.
    #[default]
    Named,
    /// The tests named, and all that pass without any patch.
    PassingBefore,
    /// All tests that pass with the known repair.
    PassingWithReference,
}

/// How the environment of a task is made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Setup {
    /// An interpreter as it is, with pytest.
    #[default]
    AsIs,
    /// The project's own declaration: the project, its test requirements.
    Declared,
    /// Shell commands, run in the checkout with the environment's `bin` first on the path.
    Commands(Vec<String>),
    /// Requirements, as the text of a file, and then shell commands.
    Requirements {
        /// Lines of a requirements file.
        text: String,
        /// What runs after they are installed.
        commands: Vec<String>,
    },
}

/// Tests that are kept from a tool and decide whether a plausible patch is correct.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HiddenTests {
    /// Files put into the copy before they run: path in the copy, and where the contents are.
    pub files: Vec<(Utf8PathBuf, Utf8PathBuf)>,
    /// Their node ids; empty with files = all tests of the files.
    pub tests: Vec<String>,
    /// pytest arguments that keep them from a tool; not used when a patch is judged.
    pub args: Vec<String>,
}

impl HiddenTests {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.tests.is_empty()
    }
}

/// A name as far as it says which test: `test_a` of `test_a (package.module.Class)`.
fn test_of(name: &str) -> &str {
    name.split(" (").next().unwrap_or(name)
}

impl Instance {
    /// Hides `share` of the tests in [`Instance::fail_to_pass`] from the tool, at least one of them staying
    /// visible: with them a patch can be *correct* and not only *plausible*. Which ones depends on
    /// their names alone. Tasks that have hidden tests already are left as they are.
    pub fn hide(&mut self, share: f64) {
        if share <= 0.0 || !self.hidden.is_empty() || self.fail_to_pass.len() < 2 {
            return;
        }
        // pytest deselects everything whose id begins with what it is told: a name that another one begins
        // with cannot be hidden alone.
        let alone = |name: &&String| {
            let names = self.fail_to_pass.iter().chain(&self.pass_to_pass);
            let mut others = names.filter(|other| other != name);
            let own = test_of(name);
            !others.any(|other| test_of(other).starts_with(own))
        };
        let mut order: Vec<&String> = self.fail_to_pass.iter().filter(alone).collect();
        if order.is_empty() {
            return;
        }
        order.sort_by_cached_key(|name| crate::digest::hex(&[&self.id, name]));
        let count = (self.fail_to_pass.len() as f64 * share).round() as usize;
        let count = count.clamp(1, (self.fail_to_pass.len() - 1).min(order.len()));
        let hidden: Vec<String> = order.into_iter().take(count).cloned().collect();
        self.targets.clear();
        self.hidden.tests = hidden;
    }

    /// Hash of everything that it says. Patches are hashed as they are: spelled out they would take seconds in a
    /// benchmark of a thousand tasks.
    pub fn fingerprint(&self) -> String {
        let Self {
            id,
            repository,
            source,
            patches,
            test_patch,
            test_files,
            problem,
            targets,
            fail_to_pass,
            pass_to_pass,
            required,
            setup,
            python,
            pytest_args,
            env,
            paths,
            reference,
            hidden,
            kind,
            difficulty,
            bug,
        } = self;
        let what = format!(
            "{:?}",
            (id, repository, source, test_files, problem, targets)
        );
        let tests = format!("{:?}", (required, pytest_args, env, paths, hidden));
        let about = format!("{:?}", (setup, python, kind, difficulty, bug));
        let mut parts = vec![what.as_bytes(), tests.as_bytes(), about.as_bytes()];
        parts.extend([
            test_patch.as_slice(),
            reference.as_deref().unwrap_or_default(),
        ]);
        // Where one list ends and the next begins shows.
        for list in [fail_to_pass, pass_to_pass] {
            parts.push(b"tests");
            parts.extend(list.iter().map(String::as_bytes));
        }
        parts.push(b"patches");
        parts.extend(patches.iter().map(Vec::as_slice));
        crate::digest::hex_of(parts)
    }

    /// Files that the task puts its tests into, relative to the top.
    pub fn changed_tests(&self) -> Vec<Utf8PathBuf> {
        let text = String::from_utf8_lossy(&self.test_patch);
        let mut files: Vec<Utf8PathBuf> = text
            .lines()
            .filter_map(|line| line.strip_prefix("+++ b/"))
            .map(|path| Utf8PathBuf::from(path.trim_end()))
            .chain(self.test_files.iter().map(|file| file.to.clone()))
            .filter(|path| path.extension() == Some("py"))
            .collect();
        files.sort();
        files.dedup();
        files
    }

    /// Tests of `fail_to_pass` that a tool may see.
    pub fn visible(&self) -> impl Iterator<Item = &String> {
        let hidden = &self.hidden.tests;
        self.fail_to_pass
            .iter()
            .filter(move |name| !hidden.contains(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_shows_in_the_fingerprint() {
        let base = Instance::default();
        let mut others = vec![base.clone(); 6];
        others[0].test_patch = b"x".to_vec();
        others[1].patches = vec![b"x".to_vec()];
        others[2].reference = Some(b"x".to_vec());
        others[3].fail_to_pass = vec!["x".into()];
        others[4].pass_to_pass = vec!["x".into()];
        others[5].kind = "x".into();
        let mut seen: std::collections::BTreeSet<String> =
            others.iter().map(Instance::fingerprint).collect();
        seen.insert(base.fingerprint());
        assert_eq!(seen.len(), 7);
        assert_eq!(base.fingerprint(), base.clone().fingerprint());
    }

    #[test]
    fn a_share_of_the_failing_tests_is_hidden_and_one_stays() {
        let mut instance = Instance {
            id: "a".into(),
            fail_to_pass: ["t::1", "t::2", "t::3", "t::4"].map(String::from).to_vec(),
            ..Instance::default()
        };
        instance.hide(0.5);
        assert_eq!(instance.hidden.tests.len(), 2);
        assert_eq!(instance.visible().count(), 2);
        let first = instance.hidden.tests.clone();
        instance.hidden.tests.clear();
        instance.fail_to_pass.reverse();
        instance.hide(0.5);
        assert_eq!(instance.hidden.tests, first, "the order does not matter");
        instance.hidden.tests.clear();
        instance.hide(1.0);
        assert_eq!(instance.visible().count(), 1);
        let names = ["t::total", "t::total_of_none", "t::mean"];
        instance.fail_to_pass = names.map(String::from).to_vec();
        instance.hidden.tests.clear();
        instance.hide(1.0);
        assert!(
            !instance.hidden.tests.contains(&"t::total".to_owned()),
            "{instance:?}"
        );
        assert_eq!(instance.hidden.tests.len(), 2);
        instance.fail_to_pass.truncate(1);
        instance.hidden.tests.clear();
        instance.hide(0.5);
        assert!(instance.hidden.is_empty());
    }
}
