#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum LeaderStage {
    Inviting,
    Confirming,
    Synchronising,
    Serving,
}
