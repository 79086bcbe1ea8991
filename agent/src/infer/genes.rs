//! What a search varies: a value for each parameter of a function, and for the object that a method belongs to.

use ndbg_tools::python::executions::{Call, Description, Parameter, ParameterKind};

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
pub fn slots(description: &Description) -> Vec<Slot> {
    let receiver = description.receiver.iter().map(|class| Slot {
        name: "self".into(),
        way: Way::Receiver,
        required: true,
        annotation: Some(class.clone()),
        default: None,
    });
    receiver
        .chain(description.parameters.iter().map(slot))
        .collect()
}

fn slot(parameter: &Parameter) -> Slot {
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
                Value::Dict(pairs) => {
                    written.push(format!("**{}", Value::Dict(pairs.clone())));
                }
                other => written.push(format!("**{other}")),
            },
        }
    }
    Call {
        receiver,
        arguments: written.join(", "),
    }
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
            Value::Dict(pairs) => pairs.iter().all(|(key, _)| {
                matches!(key, Value::Atom(ndbg_simulator::literal::Literal::Str(_)))
            }),
            _ => false,
        },
        Way::Receiver => matches!(value, Value::Built(..) | Value::Named(_)),
        Way::Place | Way::Either | Way::Name => true,
    }
}
