//! `ndbg-agent`: fixes failing Python tests. The binary is a thin shell around this library.

pub mod bench;
pub mod cli;
pub mod dataset;
pub mod debug;
pub mod eval;
pub mod explain;
pub mod fix;
pub mod infer;
pub mod model;
pub mod outcome;
pub mod plan;
pub mod plot;
pub mod report;
pub mod simulate;
pub mod trace;
