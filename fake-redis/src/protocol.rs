//! Parsing and encoding of RESP.
//!
//! In: bytes of a connection. Out: the arguments of a request; or, in the other direction, a reply
//! or an error as bytes. `outgoing` is the client's side: a server that sends requests.

pub(crate) mod args;
pub(crate) mod error;
pub(crate) mod inline;
pub(crate) mod outgoing;
pub(crate) mod reply;
pub(crate) mod request;
