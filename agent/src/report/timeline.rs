//! When each phase of a run began and ended.
