//! Edit operators: each one a general rule of how programmers slip.
//!
//! To add one, write `operators/<name>.rs` with a `pub const OPERATOR: Operator` (name, rationale,
//! prior, propose), a `propose(site, out)` that returns at once unless the node is its business,
//! and a test that calls [`testing::check`]; then add one line to [`operators!`] below. Priors are
//! relative: 1.0 for the likeliest kind of slip. `fit` (0 to 1) says how well an alternative suits
//! the place; it is where types come in.

use super::proposals::Proposals;
use super::site::Site;

/// A rule that proposes edits at a node.
#[derive(Debug, Clone, Copy)]
pub struct Operator {
    /// Short name for reports.
    pub name: &'static str,
    /// Why programmers make this mistake.
    pub rationale: &'static str,
    /// How likely this kind of mistake is, relative to others.
    pub prior: f64,
    /// Proposes edits at a site.
    pub propose: fn(&Site<'_>, &mut Proposals),
}

macro_rules! operators {
    ($($module:ident),* $(,)?) => {
        $(mod $module;)*
        /// All operators.
        pub const OPERATORS: &[Operator] = &[$($module::OPERATOR),*];
    };
}

operators! {
    comparison,
    off_by_one,
    replace_name,
    swap,
    add_operand,
    drop_operand,
    arithmetic,
    augmented,
    logic,
    negate,
    literal,
    delete_statement,
    return_value,
    guard,
}

#[cfg(test)]
mod testing;
