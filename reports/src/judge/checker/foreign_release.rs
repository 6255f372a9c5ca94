//! Checks that no process removes a lock that another process acquired. The owner of a value is the
//! process to which the server last granted it, or whose grant the server last copied; otherwise,
//! the process to which any server last granted it. A thread may remove the lock of another thread
//! of its process, but not during that thread's critical section.

use super::Checker;
use crate::judge::finding::{Clash, Finding, Kind};
use crate::judge::meaning::Meaning;
use crate::judge::timeline::{Moment, Outcome, Timeline};
use crate::record::history::{Change, What};
use fencepost_faults::{Micros, Node};

pub(super) const CHECKER: Checker = Checker { name: "foreign-release", check };

pub(super) const MEANING: Meaning = Meaning {
    how: "The release deletes the key without comparing its value, or compares and deletes in two \
          commands.",
    helps: "Use a random value for each acquisition, and release with a script that compares and \
            deletes in one step.",
};

fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    let events = timeline.history.events.iter().enumerate();
    events
        .filter_map(|(index, event)| {
            let What::Server {
                key,
                change: Change::Removed,
                value: Some(value),
                by: Some(remover),
                ..
            } = &event.what
            else {
                return None;
            };
            if *key != timeline.history.header.resource {
                return None;
            }
            let removed = timeline.moment(index);
            let (owner, granted) = timeline.owner_of(value, event.node, removed)?;
            let removal = Removal { remover: *remover, owner, granted, removed };
            (owner != *remover && removal.is_granted_lock(timeline))
                .then(|| finding(timeline, removal))
        })
        .collect()
}

struct Removal {
    remover: Node,
    owner: Node,
    granted: Moment,
    removed: Moment,
}

impl Removal {
    fn affected_acquisition(&self, timeline: &Timeline<'_>) -> Option<usize> {
        let belongs = |one: &crate::judge::timeline::Acquisition<'_>| {
            one.grant.as_ref().is_some_and(|grant| {
                grant.servers.iter().any(|(_, moment)| *moment == self.granted)
            })
        };
        let machine = self.owner.machine();
        timeline
            .acquisitions
            .iter()
            .position(|one| one.process.machine() == machine && belongs(one))
    }

    fn is_granted_lock(&self, timeline: &Timeline<'_>) -> bool {
        let Some(theirs) = self.affected_acquisition(timeline) else { return false };
        let in_use =
            || timeline.section_of(theirs).is_some_and(|section| section.covers(self.removed));
        let for_thread = self.owner.machine() == self.remover.machine();
        timeline.acquisitions[theirs].outcome == Outcome::Granted && (!for_thread || in_use())
    }
}

fn finding(timeline: &Timeline<'_>, removal: Removal) -> Finding {
    let theirs = removal.affected_acquisition(timeline);
    let Removal { remover, owner, granted, removed } = removal;
    let server = timeline.history.events[removed.index].node;
    let what = format!(
        "{remover} removed the lock of {owner} at {server}, {} after {owner} had been granted it.",
        removed.time.since(granted.time)
    );
    let own = timeline.acquisitions.iter().rposition(|one| {
        one.process == remover
            && one.completed.is_some_and(|at| at < removed)
            && one.owner.is_some()
    });
    let clash = own.zip(theirs).map(|(earlier, later)| Clash { earlier, later, late_write: None });
    let mut witness = super::grants_of(timeline, clash);
    witness.extend([granted.index, removed.index]);
    let processes = vec![remover, owner];
    Finding {
        kind: Kind::ForeignRelease,
        at: removed.time,
        duration: Micros::ZERO,
        processes,
        what,
        witness: super::sorted(witness),
        clash,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;

    fn foreign_releases(story: Story) -> Vec<Finding> {
        check(&Timeline::new(&story.build()))
    }

    #[test]
    fn accepts_an_owner_who_removes_its_own_lock() {
        assert_eq!(
            foreign_releases(Story::new().takes(1, 1, "a").releases(3, 1).removed(4, "a", 1)),
            []
        );
    }

    #[test]
    fn accepts_a_lock_that_expires_or_is_removed_on_a_replica() {
        let story = Story::new().takes(1, 1, "a").expires(5, "a").takes(6, 2, "b");
        assert_eq!(foreign_releases(story.removed_on_replica(7, 2, "b")), []);
    }

    #[test]
    fn accepts_an_owner_who_removes_its_lock_at_a_promoted_replica() {
        let story = Story::new().takes(1, 1, "a").replicated(2, 2, "a").removed_at(4, 2, "a", 1);
        assert_eq!(foreign_releases(story), []);
    }

    #[test]
    fn accepts_a_constant_value_that_its_last_grantee_removes() {
        let story =
            Story::new().takes(1, 1, "1").expires(5, "1").takes(6, 2, "1").removed(7, "1", 2);
        assert_eq!(foreign_releases(story), []);
    }

    #[test]
    fn accepts_a_thread_that_clears_away_what_another_of_its_process_left_behind() {
        let second = Node::Client(1).for_thread(2);
        let story = Story::new()
            .takes(1, 1, "a")
            .leaves(2, 1)
            .info(3, 1)
            .acquires(4, second)
            .hears(5, second, "a");
        assert_eq!(foreign_releases(story.leaves(6, second).removed(7, "a", second)), []);
    }

    #[test]
    fn rejects_a_thread_that_removes_what_another_of_its_process_uses() {
        let second = Node::Client(1).for_thread(2);
        let story = Story::new()
            .takes(1, 1, "a")
            .acquires(4, second)
            .hears(5, second, "a")
            .leaves(6, second);
        let found = foreign_releases(story.removed(7, "a", second).releases(9, 1));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].processes, [second, Node::Client(1)]);
    }

    #[test]
    fn rejects_a_process_that_removes_the_lock_of_another() {
        let story =
            Story::new().takes(1, 1, "a").expires(5, "a").takes(6, 2, "b").removed(7, "b", 1);
        let found = foreign_releases(story);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].processes, [Node::Client(1), Node::Client(2)]);
        let clash = found[0].clash.unwrap();
        assert_eq!((clash.earlier, clash.later), (0, 1));
    }

    #[test]
    fn rejects_the_same_under_one_constant_value() {
        let story =
            Story::new().takes(1, 1, "1").expires(5, "1").takes(6, 2, "1").removed(7, "1", 1);
        assert_eq!(foreign_releases(story).len(), 1);
    }

    #[test]
    fn rejects_a_foreign_removal_at_a_promoted_replica() {
        let story = Story::new().takes(1, 1, "a").replicated(2, 2, "a").removed_at(4, 2, "a", 3);
        assert_eq!(foreign_releases(story).len(), 1);
    }
}
