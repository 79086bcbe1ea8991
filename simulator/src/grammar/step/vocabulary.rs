//! Tokens of the step grammar: all bytes, and one token for each word that steers.

use std::collections::HashMap;
use std::sync::OnceLock;

/// A token that is no byte.
pub type Word = &'static str;

/// Frame of a sample.
const FRAME: &[Word] = &[
    "step", "inverse", "with", "next", "gives", "after", "old", "raises", "opaque", "solve",
    "hole", "end", "pad",
];

/// Slots.
const SLOTS: &[Word] = &[
    "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",
];

/// Values and operators of more than one character.
const OPERATORS: &[Word] = &[
    "True", "False", "None", "in", "not in", "**", "//", "==", "!=", "<=", ">=", "<<", ">>", "+=",
    "-=", "*=", "|=", "&=", "^=", "del", "+", "-", "*", "/", "%", "@", "&", "|", "^", "~", "<",
    ">",
];

/// Builtin functions and types.
const BUILTINS: &[Word] = &[
    "abs",
    "all",
    "any",
    "ascii",
    "bin",
    "bool",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "complex",
    "dict",
    "divmod",
    "enumerate",
    "filter",
    "float",
    "format",
    "frozenset",
    "hash",
    "hex",
    "int",
    "isinstance",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "min",
    "next",
    "oct",
    "ord",
    "pow",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "slice",
    "sorted",
    "str",
    "sum",
    "tuple",
    "type",
    "zip",
    "math",
    "re",
    "string",
    "itertools",
    "collections",
    "functools",
    "dict_keys",
    "dict_values",
    "dict_items",
];

/// Methods of builtin types.
const METHODS: &[Word] = &[
    ".add",
    ".append",
    ".as_integer_ratio",
    ".bit_length",
    ".capitalize",
    ".casefold",
    ".center",
    ".clear",
    ".conjugate",
    ".copy",
    ".count",
    ".decode",
    ".difference",
    ".difference_update",
    ".discard",
    ".encode",
    ".endswith",
    ".expandtabs",
    ".extend",
    ".find",
    ".format",
    ".format_map",
    ".fromhex",
    ".fromkeys",
    ".get",
    ".hex",
    ".index",
    ".insert",
    ".intersection",
    ".intersection_update",
    ".isalnum",
    ".isalpha",
    ".isascii",
    ".isdecimal",
    ".isdigit",
    ".isdisjoint",
    ".isidentifier",
    ".is_integer",
    ".islower",
    ".isnumeric",
    ".isprintable",
    ".isspace",
    ".issubset",
    ".issuperset",
    ".istitle",
    ".isupper",
    ".items",
    ".join",
    ".keys",
    ".ljust",
    ".lower",
    ".lstrip",
    ".maketrans",
    ".partition",
    ".pop",
    ".popitem",
    ".remove",
    ".removeprefix",
    ".removesuffix",
    ".replace",
    ".reverse",
    ".rfind",
    ".rindex",
    ".rjust",
    ".rpartition",
    ".rsplit",
    ".rstrip",
    ".setdefault",
    ".sort",
    ".split",
    ".splitlines",
    ".startswith",
    ".strip",
    ".swapcase",
    ".symmetric_difference",
    ".symmetric_difference_update",
    ".title",
    ".to_bytes",
    ".translate",
    ".union",
    ".update",
    ".upper",
    ".values",
    ".zfill",
    ".real",
    ".imag",
    ".start",
    ".stop",
    ".step",
    ".sqrt",
    ".floor",
    ".ceil",
    ".gcd",
];

/// Keyword arguments.
const KEYWORDS: &[Word] = &[
    "key=",
    "reverse=",
    "default=",
    "start=",
    "sep=",
    "maxsplit=",
    "base=",
    "strict=",
    "keepends=",
    "encoding=",
    "errors=",
    "ndigits=",
    "repeat=",
];

/// Exceptions that operations raise.
const EXCEPTIONS: &[Word] = &[
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "IndexError",
    "KeyError",
    "LookupError",
    "MemoryError",
    "NotImplementedError",
    "OverflowError",
    "RecursionError",
    "RuntimeError",
    "StopIteration",
    "TypeError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "ValueError",
    "ZeroDivisionError",
];

/// Common pieces of the texts of exceptions, which are copied but for names in them.
const MESSAGES: &[Word] = &[
    " object is not ",
    "unsupported operand type(s) for ",
    " not supported between instances of ",
    " object has no attribute ",
    "invalid literal for int() with base 10: ",
    "could not convert string to float: ",
    " index out of range",
    "substring not found",
    " is not in list",
    "list.remove(x): x not in list",
    "pop from empty ",
    "division by zero",
    "integer division or modulo by zero",
    "can only concatenate ",
    "subscriptable",
    "iterable",
    "callable",
    " arg is an empty sequence",
    " iterable argument is empty",
    "sequence item ",
    ": expected str instance, ",
    " found",
    "unhashable type: ",
    "not enough values to unpack (expected ",
    "too many values to unpack (expected ",
    ", got ",
    " must be ",
    ", not ",
    "'str'",
    "'int'",
    "'list'",
    "'dict'",
    "'tuple'",
    "'set'",
    "'NoneType'",
    "'float'",
    "'bool'",
    "range",
    " and ",
    "string ",
    "list ",
    "tuple ",
];

