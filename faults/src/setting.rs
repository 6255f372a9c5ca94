//! The [`Setting`] of a fault plan, with the deployment, the time window, and the ranges from which
//! families draw.

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

/// All inputs of a fault plan other than the seed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// The servers.
    pub topology: Topology,
    /// Number of processes that take the lock: `client-1` up to `client-N`.
    pub processes: u16,
    /// The lease that the locks request. Families whose faults must outlast a lease use it.
    pub ttl_us: Micros,
    /// The time in which faults may begin.
    pub window: Window,
    /// The ranges that the families draw from.
    pub knobs: Knobs,
}

/// The servers, and how one replaces another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Topology {
    /// `redis-1` alone.
    Standalone,
    /// `redis-1` is the first primary; the replicas and the Sentinels watch it.
    Replicated {
        /// Number of replicas, from `redis-2` up.
        replicas: u16,
        /// Number of Sentinels, from `sentinel-1` up.
        sentinels: u16,
        /// Silence after which a Sentinel considers a server down (`down-after-milliseconds`).
        down_after_us: Micros,
        /// Sentinel's `failover-timeout`.
        failover_timeout_us: Micros,
    },
    /// Masters that do not know each other; none replaces another.
    Independent {
        /// Number of masters, from `redis-1` up.
        masters: u16,
        /// Number of masters that must grant a lock.
        quorum: u16,
    },
    /// The servers of a coordinator other than Redis: a single one, or members that share one
    /// state.
    Ensemble {
        /// Number of servers, from `server-1` up.
        servers: u16,
    },
    /// `server-1` is the primary, and `server-2` follows it until an operator promotes it.
    Standby {
        /// Failovers per thousand in which the operator first stops the old primary for good. In
        /// the others it comes back as a primary.
        stopped_per_mille: u16,
    },
}

/// The span of true time within which faults begin, both ends included. They may end later.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// No fault begins earlier.
    pub begin_us: SimTime,
    /// No fault begins later.
    pub end_us: SimTime,
}

/// A range of spans, both ends included. Drawn log-uniformly (each doubling equally likely), or
/// uniformly if it starts at zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spans {
    /// The shortest.
    pub min_us: Micros,
    /// The longest; not shorter than the shortest.
    pub max_us: Micros,
}

/// Number of strikes of a family in one plan, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// The fewest.
    pub min: u16,
    /// The most.
    pub max: u16,
}

/// The ranges that the families draw from. Defaults: [`Knobs::for_ttl`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Knobs {
    /// Strikes of each family per plan. Default 1 to 4. A strike of `restart`, `clock-jump` or
    /// `eviction` may hit several nodes, and `failover` strikes at most twice.
    pub counts: Counts,
    /// Duration of a pause or suspension of a process. Default 100 ms to 2.5 leases.
    pub pause: Spans,
    /// Lag of replicas. Default 50 ms to 5 s.
    pub replication_lag: Spans,
    /// Number of replicas that lag at a time, drawn for each lag. Default all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lagging_replicas: Option<NonZeroU16>,
    /// How `failover` removes a replicated primary. Default drawn.
    #[serde(default, skip_serializing_if = "FailoverBy::is_drawn")]
    pub failover_by: FailoverBy,
    /// Maximum number of servers hit by one strike of `restart`, `clock-jump`, `eviction` or
    /// `partition`. Default any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub struck_servers: Option<NonZeroU16>,
    /// The nodes from which `partition` separates processes. Default servers.
    #[serde(default, skip_serializing_if = "CutOff::is_servers")]
    pub cut_off: CutOff,
    /// The nodes that `pause` and `clock-jump` hit. Default all.
    #[serde(default, skip_serializing_if = "Victims::is_all")]
    pub victims: Victims,
    /// The largest relative drift between the clocks of any two hosts, in parts per million.
    /// Default 30,000 (3 %).
    pub drift_ppm: u32,
    /// Step of a clock, in either direction. Default a fifth of a lease to 2 leases.
    pub clock_jump: Spans,
    /// Downtime of a restarted server. Default 0: it is back immediately.
    pub restart_delay: Spans,
    /// Server crashes per thousand that are power losses instead of process crashes. Default 500.
    pub power_loss_per_mille: u16,
    /// Delay that `latency` adds to a message. Default 1 ms to a tenth of a lease.
    pub latency: Spans,
    /// Duration of a partition. Default 100 ms to 1.5 leases.
    pub partition: Spans,
    /// Window in which a lost reply waits for its command. Default 1 s to 10 s.
    pub lost_reply: Spans,
    /// Delay that `storage-delay` adds to a request. Default 50 ms to 2 leases.
    pub storage_delay: Spans,
    /// Time that `slow-server` adds to each command. Default 1 ms to 200 ms.
    pub service: Spans,
    /// Downtime of a crashed client that restarts. Default 100 ms to 2 leases.
    pub client_down: Spans,
    /// Duration of delays, lag and slow commands, and of drift that does not last for the whole
    /// window. Default 1 s to 2 leases.
    pub spell: Spans,
}

