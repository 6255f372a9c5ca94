//! Causes, decided from the servers' actions and the active faults.
//!
//! A cause is one file here, with its sentences and its meaning (`entry`), one line of the list
//! below, and a row of the table in `decision` for each way to find it.

mod async_replication_loss;
mod classify;
mod clock_drift;
mod clock_jump;
mod clock_skew;
mod coarse_expiry;
mod connection_lost;
mod decision;
mod early_release;
mod entry;
mod eviction;
mod expired_waiter;
mod failover_forgets;
mod flush;
mod foreign_release;
mod given_up_call;
mod hold_too_long;
mod holder_crash;
mod holder_pause;
mod interleaving;
mod latency;
mod lost_place;
mod lost_release;
mod lost_reply;
mod lost_watch;
mod missed_renewal;
mod missed_wakeup;
mod no_primary;
mod old_value;
mod orphan_node;
mod orphan_renewal;
mod partition;
mod restart_data_loss;
mod restart_without_delay;
mod server_outage;
mod session_expired;
mod shared_client_id;
mod shared_owner;
mod split_brain;
mod stale_read;
mod stale_takeover;
mod storage_delay;
#[cfg(test)]
mod tests;
mod unexplained;
mod unfounded_answer;
mod unordered_tokens;
mod unrecorded_job;
mod waiter_crash;
mod waiter_pause;

pub use classify::classify;
pub use entry::Measure;

use super::evidence::Case;
use super::scene::Scene;
use crate::judge::finding::Finding;
use crate::judge::meaning::Meaning;
use crate::judge::timeline::Timeline;
use entry::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};

