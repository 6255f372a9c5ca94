//! The replies that a replica expects from its primary during the handshake.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Pong,
    Authenticated,
    Introduced,
    IntroducedAll,
    Synchronised,
}
