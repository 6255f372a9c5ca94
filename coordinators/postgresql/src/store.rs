//! What the server holds: tables with the versions of their rows, transactions, and locks.

pub(crate) mod heap;
pub(crate) mod locks;
pub(crate) mod rows;
pub(crate) mod serializable;
pub(crate) mod snapshot;
pub(crate) mod table;
pub(crate) mod transaction;
pub(crate) mod transactions;

/// The process id of a backend: names a session for as long as it lasts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Backend(pub(crate) u32);

/// Names a transaction that writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Xid(pub(crate) u64);

/// Names a table for ever.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct TableId(pub(crate) u32);

/// Names a version of a row in its table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct VersionId(pub(crate) u64);
