//! `ndbg-agent report`.

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, ValueEnum};

use super::print;
use super::trace::say;
use crate::fix::stop::Stop;
use crate::outcome::Outcome;
use crate::report::{self, Story, github, html, json, junit, markdown, sarif};

/// Render the report of a run again, in a form for people or for other programs
///
/// Everything is made from the events that the run recorded, so it works
/// for a run that was killed, too.
///
///   ndbg-agent report RUN                                  # Markdown
///   ndbg-agent report RUN --format annotations             # in a workflow
///   ndbg-agent report RUN --format summary >> "$GITHUB_STEP_SUMMARY"
///   ndbg-agent report RUN --format sarif > ndbg.sarif
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct ReportArguments {
    /// Run folder
    #[arg(value_name = "RUN")]
    run: Utf8PathBuf,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = Format::Markdown, value_name = "FORMAT")]
    format: Format,
    /// Root of the repository that paths are relative to; default: GITHUB_WORKSPACE, else the project's own
    #[arg(long, value_name = "DIR", env = "GITHUB_WORKSPACE")]
    root: Option<Utf8PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The report for people
    Markdown,
    /// The report for browsers
    Html,
    /// Every figure
    Json,
    /// GitHub's workflow commands
    Annotations,
    /// Markdown within the limit of a step summary
    Summary,
    /// Outputs of a workflow's step, for GITHUB_OUTPUT
    Outputs,
    /// Text for a pull request
    PullRequest,
    /// SARIF 2.1.0
    Sarif,
    /// JUnit's XML of the verification
    Junit,
}

/// Runs the verb.
pub fn run(arguments: &ReportArguments) -> Outcome {
    match rendered(arguments).and_then(|text| print(text.as_bytes())) {
        Ok(()) => Outcome::Fixed,
        Err(stop) => say(&stop),
    }
}

fn rendered(arguments: &ReportArguments) -> Result<String, Stop> {
    let events = arguments.run.join("events.jsonl");
    let recording = report::read_events(&events).map_err(|error| {
        Stop::new(
            Outcome::Usage,
            format!("`{}` is no folder of a run: {error}", arguments.run),
        )
        .hint("`fix` says where its run folder is; `--out DIR` names it")
    })?;
    if recording.events.is_empty() {
        return Err(Stop::new(
            Outcome::Usage,
            format!("`{events}` holds no event"),
        ));
    }
    let story = Story::from_events(&recording.events);
    let prefix = prefix(&story, arguments.root.as_deref());
    let failed = |error: report::ReportError| Stop::new(Outcome::Environment, error.to_string());
    Ok(match arguments.format {
        Format::Markdown => markdown::render(&story),
        Format::Html => html::render(&story).map_err(failed)?,
        Format::Json => json::render(&story).map_err(failed)?,
        Format::Annotations => github::annotations(&story, &prefix),
        Format::Summary => github::summary(&story),
        Format::Outputs => {
            let run =
                camino::absolute_utf8(&arguments.run).unwrap_or_else(|_| arguments.run.clone());
            github::outputs(&story, &run)
        }
        Format::PullRequest if story.accepted().is_none() => {
            return Err(Stop::new(
                Outcome::Usage,
                "no patch was verified in this run: there is nothing to propose",
            ));
        }
        Format::PullRequest => github::pull_request(&story),
        Format::Sarif => sarif::render(&story, &prefix).map_err(failed)?,
        Format::Junit => junit::render(&story),
    })
}

/// The project's folder within the repository; nothing where it is not in it.
fn prefix(story: &Story, root: Option<&Utf8Path>) -> Utf8PathBuf {
    let (Some(start), Some(root)) = (&story.start, root) else {
        return Utf8PathBuf::new();
    };
    let whole = |path: &Utf8Path| path.canonicalize_utf8().ok();
    match (whole(&start.repo), whole(root)) {
        (Some(repo), Some(root)) => repo
            .strip_prefix(&root)
            .map(Utf8PathBuf::from)
            .unwrap_or_default(),
        _ => Utf8PathBuf::new(),
    }
}
