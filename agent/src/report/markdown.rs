//! The report for code hosts and editors.
//!
//! Text from the repository appears in code spans and in fences only, where Markdown gives it no
//! meaning; what is left of it in sentences is escaped.

mod divergence;
mod escape;

use std::fmt::Write as _;

use crate::outcome::Outcome;
use crate::plan::Failure;
use crate::report::leads::leads;
use crate::report::sides::sides;
use crate::report::story::{PlausiblePatch, Story, Tally};
use crate::report::visible::{first_lines, visible};
use crate::report::wording::{
    angelic, capital, conversation, duration, example, heading, numbers, place_in_prose, plural,
    screened, sentence, supposed, sure,
};
use crate::report::{gaps, next};

pub use escape::{code, prose};

use escape::fence;

/// Lines of a value, of a message and of a stack; functions, statements and candidates in a table.
const VALUE_LINES: usize = 30;
const MESSAGE_LINES: usize = 12;
const LONGREPR_LINES: usize = 60;
const ROWS: usize = 10;
/// Failing tests told in full.
const FAILURES: usize = 10;

/// The report of a run.
pub fn render(story: &Story) -> String {
    let mut page = Page::default();
    page.head(story);
    page.symptom(story);
    let fixed = !story.is_explanation()
        && story
            .end
            .as_ref()
            .is_some_and(|end| end.outcome == Outcome::Fixed);
    // First what happened, from the symptom to the proof; then what there is to look up.
    if fixed {
        page.divergence(story);
        page.angelic(story);
        page.patch(story);
        page.verification(story);
        page.examples(story);
    } else {
        // Without a patch, the report is what the run is for: why, and where to go on, come first.
        page.notes(story);
        page.examples(story);
        page.divergence(story);
        page.angelic(story);
        page.leads(story);
        page.near_misses(story);
        page.verification(story);
    }
    page.not_tried(story);
    page.conversation(story);
    page.ranking(story);
    page.tried(story);
    if fixed {
        page.near_misses(story);
    }
    page.environment(story);
    if fixed {
        page.notes(story);
    }
    page.out
}

#[derive(Default)]
struct Page {
    out: String,
}

impl Page {
    fn head(&mut self, story: &Story) {
        let outcome = heading(story);
        match &story.end {
            Some(end) => self.line(&format!("# {outcome}: {}", prose(&end.summary))),
            None => self.line(&format!("# {outcome}")),
        }
        self.out.push('\n');
        let mut facts: Vec<String> = numbers(story);
        if let Some(end) = &story.end
            && !story.is_explanation()
        {
            facts.push(format!(
                "exit code {} ({})",
                end.exit_code,
                end.outcome.meaning()
            ));
        }
        self.line(&facts.join(" · "));
        if !story.plausible.is_empty() {
            self.out.push('\n');
            self.line(
                "*Plausible* means that a patch passes the failing tests; *verified* means that \
                 it passed every step below, in a fresh tree. Neither says anything about inputs \
                 that no test covers.",
            );
        }
    }

    fn symptom(&mut self, story: &Story) {
        let Some(baseline) = &story.baseline else {
            return;
        };
        self.heading("Symptom");
        let flaky = match baseline.flaky.len() {
            0 => String::new(),
            count => format!("{}, ", plural(count, "flaky test")),
        };
        self.line(&format!(
            "{}, {flaky}{} passing of {} collected.",
            plural(baseline.failing.len(), "failing test"),
            baseline.passing,
            baseline.collected
        ));
        for failure in baseline.failing.iter().take(FAILURES) {
            self.failure(failure);
        }
        if baseline.failing.len() > FAILURES {
            self.out.push('\n');
            let more = plural(baseline.failing.len() - FAILURES, "more failing test");
            self.line(&format!("And {more}, listed in report.json."));
        }
        if !baseline.flaky.is_empty() {
            self.out.push('\n');
            self.line("Passed in some baseline runs and failed in others:");
            self.out.push('\n');
            for test in &baseline.flaky {
                self.line(&format!("- {}", code(test)));
            }
        }
    }

