//! Tests of the planner as a whole.

mod fuzz;
mod ordering;
mod slips;
