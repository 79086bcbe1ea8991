//! From an event of a recording to what is to be inferred: calls that come to the state that it holds.

use camino::{Utf8Path, Utf8PathBuf};
use ndbg_simulator::EventKind;
use ndbg_simulator::literal::{self, Literal};
use ndbg_simulator::recording::{CodeFlags, EventId, FrameId, Leave, Recording};
use ndbg_tools::python::executions::{Goal, Subject, root_of};

use super::genes::is_name;
use super::recorded::{Names, attributes, call_of};
use super::short::shortened;
use crate::fix::stop::Stop;
use crate::outcome::Outcome;

/// A recorded state to get back from.
#[derive(Debug, Clone)]
pub struct State {
    /// The event.
    pub event: EventId,
    /// The execution of the function that it belongs to.
    pub frame: FrameId,
    /// The function.
    pub subject: Subject,
    /// What a call has to do to come to the state.
    pub goal: Goal,
    /// The line of the state, where it is one before a line runs.
    pub line: Option<u32>,
    /// All of the state's local variables, as they are recorded.
    pub names: Names,
    /// What the call was given, as it is recorded.
    pub call: Option<Names>,
    /// The local variables that are recorded whole.
    pub held: Vec<(String, Literal)>,
    /// Names of the others; of objects of any class their attributes are compared, and of the rest nothing.
    pub left_out: Vec<String>,
    /// The state in words.
    pub described: String,
}

/// The state at an event; files of the recording lie in `repo`, or have absolute names.
///
/// # Errors
/// An event that is not there, or of code that cannot be called by itself, or a file that has changed since.
pub fn state(recording: &Recording, number: usize, repo: &Utf8Path) -> Result<State, Stop> {
    let usage = |message: String| Stop::new(Outcome::Usage, message);
    let Some(event) = recording.find_event(number) else {
        return Err(usage(format!(
            "there is no event {number}: they go from 0 to {}",
            recording.len().saturating_sub(1)
        )));
    };
    let activation = recording.activation_of(event);
    let code = recording.code_of(event);
    let function = recording.text(code.qualname);
    callable(recording, event)?;
    let file = recording.file_of(event);
    let path = located(&file.name, repo)?;
    if let Some(text) = &file.text
        && std::fs::read_to_string(&path).is_ok_and(|now| lines(&now).ne(lines(text)))
    {
        return Err(
            usage(format!("`{path}` has changed since it was recorded")).hint(format!(
                "record it again: `ndbg-agent trace --repo {repo} --test TEST`"
            )),
        );
    }
    let held = recording.event(event);
    let mut state = State {
        event,
        frame: activation.frame,
        subject: Subject {
            root: root_of(&path),
            file: path,
            function: function.to_owned(),
        },
        goal: Goal::Any,
        line: None,
        names: Names::at(recording, event),
        call: call_of(recording, event),
        held: Vec::new(),
        left_out: Vec::new(),
        described: format!("comes to the state of event {number}"),
    };
    match (held.kind, held.leave) {
        (EventKind::Call, _) => {
            let next = recording.next_in_frame(event);
            let stop = usage(format!(
                "event {number} is the call of `{function}` itself: its arguments are recorded"
            ));
            return Err(match next {
                Some(next) => stop.hint(format!("the state after it is event {}", next.0)),
                None => stop,
            });
        }
        (EventKind::Exception, _) => {
            let class = held.exception.map_or("", |text| recording.text(text));
            state.goal = Goal::Raises(class.rsplit('.').next().unwrap_or(class).to_owned());
        }
        (EventKind::Return, Some(Leave::Return) | None) => {
            let text = held.value.map_or("None", |text| recording.text(text));
            if literal::parse(text).is_err() {
                return Err(usage(format!(
                    "event {number} returns `{}`, which is no literal that is recorded whole",
                    shortened(text, 60)
                ))
                .hint("choose the event of the line before it, with local variables that are"));
            }
            state.goal = Goal::Returns(text.to_owned());
        }
        (EventKind::Return, Some(_)) => {
            return Err(usage(format!(
                "event {number} leaves `{function}` without a value of its own"
            ))
            .hint("choose the event of the line before it, or of the exception"));
        }
        (EventKind::Line, _) => {
            state.line = Some(held.line);
            state.described = format!(
                "comes to line {} with the variables of event {number}",
                held.line
            );
            // A search meets conditions from left to right: what objects hold often follows from the rest.
            let (mut compared, mut within) = (Vec::new(), Vec::new());
            for (name, text) in state.names.0.clone() {
                match literal::parse(&text) {
                    Ok(value) if is_name(&name) => {
                        compared.push((name.clone(), value.clone()));
                        state.held.push((name, value));
                    }
                    _ => {
                        let attributes = attributes(&text);
                        if attributes.is_empty() {
                            state.left_out.push(name);
                        } else {
                            let named = attributes
                                .into_iter()
                                .map(|(attribute, value)| (format!("{name}.{attribute}"), value));
                            within.extend(named);
                        }
                    }
                }
            }
            compared.extend(within);
            state.goal = came_to(held.line, &compared);
        }
    }
    Ok(state)
}

