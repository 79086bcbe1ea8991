//! Whether wins and losses are more uneven than a coin would make them.

/// The exact two-sided p value of the sign test (Arbuthnot 1710; Conover, *Practical Nonparametric
/// Statistics*, 3.4): how likely a fair coin is to be at least as one-sided. Ties are left out, as is
/// usual.
pub fn two_sided(wins: usize, losses: usize) -> f64 {
    let fewer = wins.min(losses);
    let count = (wins + losses) as f64;
    // Binomial terms as logarithms: the powers of two alone are too small for thousands of tasks.
    let mut log_term = -count * std::f64::consts::LN_2;
    let mut tail = log_term.exp();
    for at in 1..=fewer {
        let at = at as f64;
        log_term += ((count - at + 1.0) / at).ln();
        tail += log_term.exp();
    }
    (2.0 * tail).min(1.0)
}

/// The value for people.
pub fn shown(p: f64) -> String {
    if p < 0.0001 {
        format!("{p:.0e}")
    } else if p < 0.001 {
        format!("{p:.4}")
    } else {
        format!("{p:.3}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_binomial_test() {
        // R's `binom.test(wins, wins + losses)$p.value`.
        for (wins, losses, p) in [
            (0, 0, 1.0),
            (1, 0, 1.0),
            (5, 0, 0.0625),
            (0, 6, 0.03125),
            (8, 2, 0.109_375),
            (1, 9, 0.021_484_375),
            (6, 6, 1.0),
            (60, 40, 0.056_887_933_640_980_81),
        ] {
            let found = two_sided(wins, losses);
            assert!((found - p).abs() < 1e-12, "{wins}, {losses}: {found}");
            assert!((two_sided(losses, wins) - found).abs() < 1e-15);
        }
    }

    #[test]
    fn exact_sums_of_binomial_coefficients_agree() {
        for count in 0..=60_u32 {
            let mut coefficient: u128 = 1;
            let mut tail: u128 = 0;
            for fewer in 0..=count / 2 {
                tail += coefficient;
                let exact = (2.0 * tail as f64 / 2f64.powi(count as i32)).min(1.0);
                let found = two_sided(fewer as usize, (count - fewer) as usize);
                assert!(
                    (found / exact - 1.0).abs() < 1e-12,
                    "{fewer} of {count}: {found}"
                );
                coefficient = coefficient * u128::from(count - fewer) / u128::from(fewer + 1);
            }
        }
    }

    #[test]
    fn thousands_of_tasks_are_no_trouble() {
        let even = two_sided(1_147, 1_147);
        assert!((even - 1.0).abs() < 1e-9, "{even}");
        let uneven = two_sided(2_000, 294);
        assert!(uneven < 1e-100, "{uneven}");
    }

    #[test]
    fn small_values_keep_a_digit() {
        assert_eq!(shown(0.109_375), "0.109");
        assert_eq!(shown(0.000_49), "0.0005");
        assert_eq!(shown(3.2e-7), "3e-7");
    }
}
