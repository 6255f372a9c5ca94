//! Whether a process that had the lock to itself wrote what it had computed from an older value.

use crate::judge::finding::{Clash, Finding, Kind};
use crate::judge::timeline::Timeline;

/// Whether the write that was lost, or whose number was issued again, had been applied and its
/// writer had left its section when the later process was granted the lock, and the later one
/// wrote before it left: nobody was in its way, and what it wrote does not build on what stood.
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
