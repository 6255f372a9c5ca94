//! What the disk is told: the append-only file and when it is synced, and snapshots.
//!
//! In: effects that were gathered, and syncs that are done. Out: what the driver is to write, and
//! messages that have waited for it.

pub(crate) mod append_only;
pub(crate) mod disk;
pub(crate) mod save;
pub(crate) mod snapshot;

#[cfg(test)]
mod tests;
