//! Operations and how often they are drilled.
//!
//! Weights are rough: common operations of Python programs more often, and those that depend on where
//! something is in a text or list, or that compute, several times as often, because they are hard to learn.

/// Which values an operand takes. A number refers to an operand before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Int,
    Small,
    Positive,
    Float,
    Number,
    Bool,
    None,
    Str,
    Word,
    Char,
    Scalar,
    List,
    Ints,
    Strs,
    Tuple,
    Pairs,
    Lists,
    Dict,
    Set,
    Range,
    Sequence,
    Container,
    /// A container whose items an iterator gives.
    Iterator,
    Any,
    /// Of the same type.
    Like(usize),
    /// Often the same.
    Near(usize),
    Index(usize),
    Bound(usize),
    Step,
    Item(usize),
    Part(usize),
    Start(usize),
    End(usize),
    Width(usize),
    /// What a text joins others with.
    Joint,
    /// The empty text.
    Empty,
    /// A builtin type, or a few of them.
    Type,
    /// As many values as a template with `%` has places.
    Filling(usize),
    Digits,
    Keys(usize),
    Template(char),
    Spec,
}

use Kind::{
    Any, Bool, Bound, Char, Container, Dict, Digits, Empty, End, Filling, Float, Index, Int, Ints,
    Item, Iterator, Joint, Keys, Like, List, Lists, Near, None, Number, Pairs, Part, Positive,
    Range, Scalar, Sequence, Set, Small, Spec, Start, Step, Str, Strs, Template, Tuple, Type,
    Width, Word,
};

pub(super) type Row = (f64, &'static str, &'static [Kind]);

