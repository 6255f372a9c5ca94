use crate::config::member_id;
use crate::lease::Lease;
use crate::locking::Locking;
use crate::request::{Range, Txn};
use crate::state::Command;
use fencepost_machine::{ConnectionId, WallTime};
use std::collections::{BTreeMap, BTreeSet};

/// Interval in milliseconds between two requests for a read index (`readIndexRetryTime`).
pub(crate) const READ_RETRY_MS: u64 = 500;

#[derive(Clone, Debug)]
pub(crate) enum Task {
    Range(Range),
    Look(Txn),
    Write { command: Command, is_proposed: bool },
    Lease(Lease),
    Lock(Locking),
}

#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub(crate) connection: Option<ConnectionId>,
    pub(crate) started_ms: u64,
    /// Time in milliseconds at which the call times out. `None` while the call waits for a lock.
    pub(crate) deadline_ms: Option<u64>,
    pub(crate) task: Task,
}

#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) id: u64,
    pub(crate) calls: BTreeSet<u64>,
    pub(crate) started_ms: u64,
    pub(crate) ask_again_ms: u64,
    pub(crate) index: Option<u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Calls {
    pub(crate) pending: BTreeMap<u64, Pending>,
    pub(crate) next_id: u64,
    pub(crate) reading: Option<Reading>,
    pub(crate) waiting_reads: BTreeSet<u64>,
    /// Renewals that wait until an expired lease is revoked: lease, call, requesting member.
    pub(crate) ended: Vec<(i64, u64, Option<u8>)>,
}

impl Calls {
    /// Derives the first call id from the member and the wall clock (`idutil.Generator`).
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
