//! How suspicious a statement or a function is.

use camino::Utf8Path;

use crate::plan::{Facts, SuspectFunction, SuspectStatement};

/// The suspicious places of a file.
pub struct Suspicion<'f> {
    /// Suspicious functions.
    pub functions: Vec<&'f SuspectFunction>,
    /// Suspicious statements.
    pub statements: Vec<&'f SuspectStatement>,
    all_functions: bool,
}

impl<'f> Suspicion<'f> {
    /// What `facts` say about the file `path`; of its functions only those among the first
    /// `max_functions` of the project.
    pub fn of(facts: &'f Facts, path: &Utf8Path, max_functions: usize) -> Self {
        Self {
            functions: facts
                .functions
                .iter()
                .take(max_functions)
                .filter(|f| f.file == path)
                .collect(),
            statements: facts.statements.iter().filter(|s| s.file == path).collect(),
            all_functions: facts.functions.is_empty(),
        }
    }

    fn function(&self, line: usize) -> f64 {
        self.functions
            .iter()
            .filter(|f| f.first_line <= line && line <= f.last_line)
            .min_by_key(|f| f.last_line - f.first_line)
            .map_or(0.0, |f| f.score)
    }

    /// The innermost suspicious statement at `line`.
    pub fn listed(&self, line: usize) -> Option<&SuspectStatement> {
        self.statements
            .iter()
            .filter(|s| s.first_line <= line && line <= s.last_line)
            .min_by_key(|s| s.last_line - s.first_line)
            .copied()
    }

    /// Suspiciousness of the statement at `line`; none when it is not to be edited.
    pub fn statement(&self, line: usize, in_function: bool) -> Option<f64> {
        let function = if in_function && !self.all_functions {
            self.function(line)
        } else {
            1.0
        };
        if function <= 0.0 {
            return None;
        }
        if let Some(found) = self.listed(line) {
            return Some(found.score * (0.5 + 0.5 * function));
        }
        if !in_function || self.all_functions {
            return None;
        }
        // A statement that the tests do not reach is an unlikely place, unless nothing is known
        // about statements at all.
        let span = self
            .functions
            .iter()
            .filter(|f| f.first_line <= line && line <= f.last_line)
            .min_by_key(|f| f.last_line - f.first_line)?;
        let least = self
            .statements
            .iter()
            .filter(|s| span.first_line <= s.first_line && s.last_line <= span.last_line)
            .map(|s| s.score)
            .min_by(f64::total_cmp);
        Some(least.map_or(function, |least| least * 0.3))
    }

    /// Suspiciousness of a function as a whole.
    pub fn whole(&self, first: usize, last: usize) -> Option<f64> {
        let function = if self.all_functions {
            1.0
        } else {
            self.functions
                .iter()
                .filter(|f| f.first_line <= first && last <= f.last_line)
                .map(|f| f.score)
                .max_by(f64::total_cmp)?
        };
        let inner = self
            .statements
            .iter()
            .filter(|s| first <= s.first_line && s.last_line <= last)
            .map(|s| s.score)
            .max_by(f64::total_cmp);
        match inner {
            Some(inner) => Some(inner * (0.5 + 0.5 * function)),
            None if self.all_functions => None,
            None => Some(function),
        }
    }
}
