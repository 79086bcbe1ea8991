//! What GitHub Actions reads: annotations as workflow commands, and a step summary within its limit.
//!
//! Commands are lines of standard output, and text of the repository could pretend to be one: it is escaped
//! as the runner's own toolkit does (`%`, line ends, and in properties `:` and `,`).

use std::fmt::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest as _, Sha256};

use crate::outcome::Outcome;
use crate::report::markdown::{self, code, prose as escaped};
use crate::report::story::Story;
use crate::report::visible::one_line;
use crate::report::wording::{example, title};

/// Bytes of a step summary that the runner takes.
const SUMMARY: usize = 1024 * 1024;
/// Annotations of one kind that are shown of one step.
const ANNOTATIONS: usize = 10;
/// Characters of a message.
const MESSAGE: usize = 1_000;

/// Annotations: failing tests as errors, the patch or the most suspicious statements as notices and warnings.
/// `prefix` is the project's folder within the repository.
pub fn annotations(story: &Story, prefix: &Utf8Path) -> String {
    let mut out = String::new();
    for failure in story.failing().iter().take(ANNOTATIONS) {
        let frame = failure.frames.first().or(failure.frames.last());
        let message = format!("{}: {}", failure.exception, first_line(&failure.message));
        let place = frame.map(|frame| (prefix.join(&frame.file), frame.line));
        command(&mut out, "error", place, &failure.test, &message);
    }
    if let Some(patch) = story.accepted() {
        let place = patch
            .tried
            .as_ref()
            .map(|tried| (prefix.join(&tried.file), tried.line));
        command(&mut out, "notice", place, "verified patch", &patch.claim);
    } else {
        for statement in story.statements.iter().take(3) {
            let place = Some((prefix.join(&statement.file), statement.first_line));
            let message = format!(
                "suspiciousness {:.2}: {}",
                statement.score,
                statement.reasons.join("; ")
            );
            command(
                &mut out,
                "warning",
                place,
                "ndbg-agent looked here",
                &message,
            );
        }
    }
    let outcome = story.end.as_ref().map(|end| end.outcome);
    let summary = story
        .end
        .as_ref()
        .map_or("the run did not end", |end| end.summary.as_str());
    let kind = match outcome {
        Some(Outcome::Fixed | Outcome::NothingToFix) => "notice",
        Some(Outcome::NotFixed | Outcome::Flaky | Outcome::Budget) => "warning",
        _ => "error",
    };
    command(&mut out, kind, None, title(outcome), summary);
    out
}

fn command(
    out: &mut String,
    kind: &str,
    place: Option<(Utf8PathBuf, usize)>,
    title: &str,
    message: &str,
) {
    let mut properties = Vec::new();
    if let Some((file, line)) = place {
        properties.push(format!("file={}", property(file.as_str())));
        properties.push(format!("line={}", line.max(1)));
    }
    properties.push(format!("title={}", property(title)));
    let message: String = one_line(message).chars().take(MESSAGE).collect();
    let _ = writeln!(out, "::{kind} {}::{}", properties.join(","), data(&message));
}

fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(&one_line(text))
        .replace(':', "%3A")
        .replace(',', "%2C")
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// The report for the summary of a step: cut between sections where it is too long.
pub fn summary(story: &Story) -> String {
    let whole = markdown::render(story);
    if whole.len() <= SUMMARY {
        return whole;
    }
    let note = "\n\nThe report is longer than a step summary may be; the whole is in the run's artefacts.\n";
    let mut kept = String::new();
    for (at, section) in whole.split("\n## ").enumerate() {
        let section = if at == 0 {
            section.to_owned()
        } else {
            format!("\n## {section}")
        };
        if kept.len() + section.len() + note.len() > SUMMARY {
            break;
        }
        kept.push_str(&section);
    }
    kept + note
}

/// The outputs of a step, as lines for `GITHUB_OUTPUT`. A value of several lines stands between marks that hold
/// a digest of it, so that no value can end itself.
pub fn outputs(story: &Story, run_dir: &Utf8Path) -> String {
    let end = story.end.as_ref();
    let outcome = end
        .and_then(|end| serde_json::to_value(end.outcome).ok())
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_else(|| "unfinished".into());
    let patch = if story.diff().is_empty() {
        String::new()
    } else {
        run_dir.join("patch.diff").into_string()
    };
    let cost = match &story.conversation {
        None => "0".to_owned(),
        Some(held) => held
            .cost
            .map(|cost| format!("{cost:.6}"))
            .unwrap_or_default(),
    };
    let mut out = String::new();
    for (name, value) in [
        ("outcome", outcome),
        ("patch-file", patch),
        ("report-file", run_dir.join("report.html").into_string()),
        (
            "summary",
            end.map_or_else(String::new, |end| one_line(&end.summary)),
        ),
        ("changed-files", changed(story.diff()).join("\n")),
        ("cost", cost),
    ] {
        let digest = Sha256::digest(value.as_bytes());
        let mark = digest
            .iter()
            .take(12)
            .fold("end-".to_owned(), |mut mark, byte| {
                let _ = write!(mark, "{byte:02x}");
                mark
            });
        let _ = writeln!(out, "{name}<<{mark}\n{value}\n{mark}");
    }
    out
}

