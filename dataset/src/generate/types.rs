//! Static types of generated values, and patterns of them.

use std::fmt;

/// A type, or a pattern of types when it holds variables.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// `int`
    Int,
    /// `float`
    Float,
    /// `bool`
    Bool,
    /// `str`
    Str,
    /// `None`, as the result of a procedure
    Nothing,
    /// `list[T]`
    List(Box<Type>),
    /// `set[T]`
    Set(Box<Type>),
    /// `dict[K, V]`
    Dict(Box<Type>, Box<Type>),
    /// `tuple[A, B]`
    Tuple(Vec<Type>),
    /// A value or `None`
    Optional(Box<Type>),
    /// An instance of the class with this index
    Object(usize),
    /// A variable of a pattern: `H` stands for hashable types, `O` for ordered ones, `N` for numbers,
    /// others for any
    Any(char),
    /// A role of an argument that is narrower than its type: `char`, `sep`, `small`
    Role(String),
}

impl Type {
    /// A list of `item`.
    pub fn list(item: Type) -> Self {
        Self::List(Box::new(item))
    }

    /// A set of `item`.
    pub fn set(item: Type) -> Self {
        Self::Set(Box::new(item))
    }

    /// A dict.
    pub fn dict(key: Type, value: Type) -> Self {
        Self::Dict(Box::new(key), Box::new(value))
    }

    /// Whether values can change in place.
    pub fn is_mutable(&self) -> bool {
        matches!(
            self,
            Self::List(_) | Self::Set(_) | Self::Dict(..) | Self::Object(_)
        )
    }

    /// Whether values can be keys.
    pub fn is_hashable(&self) -> bool {
        match self {
            Self::Int | Self::Str | Self::Bool | Self::Float => true,
            Self::Tuple(items) => items.iter().all(Self::is_hashable),
            _ => false,
        }
    }

    /// Whether `<` orders values.
    pub fn is_ordered(&self) -> bool {
        match self {
            Self::Int | Self::Str | Self::Float => true,
            Self::Tuple(items) => items.iter().all(Self::is_ordered),
            Self::List(item) => item.is_ordered(),
            _ => false,
        }
    }

    /// Whether `len` and truth speak about items.
    pub fn is_sized(&self) -> bool {
        matches!(
            self,
            Self::Str | Self::List(_) | Self::Set(_) | Self::Dict(..)
        )
    }

    /// What a loop over a value yields.
    pub fn item(&self) -> Option<Type> {
        match self {
            Self::Str => Some(Self::Str),
            Self::List(item) | Self::Set(item) | Self::Dict(item, _) => Some((**item).clone()),
            _ => None,
        }
    }

    /// How deep containers are nested; 0 for scalars.
    pub fn depth(&self) -> usize {
        match self {
            Self::List(item) | Self::Set(item) => 1 + item.depth(),
            Self::Dict(key, value) => 1 + key.depth().max(value.depth()),
            Self::Tuple(items) => 1 + items.iter().map(Self::depth).max().unwrap_or(0),
            Self::Optional(inner) => inner.depth(),
            _ => 0,
        }
    }

    /// Reads a type as it is written in annotations; capital letters are variables.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (head, rest) = match text.find('[') {
            Some(at) => (&text[..at], Some(text[at + 1..].strip_suffix(']')?)),
            None => (text, None),
        };
        let arguments = match rest {
            Some(rest) => split_arguments(rest)
                .into_iter()
                .map(Self::parse)
                .collect::<Option<Vec<_>>>()?,
            None => Vec::new(),
        };
        let mut arguments = arguments.into_iter();
        let mut next = || arguments.next().map(Box::new);
        Some(match head {
            "int" => Self::Int,
            "float" => Self::Float,
            "bool" => Self::Bool,
            "str" => Self::Str,
            "None" => Self::Nothing,
            "list" => Self::List(next()?),
            "set" => Self::Set(next()?),
            "dict" => Self::Dict(next()?, next()?),
            "optional" => Self::Optional(next()?),
            "tuple" => Self::Tuple(arguments.collect()),
            name if name.len() == 1 && name.starts_with(|c: char| c.is_ascii_uppercase()) => {
                Self::Any(name.chars().next()?)
            }
            role => Self::Role(role.to_owned()),
        })
    }
}

