//! Environments of tasks: a checkout of the base commit and an interpreter with what its tests need.
//!
//! They lie in the cache, one for each repository, commit, interpreter and set of requirements, and are
//! used again by every run. Nothing is ever installed into an environment of the user's.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Mutex;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_tools::Cancel;
use ndbg_tools::process::{self, Spec};
use ndbg_tools::python::environment::{self, EnvironmentError, Found, Interpreter};
use ndbg_tools::python::managed::{self, Requirements};
use ndbg_tools::python::requirements::test_requirements;
use serde::{Deserialize, Serialize};

use crate::infrastructure::{Class, Infrastructure};
use crate::instance::{Instance, Setup, Source};
use crate::repositories::{self, Repositories};

/// Time for one step of an installation.
const STEP: Duration = Duration::from_mins(45);
/// Raised when environments of an earlier version can no longer be used.
const FORMAT: u32 = 1;

/// Makes environments.
#[derive(Debug)]
pub struct Environments {
    /// Where repositories come from.
    pub repositories: Repositories,
    /// Folder that holds them.
    pub cache: Utf8PathBuf,
    /// Interpreter for all tasks, whatever they ask for.
    pub python: Option<Utf8PathBuf>,
    /// Interpreters that were asked about themselves already.
    known: Mutex<BTreeMap<Utf8PathBuf, Interpreter>>,
}

/// An environment that is ready.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// Runs the tests.
    pub interpreter: Interpreter,
    /// The files of the base commit.
    pub checkout: Utf8PathBuf,
    /// The repository that the checkout is of.
    pub repository: Option<Utf8PathBuf>,
    /// Folder for what is known of the task in this environment.
    pub folder: Utf8PathBuf,
    /// Whether it was there already.
    pub warm: bool,
}

/// What is written down about a finished environment.
#[derive(Debug, Serialize, Deserialize)]
struct Ready {
    format: u32,
    python: Utf8PathBuf,
    rule: String,
    managed: bool,
}

impl Environments {
    /// None is made yet.
    pub fn new(mirrors: Option<Utf8PathBuf>, python: Option<Utf8PathBuf>) -> Self {
        let cache = managed::cache_folder().join("benchmarks");
        Self {
            repositories: Repositories {
                mirrors,
                cache: cache.clone(),
            },
            cache,
            python,
            known: Mutex::default(),
        }
    }

    /// The environment of `instance`; made when it is not there. `say` gets a line before anything
    /// slow happens.
    pub fn prepare(
        &self,
        instance: &Instance,
        say: &mut dyn FnMut(&str),
        cancel: &Cancel,
    ) -> Result<Prepared, Infrastructure> {
        let base = self.base(instance, cancel)?;
        let origin = match &instance.source {
            Source::Git { name, url, commit } => format!("{name}\n{url}\n{commit}"),
            Source::Folder { path, .. } => path.to_string(),
        };
        let key = crate::digest::hex(&[
            &FORMAT.to_string(),
            &origin,
            base.path.as_str(),
            &base.version(),
            &format!("{:?}", instance.setup),
        ]);
        let folder = self.cache.join("environments").join(&key);
        let io =
            |error: std::io::Error| Infrastructure::new(Class::Disk, format!("{folder}: {error}"));
        fs::create_dir_all(&folder).map_err(io)?;
        // One maker at a time; the lock goes with the handle.
        let lock = fs::File::create(folder.join("lock")).map_err(io)?;
        lock.lock().map_err(io)?;
        let (checkout, repository) = match &instance.source {
            Source::Git { name, url, .. } => (
                folder
                    .join("checkout")
                    .join(name.rsplit('/').next().unwrap_or(name)),
                Some(self.repositories.find(name, url, say, cancel)?),
            ),
            Source::Folder { path, .. } => (path.clone(), None),
        };
        let mark = folder.join("ready.json");
        if let Some(ready) = read(&mark)
            && let Ok(mut interpreter) = self.probe(&ready.python, &ready.rule, cancel)
            && checkout.is_dir()
        {
            interpreter.managed = ready.managed;
            return Ok(Prepared {
                interpreter,
                checkout,
                repository,
                folder,
                warm: true,
            });
        }
        if let (Source::Git { commit, .. }, Some(repository)) = (&instance.source, &repository) {
            let _ = fs::remove_dir_all(folder.join("checkout"));
            repositories::checkout(repository, commit, &checkout, cancel)?;
        }
        let interpreter = self.install(instance, &base, &folder, &checkout, say, cancel)?;
        let ready = Ready {
            format: FORMAT,
            python: interpreter.path.clone(),
            rule: interpreter.rule.clone(),
            managed: interpreter.managed,
        };
        let text = serde_json::to_vec(&ready).unwrap_or_default();
        fs::write(&mark, text).map_err(io)?;
        Ok(Prepared {
            interpreter,
            checkout,
            repository,
            folder,
            warm: false,
        })
    }

