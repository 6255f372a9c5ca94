//! Expected replies of the primary during the handshake.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// To PING: any status is accepted.
    Pong,
    /// To AUTH: an error closes the link.
    Authenticated,
    /// To REPLCONF: an error is ignored.
    Introduced,
    /// To the last REPLCONF: PSYNC follows.
    IntroducedAll,
    Synchronised,
}
