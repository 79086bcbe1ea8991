//! How numbers and results are put into words, the same in every renderer.

use std::fmt::Write as _;

use super::event::{Sureness, Surety};
use crate::fix::divergence::Parting;
use crate::outcome::Outcome;
use crate::plan::Looks;
use crate::plan::Screened;
use crate::plan::synthesis::oracle::Angelic;
use crate::report::event::{Counts, Example, Shows};
use crate::report::story::{Conversation, Story, Supposed, Tried};
use crate::report::visible::one_line;

/// `1 test`, `2 tests`.
pub fn plural(count: usize, noun: &str) -> String {
    let ending = match count {
        1 => "",
        _ if noun.ends_with(['s', 'h']) => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

/// A duration for people: `0.4 s`, `2 min 5 s`, `1 h 2 min`.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "no limit".to_owned();
    }
    if seconds < 0.95 {
        return format!("{:.2} s", seconds.max(0.0));
    }
    if seconds < 59.95 {
        return format!("{seconds:.1} s").replace(".0 s", " s");
    }
    let whole = seconds.round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, rest) => format!("{minutes} min {rest} s"),
        (hours, 0, _) => format!("{hours} h"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// `1 failed, 41 passed, 2 skipped`; what failed comes first.
pub fn counts(counts: Counts) -> String {
    let mut parts = Vec::new();
    if counts.failed > 0 {
        parts.push(format!("{} failed", counts.failed));
    }
    parts.push(format!("{} passed", counts.passed));
    if counts.skipped > 0 {
        parts.push(format!("{} skipped", counts.skipped));
    }
    parts.join(", ")
}

/// What an example shows, in a line; texts of the repository stand between backticks.
pub fn example(example: &Example) -> String {
    let calls = plural(example.executions, "call");
    let beside = example.beside.as_deref().map(one_line).unwrap_or_default();
    let Some(call) = &example.call else {
        return format!("none of {calls} tells it from the patch that {beside}");
    };
    let call = one_line(call);
    let mut said = example
        .results
        .iter()
        .map(|result| one_line(&result.result));
    let (first, second) = (said.next().unwrap_or_default(), said.next());
    match (example.shows, second) {
        (Shows::Failure, Some(second)) => format!("`{call}` {first}; patched, it {second}"),
        (Shows::Failure, None) => format!("`{call}` {first}"),
        (Shows::Difference, second) => format!(
            "`{call}` {first}; with another patch that passes the tests ({beside}), it {}",
            second.unwrap_or_default()
        ),
    }
}

/// How sure a patch is, and why.
pub fn sure(found: &Sureness) -> String {
    let level = match found.level {
        Surety::Low => "not very",
        Surety::Middle => "fairly",
        Surety::High => "quite",
    };
    if found.reasons.is_empty() {
        return level.to_owned();
    }
    format!("{level}: {}", found.reasons.join("; "))
}

/// What edits were foreseen to do, in a sentence.
pub fn foreseen(looks: &Looks) -> String {
    let mut text = format!(
        "of {} edits looked at, {} change nothing that the failing tests see; {} put off, with those that do what \
         others did in vain",
        looks.looked, looks.nothing, looks.put_off
    );
    let audited = looks.right + looks.wrong;
    if audited > 0 {
        let _ = write!(
            text,
            "; {audited} run to see: {} failed as foreseen",
            looks.right
        );
    }
    text
}

/// Where another value makes failing tests pass, in a line; texts of the repository stand between backticks.
pub fn angelic(found: &Angelic) -> String {
    let place = one_line(&found.place);
    let needed = one_line(&found.needed);
    let mut text = if needed.starts_with('`') {
        format!("with {needed} for `{place}`")
    } else {
        format!("with `{place}` {needed}")
    };
    let _ = write!(text, " at `{}:{}`", found.file, found.line);
    if !found.when.is_empty() {
        let _ = write!(text, " ({})", found.when);
    }
    match found.tests.as_slice() {
        [id] => {
            let _ = write!(text, " `{}` passes", one_line(id));
        }
        ids => {
            let _ = write!(text, " {} pass", plural(ids.len(), "failing test"));
        }
    }
    if let Some(visit) = &found.visit {
        let names: Vec<String> = visit
            .state
            .iter()
            .map(|(name, value)| format!("`{}`", one_line(&format!("{name} = {value}"))))
            .collect();
        let _ = write!(text, "; it was `{}`", one_line(&visit.recorded));
        if !names.is_empty() {
            let _ = write!(text, ", where {}", names.join(", "));
        }
    }
    text
}

/// What was needed, between backticks where it is a value.
pub fn needed(found: &Parting) -> String {
    if is_open(found) {
        found.needed.clone()
    } else {
        format!("`{}`", one_line(&found.needed))
    }
}

/// Whether no more is known than that another value was needed.
pub fn is_open(found: &Parting) -> bool {
    !found.needed_known
}

/// How a divergence is known: "derived by rules, 42 %".
pub fn known_by(found: &Parting) -> String {
    let how = match found.provenance.as_str() {
        "derived" => "derived by rules from the recording",
        "predicted" => "predicted: the model was asked on the way",
        "verified" => "verified: with it put in, the test passes",
        other => other,
    };
    format!("{how}, confidence {:.0} %", found.confidence * 100.0)
}

/// "`total` was `-3` at `shop.py:4`, `3` was needed (derived, 42 %)".
pub fn parting(found: &Parting) -> String {
    format!(
        "{} was `{}` at `{}:{}`, {} was needed ({})",
        found.part,
        one_line(&found.recorded),
        found.file,
        found.line,
        needed(found),
        believed(found)
    )
}

/// "derived, 42 %"; what a run has verified is no matter of belief any more.
pub fn believed(found: &Parting) -> String {
    if found.provenance == "verified" {
        return found.provenance.clone();
    }
    format!("{}, {:.0} %", found.provenance, found.confidence * 100.0)
}

/// `1,234`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// What a model took: tokens, and money where its price is known.
pub fn spent(tokens: u64, estimated: bool, cost: Option<f64>, so_far: &str) -> String {
    let about = if estimated { "about " } else { "" };
    let money = match cost {
        Some(cost) if cost > 0.0 => format!(", ${cost:.4}"),
        Some(_) => ", free".into(),
        None => ", price not known".into(),
    };
    format!("{about}{} tokens{so_far}{money}", thousands(tokens))
}

/// What a conversation with a model took, in a line.
pub fn conversation(held: &Conversation) -> String {
    let tokens = spent(
        held.prompt_tokens + held.completion_tokens,
        held.estimated,
        held.cost,
        "",
    );
    let mut parts = vec![
        format!("`{}`", one_line(&held.model).replace('`', "")),
        plural(held.rounds, "round"),
        format!(
            "{tokens} ({} in, {} out)",
            thousands(held.prompt_tokens),
            thousands(held.completion_tokens)
        ),
        duration(held.seconds),
    ];
    if held.queries > 0 {
        parts.push(format!(
            "{} about the run",
            plural(held.queries, "question")
        ));
    }
    if held.unusable > 0 {
        parts.push(plural(held.unusable, "unusable answer"));
    }
    parts.join(", ")
}

/// What became of a hypothesis, in a few words.
pub fn supposed(held: &Supposed) -> String {
    match (&held.dropped, &held.verdict) {
        (Some(why), _) => format!("not tried: {}", one_line(why)),
        (None, Some(verdict)) => one_line(&verdict.text()),
        (None, None) => "tried".into(),
    }
}

/// The heading of a report.
pub fn heading(story: &Story) -> &'static str {
    let outcome = story.end.as_ref().map(|end| end.outcome);
    if story.is_explanation() {
        "Explained"
    } else {
        title(outcome)
    }
}

