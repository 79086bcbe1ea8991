//! Values and calls of a recorded run, as far as they can be written into a call again.

use camino::Utf8Path;
use ndbg_dataset::random::Random;
use ndbg_simulator::literal::{self, Literal};
use ndbg_simulator::recording::{ActivationId, Entry, EventId, FrameId, Recording};
use ndbg_tools::python::executions::{Class, ClassKind, Subject};

use super::genes::{Genes, Slot, Way, fits};
use super::pool::Pool;
use super::value::{REBUILT, Row, Value};

/// Ways in which a call that is known in part is completed, from each source.
const COMPLETED: usize = 48;
/// Calls of one function that are taken over; more tell hardly more.
const CALLS: usize = 400;

/// Reads a recorded value: a literal, a member of an enumeration, an object of the module's classes with
/// attributes that are such values. None for what the recording does not hold whole.
pub fn value(text: &str, classes: &[Class]) -> Option<Value> {
    if let Ok(literal) = literal::parse(text) {
        return Some(literal.into());
    }
    read(text, Some(classes))
}

/// The attributes of a recorded object that are literals.
pub fn attributes(text: &str) -> Vec<(String, Literal)> {
    let Some(Value::Built(_, attributes)) = read(text, None) else {
        return Vec::new();
    };
    let literals = attributes.into_iter().filter_map(|(name, value)| {
        let literal = literal::parse(&value.to_string()).ok()?;
        Some((name?, literal))
    });
    literals.collect()
}

fn read(text: &str, classes: Option<&[Class]>) -> Option<Value> {
    let mut reader = Reader {
        rest: text,
        classes,
        depth: 0,
    };
    let value = reader.value()?;
    reader.rest.is_empty().then_some(value)
}

/// How a recording of the project in `repo` names the file of a function.
pub fn recorded_file(recording: &Recording, subject: &Subject, repo: &Utf8Path) -> Option<String> {
    let is_it = |name: &str| {
        let path = repo.join(name).canonicalize_utf8();
        path.is_ok_and(|path| path == subject.file)
    };
    let mut names = recording.files().iter().map(|file| file.name.as_str());
    names.find(|name| is_it(name)).map(str::to_owned)
}

/// Names and values at a moment of a recorded run, as texts, in the order in which the names were bound: of a
/// call its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names(pub Vec<(String, String)>);

impl Names {
    /// The variables at an event.
    pub fn at(recording: &Recording, event: EventId) -> Self {
        let locals = recording.locals(event);
        let named = locals.iter().filter_map(|change| {
            let value = recording.text(change.value?);
            Some((recording.text(change.name).to_owned(), value.to_owned()))
        });
        Self(named.collect())
    }

    fn of(&self, slot: &Slot) -> Option<&str> {
        let found = match slot.way {
            // The object of a method has whatever name its first parameter has.
            Way::Receiver => self.0.first(),
            _ => self.0.iter().find(|(name, _)| *name == slot.name),
        };
        found.map(|(_, text)| text.as_str())
    }

    /// What they say of the parameters, as far as it can be written into a call.
    pub fn values(&self, slots: &[Slot], classes: &[Class]) -> Genes {
        slots
            .iter()
            .map(|slot| {
                let value = value(self.of(slot)?, classes)?;
                fits(slot.way, &value).then_some(value)
            })
            .collect()
    }

    /// The call with these arguments. None if one of them cannot be written.
    pub fn genes(&self, slots: &[Slot], classes: &[Class]) -> Option<Genes> {
        let values = self.values(slots, classes);
        values.iter().all(Option::is_some).then_some(values)
    }
}

/// What calls of the function of `file` named `function` were given, in order of time; `without` is a frame
/// that is left out.
pub fn calls(
    recording: &Recording,
    file: &str,
    function: &str,
    without: Option<FrameId>,
) -> Vec<Names> {
    let mut found = Vec::new();
    for number in 0..recording.activations().len() {
        let id = ActivationId(number as u32);
        let activation = recording.activation(id);
        if activation.entry == Entry::Call
            && Some(activation.frame) != without
            && recording.function(id) == function
            && recording.file_of(activation.first).name == file
        {
            found.push(Names::at(recording, activation.first));
        }
    }
    found
}

/// Calls without doubles, as far as they can be written.
pub fn written(calls: &[Names], slots: &[Slot], classes: &[Class]) -> Vec<Genes> {
    let mut found: Vec<Genes> = Vec::new();
    for names in calls {
        if let Some(genes) = names.genes(slots, classes)
            && !found.contains(&genes)
        {
            found.push(genes);
            if found.len() == CALLS {
                break;
            }
        }
    }
    found
}

