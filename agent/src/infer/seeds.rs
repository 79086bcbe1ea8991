//! The first calls of a search: a value of each kind for each parameter, in all combinations that are not too many.

use ndbg_dataset::random::Random;
use ndbg_simulator::literal::{self, Literal};
use ndbg_tools::python::executions::{Class, ClassKind, Description, Parameter, ParameterKind};

use super::genes::{Genes, Slot, Way};
use super::pool::Pool;
use super::value::{Kind, Row, Value};

/// Combinations that are tried before anything else.
const COMBINATIONS: usize = 500;
/// Kinds that are tried where nothing says what a parameter is.
const KINDS: &[Kind] = &[
    Kind::Str,
    Kind::Int,
    Kind::Row(Row::List),
    Kind::Dict,
    Kind::Row(Row::Tuple),
    Kind::None,
    Kind::Float,
    Kind::Row(Row::Set),
    Kind::Bool,
    Kind::Bytes,
];
/// How deep objects are built of objects.
const DEPTH: usize = 3;

/// Values for a slot of each kind that it may be of, the likeliest kinds first.
pub fn kinds_of(slot: &Slot, description: &Description, pool: &Pool) -> Vec<Kind> {
    match slot.way {
        Way::Star => return vec![Kind::Row(Row::Tuple)],
        Way::StarStar => return vec![Kind::Dict],
        Way::Receiver => return vec![Kind::Built],
        Way::Place | Way::Either | Way::Name => {}
    }
    let mut kinds = slot
        .annotation
        .as_deref()
        .map(|text| annotated(text, &description.classes))
        .unwrap_or_default();
    if kinds.is_empty() {
        if let Some(Ok(default)) = slot.default.as_deref().map(literal::parse) {
            kinds.push(Value::from(default).kind());
        }
        for kind in KINDS {
            if !kinds.contains(kind) {
                kinds.push(*kind);
            }
        }
        for kind in [Kind::Named, Kind::Built] {
            if pool.has(kind) {
                kinds.push(kind);
            }
        }
    }
    kinds
}

/// Kinds that an annotation names; none if it names nothing that is known.
fn annotated(text: &str, classes: &[Class]) -> Vec<Kind> {
    let mut kinds = Vec::new();
    let mut add = |kind| {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    };
    // `Optional[dict[str, int]]` is a dictionary or nothing: what stands within is no alternative.
    let mut depth = 0;
    let mut word = String::new();
    let mut open: Vec<bool> = Vec::new();
    for letter in text.chars().chain(" ".chars()) {
        if letter.is_alphanumeric() || letter == '_' || letter == '.' {
            word.push(letter);
            continue;
        }
        let name = word.rsplit('.').next().unwrap_or("").to_lowercase();
        let transparent = matches!(name.as_str(), "optional" | "union" | "annotated" | "final");
        if depth == 0 {
            match name.as_str() {
                "str" | "anystr" | "text" => add(Kind::Str),
                "int" => add(Kind::Int),
                "float" => {
                    add(Kind::Float);
                    add(Kind::Int);
                }
                "bool" => add(Kind::Bool),
                "bytes" => add(Kind::Bytes),
                "none" => add(Kind::None),
                "list" | "sequence" | "iterable" | "collection" | "iterator"
                | "mutablesequence" => {
                    add(Kind::Row(Row::List));
                }
                "tuple" => add(Kind::Row(Row::Tuple)),
                "set" | "abstractset" | "mutableset" => add(Kind::Row(Row::Set)),
                "frozenset" => add(Kind::Row(Row::FrozenSet)),
                "dict" | "mapping" | "mutablemapping" | "defaultdict" | "ordereddict" => {
                    add(Kind::Dict);
                }
                "optional" => add(Kind::None),
                _ => {
                    let word = word.rsplit('.').next().unwrap_or("");
                    match classes.iter().find(|class| class.name == word) {
                        Some(class) if class.kind == ClassKind::Enum => add(Kind::Named),
                        Some(_) => add(Kind::Built),
                        None => {}
                    }
                }
            }
        }
        word.clear();
        match letter {
            '[' => {
                open.push(!transparent);
                depth += usize::from(!transparent);
            }
            ']' => depth -= usize::from(open.pop().unwrap_or(false)).min(depth),
            _ => {}
        }
    }
    kinds
}

/// Adds members of enumerations and objects of classes to a pool.
pub fn add_objects(pool: &mut Pool, classes: &[Class], random: &mut Random) {
    for class in classes {
        for member in &class.members {
            pool.add(Value::Named(member.clone()));
        }
    }
    for class in classes.iter().filter(|class| class.kind != ClassKind::Enum) {
        for _ in 0..12 {
            pool.add(built(class, classes, pool, random, DEPTH));
        }
    }
}

/// An object of a class, with arguments drawn for its parameters.
pub fn built(
    class: &Class,
    classes: &[Class],
    pool: &Pool,
    random: &mut Random,
    depth: usize,
) -> Value {
    let mut arguments = Vec::new();
    for parameter in &class.parameters {
        if matches!(
            parameter.kind,
            ParameterKind::Star | ParameterKind::StarStar
        ) || (!parameter.required && random.chance(0.6))
        {
            continue;
        }
        let name =
            (parameter.kind != ParameterKind::PositionalOnly).then(|| parameter.name.clone());
        arguments.push((name, argument(parameter, classes, pool, random, depth)));
    }
    // Without names as far as none is left out: as a person would write it.
    for (argument, parameter) in arguments.iter_mut().zip(&class.parameters) {
        if argument.0.as_deref() != Some(parameter.name.as_str())
            || parameter.kind == ParameterKind::Keyword
        {
            break;
        }
        argument.0 = None;
    }
    Value::Built(class.name.clone(), arguments)
}

