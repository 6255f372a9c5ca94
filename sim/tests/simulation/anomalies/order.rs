use super::progress::ends;
use fencepost_faults::SimTime;
use fencepost_reports::History;
use fencepost_reports::judge::timeline::{Acquisition, Outcome, Timeline};

pub(crate) fn overtakings(history: &History, margin_us: u64, until: SimTime) -> usize {
    let timeline = Timeline::new(history);
    let nested = |one: &Acquisition<'_>| {
        timeline
            .sections
            .iter()
            .any(|section| section.process == one.process && section.covers(one.invoked))
    };
    let fresh: Vec<&Acquisition<'_>> = timeline
        .acquisitions
        .iter()
        .filter(|one| one.outcome == Outcome::Granted && !nested(one))
        .collect();
    let overtakes = |late: &Acquisition<'_>, early: &Acquisition<'_>| {
        early.invoked.time.0 + margin_us < late.invoked.time.0
            && ends(&timeline, late) < ends(&timeline, early)
    };
    let in_time = fresh.iter().filter(|late| ends(&timeline, late) < until);
    in_time.filter(|late| fresh.iter().any(|early| overtakes(late, early))).count()
}