    /// The interpreter that the environment is made from.
    fn base(&self, instance: &Instance, cancel: &Cancel) -> Result<Interpreter, Infrastructure> {
        if self.python.is_none()
            && let Some(version) = &instance.python
        {
            return self.of_version(version, cancel);
        }
        let explicit = self.python.as_deref();
        if let Some(found) = explicit.and_then(|path| self.remembered(path)) {
            return Ok(found);
        }
        let found = environment::discover(explicit, &[], cancel);
        let (interpreter, _) =
            environment::choose(&found, Utf8Path::new("/"), cancel).map_err(of_environment)?;
        if let Some(path) = explicit {
            self.remember(path, &interpreter);
        }
        Ok(interpreter)
    }

    /// An interpreter of this version: on the path, or one that pyenv or uv installed.
    fn of_version(&self, version: &str, cancel: &Cancel) -> Result<Interpreter, Infrastructure> {
        let mut parts = version.trim().split('.').map(str::parse::<u32>);
        let (Some(Ok(major)), Some(Ok(minor))) = (parts.next(), parts.next()) else {
            return Err(Infrastructure::new(
                Class::Python,
                format!("`{version}` is no version of Python"),
            ));
        };
        let name = format!("python{major}.{minor}");
        let mut candidates = vec![Utf8PathBuf::from(&name)];
        let home = std::env::var("HOME")
            .map(Utf8PathBuf::from)
            .unwrap_or_default();
        for (folder, start) in [
            (home.join(".pyenv/versions"), format!("{major}.{minor}.")),
            (
                home.join(".local/share/uv/python"),
                format!("cpython-{major}.{minor}."),
            ),
        ] {
            let entries = folder.read_dir_utf8().into_iter().flatten().flatten();
            let mut found: Vec<Utf8PathBuf> = entries
                .filter(|entry| entry.file_name().starts_with(&start))
                .map(|entry| entry.path().join("bin").join(&name))
                .filter(|path| path.exists())
                .collect();
            found.sort();
            candidates.extend(found.into_iter().rev());
        }
        let mut reason = None;
        for path in candidates {
            match self.probe(
                &path,
                &format!("Python {version} that the task asks for"),
                cancel,
            ) {
                Ok(found) => return Ok(found),
                Err(error @ EnvironmentError::Cancelled) => return Err(of_environment(error)),
                Err(error) if path.components().count() > 1 => reason = Some(error.to_string()),
                Err(error @ EnvironmentError::TooOld { .. }) => reason = Some(error.to_string()),
                Err(_) => {}
            }
        }
        let reason = reason.map_or_else(
            || format!("no {name} on PATH, in pyenv or in uv; `--python PATH` uses another one for all tasks"),
            |reason| format!("no usable {name}: {reason}"),
        );
        Err(Infrastructure::new(Class::Python, reason))
    }

    fn probe(
        &self,
        path: &Utf8Path,
        rule: &str,
        cancel: &Cancel,
    ) -> Result<Interpreter, EnvironmentError> {
        if let Some(known) = self.remembered(path) {
            return Ok(known);
        }
        let found = Found {
            path: path.to_owned(),
            rule: rule.to_owned(),
            explicit: true,
        };
        let interpreter = environment::probe(&found, Utf8Path::new("/"), cancel)?;
        self.remember(path, &interpreter);
        Ok(interpreter)
    }

    fn remembered(&self, path: &Utf8Path) -> Option<Interpreter> {
        let known = self.known.lock().ok()?;
        known.get(path).cloned()
    }

    fn remember(&self, path: &Utf8Path, interpreter: &Interpreter) {
        if let Ok(mut known) = self.known.lock() {
            known.insert(path.to_owned(), interpreter.clone());
        }
    }

