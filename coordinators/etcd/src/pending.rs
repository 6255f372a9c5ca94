//! Calls that are not answered yet, and reads that wait to be sure.

use crate::config::member_id;
use crate::lease::Lease;
use crate::locking::Locking;
use crate::request::{Range, Txn};
use crate::state::Command;
use fencepost_machine::{ConnectionId, WallTime};
use std::collections::{BTreeMap, BTreeSet};

/// How long a member waits until it asks the leader again about reads (`readIndexRetryTime`).
pub(crate) const READ_RETRY_MS: u64 = 500;

/// What a call waits for, or does next.
#[derive(Clone, Debug)]
pub(crate) enum Task {
    Range(Range),
    /// A transaction that changes nothing.
    Look(Txn),
    /// A change; it has not been proposed as long as nobody leads.
    Write {
        command: Command,
        is_proposed: bool,
    },
    Lease(Lease),
    Lock(Locking),
}

/// A call that is not answered yet.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) connection: Option<ConnectionId>,
    pub(crate) started_ms: u64,
    /// When it is refused; never while it waits for a lock.
    pub(crate) deadline_ms: Option<u64>,
    pub(crate) task: Task,
}

/// Reads that wait together to be sure that they are not stale.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) id: u64,
    pub(crate) calls: BTreeSet<u64>,
    pub(crate) started_ms: u64,
    pub(crate) ask_again_ms: u64,
    /// What must be applied first, once that is known.
    pub(crate) index: Option<u64>,
}

/// All calls of a member.
#[derive(Clone, Debug)]
pub(crate) struct Calls {
    pub(crate) pending: BTreeMap<u64, Pending>,
    pub(crate) next_id: u64,
    pub(crate) reading: Option<Reading>,
    pub(crate) waiting_reads: BTreeSet<u64>,
    /// Renewals of leases that have ended and wait to be revoked: of whom, if not of this member.
    pub(crate) ended: Vec<(i64, u64, Option<u8>)>,
}

impl Calls {
    /// Numbers begin where no earlier life of this member can have come to (`idutil.Generator`).
    pub(crate) fn new(member: u8, wall: WallTime) -> Calls {
        let time = u64::try_from(wall.as_millis()).unwrap_or(0) << 8 & 0xffff_ffff_ffff;
        Calls {
            pending: BTreeMap::new(),
            next_id: (member_id(member) & 0x7fff) << 48 | time | 1,
            reading: None,
            waiting_reads: BTreeSet::new(),
            ended: Vec::new(),
        }
    }

    pub(crate) fn next_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    pub(crate) fn connection(&self, call: u64) -> Option<ConnectionId> {
        self.pending.get(&call)?.connection
    }

    /// When something is due, in milliseconds.
    pub(crate) fn next_due(&self) -> Option<u64> {
        let calls = self.pending.values().flat_map(|pending| {
            let again = match &pending.task {
                Task::Lease(lease) => Some(lease.ask_again_ms),
                _ => None,
            };
            [pending.deadline_ms, again]
        });
        let reading = self.reading.as_ref().filter(|reading| reading.index.is_none());
        calls.flatten().chain(reading.map(|reading| reading.ask_again_ms)).min()
    }
}
