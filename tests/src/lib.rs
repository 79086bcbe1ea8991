//! End-to-end tests of the `ndbg-agent` binary live in `tests/`.
