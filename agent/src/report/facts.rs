//! The environment of a run, as names and sentences.

use std::borrow::Cow;

use crate::report::story::Story;
use crate::report::wording::{counts, duration, plural};

/// What a reader needs to run it again.
pub fn environment(story: &Story) -> Vec<(Cow<'static, str>, String)> {
    let mut facts = Vec::new();
    if let Some(start) = &story.start {
        facts.push((
            "Version".into(),
            format!("ndbg-agent {} {}", start.version, start.command),
        ));
        facts.push(("Project".into(), format!("`{}`", start.repo)));
        let targets: Vec<String> = start
            .targets
            .iter()
            .map(|test| format!("`{test}`"))
            .collect();
        let targets = if targets.is_empty() {
            "whatever fails".to_owned()
        } else {
            targets.join(", ")
        };
        facts.push(("Tests asked for".into(), targets));
        facts.push(("Run directory".into(), format!("`{}`", start.run_dir)));
    }
    if let Some(tree) = &story.tree {
        let mut text = tree.how.clone();
        if let Some(base) = &tree.base {
            text = format!("{text} at `{base}`");
        }
        if tree.changed > 0 {
            let files = plural(tree.changed, "file");
            text = format!("{text}, {files} with uncommitted changes");
        }
        facts.push(("Tree".into(), text));
        if !tree.untracked.is_empty() {
            let files: Vec<_> = tree
                .untracked
                .iter()
                .map(|file| format!("`{file}`"))
                .collect();
            facts.push(("Untracked files taken over".into(), some(&files)));
        }
        if !tree.left_out.is_empty() {
            facts.push(("Left out".into(), some(&tree.left_out)));
        }
    }
    if let Some(environment) = &story.environment {
        let made = if environment.managed {
            ", made by ndbg-agent"
        } else {
            ""
        };
        facts.push((
            "Python".into(),
            format!(
                "{} (`{}`), {}{made}",
                environment.version, environment.python, environment.rule
            ),
        ));
        let plugins = if environment.plugins.is_empty() {
            "no plugins".to_owned()
        } else {
            format!("plugins {}", environment.plugins.join(", "))
        };
        facts.push((
            "pytest".into(),
            format!("{}, {plugins}", environment.pytest),
        ));
    }
    for run in &story.baseline_runs {
        let text = format!("{} in {}", counts(run.counts), duration(run.seconds));
        facts.push((format!("Baseline run {}", run.run).into(), text));
    }
    if let Some(spectra) = &story.spectra {
        let text = format!(
            "{} over {} in {}",
            plural(spectra.tests, "test"),
            plural(spectra.lines, "line"),
            duration(spectra.seconds)
        );
        facts.push(("Coverage".into(), text));
    }
    for (planner, planned) in &story.planners {
        let text = match planned {
            Some(planned) => format!("{planner}, {}", plural(*planned, "candidate")),
            None => planner.clone(),
        };
        facts.push(("Planner".into(), text));
    }
    facts
}

fn some(items: &[String]) -> String {
    const SHOWN: usize = 10;
    let mut text = items[..items.len().min(SHOWN)].join(", ");
    if items.len() > SHOWN {
        text = format!("{text} and {} more", items.len() - SHOWN);
    }
    text
}