#[rustfmt::skip]
pub(super) const TABLE: &[Row] = &[
    // Arithmetic.
    (6.0, "v0 + v1", &[Int, Int]), (4.0, "v0 - v1", &[Int, Int]), (4.0, "v0 * v1", &[Int, Small]),
    (2.5, "v0 * v1", &[Int, Int]), (2.0, "v0 // v1", &[Int, Positive]), (5.0, "v0 % v1", &[Int, Positive]),
    (1.0, "v0 / v1", &[Int, Positive]), (1.0, "v0 ** v1", &[Small, Small]), (0.3, "v0 % v1", &[Int, Small]),
    (0.3, "v0 // v1", &[Int, Small]), (0.6, "v0 + v1", &[Float, Float]), (0.4, "v0 - v1", &[Float, Number]),
    (0.5, "v0 * v1", &[Float, Number]), (0.4, "-v0", &[Number]), (0.6, "v0 & v1", &[Int, Int]),
    (0.4, "v0 | v1", &[Int, Int]), (0.5, "v0 ^ v1", &[Int, Int]), (0.4, "v0 << v1", &[Small, Small]),
    (0.2, "v0 >> v1", &[Int, Small]), (0.1, "~v0", &[Int]), (0.3, "v0 + v1", &[Scalar, Scalar]),
    (0.2, "v0 - v1", &[Scalar, Scalar]), (0.3, "v0 * v1", &[Scalar, Scalar]),
    (4.0, "v0 + v1", &[Int, Small]), (3.0, "v0 - v1", &[Int, Small]),
    // Texts and sequences.
    (4.0, "v0 + v1", &[Str, Word]), (3.0, "v0 + v1", &[Str, Char]), (1.5, "v0 + v1", &[Char, Str]),
    (2.0, "v0 + v1", &[List, Like(0)]), (0.6, "v0 + v1", &[Tuple, Tuple]), (1.8, "v0 * v1", &[Word, Small]),
    (0.6, "v0 * v1", &[Ints, Small]), (0.8, "v0 % v1", &[Template('%'), Scalar]),
    (0.6, "v0 % v1", &[Template('s'), Filling(0)]), (0.3, "v0 % v1", &[Template('%'), Any]),
    // Comparisons.
    (5.0, "v0 == v1", &[Scalar, Near(0)]), (3.0, "v0 == v1", &[Char, Near(0)]), (1.0, "v0 == v1", &[Any, Near(0)]),
    (2.0, "v0 != v1", &[Scalar, Near(0)]), (3.0, "v0 < v1", &[Int, Int]), (3.0, "v0 > v1", &[Int, Int]),
    (1.5, "v0 <= v1", &[Int, Int]), (1.5, "v0 >= v1", &[Int, Int]), (1.0, "v0 < v1", &[Word, Word]),
    (0.5, "v0 > v1", &[Char, Char]), (0.3, "v0 <= v1", &[Char, Char]), (0.3, "v0 < v1", &[Scalar, Scalar]),
    (0.3, "v0 == v1", &[Ints, Near(0)]), (0.2, "v0 > v1", &[Ints, Ints]), (0.5, "v0 == v1", &[Int, Near(0)]),
    (7.0, "v0 in v1", &[Char, Str]), (2.0, "v1 in v0", &[Container, Item(0)]), (5.0, "v1 in v0", &[List, Item(0)]),
    (2.0, "v1 in v0", &[Dict, Item(0)]), (1.0, "v1 in v0", &[Set, Item(0)]), (2.5, "v1 in v0", &[Str, Part(0)]),
    (2.5, "v1 not in v0", &[List, Item(0)]), (1.0, "v1 not in v0", &[Dict, Item(0)]), (1.0, "v1 not in v0", &[Str, Part(0)]),
    // Subscripts.
    (12.0, "v0[v1]", &[Str, Index(0)]), (4.0, "v0[v1:]", &[Str, Bound(0)]), (4.0, "v0[:v1]", &[Str, Bound(0)]),
    (5.0, "v0[v1:v2]", &[Str, Bound(0), Bound(0)]), (2.5, "v0[::v1]", &[Str, Step]), (4.0, "v0[v1:]", &[List, Bound(0)]),
    (3.5, "v0[:v1]", &[List, Bound(0)]), (3.0, "v0[v1:v2]", &[List, Bound(0), Bound(0)]), (2.5, "v0[::v1]", &[List, Step]),
    (0.4, "v0[v1::v2]", &[Sequence, Bound(0), Step]), (0.4, "v0[v1:v2:v3]", &[Sequence, Bound(0), Bound(0), Step]),
    (0.3, "v0[v1:v2] = v3", &[List, Bound(0), Bound(0), Like(0)]), (0.2, "del v0[v1:v2]", &[List, Bound(0), Bound(0)]),
    (0.2, "v0[:v1]", &[Tuple, Bound(0)]), (0.2, "v0[v1]", &[Range, Index(0)]), (0.1, "v0[v1]", &[Scalar, Small]),
    // Builtin functions.
    (7.0, "len(v0)", &[Container]), (6.0, "len(v0)", &[Str]), (6.0, "len(v0)", &[List]),
    (2.5, "range(v0)", &[Int]), (1.5, "range(v0, v1)", &[Small, Int]), (0.6, "range(v0, v1, v2)", &[Int, Int, Step]),
    (2.5, "enumerate(v0)", &[Sequence]), (0.3, "enumerate(v0, v1)", &[List, Small]), (2.0, "zip(v0, v1)", &[List, List]),
    (1.0, "zip(v0, v1)", &[Str, List]), (1.6, "reversed(v0)", &[Sequence]), (2.0, "sorted(v0)", &[Ints]),
    (1.5, "sorted(v0)", &[Strs]), (0.6, "sorted(v0)", &[Container]), (0.6, "sorted(v0)", &[Str]),
    (0.7, "sorted(v0, reverse=v1)", &[List, Bool]), (0.7, "sorted(v0, key=v1)", &[List, Keys(0)]),
    (0.3, "sorted(v0, key=v1, reverse=v2)", &[List, Keys(0), Bool]), (4.0, "sum(v0)", &[Ints]), (0.3, "sum(v0)", &[List]),
    (1.0, "sum(v0)", &[Iterator]), (1.2, "max(v0)", &[Ints]), (1.0, "min(v0)", &[Ints]), (0.8, "max(v0)", &[List]),
    (0.6, "min(v0)", &[List]), (1.0, "max(v0, v1)", &[Int, Int]), (1.0, "min(v0, v1)", &[Int, Int]),
    (0.6, "max(v0, key=v1)", &[List, Keys(0)]), (0.4, "min(v0, key=v1)", &[List, Keys(0)]),
    (0.7, "max(v0, default=v1)", &[Ints, Int]), (1.0, "abs(v0)", &[Number]), (0.5, "round(v0)", &[Float]),
    (0.7, "round(v0, v1)", &[Float, Small]), (1.0, "divmod(v0, v1)", &[Int, Positive]), (0.3, "pow(v0, v1)", &[Small, Small]),
    (1.0, "any(v0)", &[List]), (1.0, "all(v0)", &[List]), (0.5, "any(v0)", &[Iterator]), (1.2, "ord(v0)", &[Char]),
    (0.8, "next(v0)", &[Iterator]), (0.3, "iter(v0)", &[List]),
    
    (1.6, "isinstance(v0, v1)", &[Any, Type]), (0.3, "type(v0)", &[Any]),
    // Conversions.
    (3.0, "str(v0)", &[Int]), (1.0, "str(v0)", &[Any]), (2.0, "int(v0)", &[Digits]), (0.4, "int(v0)", &[Float]),
    (0.2, "int(v0)", &[Any]), (0.5, "float(v0)", &[Digits]), (0.3, "float(v0)", &[Int]), (3.0, "list(v0)", &[Str]),
    (1.5, "list(v0)", &[Container]), (2.0, "list(v0)", &[Iterator]), (0.6, "list(v0)", &[Range]), (1.0, "tuple(v0)", &[List]),
    (0.3, "tuple(v0)", &[Iterator]), (1.5, "set(v0)", &[List]), (1.0, "set(v0)", &[Str]), (0.8, "dict(v0)", &[Pairs]),
    (0.4, "dict(v0)", &[Dict]), (0.3, "dict(v0)", &[Iterator]), (0.3, "frozenset(v0)", &[List]), (0.6, "repr(v0)", &[Any]),
    (0.4, "bin(v0)", &[Int]), (0.3, "hex(v0)", &[Int]), (0.7, "chr(v0)", &[Int]), (1.0, "format(v0, v1)", &[Number, Spec]),
    (0.2, "bool(v0)", &[Any]),
    // Methods of texts.
    (5.0, "v0.join(v1)", &[Joint, Strs]), (2.0, "v0.replace(v1, v2)", &[Str, Part(0), Empty]),
    (0.6, "v0.isalnum()", &[Char]), (0.4, "v0.istitle()", &[Word]), (0.3, "v0.istitle()", &[Char]),
    (0.2, "v0.isdecimal()", &[Char]), (0.2, "v0.isnumeric()", &[Char]), (0.3, "v0.isalpha()", &[Str]),
    (2.5, "v0.upper()", &[Str]), (2.5, "v0.lower()", &[Str]), (1.2, "v0.title()", &[Str]), (1.2, "v0.capitalize()", &[Str]),
    (1.2, "v0.swapcase()", &[Str]), (0.4, "v0.casefold()", &[Str]), (2.0, "v0.strip()", &[Str]), (1.0, "v0.strip(v1)", &[Str, Start(0)]),
    (0.8, "v0.lstrip()", &[Str]), (1.2, "v0.lstrip(v1)", &[Str, Start(0)]), (0.8, "v0.rstrip()", &[Str]),
    (1.2, "v0.rstrip(v1)", &[Str, End(0)]), (3.0, "v0.split()", &[Str]), (3.5, "v0.split(v1)", &[Str, Part(0)]),
    (0.8, "v0.split(v1, v2)", &[Str, Part(0), Small]), (0.8, "v0.rsplit(v1, v2)", &[Str, Part(0), Small]),
    (0.6, "v0.splitlines()", &[Str]), (2.5, "v0.join(v1)", &[Char, Strs]), (2.0, "v0.join(v1)", &[Word, Strs]),
    (0.8, "v0.join(v1)", &[Char, Iterator]), (0.5, "v0.join(v1)", &[Char, Str]), (5.0, "v0.replace(v1, v2)", &[Str, Part(0), Word]),
    (3.0, "v0.replace(v1, v2)", &[Str, Part(0), Char]), (1.5, "v0.replace(v1, v2, v3)", &[Str, Part(0), Word, Small]),
    (3.5, "v0.find(v1)", &[Str, Part(0)]), (0.4, "v0.find(v1, v2)", &[Str, Part(0), Small]), (1.5, "v0.rfind(v1)", &[Str, Part(0)]),
    (3.0, "v0.index(v1)", &[Str, Part(0)]), (0.6, "v0.rindex(v1)", &[Str, Part(0)]), (3.0, "v0.count(v1)", &[Str, Part(0)]),
    (4.0, "v0.startswith(v1)", &[Str, Start(0)]), (3.5, "v0.endswith(v1)", &[Str, End(0)]), (1.5, "v0.isdigit()", &[Word]),
    (1.5, "v0.isalpha()", &[Word]), (1.0, "v0.isalnum()", &[Word]), (1.2, "v0.isupper()", &[Word]), (1.2, "v0.islower()", &[Word]),
    (0.6, "v0.isspace()", &[Char]), (0.8, "v0.istitle()", &[Str]), (0.5, "v0.isnumeric()", &[Word]), (0.4, "v0.isdecimal()", &[Word]),
    (0.3, "v0.isascii()", &[Word]), (0.4, "v0.isidentifier()", &[Word]), (0.3, "v0.isprintable()", &[Str]),
    (0.7, "v0.isdigit()", &[Char]), (0.7, "v0.isalpha()", &[Char]), (0.5, "v0.isupper()", &[Char]), (0.5, "v0.islower()", &[Char]),
    (1.0, "v0.zfill(v1)", &[Digits, Width(0)]), (1.0, "v0.ljust(v1)", &[Word, Width(0)]), (0.6, "v0.ljust(v1, v2)", &[Word, Width(0), Char]),
    (1.0, "v0.rjust(v1)", &[Word, Width(0)]), (0.6, "v0.rjust(v1, v2)", &[Word, Width(0), Char]), (0.8, "v0.center(v1)", &[Word, Width(0)]),
    (0.6, "v0.center(v1, v2)", &[Word, Width(0), Char]), (1.2, "v0.partition(v1)", &[Str, Part(0)]), (1.0, "v0.rpartition(v1)", &[Str, Part(0)]),
    (0.7, "v0.removeprefix(v1)", &[Str, Start(0)]), (0.7, "v0.removesuffix(v1)", &[Str, End(0)]), (0.4, "v0.expandtabs()", &[Str]),
    (1.0, "v0.format(v1)", &[Template('{'), Scalar]), (0.4, "v0.format(v1)", &[Template('{'), Any]), (0.7, "v0.format(v1, v2)", &[Template('2'), Scalar, Scalar]),
    (0.5, "v0.encode()", &[Word]), (0.5, "v0.translate(v1)", &[Str, Dict]),
    // Methods of lists.
    (5.0, "v0.append(v1)", &[List, Item(0)]), (2.0, "v0.append(v1)", &[List, Any]), (1.5, "v0.extend(v1)", &[List, Like(0)]),
    (4.0, "v0.insert(v1, v2)", &[List, Index(0), Item(0)]), (3.0, "v0.pop()", &[List]), (3.5, "v0.pop(v1)", &[List, Index(0)]),
    (4.0, "v0.remove(v1)", &[List, Item(0)]), (3.0, "v0.index(v1)", &[List, Item(0)]), (2.0, "v0.count(v1)", &[List, Item(0)]),
    (1.5, "v0.sort()", &[List]), (0.6, "v0.sort(reverse=v1)", &[List, Bool]), (0.5, "v0.sort(key=v1)", &[List, Keys(0)]),
    (2.0, "v0.reverse()", &[List]), (0.6, "v0.clear()", &[List]), (0.8, "v0.copy()", &[List]), (1.0, "v0 += v1", &[List, Like(0)]),
    (0.3, "v0 *= v1", &[Ints, Small]), (0.3, "v0.append(v1)", &[Lists, Ints]),
    // Methods of dictionaries.
    (2.0, "v0.items()", &[Dict]), (1.2, "v0.keys()", &[Dict]), (1.2, "v0.values()", &[Dict]), (2.0, "v0.get(v1)", &[Dict, Item(0)]),
    (2.0, "v0.get(v1, v2)", &[Dict, Item(0), Scalar]), (1.2, "v0.pop(v1)", &[Dict, Item(0)]), (0.6, "v0.pop(v1, v2)", &[Dict, Item(0), Scalar]),
    (0.8, "v0.popitem()", &[Dict]), (1.0, "v0.setdefault(v1, v2)", &[Dict, Item(0), Any]), (1.5, "v0.update(v1)", &[Dict, Dict]),
    (0.3, "v0.copy()", &[Dict]), (0.2, "v0.clear()", &[Dict]), (0.5, "dict.fromkeys(v0, v1)", &[List, Scalar]), (0.3, "v0 | v1", &[Dict, Dict]),
    // Methods of sets.
    (1.2, "v0.add(v1)", &[Set, Item(0)]), (0.5, "v0.discard(v1)", &[Set, Item(0)]), (0.4, "v0.remove(v1)", &[Set, Item(0)]),
    (0.4, "v0.union(v1)", &[Set, Set]), (0.3, "v0 | v1", &[Set, Set]), (0.4, "v0 & v1", &[Set, Set]), (0.4, "v0 - v1", &[Set, Set]),
    (0.3, "v0.intersection(v1)", &[Set, List]), (0.2, "v0.issubset(v1)", &[Set, Set]), (0.2, "v0 ^ v1", &[Set, Set]),
    // What fails.
    (0.2, "len(v0)", &[Scalar]), (0.15, "v0 + v1", &[Word, Int]), (0.15, "v0 + v1", &[List, None]), (0.1, "sum(v0)", &[Strs]),
    (0.1, "max(v0)", &[Container]), (0.1, "v0.index(v1)", &[Tuple, Item(0)]), (0.1, "v0.count(v1)", &[Tuple, Item(0)]),
];
