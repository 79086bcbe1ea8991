//! Which tokens may follow, so that an answer is always a literal.

/// To come.
#[derive(Debug, Clone, Default)]
pub struct ValueMask;
