//! The grammar of the small model: one operation on known values, and its effect.
//!
//! A statement is taken apart by the [harness](crate::harness): it owns names, scopes, control flow,
//! displays, stores and loads by key, and asks the model for what is left: operators, calls of builtin
//! functions and methods, slices, formatting. An [`Operation`] is an expression over the slots `v0`,
//! `v1`, … with the values in them; its [`Effect`] is a result, perhaps a changed `v0`, or an
//! exception.
//!
//! ```text
//! <|step|>v0<|.append|>(v1)<|with|>[1,2]<|next|>3<|gives|>None<|after|><|old|>,3<|end|>
//! <|step|>v0<|+|>v1<|with|>12<|next|>30<|gives|>42<|end|>
//! <|step|><|int|>(v0)<|with|>'x'<|gives|><|raises|><|ValueError|>invalid literal …<|end|>
//! <|inverse|>v0<|+|>v1<|with|><|hole|><|next|>30<|gives|>42<|solve|>12<|end|>
//! ```
//!
//! Values are Python literals, character by character, without spaces between items. In a changed
//! container `<|old|>` stands for all of its former items in a row.

mod decode;
mod encode;
mod mask;
mod vocabulary;

pub use decode::{NotAnEffect, decode_effect, decode_hole};
pub use encode::{encode_answer, encode_effect, encode_inverse, encode_question};
pub use mask::ValueMask;
pub use vocabulary::{Vocabulary, Word};

use serde::{Deserialize, Serialize};

/// An expression over slots, and what is in them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Operation {
    /// Python over the names `v0`, `v1`, …: an expression, `v0 += v1`, `v0[v1:] = v2` or `del v0[v1:]`.
    pub expression: String,
    /// Python text of each slot's value.
    pub operands: Vec<String>,
}

/// What an operation does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It has a value.
    Gives {
        /// Python text; `None` for a statement.
        result: String,
        /// What `v0` is afterwards, if that changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
    },
    /// It raises a builtin exception.
    Raises {
        /// Name of the exception's class.
        kind: String,
        /// Its text.
        message: String,
    },
    /// Its value cannot be written as a literal.
    Opaque,
}
