//! Numbers of the ZooKeeper protocol: operations, errors and reserved xids.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    Create,
    Delete,
    Exists,
    GetData,
    SetData,
    GetChildren,
    Sync,
    Ping,
    GetChildren2,
    Check,
    Multi,
    Create2,
    Reconfig,
    CheckWatches,
    RemoveWatches,
    CreateContainer,
    DeleteContainer,
    CreateTtl,
    Auth,
    SetWatches,
    CloseSession,
}

const OPERATIONS: [(Operation, i32); 21] = [
    (Operation::Create, 1),
    (Operation::Delete, 2),
    (Operation::Exists, 3),
    (Operation::GetData, 4),
    (Operation::SetData, 5),
    (Operation::GetChildren, 8),
    (Operation::Sync, 9),
    (Operation::Ping, 11),
    (Operation::GetChildren2, 12),
    (Operation::Check, 13),
    (Operation::Multi, 14),
    (Operation::Create2, 15),
    (Operation::Reconfig, 16),
    (Operation::CheckWatches, 17),
    (Operation::RemoveWatches, 18),
    (Operation::CreateContainer, 19),
    (Operation::DeleteContainer, 20),
    (Operation::CreateTtl, 21),
    (Operation::Auth, 100),
    (Operation::SetWatches, 101),
    (Operation::CloseSession, -11),
];

impl Operation {
    pub(crate) fn of(number: i32) -> Option<Operation> {
        OPERATIONS.iter().find(|(_, known)| *known == number).map(|(operation, _)| *operation)
    }

    pub(crate) fn number(self) -> i32 {
        let known = OPERATIONS.iter().find(|(operation, _)| *operation == self);
        known.map_or(0, |(_, number)| *number)
    }
}

pub(crate) mod result {
    pub(crate) const CREATE: i32 = 1;
    pub(crate) const DELETE: i32 = 2;
    pub(crate) const SET_DATA: i32 = 5;
    pub(crate) const CHECK: i32 = 13;
    pub(crate) const CREATE2: i32 = 15;
    pub(crate) const ERROR: i32 = -1;
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// The code for those operations of a multi that follow the failed operation.
    RuntimeInconsistency,
    Marshalling,
    Unimplemented,
    BadArguments,
    UnknownSession,
    NoNode,
    NoAuth,
    BadVersion,
    NoChildrenForEphemerals,
    NodeExists,
    NotEmpty,
    SessionExpired,
    InvalidAcl,
    AuthFailed,
    SessionMoved,
    NoWatcher,
    ReconfigDisabled,
}

const NUMBERS: [(Refusal, i32); 17] = [
    (Refusal::RuntimeInconsistency, -2),
    (Refusal::Marshalling, -5),
    (Refusal::Unimplemented, -6),
    (Refusal::BadArguments, -8),
    (Refusal::UnknownSession, -12),
    (Refusal::NoNode, -101),
    (Refusal::NoAuth, -102),
    (Refusal::BadVersion, -103),
    (Refusal::NoChildrenForEphemerals, -108),
    (Refusal::NodeExists, -110),
    (Refusal::NotEmpty, -111),
    (Refusal::SessionExpired, -112),
    (Refusal::InvalidAcl, -114),
    (Refusal::AuthFailed, -115),
    (Refusal::SessionMoved, -118),
    (Refusal::NoWatcher, -121),
    (Refusal::ReconfigDisabled, -123),
];

impl Refusal {
    pub(crate) fn number(self) -> i32 {
        let known = NUMBERS.iter().find(|(refusal, _)| *refusal == self);
        known.map_or(0, |(_, number)| *number)
    }

    pub(crate) fn of(number: i32) -> Option<Refusal> {
        NUMBERS.iter().find(|(_, known)| *known == number).map(|(refusal, _)| *refusal)
    }
}

pub(crate) const NOTIFICATION_XID: i32 = -1;
pub(crate) const PING_XID: i32 = -2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_has_a_number_of_its_own() {
        for (refusal, number) in NUMBERS {
            assert_eq!((refusal.number(), Refusal::of(number)), (number, Some(refusal)));
        }
    }
}