/// Files of a unified diff.
fn changed(diff: &str) -> Vec<String> {
    diff.lines()
        .filter_map(|line| line.strip_prefix("+++ b/"))
        .map(str::to_owned)
        .collect()
}

/// A text for a pull request: the title in the first line, then what is claimed and what proves it.
pub fn pull_request(story: &Story) -> String {
    let mut out = String::new();
    let claim = story
        .accepted()
        .map_or("a failing test", |patch| patch.claim.as_str());
    let _ = writeln!(out, "# Fix: {}\n", escaped(claim));
    let tests: Vec<String> = story
        .failing()
        .iter()
        .take(10)
        .map(|f| code(&f.test))
        .collect();
    let _ = writeln!(
        out,
        "Found by ndbg-agent and verified by real test runs; whether it is right is yours to judge.\n\n\
         Tests that failed and pass now: {}\n",
        tests.join(", ")
    );
    for shown in &story.examples {
        let _ = writeln!(out, "- {}", escaped(&example(shown)));
    }
    if let Some(patch) = story.accepted() {
        out.push_str("\nVerified in a fresh tree:\n\n");
        for step in patch.steps.iter().filter(|step| step.passed) {
            let _ = writeln!(out, "- {}: {}", escaped(&step.step), escaped(&step.detail));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::event::{Event, Level, Stamped};
    use crate::report::tests::stories;

    #[test]
    fn annotations_name_what_fails_and_what_mends_it() {
        let story = Story::from_events(&stories::fixed());
        insta::assert_snapshot!(annotations(&story, Utf8Path::new("sub")));
    }

    #[test]
    fn text_of_the_repository_is_no_command() {
        let story = Story::from_events(&stories::hostile());
        let text = annotations(&story, Utf8Path::new(""));
        for line in text.lines() {
            assert!(
                ["::error ", "::warning ", "::notice "]
                    .iter()
                    .any(|kind| line.starts_with(kind)),
                "{line}"
            );
            // Kind and properties end at the first pair of colons that is no part of a property.
            assert_eq!(line.matches("::").count().min(2), 2, "{line}");
        }
        assert_eq!(
            property("a:b,c\n::error::x%"),
            "a%3Ab%2Cc%5Cn%3A%3Aerror%3A%3Ax%25".replace("%5Cn", " ")
        );
        assert_eq!(data("50%\r\n::set-output"), "50%25%0D%0A::set-output");
    }

    #[test]
    fn outputs_cannot_end_themselves() {
        let mut story = Story::from_events(&stories::fixed());
        if let Some(end) = &mut story.end {
            end.summary = "x\nend-00\noutcome=evil".into();
        }
        let text = outputs(&story, Utf8Path::new("/run"));
        assert!(text.starts_with("outcome<<end-"), "{text}");
        assert!(
            text.contains("\nfixed\n") && text.contains("\n/run/patch.diff\n"),
            "{text}"
        );
        assert!(text.contains("\nshop/cart.py\n"), "{text}");
        assert!(text.lines().all(|line| line != "outcome=evil"), "{text}");
    }

    #[test]
    fn a_pull_request_says_what_is_claimed_and_what_proves_it() {
        insta::assert_snapshot!(pull_request(&Story::from_events(&stories::fixed())));
    }

    #[test]
    fn a_summary_is_cut_between_sections() {
        let mut events = stories::fixed();
        assert_eq!(
            summary(&Story::from_events(&events)),
            markdown::render(&Story::from_events(&events))
        );
        for number in 0..40_000 {
            events.push(Stamped {
                at: 9.0,
                event: Event::Note {
                    level: Level::Info,
                    text: format!("note {number} that takes some room in a report"),
                    hint: None,
                },
            });
        }
        let text = summary(&Story::from_events(&events));
        assert!(text.len() <= SUMMARY);
        assert!(text.starts_with("# Fixed") && text.contains("longer than a step summary"));
        assert_eq!(text.matches("```").count() % 2, 0);
    }
}