const GROUPS: [&[Word]; 8] = [
    FRAME, SLOTS, OPERATORS, BUILTINS, METHODS, KEYWORDS, EXCEPTIONS, MESSAGES,
];

/// The table of tokens. Ids below 256 are bytes.
#[derive(Debug)]
pub struct Vocabulary {
    words: Vec<Word>,
    ids: HashMap<Word, u32>,
}

impl Vocabulary {
    /// The one vocabulary of this version of the grammar.
    pub fn get() -> &'static Self {
        static TABLE: OnceLock<Vocabulary> = OnceLock::new();
        TABLE.get_or_init(|| {
            let mut words: Vec<Word> = Vec::new();
            for word in GROUPS.into_iter().flatten() {
                if !words.contains(word) {
                    words.push(word);
                }
            }
            let ids = words.iter().zip(256..).map(|(&w, id)| (w, id)).collect();
            Self { words, ids }
        })
    }

    /// Number of tokens.
    pub fn len(&self) -> usize {
        256 + self.words.len()
    }

    /// Never.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The id of a word; none for what is spelled byte by byte.
    pub fn id(&self, word: &str) -> Option<u32> {
        self.ids.get(word).copied()
    }

    /// The word of an id; none for a byte.
    pub fn word(&self, id: u32) -> Option<Word> {
        self.words
            .get(usize::try_from(id.checked_sub(256)?).ok()?)
            .copied()
    }

    /// A `tokenizer.json` that Hugging Face's tokenizers load: bytes without merges, words as added
    /// tokens.
    pub fn tokenizer_json(&self) -> String {
        let bytes: serde_json::Map<String, serde_json::Value> = (0..=255_u8)
            .map(|byte| (byte_character(byte).to_string(), u32::from(byte).into()))
            .collect();
        let added: Vec<serde_json::Value> = self
            .token_texts()
            .zip(256_u32..)
            .map(|(content, id)| {
                serde_json::json!({
                    "id": id, "content": content, "single_word": false, "lstrip": false,
                    "rstrip": false, "normalized": false, "special": true,
                })
            })
            .collect();
        let tokenizer = serde_json::json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": added,
            "normalizer": null,
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false,
                              "trim_offsets": true, "use_regex": false},
            "post_processor": null,
            "decoder": {"type": "ByteLevel", "add_prefix_space": false,
                        "trim_offsets": true, "use_regex": false},
            "model": {"type": "BPE", "dropout": null, "unk_token": null,
                      "continuing_subword_prefix": null, "end_of_word_suffix": null,
                      "fuse_unk": false, "byte_fallback": false, "vocab": bytes, "merges": []},
        });
        tokenizer.to_string()
    }

    /// Token texts as a tokenizer names them, in the order of their ids: words only.
    pub fn token_texts(&self) -> impl Iterator<Item = String> {
        self.words.iter().map(|word| format!("<|{word}|>"))
    }

    /// Tokens as text for people: words in brackets. It cannot be read back where a value holds such
    /// a bracket itself.
    pub fn text(&self, ids: &[u32]) -> String {
        let mut bytes = Vec::with_capacity(ids.len() * 2);
        for &id in ids {
            match (self.word(id), u8::try_from(id)) {
                (Some(word), _) => bytes.extend(format!("<|{word}|>").as_bytes()),
                (None, Ok(byte)) => bytes.push(byte),
                (None, Err(_)) => bytes.extend(b"<|?|>"),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn all_of(&self, group: &'static [Word]) -> impl Iterator<Item = u32> {
        group.iter().filter_map(|word| self.id(word))
    }

    /// Ids of builtin functions and types.
    pub(super) fn builtins(&self) -> impl Iterator<Item = u32> {
        self.all_of(BUILTINS)
    }

    /// Ids of exceptions.
    pub(super) fn exceptions(&self) -> impl Iterator<Item = u32> {
        self.all_of(EXCEPTIONS)
    }

    /// Ids of pieces of exceptions' texts.
    pub(super) fn message_words(&self) -> impl Iterator<Item = u32> {
        self.all_of(MESSAGES)
    }

    /// Pieces of exceptions' texts.
    pub(super) fn messages() -> &'static [Word] {
        MESSAGES
    }

    /// Whether a word is the name of an exception.
    pub(super) fn is_exception(word: &str) -> bool {
        EXCEPTIONS.contains(&word)
    }
}

/// The character by which byte-level tokenizers name a byte (as GPT-2 does).
fn byte_character(byte: u8) -> char {
    let plain = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    if plain(byte) {
        return char::from(byte);
    }
    let before = (0..byte).filter(|&other| !plain(other)).count() as u32;
    char::from_u32(256 + before).unwrap_or('?')
}