    fn failure(&mut self, failure: &Failure) {
        self.out.push('\n');
        self.line(&format!("### {}", code(&failure.test)));
        self.out.push('\n');
        let mut what = if failure.exception.is_empty() {
            "Failed".to_owned()
        } else {
            code(&failure.exception)
        };
        if let Some(frame) = failure.frames.last() {
            let at = place_in_prose(&frame.function, frame.file.as_str(), frame.line);
            let _ = write!(what, " raised in {}", prose(&at));
        }
        self.line(&what);
        self.fenced("text", &failure.message, MESSAGE_LINES);
        if let Some(named) = sides(failure) {
            for (name, value) in [named.first, named.second] {
                self.out.push('\n');
                self.line(&format!("{}:", capital(name)));
                self.fenced("python", value, VALUE_LINES);
            }
            if named.lossy {
                self.out.push('\n');
                self.line("The values are abbreviated.");
            }
        }
        if !failure.longrepr.is_empty() {
            self.out.push('\n');
            self.line("<details><summary>What pytest says</summary>");
            self.fenced("text", &failure.longrepr, LONGREPR_LINES);
            self.out.push('\n');
            self.line("</details>");
        }
        if failure.frames.len() > 1 {
            self.out.push('\n');
            self.line("Stack, innermost last:");
            self.out.push('\n');
            for frame in &failure.frames {
                let at = place_in_prose(&frame.function, frame.file.as_str(), frame.line);
                self.line(&format!("1. {}", prose(&at)));
            }
        }
    }

    fn patch(&mut self, story: &Story) {
        if story.diff().is_empty() {
            return;
        }
        self.heading("Patch");
        if let Some(patch) = story.accepted() {
            self.line(&claim(patch));
        }
        self.fenced("diff", story.diff(), usize::MAX);
        self.out.push('\n');
        if let Some(sureness) = &story.sureness {
            self.line(&format!(
                "How sure it is to be right: {}.",
                prose(&sure(sureness))
            ));
            self.out.push('\n');
        }
        if !story.applied.is_empty() {
            let files: Vec<String> = story
                .applied
                .iter()
                .map(|file| code(file.as_str()))
                .collect();
            self.line(&format!("Applied to {}.", files.join(", ")));
        } else if let Some(command) = next::apply_in_project(story) {
            self.line("To apply it, in the project folder:");
            self.fenced("sh", &command, usize::MAX);
        }
    }

    fn examples(&mut self, story: &Story) {
        if story.examples.is_empty() {
            return;
        }
        self.heading("Smallest calls");
        self.line("Found by running the function with many arguments; each was run again in new processes.");
        self.out.push('\n');
        for shown in &story.examples {
            self.line(&format!("- {}.", prose(&capital(&example(shown)))));
        }
    }

    fn angelic(&mut self, story: &Story) {
        if story.angelic.is_empty() {
            return;
        }
        self.heading("Where another value would do");
        self.line("Values put in while the failing tests ran; they say where a repair can be, not what it is.");
        self.out.push('\n');
        for found in story.angelic.iter().take(ROWS) {
            self.line(&format!("- {}.", prose(&capital(&angelic(found)))));
        }
    }

    fn conversation(&mut self, story: &Story) {
        let Some(held) = &story.conversation else {
            return;
        };
        self.heading("What the model supposed");
        self.line(&format!("{}.", prose(&conversation(held))));
        if held.hypotheses.is_empty() {
            return;
        }
        self.out.push('\n');
        self.row(&["Round", "Hypothesis", "Predicted", "What became of it"].map(String::from));
        self.row(&["---:", "---", "---", "---"].map(String::from));
        for one in held.hypotheses.iter().take(2 * ROWS) {
            let predicted = one.prediction.as_deref().map(code).unwrap_or_default();
            self.row(&[
                one.round.to_string(),
                prose(&one.claim),
                predicted,
                prose(&supposed(one)),
            ]);
        }
    }

