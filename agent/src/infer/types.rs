//! Annotations: what they say that a value is, down to the items of containers.

use ndbg_dataset::random::Random;
use ndbg_simulator::literal::{self, Literal};
use ndbg_tools::python::executions::{Class, ClassKind};
use ruff_python_ast::{Expr, Operator};

use super::imports::Names;
use super::objects::built;
use super::pool::Pool;
use super::standard::{self, Standard};
use super::value::{Kind, Row, Value};

/// What a value is said to be.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// Nothing is known.
    Any,
    /// A value without items.
    Plain(Kind),
    /// A member of an enumeration, or an object of a class of the module.
    Class(String),
    /// An object of a class of the standard library, and how the module writes the class.
    Standard(Standard, String),
    /// A row of like items.
    Row(Row, Box<Self>),
    /// A tuple with a type for each place.
    Fixed(Vec<Self>),
    /// A dictionary.
    Dict(Box<Self>, Box<Self>),
    /// One of several.
    Either(Vec<Self>),
    /// One of these values.
    OneOf(Vec<Literal>),
}

/// Where types are looked up.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// Classes of the module.
    pub classes: &'a [Class],
    /// Names of the module.
    pub names: &'a Names,
}

/// How deep annotations and objects are followed.
const DEPTH: usize = 6;

/// What an annotation says; nothing if it names nothing that is known.
pub fn annotated(text: &str, known: Known<'_>) -> Option<Type> {
    let parsed = read(text, known, DEPTH)?;
    (parsed != Type::Any).then_some(parsed)
}

fn read(text: &str, known: Known<'_>, depth: usize) -> Option<Type> {
    let parsed = ruff_python_parser::parse_expression(text.trim()).ok()?;
    Some(of(parsed.expr(), known, depth))
}

fn of(expression: &Expr, known: Known<'_>, depth: usize) -> Type {
    if depth == 0 {
        return Type::Any;
    }
    match expression {
        Expr::NoneLiteral(_) => Type::Plain(Kind::None),
        Expr::StringLiteral(text) => {
            read(text.value.to_str(), known, depth - 1).unwrap_or(Type::Any)
        }
        // How Python shows a name in quotes within another annotation.
        Expr::Call(call) => match call.arguments.args.first() {
            Some(inner) if last_name(&call.func) == Some("ForwardRef") => {
                of(inner, known, depth - 1)
            }
            _ => Type::Any,
        },
        Expr::BinOp(operation) if operation.op == Operator::BitOr => either(vec![
            of(&operation.left, known, depth - 1),
            of(&operation.right, known, depth - 1),
        ]),
        Expr::Subscript(subscript) => {
            let within: Vec<&Expr> = match &*subscript.slice {
                Expr::Tuple(tuple) => tuple.elts.iter().collect(),
                one => vec![one],
            };
            match last_name(&subscript.value) {
                Some(name) => of_many(name, &within, known, depth - 1),
                None => Type::Any,
            }
        }
        _ => last_name(expression).map_or(Type::Any, |name| named(name, known)),
    }
}

fn last_name(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        _ => None,
    }
}

fn named(name: &str, known: Known<'_>) -> Type {
    if known.classes.iter().any(|class| class.name == name) {
        return Type::Class(name.to_owned());
    }
    let any = || Box::new(Type::Any);
    match name.to_ascii_lowercase().as_str() {
        "str" | "anystr" | "text" => Type::Plain(Kind::Str),
        "int" => Type::Plain(Kind::Int),
        "float" => either(vec![Type::Plain(Kind::Float), Type::Plain(Kind::Int)]),
        "bool" => Type::Plain(Kind::Bool),
        "bytes" => Type::Plain(Kind::Bytes),
        "none" | "nonetype" => Type::Plain(Kind::None),
        "dict" | "mapping" | "mutablemapping" | "defaultdict" | "ordereddict" => {
            Type::Dict(any(), any())
        }
        lower => match row(lower) {
            Some(row) => Type::Row(row, any()),
            None => match standard::of(name, known.names) {
                Some((standard, written)) => Type::Standard(standard, written),
                None => Type::Any,
            },
        },
    }
}

fn row(name: &str) -> Option<Row> {
    Some(match name {
        "list" | "sequence" | "iterable" | "collection" | "iterator" | "mutablesequence" => {
            Row::List
        }
        "tuple" => Row::Tuple,
        "set" | "abstractset" | "mutableset" => Row::Set,
        "frozenset" => Row::FrozenSet,
        _ => return None,
    })
}

