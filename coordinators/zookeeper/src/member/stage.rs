//! Stages of leadership.

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum LeaderStage {
    /// Waiting for a majority to report its epochs.
    Inviting,
    /// Waiting for a majority to accept the new epoch.
    Confirming,
    /// Waiting for a majority to have the leader's history on disk.
    Synchronising,
    Serving,
}