    fn verification(&mut self, story: &Story) {
        if story.plausible.is_empty() {
            return;
        }
        self.heading("Verification");
        self.line(&format!(
            "{}, {} verified.",
            plural(story.plausible.len(), "plausible patch"),
            story.verified()
        ));
        // What proves the patch comes first.
        let mut patches: Vec<&PlausiblePatch> = story.plausible.iter().collect();
        patches.sort_by_key(|patch| match &patch.verdict {
            Some(verdict) if verdict.accepted => 0,
            Some(_) => 1,
            None => 2,
        });
        for patch in patches {
            self.out.push('\n');
            let verdict = match &patch.verdict {
                Some(verdict) if verdict.accepted => "Verified",
                Some(_) => "Rejected",
                None => "Not settled",
            };
            self.line(&format!("### {verdict}: {}", claim(patch)));
            if let Some(verdict) = &patch.verdict {
                self.out.push('\n');
                self.line(&format!("{}.", capital(&prose(&verdict.reason))));
            }
            if !patch.steps.is_empty() {
                self.out.push('\n');
                self.row(&["", "Step", "Result", "Time"].map(String::from));
                self.row(&["---", "---", "---", "---:"].map(String::from));
                for step in &patch.steps {
                    let mark = if step.passed { "✓" } else { "✗" };
                    self.row(&[
                        mark.to_owned(),
                        prose(&step.step),
                        prose(&step.detail),
                        duration(step.seconds),
                    ]);
                }
            }
            if !patch.is_accepted() {
                self.out.push('\n');
                self.line("<details><summary>The patch that was not taken</summary>");
                self.fenced("diff", &patch.diff, usize::MAX);
                self.out.push('\n');
                self.line("</details>");
            }
        }
    }

    fn leads(&mut self, story: &Story) {
        let leads = leads(story);
        if !leads.is_empty() {
            self.heading("What to look at");
            for lead in leads {
                self.line(&format!("1. {}", prose(&lead)));
            }
        }
    }

    fn ranking(&mut self, story: &Story) {
        if story.functions.is_empty() {
            return;
        }
        self.heading("Where it looked");
        self.line(
            "Suspiciousness from 0 to 1: how much more often failing tests run a piece of code.",
        );
        self.out.push('\n');
        self.row(&["Score", "Function", "Why"].map(String::from));
        self.row(&["---:", "---", "---"].map(String::from));
        for function in story.functions.iter().take(ROWS) {
            let at = place_in_prose(
                &function.qualname,
                function.file.as_str(),
                function.first_line,
            );
            let why = function.reasons.join("; ");
            self.row(&[format!("{:.2}", function.score), prose(&at), prose(&why)]);
        }
        if !story.statements.is_empty() {
            self.out.push('\n');
            self.row(&["Score", "Statement", "Why"].map(String::from));
            self.row(&["---:", "---", "---"].map(String::from));
            for statement in story.statements.iter().take(ROWS) {
                let at = place_in_prose(
                    &statement.qualname,
                    statement.file.as_str(),
                    statement.first_line,
                );
                let why = statement.reasons.join("; ");
                self.row(&[format!("{:.2}", statement.score), prose(&at), prose(&why)]);
            }
        }
    }

