use serde::{Deserialize, Serialize};
use strum::FromRepr;

#[derive(Clone, Copy, PartialEq, Eq, Debug, FromRepr, Serialize, Deserialize)]
#[repr(i32)]
pub(crate) enum Operation {
    Create = 1,
    Delete = 2,
    Exists = 3,
    GetData = 4,
    SetData = 5,
    GetChildren = 8,
    Sync = 9,
    Ping = 11,
    GetChildren2 = 12,
    Check = 13,
    Multi = 14,
    Create2 = 15,
    Reconfig = 16,
    CheckWatches = 17,
    RemoveWatches = 18,
    CreateContainer = 19,
    DeleteContainer = 20,
    CreateTtl = 21,
    Auth = 100,
    SetWatches = 101,
    CloseSession = -11,
}

pub(crate) mod result {
    pub(crate) const CREATE: i32 = 1;
    pub(crate) const DELETE: i32 = 2;
    pub(crate) const SET_DATA: i32 = 5;
    pub(crate) const CHECK: i32 = 13;
    pub(crate) const CREATE2: i32 = 15;
    pub(crate) const ERROR: i32 = -1;
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, FromRepr)]
#[repr(i32)]
pub(crate) enum Refusal {
    /// Result code of each operation that follows the failed one in a multi.
    RuntimeInconsistency = -2,
    Marshalling = -5,
    Unimplemented = -6,
    BadArguments = -8,
    UnknownSession = -12,
    NoNode = -101,
    NoAuth = -102,
    BadVersion = -103,
    NoChildrenForEphemerals = -108,
    NodeExists = -110,
    NotEmpty = -111,
    SessionExpired = -112,
    InvalidAcl = -114,
    AuthFailed = -115,
    SessionMoved = -118,
    NoWatcher = -121,
    ReconfigDisabled = -123,
}

impl Refusal {
    pub(crate) fn number(self) -> i32 {
        self as i32
    }
}

pub(crate) const NOTIFICATION_XID: i32 = -1;
pub(crate) const PING_XID: i32 = -2;
