//! Finds grants that come from the lock's own code and not from a server.

use crate::judge::finding::Clash;
use crate::judge::timeline::{Acquisition, Timeline};
use crate::record::history::{Change, What};

/// Returns whether one of two conflicting processes entered although no server granted the lock
/// during its acquire. Other modules cover locks with a quorum and locks in a session or
/// connection. Histories without keys and owners do not count, because the lock may use another
/// key.
pub(super) fn of_clash(timeline: &Timeline<'_>, clash: Clash) -> bool {
    let header = &timeline.history.header;
    let both = [clash.earlier, clash.later].map(|index| &timeline.acquisitions[index]);
    let is_known = !timeline.keys.is_empty() || both.iter().all(|one| one.owner.is_some());
    header.quorum <= 1
        && !header.locks_unseen
        && !header.has_no_ttl()
        && is_known
        && both.iter().any(|one| was_not_granted(timeline, one))
}

fn was_not_granted(timeline: &Timeline<'_>, one: &Acquisition<'_>) -> bool {
    let (from, until) = (one.invoked.index, one.completed.map(|completed| completed.index));
    let meanwhile = &timeline.history.events[from..until.unwrap_or(from)];
    let sets = |what: &What| match what {
        What::Server { change: Change::Granted | Change::Extended, by: Some(by), .. } => {
            by.machine() == one.process.machine()
        }
        _ => false,
    };
    one.grant.is_none() && until.is_some() && !meanwhile.iter().any(|event| sets(&event.what))
}
