//! A rate with its confidence interval. Must never know what was counted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The 0.975 quantile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// A rate and its 95 % interval by Wilson's score (Wilson 1927), each rounded to six decimals. Only sums, products, quotients and
/// square roots go into it, which IEEE 754 rounds alike on every machine.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Rate {
    /// What was found.
    pub point: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Rate {
    /// The rate of `hits` in `trials`; of no trials nothing is known: 0, between 0 and 1. `hits` is at most `trials`.
    pub fn of(hits: u64, trials: u64) -> Rate {
        if trials == 0 {
            return Rate { point: 0.0, low: 0.0, high: 1.0 };
        }
        let (n, p) = (trials as f64, hits as f64 / trials as f64);
        let denominator = 1.0 + Z * Z / n;
        let centre = (p + Z * Z / (2.0 * n)) / denominator;
        let half = Z / denominator * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        // At the ends the exact value is 0 or 1, and rounding errors must not blur it.
        let low = if hits == 0 { 0.0 } else { centre - half };
        let high = if hits == trials { 1.0 } else { centre + half };
        Rate { point: rounded(p), low: rounded(low), high: rounded(high) }
    }
}

fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_agrees_with_the_closed_form() {
        // Computed apart from this code, from the closed form, for 0, 5 and 10 successes in 10.
        assert_eq!(Rate::of(0, 10), Rate { point: 0.0, low: 0.0, high: 0.277533 });
        assert_eq!(Rate::of(5, 10), Rate { point: 0.5, low: 0.236593, high: 0.763407 });
        assert_eq!(Rate::of(10, 10), Rate { point: 1.0, low: 0.722467, high: 1.0 });
    }

    #[test]
    fn no_trials_say_nothing() {
        assert_eq!(Rate::of(0, 0), Rate { point: 0.0, low: 0.0, high: 1.0 });
    }
}
