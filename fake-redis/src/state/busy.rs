//! What the server knows of a script that runs for long.

use crate::state::client_key::ClientKey;

/// What the server knows of the script meanwhile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Busy {
    /// Whose script it is: it is not served, and not forgotten.
    pub(crate) caller: ClientKey,
    /// Whether the script has called a command that writes.
    pub(crate) has_written: bool,
    /// SCRIPT KILL.
    pub(crate) is_killed: bool,
}
