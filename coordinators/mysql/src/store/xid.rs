//! Ids of transactions that lock or write.

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Xid(pub(crate) u64);
