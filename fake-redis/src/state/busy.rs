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

/// Who looks after others while a script runs for long, and the script while they do; `A` is who
/// looks after them.
#[derive(Debug)]
pub(crate) struct LongScript<A> {
    attendance: Option<A>,
    running: Option<Busy>,
}

impl<A> Default for LongScript<A> {
    fn default() -> Self {
        LongScript { attendance: None, running: None }
    }
}

impl<A> LongScript<A> {
    /// From now on there is somebody who looks after others.
    pub(crate) fn attend_by(&mut self, attendance: A) {
        self.attendance = Some(attendance);
    }

    /// Who looks after others, if anybody does.
    pub(crate) fn attendance(&self) -> Option<&A> {
        self.attendance.as_ref()
    }

    /// Others are looked after in the middle of this script: everything but SCRIPT KILL and the
    /// like is refused with `-BUSY`.
    pub(crate) fn interrupt(&mut self, script: Busy) {
        self.running = Some(script);
    }

    /// The script goes on; what became of it meanwhile.
    pub(crate) fn go_on(&mut self) -> Option<Busy> {
        self.running.take()
    }

    /// The script in the middle of which others are looked after.
    pub(crate) fn interrupted(&self) -> Option<Busy> {
        self.running
    }

    /// SCRIPT KILL: the script ends when it goes on.
    pub(crate) fn kill(&mut self) {
        if let Some(script) = &mut self.running {
            script.is_killed = true;
        }
    }
}
