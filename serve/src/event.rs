//! Reports of a host's thread to the code that started it.

use crate::ServeError;

pub(crate) enum Event {
    Ready,
    Warning(String),
    Ended(Result<(), ServeError>),
}