    fn tried(&mut self, story: &Story) {
        if story.tallies.is_empty() {
            return;
        }
        self.heading("What was tried");
        self.row(&["Operator", "Candidates", "How they ended"].map(String::from));
        self.row(&["---", "---:", "---"].map(String::from));
        let mut tallies: Vec<(&String, &Tally)> = story.tallies.iter().collect();
        tallies.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.total()));
        for (operator, tally) in tallies {
            let parts: Vec<String> = tally
                .parts()
                .into_iter()
                .map(|(name, count)| format!("{count} {name}"))
                .collect();
            self.row(&[code(operator), tally.total().to_string(), parts.join(", ")]);
        }
        if !story.telling.is_empty() {
            self.out.push('\n');
            self.line("Candidates that changed how the tests fail:");
            self.out.push('\n');
            for tried in story.telling.iter().take(ROWS) {
                let text = format!("{}: {}", sentence(tried), screened(&tried.result));
                self.line(&format!("- {}", prose(&text)));
            }
        }
    }

    fn near_misses(&mut self, story: &Story) {
        if story.near_misses.is_empty() {
            return;
        }
        self.heading("Nearest misses");
        let shown = story.near_misses.len().min(ROWS);
        let all = plural(story.near_miss_count(), "near miss");
        if shown < story.near_miss_count() {
            self.line(&format!("The nearest {shown} of {all}."));
            self.out.push('\n');
        }
        self.row(&["Candidate", "Result", "Tests in the way"].map(String::from));
        self.row(&["---", "---", "---"].map(String::from));
        for tried in story.near_misses.iter().take(ROWS) {
            let tests: Vec<String> = tried.in_the_way().map(|test| code(test)).collect();
            let result = screened(&tried.result);
            self.row(&[prose(&sentence(tried)), result, shortened(&tests)]);
        }
    }

    fn not_tried(&mut self, story: &Story) {
        let limits = gaps::limits(story);
        if limits.is_empty() {
            return;
        }
        self.heading("What was not tried");
        let gaps = gaps::not_tried(story);
        for gap in &gaps {
            self.line(&format!("- {}", prose(&capital(gap))));
        }
        if !gaps.is_empty() {
            self.out.push('\n');
        }
        self.line("Limits:");
        self.out.push('\n');
        for limit in limits {
            let reached = if limit.reached { ", **reached**" } else { "" };
            self.line(&format!("- {}{reached}", capital(&limit.text)));
        }
    }

    fn environment(&mut self, story: &Story) {
        if story.start.is_none() {
            return;
        }
        self.heading("Environment");
        for (name, text) in crate::report::facts::environment(story) {
            self.line(&format!("- {name}: {}", prose(&text)));
        }
    }

    fn notes(&mut self, story: &Story) {
        if story.notes.is_empty() {
            return;
        }
        self.heading("Notes");
        for note in &story.notes {
            let level = note.level.name();
            self.line(&format!("- **{level}**: {}", prose(&note.text)));
            if let Some(hint) = &note.hint {
                self.line(&format!("  - hint: {}", prose(hint)));
            }
        }
    }

    fn heading(&mut self, text: &str) {
        let _ = write!(self.out, "\n## {text}\n\n");
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn row(&mut self, cells: &[String]) {
        // A bar ends a cell inside code too.
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        self.line(&format!("| {} |", cells.join(" | ")));
    }

    fn fenced(&mut self, language: &str, text: &str, max: usize) {
        if text.is_empty() {
            return;
        }
        let text = visible(text);
        let (lines, left_out) = first_lines(&text, max);
        self.out.push('\n');
        self.out.push_str(&fence(language, &lines));
        if left_out > 0 {
            self.out.push('\n');
            self.line(&format!("{} more.", plural(left_out, "line")));
        }
    }
}

/// A patch by its claim, and its place where the candidate was seen.
fn claim(patch: &PlausiblePatch) -> String {
    match &patch.tried {
        Some(tried) => prose(&sentence(tried)),
        None => prose(&patch.claim),
    }
}

fn shortened(tests: &[String]) -> String {
    const SHOWN: usize = 3;
    let mut text = tests[..tests.len().min(SHOWN)].join(", ");
    if tests.len() > SHOWN {
        let _ = write!(text, " and {} more", tests.len() - SHOWN);
    }
    text
}
