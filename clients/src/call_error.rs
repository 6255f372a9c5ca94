//! Failures of a call ([`CallError`]), and whether the server may have executed it.

use crate::env::Address;
use crate::reply::{InvalidReply, Reply};
use std::io;
use std::time::Duration;

/// A failed call to a server.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CallError {
    /// The client could not open a connection, so it sent nothing.
    #[error("no connection to {address}: {reason}")]
    NoConnection {
        /// Address to which the client could not connect.
        address: Address,
        /// Refusal, timeout, unknown host name, or another reason.
        reason: String,
    },
    /// The client does not know the primary, so it sent nothing.
    #[error("no primary: {0}")]
    NoPrimary(String),
    /// The connection was already broken, so the client sent nothing.
    #[error("the connection broke before the command was sent: {0}")]
    Unsent(io::ErrorKind),
    /// The server refused the command and did not run it. For scripts, see [`crate::Script`].
    #[error("the server answered {0}")]
    Server(String),
    /// The client sent the command and received no reply within this time limit.
    #[error("no reply within {} ms", .0.as_millis())]
    Timeout(Duration),
    /// The client sent the command, and the connection ended before the reply.
    #[error("the connection ended before the reply: {0}")]
    Closed(io::ErrorKind),
    /// The client sent the command and received bytes that are not a valid reply.
    #[error("invalid reply: {0}")]
    Malformed(String),
}

impl CallError {
    /// Returns whether the server may have executed the command.
    pub fn may_have_applied(&self) -> bool {
        match self {
            CallError::NoConnection { .. }
            | CallError::NoPrimary(_)
            | CallError::Unsent(_)
            | CallError::Server(_) => false,
            CallError::Timeout(_) | CallError::Closed(_) | CallError::Malformed(_) => true,
        }
    }

    /// Returns the error for a reply whose type the command never returns.
    pub fn unexpected(reply: &Reply) -> CallError {
        CallError::Malformed(format!("unexpected {reply:?}"))
    }
}

impl From<InvalidReply> for CallError {
    fn from(nonsense: InvalidReply) -> CallError {
        CallError::Malformed(nonsense.0)
    }
}
