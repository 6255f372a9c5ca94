use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// State of a finding in a findings file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[derive(Serialize, Deserialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum FindingState {
    /// The last sweep or retest found the anomaly for the first time, or again after it had been
    /// marked as fixed on an earlier day.
    New,
    /// An earlier sweep had already found the anomaly.
    Known,
    /// The user accepted the anomaly, so it does not make a sweep fail.
    Accepted,
    /// The seeds that showed the anomaly no longer show it.
    Fixed,
}

impl FindingState {
    /// The most urgent state comes first.
    pub const ALL: [FindingState; 4] =
        [FindingState::New, FindingState::Known, FindingState::Accepted, FindingState::Fixed];

    pub fn name(self) -> &'static str {
        self.into()
    }
}
