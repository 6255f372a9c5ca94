//! What subscribers are told.

/// Something that happened, published on the channel of its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Event {
    /// The channel, such as `+sdown`.
    pub(crate) channel: &'static str,
    /// The message, such as `master mymaster 10.0.0.1 6379`.
    pub(crate) message: String,
}
