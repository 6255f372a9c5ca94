use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Critical sections in which a process acquires and releases a re-entrant lock a second time,
/// halfway through. In most libraries the nested acquire renews the lease, so overly long critical
/// sections go unnoticed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[derive(Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "kebab-case")]
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
    /// In reports without this key, all critical sections are nested.
    pub(super) fn unsaid() -> Nesting {
        Nesting::Always
    }

    pub(super) fn is_unsaid(&self) -> bool {
        *self == Nesting::unsaid()
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Nesting::Drawn => "drawn",
            Nesting::Always => "always",
            Nesting::Never => "never",
        }
    }
}
