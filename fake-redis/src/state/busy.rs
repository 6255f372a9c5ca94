use crate::state::client_key::ClientKey;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Busy {
    pub(crate) caller: ClientKey,
    pub(crate) has_written: bool,
    pub(crate) is_killed: bool,
}

#[derive(Debug)]
pub(crate) struct LongScript<A> {
    pub(crate) driver_calls: Option<A>,
    pub(crate) running: Option<Busy>,
}

impl<A> Default for LongScript<A> {
    fn default() -> Self {
        LongScript { driver_calls: None, running: None }
    }
}

impl<A> LongScript<A> {
    pub(crate) fn kill(&mut self) {
        if let Some(script) = &mut self.running {
            script.is_killed = true;
        }
    }
}
