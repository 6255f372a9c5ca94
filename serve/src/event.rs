//! Reports of a host's thread to its starter.

use crate::ServeError;

pub(crate) enum Event {
    /// The server answers requests.
    Ready,
    /// A problem that does not stop the server.
    Warning(String),
    /// The thread ends.
    Ended(Result<(), ServeError>),
}
