//! The causes of violations. Each cause has a file with its `ENTRY`, a line in the list below, and,
//! except `unexplained`, rows in the table in `decision`.

mod async_replication_loss;
mod classify;
mod clock_drift;
mod clock_jump;
mod clock_skew;
mod coarse_expiry;
mod connection_lost;
mod decision;
mod disk_failure;
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
mod lock_order;
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
pub(crate) use entry::Tells;

use super::evidence::Case;
use super::scene::Scene;
use crate::judge::finding::{Finding, Kind};
use crate::judge::meaning::Meaning;
use crate::judge::timeline::Timeline;
use entry::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use strum::{Display, IntoStaticStr, VariantArray};

macro_rules! causes {
    ($($(#[doc = $what:literal])+ $member:ident = $file:ident,)*) => {
        /// Cause of a violation; `unexplained` if the recorded events do not show the cause.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        #[derive(Serialize, Deserialize, JsonSchema, Display, IntoStaticStr, VariantArray)]
        #[serde(rename_all = "kebab-case")]
        #[strum(serialize_all = "kebab-case")]
        pub enum Cause {
            $($(#[doc = $what])+ $member,)*
        }

        impl Cause {
            /// Returns what the cause means, in sentences.
            pub fn what(self) -> &'static str {
                match self {
                    $(Cause::$member => concat!($($what),+).trim_start(),)*
                }
            }

            fn entry(self) -> &'static Entry {
                match self {
                    $(Cause::$member => &$file::ENTRY,)*
                }
            }
        }
    };
}

causes! {
    /// The holder's process was paused, or a process was paused during a lock call.
    HolderPause = holder_pause,
    /// The holder worked for longer than its lease or the bound.
    HoldTooLong = hold_too_long,
    /// The lock renews its lease, but no renewal took effect in time.
    MissedRenewal = missed_renewal,
    /// A process that does not hold the lock sent a renewal.
    OrphanRenewal = orphan_renewal,
    /// A server never received a change that another server had made, or discarded the lock.
    AsyncReplicationLoss = async_replication_loss,
    /// Two servers acted as primary at the same time, and each granted or extended the lock.
    SplitBrain = split_brain,
    /// A server restarted without a lock that it had granted, and granted the lock to another
    /// process.
    RestartWithoutDelay = restart_without_delay,
    /// A server restarted without the latest value of the counter that issues fencing tokens.
    RestartDataLoss = restart_data_loss,
    /// The tokens do not come from one counter, so their order has no meaning.
    UnorderedTokens = unordered_tokens,
    /// A server's or a process's wall clock was stepped.
    ClockJump = clock_jump,
    /// A server's or a process's clock ran at the wrong rate.
    ClockDrift = clock_drift,
    /// The server counts leases in whole seconds, and a lease expired up to one second early.
    CoarseExpiry = coarse_expiry,
    /// A server evicted the lock or the token counter to free memory.
    Eviction = eviction,
    /// An operator flushed a server, which deleted its keys.
    Flush = flush,
    /// Another process removed the lock.
    ForeignRelease = foreign_release,
    /// Another process removed the lock while acquiring it.
    StaleTakeover = stale_takeover,
    /// The holder's own command removed the lock, but the holder still relied on the lock.
    EarlyRelease = early_release,
    /// A server executed a command, but its reply never reached the sender.
    LostReply = lost_reply,
    /// A release never arrived, was not confirmed, or arrived late.
    LostRelease = lost_release,
    /// A write was still in transit to the storage when the lock changed hands, or the holder
    /// waited for the storage until its lease had expired.
    StorageDelay = storage_delay,
    /// Messages were delayed, or a server was slow.
    Latency = latency,
    /// The lock's owner crashed, and its lock remained.
    HolderCrash = holder_crash,
    /// The application cancelled or interrupted a lock call whose effects remained.
    GivenUpCall = given_up_call,
    /// No lock was set, and a process crashed while it waited.
    WaiterCrash = waiter_crash,
    /// The first process in the queue was paused.
    WaiterPause = waiter_pause,
    /// The lock became free, but a waiting process was not woken.
    MissedWakeup = missed_wakeup,
    /// Several processes each held a lock and waited for a lock that another of them held.
    LockOrder = lock_order,
    /// A lock that promises an order did not serve its waiters in this order.
    LostPlace = lost_place,
    /// The steps of several processes interleaved in an order that breaks the protocol.
    Interleaving = interleaving,
    /// Threads or processes shared an owner value, so the lock could not tell them apart.
    SharedOwner = shared_owner,
    /// The holder's session or membership ended, so its node, key or lock was deleted.
    SessionExpired = session_expired,
    /// A lagging server told a process that the process held the lock.
    StaleRead = stale_read,
    /// The queue contains a node that no process knows of.
    OrphanNode = orphan_node,
    /// The node of a waiting process is first in the queue, but no watch event reaches the
    /// process.
    LostWatch = lost_watch,
    /// Processes' clocks differed: one process took a lock that had not expired in true time, or
    /// waited for a lock that was free.
    ClockSkew = clock_skew,
    /// Processes share a client id, and one process mistook another process's lock for its own.
    SharedClientId = shared_client_id,
    /// The connection of a holder or waiting process ended without the process noticing.
    ConnectionLost = connection_lost,
    /// A failover lost locks that belong to a connection, because such locks are not replicated.
    FailoverForgets = failover_forgets,
    /// A waiting process was granted the lock after its lease had ended and its key had been
    /// deleted from the queue.
    ExpiredWaiter = expired_waiter,
    /// A server was down or paused, and meanwhile no process was granted the lock.
    ServerOutage = server_outage,
    /// A server's disk failed to sync, and the server stopped or refused every write.
    DiskFailure = disk_failure,
    /// No process was granted the lock while clients could not find a primary.
    NoPrimary = no_primary,
    /// During a partition, no process was granted the lock, or a grant arrived late.
    Partition = partition,
    /// The only holder computed its write from an outdated value.
    OldValue = old_value,
    /// A job was done, but its completion was not recorded.
    UnrecordedJob = unrecorded_job,
    /// The lock's own code told its caller that the lock was granted, refused, lost or released,
    /// although no server had said so.
    UnfoundedAnswer = unfounded_answer,
    /// The recorded events do not show the reason.
    Unexplained = unexplained,
}

impl Cause {
    pub const ALL: &'static [Cause] = Cause::VARIANTS;

    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn meaning(self) -> Meaning {
        let Entry { how, helps, .. } = *self.entry();
        Meaning { how, helps }
    }

    /// Returns the rules for this cause, without duplicates. Each rule states its evidence and, if
    /// there is one, the reason to check it before other rules.
    pub fn rules(self) -> Vec<String> {
        let rows = decision::TABLE.iter().filter(|row| row.cause == self);
        let rule = |row: &decision::Row| match row.first {
            "" => row.asks.to_owned(),
            first => format!("{}; checked before other causes because {first}", row.asks),
        };
        let mut seen = BTreeSet::new();
        rows.map(rule).filter(|rule| seen.insert(rule.clone())).collect()
    }

    pub fn is_of_failover(self) -> bool {
        self.entry().is_of_failover
    }

    /// Returns whether no algorithm that grants leases can prevent the cause: a holder can outlive
    /// any lease, and a write can arrive after any lease.
    pub fn is_beyond_leases(self) -> bool {
        self.entry().is_beyond_leases
    }

    /// Returns whether the cause is work that took longer than the lease or the bound.
    pub fn is_long_work(self) -> bool {
        self.entry().is_long_work
    }

    pub(super) fn is_of_lock_code(self) -> bool {
        self.entry().is_of_lock_code
    }

    pub(crate) fn tells(self, kind: Kind) -> Tells {
        match self.entry().tells {
            // For other rules, the usual narrative already describes the steps of both holders.
            Tells::Takeover if kind != Kind::ForeignRelease => Tells::Usual,
            tells => tells,
        }
    }

    pub fn measure(self) -> Option<Measure> {
        self.entry().measure
    }

    pub(super) fn is_possible(self, case: &Case<'_, '_>) -> bool {
        let needs = self.entry().needs;
        let until = case.finding.at + case.finding.duration;
        needs.is_empty() || needs.iter().any(|need| need.is_met(case, until))
    }

    pub(super) fn sentence(self, timeline: &Timeline<'_>, finding: &Finding) -> String {
        let entry = self.entry();
        let said = match finding.clash {
            Some(clash) => entry.between.map(|says| says(&Scene::new(timeline, finding, clash))),
            None => entry.alone.map(|says| says(&Case::new(timeline, finding))),
        };
        said.filter(|said| !said.is_empty()).unwrap_or_else(|| self.what().to_owned())
    }
}
