use super::minimal::with_scenario;
use crate::engine::Engine;
use crate::run::{Recording, RunSpec};
use crate::setup::scenario::{Persistence, Standby};
use crate::setup::span::{Span, SpanRange};
use fencepost_clients::{Deployment, find};
use fencepost_faults::setting::Topology;
use fencepost_faults::{
    Fault, FaultPlan, Magnitude, Micros, Node, SimTime, TimedFault, with_magnitude,
};
use fencepost_reports::StorageRule;
use std::collections::BTreeMap;

pub struct Safeguard {
    pub name: &'static str,
    pub fits: fn(&RunSpec) -> bool,
    pub with: fn(&RunSpec) -> RunSpec,
    /// Returns the setting for a run with the safeguard, such as `40s` or `client=fencing`.
    pub setting: fn(&RunSpec) -> String,
}

impl Safeguard {
    pub fn on(&self, spec: &RunSpec) -> Option<RunSpec> {
        (self.fits)(spec).then(|| (self.with)(spec))
    }

    pub fn parameter(&self, guarded: &RunSpec) -> String {
        (self.setting)(guarded)
    }
}

macro_rules! other_lock {
    ($name:literal, $from:literal => $to:literal) => {
        Safeguard {
            name: $name,
            fits: |spec| spec.client.name == $from,
            with: |spec| another_lock(spec, $to),
            setting: |_| concat!("client=", $to).to_owned(),
        }
    };
}

/// Replaces a lock without fencing tokens with one that has them, and makes the storage check them.
macro_rules! fenced {
    ($deployment:pat $(, except $lock:literal)? => $to:literal) => {
        Safeguard {
            name: "fencing",
            fits: |spec| {
                !spec.client.has_tokens
                    && matches!(spec.client.deployment, $deployment)
                    $(&& spec.client.name != $lock)?
            },
            with: |spec| another_lock(&fenced_storage(spec), $to),
            setting: |_| concat!("client=", $to).to_owned(),
        }
    };
}

pub const SAFEGUARDS: &[Safeguard] = &[
    Safeguard {
        name: "fencing",
        fits: |spec| spec.client.has_tokens && spec.scenario.storage != StorageRule::Fenced,
        with: fenced_storage,
        setting: |_| "storage=fenced".to_owned(),
    },
    // Independent masters have no common counter for tokens.
    fenced!(Deployment::Primary => "fencing"),
    // The tokens are cas ids.
    fenced!(Deployment::Memcached => "memcached-cas"),
    // The tokens are zxids.
    fenced!(Deployment::ZooKeeper => "curator-fencing"),
    // The tokens are create revisions.
    fenced!(Deployment::Etcd(_) => "etcd-mutex-fencing"),
    // `chubby-sequencer` would add the lock-delay that `chubby-no-delay` omits.
    fenced!(Deployment::Chubby, except "chubby-no-delay" => "chubby-sequencer"),
    // The tokens are a counter in the lock's region. `gemfire-token` would remove the lease.
    fenced!(Deployment::GemFire(_), except "gemfire-lease" => "gemfire-token"),
    // `chubby` has a lock-delay of a minute.
    other_lock!("lock-delay", "chubby-no-delay" => "chubby"),
    // `chubby-checked` also checks its sequencer before each write.
    other_lock!("leave-in-jeopardy", "chubby-no-delay" => "chubby-checked"),
    other_lock!("leave-when-done", "etcd-mutex" => "etcd-mutex-done"),
    other_lock!("etcd-3.5", "etcd-lock-api" => "etcd-lock-api-fixed"),
    other_lock!("look-for-the-key", "etcd-mutex-unchecked" => "etcd-mutex"),
    other_lock!("leave-when-suspended", "curator-mutex" => "curator-suspended"),
    other_lock!("protection", "curator-unprotected" => "curator-mutex"),
    // Curator ignores nodes of earlier sessions since 4.3.0.
    other_lock!("same-session", "curator-any-session" => "curator-mutex"),
    // Curator repeats the release in the background.
    other_lock!("guaranteed-delete", "curator-unguaranteed" => "curator-mutex"),
    other_lock!("protection-and-guaranteed-delete", "zookeeper-naive" => "curator-mutex"),
    other_lock!("protection-and-guaranteed-delete", "zookeeper-herd" => "curator-mutex"),
    other_lock!("watches-set-again", "zookeeper-lost-watch" => "zookeeper-naive"),
    other_lock!("database-time", "shedlock-jdbc" => "shedlock-db-time"),
    other_lock!("client-id", "jdbc-5-app-id" => "jdbc-5"),
    Safeguard {
        name: "delayed-restart",
        fits: |spec| spec.plan.faults.iter().any(|timed| returns_within(spec, &timed.fault)),
        with: delayed_restart,
        setting: |spec| beyond_the_lease(spec).to_string(),
    },
    Safeguard {
        name: "min-replicas-to-write",
        fits: |spec| has_replicas(spec) && spec.scenario.servers.min_replicas == 0,
        with: |spec| with_scenario(spec, |scenario| scenario.servers.min_replicas = 1),
        setting: |_| "1".to_owned(),
    },
    Safeguard {
        // The client releases a lock that no replica acknowledges.
        name: "WAIT",
        fits: can_wait,
        with: |spec| with_scenario(spec, |scenario| scenario.servers.wait_replicas = 1),
        setting: |_| "1".to_owned(),
    },
    Safeguard {
        name: "synchronous-standby",
        fits: has_asynchronous_standby,
        with: |spec| with_scenario(spec, |one| one.servers.standby = Some(Standby::Synchronous)),
        setting: |_| "standby=synchronous".to_owned(),
    },
    Safeguard {
        name: "appendfsync",
        fits: |spec| persists_less(spec, Persistence::AofEverysec),
        with: |spec| persistence(spec, Persistence::AofEverysec),
        setting: |_| "everysec".to_owned(),
    },
    Safeguard {
        name: "appendfsync",
        fits: |spec| persists_less(spec, Persistence::AofAlways),
        with: |spec| persistence(spec, Persistence::AofAlways),
        setting: |_| "always".to_owned(),
    },
    Safeguard {
        name: "lease",
        fits: |_| true,
        with: longer_lease,
        setting: |spec| spec.scenario.ttl.to_string(),
    },
    Safeguard {
        name: "monotonic-clock",
        fits: |spec| spec.plan.faults.iter().any(|timed| by_monotonic(&timed.fault).is_some()),
        with: |spec| changed(spec, by_monotonic),
        setting: |_| "CLOCK_BOOTTIME".to_owned(),
    },
    other_lock!("watchdog", "single-node" => "watchdog"),
    Safeguard {
        name: "random-retry-delay",
        fits: |spec| spec.scenario.calls.retry.min == spec.scenario.calls.retry.max,
        with: random_retry,
        setting: |spec| spec.scenario.calls.retry.to_string(),
    },
];

