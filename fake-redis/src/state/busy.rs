//! The state during a long script.

use crate::state::client_key::ClientKey;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Busy {
    pub(crate) caller: ClientKey,
    pub(crate) has_written: bool,
    pub(crate) is_killed: bool,
}

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
    pub(crate) fn attend_by(&mut self, attendance: A) {
        self.attendance = Some(attendance);
    }

    pub(crate) fn attendance(&self) -> Option<&A> {
        self.attendance.as_ref()
    }

    pub(crate) fn interrupt(&mut self, script: Busy) {
        self.running = Some(script);
    }

    pub(crate) fn go_on(&mut self) -> Option<Busy> {
        self.running.take()
    }

    pub(crate) fn interrupted(&self) -> Option<Busy> {
        self.running
    }

    pub(crate) fn kill(&mut self) {
        if let Some(script) = &mut self.running {
            script.is_killed = true;
        }
    }
}
