//! The table of fault families ([`FAMILIES`]), with one file for each family. Each family draws
//! from its own random stream, numbered by the family's index, so that adding a family does not
//! change the draws of the others. New families are appended.

mod timing;

mod client_crash;
mod clock_drift;
mod clock_jump;
mod eviction;
mod failover;
mod latency;
mod lost_reply;
mod lost_request;
mod none;
mod operator;
mod partition;
mod pause;
mod replication_lag;
mod restart;
mod slow_server;
mod storage_delay;
mod suspend;
mod swarm;

mod absence;
mod incident;
mod strike;

use self::Drawing::{Own, Swarm};
use crate::fault::Fault;
use crate::seed::Stream;
use crate::setting::{Setting, Topology};
use crate::time::{Micros, SimTime};
use rand_chacha::ChaCha8Rng;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

pub use failover::away_at_least;
pub use incident::Incident;
pub use swarm::{Swarmed, swarm};

pub type Drawn = Vec<(SimTime, Fault)>;

pub type Draw = fn(&mut ChaCha8Rng, &Setting) -> Vec<Incident>;

macro_rules! families {
    ($($member:ident = $about:literal, $drawing:expr;)*) => {
        /// A family of faults, selected with `--fault`. Its index identifies its random stream.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        #[derive(Display, EnumString, IntoStaticStr, VariantArray)]
        #[strum(serialize_all = "kebab-case")]
        pub enum Family {
            $(#[doc = $about] $member,)*
        }

        impl Family {
            fn row(self) -> (&'static str, Drawing) {
                match self {
                    $(Family::$member => ($about, $drawing),)*
                }
            }
        }
    };
}

families! {
    None = "no fault, only the interleaving of processes and network latency", Own(none::draw);
    Pause = "a process is paused, often for longer than its lease", Own(pause::draw);
    ReplicationLag = "replicas fall behind their primary", Own(replication_lag::draw);
    Failover = "the primary crashes while its replicas lag, is paused, or is isolated together \
                with one client",
        Own(failover::draw);
    ClockDrift = "clocks run fast or slow, within a relative bound", Own(clock_drift::draw);
    ClockJump = "wall clocks are stepped, mostly forward and mostly on servers",
        Own(clock_jump::draw);
    Restart = "servers crash or lose power, and restart", Own(restart::draw);
    Partition = "network partitions, in one or both directions", Own(partition::draw);
    LostReply = "a server executes a command, but its reply is lost", Own(lost_reply::draw);
    Latency = "messages to and between servers are delayed and arrive in a different order",
        Own(latency::draw);
    StorageDelay = "requests to the guarded storage arrive late", Own(storage_delay::draw);
    Suspend = "a virtual machine is suspended, and its monotonic clock stops", Own(suspend::draw);
    ClientCrash = "processes crash, some of them permanently", Own(client_crash::draw);
    SlowServer = "every command takes longer on one server", Own(slow_server::draw);
    Eviction = "servers evict keys that have an expiry, or an operator flushes them",
        Own(eviction::draw);
    All = "swarm testing: each seed draws the active families, their intensity, and the lengths \
           of leases, critical sections and waits",
        Swarm;
    Operator = "an operator runs commands that no lock expects: SCRIPT FLUSH, CLIENT KILL, \
                FAILOVER, REPLICAOF, CONFIG SET",
        Own(operator::draw);
    LostRequest = "a command is lost before the server reads it, and its connection breaks",
        Own(lost_request::draw);
}

pub const FAMILIES: &[Family] = Family::VARIANTS;

#[derive(Clone, Copy)]
pub enum Drawing {
    Own(Draw),
    Swarm,
}

impl Family {
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn aliases(self) -> &'static [&'static str] {
        match self {
            Family::Pause => &["gc-pause"],
            _ => &[],
        }
    }

    pub fn about(self) -> &'static str {
        self.row().0
    }

    pub fn drawing(self) -> Drawing {
        self.row().1
    }

    pub fn limits(self) -> Option<&'static str> {
        Some(match self {
            Family::Partition => {
                "This family never separates a process from the storage unless `cut-off` is \
                 `storage`. One partition may affect several masters unless `struck-servers` is 1."
            }
            Family::ClockJump => {
                "This family never steps the clock of a Sentinel. It often steps the clocks of \
                 several masters within one lease; with `struck-servers` 1, it steps one clock."
            }
            Family::Restart => {
                "Every server that stops restarts. This family often hits several masters within \
                 one lease; with `struck-servers` 1, it hits one."
            }
            Family::Eviction => {
                "This family never stops a server. It often hits several masters together; with \
                 `struck-servers` 1, it hits one."
            }
            Family::Latency => {
                "This family never delays a message to the storage. The delay is at most a tenth \
                 of the lease (1.5 leases for a program) unless `extra-latency` sets another \
                 range."
            }
            Family::StorageDelay => "This family delays only requests and loses none.",
            Family::LostReply => {
                "The server executes the command. Replies of the storage always arrive."
            }
            Family::LostRequest => "Requests to the storage always arrive.",
            Family::Suspend => "This family affects processes, never servers.",
            Family::ClientCrash => {
                "At least two processes survive, or one if there are only two. Servers do not \
                 crash."
            }
            Family::SlowServer => "This family never stops a server.",
            Family::ReplicationLag => "This family has no effect on servers that do not replicate.",
            _ => return None,
        })
    }

    /// Returns `true` for `all` and for the families that `all` may include. A new family must
    /// return `false`, because the published plans of `all` must not change.
    pub fn is_accident(self) -> bool {
        !matches!(self, Family::None | Family::Operator | Family::LostRequest)
    }

    /// Returns `true` if the only Redis server of a lock has replicas in runs under this family.
    pub fn has_replicas(self) -> bool {
        matches!(self, Family::Failover | Family::ReplicationLag | Family::Operator | Family::All)
    }

    pub fn named(name: &str) -> Option<Family> {
        let known = |family: &Family| family.name() == name || family.aliases().contains(&name);
        FAMILIES.iter().copied().find(known)
    }

    pub(crate) fn rest(self, setting: &Setting) -> Option<Micros> {
        let is_absence = self == Family::Failover && !is_watched(setting);
        is_absence.then_some(setting.ttl_us)
    }

    pub(crate) fn stream(self) -> Stream {
        Stream::Plan(self as u16)
    }
}

fn is_watched(setting: &Setting) -> bool {
    matches!(setting.topology, Topology::Replicated { .. })
}
