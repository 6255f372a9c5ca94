use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// 0.975 quantile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// A rate with its 95 % confidence interval by Wilson's score (Wilson 1927), each rounded to six
/// significant digits. The calculation uses only sums, products, quotients and square roots, which
/// IEEE 754 rounds identically on every machine.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Rate {
    /// Share of violated runs, from 0 to 1.
    pub point: f64,
    /// Lower end of the confidence interval, from 0 to 1.
    pub low: f64,
    /// Upper end of the confidence interval, from 0 to 1.
    pub high: f64,
}

impl Rate {
    pub fn of(hits: u64, trials: u64) -> Rate {
        if trials == 0 {
            return Rate { point: 0.0, low: 0.0, high: 1.0 };
        }
        let (n, p) = (trials as f64, hits as f64 / trials as f64);
        let denominator = 1.0 + Z * Z / n;
        let centre = (p + Z * Z / (2.0 * n)) / denominator;
        let half = Z / denominator * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        // The formula has rounding errors at these ends, where the bound is exactly 0 or 1.
        let low = if hits == 0 { 0.0 } else { centre - half };
        let high = if hits == trials { 1.0 } else { centre + half };
        Rate { point: rounded(p), low: rounded(low), high: rounded(high) }
    }
}

/// Returns min(1, 3 / `trials`), the approximate upper 95 % bound of a rate without hits (Hanley,
/// Lippman-Hand 1983).
pub fn quiet_bound(trials: u64) -> f64 {
    if trials <= 3 { 1.0 } else { rounded(3.0 / trials as f64) }
}

/// Rounds to six significant digits, with the same result on every machine.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_agrees_with_the_closed_form() {
        assert_eq!(Rate::of(0, 10), Rate { point: 0.0, low: 0.0, high: 0.277533 });
        assert_eq!(Rate::of(5, 10), Rate { point: 0.5, low: 0.236593, high: 0.763407 });
        assert_eq!(Rate::of(10, 10), Rate { point: 1.0, low: 0.722467, high: 1.0 });
    }

    #[test]
    fn three_in_n_bounds_what_was_never_seen() {
        assert_eq!(quiet_bound(0), 1.0);
        assert_eq!(quiet_bound(300), 0.01);
        assert_eq!(quiet_bound(1_000_000_000), 3e-9);
        let exact = 1.0 - 0.05_f64.powf(1.0 / 300.0);
        assert!((exact - quiet_bound(300)).abs() < 1e-4, "{exact}");
    }

    #[test]
    fn a_rate_far_below_a_millionth_is_not_zero() {
        assert_eq!(Rate::of(1, 1_000_000_000).point, 1e-9);
        assert!(Rate::of(0, 1_000_000_000).high > 0.0);
    }

    #[test]
    fn no_trials_say_nothing() {
        assert_eq!(Rate::of(0, 0), Rate { point: 0.0, low: 0.0, high: 1.0 });
    }
}
