use crate::judge::finding::{Clash, Finding, Kind};
use crate::judge::timeline::{Acquisition, KeySpan, Timeline, is_one_owner};

pub(super) fn shares_owner(timeline: &Timeline<'_>, clash: Clash) -> bool {
    let [one, other] = [clash.earlier, clash.later].map(|index| &timeline.acquisitions[index]);
    let threads = one.process != other.process && one.process.machine() == other.process.machine();
    let grants = one.grant.as_ref().zip(other.grant.as_ref());
    let found = grants.is_some_and(|(one, other)| one.moment == other.moment || !other.created);
    let is_mistaken = || {
        has_own_value_of_another(timeline, one, other)
            || has_own_value_of_another(timeline, other, one)
    };
    threads && is_same_owner(one, other) && found || is_mistaken()
}

/// Returns whether both have the same owner value, apart from the count of a reentrant lock.
fn is_same_owner(one: &Acquisition<'_>, other: &Acquisition<'_>) -> bool {
    match (one.owner, other.owner) {
        (Some(one), Some(other)) => is_one_owner(one, other),
        (one, other) => one == other,
    }
}

/// Returns whether `one` entered without a grant while `other` had written the same owner value.
fn has_own_value_of_another(
    timeline: &Timeline<'_>,
    one: &Acquisition<'_>,
    other: &Acquisition<'_>,
) -> bool {
    let (Some(entered), Some(owner)) = (one.completed, one.owner) else { return false };
    let header = &timeline.history.header;
    let written_by_other = |span: &KeySpan<'_>| {
        span.by.is_some_and(|by| by.machine() == other.process.machine())
            && span.value.is_some_and(|value| is_one_owner(value, owner))
            && timeline.exists_at(span, entered)
    };
    one.grant.is_none()
        && one.process.machine() != other.process.machine()
        && header.kept_as.is_none()
        && !header.has_no_ttl()
        && other.owner.is_some_and(|name| is_one_owner(name, owner))
        && timeline.keys.iter().any(written_by_other)
}

pub(super) fn shares_client_id(timeline: &Timeline<'_>, clash: Clash) -> bool {
    let [one, other] = [clash.earlier, clash.later].map(|index| &timeline.acquisitions[index]);
    timeline.history.header.has_rows()
        && one.process.machine() != other.process.machine()
        && one.owner == other.owner
}

/// Returns whether the later holder was alone from its entry to its write, and computed the write
/// from a value that had been overwritten before its grant.
pub(super) fn is_overwritten(timeline: &Timeline<'_>, finding: &Finding, clash: Clash) -> bool {
    let builds_on = finding.kind.is_about_write() && finding.kind != Kind::StaleWrite;
    let Some(applied) = clash.late_write.filter(|_| builds_on) else { return false };
    let taker = &timeline.acquisitions[clash.later];
    let Some(granted) = taker.grant.as_ref().map(|grant| grant.moment) else { return false };
    let mut writes = timeline.storage.iter().filter(|request| request.is_accepted_write());
    let Some(write) = writes.find(|write| applied < write.moment.index) else { return false };
    let is_outdated = write.based_on.is_some_and(|read| read != write.before);
    let left = timeline.section_of(clash.earlier).and_then(|section| section.to);
    let written_alone = timeline.section_of(clash.later).is_some_and(|section| {
        let is_shared = timeline.sections.iter().any(|other| {
            other.process != taker.process
                && other.from < write.moment
                && other.to.is_none_or(|to| section.from < to)
        });
        section.covers(write.moment) && !is_shared
    });
    write.acquisition == Some(clash.later)
        && is_outdated
        && applied < granted.index
        && left.is_some_and(|left| left < granted)
        && written_alone
}

/// Returns whether the first process had done the job and left before the second process was
/// granted the lock. If writes record the jobs, the first process must have left no record.
pub(super) fn left_no_record(timeline: &Timeline<'_>, clash: Clash) -> bool {
    // The clash has a late write only if the first process left a record, which a write erased.
    if clash.late_write.is_some() {
        return false;
    }
    let left = timeline.section_of(clash.earlier).and_then(|section| section.to);
    let taken = &timeline.acquisitions[clash.later];
    let granted = taken.grant.as_ref().map_or(taken.invoked, |grant| grant.moment);
    let is_recorded = !timeline.history.header.lock_per_job
        && timeline.storage.iter().any(|write| {
            write.is_accepted_write()
                && write.acquisition == Some(clash.earlier)
                && write.moment < granted
        });
    left.is_some_and(|left| left < granted) && !is_recorded
}
