//! The reports that a run leaves behind.

use super::stories;
use crate::report::event::Stamped;
use crate::report::story::Story;
use crate::report::{json, markdown};

fn markdown(events: &[Stamped]) -> String {
    markdown::render(&Story::from_events(events))
}

fn json(events: &[Stamped]) -> String {
    let text = json::render(&Story::from_events(events)).expect("renders");
    serde_json::from_str::<serde_json::Value>(&text).expect("is JSON");
    text
}

#[test]
fn markdown_fixed() {
    insta::assert_snapshot!(markdown(&stories::fixed()));
}

#[test]
fn markdown_not_fixed() {
    insta::assert_snapshot!(markdown(&stories::not_fixed()));
}

#[test]
fn markdown_flaky() {
    insta::assert_snapshot!(markdown(&stories::flaky()));
}

#[test]
fn markdown_environment_error() {
    insta::assert_snapshot!(markdown(&stories::environment_error()));
}

#[test]
fn json_fixed() {
    insta::assert_snapshot!(json(&stories::fixed()));
}

#[test]
fn json_not_fixed() {
    insta::assert_snapshot!(json(&stories::not_fixed()));
}

#[test]
fn json_flaky() {
    insta::assert_snapshot!(json(&stories::flaky()));
}

#[test]
fn json_environment_error() {
    insta::assert_snapshot!(json(&stories::environment_error()));
}

#[test]
fn a_run_that_was_killed_has_a_report_too() {
    let events = stories::fixed();
    for end in 0..events.len() {
        let text = markdown(&events[..end]);
        assert!(text.starts_with("# Unfinished\n"), "{text}");
        assert!(json(&events[..end]).contains("\"outcome\": null"));
    }
}

#[test]
fn markdown_gives_hostile_text_no_meaning() {
    let text = markdown(&stories::hostile());
    assert!(!text.contains('\x1b') && !text.contains('\u{202e}'));
    // Outside of code, no markup is left.
    let mut fence: Option<String> = None;
    for line in text.lines() {
        let ticks: String = line.chars().take_while(|tick| *tick == '`').collect();
        match &fence {
            Some(open) if line == *open => fence = None,
            Some(_) => {}
            None if ticks.len() >= 3 && !line[ticks.len()..].contains('`') => fence = Some(ticks),
            None => {
                let outside = without_code(line);
                for markup in ["<script", "<img", "<b>"] {
                    assert!(!outside.replace("\\<", "").contains(markup), "{line}");
                }
                assert!(!outside.contains("@all"), "{line}");
            }
        }
    }
    assert_eq!(fence, None);
}

/// A line without its code spans, by the rules of CommonMark.
fn without_code(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        if rest[..start].ends_with('\\') {
            out.push_str(&rest[..=start]);
            rest = &rest[start + 1..];
            continue;
        }
        out.push_str(&rest[..start]);
        let ticks: String = rest[start..]
            .chars()
            .take_while(|tick| *tick == '`')
            .collect();
        let after = &rest[start + ticks.len()..];
        let mut end = None;
        let mut from = 0;
        while let Some(found) = after[from..].find(&ticks) {
            let run = after[from + found..]
                .chars()
                .take_while(|tick| *tick == '`')
                .count();
            if run == ticks.len() {
                end = Some(from + found + run);
                break;
            }
            from += found + run;
        }
        if let Some(end) = end {
            rest = &after[end..];
        } else {
            out.push_str(&ticks);
            rest = after;
        }
    }
    out + rest
}
