//! Task formats, benchmark runs and grading.
