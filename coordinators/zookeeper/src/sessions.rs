//! The leader's table of live sessions. They expire at ticks of the monotonic clock.

use crate::code::Refusal;
use crate::config::MemberId;
use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Session {
    expires_ms: u64,
    is_closing: bool,
    owner: Option<MemberId>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Sessions {
    sessions: BTreeMap<i64, Session>,
    tick_ms: u64,
}

impl Sessions {
    pub(crate) fn new(found: &BTreeMap<i64, i32>, tick_ms: u64, now_ms: u64) -> Sessions {
        let mut sessions = Sessions { sessions: BTreeMap::new(), tick_ms };
        found.iter().for_each(|(id, timeout)| sessions.track(*id, *timeout, now_ms));
        sessions
    }

    fn expiry(&self, timeout_ms: i32, now_ms: u64) -> u64 {
        let at = now_ms + u64::try_from(timeout_ms).unwrap_or(0);
        (at / self.tick_ms + 1) * self.tick_ms
    }

    pub(crate) fn track(&mut self, id: i64, timeout_ms: i32, now_ms: u64) {
        let expires_ms = self.expiry(timeout_ms, now_ms);
        let new = Session { expires_ms, is_closing: false, owner: None };
        self.sessions.entry(id).or_insert(new).expires_ms = expires_ms;
    }

    pub(crate) fn touch(&mut self, id: i64, timeout_ms: i32, now_ms: u64) -> bool {
        let expires_ms = self.expiry(timeout_ms, now_ms);
        match self.sessions.get_mut(&id) {
            Some(session) if !session.is_closing => {
                session.expires_ms = expires_ms;
                true
            }
            _ => false,
        }
    }

    pub(crate) fn move_to(&mut self, id: i64, owner: MemberId) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.owner = Some(owner);
        }
    }

    pub(crate) fn check(&mut self, id: i64, through: MemberId) -> Result<(), Refusal> {
        let session = self.sessions.get_mut(&id).ok_or(Refusal::UnknownSession)?;
        if session.is_closing {
            return Err(Refusal::SessionExpired);
        }
        let owner = *session.owner.get_or_insert(through);
        if owner == through { Ok(()) } else { Err(Refusal::SessionMoved) }
    }

    pub(crate) fn set_closing(&mut self, id: i64) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.is_closing = true;
        }
    }

    pub(crate) fn remove(&mut self, id: i64) {
        self.sessions.remove(&id);
    }

    pub(crate) fn expire(&mut self, now_ms: u64) -> Vec<i64> {
        let mut over = Vec::new();
        for (id, session) in &mut self.sessions {
            if !session.is_closing && session.expires_ms <= now_ms {
                session.is_closing = true;
                over.push(*id);
            }
        }
        over
    }

    pub(crate) fn next_expiry(&self) -> Option<u64> {
        let living = self.sessions.values().filter(|session| !session.is_closing);
        living.map(|session| session.expires_ms).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_ends_at_the_tick_after_its_timeout() {
        let mut sessions = Sessions::new(&BTreeMap::from([(1, 4_000)]), 2_000, 500);
        assert_eq!(sessions.next_expiry(), Some(6_000));
        assert!(sessions.touch(1, 4_000, 2_100));
        assert_eq!(sessions.expire(7_999), Vec::<i64>::new());
        assert_eq!(sessions.expire(8_000), [1]);
        assert!(!sessions.touch(1, 4_000, 8_000));
        assert_eq!(sessions.check(1, 1), Err(Refusal::SessionExpired));
    }

    #[test]
    fn a_session_that_moved_is_heard_through_its_new_member_only() {
        let mut sessions = Sessions::new(&BTreeMap::from([(1, 4_000)]), 2_000, 0);
        assert_eq!(sessions.check(1, 2), Ok(()));
        sessions.move_to(1, 3);
        assert_eq!(sessions.check(1, 2), Err(Refusal::SessionMoved));
        assert_eq!(sessions.check(1, 3), Ok(()));
        assert_eq!(sessions.check(9, 3), Err(Refusal::UnknownSession));
    }
}
