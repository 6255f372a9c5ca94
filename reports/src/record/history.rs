//! The events of a run, recorded in true time.
//!
//! Operations follow Jepsen's `invoke / ok / fail / info`, where `info` means that the process does
//! not know the outcome. A [`History`] also contains the faults, the storage's answers, and each
//! server's changes of the lock's keys, which are recorded without the clients' knowledge.

mod locks;
mod setting;
mod workload;

pub use setting::{Checks, Keeping, StorageRule};
pub use workload::Workload;

use fencepost_faults::{Families, FaultKind, Micros, Node, Seed, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Value of the `format` field of a history file.
pub const FORMAT: &str = "fencepost.history";
/// Version of the format that this build reads and writes.
pub const VERSION: u32 = 2;

/// The recorded history of one run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct History {
    /// Always `fencepost.history`.
    #[schemars(extend("const" = FORMAT))]
    pub format: String,
    /// Always 2. Version 1 has no silences and no leases, and can still be read.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// Facts about the run that the judge needs in addition to its events.
    pub header: Header,
    /// Ordered by time, then by `sequence`, which counts from 0 without gaps.
    pub events: Vec<Event>,
    /// When and why the run ended. Not part of the digest. Absent from histories of older versions
    /// of fencepost, which end with their last event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
}

/// The end of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Ended {
    /// True time, at or after the last event.
    pub at_us: SimTime,
    /// The reason for the end of the run.
    pub why: WhyEnded,
}

/// A reason for the end of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhyEnded {
    /// Every process did all its cycles, or crashed for good.
    Finished,
    /// It reached its limit of virtual time (`max-time`) while processes were still working or
    /// waiting.
    TimeLimit,
    /// Processes waited, and no pending event could wake any of them.
    NothingAhead,
}

/// Facts about the run that the judge needs in addition to its events.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// The lock, as in `--client`.
    pub client: String,
    /// The fault family or families, as in `--fault`: `pause`, `pause+failover`, `none`.
    pub fault: Families,
    /// The seed of the run.
    pub seed: Seed,
    /// The name of the locked resource, which is also the lock's key on the servers. With several
    /// locks, the common prefix of their keys.
    pub resource: String,
    /// The lease requested from the servers.
    pub ttl_us: Micros,
    /// Number of servers that must grant: 1, or a majority of independent masters.
    pub quorum: u16,
    /// `true` if leases carry fencing tokens.
    pub has_tokens: bool,
    /// The workload that uses the guarded value.
    pub workload: Workload,
    /// The storage's treatment of tokens.
    pub storage: StorageRule,
    /// After healing, an acquire must succeed within this time.
    pub progress_bound_us: Micros,
    /// Number of faults in the plan.
    pub faults_planned: u32,
    /// The longest time that a live process may keep the lock, if the run has such a bound. A
    /// watchdog that renews forever exceeds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_bound_us: Option<Micros>,
    /// `true` if a lock lasts as long as its process's session, which the servers end when they
    /// have not heard from the process for the ttl. Otherwise a lock lasts for the ttl.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lives_with_session: bool,
    /// The form in which a server keeps the lock; absent for servers that expire leases themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_as: Option<Keeping>,
    /// For a lock that serves waiters in order of arrival: a process that asked later than another
    /// by more than this must not get the lock first. Absent for locks that promise no order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_bound_us: Option<Micros>,
    /// `true` if each lock of the run belongs to a job that must be done once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lock_per_job: bool,
    /// The availability requirement, if there is one. Programs have a default bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability: Option<Availability>,
    /// `true` if the servers' changes of the lock are unknown: only processes and the storage report.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub locks_unseen: bool,
}

/// A process that wants a free lock must get it within a bound, while enough servers run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Availability {
    /// The bound.
    pub bound_us: Micros,
    /// Number of servers, named from `redis-1` or `server-1` up.
    pub servers: u16,
    /// Number of them that must run.
    pub needed: u16,
    /// `true` if time counts only while no fault acts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub between_faults: bool,
}

impl Header {
    /// Returns whether the lock lasts as long as a session or a connection and therefore has no
    /// ttl.
    pub fn has_no_ttl(&self) -> bool {
        self.lives_with_session || self.kept_as == Some(Keeping::Connection)
    }

