//! How many answers can be given if they are to be reliable.

use serde::Serialize;

use super::Judged;

/// The surest answers that are right often enough.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Coverage {
    /// Precision that is asked for, 0 to 1.
    pub precision: f64,
    /// Answers that are given.
    pub answered: usize,
    /// Those of them that are right.
    pub right: usize,
    /// All answers.
    pub of: usize,
    /// The least confidence that is answered with; none if nothing is answered.
    pub threshold: Option<f64>,
}

impl Coverage {
    /// Share that is answered, 0 to 1; none of nothing.
    pub fn share(&self) -> Option<f64> {
        (self.of > 0).then(|| self.answered as f64 / self.of as f64)
    }
}

/// The largest number of answers, the surest first, of which at least `precision` are right. Answers
/// of one confidence are given all or none, as a threshold would have it.
pub fn coverage(judged: &[Judged], precision: f64) -> Coverage {
    let mut sorted = judged.to_vec();
    sorted.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    let mut best = Coverage {
        precision,
        answered: 0,
        right: 0,
        of: judged.len(),
        threshold: None,
    };
    let mut right = 0;
    for (at, answer) in sorted.iter().enumerate() {
        right += usize::from(answer.right);
        let answered = at + 1;
        let tied = sorted
            .get(answered)
            .is_some_and(|next| next.confidence.total_cmp(&answer.confidence).is_eq());
        // A margin for rounding: 99 of 100 are 99 %.
        if !tied && right as f64 + 1e-9 >= precision * answered as f64 {
            best = Coverage {
                answered,
                right,
                threshold: Some(answer.confidence),
                ..best
            };
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(answers: &[(f64, bool)]) -> Vec<Judged> {
        let answers = answers.iter();
        answers
            .map(|&(confidence, right)| Judged { confidence, right })
            .collect()
    }

    #[test]
    fn the_largest_prefix_that_is_precise_enough_is_answered() {
        let answers = judged(&[
            (0.5, false),
            (0.9, true),
            (0.8, false),
            (0.7, true),
            (0.6, true),
        ]);
        let three = coverage(&answers, 0.75);
        assert_eq!((three.answered, three.right, three.of), (4, 3, 5));
        assert_eq!(three.threshold, Some(0.6));
        assert_eq!(coverage(&answers, 1.0).answered, 1);
        assert_eq!(coverage(&answers, 0.5).share(), Some(1.0));
    }

    #[test]
    fn equal_confidences_are_answered_together() {
        let answers = judged(&[(1.0, true), (1.0, false), (0.5, true)]);
        assert_eq!(coverage(&answers, 0.99).answered, 0);
        assert_eq!(coverage(&answers, 0.99).threshold, None);
        assert_eq!(coverage(&answers, 0.66).answered, 3);
    }

    #[test]
    fn exactly_the_precision_is_enough_and_nothing_is_nothing() {
        let mut answers = vec![(0.9, true); 99];
        answers.push((0.9, false));
        assert_eq!(coverage(&judged(&answers), 0.99).answered, 100);
        assert_eq!(coverage(&[], 0.99).share(), None);
    }
}
