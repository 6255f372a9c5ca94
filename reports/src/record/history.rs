//! The events of a run, in true time. Operations follow Jepsen's `invoke / ok / fail / info`. A
//! [`History`] also contains records that clients cannot see, such as faults and the servers'
//! changes to the lock's keys.

mod header;
mod locks;
mod setting;
mod workload;

pub use header::{Availability, Header, SlowAnswers, SyncFails};
pub use setting::{Checks, Keeping, StorageRule};
pub use workload::Workload;

use fencepost_faults::{FaultKind, Micros, Node, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

pub const FORMAT: &str = "fencepost.history";
pub const VERSION: u32 = 2;

/// Recorded events of one run, and facts about the run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct History {
    /// Name of the format, always `fencepost.history`.
    #[schemars(extend("const" = FORMAT))]
    pub format: String,
    /// Version of the format. Version 1, without silences and leases, can still be read.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// Facts about the run that events do not state.
    pub header: Header,
    /// Events of the run, ordered by time and then by `sequence`, which has no gaps.
    pub events: Vec<Event>,
    /// Time and reason of the end; if absent, the run ended with its last event. Not part of the
    /// digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
}

/// When and why a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Ended {
    /// Virtual time in microseconds at which the run ended; never earlier than the last event.
    pub at_us: SimTime,
    /// Reason for the end.
    pub why: WhyEnded,
}

/// Reason for the end of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhyEnded {
    /// Every process finished its work or crashed for good.
    Finished,
    /// The run reached its limit of virtual time (`max-time`) before all processes had finished.
    TimeLimit,
    /// Some process had not finished, and no pending event could wake a process.
    NothingAhead,
}

/// One entry in the history of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Position of the event in the history, counted from 0. Events at the same time are ordered by
    /// this position.
    pub sequence: u64,
    /// Virtual time of the event in microseconds.
    pub time_us: SimTime,
    /// Node of the event: a process or one of its threads, a server, a Sentinel, or the storage.
    /// Starts and crashes of a process concern all its threads, but name only the first thread.
    pub node: Node,
    /// The event's kind (`event`) and its fields.
    #[serde(flatten)]
    pub what: What,
}

/// Kinds of events, with the fields that each kind adds to its event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum What {
    /// A thread of a process starts an operation. A thread has at most one open operation.
    Invoke {
        /// Number of the operation in the run. The completion of the operation has the same number.
        operation: u64,
        /// Requested action, in `action`, with its fields.
        #[serde(flatten)]
        action: Action,
    },
    /// The process was told that the operation succeeded.
    Ok {
        /// Number from the operation's `invoke` event.
        operation: u64,
        /// Owner value of the granted lock; absent unless the operation is an acquire.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<String>,
        /// Fencing token of the granted lock; absent unless an acquire returned one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<u64>,
        /// Validity of the granted lease that the lock reports, in microseconds of the process's
        /// clock; absent if the lock reports none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        valid_for_us: Option<Micros>,
        /// Value that the operation read from the storage; absent unless the operation is a read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<i64>,
    },
    /// The process was told that the operation did not take effect.
    Fail {
        /// Number from the operation's `invoke` event.
        operation: u64,
        /// Reason for the failure, in a few words.
        reason: String,
    },
    /// The operation ended, and the process does not know whether it took effect.
    Info {
        /// Number from the operation's `invoke` event.
        operation: u64,
        /// Reason for the unknown outcome, in a few words.
        reason: String,
    },
    /// The application stops waiting for an acquire or a release. If the application cancels the
    /// call, the completion follows immediately and the outcome is unknown. If the application
    /// interrupts the call, the completion follows when the library has finished.
    GivenUp {
        /// Number from the `invoke` event of the open operation.
        operation: u64,
        /// Way of giving up: cancelled (no more library code runs) or interrupted.
        how: GivingUp,
    },
    /// The next operations of this thread concern another lock of the run.
    About {
        /// Key of the lock that the next operations concern.
        lock: String,
    },
    /// The lock's own code reported that this thread lost the lock.
    Lost,
    /// This thread waits for the lock and has sent no message to a server for some time. The event
    /// is recorded at the end of the silence or of the run, if the silence since healing exceeds
    /// `bound_us` or the whole silence may be evidence of unavailability. If the run ends with
    /// `nothing-ahead`, the event is recorded for every waiting thread. Not part of the digest.
    Silent {
        /// The later of two virtual times in microseconds: the time of the thread's last message,
        /// and the start of the wait.
        since_us: SimTime,
        /// Time limit in microseconds for a thread that waits for a free lock to send a message.
        bound_us: Micros,
        /// `false` if the run has ended and no pending event could wake a process. Timers of
        /// servers and traffic among servers and Sentinels do not count.
        ahead: bool,
    },
    /// A process with all its threads, a server or a Sentinel crashed, exited or lost power.
    Crashed,
    /// The role or disk of a server or the view of a Sentinel changes, or a node crashes during an
    /// exchange. Absent in histories of older versions. Not part of the digest.
    Turn {
        /// Kind of the change or crash.
        turn: Turn,
        /// Other node involved, such as the new primary of a replica; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        about: Option<Node>,
    },
    /// A process, server or Sentinel restarted after a crash.
    Started,
    /// A server changed a key of the lock.
    Server {
        /// Name of the changed key.
        key: String,
        /// Kind of the change, for example by a command or by expiry.
        change: Change,
        /// Value of the key (the owner) after the change; if the key was removed, the value before
        /// the change.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<String>,
        /// Process whose request caused the change; absent if the server acted by itself or as a
        /// replica that follows its primary.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Node>,
        /// `true` if the server acted as a primary, `false` if it acted as a replica.
        primary: bool,
        /// Number that the server gave the new holder as a possible fencing token; absent if none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<u64>,
        /// Remaining lifetime of the key in microseconds of the server's clock; absent if no expiry
        /// is recorded. Not part of the digest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lease_us: Option<Micros>,
    },
    /// The guarded storage executed or rejected a request.
    Storage {
        /// Number from the `invoke` event of the read or write.
        operation: u64,
        /// Process or thread that sent the request.
        by: Node,
        /// Kind of request: `read` or `write`.
        access: Access,
        /// Fencing token in the request; absent if the request had none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<u64>,
        /// Operation number of the acquire that the request belongs to.
        acquisition: u64,
        /// `false` if the storage rejected the request because of its token.
        accepted: bool,
        /// Guarded value before the request, even if the storage rejected the request.
        before: i64,
        /// Guarded value after the request; the same as `before` unless a write was accepted.
        after: i64,
        /// Value that the process had read before this write; absent unless the request is a write.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        based_on: Option<i64>,
    },
    /// A fault of the plan began. Not part of the digest.
    FaultBegan {
        /// `id` of the fault in the plan.
        fault: u32,
        /// Kind of the fault, as in the plan.
        kind: FaultKind,
        /// All nodes that the fault affects: its targets, or both sides of its links.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        nodes: Vec<Node>,
    },
    /// A fault of the plan ended. Not part of the digest.
    FaultEnded {
        /// `id` of the fault in the plan.
        fault: u32,
        /// Kind of the fault, as in the plan.
        kind: FaultKind,
    },
    /// All faults and failures of syncs have ended. Not part of the digest.
    Healed,
}

