//! `ndbg-agent doctor`.

use anyhow::Context as _;
use clap::Args;
use ndbg_tools::Cancel;
use ndbg_tools::process::{self, Spec};
use ndbg_tools::project::Project;
use ndbg_tools::python::environment::{discover, probe};

use super::project::ProjectArguments;
use crate::fix::session::environment_folders;
use crate::fix::stop::Stop;
use crate::outcome::Outcome;

/// Show what would be used: tree, interpreter, pytest, plugins
///
/// Lists every interpreter in the order in which it is considered, the rule that found it, and the
/// command that would run the tests. Changes nothing.
#[derive(Debug, Args)]
pub struct DoctorArguments {
    #[command(flatten)]
    project: ProjectArguments,
}

/// Runs the verb.
pub fn run(arguments: DoctorArguments) -> anyhow::Result<Outcome> {
    let cancel = Cancel::on_signals().context("cannot handle signals")?;
    let settings = arguments.project.settle();
    let project = match Project::open(&settings.repo, &cancel) {
        Ok(project) => project,
        Err(error) => {
            let stop = Stop::from(error);
            eprintln!("error: {}", stop.message);
            if let Some(hint) = &stop.hint {
                eprintln!("hint: {hint}");
            }
            return Ok(stop.outcome);
        }
    };
    println!("project      {}", project.folder());
    if project.git {
        println!("repository   {}", project.root);
    } else {
        let version = Spec::new("git", &project.root).arg("--version");
        let why = if process::run(&version, &cancel).is_ok() {
            "none"
        } else {
            "unknown, `git` is not on PATH"
        };
        println!("repository   {why}: the folder is copied");
    }
    let found = discover(
        settings.python.as_deref(),
        &environment_folders(&project),
        &cancel,
    );
    let mut chosen = None;
    println!("\ninterpreters, in order");
    for candidate in &found {
        match probe(candidate, &project.root, &cancel) {
            Ok(interpreter) => {
                let pytest = interpreter
                    .probe
                    .pytest
                    .as_ref()
                    .map_or_else(|| "no pytest".to_owned(), |v| format!("pytest {v}"));
                let mark = if chosen.is_none() { '>' } else { ' ' };
                println!(
                    "{mark} {}\n    {}: Python {}, {pytest}",
                    interpreter.path,
                    interpreter.rule,
                    interpreter.version()
                );
                chosen.get_or_insert(interpreter);
            }
            Err(error) => println!("  {}\n    {error}", candidate.path),
        }
    }
    let Some(interpreter) = chosen else {
        eprintln!("error: no usable interpreter");
        eprintln!("hint: install Python 3.8 or later, or name one with `--python PATH`");
        return Ok(Outcome::Environment);
    };
    if !interpreter.probe.plugins.is_empty() {
        println!("\nplugins      {}", interpreter.probe.plugins.join(", "));
    }
    for editable in &interpreter.probe.editable {
        let paths: Vec<&str> = editable.paths.iter().map(|p| p.as_str()).collect();
        println!(
            "editable     {} from {} (the worktree goes first)",
            editable.name,
            paths.join(", ")
        );
    }
    if !interpreter.probe.fork {
        println!("warm runner  not available: this platform has no fork");
    }
    let python = if interpreter.probe.pytest.is_some() && !settings.install {
        interpreter.path.to_string()
    } else {
        println!("\na managed environment with pytest would be made on top of it");
        "<managed>/bin/python".into()
    };
    let mut command = vec![python, "-m".into(), "pytest".into()];
    command.extend(settings.pytest_args.iter().cloned());
    command.extend(
        settings
            .tests
            .iter()
            .map(|test| test.split("::").next().unwrap_or(test).to_owned()),
    );
    println!(
        "\nwould run    {}\nin           a {} of {}",
        command.join(" "),
        if project.git { "worktree" } else { "copy" },
        project.root
    );
    Ok(Outcome::Fixed)
}