    fn install(
        &self,
        instance: &Instance,
        base: &Interpreter,
        folder: &Utf8Path,
        checkout: &Utf8Path,
        say: &mut dyn FnMut(&str),
        cancel: &Cancel,
    ) -> Result<Interpreter, Infrastructure> {
        let managed = |requirements: &Requirements, say: &mut dyn FnMut(&str)| {
            managed::environment(base, requirements, checkout, cancel, say).map_err(of_environment)
        };
        match &instance.setup {
            Setup::AsIs if base.probe.pytest.is_some() => Ok(base.clone()),
            Setup::AsIs => managed(&Requirements::default(), say),
            Setup::Declared => {
                let requirements = test_requirements(checkout);
                let nothing = requirements.project.is_none()
                    && requirements.files.is_empty()
                    && requirements.requirements.is_empty();
                if nothing && base.probe.pytest.is_some() {
                    return Ok(base.clone());
                }
                managed(&requirements, say)
            }
            Setup::Commands(commands) => {
                self.venv(base, folder, checkout, "", commands, say, cancel)
            }
            Setup::Requirements { text, commands } => {
                self.venv(base, folder, checkout, text, commands, say, cancel)
            }
        }
    }

    /// A virtual environment of its own, made by what the task says.
    #[allow(clippy::too_many_arguments)]
    fn venv(
        &self,
        base: &Interpreter,
        folder: &Utf8Path,
        checkout: &Utf8Path,
        requirements: &str,
        commands: &[String],
        say: &mut dyn FnMut(&str),
        cancel: &Cancel,
    ) -> Result<Interpreter, Infrastructure> {
        let venv = folder.join("venv");
        let _ = fs::remove_dir_all(&venv);
        let bin = venv.join(if cfg!(windows) { "Scripts" } else { "bin" });
        let python = bin.join("python");
        let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
        let step = |spec: Spec, what: &str| -> Result<(), Infrastructure> {
            let spec = spec
                .env("PATH", path.as_str())
                .env("VIRTUAL_ENV", venv.as_str())
                .env("PIP_DISABLE_PIP_VERSION_CHECK", "1")
                .env("PIP_NO_INPUT", "1")
                .deadline(STEP);
            let done = process::run(&spec, cancel).map_err(|error| match error {
                process::ProcessError::Cancelled => Infrastructure::interrupted(),
                other => Infrastructure::new(Class::Install, format!("{what}: {other}")),
            })?;
            if done.exit.success() {
                return Ok(());
            }
            let tail = done.tail(4);
            Err(Infrastructure::new(
                Class::Install,
                format!("{what}: {} {tail}", done.exit),
            ))
        };
        say(&format!("making an environment in `{venv}`"));
        step(
            Spec::new(&base.path, checkout).args(["-m", "venv", venv.as_str()]),
            "`python -m venv`",
        )?;
        let pip = || Spec::new(&python, checkout).args(["-m", "pip", "install", "-q"]);
        if !requirements.trim().is_empty() {
            let file = folder.join("requirements.txt");
            fs::write(&file, requirements)
                .map_err(|error| Infrastructure::new(Class::Disk, format!("{file}: {error}")))?;
            say("installing its requirements");
            step(
                pip().args(["-r", file.as_str()]),
                "`pip install -r` of its requirements",
            )?;
        }
        let shell = if Utf8Path::new("/bin/bash").exists() {
            "bash"
        } else {
            "sh"
        };
        for command in commands {
            let shown: String = command.chars().take(60).collect();
            say(&format!("running `{shown}`"));
            step(
                Spec::new(shell, checkout).args(["-c", command]),
                &format!("`{shown}`"),
            )?;
        }
        let mut found = self
            .probe(&python, "environment of the task", cancel)
            .map_err(of_environment)?;
        if found.probe.pytest.is_none() {
            step(pip().arg("pytest"), "`pip install pytest`")?;
            if let Ok(mut known) = self.known.lock() {
                known.remove(&python);
            }
            found = self
                .probe(&python, "environment of the task", cancel)
                .map_err(of_environment)?;
        }
        Ok(found)
    }
}

fn read(path: &Utf8Path) -> Option<Ready> {
    let ready: Ready = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    (ready.format == FORMAT).then_some(ready)
}

fn of_environment(error: EnvironmentError) -> Infrastructure {
    match error {
        EnvironmentError::Cancelled => Infrastructure::interrupted(),
        EnvironmentError::Managed(reason) => Infrastructure::new(Class::Install, reason),
        other => Infrastructure::new(Class::Python, format!("{other}; {}", other.hint())),
    }
}
