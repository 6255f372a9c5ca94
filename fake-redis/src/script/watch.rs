//! What a run has used, and may use.

use std::fmt;

/// Why a script has to end before it does by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    /// It reached its bound on instructions.
    Bound,
    /// It reached its bound on memory.
    Memory,
    /// SCRIPT KILL.
    Killed,
    /// The server ends; nobody receives the reply.
    ServerStopped,
    /// The server panicked; the panic goes on where the script was called.
    Panicked,
}

impl fmt::Display for Ending {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Ending::Bound => "Script stopped by fake-redis after its bound on instructions",
            Ending::Memory => "Script stopped by fake-redis: it needs more memory than it may have",
            Ending::Killed => "Script killed by user with SCRIPT KILL...",
            Ending::ServerStopped => "the server has ended",
            Ending::Panicked => "the server panicked",
        })
    }
}

/// What one run has used, and may use.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Whether somebody looks after others, so that the script may run until it is killed.
    pub(super) is_attended: bool,
    /// Instructions counted for work of the host since the last look.
    pub(super) charged: i64,
    /// Bytes that Lua may use.
    pub(super) memory_max: usize,
    /// Why the run has to end, once it has to.
    pub(super) ending: Option<Ending>,
}
