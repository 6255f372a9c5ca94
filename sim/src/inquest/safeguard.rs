//! The safeguards that the field recommends, each as a change to a run. Must never know whether
//! they help.

use super::minimal::with_scenario;
use crate::engine::Engine;
use crate::run::{Recording, RunSpec};
use crate::scenario::Persistence;
use crate::span::{Span, SpanRange};
use fencepost_clients::{Deployment, find};
use fencepost_faults::setting::Topology;
use fencepost_faults::{Fault, FaultPlan, Magnitude, Micros, Node, TimedFault, with_magnitude};
use fencepost_reports::StorageRule;

/// Something that is said to make a lock safe.
pub struct Safeguard {
    /// The name, as reports have it.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// The run with it; `None` where it changes nothing or does not exist.
    pub(super) with: fn(&RunSpec) -> Option<RunSpec>,
    /// For a safeguard that takes another lock: that lock without it, so that only the safeguard
    /// differs.
    pub(super) without: Option<fn(&RunSpec) -> RunSpec>,
}

/// Every safeguard, in the order in which reports list them.
pub const SAFEGUARDS: &[Safeguard] = &[
    Safeguard {
        name: "fencing",
        about: "the storage checks the fencing token of every read and write",
        with: fenced_storage,
        without: None,
    },
    Safeguard {
        name: "fencing",
        about: "a lock that gives fencing tokens, and a storage that checks them",
        with: fencing_client,
        without: Some(|spec| {
            with_scenario(spec, |scenario| scenario.storage = StorageRule::Unchecked)
        }),
    },
    Safeguard {
        name: "delayed-restart",
        about: "a server that died stays away for longer than the ttl",
        with: delayed_restart,
        without: None,
    },
    Safeguard {
        name: "min-replicas-to-write 1",
        about: "the primary refuses writes unless a replica has lately acknowledged",
        with: min_replicas,
        without: None,
    },
    Safeguard {
        name: "WAIT 1",
        about: "after a grant the client waits until a replica has it, and else gives the lock up",
        with: wait_for_a_replica,
        without: None,
    },
    Safeguard {
        name: "appendfsync everysec",
        about: "an append-only file, synced every second",
        with: |spec| persistence(spec, Persistence::AofEverysec),
        without: None,
    },
    Safeguard {
        name: "appendfsync always",
        about: "an append-only file, synced before every answer",
        with: |spec| persistence(spec, Persistence::AofAlways),
        without: None,
    },
    Safeguard {
        name: "longer-lease",
        about: "a ttl four times as long",
        with: longer_lease,
        without: None,
    },
    Safeguard {
        name: "monotonic-clock",
        about: "expiry by a clock that is never stepped, and one that goes on while the machine \
         is suspended",
        with: monotonic_clock,
        without: None,
    },
    Safeguard {
        name: "watchdog",
        about: "a task in the holder's process that renews the lease",
        with: watchdog,
        without: None,
    },
    Safeguard {
        name: "random-retry-delay",
        about: "a random delay between two attempts, where it was always the same",
        with: random_retry,
        without: None,
    },
];

fn fenced_storage(spec: &RunSpec) -> Option<RunSpec> {
    let helps = spec.client.has_tokens && spec.scenario.storage != StorageRule::Fenced;
    helps.then(|| with_scenario(spec, |scenario| scenario.storage = StorageRule::Fenced))
}

/// A quorum lock has no counter that could give out tokens.
fn fencing_client(spec: &RunSpec) -> Option<RunSpec> {
    let helps = !spec.client.has_tokens && spec.client.deployment == Deployment::Primary;
    let client = find("fencing").filter(|_| helps)?;
    let fenced = with_scenario(spec, |scenario| scenario.storage = StorageRule::Fenced);
    Some(RunSpec { client, ..fenced })
}