/// An error in a setting.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidSetting {
    /// The fault window ends before it begins.
    #[error("fault window {begin}..{end}: expected an end at or after its begin", begin = .0.begin_us, end = .0.end_us)]
    Window(Window),
    /// The minimum of a range of durations is above its maximum.
    #[error("range {name} {min}..{max}: expected a minimum not above the \
     maximum", min = .spans.min_us, max = .spans.max_us)]
    Spans {
        /// Name of the parameter with the reversed range.
        name: &'static str,
        /// The reversed range.
        spans: Spans,
    },
    /// The minimum number of faults is above the maximum.
    #[error("fault counts {min}..{max}: expected a minimum not above the \
     maximum", min = .0.min, max = .0.max)]
    Counts(Counts),
    /// The share of power losses is above 1000 per mille.
    #[error("power_loss_per_mille {0}: expected 0 to 1000")]
    PowerLoss(u16),
    /// The clock drift, in ppm, is so large that a clock could stop or run backwards.
    #[error("drift_ppm {0}: expected 0 to 500000")]
    Drift(u32),
    /// The quorum is zero or above the number of masters.
    #[error("quorum {quorum} of {masters} masters: expected 1 to {masters}")]
    Quorum {
        /// The requested quorum.
        quorum: u16,
        /// Number of independent masters.
        masters: u16,
    },
}

impl Setting {
    /// Returns a setting with the default window and with the default ranges for a lease of
    /// `ttl_us`.
    pub fn new(topology: Topology, processes: u16, ttl_us: Micros) -> Setting {
        Setting {
            topology,
            processes,
            ttl_us,
            window: Window::default(),
            knobs: Knobs::for_ttl(ttl_us),
        }
    }

    /// Returns every process that takes the lock.
    pub fn clients(&self) -> Vec<Node> {
        (1..=self.processes).map(Node::Client).collect()
    }

    /// Returns all servers that keep the lock, beginning with the initial primary.
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

    /// Returns all Sentinels. Only a replicated deployment has them.
    pub fn sentinels(&self) -> Vec<Node> {
        match self.topology {
            Topology::Replicated { sentinels, .. } => (1..=sentinels).map(Node::Sentinel).collect(),
            Topology::Standalone
            | Topology::Independent { .. }
            | Topology::Ensemble { .. }
            | Topology::Standby { .. } => Vec::new(),
        }
    }

    /// Returns all hosts that a plan may name: servers, Sentinels, the storage and the clients.
    pub fn targets(&self) -> Vec<Node> {
        [self.servers(), self.sentinels(), vec![Node::Storage], self.clients()].concat()
    }

    /// Returns whether the servers replicate data among themselves.
    pub fn is_replicated(&self) -> bool {
        match self.topology {
            Topology::Replicated { .. } | Topology::Standby { .. } => true,
            Topology::Ensemble { servers } => servers > 1,
            Topology::Standalone | Topology::Independent { .. } => false,
        }
    }

    /// Returns the number of servers that may fail while the rest is still a quorum; zero if the
    /// deployment has no quorum.
    pub fn spare_servers(&self) -> usize {
        match self.topology {
            Topology::Independent { masters, quorum } => {
                usize::from(masters.saturating_sub(quorum))
            }
            Topology::Ensemble { servers } => usize::from(servers.saturating_sub(1) / 2),
            Topology::Standalone | Topology::Replicated { .. } | Topology::Standby { .. } => 0,
        }
    }

    /// Checks the window, the quorum and all ranges.
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
    /// Returns the time in the window that is closest to `at`.
    pub fn nearest(&self, at: SimTime) -> SimTime {
        at.min(self.end_us).max(self.begin_us)
    }

    /// Returns the length of the window.
    pub fn length(&self) -> Micros {
        self.end_us.since(self.begin_us)
    }
}

impl Default for Window {
    /// Returns the window from 2 s, by which processes have settled, to 60 s, until which most
    /// still work.
    fn default() -> Window {
        Window { begin_us: SimTime(2_000_000), end_us: SimTime(60_000_000) }
    }
}

impl Spans {
    /// Returns the range of durations from `min_us` to `max_us`.
    pub const fn new(min_us: Micros, max_us: Micros) -> Spans {
        Spans { min_us, max_us }
    }

    /// Returns the range of durations between two numbers of milliseconds.
    pub const fn millis(min: u64, max: u64) -> Spans {
        Spans::new(Micros::from_millis(min), Micros::from_millis(max))
    }
}

impl Knobs {
    /// Returns the default ranges for leases of length `ttl_us`.
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

    pub(crate) fn struck_of(&self, servers: usize) -> usize {
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
