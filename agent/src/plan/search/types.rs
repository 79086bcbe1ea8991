//! A coarse lattice of Python types: enough to tell which names fit a slot, cheap enough to ask
//! for thousands of candidates.

use tree_sitter::Node;

/// A set of possible types; the empty set means that nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Types(u32);

impl Types {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self(0);
    /// `None`.
    pub const NONE: Self = Self(1);
    /// `bool`.
    pub const BOOL: Self = Self(1 << 1);
    /// `int`.
    pub const INT: Self = Self(1 << 2);
    /// `float`, `Decimal`, `Fraction`, `complex`.
    pub const FLOAT: Self = Self(1 << 3);
    /// `str`.
    pub const STR: Self = Self(1 << 4);
    /// `bytes` and `bytearray`.
    pub const BYTES: Self = Self(1 << 5);
    /// `list` and `deque`.
    pub const LIST: Self = Self(1 << 6);
    /// `tuple`.
    pub const TUPLE: Self = Self(1 << 7);
    /// `dict` and its subclasses.
    pub const DICT: Self = Self(1 << 8);
    /// `set` and `frozenset`.
    pub const SET: Self = Self(1 << 9);
    /// Iterators, ranges and views.
    pub const ITERATOR: Self = Self(1 << 10);
    /// Functions and methods.
    pub const CALLABLE: Self = Self(1 << 11);
    /// Classes.
    pub const CLASS: Self = Self(1 << 12);
    /// Modules.
    pub const MODULE: Self = Self(1 << 13);
    /// `datetime`, `date`, `timedelta` and friends.
    pub const TIME: Self = Self(1 << 14);
    /// An instance of some other class.
    pub const OBJECT: Self = Self(1 << 15);

    /// `int`, `float` or `bool`.
    pub const NUMBER: Self = Self(Self::INT.0 | Self::FLOAT.0 | Self::BOOL.0);
    /// Everything with a length and an order.
    pub const SEQUENCE: Self = Self(Self::LIST.0 | Self::TUPLE.0 | Self::STR.0 | Self::BYTES.0);
    /// Everything with `len`.
    pub const SIZED: Self = Self(Self::SEQUENCE.0 | Self::DICT.0 | Self::SET.0);
    /// Everything that can be iterated over.
    pub const ITERABLE: Self = Self(Self::SIZED.0 | Self::ITERATOR.0);

    /// Whether nothing is known.
    pub const fn unknown(self) -> bool {
        self.0 == 0
    }

    /// Either set.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Either set, where not knowing one means not knowing the result.
    pub const fn join(self, other: Self) -> Self {
        if self.unknown() || other.unknown() {
            Self::UNKNOWN
        } else {
            self.or(other)
        }
    }

    /// Whether the sets share a type.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether every possible type is in `other`; false when nothing is known.
    pub const fn within(self, other: Self) -> bool {
        self.0 != 0 && self.0 & !other.0 == 0
    }

    /// Whether a type of `other` is possible: shared, or nothing is known.
    pub const fn may_be(self, other: Self) -> bool {
        self.unknown() || self.meets(other)
    }

    /// How well a value of `self` fits where `expected` stood, 0 to 1.
    pub fn fit(self, expected: Self) -> f64 {
        if self.unknown() || expected.unknown() {
            0.5
        } else if self.meets(expected) {
            1.0
        } else if self.meets(Self::NUMBER) && expected.meets(Self::NUMBER) {
            0.8
        } else if self.meets(Self::ITERABLE) && expected.meets(Self::ITERABLE) {
            0.35
        } else {
            0.12
        }
    }

