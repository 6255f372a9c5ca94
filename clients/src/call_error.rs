use crate::env::Address;
use crate::reply::{InvalidReply, Reply};
use std::io;
use std::time::Duration;

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CallError {
    #[error("no connection to {address}: {reason}")]
    NoConnection { address: Address, reason: String },
    #[error("no primary: {0}")]
    NoPrimary(String),
    #[error("the connection broke before the command was sent: {0}")]
    Unsent(io::ErrorKind),
    /// Counts as not executed, but a failed script may have run in part ([`crate::Script`]).
    #[error("the server answered {0}")]
    Server(String),
    #[error("no reply within {} ms", .0.as_millis())]
    Timeout(Duration),
    #[error("the connection ended before the reply: {0}")]
    Closed(io::ErrorKind),
    #[error("invalid reply: {0}")]
    Malformed(String),
}

impl CallError {
    pub fn may_have_applied(&self) -> bool {
        match self {
            CallError::NoConnection { .. }
            | CallError::NoPrimary(_)
            | CallError::Unsent(_)
            | CallError::Server(_) => false,
            CallError::Timeout(_) | CallError::Closed(_) | CallError::Malformed(_) => true,
        }
    }

    pub fn unexpected(reply: &Reply) -> CallError {
        CallError::Malformed(format!("unexpected {reply:?}"))
    }
}

impl From<InvalidReply> for CallError {
    fn from(nonsense: InvalidReply) -> CallError {
        CallError::Malformed(nonsense.0)
    }
}