/// Splits at the commas outside brackets.
pub(super) fn split_arguments(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// What the variables of a pattern stand for.
#[derive(Debug, Clone, Default)]
pub(super) struct Binding(Vec<(char, Type)>);

impl Binding {
    pub(super) fn get(&self, letter: char) -> Option<&Type> {
        self.0
            .iter()
            .find(|(known, _)| *known == letter)
            .map(|(_, bound)| bound)
    }

    /// Binds the variables of `pattern` so that it equals `concrete`; false when it cannot.
    pub(super) fn unify(&mut self, pattern: &Type, concrete: &Type) -> bool {
        match (pattern, concrete) {
            (Type::Any(letter), concrete) => {
                if let Some(bound) = self.get(*letter) {
                    return bound == concrete;
                }
                let fits = match letter {
                    'H' | 'K' => concrete.is_hashable(),
                    'O' => concrete.is_ordered(),
                    'N' => matches!(concrete, Type::Int | Type::Float),
                    _ => !matches!(
                        concrete,
                        Type::Nothing | Type::Optional(_) | Type::Object(_)
                    ),
                };
                if fits {
                    self.0.push((*letter, concrete.clone()));
                }
                fits
            }
            (Type::Role(role), Type::Int) => role == "small",
            (Type::List(a), Type::List(b))
            | (Type::Set(a), Type::Set(b))
            | (Type::Optional(a), Type::Optional(b)) => self.unify(a, b),
            (Type::Dict(a, b), Type::Dict(c, d)) => self.unify(a, c) && self.unify(b, d),
            (Type::Tuple(a), Type::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.unify(a, b))
            }
            (a, b) => a == b,
        }
    }

    /// The pattern with its variables replaced; none while one is unbound.
    pub(super) fn resolve(&self, pattern: &Type) -> Option<Type> {
        Some(match pattern {
            Type::Any(letter) => self.get(*letter)?.clone(),
            Type::List(item) => Type::list(self.resolve(item)?),
            Type::Set(item) => Type::set(self.resolve(item).filter(Type::is_hashable)?),
            Type::Dict(key, value) => Type::dict(
                self.resolve(key).filter(Type::is_hashable)?,
                self.resolve(value)?,
            ),
            Type::Optional(inner) => Type::Optional(Box::new(self.resolve(inner)?)),
            Type::Tuple(items) => Type::Tuple(
                items
                    .iter()
                    .map(|item| self.resolve(item))
                    .collect::<Option<_>>()?,
            ),
            other => other.clone(),
        })
    }
}

impl fmt::Display for Type {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int => formatter.write_str("int"),
            Self::Float => formatter.write_str("float"),
            Self::Bool => formatter.write_str("bool"),
            Self::Str => formatter.write_str("str"),
            Self::Nothing => formatter.write_str("None"),
            Self::List(item) => write!(formatter, "list[{item}]"),
            Self::Set(item) => write!(formatter, "set[{item}]"),
            Self::Dict(key, value) => write!(formatter, "dict[{key}, {value}]"),
            Self::Optional(inner) => write!(formatter, "optional[{inner}]"),
            Self::Object(class) => write!(formatter, "object{class}"),
            Self::Any(letter) => write!(formatter, "{letter}"),
            Self::Role(role) => formatter.write_str(role),
            Self::Tuple(items) => {
                formatter.write_str("tuple[")?;
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        formatter.write_str(", ")?;
                    }
                    write!(formatter, "{item}")?;
                }
                formatter.write_str("]")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Binding, Type};

    #[test]
    fn types_are_read_as_they_are_written() {
        for text in [
            "int",
            "list[str]",
            "dict[str, list[int]]",
            "tuple[str, int]",
            "set[H]",
        ] {
            assert_eq!(Type::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Type::parse("small"), Some(Type::Role("small".into())));
        assert_eq!(Type::parse("list["), None);
    }

    #[test]
    fn a_variable_stands_for_one_type() {
        let pattern = Type::parse("dict[K, list[K]]").unwrap();
        let mut binding = Binding::default();
        assert!(binding.unify(&pattern, &Type::parse("dict[str, list[str]]").unwrap()));
        assert_eq!(binding.get('K'), Some(&Type::Str));
        assert!(!Binding::default().unify(&pattern, &Type::parse("dict[str, list[int]]").unwrap()));
        assert!(!Binding::default().unify(&Type::Any('H'), &Type::list(Type::Int)));
    }
}
