//! Stages of a leader, from inviting followers to serving clients.

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum LeaderStage {
    Inviting,
    Confirming,
    Synchronising,
    Serving,
}
