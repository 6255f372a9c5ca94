//! Progress: after everything is healed, somebody acquires the lock within the stated bound. Must
//! never know what is in the way.
//!
//! A fresh probe process tries. While somebody holds the lock the bound does not run: it begins
//! again when the last holder leaves, or when its lock has gone from the servers although it stays.

use super::Checker;
use super::held_forever::kept_until;
use crate::finding::{Finding, Kind};
use crate::timeline::{Acquisition, Moment, Section, Timeline};
use fencepost_faults::{Micros, Node, SimTime};
use std::collections::BTreeMap;

pub(super) const CHECKER: Checker = Checker {
    name: "stuck",
    about: "after healing, somebody acquires the lock within the bound",
    check,
};

/// What a history says about progress after healing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    /// Nothing was healed, so nothing is demanded.
    NotDemanded,
    /// Somebody got in within the bound, or somebody holds the lock to the end.
    Made,
    /// Nobody got in although somebody wanted to for the whole bound.
    Stuck(Finding),
    /// Nobody wanted to for long enough to tell.
    Unjudged,
}

fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    match progress(timeline) {
        Progress::Stuck(finding) => vec![finding],
        _ => Vec::new(),
    }
}

/// Judges progress after healing.
pub(crate) fn progress(timeline: &Timeline<'_>) -> Progress {
    let Some(healed) = timeline.healed else { return Progress::NotDemanded };
    let before = || timeline.sections.iter().filter(|section| section.from < healed);
    let mut free_from = healed.time;
    for section in before() {
        match kept(timeline, section, healed) {
            // A holder that never leaves, and whose lock stands, is held-forever, not stuck.
            None => return Progress::Made,
            Some(until) => free_from = free_from.max(until),
        }
    }
    let bound = timeline.history.header.progress_bound_us;
    let entered = timeline.sections.iter().map(|section| section.from).find(|from| healed < *from);
    if entered.is_some_and(|at| at.time <= free_from + bound) {
        return Progress::Made;
    }
    let waiting = Waiting { timeline, healed, free_from, entered };
    match waiting.longest() >= bound {
        true => Progress::Stuck(waiting.finding(bound)),
        false => Progress::Unjudged,
    }
}

/// Until when a process that was in its section when everything was healed kept the others out:
/// until it left or its lock went, whichever came first; `None` if it did to the end.
fn kept(timeline: &Timeline<'_>, section: &Section, healed: Moment) -> Option<SimTime> {
    if section.to.is_some_and(|to| to < healed) {
        return section.to.map(|to| to.time);
    }
    let until = kept_until(timeline, section, healed.time);
    (until < timeline.end || section.to.is_some()).then_some(until)
}

/// The time after healing in which nobody held the lock.
struct Waiting<'t, 'h> {
    timeline: &'t Timeline<'h>,
    healed: Moment,
    free_from: SimTime,
    entered: Option<Moment>,
}

