use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// Critical sections in which a process acquires and releases a re-entrant lock a second time,
/// halfway through. A nested acquire that renews the lease hides overly long critical sections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[derive(Serialize, Deserialize, JsonSchema, ValueEnum, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Nesting {
    /// About half of the critical sections, drawn at random.
    #[default]
    Drawn,
    /// All critical sections.
    Always,
    /// No critical section.
    Never,
}

impl Nesting {
    pub(super) fn unsaid() -> Nesting {
        Nesting::Always
    }

    pub(super) fn is_unsaid(&self) -> bool {
        *self == Nesting::unsaid()
    }

    pub(crate) fn name(self) -> &'static str {
        self.into()
    }
}
