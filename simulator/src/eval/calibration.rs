//! Whether answers are right as often as they say.

use serde::Serialize;

use super::Judged;

/// Number of bins.
const BINS: usize = 10;

/// Answers of about the same confidence.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Bin {
    /// Number of answers.
    pub count: usize,
    /// Mean of what they say, 0 to 1; 0 of none.
    pub confidence: f64,
    /// Share of right ones, 0 to 1; 0 of none.
    pub accuracy: f64,
}

/// How far confidences are from what is true.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// Ten bins of equal width from 0 to 1.
    pub bins: Vec<Bin>,
    /// Expected calibration error: mean distance between confidence and accuracy, over answers.
    pub error: f64,
    /// Brier score: mean squared distance between a confidence and 1 or 0.
    pub brier: f64,
    /// Number of answers.
    pub count: usize,
}

/// Bins answers by their confidence (Guo et al. 2017, "On Calibration of Modern Neural Networks").
pub fn calibration(judged: &[Judged]) -> Calibration {
    let mut bins = vec![Bin::default(); BINS];
    let mut brier = 0.0;
    for answer in judged {
        let confidence = answer.confidence.clamp(0.0, 1.0);
        let right = f64::from(u8::from(answer.right));
        let bin = &mut bins[((confidence * BINS as f64) as usize).min(BINS - 1)];
        bin.count += 1;
        bin.confidence += confidence;
        bin.accuracy += right;
        brier += (confidence - right).powi(2);
    }
    let all = judged.len().max(1) as f64;
    let mut error = 0.0;
    for bin in bins.iter_mut().filter(|bin| bin.count > 0) {
        let count = bin.count as f64;
        bin.confidence /= count;
        bin.accuracy /= count;
        error += (bin.confidence - bin.accuracy).abs() * count / all;
    }
    Calibration {
        bins,
        error,
        brier: brier / all,
        count: judged.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_are_right_as_often_as_they_say_have_no_error() {
        let answer = |right| Judged {
            confidence: 0.75,
            right,
        };
        let found = calibration(&[answer(true), answer(true), answer(true), answer(false)]);
        assert!(found.error < 1e-12);
        assert!((found.brier - (3.0 * 0.0625 + 0.5625) / 4.0).abs() < 1e-12);
        let bin = found.bins[7];
        assert_eq!((bin.count, bin.confidence, bin.accuracy), (4, 0.75, 0.75));
        assert_eq!(found.bins.iter().map(|bin| bin.count).sum::<usize>(), 4);
    }

    #[test]
    fn bins_weigh_as_much_as_they_hold() {
        let sure = Judged {
            confidence: 1.0,
            right: true,
        };
        let wrong = Judged {
            confidence: 0.05,
            right: true,
        };
        let found = calibration(&[sure, sure, sure, wrong]);
        assert!((found.error - 0.95 / 4.0).abs() < 1e-12);
        assert_eq!(found.bins[9].count, 3);
        assert_eq!(found.bins[0].count, 1);
    }

    #[test]
    fn nothing_has_no_error() {
        let found = calibration(&[]);
        assert_eq!((found.error, found.brier, found.count), (0.0, 0.0, 0));
        assert_eq!(found.bins.len(), 10);
    }
}
