//! What a host's thread reports to whoever started it.

use crate::ServeError;

/// What a host's thread reports.
pub(crate) enum Event {
    /// The server answers requests.
    Ready,
    /// Something is not as it should be, and the server goes on.
    Warning(String),
    /// The thread ends.
    Ended(Result<(), ServeError>),
}
