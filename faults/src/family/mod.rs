//! The table of fault families: one theme each, one file each. Must never know how faults are fired
//! or what they break.
//!
//! A family draws from its own stream ([`Stream::Plan`](crate::Stream::Plan) of its place in the
//! table), so adding one to a run or taking one away leaves what the others draw as it was. New
//! families are appended: a place in the table never changes its meaning.

mod timing;

mod client_crash;
mod clock_drift;
mod clock_jump;
mod eviction;
mod failover;
mod latency;
mod lost_reply;
mod none;
mod partition;
mod pause;
mod replication_lag;
mod restart;
mod slow_server;
mod storage_delay;
mod suspend;
mod swarm;

mod absence;
mod strike;

use crate::fault::Fault;
use crate::setting::Setting;
use crate::time::SimTime;
use rand_chacha::ChaCha8Rng;

pub use swarm::{Swarmed, swarm};

/// Faults and when they begin, as a family drew them.
pub type Drawn = Vec<(SimTime, Fault)>;

/// How a family draws: from its own stream, for a setting.
pub type Draw = fn(&mut ChaCha8Rng, &Setting) -> Drawn;

/// A theme of faults: what `--fault` names.
pub struct Family {
    /// What `--fault` takes.
    pub name: &'static str,
    /// Other names for the same.
    pub aliases: &'static [&'static str],
    /// One line for people.
    pub about: &'static str,
    /// How its part of a plan comes about.
    pub drawing: Drawing,
}

/// How a family's part of a plan comes about.
#[derive(Clone, Copy)]
pub enum Drawing {
    /// Drawn from the family's own stream.
    Own(Draw),
    /// The seed switches other families on and off.
    Swarm,
}

const fn family(name: &'static str, about: &'static str, draw: Draw) -> Family {
    Family { name, aliases: &[], about, drawing: Drawing::Own(draw) }
}

/// Every family. The place in the table is the number of the family's stream, so the table only
/// grows at its end.
pub const FAMILIES: &[Family] = &[
    family("none", "nothing goes wrong: interleaving and latency alone", none::draw),
    Family {
        aliases: &["gc-pause"],
        ..family("pause", "a process stands still, often for longer than its lease", pause::draw)
    },
    family("replication-lag", "replicas fall behind their primary", replication_lag::draw),
    family(
        "failover",
        "the primary crashes behind a lagging replica, or is cut off with one client",
        failover::draw,
    ),
    family("clock-drift", "clocks run fast and slow, within a relative bound", clock_drift::draw),
    family(
        "clock-jump",
        "wall clocks are stepped, mostly forward and at servers",
        clock_jump::draw,
    ),
    family("restart", "servers crash or lose power, and come back", restart::draw),
    family("partition", "the network splits, one way or both ways", partition::draw),
    family("lost-reply", "a command is applied and its reply never arrives", lost_reply::draw),
    family(
        "latency",
        "messages to and between servers take longer, and arrive in another order",
        latency::draw,
    ),
    family("storage-delay", "requests to the guarded storage arrive late", storage_delay::draw),
    family("suspend", "a virtual machine is frozen, its monotonic clock included", suspend::draw),
    family("client-crash", "processes die, some of them for good", client_crash::draw),
    family("slow-server", "every command at a server takes longer", slow_server::draw),
    family("eviction", "servers evict expiring keys, or are flushed", eviction::draw),
    Family {
        name: "all",
        aliases: &[],
        about: "swarm testing: each seed draws which families are on and how hard, and how long \
         leases, holds and waits are",
        drawing: Drawing::Swarm,
    },
];
