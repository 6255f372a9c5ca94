//! Row versions, transactions and locks.

pub(crate) mod heap;
pub(crate) mod locks;
pub(crate) mod rows;
pub(crate) mod serializable;
pub(crate) mod snapshot;
pub(crate) mod table;
pub(crate) mod transaction;
pub(crate) mod transactions;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Backend(pub(crate) u32);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Xid(pub(crate) u64);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct TableId(pub(crate) u32);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct VersionId(pub(crate) u64);
