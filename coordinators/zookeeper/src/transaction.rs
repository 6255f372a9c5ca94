//! Transactions ([`Transaction`]). An ensemble agrees on them and logs them in zxid order.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Transaction {
    /// Zxid: the leader's epoch in the upper half, a counter in the lower half.
    pub(crate) zxid: i64,
    pub(crate) session: i64,
    pub(crate) cxid: i32,
    pub(crate) time_ms: i64,
    pub(crate) change: Change,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Change {
    Create(Creation),
    Delete { path: String },
    SetData { path: String, data: Option<Bytes>, version: i32 },
    Check,
    Multi(Vec<Change>),
    Refused(i32),
    OpenSession { timeout_ms: i32 },
    CloseSession { paths: Vec<String> },
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Creation {
    pub(crate) path: String,
    pub(crate) data: Option<Bytes>,
    pub(crate) owner: i64,
    pub(crate) parent_created: i32,
    pub(crate) is_told_stat: bool,
}