fn of_many(name: &str, within: &[&Expr], known: Known<'_>, depth: usize) -> Type {
    let at = |number: usize| {
        let inner = within.get(number);
        inner.map_or(Type::Any, |inner| of(inner, known, depth))
    };
    let lower = name.to_ascii_lowercase();
    match lower.as_str() {
        "optional" => either(vec![Type::Plain(Kind::None), at(0)]),
        "union" => either((0..within.len()).map(at).collect()),
        "annotated" | "final" | "classvar" | "required" | "notrequired" => at(0),
        "literal" => {
            let values = within.iter().map(|inner| literal_of(inner));
            values
                .collect::<Option<Vec<Literal>>>()
                .map_or(Type::Any, Type::OneOf)
        }
        "dict" | "mapping" | "mutablemapping" | "defaultdict" | "ordereddict" => {
            Type::Dict(Box::new(at(0)), Box::new(at(1)))
        }
        "tuple" => match within {
            [_, Expr::EllipsisLiteral(_)] => Type::Row(Row::Tuple, Box::new(at(0))),
            _ => Type::Fixed((0..within.len()).map(at).collect()),
        },
        lower => match row(lower) {
            Some(row) => Type::Row(row, Box::new(at(0))),
            None => named(name, known),
        },
    }
}

fn literal_of(expression: &Expr) -> Option<Literal> {
    match expression {
        Expr::StringLiteral(text) => Some(Literal::Str(text.value.to_str().to_owned())),
        Expr::BooleanLiteral(held) => Some(Literal::Bool(held.value)),
        Expr::NoneLiteral(_) => Some(Literal::None),
        Expr::NumberLiteral(number) => match &number.value {
            ruff_python_ast::Number::Int(number) => literal::parse(&number.to_string()).ok(),
            _ => None,
        },
        _ => None,
    }
}

fn either(types: Vec<Type>) -> Type {
    let mut flat: Vec<Type> = Vec::new();
    for one in types {
        let parts = match one {
            Type::Either(parts) => parts,
            Type::Any => continue,
            other => vec![other],
        };
        for part in parts {
            if !flat.contains(&part) {
                flat.push(part);
            }
        }
    }
    match flat.len() {
        0 => Type::Any,
        1 => flat.remove(0),
        _ => Type::Either(flat),
    }
}

impl Type {
    /// The kinds that its values are of, the first that it names first.
    pub fn kinds(&self, classes: &[Class]) -> Vec<Kind> {
        let mut kinds = Vec::new();
        let mut add = |kind| {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        };
        match self {
            Self::Any => {}
            Self::Plain(kind) => add(*kind),
            Self::Class(name) => {
                let is_enum = |class: &&Class| class.name == *name && class.kind == ClassKind::Enum;
                match classes.iter().find(is_enum) {
                    Some(_) => add(Kind::Named),
                    None => add(Kind::Built),
                }
            }
            Self::Standard(..) => add(Kind::Built),
            Self::Row(row, _) => add(Kind::Row(*row)),
            Self::Fixed(_) => add(Kind::Row(Row::Tuple)),
            Self::Dict(..) => add(Kind::Dict),
            Self::Either(types) => {
                for kind in types.iter().flat_map(|one| one.kinds(classes)) {
                    add(kind);
                }
            }
            Self::OneOf(values) => {
                for value in values {
                    add(Value::from(value.clone()).kind());
                }
            }
        }
        kinds
    }

    /// Whether it says more than a kind does.
    pub fn is_structured(&self) -> bool {
        match self {
            Self::Any | Self::Plain(_) => false,
            Self::Row(_, item) => **item != Self::Any,
            Self::Dict(key, value) => **key != Self::Any || **value != Self::Any,
            Self::Either(types) => types.iter().any(Self::is_structured),
            Self::Class(_) | Self::Standard(..) | Self::Fixed(_) | Self::OneOf(_) => true,
        }
    }

