//! The append-only file and snapshots.

pub(crate) mod append_only;
pub(crate) mod disk;
pub(crate) mod save;
pub(crate) mod snapshot;

#[cfg(test)]
mod failure_tests;
#[cfg(test)]
mod tests;
