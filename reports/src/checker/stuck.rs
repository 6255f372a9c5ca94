//! Progress: after everything is healed, somebody acquires the lock within the stated bound. Must never know what is in the way.
//!
//! A fresh probe process tries. While somebody holds the lock the bound does not run: it begins again when the last holder leaves.

use super::Checker;
use crate::finding::{Finding, Kind};
use crate::timeline::{Acquisition, Moment, Outcome, Timeline};
use fencepost_faults::{Node, SimTime};

pub(super) const CHECKER: Checker =
    Checker { name: "stuck", about: "after healing, somebody acquires the lock within the bound", check };

fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    let Some(healed) = timeline.healed else { return Vec::new() };
    let before = || timeline.sections.iter().filter(|section| section.from < healed);
    if before().any(|section| section.to.is_none()) {
        // A holder that never leaves is held-forever, not stuck.
        return Vec::new();
    }
    let free_from = before().filter_map(|section| Some(section.to?.time)).fold(healed.time, SimTime::max);
    let deadline = free_from + timeline.history.header.progress_bound_us;
    let tried: Vec<&Acquisition<'_>> =
        timeline.acquisitions.iter().filter(|one| one.completed.is_none_or(|end| healed < end)).collect();
    let entered = timeline.sections.iter().filter(|section| healed < section.from).map(|section| section.from).min();
    if entered.is_some_and(|at| at.time <= deadline) || !tried.iter().any(|one| waited(timeline, one, deadline)) {
        return Vec::new();
    }
    vec![finding(timeline, healed, free_from, entered, &tried)]
}

/// Whether an attempt shows that nobody gets in: it was still open at the deadline, or it is the probe's, which gives up only after
/// the bound.
fn waited(timeline: &Timeline<'_>, attempt: &Acquisition<'_>, deadline: SimTime) -> bool {
    let end = attempt.completed.map_or(timeline.end, |end| end.time);
    let gave_up = matches!(attempt.outcome, Outcome::Refused | Outcome::Unknown);
    end >= deadline || (attempt.process == Node::Probe && gave_up)
}

fn finding(
    timeline: &Timeline<'_>,
    healed: Moment,
    free_from: SimTime,
    entered: Option<Moment>,
    tried: &[&Acquisition<'_>],
) -> Finding {
    let until = entered.map_or(timeline.end, |at| at.time);
    let duration = until.since(free_from);
    let bound = timeline.history.header.progress_bound_us;
    let what = format!(
        "For {duration} after everything was healed nobody held the lock and nobody got it; the bound is {bound}."
    );
    let mut processes: Vec<Node> = tried.iter().map(|attempt| attempt.process).collect();
    processes.sort();
    processes.dedup();
    let mut witness = vec![healed.index];
    witness.extend(tried.iter().map(|attempt| attempt.invoked.index));
    witness.extend(tried.iter().filter_map(|attempt| Some(attempt.completed?.index)));
    witness.sort_unstable();
    Finding { kind: Kind::Stuck, at: free_from, duration, processes, what, witness, clash: None }
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
        let story = Story::new().progress_bound(100).takes(1, 1, "a").healed(10).probe_acquires(11).probe_fails(112);
        assert_eq!(stuck(story), []);
    }

    #[test]
    fn accepts_a_bound_that_began_again_when_the_last_holder_left() {
        let story = Story::new().progress_bound(100).takes(1, 1, "a").healed(10).probe_acquires(11).releases(80, 1);
        assert_eq!(stuck(story.probe_ok(150, "p")), []);
    }

    #[test]
    fn accepts_silence_when_nobody_wants_the_lock() {
        assert_eq!(stuck(healed().loses(500, 2)), []);
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
