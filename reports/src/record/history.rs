//! The events of one run, in true time.
//!
//! Operations follow Jepsen's `invoke / ok / fail / info`: `info` is an outcome that the process
//! does not know. Further events are each server's changes of the lock's keys (recorded by a tap
//! that no client sees), the storage's answers, and the faults.

mod locks;
mod setting;
mod workload;

pub use setting::{Checks, Keeping, StorageRule};
pub use workload::Workload;

use fencepost_faults::{Families, FaultKind, Micros, Node, Seed, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The `format` field of a history file.
pub const FORMAT: &str = "fencepost.history";
/// The version of the format that this build reads and writes.
pub const VERSION: u32 = 2;

/// One run as it was recorded.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct History {
    /// Always `fencepost.history`.
    #[schemars(extend("const" = FORMAT))]
    pub format: String,
    /// 2; version 1 has no silences and no leases, and is still read.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// What a judge must know about the run besides its events.
    pub header: Header,
    /// In order of time, then of sequence; `sequence` counts from 0 without gaps.
    pub events: Vec<Event>,
    /// When and why the run ended. Not part of the digest, and absent from histories of older
    /// versions of fencepost: these end with their last event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
}

/// The end of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Ended {
    /// True time, at or after the last event.
    pub at_us: SimTime,
    /// Why the run did not go on.
    pub why: WhyEnded,
}

/// Why a run ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhyEnded {
    /// Every process did all its cycles, or died for good.
    Finished,
    /// It reached its limit of virtual time (`max-time`) with processes still at work or waiting.
    TimeLimit,
    /// Processes waited, and nothing could have woken any of them.
    NothingAhead,
}

/// What a judge must know about the run besides its events.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// The lock, as `--client` names it.
    pub client: String,
    /// The fault family or families, as `--fault` names them: `pause`, `pause+failover`, `none`.
    pub fault: Families,
    /// The seed that the run was drawn from.
    pub seed: Seed,
    /// The name of what is locked; also the lock's key at the servers. Of several locks, what their
    /// keys begin with.
    pub resource: String,
    /// The lease asked of the servers.
    pub ttl_us: Micros,
    /// How many servers must grant: 1, or the majority of independent masters.
    pub quorum: u16,
    /// Whether leases carry fencing tokens.
    pub has_tokens: bool,
    /// What is guarded.
    pub workload: Workload,
    /// How the storage treats tokens.
    pub storage: StorageRule,
    /// After healing, an acquire must succeed within this span.
    pub progress_bound_us: Micros,
    /// How many faults the plan holds.
    pub faults_planned: u32,
    /// No live process may keep the lock longer than this, if the run demands it; a watchdog that
    /// renews for ever breaks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_bound_us: Option<Micros>,
    /// Whether a lock lives as long as the session of its process, which the servers end when they
    /// have not heard of it for the ttl, rather than for a ttl from when it was taken.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lives_with_session: bool,
    /// What a server keeps the lock as; absent for servers that end leases by themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_as: Option<Keeping>,
    /// The lock serves those who wait in the order in which they came: nobody who asked later than
    /// another by more than this gets it before. Absent for locks that promise no order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_bound_us: Option<Micros>,
    /// Whether each lock of the run is a job's, which is done once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lock_per_job: bool,
    /// How soon a free lock must be had, if the run demands it. Programs have a default bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability: Option<Availability>,
}

/// A free lock that is wanted is had within a span, while enough servers run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Availability {
    /// The span.
    pub bound_us: Micros,
    /// How many servers there are: `redis-1` or `server-1` up.
    pub servers: u16,
    /// How many of them must run.
    pub needed: u16,
    /// Whether the span counts only while no fault acts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub between_faults: bool,
}

impl Header {
    /// Returns whether a lock lasts as long as a session or a connection, without a ttl.
    pub fn has_no_ttl(&self) -> bool {
        self.lives_with_session || self.kept_as == Some(Keeping::Connection)
    }

    /// Whether a lock is a queue of nodes or keys, whose first has it.
    pub(crate) fn has_queue(&self) -> bool {
        let has_none = matches!(self.kept_as, Some(Keeping::Session | Keeping::Membership));
        self.lives_with_session && !has_none
    }

    /// What a lock that lives with a session is made of, and what it goes with.
    pub(crate) fn place(&self) -> (&'static str, &'static str) {
        match self.kept_as {
            Some(Keeping::Lease) => ("key", "lease"),
            Some(Keeping::Session) => ("lock", "session"),
            Some(Keeping::Membership | Keeping::MemberLease) => ("lock", "membership"),
            _ => ("node", "session"),
        }
    }
}

/// Something that happened.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Position in the history; the order within one instant.
    pub sequence: u64,
    /// True time.
    pub time_us: SimTime,
    /// Where it happened: a process or a thread of one, a server, the storage. A process of several
    /// threads has one history for each; it starts and dies as a whole, which is told of its first.
    pub node: Node,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
}

