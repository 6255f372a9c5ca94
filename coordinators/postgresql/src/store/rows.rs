//! Who may change or lock a version of a row now.

use super::heap::Heap;
use super::transactions::Transactions;
use super::{TableId, VersionId, Xid};
use crate::sql::ast::{LockMode, Strength};

/// How a version stands to somebody who wants to change or lock it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    /// It may be had.
    Free,
    /// A running transaction has it.
    Taken(Xid),
    /// A committed transaction replaced it.
    Replaced(VersionId),
    /// A committed transaction deleted it.
    Deleted,
    /// The own transaction replaced or deleted it.
    Own,
}

impl Strength {
    /// Whether two transactions cannot have a row in both ways. Source: PostgreSQL's documentation,
    /// "Row-Level Locks".
    pub(crate) fn conflicts(self, other: Strength) -> bool {
        match self {
            Strength::KeyShare => other == Strength::Update,
            Strength::Share => other >= Strength::NoKeyUpdate,
            Strength::NoKeyUpdate => other >= Strength::Share,
            Strength::Update => true,
        }
    }

    /// The lock that orders those who wait for a row in this way.
    pub(crate) fn turn(self) -> LockMode {
        match self {
            Strength::KeyShare => LockMode::AccessShare,
            Strength::Share => LockMode::RowShare,
            Strength::NoKeyUpdate => LockMode::Exclusive,
            Strength::Update => LockMode::AccessExclusive,
        }
    }
}

/// Whether a transaction may have a version in some way.
pub(crate) fn standing(
    heap: &Heap,
    transactions: &Transactions,
    (table, id): (TableId, VersionId),
    own: Option<Xid>,
    strength: Strength,
) -> Standing {
    let Some(version) = heap.version(table, id) else { return Standing::Deleted };
    if let Some(ended) = version.ended {
        if Some(ended.by) == own {
            return Standing::Own;
        }
        if transactions.is_running(ended.by) {
            if ended.strength.conflicts(strength) {
                return Standing::Taken(ended.by);
            }
        } else {
            return ended.next.map_or(Standing::Deleted, Standing::Replaced);
        }
    }
    let rival = version
        .lockers
        .iter()
        .find(|(locker, held)| Some(*locker) != own && held.conflicts(strength));
    rival.map_or(Standing::Free, |(locker, _)| Standing::Taken(*locker))
}
