//! The inputs of a fault plan: deployment, time window, and the ranges from which families draw.

mod cut_off;
mod failover_by;
mod victims;

pub use cut_off::CutOff;
pub use failover_by::FailoverBy;
pub use victims::Victims;

use crate::node::Node;
use crate::time::{Micros, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU16;

/// All inputs of a fault plan other than the seed and the fault families.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// Servers of the deployment, and how one server replaces another.
    pub topology: Topology,
    /// Number of processes that take the lock, named `client-1` to `client-N`.
    pub processes: u16,
    /// Lease that the locks request, in microseconds.
    pub ttl_us: Micros,
    /// Period of virtual time in which the fault families place faults.
    pub window: Window,
    /// Ranges from which the fault families draw sizes, durations and counts.
    pub knobs: Knobs,
}

/// Servers of the deployment, and how one server replaces another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Topology {
    /// One server, `redis-1`.
    Standalone,
    /// A primary with replicas and Sentinels. The first primary is `redis-1`.
    Replicated {
        /// Number of replicas, named from `redis-2` up.
        replicas: u16,
        /// Number of Sentinels, named from `sentinel-1` up.
        sentinels: u16,
        /// Time in microseconds without a reply after which a Sentinel considers a server down
        /// (`down-after-milliseconds`).
        down_after_us: Micros,
        /// Sentinel's `failover-timeout`, in microseconds.
        failover_timeout_us: Micros,
    },
    /// Independent masters, none of which replaces another.
    Independent {
        /// Number of masters, named from `redis-1` up.
        masters: u16,
        /// Number of masters that must grant the lock, from 1 to `masters`.
        quorum: u16,
    },
    /// The servers of a coordinator other than Redis: one server, or members that share one state.
    Ensemble {
        /// Number of servers, named from `server-1` up.
        servers: u16,
    },
    /// A primary, `server-1`, and a standby, `server-2`, which follows the primary until an
    /// operator promotes it.
    Standby {
        /// Number of failovers per thousand in which the old primary is stopped for good. In the
        /// other failovers it comes back as a primary.
        stopped_per_mille: u16,
    },
}

/// Period of virtual time in which faults begin, both ends included. Faults may end later, and the
/// takeover by a standby may begin later.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// First instant of the window, in microseconds.
    pub begin_us: SimTime,
    /// Last instant of the window, in microseconds.
    pub end_us: SimTime,
}

/// A range of durations, both ends included. A draw from the range, or from a part of it, is
/// log-uniform (each doubling is equally likely), or uniform if it starts at zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spans {
    /// Shortest duration in microseconds.
    pub min_us: Micros,
    /// Longest duration in microseconds; at least `min_us`.
    pub max_us: Micros,
}

/// A range from which a fault family draws its number of strikes, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Smallest number to draw.
    pub min: u16,
    /// Largest number to draw; at least `min`.
    pub max: u16,
}