    /// The type that a recorder calls `name`.
    pub fn named(name: &str) -> Self {
        match name.rsplit('.').next().unwrap_or(name) {
            "NoneType" | "None" => Self::NONE,
            "bool" => Self::BOOL,
            "int" => Self::INT,
            "float" | "Decimal" | "Fraction" | "complex" => Self::FLOAT,
            "str" | "LiteralString" => Self::STR,
            "bytes" | "bytearray" | "memoryview" => Self::BYTES,
            "list" | "List" | "deque" | "MutableSequence" => Self::LIST,
            "Sequence" => Self::LIST.or(Self::TUPLE),
            "tuple" | "Tuple" | "NamedTuple" => Self::TUPLE,
            "dict" | "Dict" | "defaultdict" | "OrderedDict" | "Counter" | "Mapping"
            | "MutableMapping" | "DefaultDict" => Self::DICT,
            "set" | "frozenset" | "Set" | "FrozenSet" => Self::SET,
            "range" | "generator" | "map" | "filter" | "zip" | "enumerate" | "reversed"
            | "dict_keys" | "dict_values" | "dict_items" | "list_iterator" | "Iterator"
            | "Generator" | "count" | "chain" | "islice" | "tuple_iterator" | "str_iterator"
            | "str_ascii_iterator" | "dict_keyiterator" | "set_iterator" | "range_iterator" => {
                Self::ITERATOR
            }
            "Iterable" => Self::ITERABLE,
            "function"
            | "method"
            | "builtin_function_or_method"
            | "Callable"
            | "partial"
            | "method_descriptor"
            | "wrapper_descriptor" => Self::CALLABLE,
            "type" | "ABCMeta" | "EnumMeta" | "EnumType" => Self::CLASS,
            "module" => Self::MODULE,
            "datetime" | "date" | "timedelta" | "time" => Self::TIME,
            "" | "Any" | "object" | "TypeVar" | "T" => Self::UNKNOWN,
            _ => Self::OBJECT,
        }
    }

    /// The types that an annotation allows.
    pub fn annotated(text: &str) -> Self {
        let text = text.trim().trim_matches(['"', '\'']);
        if let Some(inner) = text
            .strip_prefix("Optional[")
            .or_else(|| text.strip_prefix("typing.Optional["))
        {
            return Self::NONE.join(Self::annotated(inner.trim_end_matches(']')));
        }
        // A bar inside brackets belongs to an element type.
        let bracket = text.find('[').unwrap_or(text.len());
        if text[..bracket].contains('|') || (bracket == text.len() && text.contains('|')) {
            return text
                .split('|')
                .map(Self::annotated)
                .reduce(Self::join)
                .unwrap_or_default();
        }
        Self::named(text[..bracket].trim())
    }

    /// The types of the elements that an annotation like `list[int]` allows.
    pub fn annotated_elements(text: &str) -> Self {
        let text = text.trim().trim_matches(['"', '\'']);
        if text == "str" {
            return Self::STR;
        }
        let Some(open) = text.find('[') else {
            return Self::UNKNOWN;
        };
        let inner = text[open + 1..].trim_end_matches(']');
        if text.starts_with("Optional") {
            return Self::annotated_elements(inner);
        }
        Self::annotated(top_level_head(inner))
    }

    /// The types of the elements of a container from its recorded text.
    pub fn elements_of_text(kind: Self, text: &str) -> Self {
        if kind.meets(Self::STR) {
            return Self::STR;
        }
        if kind.meets(Self::BYTES) {
            return Self::INT;
        }
        let Some(open) = text.find(['[', '(', '{']) else {
            return Self::UNKNOWN;
        };
        Self::of_literal_text(&text[open + 1..])
    }

    fn of_literal_text(text: &str) -> Self {
        let text = text.trim_start();
        let mut chars = text.chars();
        match chars.next() {
            Some('\'' | '"') => Self::STR,
            Some('b') if matches!(chars.next(), Some('\'' | '"')) => Self::BYTES,
            Some('[') => Self::LIST,
            Some('(') => Self::TUPLE,
            Some('{') => Self::DICT,
            Some('-' | '0'..='9') => {
                let number = text.split([',', ']', ')', '}', ':']).next().unwrap_or("");
                if number.contains(['.', 'e']) {
                    Self::FLOAT
                } else {
                    Self::INT
                }
            }
            _ if text.starts_with("True") || text.starts_with("False") => Self::BOOL,
            _ if text.starts_with("None") => Self::NONE,
            _ => Self::UNKNOWN,
        }
    }
}

