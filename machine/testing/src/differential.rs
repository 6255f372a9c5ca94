//! Random comparisons with real servers, drawn by proptest.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseResult, TestRng, TestRunner};
use std::fmt::Display;
use std::str::FromStr;

/// Reads a number from the environment, if it is set. Panics if the value is not an `N`.
#[must_use]
pub fn number<N: FromStr<Err: Display>>(name: &str) -> Option<N> {
    let value = std::env::var_os(name)?;
    let value = value.to_string_lossy();
    Some(value.parse().unwrap_or_else(|error| panic!("{name}={value}: {error}")))
}

/// Checks values that a strategy draws, and panics with the smallest failing value that it finds.
/// In the environment, `FENCEPOST_DIFFERENTIAL_CASES` and `FENCEPOST_DIFFERENTIAL_SEED` override
/// `cases` and the seed (by default 0, at most 255).
pub fn differential<S: Strategy>(
    cases: u32,
    shrink_max: u32,
    strategy: &S,
    check: impl Fn(S::Value) -> TestCaseResult,
) {
    let cases = number("FENCEPOST_DIFFERENTIAL_CASES").unwrap_or(cases);
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: shrink_max,
        ..Config::default()
    };
    let seed = number("FENCEPOST_DIFFERENTIAL_SEED").unwrap_or(0);
    if let Err(failure) = runner(config, seed).run(strategy, check) {
        panic!("{failure}");
    }
}

/// Draws `count` values of a strategy with a seed.
pub fn drawn<S: Strategy>(count: u32, seed: u8, strategy: &S) -> Vec<S::Value> {
    let mut runner = runner(Config::default(), seed);
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

fn runner(config: Config, seed: u8) -> TestRunner {
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]))
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn a_variable_that_is_not_set_is_no_number() {
        assert_eq!(number::<u8>("FENCEPOST_THAT_NOBODY_SETS"), None);
    }

    #[test]
    #[should_panic(expected = "PATH=")]
    fn rejects_a_variable_that_is_set_to_something_else() {
        let _ = number::<u8>("PATH");
    }
}