/// Ranges from which the fault families draw sizes, durations and counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Knobs {
    /// Number of strikes of each fault family per plan, by default 1 to 4. A strike may hit several
    /// nodes. Some families limit the number, such as `failover`.
    pub counts: Counts,
    /// Duration of a `pause` or `suspend` fault, by default 100 ms to 2.5 leases. With Sentinel,
    /// `pause` pauses a server for at most half of `down_after_us`.
    pub pause: Spans,
    /// Maximum lag of replicas behind their primary, drawn for each fault; by default 50 ms to 5 s.
    pub replication_lag: Spans,
    /// Maximum number of replicas that one fault delays; absent for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lagging_replicas: Option<NonZeroU16>,
    /// Event with which `failover` removes a replicated primary, by default drawn for each
    /// failover.
    #[serde(default, skip_serializing_if = "FailoverBy::is_drawn")]
    pub failover_by: FailoverBy,
    /// Maximum number of servers hit by one strike of `restart`, `clock-jump`, `eviction`,
    /// `operator` or `partition`; absent for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub struck_servers: Option<NonZeroU16>,
    /// Nodes from which `partition` separates processes, by default the servers.
    #[serde(default, skip_serializing_if = "CutOff::is_servers")]
    pub cut_off: CutOff,
    /// Nodes that `pause` and `clock-jump` may hit, by default processes and servers.
    #[serde(default, skip_serializing_if = "Victims::is_all")]
    pub victims: Victims,
    /// Largest relative drift between the clocks of any two hosts, in parts per million; by default
    /// 30,000 (3 %).
    pub drift_ppm: u32,
    /// Size of a `clock-jump` step in either direction, by default 0.2 to 2 leases.
    pub clock_jump: Spans,
    /// Downtime of a server that `restart` stops, by default 0.
    pub restart_delay: Spans,
    /// Share of server crashes that are power losses, per thousand; by default 500.
    pub power_loss_per_mille: u16,
    /// Maximum delay that a `latency` fault adds, by default 1 ms to a tenth of a lease.
    pub latency: Spans,
    /// Duration of a `partition` fault, by default 100 ms to 1.5 leases.
    pub partition: Spans,
    /// Longest time for which `lost-reply` and `lost-request` wait for a command, by default 1 s
    /// to 10 s.
    pub lost_reply: Spans,
    /// Maximum delay that a `storage-delay` fault adds, by default 50 ms to 2 leases.
    pub storage_delay: Spans,
    /// Time that `slow-server` adds to each command, by default 1 ms to 200 ms.
    pub service: Spans,
    /// Downtime of a crashed client that restarts, by default 100 ms to 2 leases.
    pub client_down: Spans,
    /// Duration of a `latency`, `storage-delay`, `replication-lag` or `slow-server` fault, by
    /// default 1 s to 2 leases. A `clock-drift` fault may last up to a lease longer.
    pub spell: Spans,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidSetting {
    #[error(
        "fault window {begin}..{end}: expected an end after the start",
        begin = .0.begin_us,
        end = .0.end_us
    )]
    Window(Window),
    #[error(
        "range {name} {min}..{max}: expected the minimum first",
        min = .spans.min_us,
        max = .spans.max_us
    )]
    Spans { name: &'static str, spans: Spans },
    #[error(
        "fault counts {min}..{max}: expected the minimum first",
        min = .0.min,
        max = .0.max
    )]
    Counts(Counts),
    #[error("power-loss-per-mille {0}: expected 0 to 1000")]
    PowerLoss(u16),
    #[error("drift-ppm {0}: expected 0 to 500000")]
    Drift(u32),
    #[error("quorum {quorum} of {masters} masters: expected 1 to {masters}")]
    Quorum { quorum: u16, masters: u16 },
}

impl Setting {
    pub fn new(topology: Topology, processes: u16, ttl_us: Micros) -> Setting {
        Setting {
            topology,
            processes,
            ttl_us,
            window: Window::default(),
            knobs: Knobs::for_ttl(ttl_us),
        }
    }

    pub fn clients(&self) -> Vec<Node> {
        (1..=self.processes).map(Node::Client).collect()
    }

    /// Returns the servers that store the lock, the first primary (if any) first.
    pub fn servers(&self) -> Vec<Node> {
        let redis = match self.topology {
            Topology::Standalone => 1,
            Topology::Replicated { replicas, .. } => replicas.saturating_add(1),
            Topology::Independent { masters, .. } => masters,
            Topology::Ensemble { servers } => return (1..=servers).map(Node::Server).collect(),
            Topology::Standby { .. } => return vec![Node::Server(1), Node::Server(2)],
        };
        (1..=redis).map(Node::Redis).collect()
    }

    pub fn sentinels(&self) -> Vec<Node> {
        match self.topology {
            Topology::Replicated { sentinels, .. } => (1..=sentinels).map(Node::Sentinel).collect(),
            Topology::Standalone
            | Topology::Independent { .. }
            | Topology::Ensemble { .. }
            | Topology::Standby { .. } => Vec::new(),
        }
    }

    pub fn targets(&self) -> Vec<Node> {
        [self.servers(), self.sentinels(), vec![Node::Storage], self.clients()].concat()
    }

    pub fn is_replicated(&self) -> bool {
        match self.topology {
            Topology::Standby { .. } => true,
            Topology::Replicated { replicas, .. } => replicas > 0,
            Topology::Ensemble { servers } => servers > 1,
            Topology::Standalone | Topology::Independent { .. } => false,
        }
    }