/// Way in which an application stops waiting for a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GivingUp {
    /// The application drops the call, and no more library code runs for the call.
    Cancelled,
    /// The next wait of the call fails, and the library cleans up as after an error.
    Interrupted,
}

/// A process's request to the lock or the storage.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema, IntoStaticStr)]
#[serde(tag = "action", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Action {
    /// Acquire the lock, with all attempts until success or timeout.
    Acquire,
    /// Release the lock.
    Release,
    /// Extend the lease.
    Extend,
    /// Check whether the process still holds the lock.
    Check,
    /// Read the guarded value.
    Read {
        /// Operation number of the acquire that the read belongs to.
        acquisition: u64,
    },
    /// Write the guarded value.
    Write {
        /// Operation number of the acquire that the write belongs to.
        acquisition: u64,
        /// Guarded value after the write, if the storage accepts it.
        value: i64,
        /// Value that the process had read before the write.
        based_on: i64,
    },
}

impl Action {
    pub fn name(&self) -> &'static str {
        self.into()
    }
}

/// Kind of a storage request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Read of the guarded value.
    Read,
    /// Write of the guarded value.
    Write,
}

/// Kind of change that a server made to a key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// The key was created or received a new value.
    Granted,
    /// The key's time to live was reset.
    Extended,
    /// A command deleted the key, or the key's connection ended.
    Removed,
    /// The key expired by the server's clock, or ended with its session or membership.
    Expired,
    /// The server evicted the key to free memory.
    Evicted,
    /// FLUSHALL, FLUSHDB or flush_all deleted the key.
    Flushed,
    /// A full resynchronisation with another server, or a former grantor, discarded the key.
    Discarded,
    /// The key was missing after a restart of the server.
    Forgotten,
    /// The key survived a restart of the server, or the server received the key in a full
    /// resynchronisation or as a new grantor.
    Restored,
}

/// A change of a server or of a Sentinel's view, or a crash during an exchange of messages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Turn {
    /// A replica has become a primary.
    Promoted,
    /// A primary has become a replica of another server.
    Demoted,
    /// A replica starts to follow another server.
    Follows,
    /// A replica has replaced all its data with the data of the server that it follows.
    TookOver,
    /// A server acts as a primary and does not know that another server has replaced it.
    Unaware,
    /// A Sentinel considers the primary down.
    SubjectivelyDown,
    /// A Sentinel considers the primary up again.
    SubjectivelyUp,
    /// A Sentinel learns that a quorum of Sentinels considers the primary down.
    ObjectivelyDown,
    /// A Sentinel no longer counts a quorum of Sentinels that consider the primary down.
    ObjectivelyUp,
    /// A Sentinel starts to report another server as the primary.
    Names,
    /// A process crashed while one of its messages was in transit.
    InFlight,
    /// A server or Sentinel crashed before it answered a process.
    Unanswered,
    /// A server stops because its disk failed to sync. A crash event follows.
    DiskFailed,
    /// A server refuses every write from now on, because its disk failed.
    RefusesWrites,
    /// A server that refused writes accepts them again.
    TakesWrites,
}

impl Turn {
    pub(crate) fn changes_data(self) -> bool {
        matches!(self, Turn::Promoted | Turn::Demoted | Turn::TookOver | Turn::Unaware)
    }

    pub(crate) fn changes_writes(self) -> bool {
        matches!(self, Turn::RefusesWrites | Turn::TakesWrites)
    }
}

impl What {
    /// Returns `false` for faults, healing, silences and turns.
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
