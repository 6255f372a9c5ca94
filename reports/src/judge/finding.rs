//! The findings of checkers.

use fencepost_faults::{Micros, Node, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};

/// Every rule, with its severity.
macro_rules! kinds {
    ($($(#[$doc:meta])* $member:ident = $severity:ident,)*) => {
        /// The rule that was broken.
        #[derive(
            Clone,
            Copy,
            PartialEq,
            Eq,
            PartialOrd,
            Ord,
            Debug,
            Serialize,
            Deserialize,
            JsonSchema,
            Display,
            IntoStaticStr,
            VariantArray,
        )]
        #[serde(rename_all = "kebab-case")]
        #[strum(serialize_all = "kebab-case")]
        pub enum Kind {
            $($(#[$doc])* $member,)*
        }

        impl Kind {
            /// Damage at the storage and loss of progress are harms; a broken promise without
            /// damage yet is a hazard.
            pub fn severity(self) -> Severity {
                match self {
                    $(Kind::$member => Severity::$severity,)*
                }
            }
        }
    };
}

kinds! {
    /// Two processes were in their critical sections at one true instant.
    Overlap = Hazard,
    /// The storage accepted a write of an earlier acquisition after a request of a later one.
    StaleWrite = Harm,
    /// A read-modify-write landed on a value other than the one it had read.
    LostUpdate = Harm,
    /// More was sold than there was.
    Oversold = Harm,
    /// One number was issued twice.
    DuplicateNumber = Harm,
    /// A number was issued that is lower than one issued before.
    NumberRegression = Harm,
    /// A job was done a second time.
    RepeatedJob = Harm,
    /// Fencing tokens did not grow in the order in which the servers granted the lock.
    TokenRegression = Hazard,
    /// A lease that promises a fencing token came without one.
    TokenMissing = Hazard,
    /// Long after healing, the storage still rejects the rightful holder.
    FencedOut = Harm,
    /// A process removed a lock that was another's.
    ForeignRelease = Hazard,
    /// A lock told its caller for certain what is not so.
    WrongAnswer = Hazard,
    /// Nobody holds the lock and nobody gets it.
    Stuck = Harm,
    /// Somebody waits, nobody is in its section, and nothing lies ahead that could wake a process.
    Deadlock = Harm,
    /// A process that waits is not served: it sleeps on a free lock, or one that asked later gets a
    /// fair lock before it.
    Starved = Harm,
    /// A live holder keeps the lock beyond the stated bound.
    HeldForever = Hazard,
    /// The lock is free and wanted, enough servers run, and nobody gets it within the stated bound.
    Unavailable = Hazard,
}

impl Kind {
    /// The key of the scenario with the bound of this rule, if it has one: without the bound no run
    /// is judged by it.
    pub fn bound_key(self) -> Option<&'static str> {
        match self {
            Kind::HeldForever => Some("held-bound"),
            Kind::Unavailable => Some("availability"),
            _ => None,
        }
    }
}

/// How bad it is.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Debug,
    Serialize,
    Deserialize,
    JsonSchema,
    Display,
    IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Severity {
    /// The lock's promise was broken; what it guards may have been lucky.
    Hazard,
    /// What the lock guards was damaged, or nobody can work any more.
    Harm,
}

/// A violation found by a checker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The rule that was broken.
    pub kind: Kind,
    /// Its start.
    pub at: SimTime,
    /// Its duration; zero if it is instantaneous.
    pub duration: Micros,
    /// The processes involved, the earlier holder first.
    pub processes: Vec<Node>,
    /// One sentence that states the fact, without a cause.
    pub what: String,
    /// The evidence: events as indices into the history, ascending.
    pub witness: Vec<usize>,
    /// The conflicting acquisitions, if there were two.
    pub clash: Option<Clash>,
}

/// Two conflicting acquisitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clash {
    /// The one that was granted earlier, as an index into the timeline's acquisitions.
    pub earlier: usize,
    /// The one that was granted later.
    pub later: usize,
    /// For a harm: the late write of the earlier one, as an index into the history.
    pub late_write: Option<usize>,
}

impl Kind {
    /// Every kind, in the order in which reports list them.
    pub const ALL: &'static [Kind] = Kind::VARIANTS;

    /// The name, as in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Severity {
    /// The name, as in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