    /// Returns the number of servers that may fail before the quorum is lost; 0 without a quorum.
    pub fn spare_servers(&self) -> usize {
        match self.topology {
            Topology::Independent { masters, quorum } => {
                usize::from(masters.saturating_sub(quorum))
            }
            Topology::Ensemble { servers } => usize::from(servers.saturating_sub(1) / 2),
            Topology::Standalone | Topology::Replicated { .. } | Topology::Standby { .. } => 0,
        }
    }

    pub fn validate(&self) -> Result<(), InvalidSetting> {
        if self.window.begin_us > self.window.end_us {
            return Err(InvalidSetting::Window(self.window));
        }
        if let Topology::Independent { masters, quorum } = self.topology
            && !(1..=masters).contains(&quorum)
        {
            return Err(InvalidSetting::Quorum { quorum, masters });
        }
        self.knobs.validate()
    }
}

impl Window {
    pub fn nearest(&self, at: SimTime) -> SimTime {
        at.min(self.end_us).max(self.begin_us)
    }

    pub fn length(&self) -> Micros {
        self.end_us.since(self.begin_us)
    }
}

impl Default for Window {
    fn default() -> Window {
        Window { begin_us: SimTime(2_000_000), end_us: SimTime(60_000_000) }
    }
}

impl Spans {
    pub const fn new(min_us: Micros, max_us: Micros) -> Spans {
        Spans { min_us, max_us }
    }

    pub const fn millis(min: u64, max: u64) -> Spans {
        Spans::new(Micros::from_millis(min), Micros::from_millis(max))
    }
}

impl Knobs {
    pub fn for_ttl(ttl_us: Micros) -> Knobs {
        let up_to = |min: Micros, max: u64| Spans::new(min.min(Micros(max)), Micros(max));
        let (ttl, ms) = (ttl_us.as_micros(), Micros::from_millis);
        Knobs {
            counts: Counts { min: 1, max: 4 },
            pause: up_to(ms(100), ttl.saturating_mul(5) / 2),
            replication_lag: Spans::millis(50, 5_000),
            lagging_replicas: None,
            failover_by: FailoverBy::Drawn,
            struck_servers: None,
            cut_off: CutOff::Servers,
            victims: Victims::All,
            drift_ppm: 30_000,
            clock_jump: up_to(Micros(ttl / 5), ttl.saturating_mul(2)),
            restart_delay: Spans::millis(0, 0),
            power_loss_per_mille: 500,
            latency: up_to(ms(1), ttl / 10),
            partition: up_to(ms(100), ttl.saturating_mul(3) / 2),
            lost_reply: Spans::millis(1_000, 10_000),
            storage_delay: up_to(ms(50), ttl.saturating_mul(2)),
            service: Spans::millis(1, 200),
            client_down: up_to(ms(100), ttl.saturating_mul(2)),
            spell: up_to(ms(1_000), ttl.saturating_mul(2)),
        }
    }

    pub(crate) fn count_struck(&self, servers: usize) -> usize {
        self.struck_servers.map_or(servers, |most| servers.min(usize::from(most.get())))
    }

    fn spans(&self) -> [(&'static str, Spans); 11] {
        [
            ("pause", self.pause),
            ("replication_lag", self.replication_lag),
            ("clock_jump", self.clock_jump),
            ("restart_delay", self.restart_delay),
            ("latency", self.latency),
            ("partition", self.partition),
            ("lost_reply", self.lost_reply),
            ("storage_delay", self.storage_delay),
            ("service", self.service),
            ("client_down", self.client_down),
            ("spell", self.spell),
        ]
    }

    fn validate(&self) -> Result<(), InvalidSetting> {
        let reversed = |spans: Spans| spans.min_us > spans.max_us;
        if let Some((name, spans)) = self.spans().into_iter().find(|(_, spans)| reversed(*spans)) {
            return Err(InvalidSetting::Spans { name, spans });
        }
        if self.counts.min > self.counts.max {
            return Err(InvalidSetting::Counts(self.counts));
        }
        if self.power_loss_per_mille > 1_000 {
            return Err(InvalidSetting::PowerLoss(self.power_loss_per_mille));
        }
        if self.drift_ppm > 500_000 {
            return Err(InvalidSetting::Drift(self.drift_ppm));
        }
        Ok(())
    }
}
