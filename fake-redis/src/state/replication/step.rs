//! The replies that a replica expects from its primary during the handshake.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// The reply to PING, for which any status is accepted.
    Pong,
    /// The reply to AUTH, where an error closes the link.
    Authenticated,
    /// The reply to REPLCONF, where an error is ignored.
    Introduced,
    /// The reply to the last REPLCONF, after which PSYNC is sent.
    IntroducedAll,
    Synchronised,
}
