//! A failing test on the page.

use crate::plan::Failure;
use crate::report::html::diff::{self, Parts};
use crate::report::html::view::{Prose, prose};
use crate::report::sides::sides;
use crate::report::visible::{first_lines, one_line, visible};
use crate::report::wording::{place_in_prose, plural};

/// Lines of a value and of pytest's text.
const VALUE_LINES: usize = 40;
const LONGREPR_LINES: usize = 200;

pub struct Symptom {
    pub test: String,
    pub exception: String,
    pub at: Prose,
    pub message: String,
    pub op: String,
    pub sides: Vec<SideView>,
    pub lossy: bool,
    pub stack: Vec<Prose>,
    pub longrepr: String,
}

pub struct SideView {
    pub name: &'static str,
    pub tone: &'static str,
    pub head: String,
    pub mark: String,
    pub tail: String,
    pub left_out: Option<String>,
}

pub fn symptom(failure: &Failure) -> Symptom {
    let at = failure.frames.last().map_or(String::new(), |frame| {
        place_in_prose(&frame.function, frame.file.as_str(), frame.line)
    });
    let named = sides(failure);
    Symptom {
        test: one_line(&failure.test),
        exception: one_line(&failure.exception),
        at: prose(&at),
        // Both sides say better what `assert a == b` says.
        message: if named.is_some() && failure.message.starts_with("assert ") {
            String::new()
        } else {
            cut(&failure.message, VALUE_LINES).0
        },
        op: named
            .as_ref()
            .map_or(String::new(), |named| one_line(named.op)),
        lossy: named.as_ref().is_some_and(|named| named.lossy),
        sides: named.map_or(Vec::new(), |named| side_views(named.first, named.second)),
        stack: failure
            .frames
            .iter()
            .map(|frame| {
                let file = frame.file.as_str();
                prose(&place_in_prose(&frame.function, file, frame.line))
            })
            .collect(),
        longrepr: cut(&failure.longrepr, LONGREPR_LINES).0,
    }
}

/// Both sides, with what differs marked where they are alike.
fn side_views(first: (&'static str, &str), second: (&'static str, &str)) -> Vec<SideView> {
    let ((one, one_left), (other, other_left)) =
        (cut(first.1, VALUE_LINES), cut(second.1, VALUE_LINES));
    let whole = |text: &String| -> Parts { [text.clone(), String::new(), String::new()] };
    let (one, other) =
        diff::difference(&one, &other).unwrap_or_else(|| (whole(&one), whole(&other)));
    [(first.0, one, one_left), (second.0, other, other_left)]
        .into_iter()
        .map(|(name, [head, mark, tail], left_out)| SideView {
            name,
            tone: match name {
                "expected" => "good",
                "actual" => "bad",
                _ => "plain",
            },
            head,
            mark,
            tail,
            left_out: (left_out > 0).then(|| format!("{} more", plural(left_out, "line"))),
        })
        .collect()
}

/// The first lines, and how many were left out.
fn cut(text: &str, max: usize) -> (String, usize) {
    let text = visible(text);
    let (lines, left_out) = first_lines(&text, max);
    (lines.join("\n"), left_out)
}
