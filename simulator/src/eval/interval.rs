//! How sure a share is.

use serde::Serialize;

/// The standard normal quantile of 97.5 %: between its two signs lie 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// A share lies in here with a confidence of 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Lower end, 0 to 1.
    pub low: f64,
    /// Upper end, 0 to 1.
    pub high: f64,
}

/// Wilson's score interval of a share (Wilson 1927), which is honest for few and for extreme counts;
/// none of nothing. It treats what is counted as independent: statements of one program are not quite.
pub fn interval(right: usize, of: usize) -> Option<Interval> {
    if of == 0 {
        return None;
    }
    let (count, share) = (of as f64, right as f64 / of as f64);
    let shrunk = 1.0 + Z * Z / count;
    let middle = (share + Z * Z / (2.0 * count)) / shrunk;
    let half = Z / shrunk * (share * (1.0 - share) / count + Z * Z / (4.0 * count * count)).sqrt();
    Some(Interval {
        low: (middle - half).max(0.0),
        high: (middle + half).min(1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: Option<Interval>, low: f64, high: f64) {
        let found = found.unwrap();
        assert!((found.low - low).abs() < 1e-4, "{found:?}");
        assert!((found.high - high).abs() < 1e-4, "{found:?}");
    }

    #[test]
    fn intervals_are_wilsons() {
        // Values of statsmodels' `proportion_confint(…, method="wilson")`.
        close(interval(8, 10), 0.490_162, 0.943_318);
        close(interval(0, 10), 0.0, 0.277_533);
        close(interval(10, 10), 0.722_467, 1.0);
        close(interval(500, 1000), 0.469_070, 0.530_930);
        assert_eq!(interval(0, 0), None);
    }
}