    pub(crate) fn has_queue(&self) -> bool {
        let has_none = matches!(self.kept_as, Some(Keeping::Session | Keeping::Membership));
        self.lives_with_session && !has_none
    }

    pub(crate) fn place(&self) -> (&'static str, &'static str) {
        match self.kept_as {
            Some(Keeping::Lease) => ("key", "lease"),
            Some(Keeping::Session) => ("lock", "session"),
            Some(Keeping::Membership | Keeping::MemberLease) => ("lock", "membership"),
            _ => ("node", "session"),
        }
    }
}

/// An event of the run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Position in the history. Orders events of the same instant.
    pub sequence: u64,
    /// True time.
    pub time_us: SimTime,
    /// The node: a process or one of its threads, a server, or the storage. Each thread of a
    /// process has its own events. The process starts and crashes as a whole, and these events name
    /// its first thread.
    pub node: Node,
    /// The kind of event and its details.
    #[serde(flatten)]
    pub what: What,
}

/// The kinds of events.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum What {
    /// A thread of a process starts an operation. It has at most one open at a time.
    Invoke {
        /// The number of the operation in the run; its completion repeats it.
        operation: u64,
        /// The requested action.
        #[serde(flatten)]
        action: Action,
    },
    /// The operation succeeded, and the process knows it.
    Ok {
        /// The operation that ends.
        operation: u64,
        /// The owner value of a granted acquire.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<String>,
        /// The fencing token of a granted acquire.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<u64>,
        /// The stated validity of a granted lease, by the process's clock; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        valid_for_us: Option<Micros>,
        /// The value that a read returned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<i64>,
    },
    /// The operation did not happen, and the process knows it.
    Fail {
        /// The operation that ends.
        operation: u64,
        /// The reason, in a few words.
        reason: String,
    },
    /// The process does not know whether the operation happened.
    Info {
        /// The operation that ends.
        operation: u64,
        /// The reason, in a few words.
        reason: String,
    },
    /// The application stops waiting for an acquire or a release. If it cancels the call, the
    /// completion follows immediately and the outcome is unknown. If it interrupts the call, the
    /// completion follows when the library has finished.
    GivenUp {
        /// The operation, which is still open.
        operation: u64,
        /// How the application gave it up.
        how: GivingUp,
    },
    /// From here on this thread's operations concern this one of several locks.
    About {
        /// The lock's key.
        lock: String,
    },
    /// The lock's own code noticed that this thread lost the lock.
    Lost,
    /// This thread waits for the lock and has sent nothing to a server for some time. Recorded when
    /// the silence or the run ends: for silences beyond the bound after healing, for those longer
    /// than the availability bound, and for every waiting thread when a run ends without pending
    /// events. Not part of the digest.
    Silent {
        /// The time of its last message, or the start of the wait if it has sent none since.
        since_us: SimTime,
        /// A thread that waits for a free lock must send something within this time.
        bound_us: Micros,
        /// False if the run has ended and no pending event could wake a process: no timer of a
        /// process, no message from or to one, no fault, and no message that a server would send by
        /// itself. Traffic among Sentinels and servers does not count.
        ahead: bool,
    },
    /// The process with all its threads, or the server, crashed or lost power.
    Crashed,
    /// The role of a server or Sentinel changes, or a node crashes with a command in transit. Not
    /// part of the digest. Absent from histories of older versions of fencepost.
    Turn {
        /// The change.
        turn: Turn,
        /// The other node concerned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        about: Option<Node>,
    },
    /// The process or server restarted after a crash.
    Started,
    /// A server changed a key of the lock.
    Server {
        /// The key.
        key: String,
        /// The change.
        change: Change,
        /// The present value (owner) of the key, or the last one before it was removed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<String>,
        /// The requesting process; absent if the server acted by itself or a replica followed its
        /// primary.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Node>,
        /// `true` if the server acted as a primary.
        primary: bool,
        /// The number that the server gave the new holder, if its protocol has a number that can
        /// serve as a fencing token.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<u64>,
        /// The remaining lifetime of the key, by the server's clock; absent if the key has no
        /// expiry, and in histories of version 1. Not part of the digest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lease_us: Option<Micros>,
    },
    /// The storage answered a request.
    Storage {
        /// The requesting process's operation.
        operation: u64,
        /// The requesting process.
        by: Node,
        /// `read` or `write`.
        access: Access,
        /// The token in the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<u64>,
        /// The acquisition (its invoke's operation number) under which the request was made.
        acquisition: u64,
        /// False if the token was rejected.
        accepted: bool,
        /// The value before the request.
        before: i64,
        /// The value after the request.
        after: i64,
        /// For a write: the value that the writer had read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        based_on: Option<i64>,
    },
    /// A fault of the plan began to act. Not part of the digest.
    FaultBegan {
        /// The fault's id in the plan.
        fault: u32,
        /// Its kind, as in the plan.
        kind: FaultKind,
        /// All nodes that it names.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        nodes: Vec<Node>,
    },
    /// A fault of the plan ended. Not part of the digest.
    FaultEnded {
        /// The fault's id in the plan.
        fault: u32,
        /// Its kind, as in the plan.
        kind: FaultKind,
    },
    /// All faults have ended; from here on progress is required. Not part of the digest.
    Healed,
}

