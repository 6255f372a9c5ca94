//! A session, as its master knows it.

use crate::event::{Event, Events};
use fencepost_machine::ConnectionId;

/// A session.
#[derive(Clone, Debug)]
pub(super) struct Session {
    /// Until then it is not ended.
    pub(super) lease_until: u64,
    /// The KeepAlive that waits for its answer, and since when.
    pub(super) blocked: Option<(ConnectionId, u64)>,
    pub(super) events: Events,
    /// Whether its client has acknowledged that this is the master.
    pub(super) knows_master: bool,
}

impl Session {
    pub(super) fn new(lease_until: u64) -> Session {
        let events = Events::default();
        Session { lease_until, blocked: None, events, knows_master: true }
    }

    /// One that another master has begun.
    pub(super) fn taken_over(lease_until: u64) -> Session {
        let mut session = Session { knows_master: false, ..Session::new(lease_until) };
        session.events.push(Event::FailedOver);
        session
    }

    /// When its KeepAlive is answered, if there is one.
    pub(super) fn answer_at(&self, before: u64) -> u64 {
        match self.blocked {
            Some(_) => self.lease_until.saturating_sub(before),
            None => u64::MAX,
        }
    }
}
