//! Persistence: the append-only file, its syncs, and snapshots.
//!
//! In: collected effects and finished syncs. Out: outputs for the disk, and messages that waited
//! for it.

pub(crate) mod append_only;
pub(crate) mod disk;
pub(crate) mod save;
pub(crate) mod snapshot;

#[cfg(test)]
mod tests;