/// How a run ended, as a heading; `None` when it was killed before it could say.
pub const fn title(outcome: Option<Outcome>) -> &'static str {
    match outcome {
        Some(Outcome::Fixed) => "Fixed",
        Some(Outcome::NotFixed) => "Not fixed",
        Some(Outcome::Usage) => "Usage error",
        Some(Outcome::NothingToFix) => "Nothing to fix",
        Some(Outcome::Environment) => "Environment error",
        Some(Outcome::Flaky) => "Flaky",
        Some(Outcome::Budget) => "Budget reached",
        Some(Outcome::Interrupted) => "Interrupted",
        None => "Unfinished",
    }
}

/// What was done, in numbers that say what they count.
pub fn numbers(story: &Story) -> Vec<String> {
    let mut numbers = Vec::new();
    if story.executed() > 0 {
        let candidates = plural(story.executed() as usize, "candidate");
        numbers.push(format!("{candidates} screened"));
        numbers.push(format!("{} plausible", story.plausible.len()));
        numbers.push(format!("{} verified", story.verified()));
    }
    if let Some(end) = &story.end
        && end.test_runs > 0
    {
        numbers.push(plural(end.test_runs as usize, "test run"));
    }
    numbers.push(duration(story.seconds()));
    numbers
}

/// A place for the terminal, where a bare path can be clicked: "`Cart.total`, shop/cart.py:12".
pub fn place(qualname: &str, file: &str, line: usize) -> String {
    if qualname.is_empty() {
        one_line(&format!("{file}:{line}"))
    } else {
        one_line(&format!("`{qualname}`, {file}:{line}"))
    }
}

