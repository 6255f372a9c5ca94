//! Checks two rules for waiting processes after all faults have ended:
//!
//! - While the lock is free, a waiting process does not stay silent for longer than the bound in
//!   [`What::Silent`].
//! - If the lock promises an order, a process does not get the lock before another process that
//!   asked earlier by more than the header's bound.

use super::{Checker, deadlock};
use crate::judge::finding::{Finding, Kind};
use crate::judge::meaning::Meaning;
use crate::judge::timeline::{Acquisition, Moment, Section, Timeline};
use crate::record::history::What;
use fencepost_faults::{Micros, SimTime};

pub(super) const CHECKER: Checker = Checker { name: "starved", check };

pub(super) const MEANING: Meaning = Meaning {
    how: "The process was not notified that the lock is free and asks too rarely, or its place in \
          the queue was lost.",
    helps: "Wait for at most one lease, then ask again. Keep a place in the queue for as long as \
            its process asks.",
};

fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    let Some(healed) = timeline.healed else { return Vec::new() };
    let mut findings = silent_waiters(timeline, healed);
    findings.extend(overtaken_waiters(timeline, healed));
    findings
}

fn silent_waiters(timeline: &Timeline<'_>, healed: Moment) -> Vec<Finding> {
    let is_deadlock = !deadlock::check(timeline).is_empty();
    let silences = timeline.history.events.iter().enumerate();
    let silences = silences.filter_map(|(index, event)| match event.what {
        What::Silent { since_us, bound_us, .. } => Some((index, event.node, since_us, bound_us)),
        _ => None,
    });
    let mut findings = Vec::new();
    for (index, process, since, bound) in silences {
        let told = timeline.moment(index);
        let Some(waits) = timeline.acquiring(process, told) else { continue };
        let (from, duration) = longest_free(timeline, since.max(healed.time), told.time);
        if duration <= bound || (is_deadlock && waits.completed.is_none()) {
            continue;
        }
        let counted = match since < healed.time {
            true => format!(" after healing at {}", healed.time),
            false => String::new(),
        };
        let free = match timeline.history.header.locks_unseen {
            true => "no process was in its critical section",
            false => "the lock was free",
        };
        let what = format!(
            "{process} waited for the lock and sent nothing from {since} to {}, although {free} \
             for {duration} without interruption{counted} (bound {bound}).",
            told.time
        );
        findings.push(Finding {
            kind: Kind::Starved,
            at: from,
            duration,
            processes: vec![process],
            what,
            witness: vec![waits.invoked.index, index],
            clash: None,
        });
    }
    findings
}

fn longest_free(timeline: &Timeline<'_>, from: SimTime, until: SimTime) -> (SimTime, Micros) {
    let end = timeline.end;
    let keys = timeline.keys.iter().map(|span| (span.from.time, timeline.existed_until(span)));
    let sections = timeline.sections.iter().map(|section| (section.from.time, section.ends(end)));
    let mut taken: Vec<(SimTime, SimTime)> = keys.chain(sections).collect();
    taken.sort();
    let mut longest = (from, Micros::ZERO);
    let mut free_from = from;
    for (begins, ends) in taken.into_iter().chain([(until, until)]) {
        let free = begins.min(until).since(free_from);
        if free > longest.1 {
            longest = (free_from, free);
        }
        free_from = free_from.max(ends);
    }
    longest
}

fn overtaken_waiters(timeline: &Timeline<'_>, healed: Moment) -> Vec<Finding> {
    let Some(bound) = timeline.history.header.order_bound_us else { return Vec::new() };
    let after = timeline.acquisitions.iter().filter(|one| healed < one.invoked);
    after.filter_map(|one| overtaken(timeline, one, bound)).collect()
}

