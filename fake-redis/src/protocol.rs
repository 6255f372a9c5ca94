//! Bytes and what they mean.
//!
//! In: bytes of a connection. Out: the arguments of a request; and the other way round, a reply or
//! an error as bytes. `outgoing` is the other end: a server that asks.

pub(crate) mod args;
pub(crate) mod error;
pub(crate) mod inline;
pub(crate) mod outgoing;
pub(crate) mod reply;
pub(crate) mod request;
