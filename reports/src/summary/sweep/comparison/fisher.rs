//! Fisher's exact test for a difference between two rates.

#[derive(Clone, Copy, Debug)]
pub(crate) struct Hits {
    pub(crate) hits: u64,
    pub(crate) trials: u64,
}

/// Returns the two-sided p-value. Avoids logarithms, which machines may round differently.
pub(crate) fn p_value(one: Hits, other: Hits) -> f64 {
    let (trials, other_trials) = (one.trials, other.trials);
    let all = one.hits + other.hits;
    let tables = Tables { all, trials, other_trials };
    let (low, high) = (all.saturating_sub(other_trials), all.min(trials));
    let mode = likeliest(all, trials, other_trials).clamp(low, high);
    let mut weights = vec![(mode, 1.0)];
    let mut weight = 1.0;
    for x in mode..high {
        weight *= tables.ratio(x);
        if weight == 0.0 {
            break;
        }
        weights.push((x + 1, weight));
    }
    weight = 1.0;
    for x in (low..mode).rev() {
        weight /= tables.ratio(x);
        if weight == 0.0 {
            break;
        }
        weights.push((x, weight));
    }
    let own = weights.iter().find(|(x, _)| *x == one.hits).map_or(0.0, |(_, weight)| *weight);
    // Rounding may slightly raise the weight of a table that is as likely as the observed table.
    let bound = own * (1.0 + 1e-7);
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let extreme: f64 = weights.iter().map(|(_, weight)| weight).filter(|at| **at <= bound).sum();
    extreme / total
}

struct Tables {
    all: u64,
    trials: u64,
    other_trials: u64,
}

impl Tables {
    /// Returns P(`x + 1` hits on the first side) / P(`x` hits).
    fn ratio(&self, x: u64) -> f64 {
        let other = self.other_trials - (self.all - x);
        let more = (self.trials - x) as f64 * (self.all - x) as f64;
        more / ((x + 1) as f64 * (other + 1) as f64)
    }
}

/// Returns a mode of the hypergeometric distribution.
fn likeliest(all: u64, trials: u64, other_trials: u64) -> u64 {
    let product = u128::from(all + 1) * u128::from(trials + 1);
    (product / (u128::from(trials) + u128::from(other_trials) + 2)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(one: (u64, u64), other: (u64, u64), expected: f64) {
        let [one, other] = [one, other].map(|(hits, trials)| Hits { hits, trials });
        for p in [p_value(one, other), p_value(other, one)] {
            assert!((p - expected).abs() < 1e-9 + expected * 1e-6, "{one:?} {other:?}: {p}");
        }
    }

    #[test]
    fn agrees_with_tables_worked_out_by_hand() {
        check((3, 4), (1, 4), 34.0 / 70.0);
        check((0, 10_000), (0, 10), 1.0);
        // 4 of 4 against 0 of 4: 2 of the 70 possible arrangements are as extreme.
        check((4, 4), (0, 4), 2.0 / 70.0);
        // 8 of 10 against 1 of 6: (C(10,8) C(6,1) + C(10,9) + C(10,3) C(6,6)) / C(16,9).
        check((8, 10), (1, 6), (270.0 + 10.0 + 120.0) / 11_440.0);
    }

    #[test]
    fn equal_rates_do_not_differ() {
        check((5, 10), (5, 10), 1.0);
        check((0, 100), (0, 1_000), 1.0);
        check((100, 100), (7, 7), 1.0);
    }

    #[test]
    fn no_trials_say_nothing() {
        check((0, 0), (5, 10), 1.0);
        check((0, 0), (0, 0), 1.0);
    }

    #[test]
    fn a_million_runs_are_told_apart() {
        let of_a_million = |hits| Hits { hits, trials: 1_000_000 };
        let p = p_value(of_a_million(1_000), of_a_million(1_300));
        assert!(p > 0.0 && p < 1e-9, "{p}");
        assert_eq!(p_value(of_a_million(0), of_a_million(1_000_000)), 0.0);
    }
}