fn argument(
    parameter: &Parameter,
    classes: &[Class],
    pool: &Pool,
    random: &mut Random,
    depth: usize,
) -> Value {
    let annotation = parameter.annotation.as_deref().unwrap_or("");
    let word = |class: &&Class| {
        annotation
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| word == class.name)
    };
    if depth > 0
        && let Some(class) = classes.iter().find(word)
    {
        if !class.members.is_empty() {
            return Value::Named(random.pick(&class.members).clone());
        }
        return built(class, classes, pool, random, depth - 1);
    }
    let kinds = annotated(annotation, &[]);
    if !kinds.is_empty() {
        let kind = *random.pick(&kinds);
        return pool.draw(random, kind);
    }
    match parameter.default.as_deref().map(literal::parse) {
        Some(Ok(default)) if default != Literal::None => {
            pool.draw(random, Value::from(default).kind())
        }
        _ => pool.item(random, 2),
    }
}

/// Calls with a telling value of each kind for each slot.
pub fn combinations(
    slots: &[Slot],
    kinds: &[Vec<Kind>],
    description: &Description,
    pool: &Pool,
    random: &mut Random,
) -> Vec<Genes> {
    // One more choice where there is a default.
    let choices = |slot: usize| kinds[slot].len() + usize::from(!slots[slot].required);
    let all: usize = (0..slots.len())
        .map(choices)
        .try_fold(1usize, usize::checked_mul)
        .unwrap_or(usize::MAX);
    let mut made = Vec::new();
    // What may be left out is left out at first.
    made.push(
        slots
            .iter()
            .zip(kinds)
            .map(|(slot, kinds)| {
                slot.required
                    .then(|| telling(slot, kinds[0], description, pool, random))
            })
            .collect(),
    );
    for number in 0..all.min(COMBINATIONS) {
        // All of them in order, or some at random.
        let mut rest = number;
        made.push(
            slots
                .iter()
                .enumerate()
                .map(|(number, slot)| {
                    let count = choices(number);
                    let at = if all <= COMBINATIONS {
                        let at = rest % count;
                        rest /= count;
                        at
                    } else {
                        random.below(count).min(random.below(count))
                    };
                    let at = if slot.required {
                        at
                    } else {
                        at.checked_sub(1)?
                    };
                    Some(telling(slot, kinds[number][at], description, pool, random))
                })
                .collect(),
        );
    }
    made
}

/// A value of a kind with which something happens: not the empty one.
fn telling(
    slot: &Slot,
    kind: Kind,
    description: &Description,
    pool: &Pool,
    random: &mut Random,
) -> Value {
    if matches!(slot.way, Way::Receiver) {
        return receiver(slot, description, pool, random);
    }
    let held = pool.of(kind);
    let value = if held.is_empty() {
        pool.draw(random, kind)
    } else {
        held[random.below(held.len().min(8))].clone()
    };
    fitted(slot, value, pool, random)
}

/// A value that may stand in a slot.
pub fn fitted(slot: &Slot, value: Value, pool: &Pool, random: &mut Random) -> Value {
    if super::genes::fits(slot.way, &value) {
        return value;
    }
    match slot.way {
        Way::Star => Value::Many(
            Row::Tuple,
            (0..random.below(4)).map(|_| pool.item(random, 1)).collect(),
        ),
        Way::StarStar => Value::Dict(Vec::new()),
        _ => value,
    }
}

/// An object for a method.
pub fn receiver(slot: &Slot, description: &Description, pool: &Pool, random: &mut Random) -> Value {
    let name = slot.annotation.as_deref().unwrap_or_default();
    match description.classes.iter().find(|class| class.name == name) {
        Some(class) if !class.members.is_empty() => {
            Value::Named(random.pick(&class.members).clone())
        }
        Some(class) => built(class, &description.classes, pool, random, DEPTH),
        None => Value::Built(name.to_owned(), Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str, kind: ClassKind) -> Class {
        Class {
            name: name.into(),
            kind,
            members: if kind == ClassKind::Enum {
                vec![format!("{name}.A")]
            } else {
                Vec::new()
            },
            parameters: Vec::new(),
        }
    }

    #[test]
    fn annotations_are_read_as_far_as_they_name_kinds() {
        let classes = [
            class("Color", ClassKind::Enum),
            class("Point", ClassKind::Dataclass),
        ];
        let kinds = |text| annotated(text, &classes);
        assert_eq!(kinds("str"), [Kind::Str]);
        assert_eq!(kinds("Optional[int]"), [Kind::None, Kind::Int]);
        assert_eq!(kinds("list[str]"), [Kind::Row(Row::List)]);
        assert_eq!(
            kinds("dict[str, list[int]] | None"),
            [Kind::Dict, Kind::None]
        );
        assert_eq!(
            kinds("typing.Union[Color, models.Point]"),
            [Kind::Named, Kind::Built]
        );
        assert_eq!(kinds("T"), []);
        assert_eq!(kinds("]]["), []);
    }
}