impl Waiting<'_, '_> {
    /// The attempts that were open after healing, up to the one that got in.
    fn attempts(&self) -> impl Iterator<Item = &Acquisition<'_>> {
        let all = self.timeline.acquisitions.iter();
        all.filter(|one| one.completed.is_none_or(|end| self.healed < end))
            .filter(|one| self.entered.is_none_or(|entered| one.invoked < entered))
    }

    fn end_of(&self, attempt: &Acquisition<'_>) -> SimTime {
        attempt.completed.or(self.entered).map_or(self.timeline.end, |end| end.time)
    }

    /// The longest time for which one process wanted the lock, over all its attempts.
    fn longest(&self) -> Micros {
        let mut wanted: BTreeMap<Node, (SimTime, SimTime)> = BTreeMap::new();
        for attempt in self.attempts() {
            let (from, to) = (attempt.invoked.time.max(self.free_from), self.end_of(attempt));
            let span = wanted.entry(attempt.process).or_insert((from, to));
            *span = (span.0.min(from), span.1.max(to));
        }
        wanted.values().map(|(from, to)| to.since(*from)).max().unwrap_or_default()
    }

    fn finding(&self, bound: Micros) -> Finding {
        let until = self.entered.map_or(self.timeline.end, |at| at.time);
        let duration = until.since(self.free_from);
        let what = format!(
            "For {duration} after everything was healed nobody got the lock, and nobody held it; \
             the bound is {bound}."
        );
        let mut processes: Vec<Node> = self.attempts().map(|attempt| attempt.process).collect();
        processes.sort();
        processes.dedup();
        let mut witness = vec![self.healed.index];
        witness.extend(self.attempts().map(|attempt| attempt.invoked.index));
        witness.extend(self.attempts().filter_map(|attempt| Some(attempt.completed?.index)));
        witness.sort_unstable();
        let (kind, at) = (Kind::Stuck, self.free_from);
        Finding { kind, at, duration, processes, what, witness, clash: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story::Story;

    /// Healed at 10 ms; the bound ends at 110 ms.
    fn healed() -> Story {
        Story::new().progress_bound(100).takes(1, 1, "a").releases(3, 1).healed(10)
    }

    fn stuck(story: Story) -> Vec<Finding> {
        check(&Timeline::new(&story.build()))
    }

    #[test]
    fn accepts_a_probe_that_gets_in_within_the_bound() {
        assert_eq!(stuck(healed().probe_acquires(11).probe_ok(90, "p").probe_releases(95)), []);
    }

    #[test]
    fn accepts_that_somebody_else_gets_in() {
        assert_eq!(stuck(healed().probe_acquires(11).takes(50, 2, "b").probe_fails(112)), []);
    }

    #[test]
    fn accepts_a_holder_who_keeps_the_lock() {
        let story = Story::new()
            .progress_bound(100)
            .takes(1, 1, "a")
            .healed(10)
            .probe_acquires(11)
            .probe_fails(112);
        assert_eq!(stuck(story), []);
    }

    #[test]
    fn rejects_a_refusal_after_the_lock_of_one_that_never_leaves_has_expired() {
        let story = Story::new().progress_bound(100).takes(1, 1, "a").healed(10).expires(15, "a");
        let found = stuck(story.probe_acquires(16).probe_fails(120));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].at.0, 11_000, "the lock is free since its lease was over");
    }

    #[test]
    fn accepts_a_bound_that_began_again_when_the_last_holder_left() {
        let story = Story::new()
            .progress_bound(100)
            .takes(1, 1, "a")
            .healed(10)
            .probe_acquires(11)
            .releases(80, 1);
        assert_eq!(stuck(story.probe_ok(150, "p")), []);
    }

    #[test]
    fn accepts_silence_when_nobody_wants_the_lock() {
        assert_eq!(stuck(healed().loses(500, 2)), []);
    }

    #[test]
    fn a_probe_that_gives_up_early_decides_nothing() {
        let history = healed().probe_acquires(11).probe_fails(40).loses(500, 2).build();
        assert_eq!(progress(&Timeline::new(&history)), Progress::Unjudged);
    }

    #[test]
    fn attempts_of_one_process_count_together() {
        let story = healed().probe_acquires(11).probe_fails(60).probe_acquires(61).probe_fails(112);
        assert_eq!(stuck(story).len(), 1);
    }

    #[test]
    fn an_attempt_that_ended_in_a_crash_waits_no_longer() {
        assert_eq!(stuck(healed().acquires(11, 2).crashes(12, 2).loses(500, 1)), []);
    }

    #[test]
    fn accepts_a_history_that_was_never_healed() {
        assert_eq!(stuck(Story::new().progress_bound(100).acquires(1, 1).fails(900, 1)), []);
    }

    #[test]
    fn rejects_a_probe_that_is_refused_to_the_end() {
        let found = stuck(healed().probe_acquires(11).probe_fails(112));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].at.0, found[0].duration.0), (10_000, 102_000));
    }

    #[test]
    fn rejects_a_probe_that_waits_until_the_history_ends() {
        assert_eq!(stuck(healed().probe_acquires(11).loses(200, 1)).len(), 1);
    }

    #[test]
    fn rejects_a_probe_that_gets_in_too_late() {
        let found = stuck(healed().probe_acquires(11).probe_ok(150, "p"));
        assert_eq!(found[0].duration.0, 140_000);
    }
}
