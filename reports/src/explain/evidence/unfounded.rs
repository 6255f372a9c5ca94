//! Answers that no server gave: the lock's own code did.

use crate::judge::finding::Clash;
use crate::judge::timeline::{Acquisition, Timeline};
use crate::record::history::{Change, What};

/// Whether one of two that stood against each other, and only one, entered though no server had
/// granted it the lock in that acquire. Of many servers, and of a lock that lives as long as a
/// session or a connection, that is told otherwise.
pub(super) fn of_clash(timeline: &Timeline<'_>, clash: Clash) -> bool {
    let header = &timeline.history.header;
    let both = [clash.earlier, clash.later].map(|index| &timeline.acquisitions[index]);
    header.quorum <= 1
        && !header.has_no_ttl()
        && both.iter().filter(|one| was_not_granted(timeline, one)).count() == 1
}

/// Whether no server set or prolonged a lock for the process while it acquired.
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
