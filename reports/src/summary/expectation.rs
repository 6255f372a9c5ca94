use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Expected results and the deviations from them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Expectation {
    /// Expected results, in words.
    pub expected: String,
    /// Deviations from the expected results, in words; empty if there are none.
    pub deviations: Vec<String>,
    /// Fingerprints of the anomalies that are not expected; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unexpected: Vec<String>,
}

impl Expectation {
    pub fn missing() -> Expectation {
        let expected = "an entry in the expectations file".to_owned();
        Expectation { expected, deviations: vec!["none".to_owned()], unexpected: Vec::new() }
    }

    pub fn is_met(&self) -> bool {
        self.deviations.is_empty()
    }
}
