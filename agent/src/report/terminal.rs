//! What people read on stderr while a run goes on.

mod conversation;
pub(crate) mod page;

use std::fmt::Write as _;

use camino::Utf8Path;

use crate::outcome::Outcome;
use crate::plan::{Failure, Screened, SuspectFunction};
use crate::report::event::{BudgetFacts, Event, Level, Shows, Stamped, VerifyStep};
use crate::report::look::{Look, Role};
use crate::report::sides::sides;
use crate::report::story::{PlausiblePatch, Story};
use crate::report::visible::{ellipsize, first_lines, one_line, visible, wrap};
use crate::report::wording::{
    angelic, capital, counts, duration, example, foreseen, parting, place, plural, screened, sure,
};

use page::Page;

/// Failing tests shown in full, functions of the ranking, lines of a value, near misses.
const FAILURES: usize = 3;
const RANKED: usize = 5;
const VALUE_LINES: usize = 6;
const NEAR_MISSES: usize = 5;
/// Divergences shown when every candidate is.
const PARTINGS: usize = 5;

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verbosity {
    /// Warnings, errors and how it ended.
    Quiet,
    /// What happens.
    Normal,
    /// Each candidate too.
    Verbose,
}

/// What to print for an event; `story` has absorbed it already. Empty when there is nothing to say.
pub fn render(stamped: &Stamped, story: &Story, look: &Look, verbosity: Verbosity) -> String {
    let page = Page::new(look);
    match (&stamped.event, verbosity) {
        (
            Event::Note {
                level: Level::Info, ..
            },
            Verbosity::Quiet,
        ) => String::new(),
        (Event::Note { .. } | Event::Finished { .. }, _) => page.event(stamped, story, verbosity),
        (_, Verbosity::Quiet) => String::new(),
        _ => page.event(stamped, story, verbosity),
    }
}

/// The lines after the report is written: where it is, and what to type next.
pub fn pointers(report: &Utf8Path, next: Option<&str>, look: &Look) -> String {
    let mut page = Page::new(look);
    // Not wrapped: a path or a command in pieces cannot be copied.
    for (label, text) in [("report", Some(report.as_str())), ("next", next)] {
        if let Some(text) = text {
            page.labelled(label, Role::Label, &visible(text));
        }
    }
    page.out
}

/// A plain line on how the search stands.
pub fn progress(text: &str, look: &Look) -> String {
    let mut page = Page::new(look);
    page.entry("search", Role::Label, text);
    page.out
}

