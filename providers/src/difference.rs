//! Where two requests part first.

use crate::request::{Message, Request};
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

/// More lines of a diff are not shown.
const LINES: usize = 12;

/// More of a line is not shown.
const COLUMNS: usize = 160;

/// What differs first between the request that was recorded and the one that is asked, and a short
/// diff of it; the diff is empty where there is no text to compare.
pub(crate) fn difference(recorded: &Request, asked: &Request) -> (String, String) {
    if recorded.system != asked.system {
        return text("the system text", &recorded.system, &asked.system);
    }
    let both = recorded.messages.iter().zip(&asked.messages).enumerate();
    for (index, (was, is)) in both {
        if was == is {
            continue;
        }
        let which = format!("message {} (`{}`)", index + 1, is.role());
        if was.role() != is.role() {
            return (
                format!("{which} was one of the role `{}`", was.role()),
                String::new(),
            );
        }
        if was.text() != is.text() {
            return text(&which, was.text(), is.text());
        }
        return text(&format!("{which} in its calls"), &calls(was), &calls(is));
    }
    let (was, is) = (recorded.messages.len(), asked.messages.len());
    if was != is {
        return (
            format!("there are {is} messages, recorded were {was}"),
            String::new(),
        );
    }
    for (name, was, is) in [
        ("the schema", json(&recorded.schema), json(&asked.schema)),
        (
            "the list of tools",
            json(&recorded.tools),
            json(&asked.tools),
        ),
        (
            "the token limit",
            json(&recorded.max_tokens),
            json(&asked.max_tokens),
        ),
        (
            "the temperature",
            json(&recorded.temperature),
            json(&asked.temperature),
        ),
        ("the seed", json(&recorded.seed), json(&asked.seed)),
    ] {
        if was != is {
            return text(name, &was, &is);
        }
    }
    (
        "the file was changed after it was recorded".to_owned(),
        String::new(),
    )
}

fn calls(message: &Message) -> String {
    match message {
        Message::Assistant { calls, .. } => json(calls),
        Message::Tool { id, name, .. } => format!("{name} {id}"),
        Message::User { .. } => String::new(),
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn text(which: &str, was: &str, is: &str) -> (String, String) {
    let diff = TextDiff::from_lines(was, is);
    let mut first = None;
    let mut lines = Vec::new();
    for group in diff.grouped_ops(1) {
        for op in &group {
            for change in diff.iter_changes(op) {
                let sign = match change.tag() {
                    ChangeTag::Equal => ' ',
                    ChangeTag::Delete => '-',
                    ChangeTag::Insert => '+',
                };
                if sign != ' ' && first.is_none() {
                    first = Some(change.old_index().or(change.new_index()).unwrap_or(0) + 1);
                }
                let line: String = change
                    .value()
                    .trim_end_matches('\n')
                    .chars()
                    .take(COLUMNS)
                    .collect();
                lines.push(format!("{sign}{line}"));
            }
        }
    }
    if lines.len() > LINES {
        let more = lines.len() - LINES;
        lines.truncate(LINES);
        lines.push(format!("… {more} more lines"));
    }
    let line = first.unwrap_or(1);
    (
        format!("{which} differs from line {line} on"),
        lines.join("\n"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named_with_a_short_diff() {
        let mut recorded = Request::new("be brief", "one\ntwo\nthree\nfour", 10);
        recorded.messages.push(Message::assistant("yes"));
        recorded.messages.push(Message::user("then"));
        let mut asked = recorded.clone();
        asked.messages[0] = Message::user("one\ntwo\nTHREE\nfour");
        asked.messages[2] = Message::user("else");
        assert_eq!(
            difference(&recorded, &asked),
            (
                "message 1 (`user`) differs from line 3 on".to_owned(),
                " two\n-three\n+THREE\n four".to_owned()
            )
        );
    }

    #[test]
    fn everything_in_a_request_can_be_what_differs() {
        let recorded = Request::new("be brief", "one", 10);
        let change = |edit: fn(&mut Request)| {
            let mut asked = recorded.clone();
            edit(&mut asked);
            difference(&recorded, &asked).0
        };
        assert_eq!(
            change(|r| r.system.push('!')),
            "the system text differs from line 1 on"
        );
        assert_eq!(
            change(|r| r.messages.push(Message::user("x"))),
            "there are 2 messages, recorded were 1"
        );
        assert_eq!(
            change(|r| r.messages[0] = Message::assistant("one")),
            "message 1 (`assistant`) was one of the role `user`"
        );
        assert_eq!(
            change(|r| r.max_tokens = 11),
            "the token limit differs from line 1 on"
        );
        assert_eq!(
            change(|r| r.seed = Some(1)),
            "the seed differs from line 1 on"
        );
        assert_eq!(
            change(|r| r.temperature = Some(0.0)),
            "the temperature differs from line 1 on"
        );
    }

    #[test]
    fn a_long_diff_is_cut() {
        let lines = |letter: char| {
            let lines: Vec<String> = (0..100).map(|i| format!("{letter}{i}")).collect();
            lines.join("\n")
        };
        let (_, diff) = difference(
            &Request::new("", lines('a'), 1),
            &Request::new("", lines('b'), 1),
        );
        assert_eq!(diff.lines().count(), LINES + 1);
        assert!(diff.ends_with("… 188 more lines"));
    }
}
