//! Failures of a call, and whether the server may have executed it.

use crate::env::Address;
use crate::reply::{Nonsense, Reply};
use std::io;
use std::time::Duration;

/// A failure of a call. [`CallError::may_have_applied`] tells whether the server may have executed
/// it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CallError {
    /// Nothing was sent: no connection could be opened.
    #[error("no connection to {address}: {reason}")]
    NoConnection {
        /// The server.
        address: Address,
        /// Refused, timed out, or an unknown name.
        reason: String,
    },
    /// Nothing was sent: the primary is unknown.
    #[error("no primary: {0}")]
    NoPrimary(String),
    /// Nothing was sent: the connection was already broken.
    #[error("the connection broke before the command was sent: {0}")]
    Unsent(io::ErrorKind),
    /// The server refused the command. It did not run; for scripts see [`crate::Script`].
    #[error("the server answered {0}")]
    Server(String),
    /// The command was sent, and no reply arrived in time.
    #[error("no reply within {} ms", .0.as_millis())]
    Timeout(Duration),
    /// The command was sent, and the connection ended before the reply.
    #[error("the connection ended before the reply: {0}")]
    Closed(io::ErrorKind),
    /// The command was sent, and the bytes received are no reply to it.
    #[error("a reply that makes no sense: {0}")]
    Malformed(String),
}

impl CallError {
    /// Returns whether the server may have executed the command; if not, it certainly has not.
    pub fn may_have_applied(&self) -> bool {
        match self {
            CallError::NoConnection { .. }
            | CallError::NoPrimary(_)
            | CallError::Unsent(_)
            | CallError::Server(_) => false,
            CallError::Timeout(_) | CallError::Closed(_) | CallError::Malformed(_) => true,
        }
    }

    /// A reply of a kind that the command never has.
    pub fn unexpected(reply: &Reply) -> CallError {
        CallError::Malformed(format!("unexpected {reply:?}"))
    }
}

impl From<Nonsense> for CallError {
    fn from(nonsense: Nonsense) -> CallError {
        CallError::Malformed(nonsense.0)
    }
}