fn fenced_storage(spec: &RunSpec) -> RunSpec {
    with_scenario(spec, |scenario| scenario.storage = StorageRule::Fenced)
}

fn another_lock(spec: &RunSpec, name: &str) -> RunSpec {
    RunSpec { client: find(name).unwrap_or(spec.client), ..spec.clone() }
}

fn beyond_the_lease(spec: &RunSpec) -> Micros {
    let ttl = spec.scenario.ttl.0;
    ttl + Micros(ttl.as_micros() / 10)
}

fn returns_within(spec: &RunSpec, fault: &Fault) -> bool {
    matches!(
        fault,
        Fault::Crash { node, down_us: Some(down) }
        | Fault::PowerLoss { node, down_us: Some(down) }
            if node.is_server() && *down < beyond_the_lease(spec)
    )
}

fn delayed_restart(spec: &RunSpec) -> RunSpec {
    let mut delayed = with_longer_absences(spec);
    let mut back: BTreeMap<Node, SimTime> = BTreeMap::new();
    delayed.plan.faults.retain(|timed| match &timed.fault {
        Fault::Crash { node, down_us } | Fault::PowerLoss { node, down_us } => {
            let is_away = back.get(node).is_some_and(|back| timed.at_us <= *back);
            if !is_away {
                let never = SimTime(u64::MAX);
                back.insert(*node, down_us.map_or(never, |down| timed.at_us + down));
            }
            !is_away
        }
        _ => true,
    });
    delayed
}

fn with_longer_absences(spec: &RunSpec) -> RunSpec {
    changed(spec, |fault| {
        returns_within(spec, fault).then(|| {
            let mut later = fault.clone();
            if let Fault::Crash { down_us, .. } | Fault::PowerLoss { down_us, .. } = &mut later {
                *down_us = Some(beyond_the_lease(spec));
            }
            later
        })
    })
}

fn has_replicas(spec: &RunSpec) -> bool {
    matches!(spec.topology(), Topology::Replicated { replicas: 1.., .. })
}

fn has_asynchronous_standby(spec: &RunSpec) -> bool {
    matches!(spec.topology(), Topology::Standby { .. })
        && spec.scenario.servers.standby != Some(Standby::Synchronous)
}

fn can_wait(spec: &RunSpec) -> bool {
    if !has_replicas(spec) || spec.scenario.servers.wait_replicas > 0 {
        return false;
    }
    let guarded = with_scenario(spec, |scenario| scenario.servers.wait_replicas = 1);
    let trace = guarded
        .scenario
        .validate()
        .ok()
        .and_then(|()| guarded.run_recording(Engine::Fast, Recording::Wire).ok()?.trace);
    trace.is_some_and(|trace| {
        trace.messages.iter().any(|message| message.label.starts_with("WAIT "))
    })
}

fn persists_less(spec: &RunSpec, than: Persistence) -> bool {
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
    rank(spec.scenario.servers.persistence) < rank(than) && spec.plan.faults.iter().any(dies)
}

fn persistence(spec: &RunSpec, persistence: Persistence) -> RunSpec {
    with_scenario(spec, |scenario| scenario.servers.persistence = persistence)
}

fn longer_lease(spec: &RunSpec) -> RunSpec {
    with_scenario(spec, |scenario| {
        scenario.ttl = Span(Micros(scenario.ttl.0.as_micros() * 4));
    })
}

/// Returns the fault that has the effect of `fault` with monotonic expiry; `None` if unchanged.
fn by_monotonic(fault: &Fault) -> Option<Fault> {
    match fault.clone() {
        Fault::Suspend { node, duration_us } => Some(Fault::Pause { node, duration_us }),
        Fault::ClockJump { node: Node::Redis(_), offset_us: 1.. } => {
            Some(with_magnitude(fault, Magnitude::OffsetUs, 0))
        }
        _ => None,
    }
}

fn random_retry(spec: &RunSpec) -> RunSpec {
    let SpanRange { min, .. } = spec.scenario.calls.retry;
    let part = |halves: u64| Span(Micros(min.0.as_micros() * halves / 2));
    with_scenario(spec, |scenario| scenario.calls.retry = SpanRange::new(part(1), part(3)))
}

fn changed(spec: &RunSpec, change: impl Fn(&Fault) -> Option<Fault>) -> RunSpec {
    let mut faults = spec.plan.faults.clone();
    for timed in &mut faults {
        if let Some(other) = change(&timed.fault) {
            timed.fault = other;
        }
    }
    RunSpec { plan: FaultPlan::new(faults), ..spec.clone() }
}
