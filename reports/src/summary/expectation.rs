//! What was expected of a run or of a cell, and where it came out otherwise.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was expected, and where it came out otherwise.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Expectation {
    /// What was expected, in words.
    pub expected: String,
    /// Each deviation, in words; empty if all came out as expected.
    pub deviations: Vec<String>,
}

impl Expectation {
    /// What is said of a client under a fault of which nothing is written down.
    pub fn missing() -> Expectation {
        let expected = "an entry in the expectations file".to_owned();
        Expectation { expected, deviations: vec!["none".to_owned()] }
    }

    /// Whether all came out as expected.
    pub fn is_met(&self) -> bool {
        self.deviations.is_empty()
    }
}