fn delayed_restart(spec: &RunSpec) -> Option<RunSpec> {
    let ttl = spec.scenario.ttl.0;
    let beyond = ttl + Micros(ttl.as_micros() / 10);
    changed(spec, |fault| match fault {
        Fault::Crash { node: Node::Redis(_), down_us: Some(down) }
        | Fault::PowerLoss { node: Node::Redis(_), down_us: Some(down) }
            if *down < beyond =>
        {
            *down = beyond;
            true
        }
        _ => false,
    })
}

fn min_replicas(spec: &RunSpec) -> Option<RunSpec> {
    let replicated = matches!(spec.topology(), Topology::Replicated { replicas: 1.., .. });
    let helps = replicated && spec.scenario.min_replicas == 0;
    helps.then(|| with_scenario(spec, |scenario| scenario.min_replicas = 1))
}

/// Only some locks can wait: whether this one does shows on the wire.
fn wait_for_a_replica(spec: &RunSpec) -> Option<RunSpec> {
    let replicated = matches!(spec.topology(), Topology::Replicated { replicas: 1.., .. });
    if !replicated || spec.scenario.wait_replicas > 0 {
        return None;
    }
    let guarded = with_scenario(spec, |scenario| scenario.wait_replicas = 1);
    guarded.scenario.validate().ok()?;
    let trace = guarded.run_recording(Engine::Fast, Recording::Wire).ok()?.trace?;
    trace.messages.iter().any(|message| message.label.starts_with("WAIT ")).then_some(guarded)
}

fn persistence(spec: &RunSpec, persistence: Persistence) -> Option<RunSpec> {
    let rank = |persistence| match persistence {
        Persistence::None => 0,
        Persistence::Rdb => 1,
        Persistence::AofEverysec => 2,
        Persistence::AofAlways => 3,
    };
    let dies = |timed: &TimedFault| {
        let kills = matches!(timed.fault, Fault::Crash { .. } | Fault::PowerLoss { .. });
        kills && timed.fault.nodes().iter().any(|node| matches!(node, Node::Redis(_)))
    };
    let helps =
        rank(spec.scenario.persistence) < rank(persistence) && spec.plan.faults.iter().any(dies);
    helps.then(|| with_scenario(spec, |scenario| scenario.persistence = persistence))
}

fn longer_lease(spec: &RunSpec) -> Option<RunSpec> {
    Some(with_scenario(spec, |scenario| {
        scenario.ttl = Span(Micros(scenario.ttl.0.as_micros() * 4))
    }))
}

/// Redis expires keys by the wall clock. By a monotonic one, a step is as if it had not been.
fn monotonic_clock(spec: &RunSpec) -> Option<RunSpec> {
    changed(spec, |fault| match fault.clone() {
        Fault::Suspend { node, duration_us } => {
            *fault = Fault::Pause { node, duration_us };
            true
        }
        Fault::ClockJump { node: Node::Redis(_), offset_us: 1.. } => {
            *fault = with_magnitude(fault, Magnitude::OffsetUs, 0);
            true
        }
        _ => false,
    })
}

fn watchdog(spec: &RunSpec) -> Option<RunSpec> {
    let client = find("watchdog").filter(|_| spec.client.name == "single-node")?;
    Some(RunSpec { client, ..spec.clone() })
}

/// Half as long up to half as long again.
fn random_retry(spec: &RunSpec) -> Option<RunSpec> {
    let SpanRange { min, max } = spec.scenario.retry;
    let part = |halves: u64| Span(Micros(min.0.as_micros() * halves / 2));
    (min == max)
        .then(|| with_scenario(spec, |scenario| scenario.retry = SpanRange::new(part(1), part(3))))
}

/// The run with some faults of its plan changed; `None` if none was.
fn changed(spec: &RunSpec, mut change: impl FnMut(&mut Fault) -> bool) -> Option<RunSpec> {
    let mut faults = spec.plan.faults.clone();
    let count =
        faults.iter_mut().map(|timed| change(&mut timed.fault)).filter(|changed| *changed).count();
    (count > 0).then(|| RunSpec { plan: FaultPlan::new(faults), ..spec.clone() })
}
