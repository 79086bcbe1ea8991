//! What the process that executes calls tells of their function.

use serde::Deserialize;

/// What a search has to know of a function.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[allow(clippy::struct_excessive_bools)] // They are independent of each other.
pub struct Description {
    /// Its parameters, without the object of a method.
    pub parameters: Vec<Parameter>,
    /// The class whose object a method needs.
    pub receiver: Option<String>,
    /// Classes under the module's names.
    pub classes: Vec<Class>,
    /// Literals in the function, in functions that it names, and in assignments of the module.
    pub literals: Vec<String>,
    /// First and last line.
    pub lines: (u32, u32),
    /// Whether it is awaited; done here.
    pub is_async: bool,
    /// Whether it yields; its values are taken as a list.
    pub is_generator: bool,
    /// Whether it yields and is awaited; its values are taken as a list.
    #[serde(default)]
    pub is_async_generator: bool,
    /// Whether it is a property, `object.name` without brackets.
    #[serde(default)]
    pub is_property: bool,
    /// Whether it sets a property, `C.name.setter`: written `object.name = value`.
    #[serde(default)]
    pub is_setter: bool,
    /// What it uses that differs from process to process, as the source names it: `random.choice`, `time.time`,
    /// `hash`, `order of a set`. Two runs may agree by luck; ten hardly do.
    #[serde(default)]
    pub unsteady_names: Vec<String>,
}

impl Description {
    /// Whether runs at once may agree because it is the same second.
    pub(super) fn reads_clock(&self) -> bool {
        let clocks = [
            "time",
            "now",
            "today",
            "utcnow",
            "clock_gettime",
            "perf_counter",
            "monotonic",
        ];
        self.unsteady_names.iter().any(|name| {
            let mut parts = name.split('.');
            parts.any(|part| clocks.contains(&part.trim_end_matches("_ns")))
        })
    }
}

/// A parameter.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// How it is given.
    pub kind: ParameterKind,
    /// Text of its default value, if that is a literal.
    pub default: Option<String>,
    /// Whether it has no default.
    pub required: bool,
    /// What the source says that it is.
    pub annotation: Option<String>,
}

/// How a parameter is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum ParameterKind {
    /// By place.
    PositionalOnly,
    /// By place or name.
    Positional,
    /// By name.
    Keyword,
    /// `*rest`.
    Star,
    /// `**named`.
    StarStar,
}

/// A class of which arguments may be.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Class {
    /// Its name in the module.
    pub name: String,
    /// What it is.
    pub kind: ClassKind,
    /// Of an enumeration: `Color.RED`.
    pub members: Vec<String>,
    /// What calling it takes.
    pub parameters: Vec<Parameter>,
}

/// What a class is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum ClassKind {
    /// An enumeration.
    Enum,
    /// A dataclass.
    Dataclass,
    /// A named tuple.
    NamedTuple,
    /// Another class of the module.
    Plain,
}