/// What an event says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum What {
    /// A thread of a process starts an operation. It has at most one open at a time.
    Invoke {
        /// Numbers the operations of the run; the completion repeats it.
        operation: u64,
        /// What it wants.
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
        /// How long a granted lease says it is valid, by the clock of the process; absent if it
        /// states nothing.
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
        /// Why, in a few words.
        reason: String,
    },
    /// The process does not know whether the operation happened.
    Info {
        /// The operation that ends.
        operation: u64,
        /// Why, in a few words.
        reason: String,
    },
    /// The application does not wait for an acquire or a release any longer. If it cancels the
    /// call, the completion follows at once, and nobody knows the outcome; if it interrupts it, the
    /// completion follows when the library is done with it.
    GivenUp {
        /// The operation, which is still open.
        operation: u64,
        /// What the application did.
        how: GivingUp,
    },
    /// What this thread asks, holds and gives back from here on is this one of several locks.
    About {
        /// The lock's key.
        lock: String,
    },
    /// The lock's own code noticed that this thread lost the lock.
    Lost,
    /// This thread waits for the lock and has sent nothing to a server for a while. Told when that
    /// ends or when the run does: of a silence beyond the bound after healing, of any that is
    /// longer than a free lock may be left, and of all who wait when a run ends with nothing ahead
    /// of it. Not part of the digest.
    Silent {
        /// When it sent something last; when it began to wait, if it has sent nothing since.
        since_us: SimTime,
        /// A thread that waits for a free lock sends something within this span.
        bound_us: Micros,
        /// False if the run is over and nothing lay ahead that could wake any process: no timer of
        /// a process, no message from or to one, no fault, and nothing that a server will send by
        /// itself. What Sentinels and servers do among themselves does not count.
        ahead: bool,
    },
    /// The process, with all its threads, or the server died (as a crash or by power loss).
    Crashed,
    /// The part of a server or of a Sentinel in its deployment changes, or somebody dies with a
    /// command under way. Not part of the digest, and absent from histories of older versions of
    /// fencepost.
    Turn {
        /// What changes.
        turn: Turn,
        /// The other one that it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        about: Option<Node>,
    },
    /// The process or server was started again after a crash.
    Started,
    /// A server did something to a key of the lock.
    Server {
        /// The key.
        key: String,
        /// What it did.
        change: Change,
        /// The value (owner) that the key has now, or had before it went.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<String>,
        /// Who asked for it; absent if the server did it by itself or a replica followed its
        /// primary.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Node>,
        /// Whether the server was acting as a primary.
        primary: bool,
        /// The number that the server gave the new holder, if its protocol has one that can serve
        /// as a fencing token.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<u64>,
        /// How long the key has to live from here on, by the clock of the server; absent if it has
        /// no expiry, and in histories of version 1. Not part of the digest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lease_us: Option<Micros>,
    },
    /// The storage answered a request.
    Storage {
        /// The operation of the process that asked.
        operation: u64,
        /// Who asked.
        by: Node,
        /// `read` or `write`.
        access: Access,
        /// The token that the request carried.
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
        /// Every node that it names.
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
    /// Everything is healed; from here on progress is demanded. Not part of the digest.
    Healed,
}

/// What an application does with a call that it does not wait for any longer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GivingUp {
    /// It drops the call where it stands; no code of the library runs for it any more.
    Cancelled,
    /// What the call waits for next fails, and the library cleans up as it does after an error.
    Interrupted,
}

/// What a process wants of the lock or of the storage.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "kebab-case")]
pub enum Action {
    /// Take the lock.
    Acquire,
    /// Give it back.
    Release,
    /// Make the lease last longer.
    Extend,
    /// Ask whether the lock is still one's own.
    Check,
    /// Read the guarded value.
    Read {
        /// The acquisition under which it is read.
        acquisition: u64,
    },
    /// Write the guarded value.
    Write {
        /// The acquisition under which it is written.
        acquisition: u64,
        /// The new value.
        value: i64,
        /// The value that was read before.
        based_on: i64,
    },
}

/// How a request meets the storage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Reads the guarded value.
    Read,
    /// Writes it.
    Write,
}

/// What a server did with a key.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// The key came to be, or changed hands: it has a new value.
    Granted,
    /// Its time to live was set anew.
    Extended,
    /// A command deleted it.
    Removed,
    /// Its time to live ran out by the server's clock.
    Expired,
    /// Evicted to free memory.
    Evicted,
    /// Removed by FLUSHALL or FLUSHDB.
    Flushed,
    /// Discarded by a full resynchronisation with another primary.
    Discarded,
    /// Not found again after a restart.
    Forgotten,
    /// Found again after a restart, or received in a full resynchronisation.
    Restored,
}

/// What changes in a deployment.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Turn {
    /// A replica has become a primary.
    Promoted,
    /// A primary has become a replica of another server.
    Demoted,
    /// A replica follows another server from now on.
    Follows,
    /// A replica has replaced all its data by that of the server that it follows.
    TookOver,
    /// A server acts as a primary, and does not know that another one has become one in its place.
    Unaware,
    /// A Sentinel finds the primary down.
    SubjectivelyDown,
    /// A Sentinel finds the primary up again.
    SubjectivelyUp,
    /// A Sentinel knows of enough Sentinels that find the primary down.
    ObjectivelyDown,
    /// A Sentinel no longer knows of enough of them.
    ObjectivelyUp,
    /// A Sentinel names another primary to all who ask from now on.
    Names,
    /// A process has died, and a message of its own is still on its way.
    InFlight,
    /// A server has died before it answered what it was asked.
    Unanswered,
}

impl Turn {
    /// Returns whether it changes which data is served, rather than a server's belief.
    pub(crate) fn changes_data(self) -> bool {
        matches!(self, Turn::Promoted | Turn::Demoted | Turn::TookOver | Turn::Unaware)
    }
}

impl What {
    /// Returns whether the event is part of the history digest: operations, servers and storage
    /// are; faults, phases, silences and turns are not.
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
