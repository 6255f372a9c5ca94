//! The table of fault families: one theme each, one file each. A new one is a file and an entry of
//! the list below.
//!
//! A family draws from its own stream ([`Stream::Plan`](crate::Stream::Plan) of its place in the
//! table), so adding one to a run or removing one does not change the draws of the others. New
//! families are appended: a place in the table never changes its meaning.

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

/// Faults with their start times.
pub type Drawn = Vec<(SimTime, Fault)>;

/// A family's draw from its own stream, for a setting.
pub type Draw = fn(&mut ChaCha8Rng, &Setting) -> Vec<Incident>;

/// Every family, its one-line description, and the way its part of a plan is made.
macro_rules! families {
    ($($member:ident = $about:literal, $drawing:expr;)*) => {
        /// A theme of faults: a value of `--fault`. Its number is that of its stream, so that the
        /// set only grows at its end.
        #[derive(
            Clone,
            Copy,
            PartialEq,
            Eq,
            PartialOrd,
            Ord,
            Debug,
            Display,
            EnumString,
            IntoStaticStr,
            VariantArray,
        )]
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
    None = "nothing goes wrong: interleaving and latency alone", Own(none::draw);
    Pause = "a process stands still, often for longer than its lease", Own(pause::draw);
    ReplicationLag = "replicas fall behind their primary", Own(replication_lag::draw);
    Failover = "the primary crashes behind a lagging replica, or is cut off with one client",
        Own(failover::draw);
    ClockDrift = "clocks run fast and slow, within a relative bound", Own(clock_drift::draw);
    ClockJump = "wall clocks are stepped, mostly forward and at servers", Own(clock_jump::draw);
    Restart = "servers crash or lose power, and come back", Own(restart::draw);
    Partition = "the network splits, one way or both ways", Own(partition::draw);
    LostReply = "a command is applied and its reply never arrives", Own(lost_reply::draw);
    Latency = "messages to and between servers take longer, and arrive in another order",
        Own(latency::draw);
    StorageDelay = "requests to the guarded storage arrive late", Own(storage_delay::draw);
    Suspend = "a virtual machine is frozen, its monotonic clock included", Own(suspend::draw);
    ClientCrash = "processes die, some of them for good", Own(client_crash::draw);
    SlowServer = "every command at a server takes longer", Own(slow_server::draw);
    Eviction = "servers evict expiring keys, or are flushed", Own(eviction::draw);
    All = "swarm testing: each seed draws which families are on and how hard, and how long leases, \
           holds and waits are",
        Swarm;
    Operator = "an operator types what no lock expects: SCRIPT FLUSH, CLIENT KILL, FAILOVER, \
                REPLICAOF, CONFIG SET",
        Own(operator::draw);
    LostRequest = "a command is lost on its way, with its connection", Own(lost_request::draw);
}

/// Every family, in the order of their numbers.
pub const FAMILIES: &[Family] = Family::VARIANTS;

/// The way a family's part of a plan is made.
#[derive(Clone, Copy)]
pub enum Drawing {
    /// Drawn from the family's own stream.
    Own(Draw),
    /// The seed switches other families on and off.
    Swarm,
}

impl Family {
    /// Its value for `--fault`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Other names for the same.
    pub fn aliases(self) -> &'static [&'static str] {
        match self {
            Family::Pause => &["gc-pause"],
            _ => &[],
        }
    }

    /// A one-line description.
    pub fn about(self) -> &'static str {
        self.row().0
    }

    /// The way its part of a plan is made.
    pub fn drawing(self) -> Drawing {
        self.row().1
    }

    /// What it never does, or does only if a setting asks for it; in sentences, `None` if its line
    /// says all.
    pub fn limits(self) -> Option<&'static str> {
        Some(match self {
            Family::Partition => {
                "It cuts no process off from the storage unless `cut-off` is `storage`, and one \
                 cut may reach several masters unless `struck-servers` is 1."
            }
            Family::ClockJump => {
                "It steps no Sentinel. One strike often steps several masters within a lease; with \
                 `struck-servers` 1 it steps one."
            }
            Family::Restart => {
                "Every server comes back. One strike often restarts several masters within a lease; \
                 with `struck-servers` 1 it restarts one."
            }
            Family::Eviction => {
                "It stops no server. One strike often hits several masters; with `struck-servers` \
                 1 it hits one."
            }
            Family::Latency => {
                "It delays no message to the storage, and none for longer than a tenth of the \
                 lease (a program's for 1.5 leases) unless `extra-latency` says so."
            }
            Family::StorageDelay => "It loses no request, and delays nothing but requests.",
            Family::LostReply => {
                "The command itself is carried out; replies of the storage arrive."
            }
            Family::LostRequest => "Requests to the storage arrive.",
            Family::Suspend => "It hits processes, never servers.",
            Family::ClientCrash => {
                "Of three processes or more two survive, of two one; servers do not crash."
            }
            Family::SlowServer => "It stops no server.",
            Family::ReplicationLag => "It hits nothing where servers do not replicate one another.",
            _ => return None,
        })
    }

    /// Whether `all` may switch it on: something goes wrong, and by itself. Not if the family came
    /// after seeds of `all` were published, which stay what they are.
    pub fn is_accident(self) -> bool {
        !matches!(self, Family::None | Family::Operator | Family::LostRequest)
    }

    /// The family that has this name or alias.
    pub fn named(name: &str) -> Option<Family> {
        let known = |family: &Family| family.name() == name || family.aliases().contains(&name);
        FAMILIES.iter().copied().find(known)
    }

    /// The delay between two of its incidents; `None` if they may overlap.
    pub(crate) fn rest(self, setting: &Setting) -> Option<Micros> {
        let is_absence = self == Family::Failover && !is_watched(setting);
        is_absence.then_some(setting.ttl_us)
    }

    pub(crate) fn stream(self) -> Stream {
        Stream::Plan(self as u16)
    }
}

/// Returns whether Sentinels replace a lost primary.
fn is_watched(setting: &Setting) -> bool {
    matches!(setting.topology, Topology::Replicated { .. })
}
