//! Edit operators: each one a general rule of how programmers slip.
//!
//! To add one, write `operators/<name>.rs` with a `pub const OPERATOR: Operator` (name, rationale,
//! prior, propose), a `propose(site, out)` that returns at once unless the node is its business,
//! and a test that calls [`testing::check`]; then add its `mod` line and its entry in [`OPERATORS`] below. Priors are
//! relative: 1.0 for the likeliest kind of slip. `fit` (0 to 1) says how well an alternative suits
//! the place; it is where types come in.

mod add_operand;
mod aliased_rows;
mod argument;
mod arithmetic;
mod augmented;
mod await_yield;
mod branch_kind;
mod call_or_not;
mod chain;
mod class_attribute;
mod comparison;
mod comprehension_condition;
mod convert;
mod copy_statement;
mod delete_statement;
mod drop_operand;
mod exception_type;
mod extremes;
mod fallback;
mod falsy_value;
mod format;
mod grouping;
mod guard;
mod in_place;
mod index_bound;
mod insert_assignment;
mod insert_call;
mod iterable;
mod late_binding;
mod literal;
mod literal_to_name;
mod logic;
mod lookup;
mod loop_control;
mod materialize;
mod merge_or_replace;
mod missing_copy;
mod missing_self;
mod modulus;
mod move_statement;
mod mutable_default;
mod name_to_literal;
mod negate;
mod off_by_one;
mod parameter_default;
mod pattern;
mod recursion;
mod reindent;
mod replace_attribute;
mod replace_call;
mod replace_expression;
mod replace_name;
mod return_value;
mod rounding;
mod scope_declaration;
mod slice;
mod sort_key;
mod stale_attribute;
mod strengthen;
mod string_literal;
mod swap;
mod ternary;
#[cfg(test)]
pub mod testing;
mod text_method;
mod time_units;
mod try_guard;
mod unary;
mod unwrap;
mod wrap;

use super::proposals::Proposals;
use super::site::Site;

/// A rule that proposes edits at a node.
#[derive(Debug, Clone, Copy)]
pub struct Operator {
    /// Short name for reports.
    pub name: &'static str,
    /// Why programmers make this mistake.
    pub rationale: &'static str,
    /// How likely this kind of mistake is, relative to others. Above 1 it is a smell: the code looks
    /// wrong by itself, so where it stands counts for less.
    pub prior: f64,
    /// Proposes edits at a site.
    pub propose: fn(&Site<'_>, &mut Proposals),
}

/// All operators.
pub const OPERATORS: &[Operator] = &[
    materialize::OPERATOR,
    falsy_value::OPERATOR,
    stale_attribute::OPERATOR,
    index_bound::OPERATOR,
    comparison::OPERATOR,
    off_by_one::OPERATOR,
    replace_name::OPERATOR,
    replace_attribute::OPERATOR,
    replace_call::OPERATOR,
    replace_expression::OPERATOR,
    swap::OPERATOR,
    add_operand::OPERATOR,
    drop_operand::OPERATOR,
    arithmetic::OPERATOR,
    augmented::OPERATOR,
    merge_or_replace::OPERATOR,
    grouping::OPERATOR,
    unary::OPERATOR,
    rounding::OPERATOR,
    modulus::OPERATOR,
    logic::OPERATOR,
    negate::OPERATOR,
    strengthen::OPERATOR,
    chain::OPERATOR,
    guard::OPERATOR,
    ternary::OPERATOR,
    literal::OPERATOR,
    literal_to_name::OPERATOR,
    name_to_literal::OPERATOR,
    string_literal::OPERATOR,
    parameter_default::OPERATOR,
    return_value::OPERATOR,
    missing_self::OPERATOR,
    missing_copy::OPERATOR,
    mutable_default::OPERATOR,
    class_attribute::OPERATOR,
    scope_declaration::OPERATOR,
    await_yield::OPERATOR,
    insert_call::OPERATOR,
    insert_assignment::OPERATOR,
    copy_statement::OPERATOR,
    move_statement::OPERATOR,
    reindent::OPERATOR,
    delete_statement::OPERATOR,
    loop_control::OPERATOR,
    branch_kind::OPERATOR,
    exception_type::OPERATOR,
    try_guard::OPERATOR,
    recursion::OPERATOR,
    iterable::OPERATOR,
    comprehension_condition::OPERATOR,
    slice::OPERATOR,
    wrap::OPERATOR,
    unwrap::OPERATOR,
    convert::OPERATOR,
    text_method::OPERATOR,
    time_units::OPERATOR,
    format::OPERATOR,
    lookup::OPERATOR,
    sort_key::OPERATOR,
    argument::OPERATOR,
    extremes::OPERATOR,
    call_or_not::OPERATOR,
    fallback::OPERATOR,
    pattern::OPERATOR,
    in_place::OPERATOR,
    aliased_rows::OPERATOR,
    late_binding::OPERATOR,
];