/// Whether the code of an event can be called by itself; if not, why, and which caller can.
fn callable(recording: &Recording, event: EventId) -> Result<(), Stop> {
    let code = recording.code_of(event);
    let function = recording.text(code.qualname);
    let why = if code.flags.has(CodeFlags::MODULE) {
        "is the body of a module"
    } else if code.flags.has(CodeFlags::CLASS) {
        "is the body of a class"
    } else if code.flags.has(CodeFlags::LAMBDA) || function.contains('<') {
        "is a function within another one"
    } else {
        return Ok(());
    };
    let stop = Stop::new(
        Outcome::Usage,
        format!(
            "event {} is in `{function}`, which {why}: no call from outside leads there alone",
            event.0
        ),
    );
    let mut caller = recording.activation_of(event).parent_event;
    while let Some(at) = caller {
        if callable(recording, at).is_ok() {
            let name = recording.text(recording.code_of(at).qualname);
            return Err(stop.hint(format!("its caller `{name}` can be: event {}", at.0)));
        }
        caller = recording.activation_of(at).parent_event;
    }
    Err(stop)
}

fn located(name: &str, repo: &Utf8Path) -> Result<Utf8PathBuf, Stop> {
    let path = repo.join(name);
    path.canonicalize_utf8().map_err(|_| {
        Stop::new(
            Outcome::Usage,
            format!("`{path}`, which was recorded, is not there"),
        )
        .hint("`--repo DIR` is the project whose run was recorded")
    })
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.trim_start_matches('\u{feff}').lines()
}

/// A line that is reached with variables that hold these values.
fn came_to(line: u32, held: &[(String, Literal)]) -> Goal {
    let conditions: Vec<String> = held.iter().map(|(name, value)| is(name, value)).collect();
    if conditions.is_empty() {
        return Goal::Reaches(line);
    }
    Goal::Where {
        line,
        predicate: conditions.join(" and "),
    }
}

/// Python's `==` says that `True`, `1` and `1.0` are one value: a state tells them apart.
fn is(name: &str, value: &Literal) -> String {
    match value {
        Literal::None | Literal::Bool(_) | Literal::Ellipsis => format!("{name} is {value}"),
        Literal::Int(_) => format!("{name} == {value} and type({name}) is int"),
        Literal::Float(_) => format!("{name} == {value} and type({name}) is float"),
        _ => format!("{name} == {value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_a_condition_at_its_line() {
        let held = |pairs: &[(&str, &str)]| -> Vec<(String, Literal)> {
            pairs
                .iter()
                .map(|(name, text)| ((*name).to_owned(), literal::parse(text).unwrap()))
                .collect()
        };
        let goal = came_to(3, &held(&[("a", "True"), ("b", "[1]"), ("c", "2")]));
        let Goal::Where { line, predicate } = goal else {
            panic!("{goal:?}");
        };
        assert_eq!(line, 3);
        assert_eq!(
            predicate,
            "a is True and b == [1] and c == 2 and type(c) is int"
        );
        assert_eq!(came_to(3, &[]), Goal::Reaches(3));
    }
}
