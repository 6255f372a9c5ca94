use crate::state::client_key::ClientKey;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Busy {
    pub(crate) caller: ClientKey,
    pub(crate) has_written: bool,
    pub(crate) is_killed: bool,
}

#[derive(Debug)]
pub(crate) struct LongScript<A> {
    driver_calls: Option<A>,
    running: Option<Busy>,
}

impl<A> Default for LongScript<A> {
    fn default() -> Self {
        LongScript { driver_calls: None, running: None }
    }
}

impl<A> LongScript<A> {
    pub(crate) fn set_driver(&mut self, driver_calls: A) {
        self.driver_calls = Some(driver_calls);
    }

    pub(crate) fn driver_calls(&self) -> Option<&A> {
        self.driver_calls.as_ref()
    }

    pub(crate) fn interrupt(&mut self, script: Busy) {
        self.running = Some(script);
    }

    pub(crate) fn take_running(&mut self) -> Option<Busy> {
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