/// What the call was given that an event belongs to.
pub fn call_of(recording: &Recording, event: EventId) -> Option<Names> {
    let mut at = event;
    while let Some(before) = recording.previous_in_frame(at) {
        at = before;
    }
    recording
        .is_first_of_frame(at)
        .then(|| Names::at(recording, at))
}

/// Calls with what is known of their arguments, the others drawn from recorded calls and from a pool.
pub fn completed(
    known: &[Option<Value>],
    slots: &[Slot],
    recorded: &[Genes],
    pool: &Pool,
    random: &mut Random,
) -> Vec<Genes> {
    let is_whole = |genes: &Genes| {
        slots
            .iter()
            .zip(genes)
            .all(|(slot, gene)| gene.is_some() || !slot.required)
    };
    if known.iter().all(Option::is_none) {
        return Vec::new();
    }
    let mut made: Vec<Genes> = vec![known.to_vec()];
    for genes in recorded.iter().take(COMPLETED) {
        let fill = known.iter().zip(genes);
        made.push(
            fill.map(|(known, other)| known.clone().or(other.clone()))
                .collect(),
        );
    }
    for _ in 0..COMPLETED {
        let fill = known.iter().zip(slots).map(|(known, slot)| {
            known.clone().or_else(|| {
                (slot.required && slot.way != Way::Receiver).then(|| pool.item(random, 2))
            })
        });
        made.push(fill.collect());
    }
    made.retain(is_whole);
    made
}

struct Reader<'t> {
    rest: &'t str,
    /// What objects are built of; without it, they are their class's name and their attributes.
    classes: Option<&'t [Class]>,
    depth: usize,
}

/// Nesting that is followed.
const DEPTH: usize = 12;

impl<'t> Reader<'t> {
    fn take(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self) -> Option<&'t str> {
        let end = self
            .rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        let starts = |c: char| c.is_alphabetic() || c == '_';
        if !word.starts_with(starts) {
            return None;
        }
        self.rest = rest;
        Some(word)
    }

    fn value(&mut self) -> Option<Value> {
        self.depth += 1;
        let value = (self.depth <= DEPTH).then(|| self.inner()).flatten();
        self.depth -= 1;
        value
    }

    fn inner(&mut self) -> Option<Value> {
        // A part that is a literal by itself; a row that holds objects is none.
        if let Ok((literal, length)) = literal::parse_prefix(self.rest) {
            self.rest = &self.rest[length..];
            return Some(literal.into());
        }
        if self.take("<") {
            return self.object();
        }
        if self.take("[") {
            return Some(Value::Many(Row::List, self.items("]")?));
        }
        if self.take("(") {
            return Some(Value::Many(Row::Tuple, self.items(")")?));
        }
        if self.take("frozenset({") {
            let items = self.items("}")?;
            return self.take(")").then_some(Value::Many(Row::FrozenSet, items));
        }
        if self.take("{") {
            return self.braces();
        }
        None
    }

    fn items(&mut self, end: &str) -> Option<Vec<Value>> {
        let mut items = Vec::new();
        while !self.take(end) {
            items.push(self.value()?);
            if !self.take(", ") && !self.take(",") && !self.rest.starts_with(end) {
                return None;
            }
        }
        Some(items)
    }

    fn braces(&mut self) -> Option<Value> {
        let first = self.value()?;
        if !self.take(": ") {
            let mut items = vec![first];
            if !self.take("}") {
                self.take(", ").then_some(())?;
                items.extend(self.items("}")?);
            }
            return Some(Value::Many(Row::Set, items));
        }
        let mut pairs = vec![(first, self.value()?)];
        while !self.take("}") {
            self.take(", ").then_some(())?;
            let key = self.value()?;
            self.take(": ").then_some(())?;
            pairs.push((key, self.value()?));
        }
        Some(Value::Dict(pairs))
    }

    /// After `<`: `Color.RED: 1>`, or `Point x=1 y=2>`.
    fn object(&mut self) -> Option<Value> {
        let name = self.word()?;
        let class = match self.classes {
            Some(classes) => Some(classes.iter().find(|class| class.name == name)?),
            None => None,
        };
        if self.take(".") {
            let member = format!("{name}.{}", self.word()?);
            self.take(": ").then_some(())?;
            self.value()?;
            let is_known = class.is_none_or(|class| class.members.contains(&member));
            return (self.take(">") && is_known).then_some(Value::Named(member));
        }
        let mut attributes = Vec::new();
        while !self.take(">") {
            // Attributes are separated by blanks, fields of a named tuple by commas.
            if !self.take(" ") && !self.take(", ") {
                return None;
            }
            let name = self.word()?;
            self.take("=").then_some(())?;
            attributes.push((name.to_owned(), self.value()?));
        }
        Some(match class {
            Some(class) => object(class, attributes),
            None => Value::Built(
                name.to_owned(),
                attributes
                    .into_iter()
                    .map(|(name, value)| (Some(name), value))
                    .collect(),
            ),
        })
    }
}

