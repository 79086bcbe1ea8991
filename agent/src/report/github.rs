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
use crate::report::wording::{example, heading};

/// Bytes of a step summary that the runner takes.
const SUMMARY: usize = 1024 * 1024;
/// Annotations of one kind that are shown of one step.
const ANNOTATIONS: usize = 10;
/// Characters of a message.
const MESSAGE: usize = 1_000;
/// The outcome of a run that was killed, for programs.
const UNFINISHED: &str = "unfinished";

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
    command(&mut out, kind, None, heading(story), summary);
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
    let outcome = end.map_or_else(|| UNFINISHED.to_owned(), |end| name(end.outcome));
    // Artefacts are written at the end: an older run in the same folder may have left others, and a full disk none.
    let artefact = |name: &str, made: bool| {
        let path = run_dir.join(name);
        if made && path.is_file() {
            path.into_string()
        } else {
            String::new()
        }
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
        (
            "patch-file",
            artefact("patch.diff", !story.diff().is_empty()),
        ),
        ("report-file", artefact("report.html", end.is_some())),
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

/// The name of an outcome for programs.
fn name(outcome: Outcome) -> String {
    serde_json::to_value(outcome)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

/// Files of a unified diff.
fn changed(diff: &str) -> Vec<String> {
    let mut files = Vec::new();
    // A line that was added can look like a header, but stands in a hunk.
    let mut header = false;
    for line in diff.lines() {
        if line.starts_with("diff --git ") {
            header = true;
        } else if line.starts_with("@@ ") {
            header = false;
        } else if header && let Some(written) = line.strip_prefix("+++ ") {
            files.extend(file_name(written));
        }
    }
    files
}

/// The file that a header of a diff names: plain, or in git's quotes. A name that would take several lines stays in
/// its quotes.
fn file_name(written: &str) -> Option<String> {
    // After a name with blanks, git puts a tab for other readers of diffs.
    let written = written.trim_end_matches('\t');
    let quoted = written
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let name = quoted.map_or_else(|| written.to_owned(), unquoted);
    if name.contains(char::is_control) {
        return Some(written.replacen("\"b/", "\"", 1));
    }
    name.strip_prefix("b/").map(str::to_owned)
}

/// What git's quotes stand around: escapes as in C, bytes as three octal digits.
fn unquoted(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(digit) = rest.next_if(|digit| (b'0'..=b'7').contains(digit)) {
                        value = value * 8 + u32::from(digit - b'0');
                    }
                }
                bytes.push(value as u8);
            }
            Some(b'a') => bytes.push(0x07),
            Some(b'b') => bytes.push(0x08),
            Some(b't') => bytes.push(b'\t'),
            Some(b'n') => bytes.push(b'\n'),
            Some(b'v') => bytes.push(0x0b),
            Some(b'f') => bytes.push(0x0c),
            Some(b'r') => bytes.push(b'\r'),
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
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
    use ndbg_tools::source::unified_diff;

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
        assert!(text.contains("\nfixed\n"), "{text}");
        assert!(text.contains("\nshop/cart.py\n"), "{text}");
        assert!(text.lines().all(|line| line != "outcome=evil"), "{text}");
    }

    #[test]
    fn outputs_name_the_artefacts_that_this_run_left() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let mut story = Story::from_events(&stories::fixed());
        let (patch, report) = (folder.join("patch.diff"), folder.join("report.html"));
        let named = |story: &Story| {
            let text = outputs(story, folder);
            [&patch, &report].map(|path| text.contains(&format!("\n{path}\n")))
        };
        assert_eq!(named(&story), [false, false]);
        std::fs::write(&patch, "x").unwrap();
        std::fs::write(&report, "x").unwrap();
        assert_eq!(named(&story), [true, true]);
        // Killed; what is there is of an older run.
        story.end = None;
        assert_eq!(named(&story), [false, false]);
        assert!(outputs(&story, folder).contains("\nunfinished\n"));
    }

    #[test]
    fn every_outcome_stands_in_the_description_of_the_action() {
        let action = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../action.yml");
        let action = std::fs::read_to_string(action).unwrap();
        let described = action
            .split("  outcome:\n")
            .nth(1)
            .and_then(|rest| rest.split("    value:").next())
            .unwrap();
        let words: Vec<&str> = described
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .collect();
        let names = Outcome::ALL.map(name);
        for name in names.iter().map(String::as_str).chain([UNFINISHED]) {
            assert!(words.contains(&name), "{name}: {described}");
        }
    }

    #[test]
    fn changed_files_are_those_of_headers_however_git_writes_them() {
        let diff = |path: &str, line: &str| {
            let path = Utf8Path::new(path);
            let diff = unified_diff(path, b"x\n", format!("{line}\n").as_bytes());
            String::from_utf8(diff).unwrap()
        };
        for name in [
            "shop/cart.py",
            "app/st%2C,k \u{e9}.py",
            "a \"b\" \\101.py",
            "\u{65e5}\u{672c}.py",
        ] {
            assert_eq!(changed(&diff(name, "y")), [name]);
        }
        // Neither a second line of the output, nor another file.
        assert_eq!(changed(&diff("a\nb.py", "y")), ["\"a\\012b.py\""]);
        let added = diff("a.py", "++ b/etc.py") + &diff("b c.py", "y");
        assert_eq!(changed(&added), ["a.py", "b c.py"]);
        let of_git =
            "diff --git a/b c.py b/b c.py\n--- a/b c.py\t\n+++ b/b c.py\t\n@@ -1 +1 @@\n-x\n+y\n";
        assert_eq!(changed(of_git), ["b c.py"]);
        assert_eq!(
            unquoted(r"\a\b\t\n\v\f\r\\\0"),
            "\x07\x08\t\n\x0b\x0c\r\\\0"
        );
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
