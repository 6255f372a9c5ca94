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
    pub about: &'static str,
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
    ($name:literal, $from:literal => $to:literal, $about:literal) => {
        Safeguard {
            name: $name,
            about: $about,
            fits: |spec| spec.client.name == $from,
            with: |spec| another_lock(spec, $to),
            setting: |_| concat!("client=", $to).to_owned(),
        }
    };
}

pub const SAFEGUARDS: &[Safeguard] = &[
    Safeguard {
        name: "fencing",
        about: "a storage that checks the fencing token of every read and write",
        fits: |spec| spec.client.has_tokens && spec.scenario.storage != StorageRule::Fenced,
        with: fenced_storage,
        setting: |_| "storage=fenced".to_owned(),
    },
    Safeguard {
        name: "fencing",
        about: "a lock with fencing tokens, and a storage that checks them",
        // Independent masters have no common counter for tokens.
        fits: |spec| !spec.client.has_tokens && spec.client.deployment == Deployment::Primary,
        with: |spec| another_lock(&fenced_storage(spec), "fencing"),
        setting: |_| "client=fencing".to_owned(),
    },
    Safeguard {
        name: "fencing",
        about: "a lock whose cas ids are fencing tokens, and a storage that checks them",
        fits: |spec| !spec.client.has_tokens && spec.client.deployment == Deployment::Memcached,
        with: |spec| another_lock(&fenced_storage(spec), "memcached-cas"),
        setting: |_| "client=memcached-cas".to_owned(),
    },
    Safeguard {
        name: "fencing",
        about: "a lock whose zxids are fencing tokens, and a storage that checks them",
        fits: |spec| !spec.client.has_tokens && spec.client.deployment == Deployment::ZooKeeper,
        with: |spec| another_lock(&fenced_storage(spec), "curator-fencing"),
        setting: |_| "client=curator-fencing".to_owned(),
    },
    Safeguard {
        name: "fencing",
        about: "a lock whose create revisions are fencing tokens, and a storage that checks them",
        fits: |spec| {
            !spec.client.has_tokens && matches!(spec.client.deployment, Deployment::Etcd(_))
        },
        with: |spec| another_lock(&fenced_storage(spec), "etcd-mutex-fencing"),
        setting: |_| "client=etcd-mutex-fencing".to_owned(),
    },
    Safeguard {
        name: "fencing",
        about: "a lock whose sequencers are fencing tokens, and a storage that checks them",
        // `chubby-sequencer` would add the lock-delay that `chubby-no-delay` omits.
        fits: |spec| {
            !spec.client.has_tokens
                && spec.client.deployment == Deployment::Chubby
                && spec.client.name != "chubby-no-delay"
        },
        with: |spec| another_lock(&fenced_storage(spec), "chubby-sequencer"),
        setting: |_| "client=chubby-sequencer".to_owned(),
    },
    Safeguard {
        name: "fencing",
        about: "a lock with a counter in its region as fencing token, and a storage that checks it",
        fits: |spec| {
            !spec.client.has_tokens
                && matches!(spec.client.deployment, Deployment::GemFire(_))
                // `gemfire-token` would remove the lease.
                && spec.client.name != "gemfire-lease"
        },
        with: |spec| another_lock(&fenced_storage(spec), "gemfire-token"),
        setting: |_| "client=gemfire-token".to_owned(),
    },
    other_lock!(
        "lock-delay",
        "chubby-no-delay" => "chubby",
        "a lock-delay of a minute before a failed holder's lock is granted again"
    ),
    other_lock!(
        "leave-in-jeopardy",
        "chubby-no-delay" => "chubby-checked",
        "a holder that leaves its critical section when its session is in jeopardy and checks its \
         sequencer before writing"
    ),
    other_lock!(
        "leave-when-done",
        "etcd-mutex" => "etcd-mutex-done",
        "a holder that leaves its critical section when its session ends"
    ),
    other_lock!(
        "etcd-3.5",
        "etcd-lock-api" => "etcd-lock-api-fixed",
        "servers that check the caller's key before they grant the lock (etcd 3.5.0)"
    ),
    other_lock!(
        "look-for-the-key",
        "etcd-mutex-unchecked" => "etcd-mutex",
        "a mutex that checks its own key after waiting (etcd 3.5.0)"
    ),
    other_lock!(
        "leave-when-suspended",
        "curator-mutex" => "curator-suspended",
        "a holder that leaves its critical section when its connection is suspended or lost"
    ),
    other_lock!(
        "protection",
        "curator-unprotected" => "curator-mutex",
        "a client that finds its node by the GUID in its name if the reply to the create is lost"
    ),
    other_lock!(
        "same-session",
        "curator-any-session" => "curator-mutex",
        "a lookup that ignores nodes of earlier sessions (Curator 4.3.0)"
    ),
    other_lock!(
        "guaranteed-delete",
        "curator-unguaranteed" => "curator-mutex",
        "a release that is retried in the background until a server has confirmed it"
    ),
    other_lock!(
        "protection-and-guaranteed-delete",
        "zookeeper-naive" => "curator-mutex",
        "a client that finds its node by its GUID, and a release that is retried until confirmed"
    ),
    other_lock!(
        "protection-and-guaranteed-delete",
        "zookeeper-herd" => "curator-mutex",
        "a client that finds its node by its GUID, and a release that is retried until confirmed"
    ),
    other_lock!(
        "watches-set-again",
        "zookeeper-lost-watch" => "zookeeper-naive",
        "watches that are set again after each reconnect"
    ),
    other_lock!(
        "database-time",
        "shedlock-jdbc" => "shedlock-db-time",
        "a row whose expiry is compared with the database's clock"
    ),
    other_lock!("client-id", "jdbc-5-app-id" => "jdbc-5", "a client id that no other process has"),
    Safeguard {
        name: "delayed-restart",
        about: "a crashed server that stays down for longer than the ttl",
        fits: |spec| spec.plan.faults.iter().any(|timed| returns_within(spec, &timed.fault)),
        with: delayed_restart,
        setting: |spec| beyond_the_lease(spec).to_string(),
    },
    Safeguard {
        name: "min-replicas-to-write",
        about: "a primary that refuses writes unless a replica has recently acknowledged",
        fits: |spec| has_replicas(spec) && spec.scenario.servers.min_replicas == 0,
        with: |spec| with_scenario(spec, |scenario| scenario.servers.min_replicas = 1),
        setting: |_| "1".to_owned(),
    },
    Safeguard {
        name: "WAIT",
        about: "a client that waits after a grant until a replica has it, and otherwise releases \
                the lock",
        fits: can_wait,
        with: |spec| with_scenario(spec, |scenario| scenario.servers.wait_replicas = 1),
        setting: |_| "1".to_owned(),
    },
    Safeguard {
        name: "synchronous-standby",
        about: "a primary that answers a commit only when its standby has it",
        fits: has_asynchronous_standby,
        with: |spec| with_scenario(spec, |one| one.servers.standby = Some(Standby::Synchronous)),
        setting: |_| "standby=synchronous".to_owned(),
    },
    Safeguard {
        name: "appendfsync",
        about: "an append-only file, synced every second",
        fits: |spec| persists_less(spec, Persistence::AofEverysec),
        with: |spec| persistence(spec, Persistence::AofEverysec),
        setting: |_| "everysec".to_owned(),
    },
    Safeguard {
        name: "appendfsync",
        about: "an append-only file, synced before every answer",
        fits: |spec| persists_less(spec, Persistence::AofAlways),
        with: |spec| persistence(spec, Persistence::AofAlways),
        setting: |_| "always".to_owned(),
    },
    Safeguard {
        name: "lease",
        about: "a ttl four times as long",
        fits: |_| true,
        with: longer_lease,
        setting: |spec| spec.scenario.ttl.to_string(),
    },
    Safeguard {
        name: "monotonic-clock",
        about: "expiry by a clock that is never stepped and that continues while the machine is \
                suspended",
        fits: |spec| spec.plan.faults.iter().any(|timed| by_monotonic(&timed.fault).is_some()),
        with: |spec| changed(spec, by_monotonic),
        setting: |_| "CLOCK_BOOTTIME".to_owned(),
    },
    other_lock!(
        "watchdog",
        "single-node" => "watchdog",
        "a task in the holder's process that renews the lease"
    ),
    Safeguard {
        name: "random-retry-delay",
        about: "a random instead of a constant delay between two attempts",
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

/// Returns the fault that has the same effect as `fault` would have with monotonic expiry, or
/// `None` if `fault` need not change.
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
