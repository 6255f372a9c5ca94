//! The findings of checkers.

use fencepost_faults::{Micros, Node, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};

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
            /// Damage at the storage and loss of progress are harms. A broken promise without
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
    /// Two processes were in their critical sections at the same time.
    Overlap = Hazard,
    /// The storage accepted a write of an earlier holder after a request of a later one.
    StaleWrite = Harm,
    /// A read-modify-write overwrote a value other than the one it had read.
    LostUpdate = Harm,
    /// More was sold than was in stock.
    Oversold = Harm,
    /// A number was issued twice.
    DuplicateNumber = Harm,
    /// A number was issued that is lower than an earlier one.
    NumberRegression = Harm,
    /// A job was done a second time.
    RepeatedJob = Harm,
    /// Fencing tokens did not increase in the order of the grants.
    TokenRegression = Hazard,
    /// A lease that promises a fencing token came without one.
    TokenMissing = Hazard,
    /// Long after all faults had healed, the storage still rejected the rightful holder.
    FencedOut = Harm,
    /// A process removed a lock that another process had been granted.
    ForeignRelease = Hazard,
    /// A lock gave its caller a definite answer that is false.
    WrongAnswer = Hazard,
    /// No process holds the lock and no process can acquire it; or several processes hold a lock
    /// each and wait for each other's.
    Stuck = Harm,
    /// Processes wait, none is in its critical section, and no pending event can wake one.
    Deadlock = Harm,
    /// A waiting process is not served: it sleeps while the lock is free, or a process that asked
    /// later gets a fair lock first.
    Starved = Harm,
    /// A live holder keeps the lock for longer than the given bound.
    HeldForever = Hazard,
    /// The lock is free, a process wants it and enough servers run, but no process gets it within
    /// the given bound.
    Unavailable = Hazard,
}

impl Kind {
    /// Returns whether two critical sections at the same time, or a write after a later holder's
    /// request, break this rule.
    pub fn is_about_clash(self) -> bool {
        match self {
            Kind::Overlap
            | Kind::StaleWrite
            | Kind::LostUpdate
            | Kind::Oversold
            | Kind::DuplicateNumber
            | Kind::NumberRegression
            | Kind::RepeatedJob => true,
            Kind::TokenRegression
            | Kind::TokenMissing
            | Kind::FencedOut
            | Kind::ForeignRelease
            | Kind::WrongAnswer
            | Kind::Stuck
            | Kind::Deadlock
            | Kind::Starved
            | Kind::HeldForever
            | Kind::Unavailable => false,
        }
    }

    /// Returns whether servers that do not answer can break this rule without the lock.
    pub(crate) fn is_lack_of_progress(self) -> bool {
        matches!(self, Kind::Stuck | Kind::Deadlock | Kind::Starved | Kind::Unavailable)
    }

    /// The scenario key with the bound of this rule, if it has one. The judge skips this rule if
    /// the bound is not set.
    pub fn bound_key(self) -> Option<&'static str> {
        match self {
            Kind::HeldForever => Some("held-bound"),
            Kind::Unavailable => Some("availability"),
            _ => None,
        }
    }
}

/// The severity of a violation.
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
    /// The lock's promise was broken, but without damage yet.
    Hazard,
    /// The guarded data was damaged, or no process can make progress any more.
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
