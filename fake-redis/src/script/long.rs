//! A script that runs for long or needs much: when others are looked after, and when it has to end.

use super::run::Run;
use crate::state::busy::Busy;
use crate::state::server::Attendance;
use std::fmt;
use std::time::Duration;

/// A script that was looked at so often is stopped if there is nobody who could look after others:
/// about a second. A machine that is a function of its input cannot let a script run until somebody
/// kills it.
const LOOKS_MAX: u32 = if cfg!(any(test, fuzzing)) { 100 } else { 1_000 };

/// How many bytes a script may use, with all that is compiled beside it. Redis has no such bound.
/// Unit tests and fuzz targets make do with less, and sooner.
pub(super) const MEMORY_MAX: usize = if cfg!(any(test, fuzzing)) { 32 << 20 } else { 256 << 20 };

/// Why a script has to end before it does by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    /// Its bound on instructions.
    Bound,
    /// Its bound on memory.
    Memory,
    /// SCRIPT KILL.
    Killed,
    /// The server ends, and nobody hears of it.
    ServerStopped,
    /// The server panicked, which goes on where the script was called.
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

impl Run<'_> {
    /// Whether the script has to end, which was looked at so often. This is `scriptInterrupt` in
    /// script.c.
    pub(crate) fn look(&mut self, looks: u32) -> Option<Ending> {
        let Some(Attendance { attendant, attend }) = self.server.long_script.attendance().cloned()
        else {
            return (looks > LOOKS_MAX).then_some(Ending::Bound);
        };
        let threshold = self.server.config.busy_reply_threshold;
        let elapsed = attendant.now().saturating_sub(self.began.unwrap_or(Duration::ZERO));
        let is_long = threshold > 0 && elapsed >= Duration::from_millis(threshold.unsigned_abs());
        if !is_long && !attendant.is_leaving() {
            return None;
        }
        let busy = Busy { caller: self.caller, has_written: self.has_written, is_killed: false };
        let busy = attend(self.server, &*attendant, busy);
        if self.server.life.is_over() {
            return Some(Ending::ServerStopped);
        }
        busy.is_killed.then_some(Ending::Killed)
    }
}