    /// Whether a value is what it says.
    pub fn takes(&self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::Plain(kind) => value.kind() == *kind,
            Self::Class(name) => match value {
                Value::Built(class, arguments) => {
                    class == name
                        || matches!(arguments.first(), Some((None, Value::Named(of))) if of == name)
                }
                Value::Named(member) => member.split('.').rev().nth(1) == Some(name.as_str()),
                _ => false,
            },
            Self::Standard(_, written) => {
                matches!(value, Value::Built(class, _) if class == written)
            }
            Self::Row(row, item) => match value {
                Value::Many(held, items) => {
                    held == row && items.iter().all(|value| item.takes(value))
                }
                _ => false,
            },
            Self::Fixed(types) => match value {
                Value::Many(Row::Tuple, items) => {
                    items.len() == types.len()
                        && types.iter().zip(items).all(|(one, item)| one.takes(item))
                }
                _ => false,
            },
            Self::Dict(key, held) => match value {
                Value::Dict(pairs) => pairs.iter().all(|(k, v)| key.takes(k) && held.takes(v)),
                _ => false,
            },
            Self::Either(types) => types.iter().any(|one| one.takes(value)),
            Self::OneOf(values) => {
                matches!(value, Value::Atom(held) if values.contains(held))
            }
        }
    }

    /// A value of it.
    pub fn draw(&self, known: Known<'_>, pool: &Pool, random: &mut Random, depth: usize) -> Value {
        let below = depth.saturating_sub(1);
        match self {
            Self::Any => pool.item(random, depth.min(2)),
            Self::Plain(kind) => pool.draw(random, *kind),
            Self::Class(name) => match known.classes.iter().find(|class| class.name == *name) {
                Some(class) if !class.members.is_empty() => {
                    Value::Named(random.pick(&class.members).clone())
                }
                Some(class) if depth > 0 => built(class, known, pool, random, below),
                _ => Literal::None.into(),
            },
            Self::Standard(standard, written) => standard.draw(written, pool, random),
            Self::Row(row, item) => {
                let count = if depth == 0 { 0 } else { random.below(5) };
                let mut items: Vec<Value> = (0..count)
                    .map(|_| item.draw(known, pool, random, below))
                    .collect();
                if matches!(row, Row::Set | Row::FrozenSet) {
                    items.retain(Value::is_hashable);
                    items = super::value::distinct(&items);
                }
                Value::Many(*row, items)
            }
            Self::Fixed(types) => {
                let items = types.iter().map(|one| one.draw(known, pool, random, below));
                Value::Many(Row::Tuple, items.collect())
            }
            Self::Dict(key, value) => {
                let count = if depth == 0 { 0 } else { random.below(4) };
                let pairs = (0..count).map(|_| {
                    (
                        key.draw(known, pool, random, below),
                        value.draw(known, pool, random, below),
                    )
                });
                let mut pairs: Vec<(Value, Value)> = pairs.collect();
                pairs.retain(|(key, _)| key.is_hashable());
                Value::Dict(super::value::without_doubles(pairs))
            }
            Self::Either(types) => random.pick(types).draw(known, pool, random, depth),
            Self::OneOf(values) => random.pick(values).clone().into(),
        }
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

    fn classes() -> [Class; 2] {
        [
            class("Color", ClassKind::Enum),
            class("Point", ClassKind::Dataclass),
        ]
    }

    #[test]
    fn annotations_are_read_as_far_as_they_name_kinds() {
        let names = Names::of("import datetime as dt\nfrom decimal import Decimal\n");
        let kinds = |text| {
            let classes = classes();
            let known = Known {
                classes: &classes,
                names: &names,
            };
            annotated(text, known).map_or(Vec::new(), |read| read.kinds(&classes))
        };
        assert_eq!(kinds("str"), [Kind::Str]);
        assert_eq!(kinds("float"), [Kind::Float, Kind::Int]);
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
        assert_eq!(kinds("'Point'"), [Kind::Built]);
        assert_eq!(
            kinds("Optional[ForwardRef('Point')]"),
            [Kind::None, Kind::Built]
        );
        assert_eq!(kinds("dt.date"), [Kind::Built]);
        assert_eq!(kinds("Literal['a', 3]"), [Kind::Str, Kind::Int]);
        // The module has no name for it.
        assert_eq!(kinds("Fraction"), []);
        assert_eq!(kinds("T"), []);
        assert_eq!(kinds("Callable[[int], str]"), []);
        assert_eq!(kinds("]]["), []);
    }

    #[test]
    fn items_of_containers_are_drawn_as_annotated() {
        let names = Names::of("import datetime\n");
        let classes = classes();
        let known = Known {
            classes: &classes,
            names: &names,
        };
        let pool = Pool::new();
        let mut random = Random::of(5, 0);
        for text in [
            "list[Point]",
            "List[int]",
            "dict[str, Point]",
            "tuple[int, str]",
            "tuple[Color, ...]",
            "Optional[List[Dict[str, Tuple[int, 'Color']]]]",
            "set[datetime.date]",
            "list['Point'] | None",
            "Literal['red', 'blue']",
            "typing.Sequence[m.Point]",
        ] {
            let read = annotated(text, known).unwrap();
            assert!(read.is_structured(), "{text}");
            let mut most = 0;
            for _ in 0..40 {
                let value = read.draw(known, &pool, &mut random, 4);
                assert!(read.takes(&value), "{text}: {value}");
                most = most.max(value.to_string().len());
            }
            assert!(most > 4, "{text}");
        }
        let numbers = annotated("list[int]", known).unwrap();
        let texts = literal::parse("['a']").unwrap();
        assert!(!numbers.takes(&texts.into()));
    }
}
