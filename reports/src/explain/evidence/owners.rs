//! Compares the owner values of two processes, and finds the value on which a write was based.

use crate::judge::finding::{Clash, Finding, Kind};
use crate::judge::timeline::Timeline;
use crate::record::history::Keeping;

pub(super) fn shares_owner(timeline: &Timeline<'_>, clash: Clash) -> bool {
    let [one, other] = [clash.earlier, clash.later].map(|index| &timeline.acquisitions[index]);
    let threads = one.process != other.process && one.process.machine() == other.process.machine();
    let grants = one.grant.as_ref().zip(other.grant.as_ref());
    let found = grants.is_some_and(|(one, other)| one.moment == other.moment || !other.created);
    threads && one.owner == other.owner && found
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
