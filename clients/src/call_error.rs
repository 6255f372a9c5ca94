//! Failed calls to a server ([`CallError`]).

use crate::env::Address;
use crate::reply::{InvalidReply, Reply};
use std::io;
use std::time::Duration;

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CallError {
    /// The client sent nothing, because it could not connect.
    #[error("no connection to {address}: {reason}")]
    NoConnection { address: Address, reason: String },
    /// The client sent nothing, because it does not know the primary.
    #[error("no primary: {0}")]
    NoPrimary(String),
    /// The client sent nothing, because its connection was already broken.
    #[error("the connection broke before the command was sent: {0}")]
    Unsent(io::ErrorKind),
    /// The server did not run the command. For scripts, see [`crate::Script`].
    #[error("the server answered {0}")]
    Server(String),
    /// The client sent the command, but no reply arrived within this time.
    #[error("no reply within {} ms", .0.as_millis())]
    Timeout(Duration),
    /// The client sent the command, but the connection ended before the reply.
    #[error("the connection ended before the reply: {0}")]
    Closed(io::ErrorKind),
    /// The client sent the command, but the reply is invalid or of an unexpected type.
    #[error("invalid reply: {0}")]
    Malformed(String),
}

impl CallError {
    /// Returns `true` if the server may have executed the command.
    pub fn may_have_applied(&self) -> bool {
        match self {
            CallError::NoConnection { .. }
            | CallError::NoPrimary(_)
            | CallError::Unsent(_)
            | CallError::Server(_) => false,
            CallError::Timeout(_) | CallError::Closed(_) | CallError::Malformed(_) => true,
        }
    }

    /// The error for a reply of a type that the command never returns.
    pub fn unexpected(reply: &Reply) -> CallError {
        CallError::Malformed(format!("unexpected {reply:?}"))
    }
}

impl From<InvalidReply> for CallError {
    fn from(nonsense: InvalidReply) -> CallError {
        CallError::Malformed(nonsense.0)
    }
}
