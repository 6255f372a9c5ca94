//! Which reply of the primary is awaited.

/// Which reply is awaited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// To PING: any status will do.
    Pong,
    /// To AUTH: a refusal ends the link.
    Authenticated,
    /// To REPLCONF: a refusal does no harm.
    Introduced,
    /// To the last REPLCONF: PSYNC follows.
    IntroducedAll,
    /// To PSYNC.
    Synchronised,
}
