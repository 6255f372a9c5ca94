use crate::explain::evidence::Case;
use crate::explain::scene::Scene;
use crate::record::history::{Change, What};
use fencepost_faults::{FaultKind, Impact, SimTime};

pub(super) struct Entry {
    pub(super) how: &'static str,
    pub(super) helps: &'static str,
    pub(super) needs: &'static [Need],
    pub(super) is_beyond_leases: bool,
    /// `true` if the cause needs a failover to another server.
    pub(super) is_of_failover: bool,
    pub(super) is_long_work: bool,
    /// `true` if the lock's own code is at fault.
    pub(super) is_of_lock_code: bool,
    pub(super) tells: Tells,
    /// `between` returns the sentence for a finding with a clash, `alone` for any other finding. If
    /// the sentence is missing or empty, the report uses `Cause::what`.
    pub(super) between: Option<fn(&Scene<'_, '_>) -> String>,
    pub(super) alone: Option<fn(&Case<'_, '_>) -> String>,
    pub(super) measure: Option<Measure>,
}

impl Entry {
    /// Defaults that fit most causes. Each cause sets its own `how` and `helps`.
    pub(super) const PLAIN: Entry = Entry {
        how: "",
        helps: "",
        needs: &[],
        is_beyond_leases: false,
        is_of_failover: false,
        is_long_work: false,
        is_of_lock_code: false,
        tells: Tells::Usual,
        between: None,
        alone: None,
        measure: None,
    };
}

/// The steps that a narrative describes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tells {
    Usual,
    /// The attempt in which the remover removed another process's lock, instead of the usual steps.
    Takeover,
    /// The usual steps, and the crashes that broke the connections of waiting processes.
    BrokenConnections,
    /// The usual steps, and the faults that may have lost a watch.
    LostWatch,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Need {
    Fault(FaultKind),
    Impact(Impact),
    Change(Change),
    DeadServer,
    DeadProcess,
    GivenUp,
}

impl Need {
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

/// The magnitude of a fault on which a cause depends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    Pause,
    ClockStep,
    ClockRate,
    StorageDelay,
    /// The delay of a server's reply.
    Latency,
    ReplicationLag,
    /// The downtime of a server. A shorter downtime is worse for the lock.
    Absence,
}
