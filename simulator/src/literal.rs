//! Values as Python writes them: the subset of literals in which states are recorded.

mod order;
mod parse;
mod source;

use std::fmt::{self, Write as _};

use num_bigint::BigInt;

pub use parse::{NotLiteral, parse, parse_prefix};
pub use source::parse_source;

/// A value that can be compared and looked into.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// `None`.
    None,
    /// `...`.
    Ellipsis,
    /// `True`, `False`.
    Bool(bool),
    /// An integer of any size.
    Int(BigInt),
    /// A float.
    Float(f64),
    /// Real and imaginary part.
    Complex(f64, f64),
    /// A string. A lone surrogate is U+FFFD.
    Str(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A bytearray.
    ByteArray(Vec<u8>),
    /// A list.
    List(Vec<Literal>),
    /// A tuple.
    Tuple(Vec<Literal>),
    /// A dictionary, in its order.
    Dict(Vec<(Literal, Literal)>),
    /// A set, in the order in which it is written.
    Set(Vec<Literal>),
    /// A frozen set.
    FrozenSet(Vec<Literal>),
    /// `range(start, end, step)`.
    Range(BigInt, BigInt, BigInt),
}

impl Literal {
    /// The name of its type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::None => "NoneType",
            Self::Ellipsis => "ellipsis",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Complex(..) => "complex",
            Self::Str(_) => "str",
            Self::Bytes(_) => "bytes",
            Self::ByteArray(_) => "bytearray",
            Self::List(_) => "list",
            Self::Tuple(_) => "tuple",
            Self::Dict(_) => "dict",
            Self::Set(_) => "set",
            Self::FrozenSet(_) => "frozenset",
            Self::Range(..) => "range",
        }
    }

    /// Whether `if value:` takes the branch.
    pub fn is_true(&self) -> bool {
        match self {
            Self::None => false,
            Self::Ellipsis => true,
            Self::Bool(value) => *value,
            Self::Int(value) => *value != BigInt::ZERO,
            Self::Float(value) => *value != 0.0,
            Self::Complex(real, imaginary) => *real != 0.0 || *imaginary != 0.0,
            _ => self.len() != Some(0),
        }
    }

    /// What `len` says; none for values without a length.
    pub fn len(&self) -> Option<usize> {
        match self {
            Self::Str(text) => Some(text.chars().count()),
            Self::Bytes(bytes) | Self::ByteArray(bytes) => Some(bytes.len()),
            Self::List(items) | Self::Tuple(items) | Self::Set(items) | Self::FrozenSet(items) => {
                Some(items.len())
            }
            Self::Dict(items) => Some(items.len()),
            Self::Range(start, end, by) => {
                let span = if *by > BigInt::ZERO {
                    end - start
                } else {
                    start - end
                };
                let by = by.magnitude();
                if span <= BigInt::ZERO {
                    return Some(0);
                }
                usize::try_from((span.magnitude() + by - 1u32) / by).ok()
            }
            _ => None,
        }
    }

    /// Whether its length is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// `self[key]`; none where Python raises.
    pub fn item(&self, key: &Self) -> Option<Self> {
        if let Self::Dict(items) = self {
            return items
                .iter()
                .find(|(held, _)| held.equals(key))
                .map(|(_, v)| v.clone());
        }
        let index = match key {
            Self::Int(index) => i64::try_from(index).ok()?,
            Self::Bool(index) => i64::from(*index),
            _ => return None,
        };
        let length = self.len()?;
        let at = if index < 0 {
            length.checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?
        } else {
            usize::try_from(index).ok()?
        };
        match self {
            Self::Str(text) => text.chars().nth(at).map(|c| Self::Str(c.into())),
            Self::Bytes(bytes) | Self::ByteArray(bytes) => {
                bytes.get(at).map(|&b| Self::Int(b.into()))
            }
            Self::List(items) | Self::Tuple(items) => items.get(at).cloned(),
            Self::Range(start, _, step) if at < length => {
                Some(Self::Int(start + step * BigInt::from(at)))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Literal {
    /// As Python's `repr`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Ellipsis => f.write_str("Ellipsis"),
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => f.write_str(&float(*value)),
            Self::Complex(real, imaginary) => {
                let mut part = float(*imaginary);
                part.truncate(part.strip_suffix(".0").map_or(part.len(), str::len));
                if *real == 0.0 && real.is_sign_positive() {
                    return write!(f, "{part}j");
                }
                let mut first = float(*real);
                first.truncate(first.strip_suffix(".0").map_or(first.len(), str::len));
                let plus = if part.starts_with('-') { "" } else { "+" };
                write!(f, "({first}{plus}{part}j)")
            }
            Self::Str(text) => f.write_str(&quoted(text)),
            Self::Bytes(bytes) => f.write_str(&quoted_bytes(bytes)),
            Self::ByteArray(bytes) => write!(f, "bytearray({})", quoted_bytes(bytes)),
            Self::List(items) => row(f, "[", items, "]"),
            Self::Tuple(items) if items.len() == 1 => write!(f, "({},)", items[0]),
            Self::Tuple(items) => row(f, "(", items, ")"),
            Self::Set(items) if items.is_empty() => f.write_str("set()"),
            Self::Set(items) => row(f, "{", items, "}"),
            Self::FrozenSet(items) if items.is_empty() => f.write_str("frozenset()"),
            Self::FrozenSet(items) => row(f, "frozenset({", items, "})"),
            Self::Dict(items) => {
                f.write_char('{')?;
                for (at, (key, value)) in items.iter().enumerate() {
                    let comma = if at > 0 { ", " } else { "" };
                    write!(f, "{comma}{key}: {value}")?;
                }
                f.write_char('}')
            }
            Self::Range(start, end, by) if *by == BigInt::from(1) => {
                write!(f, "range({start}, {end})")
            }
            Self::Range(start, end, by) => write!(f, "range({start}, {end}, {by})"),
        }
    }
}

fn row(f: &mut fmt::Formatter<'_>, open: &str, items: &[Literal], close: &str) -> fmt::Result {
    f.write_str(open)?;
    for (at, item) in items.iter().enumerate() {
        let comma = if at > 0 { ", " } else { "" };
        write!(f, "{comma}{item}")?;
    }
    f.write_str(close)
}

/// The shortest text that reads back, with Python's choice between plain and scientific.
fn float(value: f64) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.into();
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if value == 0.0 || (-4..16).contains(&exponent) {
        let plain = format!("{value}");
        if plain.contains('.') {
            plain
        } else {
            plain + ".0"
        }
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
    }
}

