//! Parsing and encoding of RESP, the Redis protocol.

pub(crate) mod args;
pub(crate) mod error;
pub(crate) mod inline;
pub(crate) mod outgoing;
pub(crate) mod reply;
pub(crate) mod request;
