//! The state of a row version for a transaction that requests a row lock ([`Standing`]).

use super::heap::Heap;
use super::transactions::Transactions;
use super::{TableId, VersionId, Xid};
use crate::sql::ast::{LockMode, Strength};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    Free,
    Taken(Xid),
    Replaced(VersionId),
    Deleted,
    Own,
}

impl Strength {
    /// Returns `true` if two row locks conflict (PostgreSQL's documentation, "Row-Level Locks").
    pub(crate) fn conflicts(self, other: Strength) -> bool {
        match self {
            Strength::KeyShare => other == Strength::Update,
            Strength::Share => other >= Strength::NoKeyUpdate,
            Strength::NoKeyUpdate => other >= Strength::Share,
            Strength::Update => true,
        }
    }

    pub(crate) fn turn(self) -> LockMode {
        match self {
            Strength::KeyShare => LockMode::AccessShare,
            Strength::Share => LockMode::RowShare,
            Strength::NoKeyUpdate => LockMode::Exclusive,
            Strength::Update => LockMode::AccessExclusive,
        }
    }
}

pub(crate) fn standing(
    heap: &Heap,
    transactions: &Transactions,
    table: TableId,
    mut id: VersionId,
    own: Option<Xid>,
    strength: Strength,
) -> Standing {
    loop {
        let Some(version) = heap.version(table, id) else { return Standing::Deleted };
        if let Some(ended) = version.ended {
            if Some(ended.by) == own {
                return Standing::Own;
            }
            if !transactions.is_running(ended.by) {
                return ended.next.map_or(Standing::Deleted, Standing::Replaced);
            }
            if ended.strength.conflicts(strength) {
                return Standing::Taken(ended.by);
            }
        }
        let rival = version.lockers.iter().find(|(locker, held)| {
            Some(*locker) != own && transactions.is_running(*locker) && held.conflicts(strength)
        });
        if let Some((locker, _)) = rival {
            return Standing::Taken(*locker);
        }
        // A lock also covers the later versions that a running transaction has added.
        match version.ended.and_then(|ended| ended.next) {
            Some(next) => id = next,
            None => return Standing::Free,
        }
    }
}
