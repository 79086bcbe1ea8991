//! The `ndbg-agent` program.
fn main() {}