fn top_level_head(text: &str) -> &str {
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' if depth == 0 => return &text[..i],
            _ => {}
        }
    }
    text
}

/// What inference asks about names.
pub trait NameTypes {
    /// Types of a name.
    fn name(&self, name: &str) -> Types;
    /// Types of the elements of what a name holds.
    fn elements(&self, name: &str) -> Types;
    /// Types of an attribute of the instance a method runs on.
    fn attribute(&self, name: &str) -> Types;
    /// Types that a call of a function or method of the file returns.
    fn returns(&self, callee: &str) -> Types;
    /// Source text of a node.
    fn source(&self, node: Node<'_>) -> &str;
}

/// The types of an expression as far as its form and its names tell.
pub fn infer(node: Node<'_>, env: &dyn NameTypes) -> Types {
    infer_at(node, env, 0)
}

fn infer_at(node: Node<'_>, env: &dyn NameTypes, depth: usize) -> Types {
    if depth > 12 {
        return Types::UNKNOWN;
    }
    let down = |n: Option<Node<'_>>| n.map_or(Types::UNKNOWN, |n| infer_at(n, env, depth + 1));
    let field = |name: &str| down(node.child_by_field_name(name));
    match node.kind() {
        "integer" => Types::INT,
        "float" => Types::FLOAT,
        "string" => string_types(env.source(node)),
        "concatenated_string" => down(node.named_child(0)),
        "true" | "false" | "comparison_operator" | "not_operator" => Types::BOOL,
        "none" => Types::NONE,
        "list" | "list_comprehension" => Types::LIST,
        "tuple" | "expression_list" => Types::TUPLE,
        "dictionary" | "dictionary_comprehension" => Types::DICT,
        "set" | "set_comprehension" => Types::SET,
        "generator_expression" => Types::ITERATOR,
        "lambda" => Types::CALLABLE,
        "parenthesized_expression" => down(node.named_child(0)),
        "boolean_operator" => field("left").join(field("right")),
        "conditional_expression" => down(node.named_child(0)).join(down(node.named_child(2))),
        "named_expression" => field("value"),
        "unary_operator" => field("argument"),
        "binary_operator" => {
            let operator = node
                .child_by_field_name("operator")
                .map_or("", |o| o.kind());
            binary(operator, field("left"), field("right"))
        }
        "identifier" => env.name(env.source(node)),
        "attribute" => attribute(node, env),
        "subscript" => {
            let slice = node
                .child_by_field_name("subscript")
                .is_some_and(|s| s.kind() == "slice");
            match node.child_by_field_name("value") {
                Some(value) if slice => infer_at(value, env, depth + 1),
                Some(value) => elements_at(value, env, depth + 1),
                None => Types::UNKNOWN,
            }
        }
        "call" => call(node, env, depth),
        _ => Types::UNKNOWN,
    }
}

fn string_types(text: &str) -> Types {
    let prefix = text.split(['"', '\'']).next().unwrap_or("");
    if prefix.contains(['b', 'B']) {
        Types::BYTES
    } else {
        Types::STR
    }
}

fn binary(operator: &str, left: Types, right: Types) -> Types {
    match operator {
        "/" if left.within(Types::NUMBER) || right.within(Types::NUMBER) => Types::FLOAT,
        "%" if left.within(Types::STR) => Types::STR,
        "*" if right.within(Types::SEQUENCE) => right,
        "-" if left.meets(Types::TIME) && right.meets(Types::TIME) => Types::TIME,
        _ if left.unknown() => {
            if right.within(Types::SEQUENCE) || right.within(Types::NUMBER) {
                right
            } else {
                Types::UNKNOWN
            }
        }
        _ if left.within(Types::NUMBER) => {
            let whole = Types::INT.or(Types::BOOL);
            if left.within(Types::FLOAT) || right.within(Types::FLOAT) {
                Types::FLOAT
            } else if left.within(whole) && right.within(whole) {
                Types::INT
            } else {
                Types::INT.or(Types::FLOAT)
            }
        }
        _ => left,
    }
}

fn attribute(node: Node<'_>, env: &dyn NameTypes) -> Types {
    let (Some(object), Some(name)) = (
        node.child_by_field_name("object"),
        node.child_by_field_name("attribute"),
    ) else {
        return Types::UNKNOWN;
    };
    if matches!(env.source(object), "self" | "cls") {
        return env.attribute(env.source(name));
    }
    match env.source(name) {
        "days" | "seconds" | "microseconds" | "year" | "month" | "day" | "hour" | "minute"
        | "second" | "weekday" => Types::INT,
        _ => Types::UNKNOWN,
    }
}

fn call(node: Node<'_>, env: &dyn NameTypes, depth: usize) -> Types {
    let Some(function) = node.child_by_field_name("function") else {
        return Types::UNKNOWN;
    };
    let first = || {
        node.child_by_field_name("arguments")
            .and_then(|a| a.named_child(0))
    };
    match function.kind() {
        "identifier" => match env.source(function) {
            "len" | "int" | "ord" | "hash" | "id" => Types::INT,
            "round" | "abs" | "sum" => first().map_or(Types::UNKNOWN, |a| {
                let types = infer_at(a, env, depth + 1);
                if types.within(Types::NUMBER) {
                    types
                } else {
                    Types::INT.or(Types::FLOAT)
                }
            }),
            "min" | "max" => first().map_or(Types::UNKNOWN, |a| {
                let several = node
                    .child_by_field_name("arguments")
                    .is_some_and(|l| l.named_child_count() > 1);
                if several {
                    infer_at(a, env, depth + 1)
                } else {
                    elements_at(a, env, depth + 1)
                }
            }),
            "float" => Types::FLOAT,
            "str" | "repr" | "chr" | "format" | "input" | "hex" | "bin" | "oct" => Types::STR,
            "bytes" => Types::BYTES,
            "bool" | "isinstance" | "issubclass" | "any" | "all" | "callable" | "hasattr" => {
                Types::BOOL
            }
            "list" | "sorted" | "dir" | "deque" => Types::LIST,
            "tuple" | "divmod" => Types::TUPLE,
            "dict" | "defaultdict" | "Counter" | "OrderedDict" => Types::DICT,
            "set" | "frozenset" => Types::SET,
            "range" | "enumerate" | "zip" | "map" | "filter" | "reversed" | "iter" => {
                Types::ITERATOR
            }
            "timedelta" | "datetime" | "date" => Types::TIME,
            name => env.returns(name),
        },
        "attribute" => {
            let name = function.child_by_field_name("attribute");
            let object = function.child_by_field_name("object");
            let method = name.map_or("", |n| env.source(n));
            match method {
                "split" | "rsplit" | "splitlines" | "readlines" | "findall" => Types::LIST,
                "strip" | "lstrip" | "rstrip" | "lower" | "upper" | "title" | "replace"
                | "join" | "format" | "decode" | "capitalize" | "strftime" | "isoformat"
                | "zfill" | "ljust" | "rjust" | "hexdigest" => Types::STR,
                "encode" => Types::BYTES,
                "items" | "keys" | "values" => Types::ITERATOR,
                "startswith" | "endswith" | "isdigit" | "isalpha" | "isspace" | "isupper"
                | "islower" | "isalnum" | "issubset" | "issuperset" | "exists" => Types::BOOL,
                "find" | "rfind" | "index" | "count" | "bit_length" | "toordinal" | "weekday" => {
                    Types::INT
                }
                "total_seconds" | "timestamp" => Types::FLOAT,
                "append" | "extend" | "add" | "update" | "clear" | "sort" | "reverse"
                | "insert" | "remove" => Types::NONE,
                "copy" => object.map_or(Types::UNKNOWN, |o| infer_at(o, env, depth + 1)),
                "pop" | "popleft" => {
                    object.map_or(Types::UNKNOWN, |o| elements_at(o, env, depth + 1))
                }
                "union" | "intersection" | "difference" => Types::SET,
                _ => env.returns(method),
            }
        }
        _ => Types::UNKNOWN,
    }
}

/// The types of the elements that iterating over (or indexing into) an expression gives.
pub fn infer_elements(node: Node<'_>, env: &dyn NameTypes) -> Types {
    elements_at(node, env, 0)
}

fn elements_at(node: Node<'_>, env: &dyn NameTypes, depth: usize) -> Types {
    if depth > 12 {
        return Types::UNKNOWN;
    }
    match node.kind() {
        "identifier" => {
            let name = env.source(node);
            if env.name(name).within(Types::STR) {
                Types::STR
            } else {
                env.elements(name)
            }
        }
        "string" => string_types(env.source(node)),
        "list" | "tuple" | "set" | "expression_list" | "parenthesized_expression" => node
            .named_child(0)
            .map_or(Types::UNKNOWN, |n| infer_at(n, env, depth + 1)),
        "list_comprehension" | "set_comprehension" | "generator_expression" => node
            .child_by_field_name("body")
            .map_or(Types::UNKNOWN, |n| infer_at(n, env, depth + 1)),
        "subscript" if infer_at(node, env, depth + 1).within(Types::STR) => Types::STR,
        "binary_operator" => node
            .child_by_field_name("left")
            .map_or(Types::UNKNOWN, |n| elements_at(n, env, depth + 1)),
        "call" => {
            let Some(function) = node.child_by_field_name("function") else {
                return Types::UNKNOWN;
            };
            let argument = node
                .child_by_field_name("arguments")
                .and_then(|a| a.named_child(0));
            let method = function
                .child_by_field_name("attribute")
                .map_or("", |m| env.source(m));
            match env.source(function) {
                "range" => Types::INT,
                "enumerate" | "zip" => Types::TUPLE,
                "sorted" | "list" | "reversed" | "set" | "tuple" | "iter" => {
                    argument.map_or(Types::UNKNOWN, |a| elements_at(a, env, depth + 1))
                }
                _ if method == "items" => Types::TUPLE,
                _ if method == "keys" => function
                    .child_by_field_name("object")
                    .map_or(Types::UNKNOWN, |o| elements_at(o, env, depth + 1)),
                _ if matches!(method, "split" | "rsplit" | "splitlines") => Types::STR,
                _ => Types::UNKNOWN,
            }
        }
        _ => Types::UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_and_recorded_texts_are_read() {
        assert_eq!(Types::annotated("int"), Types::INT);
        assert_eq!(
            Types::annotated("Optional[str]"),
            Types::NONE.or(Types::STR)
        );
        assert_eq!(Types::annotated("str | None"), Types::NONE.or(Types::STR));
        assert_eq!(
            Types::annotated_elements("dict[str, list[int]]"),
            Types::STR
        );
        assert_eq!(
            Types::elements_of_text(Types::LIST, "[1.5, 2]"),
            Types::FLOAT
        );
        assert_eq!(
            Types::elements_of_text(Types::LIST, "[[1], [2]]"),
            Types::LIST
        );
    }

    #[test]
    fn a_shared_type_fits_best() {
        assert!(Types::INT.fit(Types::INT) > Types::FLOAT.fit(Types::INT));
        assert!(Types::UNKNOWN.fit(Types::INT) > Types::STR.fit(Types::INT));
    }
}