/// How an application stops waiting for a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GivingUp {
    /// It drops the call: no more library code runs for it.
    Cancelled,
    /// The call's next wait fails, and the library cleans up as after an error.
    Interrupted,
}

/// A process's request to the lock or the storage.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "kebab-case")]
pub enum Action {
    /// Take the lock.
    Acquire,
    /// Release it.
    Release,
    /// Extend the lease.
    Extend,
    /// Check whether the process still holds the lock.
    Check,
    /// Read the guarded value.
    Read {
        /// The acquisition under which the process reads.
        acquisition: u64,
    },
    /// Write the guarded value.
    Write {
        /// The acquisition under which the process writes.
        acquisition: u64,
        /// The new value.
        value: i64,
        /// The value that the process had read before.
        based_on: i64,
    },
}

/// The kind of a storage request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Reads the guarded value.
    Read,
    /// Writes it.
    Write,
}

/// A server's change of a key.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// The key was created or has a new value.
    Granted,
    /// Its time to live was reset.
    Extended,
    /// A command deleted it.
    Removed,
    /// It expired by the server's clock.
    Expired,
    /// Evicted to free memory.
    Evicted,
    /// Removed by FLUSHALL or FLUSHDB.
    Flushed,
    /// Discarded by a full resynchronisation with another primary.
    Discarded,
    /// Missing after a restart.
    Forgotten,
    /// Present after a restart, or received in a full resynchronisation.
    Restored,
}

/// A change of a node's role in a deployment.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Turn {
    /// A replica has become a primary.
    Promoted,
    /// A primary has become a replica of another server.
    Demoted,
    /// A replica starts to follow another server.
    Follows,
    /// A replica has replaced all its data with that of the server that it follows.
    TookOver,
    /// A server acts as a primary and does not know that another server has replaced it.
    Unaware,
    /// A Sentinel considers the primary down.
    SubjectivelyDown,
    /// A Sentinel considers the primary up again.
    SubjectivelyUp,
    /// A Sentinel knows that enough Sentinels consider the primary down.
    ObjectivelyDown,
    /// A Sentinel no longer knows of enough such Sentinels.
    ObjectivelyUp,
    /// A Sentinel names another primary from now on.
    Names,
    /// A process has crashed while one of its messages is in transit.
    InFlight,
    /// A server has crashed before it answered a request.
    Unanswered,
}

impl Turn {
    /// Returns whether the change affects the data that clients see. Other changes only affect a
    /// server's view of its peers.
    pub(crate) fn changes_data(self) -> bool {
        matches!(self, Turn::Promoted | Turn::Demoted | Turn::TookOver | Turn::Unaware)
    }
}

impl What {
    /// Returns whether the digest includes the event. It omits faults, healing, silences and turns.
    pub fn is_digested(&self) -> bool {
        !matches!(
            self,
            What::FaultBegan { .. }
                | What::FaultEnded { .. }
                | What::Healed
                | What::Silent { .. }
                | What::Turn { .. }
        )
    }
}