impl Page<'_> {
    fn event(mut self, stamped: &Stamped, story: &Story, verbosity: Verbosity) -> String {
        match &stamped.event {
            Event::RunStarted {
                version,
                command,
                repo,
                targets,
                budget,
                ..
            } => self.started(version, command, repo, targets, budget),
            Event::Tree {
                how,
                base,
                changed,
                untracked,
                left_out,
            } => self.tree(how, base.as_deref(), *changed, untracked.len(), left_out),
            Event::Environment {
                version,
                pytest,
                rule,
                managed,
                plugins,
                ..
            } => {
                let mut text = format!("{version} with pytest {pytest}, {rule}");
                if *managed {
                    text.push_str(", made by ndbg-agent");
                }
                if verbosity == Verbosity::Verbose && !plugins.is_empty() {
                    let _ = write!(text, ", plugins {}", plugins.join(", "));
                }
                self.entry("python", Role::Label, &text);
            }
            Event::BaselineRun {
                run,
                of,
                counts: found,
                seconds,
            } => {
                let found = counts(*found);
                let text = format!("run {run} of {of}: {found} in {}", duration(*seconds));
                self.entry("baseline", Role::Label, &text);
            }
            Event::Baseline {
                failing,
                flaky,
                passing,
                collected,
            } => self.baseline(failing, flaky, *passing, *collected),
            Event::Spectra {
                tests,
                lines,
                partial,
                seconds,
            } => {
                let mut text = format!(
                    "{} over {} in {}",
                    plural(*tests, "test"),
                    plural(*lines, "line"),
                    duration(*seconds)
                );
                if *partial {
                    text.push_str(", cut short by its time limit");
                }
                self.out.push('\n');
                self.entry("coverage", Role::Label, &text);
            }
            // The walk raises statements and leaves the functions in their order: they are told once.
            Event::Localized { functions, .. } => {
                if story.partings.is_empty() {
                    self.ranking(functions);
                }
            }
            Event::WarmReady {
                stage,
                tests,
                seconds,
            } => {
                if verbosity == Verbosity::Verbose {
                    let tests = plural(*tests, "test");
                    let text = format!("{stage} with {tests} in {}", duration(*seconds));
                    self.entry("warm", Role::Label, &text);
                }
            }
            Event::PlanStarted { planner, planned } => {
                self.out.push('\n');
                let text = match planned {
                    Some(planned) => {
                        format!(
                            "{} from the {planner} planner",
                            plural(*planned, "candidate")
                        )
                    }
                    None => format!("candidates from the {planner} planner, as they come"),
                };
                self.entry("search", Role::Label, &text);
            }
            Event::Candidate {
                id,
                operator,
                claim,
                file,
                line,
                qualname,
                ms,
                result,
                ..
            } => {
                let at = place(qualname, file.as_str(), *line);
                if let Screened::NearMiss { .. } = result {
                    self.near_miss(story, *id, claim, &at, result);
                } else if verbosity == Verbosity::Verbose {
                    let result = screened(result);
                    let text = format!("{operator}: {claim} in {at}: {result} ({ms:.0} ms)");
                    self.entry(&format!("#{id}"), Role::Dim, &text);
                }
            }
            // The line that redraws itself, or its plain stand-in.
            Event::Progress { .. } => {}
            Event::Plausible { id, executed, .. } => {
                let patch = story.plausible.iter().find(|patch| patch.id == *id);
                self.out.push('\n');
                let text = format!(
                    "{}; passes the failing tests, found after {}",
                    patch.map(patch_name).unwrap_or_default(),
                    plural(*executed as usize, "candidate")
                );
                self.entry("plausible", Role::Strong, &text);
            }
            Event::Verify { step, .. } => self.verify(step),
            Event::Verdict {
                accepted, reason, ..
            } => {
                let (label, role) = if *accepted {
                    ("verified", Role::Good)
                } else {
                    ("rejected", Role::Bad)
                };
                self.entry(label, role, reason);
            }
            Event::Model(exchange) => self.exchange(exchange),
            Event::Example(shown) => {
                let label = match (shown.shows, &shown.call) {
                    (Shows::Failure, _) => "reproduced",
                    (Shows::Difference, Some(_)) => "told apart",
                    (Shows::Difference, None) => "alike",
                };
                self.entry(label, Role::Strong, &example(shown));
            }
            Event::Divergence { partings, .. } => {
                let all = verbosity == Verbosity::Verbose;
                let shown = if all { PARTINGS } else { 1 };
                let ends = partings.iter().filter(|one| one.ends_here);
                for found in ends.take(shown) {
                    self.entry("diverges", Role::Strong, &capital(&parting(found)));
                }
            }
            Event::Angelic(found) => self.entry("repairable", Role::Strong, &angelic(found)),
            Event::Sure(found) => self.entry("how sure", Role::Label, &sure(found)),
            Event::Foreseen(looks) => self.entry("foreseen", Role::Label, &foreseen(looks)),
            Event::Note { level, text, hint } => self.note(*level, text, hint.as_deref()),
            Event::Applied { files } => {
                let files: Vec<String> = files.iter().map(|file| format!("`{file}`")).collect();
                self.entry("applied", Role::Good, &files.join(", "));
            }
            Event::Finished {
                outcome,
                exit_code,
                summary,
                executed,
                test_runs,
                seconds,
                ..
            } => {
                let mut numbers = Vec::new();
                if *executed > 0 {
                    numbers.push(plural(*executed as usize, "candidate"));
                }
                if *test_runs > 0 {
                    numbers.push(plural(*test_runs as usize, "test run"));
                }
                numbers.push(duration(*seconds));
                let numbers = numbers.join(", ");
                if verbosity != Verbosity::Quiet {
                    self.out.push('\n');
                }
                if story.is_explanation() {
                    self.entry("explained", Role::Good, summary);
                } else {
                    self.finished(*outcome, *exit_code, summary, &numbers);
                }
            }
        }
        self.out
    }

    fn started(
        &mut self,
        version: &str,
        command: &str,
        repo: &Utf8Path,
        targets: &[String],
        budget: &BudgetFacts,
    ) {
        let title = one_line(&format!("ndbg-agent {version} {command}"));
        let title = self.look.paint(Role::Strong, &title).into_owned();
        self.line("", &title);
        self.labelled_id("project", repo.as_str());
        match targets {
            [] => self.entry("tests", Role::Label, "whatever fails"),
            targets => {
                for target in targets.iter().take(FAILURES) {
                    self.labelled_id("tests", target);
                }
                self.more(targets.len(), FAILURES, "");
            }
        }
        let executions = plural(budget.executions as usize, "test execution");
        let limits = format!("{}, {executions}", duration(budget.seconds));
        self.entry("limits", Role::Label, &limits);
    }

    fn tree(
        &mut self,
        how: &str,
        base: Option<&str>,
        changed: usize,
        untracked: usize,
        left_out: &[String],
    ) {
        let mut text = how.to_owned();
        if let Some(base) = base {
            let short: String = base.chars().take(10).collect();
            let _ = write!(text, " at {short}");
        }
        if changed > 0 {
            let _ = write!(
                text,
                ", {} with uncommitted changes",
                plural(changed, "file")
            );
        }
        if untracked > 0 {
            let _ = write!(text, ", {}", plural(untracked, "untracked file"));
        }
        self.entry("tree", Role::Label, &text);
        for what in left_out.iter().take(FAILURES) {
            self.entry("", Role::Label, &format!("left out: {what}"));
        }
        self.more(left_out.len(), FAILURES, "");
    }

    fn baseline(
        &mut self,
        failing: &[Failure],
        flaky: &[String],
        passing: usize,
        collected: usize,
    ) {
        let mut parts = Vec::new();
        if !failing.is_empty() {
            parts.push(plural(failing.len(), "failing test"));
        }
        if !flaky.is_empty() {
            parts.push(plural(flaky.len(), "flaky test"));
        }
        parts.push(format!("{passing} passing of {collected} collected"));
        self.heading(&parts.join(", "));
        for failure in failing.iter().take(FAILURES) {
            self.failure(failure);
        }
        self.more(failing.len(), FAILURES, "");
        for test in flaky.iter().take(FAILURES) {
            let mark = self.look.paint(Role::Warn, "~ ").into_owned();
            self.id(&format!("  {mark}"), test);
        }
        self.more(flaky.len(), FAILURES, "");
    }

    fn failure(&mut self, failure: &Failure) {
        let mark = self
            .look
            .paint(Role::Bad, self.look.mark(false))
            .into_owned();
        self.id(&format!("  {mark} "), &failure.test);
        let (first, _) = failure
            .message
            .split_once('\n')
            .unwrap_or((&failure.message, ""));
        let mut what = one_line(&failure.exception);
        if !first.trim().is_empty() {
            let _ = write!(what, ": {}", one_line(first));
        }
        self.body(4, &what, 3);
        if let Some(frame) = failure.frames.last() {
            let at = place(&frame.function, frame.file.as_str(), frame.line);
            self.body(4, &format!("raised in {at}"), 2);
        }
        if let Some(named) = sides(failure) {
            if named.first.0 == "left" {
                self.body(
                    4,
                    &format!("the assertion compares with `{}`", one_line(named.op)),
                    1,
                );
            }
            for (role, (name, text)) in [(Role::Good, named.first), (Role::Bad, named.second)] {
                let role = if name == "left" || name == "right" {
                    Role::Label
                } else {
                    role
                };
                self.value(role, name, text);
            }
            if named.lossy {
                self.body(4, "values are abbreviated", 1);
            }
        }
    }

    /// A value under its name, cut to a few lines, behind a gutter: text at the start of a line
    /// may be read as a command, by continuous integration for example.
    fn value(&mut self, role: Role, name: &str, text: &str) {
        let text = visible(text);
        let (lines, left_out) = first_lines(&text, VALUE_LINES);
        let gutter = self.look.gutter();
        let width = self.look.width - 14 - 2;
        let mut name = format!("{name:<10}");
        for line in lines.into_iter().chain(text.is_empty().then_some("")) {
            let shown = ellipsize(line, width, self.look.ellipsis());
            let painted = self.look.paint(role, &name).into_owned();
            self.line(&format!("    {painted}{gutter}"), &shown);
            name = " ".repeat(10);
        }
        if left_out > 0 {
            let said = format!("{} more", plural(left_out, "line"));
            let said = self.look.paint(Role::Dim, &said).into_owned();
            self.line(&format!("    {name}{gutter}"), &said);
        }
    }

    fn ranking(&mut self, functions: &[SuspectFunction]) {
        if functions.is_empty() {
            return;
        }
        self.heading("Where it looks");
        for function in functions.iter().take(RANKED) {
            let at = place(
                &function.qualname,
                function.file.as_str(),
                function.first_line,
            );
            let score = format!("{:.2}", function.score);
            let score = self.look.paint(Role::Warn, &score).into_owned();
            let width = self.look.width - 8;
            self.line(
                &format!("  {score}  "),
                &ellipsize(&at, width, self.look.ellipsis()),
            );
            if let Some(reason) = function.reasons.first() {
                self.body(8, &one_line(reason), 2);
            }
        }
        self.more(functions.len(), RANKED, "      ");
    }

    /// The nearest ones only: a search may have hundreds.
    fn near_miss(&mut self, story: &Story, id: u64, claim: &str, at: &str, result: &Screened) {
        let near = story.near_misses.iter().take(NEAR_MISSES);
        if near.into_iter().any(|known| known.id == id) {
            let text = format!("{claim} in {at}: {}", screened(result));
            self.entry("near miss", Role::Warn, &text);
        }
    }

    fn verify(&mut self, step: &VerifyStep) {
        let role = if step.passed { Role::Good } else { Role::Bad };
        let mark = self
            .look
            .paint(role, self.look.mark(step.passed))
            .into_owned();
        let mut text = one_line(&step.step);
        if !step.detail.is_empty() {
            let _ = write!(text, ": {}", one_line(&step.detail));
        }
        let _ = write!(text, " ({})", duration(step.seconds));
        let mut lead = format!("  {mark} ");
        for line in wrap(&text, self.look.width - 4) {
            self.line(&lead, &line);
            lead = " ".repeat(4);
        }
    }

    fn note(&mut self, level: Level, text: &str, hint: Option<&str>) {
        let role = match level {
            Level::Info => Role::Label,
            Level::Warning => Role::Warn,
            Level::Error => Role::Bad,
        };
        self.prefixed(level.name(), role, text);
        if let Some(hint) = hint {
            self.prefixed("hint", Role::Label, hint);
        }
    }

    fn finished(&mut self, outcome: Outcome, exit_code: u8, summary: &str, numbers: &str) {
        let (label, role) = match outcome {
            Outcome::Fixed => ("fixed", Role::Good),
            Outcome::NothingToFix => ("passing", Role::Good),
            Outcome::NotFixed => ("not fixed", Role::Bad),
            Outcome::Usage => ("usage", Role::Bad),
            Outcome::Environment => ("error", Role::Bad),
            Outcome::Flaky => ("flaky", Role::Warn),
            Outcome::Budget => ("budget", Role::Warn),
            Outcome::Interrupted => ("stopped", Role::Warn),
        };
        self.entry(label, role, summary);
        self.entry("", Role::Dim, numbers);
        let meaning = outcome.meaning();
        self.entry(
            "",
            Role::Dim,
            &format!("exit code {exit_code} means {meaning}"),
        );
    }
}

/// The claim of a patch, with its place where the candidate was seen.
fn patch_name(patch: &PlausiblePatch) -> String {
    let claim = one_line(&patch.claim);
    match &patch.tried {
        Some(tried) => {
            let at = place(&tried.qualname, tried.file.as_str(), tried.line);
            format!("{claim} in {at}")
        }
        None => claim,
    }
}
