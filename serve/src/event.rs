//! Reports of a host's thread to its starter.

use crate::ServeError;

pub(crate) enum Event {
    Ready,
    Warning(String),
    Ended(Result<(), ServeError>),
}
