//! Why it happened, decided from what the servers did and which faults acted.

mod asleep;
mod classify;
mod early_loss;
mod old_value;
mod outage;
mod overrun;
pub(super) mod release;
mod session;
mod stuck;
mod takeover;
#[cfg(test)]
mod tests;

pub use classify::classify;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};

/// Why a rule was broken. What the rules cannot decide is `unexplained`, never a guess.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Debug,
    Serialize,
    Deserialize,
    JsonSchema,
    Display,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Cause {
    /// The holder's host stood still while its lease ran out.
    HolderPause,
    /// The holder worked longer than its lease, without any fault.
    HoldTooLong,
    /// The lock renews its lease by itself, and in time no renewal reached the server.
    MissedRenewal,
    /// A process that does not hold the lock goes on renewing it.
    OrphanRenewal,
    /// The server that granted the lock again had never received it, or had discarded it in a
    /// resynchronisation.
    AsyncReplicationLoss,
    /// Two servers acted as primary at once, and each of them granted the lock.
    SplitBrain,
    /// A server came back without what it had granted and granted it again within the lease.
    RestartWithoutDelay,
    /// A server came back without the counter that gives out tokens.
    RestartDataLoss,
    /// The tokens come from servers that share no counter: their order says nothing.
    UnorderedTokens,
    /// A clock was stepped.
    ClockJump,
    /// A clock ran at the wrong rate.
    ClockDrift,
    /// The server counts leases in whole seconds, and this one ended up to a second early.
    CoarseExpiry,
    /// A server evicted the lock to free memory.
    Eviction,
    /// An operator flushed a server.
    Flush,
    /// Another process removed the lock.
    ForeignRelease,
    /// A process that was asking for the lock removed the one that stood.
    StaleTakeover,
    /// The holder's own command removed the lock while the holder was still in its section.
    EarlyRelease,
    /// A command was applied and its sender never heard of it.
    LostReply,
    /// A release never arrived, or arrived when the lock had changed hands.
    LostRelease,
    /// A write was still on its way to the storage when the lock changed hands.
    StorageDelay,
    /// The answer of a server was so late that most of the lease was over.
    Latency,
    /// The holder died and nothing freed its lock.
    HolderCrash,
    /// A process that waited for the lock died, and its place in the queue was kept for it.
    WaiterCrash,
    /// The lock became free, and nothing woke a process that waited for it.
    MissedWakeup,
    /// A lock that serves its waiters in order did not keep the place of one.
    LostPlace,
    /// The steps of two processes interleaved in an order that the protocol does not survive.
    Interleaving,
    /// Threads of one process have one owner value, and a server took the one for the other.
    SharedOwner,
    /// The session of the holder ended, and its node went, while the holder was in its section.
    SessionExpired,
    /// A server that was behind told a process that it holds the lock.
    StaleRead,
    /// A node that no process knows of is the first of the queue.
    OrphanNode,
    /// The node of a process that waits is the first of the queue, and nothing tells the process.
    LostWatch,
    /// The clocks of two processes differed, and one took a lock that by true time was not expired.
    ClockSkew,
    /// Processes have one client id, and one found the lock of another its own.
    SharedClientId,
    /// The connection on which a process had the lock, or waited for it, ended without a word to the
    /// process.
    ConnectionLost,
    /// A failover made another server the primary, and what a connection has is not replicated.
    FailoverForgets,
    /// A process that waited was granted the lock after its lease had ended, and its key had gone.
    ExpiredWaiter,
    /// A server was down or stood still, and meanwhile nobody was granted the lock.
    ServerOutage,
    /// Messages to or between servers were held up, and meanwhile nobody was granted the lock.
    Partition,
    /// A process that had the lock to itself computed what it wrote from an older value.
    OldValue,
    /// The rules do not decide it.
    Unexplained,
}

impl Cause {
    /// Every cause, in the order of the declaration.
    pub const ALL: &'static [Cause] = Cause::VARIANTS;

    /// The name, as in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
