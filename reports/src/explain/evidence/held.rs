use crate::judge::finding::Finding;
use crate::judge::timeline::{SectionEnd, Timeline};
use fencepost_faults::Micros;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LongSection {
    pub(crate) paused: Micros,
    pub(crate) worked: Micros,
    bound: Micros,
    ended_by: SectionEnd,
}

impl LongSection {
    pub(super) fn of_finding(timeline: &Timeline<'_>, finding: &Finding) -> Option<LongSection> {
        let begins = |from: usize| Some(&from) == finding.witness.first();
        let section = timeline.sections.iter().find(|section| begins(section.from.index))?;
        let bound = timeline.history.header.held_bound_us?;
        let end = section.ends(timeline.end);
        let paused = timeline.paused(section.process, section.from.time, end);
        let worked = end.since(section.from.time) - paused;
        Some(LongSection { paused, worked, bound, ended_by: section.ended_by })
    }

    pub(crate) fn was_paused(&self) -> bool {
        let stood_still = self.paused > Micros::ZERO && self.worked <= self.bound;
        stood_still && self.ended_by != SectionEnd::Crash
    }
}
