use crate::event::{Event, Events};
use fencepost_machine::ConnectionId;

#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) lease_until: u64,
    pub(super) blocked: Option<(ConnectionId, u64)>,
    pub(super) events: Events,
    pub(super) knows_master: bool,
}

impl Session {
    pub(super) fn new(lease_until: u64) -> Session {
        let events = Events::default();
        Session { lease_until, blocked: None, events, knows_master: true }
    }

    pub(super) fn taken_over(lease_until: u64) -> Session {
        let mut session = Session { knows_master: false, ..Session::new(lease_until) };
        session.events.push(Event::FailedOver);
        session
    }

    pub(super) fn answer_at(&self, before: u64) -> u64 {
        match self.blocked {
            Some(_) => self.lease_until.saturating_sub(before),
            None => u64::MAX,
        }
    }
}