/// A place for documents: "`Cart.total`, `shop/cart.py:12`".
pub fn place_in_prose(qualname: &str, file: &str, line: usize) -> String {
    place(qualname, &format!("`{file}"), line) + "`"
}

/// A candidate's claim with its place, for documents.
pub fn sentence(tried: &Tried) -> String {
    let at = place_in_prose(&tried.qualname, tried.file.as_str(), tried.line);
    format!("{} in {at}", one_line(&tried.claim))
}

/// `text` with a capital first letter.
pub fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(characters).collect()
    })
}

/// Why a candidate was not taken, in a line.
pub fn screened(result: &Screened) -> String {
    match result {
        Screened::Plausible => "passes the failing tests".to_owned(),
        Screened::NearMiss {
            fixed,
            failing,
            broken,
        } => near_miss(fixed.len(), failing.len(), broken.len()),
        Screened::Changed { symptom } => format!("fails in another way: {}", one_line(symptom)),
        Screened::Unchanged => "same failure as before".to_owned(),
        Screened::TimedOut => "did not end in time".to_owned(),
        Screened::Crashed { how } => format!("crashed: {}", one_line(how)),
        Screened::Invalid { reason } => format!("not valid: {}", one_line(reason)),
    }
}

/// "2 of 3 failing tests pass, 1 other test breaks".
fn near_miss(fixed: usize, failing: usize, broken: usize) -> String {
    let all = fixed + failing;
    let text = match (fixed, failing) {
        (1, 0) => "the failing test passes".to_owned(),
        (_, 0) => format!("all {fixed} failing tests pass"),
        (1, _) => format!("1 of {all} failing tests passes"),
        _ => format!("{fixed} of {all} failing tests pass"),
    };
    match broken {
        0 => text,
        1 => text + ", 1 other test breaks",
        more => format!("{text}, {more} other tests break"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_well_at_every_size() {
        let said: Vec<String> = [
            0.0,
            0.4,
            0.96,
            12.34,
            59.97,
            120.0,
            125.0,
            3720.0,
            f64::INFINITY,
        ]
        .into_iter()
        .map(duration)
        .collect();
        assert_eq!(
            said,
            [
                "0.00 s",
                "0.40 s",
                "1 s",
                "12.3 s",
                "1 min",
                "2 min",
                "2 min 5 s",
                "1 h 2 min",
                "no limit"
            ]
        );
    }

    #[test]
    fn nouns_follow_their_number() {
        assert_eq!(plural(1, "near miss"), "1 near miss");
        assert_eq!(plural(2, "near miss"), "2 near misses");
        assert_eq!(plural(0, "test"), "0 tests");
    }
}
