//! Numbers of transactions.

/// Names a transaction that locks or writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Xid(pub(crate) u64);
