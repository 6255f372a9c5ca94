//! What the file of a cause says of it.

use crate::explain::evidence::Case;
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;
use crate::record::history::{Change, What};
use fencepost_faults::{FaultKind, Impact, SimTime};

/// All of one cause, except when it is the cause: that is in the decision table.
pub(super) struct Entry {
    /// What it means, for somebody who meets the name for the first time.
    pub(super) meaning: Meaning,
    /// A run without any of these cannot have this cause. Empty if it needs no event of its own.
    pub(super) needs: &'static [Need],
    /// Whether no lock with a lease prevents it.
    pub(super) is_beyond_leases: bool,
    /// The sentence about two conflicting acquisitions; without one, what it means.
    pub(super) between: Option<fn(&Scene<'_, '_>) -> String>,
    /// The sentence about any other finding; without one, what it means.
    pub(super) alone: Option<fn(&Case<'_, '_>) -> String>,
    /// The number of a fault that decides whether it comes about.
    pub(super) measure: Option<Measure>,
}

impl Entry {
    /// A cause of which there is only what it means.
    pub(super) const fn new(meaning: Meaning) -> Entry {
        Entry {
            meaning,
            needs: &[],
            is_beyond_leases: false,
            between: None,
            alone: None,
            measure: None,
        }
    }
}

/// An event without which a cause cannot have acted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Need {
    /// A fault of this kind.
    Fault(FaultKind),
    /// A fault that does this.
    Impact(Impact),
    /// A server recorded this change of a key.
    Change(Change),
    /// A server died.
    DeadServer,
    /// A process died.
    DeadProcess,
    /// The application gave up a call.
    GivenUp,
}

impl Need {
    /// Whether it had happened by an instant.
    pub(super) fn is_met(self, case: &Case<'_, '_>, until: SimTime) -> bool {
        let mut events = case.timeline.history.events.iter();
        events.by_ref().take_while(|event| event.time_us <= until).any(|event| {
            match (self, &event.what) {
                (Need::Fault(wanted), What::FaultBegan { kind, .. }) => *kind == wanted,
                (Need::Impact(wanted), What::FaultBegan { kind, .. }) => kind.impact() == wanted,
                (Need::Change(wanted), What::Server { change, .. }) => *change == wanted,
                (Need::DeadServer, What::Crashed) => event.node.is_server(),
                (Need::DeadProcess, What::Crashed) => event.node.is_process(),
                (Need::GivenUp, What::GivenUp { .. }) => true,
                _ => false,
            }
        })
    }
}

/// The number of a fault that a cause is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    /// For how long a process stood still.
    Pause,
    /// By how much a clock was stepped.
    ClockStep,
    /// At which rate a clock ran.
    ClockRate,
    /// How late a message to the storage came.
    StorageDelay,
    /// How late an answer came.
    Latency,
    /// How late a replica got a write.
    ReplicationLag,
    /// For how long a server was away: the shorter, the worse.
    Absence,
}