/// Every cause, with its file.
macro_rules! causes {
    ($($(#[$doc:meta])* $member:ident = $file:ident,)*) => {
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
            $($(#[$doc])* $member,)*
        }

        impl Cause {
            fn entry(self) -> &'static Entry {
                match self {
                    $(Cause::$member => &$file::ENTRY,)*
                }
            }
        }
    };
}

causes! {
    /// The holder's process was paused while its lease expired, or while an answer was on its way.
    HolderPause = holder_pause,
    /// The holder worked longer than its lease, without any fault.
    HoldTooLong = hold_too_long,
    /// The lock renews its lease by itself, and in time no renewal reached the server.
    MissedRenewal = missed_renewal,
    /// A process that does not hold the lock goes on renewing it.
    OrphanRenewal = orphan_renewal,
    /// The server that granted the lock again had never received it, or had discarded it in a
    /// resynchronisation.
    AsyncReplicationLoss = async_replication_loss,
    /// Two servers acted as primary at once, and each of them granted the lock.
    SplitBrain = split_brain,
    /// A server came back without what it had granted and granted it again within the lease.
    RestartWithoutDelay = restart_without_delay,
    /// A server came back without the counter that gives out tokens.
    RestartDataLoss = restart_data_loss,
    /// The tokens come from servers that share no counter: their order says nothing.
    UnorderedTokens = unordered_tokens,
    /// A clock was stepped.
    ClockJump = clock_jump,
    /// A clock ran at the wrong rate.
    ClockDrift = clock_drift,
    /// The server counts leases in whole seconds, and this one ended up to a second early.
    CoarseExpiry = coarse_expiry,
    /// A server evicted the lock to free memory.
    Eviction = eviction,
    /// An operator flushed a server.
    Flush = flush,
    /// Another process removed the lock.
    ForeignRelease = foreign_release,
    /// A process that was asking for the lock removed the one that stood.
    StaleTakeover = stale_takeover,
    /// The holder's own command removed the lock while the holder still relied on it.
    EarlyRelease = early_release,
    /// A command was applied and its sender never heard of it.
    LostReply = lost_reply,
    /// A release never arrived, or arrived when the lock had changed hands.
    LostRelease = lost_release,
    /// A write was still on its way to the storage when the lock changed hands.
    StorageDelay = storage_delay,
    /// The answer of a server was late: most of the lease was over, or its client had given up.
    Latency = latency,
    /// The holder died and nothing freed its lock.
    HolderCrash = holder_crash,
    /// The application cancelled or interrupted a call, and what that had left behind stood on.
    GivenUpCall = given_up_call,
    /// A process that waited for the lock died, and its place in the queue was kept for it.
    WaiterCrash = waiter_crash,
    /// The first in the queue stood still, and others who wanted the lock waited behind it.
    WaiterPause = waiter_pause,
    /// The lock became free, and nothing woke a process that waited for it.
    MissedWakeup = missed_wakeup,
    /// A lock that serves its waiters in order did not keep the place of one.
    LostPlace = lost_place,
    /// The steps of two processes interleaved in an order that the protocol does not survive.
    Interleaving = interleaving,
    /// Threads of one process have one owner value, and a server took the one for the other.
    SharedOwner = shared_owner,
    /// The session of the holder ended, and its node went, while the holder was in its section.
    SessionExpired = session_expired,
    /// A server that was behind told a process that it holds the lock.
    StaleRead = stale_read,
    /// A node that no process knows of is the first of the queue.
    OrphanNode = orphan_node,
    /// The node of a process that waits is the first of the queue, and nothing tells the process.
    LostWatch = lost_watch,
    /// The clocks of two processes differed, and one took a lock that by true time was not expired.
    ClockSkew = clock_skew,
    /// Processes have one client id, and one found the lock of another its own.
    SharedClientId = shared_client_id,
    /// The connection on which a process had the lock, or waited for it, ended without a word to
    /// the process.
    ConnectionLost = connection_lost,
    /// A failover made another server the primary, and what a connection has is not replicated.
    FailoverForgets = failover_forgets,
    /// A process that waited was granted the lock after its lease had ended, and its key had gone.
    ExpiredWaiter = expired_waiter,
    /// A server was down or stood still, and meanwhile nobody was granted the lock.
    ServerOutage = server_outage,
    /// No server that clients were sent to was a primary, and meanwhile nobody was granted the lock.
    NoPrimary = no_primary,
    /// The network was cut at a server, and meanwhile nobody was granted the lock.
    Partition = partition,
    /// A process that had the lock to itself computed what it wrote from an older value.
    OldValue = old_value,
    /// A job was done, its lock given back, and nothing recorded that.
    UnrecordedJob = unrecorded_job,
    /// The lock's own code gave an answer that no server had given.
    UnfoundedAnswer = unfounded_answer,
    /// The rules do not decide it.
    Unexplained = unexplained,
}

impl Cause {
    /// Every cause, in the order of the declaration.
    pub const ALL: &'static [Cause] = Cause::VARIANTS;

    /// The name, as in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Its meaning, for a first-time reader.
    pub fn meaning(self) -> Meaning {
        self.entry().meaning
    }

    /// Its conditions: the required evidence, and why it is tried before other causes.
    pub fn rules(self) -> Vec<String> {
        let rows = decision::TABLE.iter().filter(|row| row.cause == self);
        let rule = |row: &decision::Row| match row.first {
            "" => row.asks.to_owned(),
            first => format!("{}; tried early because {first}", row.asks),
        };
        rows.map(rule).collect()
    }

    /// Returns whether no lock with a lease prevents it: a paused holder cannot check any clock.
    pub fn is_beyond_leases(self) -> bool {
        self.entry().is_beyond_leases
    }

    /// The magnitude of a fault that decides whether it occurs.
    pub fn measure(self) -> Option<Measure> {
        self.entry().measure
    }

    /// Returns whether the run had an event that it needs, by the end of a finding.
    pub(super) fn is_possible(self, case: &Case<'_, '_>) -> bool {
        let needs = self.entry().needs;
        let until = case.finding.at + case.finding.duration;
        needs.is_empty() || needs.iter().any(|need| need.is_met(case, until))
    }

    /// Its sentence in a report.
    pub(super) fn sentence(self, timeline: &Timeline<'_>, finding: &Finding) -> String {
        let entry = self.entry();
        let said = match finding.clash {
            Some(clash) => entry.between.map(|says| says(&Scene::new(timeline, finding, clash))),
            None => entry.alone.map(|says| says(&Case::new(timeline, finding))),
        };
        said.unwrap_or_else(|| entry.meaning.what.to_owned())
    }
}
