//! How far a leader is.

/// How far a leader has come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum LeaderStage {
    /// Waits for a majority to tell the epochs that they know.
    Inviting,
    /// Has opened a new epoch, and waits for a majority to accept it.
    Confirming,
    /// Waits for a majority to have its history.
    Synchronising,
    Serving,
}
