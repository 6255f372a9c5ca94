//! Reports from a host's thread to the code that started the thread.

use crate::ServeError;

pub(crate) enum Event {
    Ready,
    Warning(String),
    Ended(Result<(), ServeError>),
}
