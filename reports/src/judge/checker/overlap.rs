//! Checks mutual exclusion: no two processes are in their critical sections at the same true time.
//! A critical section may begin at the time at which another critical section ends. Two threads of
//! one process conflict like two processes. Critical sections of one thread never conflict, because
//! locks may be reentrant.

use super::Checker;
use crate::judge::finding::{Clash, Finding, Kind};
use crate::judge::meaning::Meaning;
use crate::judge::timeline::{Section, Timeline};
use fencepost_faults::{Micros, Node};

pub(super) const CHECKER: Checker = Checker { name: "overlap", check };

pub(super) const MEANING: Meaning = Meaning {
    how: "Each believed that it held the lock. Usually a lease expired, or a server lost the lock, \
          while its holder kept working.",
    helps: "No lease prevents an overlap: a process cannot know that it is paused. Fencing tokens \
            that the storage checks prevent the damage.",
};

fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut active: Vec<&Section> = Vec::new();
    for section in &timeline.sections {
        active.retain(|earlier| section.from.time < earlier.ends(timeline.end));
        for earlier in &active {
            if earlier.process != section.process
                && earlier.shared_with(section, timeline.end) > Micros::ZERO
            {
                findings.push(finding(timeline, earlier, section));
            }
        }
        active.push(section);
    }
    findings
}

fn finding(timeline: &Timeline<'_>, one: &Section, other: &Section) -> Finding {
    let duration = one.shared_with(other, timeline.end);
    let at = one.from.time.max(other.from.time);
    let (earlier, later) = timeline.in_grant_order(one.acquisition, other.acquisition);
    let processes: Vec<Node> =
        [earlier, later].map(|index| timeline.acquisitions[index].process).to_vec();
    let what = format!(
        "{} and {} were both in their critical sections for {duration}.",
        processes[0], processes[1]
    );
    let grants = [earlier, later]
        .into_iter()
        .filter_map(|index| timeline.acquisitions[index].grant.as_ref());
    let bounds = [Some(one.from), one.to, Some(other.from), other.to].into_iter().flatten();
    let shown = grants.map(|grant| grant.moment.index).chain(bounds.map(|at| at.index));
    let witness = super::sorted(shown.collect());
    let clash = Some(Clash { earlier, later, late_write: None });
    Finding { kind: Kind::Overlap, at, duration, processes, what, witness, clash }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;

    fn overlaps(story: Story) -> Vec<Finding> {
        check(&Timeline::new(&story.build()))
    }

    #[test]
    fn accepts_sections_one_after_the_other() {
        let story = Story::new().takes(1, 1, "a").releases(5, 1).takes(6, 2, "b").releases(9, 2);
        assert_eq!(overlaps(story), []);
    }

    #[test]
    fn accepts_a_section_that_begins_at_the_instant_another_ends() {
        let story = Story::new().takes(1, 1, "a").releases(5, 1).takes(5, 2, "b").releases(9, 2);
        assert_eq!(overlaps(story), []);
    }

    #[test]
    fn accepts_a_section_of_no_length_within_another() {
        let story = Story::new().takes(1, 1, "a").takes(3, 2, "b").releases(3, 2).releases(5, 1);
        assert_eq!(overlaps(story), []);
    }

    #[test]
    fn accepts_a_touch_whose_events_stand_the_other_way_round_within_one_instant() {
        let story = Story::new().takes(1, 1, "a").takes(5, 2, "b").releases(5, 1).releases(9, 2);
        assert_eq!(overlaps(story), []);
    }

    #[test]
    fn accepts_one_process_that_holds_the_lock_twice() {
        let story = Story::new().takes(1, 1, "a").takes(2, 1, "a").releases(3, 1).releases(5, 1);
        assert_eq!(overlaps(story), []);
    }

    #[test]
    fn accepts_a_takeover_from_a_process_that_died_or_noticed() {
        let died = Story::new()
            .takes(1, 1, "a")
            .crashes(4, 1)
            .takes(5, 2, "b")
            .starts(6, 1)
            .releases(9, 2);
        assert_eq!(overlaps(died), []);
        let noticed = Story::new().takes(1, 1, "a").loses(4, 1).takes(5, 2, "b").releases(9, 2);
        assert_eq!(overlaps(noticed), []);
    }

    #[test]
    fn accepts_threads_of_one_process_one_after_the_other_and_both_gone_when_it_dies() {
        let second = Node::Client(1).for_thread(2);
        let story =
            Story::new().takes(1, 1, "a").releases(5, 1).removed(5, "a", 1).takes(6, second, "a");
        assert_eq!(
            overlaps(story.crashes(8, 1).takes(9, 2, "b").starts(10, 1).releases(12, 2)),
            []
        );
    }

    #[test]
    fn rejects_two_threads_of_one_process() {
        let second = Node::Client(1).for_thread(2);
        let story = Story::new().takes(1, 1, "a").acquires(2, second).hears(3, second, "a");
        let found = overlaps(story.crashes(7, 1));
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].at.0, found[0].duration.0),
            (3_000, 4_000),
            "both end when their process dies"
        );
        assert_eq!(found[0].processes, [Node::Client(1), second]);
    }

    #[test]
    fn accepts_an_acquire_whose_outcome_is_unknown() {
        let story = Story::new().takes(1, 1, "a").acquires(2, 2).info(3, 2).releases(9, 1);
        assert_eq!(overlaps(story), []);
    }

    #[test]
    fn rejects_two_sections_at_one_instant() {
        let found =
            overlaps(Story::new().takes(1, 1, "a").takes(3, 2, "b").releases(5, 1).releases(9, 2));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].at.0, found[0].duration.0), (3_000, 2_000));
        assert_eq!(found[0].processes, [Node::Client(1), Node::Client(2)]);
        assert_eq!(found[0].witness.len(), 6, "two grants and four bounds");
    }

    #[test]
    fn rejects_a_section_that_ends_in_the_instant_in_which_the_other_began_later() {
        let found =
            overlaps(Story::new().takes(1, 1, "a").takes(3, 2, "b").releases(4, 2).releases(5, 1));
        assert_eq!(found[0].duration.0, 1_000);
    }

    #[test]
    fn rejects_a_section_that_was_never_left() {
        let found = overlaps(Story::new().takes(1, 1, "a").takes(3, 2, "b").releases(5, 2));
        assert_eq!(found[0].duration.0, 2_000);
    }

    #[test]
    fn rejects_an_overlap_with_an_outer_section_after_the_inner_one_was_left() {
        let story = Story::new().takes(1, 1, "a").takes(2, 1, "a").releases(3, 1).takes(4, 2, "b");
        assert_eq!(overlaps(story.releases(5, 2).releases(6, 1)).len(), 1);
    }

    #[test]
    fn every_pair_of_three_sections_is_found() {
        let story = Story::new().takes(1, 1, "a").takes(2, 2, "b").takes(3, 3, "c");
        assert_eq!(overlaps(story.releases(5, 1).releases(5, 2).releases(5, 3)).len(), 3);
    }
}
