//! What a search varies: a value for each parameter of a function, and for the object that a method belongs to.

use ndbg_simulator::literal::Literal;
use ndbg_tools::python::executions::{Call, Description, Parameter, ParameterKind};

use super::types::{Known, Type, annotated};
use super::value::{Row, Value};

/// Where a value goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    /// The parameter's name; `self` for the object of a method.
    pub name: String,
    /// How it is given.
    pub way: Way,
    /// Whether it must be given.
    pub required: bool,
    /// What the source says that it is.
    pub annotation: Option<String>,
    /// That, as far as it is known.
    pub said: Option<Type>,
    /// Text of its default value.
    pub default: Option<String>,
}

/// How a value is given to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// As the object of the method.
    Receiver,
    /// By its place only.
    Place,
    /// By its place or its name.
    Either,
    /// By its name only.
    Name,
    /// A tuple that is spread out.
    Star,
    /// A dictionary that is spread out.
    StarStar,
}

/// A value for each slot; none leaves it to its default.
pub type Genes = Vec<Option<Value>>;

/// The slots of a function.
pub fn slots(description: &Description, known: Known<'_>) -> Vec<Slot> {
    let receiver = description.receiver.iter().map(|class| Slot {
        name: "self".into(),
        way: Way::Receiver,
        required: true,
        annotation: Some(class.clone()),
        said: None,
        default: None,
    });
    receiver
        .chain(description.parameters.iter().map(|one| slot(one, known)))
        .collect()
}

fn slot(parameter: &Parameter, known: Known<'_>) -> Slot {
    let way = match parameter.kind {
        ParameterKind::PositionalOnly => Way::Place,
        ParameterKind::Positional => Way::Either,
        ParameterKind::Keyword => Way::Name,
        ParameterKind::Star => Way::Star,
        ParameterKind::StarStar => Way::StarStar,
    };
    Slot {
        name: parameter.name.clone(),
        way,
        required: parameter.required && !matches!(way, Way::Star | Way::StarStar),
        annotation: parameter.annotation.clone(),
        said: match way {
            Way::Star | Way::StarStar => None,
            _ => parameter
                .annotation
                .as_deref()
                .and_then(|text| annotated(text, known)),
        },
        default: parameter.default.clone(),
    }
}

/// The call with these values.
pub fn call(slots: &[Slot], genes: &Genes) -> Call {
    let mut written: Vec<String> = Vec::new();
    let mut receiver = None;
    // After a place that is left out, values can be given by name only.
    let mut by_name = false;
    for (slot, gene) in slots.iter().zip(genes) {
        let Some(value) = gene else {
            by_name |= matches!(slot.way, Way::Place | Way::Either);
            continue;
        };
        match slot.way {
            Way::Receiver => receiver = Some(value.to_string()),
            Way::Place if by_name => {}
            Way::Either if by_name => written.push(format!("{}={value}", slot.name)),
            Way::Place | Way::Either => written.push(value.to_string()),
            Way::Name => written.push(format!("{}={value}", slot.name)),
            Way::Star if by_name => {}
            Way::Star => match value {
                Value::Many(_, items) => written.extend(items.iter().map(ToString::to_string)),
                other => written.push(other.to_string()),
            },
            Way::StarStar => match value {
                Value::Dict(pairs) => spread(pairs, slots, &mut written),
                other => written.push(format!("**{other}")),
            },
        }
    }
    Call {
        receiver,
        arguments: written.join(", "),
    }
}

/// `z=1` as far as keys can be written as names, which no parameter has, and the others as a dictionary.
fn spread(pairs: &[(Value, Value)], slots: &[Slot], written: &mut Vec<String>) {
    let is_free = |key: &Value| match key {
        Value::Atom(Literal::Str(text)) => {
            is_name(text) && !slots.iter().any(|slot| slot.name == *text)
        }
        _ => false,
    };
    let (names, others): (Vec<_>, Vec<_>) = pairs.iter().partition(|(key, _)| is_free(key));
    for (key, value) in names {
        if let Value::Atom(Literal::Str(text)) = key {
            written.push(format!("{text}={value}"));
        }
    }
    if !others.is_empty() {
        let others = others.into_iter().cloned().collect();
        written.push(format!("**{}", Value::Dict(others)));
    }
}

/// Whether Python takes a text for a name.
pub fn is_name(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "False",
        "None",
        "True",
        "and",
        "as",
        "assert",
        "async",
        "await",
        "break",
        "class",
        "continue",
        "def",
        "del",
        "elif",
        "else",
        "except",
        "finally",
        "for",
        "from",
        "global",
        "if",
        "import",
        "in",
        "is",
        "lambda",
        "nonlocal",
        "not",
        "or",
        "pass",
        "raise",
        "return",
        "try",
        "while",
        "with",
        "yield",
        "__debug__",
    ];
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let holds = |c: char| c.is_ascii_alphanumeric() || c == '_';
    starts && text.chars().all(holds) && !WORDS.contains(&text)
}

/// Whether each value is what the source says that it is.
pub fn is_as_said(slots: &[Slot], genes: &Genes) -> bool {
    slots
        .iter()
        .zip(genes)
        .all(|(slot, gene)| match (&slot.said, gene) {
            (Some(said), Some(value)) => said.takes(value),
            _ => true,
        })
}

/// How much there is to read.
pub fn size(genes: &Genes) -> usize {
    genes.iter().flatten().map(|value| 1 + value.size()).sum()
}

/// What calls are ordered by: how much there is to read, then as a dictionary does.
pub fn order(genes: &Genes) -> (usize, Vec<String>) {
    let texts = genes.iter().map(|gene| match gene {
        Some(value) => value.to_string(),
        None => String::new(),
    });
    (size(genes), texts.collect())
}

/// What may stand in a slot of this way; a row for `*args`, a dictionary with names for `**kwargs`.
pub fn fits(way: Way, value: &Value) -> bool {
    match way {
        Way::Star => matches!(value, Value::Many(Row::Tuple | Row::List, _)),
        Way::StarStar => match value {
            Value::Dict(pairs) => pairs
                .iter()
                .all(|(key, _)| matches!(key, Value::Atom(Literal::Str(_)))),
            _ => false,
        },
        Way::Receiver => matches!(value, Value::Built(..) | Value::Named(_)),
        Way::Place | Way::Either | Way::Name => true,
    }
}

#[cfg(test)]
mod tests {
    use ndbg_simulator::literal::parse;

    use super::*;

    fn slot(name: &str, way: Way) -> Slot {
        Slot {
            name: name.into(),
            way,
            required: false,
            annotation: None,
            said: None,
            default: None,
        }
    }

    #[test]
    fn calls_are_written_as_a_person_writes_them() {
        let slots = [
            slot("x", Way::Either),
            slot("rest", Way::Star),
            slot("key", Way::Name),
            slot("named", Way::StarStar),
        ];
        let written = |texts: [&str; 4]| {
            let genes = texts.map(|text| parse(text).ok().map(Value::from)).to_vec();
            call(&slots, &genes).arguments
        };
        for (texts, arguments) in [
            (["1", "(2, 3)", "4", "{'z': 1}"], "1, 2, 3, key=4, z=1"),
            (["1", "()", "4", "{}"], "1, key=4"),
            (
                ["-", "(2,)", "-", "{'a': [1], 'b c': 2}"],
                "a=[1], **{'b c': 2}",
            ),
            (
                ["1", "-", "-", "{'x': 1, 'if': 2}"],
                "1, **{'x': 1, 'if': 2}",
            ),
            (["-", "-", "-", "-"], ""),
        ] {
            assert_eq!(written(texts), arguments);
        }
    }
}