fn quote_for(text: &[u8]) -> char {
    if text.contains(&b'\'') && !text.contains(&b'"') {
        '"'
    } else {
        '\''
    }
}

fn quoted(text: &str) -> String {
    let quote = quote_for(text.as_bytes());
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            ' '..='~' => out.push(c),
            c if is_printable(c) => out.push(c),
            c => {
                let _ = match c as u32 {
                    code @ ..0x100 => write!(out, "\\x{code:02x}"),
                    code @ ..0x1_0000 => write!(out, "\\u{code:04x}"),
                    code => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push(quote);
    out
}

/// Whether Python's `repr` leaves a character as it is: no control, format or private character, no separator
/// but the space, and none that is not assigned. What is debugged in Rust follows the same classes.
fn is_printable(c: char) -> bool {
    // Behind a letter, where marks that go onto the letter before are left alone.
    let mut behind = String::from('a');
    behind.push(c);
    behind.escape_debug().count() == 2
}

fn quoted_bytes(bytes: &[u8]) -> String {
    let quote = quote_for(bytes);
    let mut out = format!("b{quote}");
    for &byte in bytes {
        match byte {
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b'\\' => out.push_str("\\\\"),
            byte if char::from(byte) == quote => {
                out.push('\\');
                out.push(quote);
            }
            0x20..0x7f => out.push(char::from(byte)),
            byte => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    out.push(quote);
    out
}
