//! The expected result of a run or cell, and how the actual result deviates, as [`Expectation`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The expected results and the deviations from them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Expectation {
    /// The expected results, in words.
    pub expected: String,
    /// The deviations from the expected results, in words; empty if there are none.
    pub deviations: Vec<String>,
}

impl Expectation {
    /// Returns the expectation for a lock and fault without an entry in the expectations file. It
    /// is never met.
    pub fn missing() -> Expectation {
        let expected = "an entry in the expectations file".to_owned();
        Expectation { expected, deviations: vec!["none".to_owned()] }
    }

    /// Returns whether the result is as expected.
    pub fn is_met(&self) -> bool {
        self.deviations.is_empty()
    }
}
