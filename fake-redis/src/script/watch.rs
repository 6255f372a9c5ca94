use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    Bound,
    Memory,
    Killed,
    ServerStopped,
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

#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// `true` if a driver serves other clients; the script then has no instruction limit.
    pub(super) has_driver: bool,
    pub(super) charged: i64,
    pub(super) memory_max: usize,
    pub(super) ending: Option<Ending>,
}
