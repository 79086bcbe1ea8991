//! What bounded a run, and what it left undone: a failed search says little without it.

use crate::report::story::Story;
use crate::report::wording::{duration, place_in_prose, plural};

/// Functions named that no candidate edited.
const FUNCTIONS: usize = 5;

/// A limit, and how far the run was from it.
pub struct Limit {
    /// "300.2 s of 5 min".
    pub text: String,
    /// Whether it ended the search.
    pub reached: bool,
}

/// The limits of a run.
pub fn limits(story: &Story) -> Vec<Limit> {
    let Some(start) = &story.start else {
        return Vec::new();
    };
    let budget = &start.budget;
    let seconds = story.seconds();
    let runs = story
        .end
        .as_ref()
        .map_or(story.executed(), |end| end.test_runs);
    let allowed = if budget.seconds.is_finite() {
        format!("of {}", duration(budget.seconds))
    } else {
        "(no limit)".to_owned()
    };
    vec![
        Limit {
            text: format!("wall clock: {} {allowed}", duration(seconds)),
            reached: seconds >= budget.seconds,
        },
        Limit {
            text: if budget.executions == u64::MAX {
                format!("test executions: {runs} (no limit)")
            } else {
                format!("test executions: {runs} of {}", budget.executions)
            },
            reached: runs >= budget.executions,
        },
    ]
}

/// What was left undone, a line each.
pub fn not_tried(story: &Story) -> Vec<String> {
    let mut gaps = Vec::new();
    if let Some(planned) = planned(story)
        && planned > story.executed()
    {
        let left = planned - story.executed();
        let all = plural(planned as usize, "candidate");
        gaps.push(format!("{left} of {all} that were planned"));
    }
    let untouched: Vec<_> = story
        .functions
        .iter()
        .filter(|function| {
            let key = (function.file.clone(), function.qualname.clone());
            !story.tried_in.contains_key(&key)
        })
        .collect();
    // Before the search starts, every function is untouched, which says nothing.
    if !story.tried_in.is_empty() {
        for function in untouched.iter().take(FUNCTIONS) {
            let place = place_in_prose(
                &function.qualname,
                function.file.as_str(),
                function.first_line,
            );
            gaps.push(format!(
                "no candidate in {place}, suspiciousness {:.2}",
                function.score
            ));
        }
        if untouched.len() > FUNCTIONS {
            let more = plural(untouched.len() - FUNCTIONS, "less suspicious function");
            gaps.push(format!("no candidate in another {more}"));
        }
    }
    let open = story
        .plausible
        .iter()
        .filter(|patch| patch.verdict.is_none());
    let open = open.count();
    if open > 0 && story.verified() > 0 {
        let patches = if open == 1 { "patch" } else { "patches" };
        gaps.push(format!(
            "verification of {open} more plausible {patches}: another one was believed first"
        ));
    }
    if let Some(looks) = story.foreseen
        && looks.put_off > 0
    {
        gaps.push(format!(
            "{}: foreseen to change nothing that the failing tests see, or what others changed in vain",
            plural(looks.put_off, "edit")
        ));
    }
    let stages = story.start.as_ref().and_then(|start| start.stages);
    let is_on = stages.is_some_and(|stages| stages.synthesis) && !story.planners.is_empty();
    if is_on && story.end.is_some() && story.angelic.is_empty() {
        gaps.push(
            "repairs from other values: none made a failing test pass, or the search ended before"
                .to_owned(),
        );
    }
    gaps.extend(switched_off(story).into_iter().map(str::to_owned));
    if story.spectra.is_some_and(|spectra| spectra.partial) {
        gaps.push(
            "coverage of some passing tests: the recording reached its time limit".to_owned(),
        );
    }
    gaps
}

/// Stages that were switched off, with what switches them on.
fn switched_off(story: &Story) -> Vec<&'static str> {
    let Some(stages) = story.start.as_ref().and_then(|start| start.stages) else {
        return Vec::new();
    };
    // Where nothing was found suspicious, no stage was reached.
    if story.functions.is_empty() {
        return Vec::new();
    }
    let all = [
        (
            stages.search,
            "edit operators: only a language model was asked (`--planner auto` does both)",
        ),
        (stages.pairs, "pairs of edits: switched off (`--no-pairs`)"),
        (
            stages.synthesis,
            "other values put in, and synthesis from them: switched off (`--no-synthesis` or `--cold`)",
        ),
        (
            stages.simulator,
            "the walk back from the failed assertion: switched off (`--simulator embedded` does it)",
        ),
        (
            stages.model,
            "a language model: none was asked (`--planner auto` does)",
        ),
    ];
    all.into_iter()
        .filter(|(is_on, _)| !is_on)
        .map(|(_, text)| text)
        .collect()
}

/// Candidates that the planners had in all.
fn planned(story: &Story) -> Option<u64> {
    let announced = story
        .planners
        .iter()
        .map(|(_, planned)| planned.map(|planned| planned as u64))
        .sum::<Option<u64>>()
        .filter(|_| !story.planners.is_empty());
    story
        .progress
        .as_ref()
        .and_then(|progress| progress.planned)
        .or(announced)
}