fn overtaken(timeline: &Timeline<'_>, first: &Acquisition<'_>, bound: Micros) -> Option<Finding> {
    let overtakes = |section: &&Section| {
        let other = &timeline.acquisitions[section.acquisition];
        let waits = first.is_open_at(section.from);
        // A nested acquire by the holder overtakes no waiting process.
        let nested = timeline
            .sections
            .iter()
            .any(|outer| outer.process == other.process && outer.covers(other.invoked));
        waits
            && other.process != first.process
            && !nested
            && first.invoked.time + bound < other.invoked.time
    };
    let overtakers: Vec<&Section> = timeline.sections.iter().filter(overtakes).collect();
    let section = *overtakers.first()?;
    let other = &timeline.acquisitions[section.acquisition];
    let until = first.completed.map_or(timeline.end, |completed| completed.time);
    let what = format!(
        "{} asked for the lock at {} and {} at {}, but {} got it first, although the lock promises \
         to serve waiters in order of arrival; {} overtook it.",
        first.process,
        first.invoked.time,
        other.process,
        other.invoked.time,
        other.process,
        match overtakers.len() {
            1 => "1 acquire".to_owned(),
            many => format!("{many} acquires"),
        }
    );
    let mut witness = vec![first.invoked.index, other.invoked.index, section.from.index];
    witness.extend(first.completed.map(|completed| completed.index));
    Some(Finding {
        kind: Kind::Starved,
        at: section.from.time,
        duration: until.since(section.from.time),
        processes: vec![first.process, other.process],
        what,
        witness,
        clash: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;
    use fencepost_faults::Node;

    fn found(story: Story) -> Vec<u64> {
        let history = story.build();
        check(&Timeline::new(&history)).iter().map(|finding| finding.duration.0 / 1_000).collect()
    }

    fn waits() -> Story {
        let story = Story::new().healed(0).takes(1, 1, "a").acquires(2, 2);
        story.leaves(5, 1).removed(5, "a", 1).left(6, 1)
    }

    #[test]
    fn rejects_a_waiter_that_sleeps_on_a_free_lock() {
        assert_eq!(found(waits().silent(30, 2, 2, true).takes(31, 2, "b")), [25]);
        assert_eq!(found(waits().silent(30, 2, 2, true)), [25], "to the end of the run too");
    }

    #[test]
    fn accepts_a_waiter_that_sleeps_for_less_than_the_bound() {
        assert!(found(waits().silent(25, 2, 2, true).takes(26, 2, "b")).is_empty());
    }

    #[test]
    fn accepts_a_waiter_that_sleeps_while_the_lock_is_taken_or_before_healing() {
        let taken = Story::new().ttl(100).healed(0).takes(1, 1, "a").acquires(2, 2);
        assert!(found(taken.silent(50, 2, 2, true)).is_empty());
        let early = Story::new().takes(1, 1, "a").acquires(2, 2).leaves(5, 1);
        let early = early.removed(5, "a", 1).left(6, 1).healed(40).silent(41, 2, 2, true);
        assert!(found(early).is_empty());
    }

    #[test]
    fn what_is_counted_from_healing_only_is_told_as_such() {
        let told = |healed| {
            let story = Story::new().healed(healed).takes(1, 1, "a").acquires(2, 2);
            let story = story.leaves(5, 1).removed(5, "a", 1).left(6, 1).silent(60, 2, 2, true);
            let history = story.build();
            check(&Timeline::new(&history)).remove(0).what
        };
        assert!(
            told(20).contains("free for 40ms without interruption after healing at 20ms"),
            "{}",
            told(20)
        );
        assert!(told(0).contains("free for 55ms without interruption (bound"), "{}", told(0));
    }

    #[test]
    fn of_a_lock_that_was_free_twice_the_longer_time_is_not_told_as_the_sum() {
        let story = waits().takes(30, 3, "c").releases(31, 3).removed(31, "c", 3);
        let history = story.silent(40, 2, 2, true).build();
        let what = check(&Timeline::new(&history)).remove(0).what;
        assert!(what.contains("the lock was free for 25ms without interruption"), "{what}");
    }

    #[test]
    fn accepts_a_lock_that_changes_hands_in_the_meantime() {
        let story = waits().takes(15, 3, "c").releases(28, 3).removed(28, "c", 3);
        assert!(found(story.silent(40, 2, 2, true)).is_empty());
    }

    #[test]
    fn rejects_a_waiter_that_sleeps_on_a_lease_that_ran_out_unnoticed() {
        let died = || Story::new().healed(0).takes(1, 1, "a").acquires(2, 2).crashes(5, 1);
        assert_eq!(
            found(died().silent(40, 2, 2, true).with_recorded_leases()),
            [29],
            "free from 11 ms on"
        );
        assert!(found(died().silent(40, 2, 2, true)).is_empty(), "a key without an expiry stands");
        let bent = died().fault_began(3, 1, "clock-jump", &[Node::Redis(1)]);
        let bent = bent.silent(40, 2, 2, true).with_recorded_leases();
        assert!(found(bent).is_empty(), "nobody knows until when");
    }

    #[test]
    fn accepts_a_waiter_that_sleeps_while_a_lock_stands_for_as_long_as_its_session() {
        let story = Story::with_sessions().healed(0).takes(1, 1, "a").acquires(2, 2).crashes(5, 1);
        assert!(found(story.silent(49, 2, 2, true).expires(50, "a")).is_empty());
    }

    #[test]
    fn of_a_deadlock_nobody_is_starved_besides() {
        assert!(found(waits().silent(30, 2, 2, false)).is_empty());
    }

    fn overtaken(asks: u64) -> Story {
        let story = Story::new().order_bound(10).healed(0).takes(1, 1, "a").acquires(2, 2);
        let story = story.releases(15, 1).removed(15, "a", 1);
        story.acquires(asks, 3).grants(20, 3, "c").hears(20, 3, "c").releases(22, 3)
    }

    #[test]
    fn rejects_one_that_asked_later_by_more_than_the_bound_and_got_a_fair_lock_first() {
        let late = overtaken(13).removed(22, "c", 3).takes(30, 2, "b").releases(31, 2);
        assert_eq!(found(late), [10]);
        assert_eq!(found(overtaken(13)), [2], "it waits to the end");
        let history = overtaken(13).build();
        let what = &check(&Timeline::new(&history))[0].what;
        assert!(what.ends_with("; 1 acquire overtook it."), "{what}");
    }

    #[test]
    fn accepts_one_that_asked_hardly_later_or_when_the_first_had_given_up() {
        assert!(found(overtaken(12)).is_empty());
        let story = Story::new().order_bound(10).healed(0).acquires(2, 2).fails(14, 2);
        assert!(found(story.takes(20, 3, "c").releases(22, 3)).is_empty());
    }

    #[test]
    fn accepts_any_order_of_a_lock_that_promises_none() {
        let story = Story::new().healed(0).takes(1, 1, "a").acquires(2, 2).releases(15, 1);
        let story = story.removed(15, "a", 1).takes(20, 3, "c").releases(22, 3);
        assert!(found(story).is_empty());
    }

    #[test]
    fn accepts_a_holder_that_takes_the_lock_again_while_it_holds_it() {
        let story = Story::new().ttl(100).order_bound(10).healed(0).takes(1, 1, "a");
        let story = story.acquires(2, 2).acquires(20, 1).hears(21, 1, "a");
        assert!(found(story.releases(22, 1).releases(23, 1)).is_empty());
    }
}
