//! Finds answers that the lock's own code gave without support in the servers' replies.

use crate::judge::checker::wrong_answer::{Unsupported, is_key_with_lease, unsupported};
use crate::judge::finding::Clash;
use crate::judge::timeline::{Acquisition, Timeline};
use crate::record::history::{Change, What};

/// Returns whether one of two conflicting processes entered with grants from too few servers.
/// Returns `false` if the check does not apply.
pub(super) fn of_clash(timeline: &Timeline<'_>, clash: Clash) -> bool {
    let header = &timeline.history.header;
    let both = [clash.earlier, clash.later].map(|index| &timeline.acquisitions[index]);
    let is_known = !timeline.keys.is_empty() || both.iter().all(|one| one.owner.is_some());
    !header.locks_unseen
        && !header.has_no_ttl()
        && is_known
        && both.iter().any(|one| match header.quorum {
            0 | 1 => was_not_granted(timeline, one),
            _ => granted_by(timeline, one).is_some(),
        })
}

/// Returns the number of servers that had the lock of a process when it entered without a quorum.
/// Returns `None` if the process had a quorum, or if the check does not apply.
pub(crate) fn granted_by(timeline: &Timeline<'_>, one: &Acquisition<'_>) -> Option<usize> {
    if timeline.history.header.quorum < 2 || !is_key_with_lease(timeline) {
        return None;
    }
    match unsupported(timeline, one)? {
        Unsupported::Grant(servers) => Some(servers),
        Unsupported::Validity(..) => None,
    }
}

/// Returns whether the holder finished within its stated validity, which was too long.
pub(super) fn is_promised_too_long(timeline: &Timeline<'_>, clash: Clash) -> bool {
    let holder = &timeline.acquisitions[clash.earlier];
    if !is_key_with_lease(timeline) {
        return false;
    }
    let Some(Unsupported::Validity(stated, _)) = unsupported(timeline, holder) else {
        return false;
    };
    let landed = clash.late_write.map(|index| timeline.moment(index).time);
    let left = timeline.section_of(clash.earlier).map(|section| section.ends(timeline.end));
    let until = landed.into_iter().chain(left).max();
    holder.completed.zip(until).is_some_and(|(told, until)| until <= told.time + stated)
}

fn was_not_granted(timeline: &Timeline<'_>, one: &Acquisition<'_>) -> bool {
    let (from, until) = (one.invoked.index, one.completed.map(|completed| completed.index));
    let meanwhile = &timeline.history.events[from..until.unwrap_or(from)];
    let sets = |what: &What| match what {
        What::Server { key, change: Change::Granted | Change::Extended, by: Some(by), .. } => {
            *key == timeline.history.header.resource && by.machine() == one.process.machine()
        }
        _ => false,
    };
    one.grant.is_none() && until.is_some() && !meanwhile.iter().any(|event| sets(&event.what))
}
