use crate::judge::finding::{Clash, Finding, Kind};
use crate::judge::timeline::{Acquisition, KeySpan, Timeline, is_one_owner};
use crate::record::history::Keeping;

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

/// Returns whether both owners have one value, apart from the counts of a reentrant lock.
fn is_same_owner(one: &Acquisition<'_>, other: &Acquisition<'_>) -> bool {
    match (one.owner, other.owner) {
        (Some(one), Some(other)) => is_one_owner(one, other),
        (one, other) => one == other,
    }
}

/// Returns whether `one` entered without a grant while its own owner value, written by `other`,
/// existed.
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
    let is_row = matches!(
        timeline.history.header.kept_as,
        Some(Keeping::RowByClients | Keeping::RowByServer)
    );
    is_row && one.process.machine() != other.process.machine() && one.owner == other.owner
}

pub(super) fn is_overwritten(timeline: &Timeline<'_>, finding: &Finding, clash: Clash) -> bool {
    let builds_on =
        matches!(finding.kind, Kind::LostUpdate | Kind::DuplicateNumber | Kind::NumberRegression);
    let Some(applied) = clash.late_write.filter(|_| builds_on) else { return false };
    let Some(granted) = timeline.acquisitions[clash.later].grant.as_ref() else { return false };
    let left = timeline.section_of(clash.earlier).and_then(|section| section.to);
    let written_inside = timeline.section_of(clash.later).is_some_and(|section| {
        section.from.time <= finding.at && section.to.is_none_or(|to| finding.at <= to.time)
    });
    applied < granted.moment.index
        && left.is_some_and(|left| left < granted.moment)
        && written_inside
}
