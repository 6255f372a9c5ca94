//! How commands reach keys, and who hears of a change.
//!
//! In: a key, and what is to become of it. Out: the changed keyspace, and everybody told: those who
//! watch, track, listen and wait, the judge, and replicas and the append-only file (`propagation`).

pub(crate) mod access;
pub(crate) mod eviction;
pub(crate) mod expiry;
pub(crate) mod monitors;
pub(crate) mod notify;
pub(crate) mod propagation;
pub(crate) mod publish;
pub(crate) mod sends;
pub(crate) mod tap;
pub(crate) mod watches;