/// An object with these attributes: built by calling its class where that is all that it takes, else
/// rebuilt without.
fn object(class: &Class, attributes: Vec<(String, Value)>) -> Value {
    let is_data = matches!(class.kind, ClassKind::Dataclass | ClassKind::NamedTuple);
    let same = class.parameters.len() == attributes.len()
        && class
            .parameters
            .iter()
            .all(|parameter| attributes.iter().any(|(name, _)| *name == parameter.name));
    if is_data && same {
        let arguments = class.parameters.iter().filter_map(|parameter| {
            let (_, value) = attributes
                .iter()
                .find(|(name, _)| *name == parameter.name)?;
            Some((Some(parameter.name.clone()), value.clone()))
        });
        return Value::Built(class.name.clone(), arguments.collect());
    }
    let class = (None, Value::Named(class.name.clone()));
    let held = attributes
        .into_iter()
        .map(|(name, value)| (Some(name), value));
    Value::Built(REBUILT.into(), std::iter::once(class).chain(held).collect())
}

#[cfg(test)]
mod tests {
    use ndbg_tools::python::executions::{Parameter, ParameterKind};

    use super::*;

    fn class(name: &str, kind: ClassKind, parameters: &[&str]) -> Class {
        Class {
            name: name.into(),
            kind,
            members: match kind {
                ClassKind::Enum => vec![format!("{name}.RED")],
                _ => Vec::new(),
            },
            parameters: parameters
                .iter()
                .map(|name| Parameter {
                    name: (*name).into(),
                    kind: ParameterKind::Positional,
                    default: None,
                    required: true,
                    annotation: None,
                })
                .collect(),
        }
    }

    fn read(text: &str) -> Option<String> {
        let classes = [
            class("Color", ClassKind::Enum, &[]),
            class("Point", ClassKind::Dataclass, &["x", "y"]),
            class("Cart", ClassKind::Plain, &["owner"]),
        ];
        value(text, &classes).map(|value| value.to_string())
    }

    #[test]
    fn recorded_values_are_written_as_python_reads_them() {
        for (recorded, written) in [
            ("[1, 'a b=c>']", "[1, 'a b=c>']"),
            ("<Color.RED: 1>", "Color.RED"),
            ("<Point x=1 y=-2>", "Point(x=1, y=-2)"),
            ("<Point y=2 x=1>", "Point(x=1, y=2)"),
            ("[<Point x=1 y='p q'>, None]", "[Point(x=1, y='p q'), None]"),
            (
                "<Cart owner='Ann' items=[<Point x=1 y=2>] total=3.5>",
                "rebuilt(Cart, owner='Ann', items=[Point(x=1, y=2)], total=3.5)",
            ),
            ("<Cart>", "rebuilt(Cart)"),
            (
                "{'a': <Color.RED: 1>, 'b': (<Cart>,)}",
                "{'a': Color.RED, 'b': (rebuilt(Cart),)}",
            ),
            ("{<Color.RED: 1>, 2}", "{Color.RED, 2}"),
        ] {
            assert_eq!(read(recorded).as_deref(), Some(written), "{recorded}");
        }
    }

    #[test]
    fn attributes_of_any_object_are_read_as_far_as_they_are_literals() {
        let text = "<Account owner='Ann' log=[31] bank=<Bank name='x'> kind=<Kind.A: 1>>";
        let read: Vec<String> = attributes(text)
            .into_iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(read, ["owner='Ann'", "log=[31]"]);
        assert!(attributes("<Account owner=…>").is_empty());
        assert!(attributes("[1]").is_empty());
    }

    #[test]
    fn what_is_not_recorded_whole_is_no_value() {
        for text in [
            "[1, …+96, 99]",
            "'abc' …+9 'x'",
            "<Unknown x=1>",
            "<Cart items=…>",
            "<Cart items=[1]",
            "<list …>",
            "<Color.BLUE: 3>",
            "<function f>",
            "",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
