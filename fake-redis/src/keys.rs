//! Access to keys, and notifications of changes.
//!
//! In: a key and its change. Out: the changed keyspace, with notifications to watching, subscribed
//! and blocked clients, the judge, replicas and the append-only file (`propagation`).

pub(crate) mod access;
pub(crate) mod eviction;
pub(crate) mod expiry;
pub(crate) mod notify;
pub(crate) mod propagation;
pub(crate) mod publish;
pub(crate) mod sends;
pub(crate) mod tap;
pub(crate) mod watches;
