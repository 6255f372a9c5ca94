//! Checks that the storage accepts no write of an earlier holder after a request of a later holder.

use super::Checker;
use crate::judge::finding::{Clash, Finding, Kind};
use crate::judge::meaning::Meaning;
use crate::judge::timeline::{Moment, StorageRequest, Timeline};
use fencepost_faults::{Micros, Node};

pub(super) const CHECKER: Checker = Checker { name: "stale-write", check };

pub(super) const MEANING: Meaning = Meaning {
    how: "The earlier holder had lost its lock without noticing, or its write was still in \
          transit.",
    helps: "Use fencing tokens that the storage checks on every request.",
};

fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut latest: Option<(Moment, &StorageRequest)> = None;
    for request in timeline.storage.iter().filter(|request| request.accepted) {
        let Some(granted) = grant_of(timeline, request) else { continue };
        match latest {
            Some((newest, served)) if granted < newest => {
                if request.is_accepted_write() {
                    findings.push(finding(timeline, request, served));
                }
            }
            Some((newest, _)) if granted == newest => {}
            _ => latest = Some((granted, request)),
        }
    }
    findings
}

/// Returns when the earlier holder last got or set the lock between the later holder's grant and
/// the late write.
pub(crate) fn granted_again(timeline: &Timeline<'_>, clash: Clash) -> Option<Moment> {
    let landed = timeline.moment(clash.late_write?);
    let (earlier, later) =
        (&timeline.acquisitions[clash.earlier], &timeline.acquisitions[clash.later]);
    let passed = later.grant.as_ref()?.moment;
    let own = timeline.acquisitions.iter().filter(|one| one.process == earlier.process);
    let grants = own.filter_map(|one| Some(one.grant.as_ref()?.moment));
    // An extension that does not check the owner can also set the lock again.
    let spans = timeline.keys.iter().filter(|span| {
        timeline.history.header.quorum <= 1
            && span.by.map(Node::machine) == Some(earlier.process.machine())
            && timeline.is_lock_of(span, earlier)
            // A partial release also writes a value.
            && !timeline.is_lowered(span)
    });
    let grants = grants.chain(spans.map(|span| span.from));
    grants.filter(|at| passed < *at && *at < landed).max()
}

/// Returns whether an acquire of the process, and not an extension, set the lock at this time.
fn is_grant(timeline: &Timeline<'_>, process: Node, at: Moment) -> bool {
    let mut own = timeline.acquisitions.iter().filter(|one| one.process == process);
    own.any(|one| one.is_open_at(at) || one.grant.as_ref().is_some_and(|grant| grant.moment == at))
}

fn grant_of(timeline: &Timeline<'_>, request: &StorageRequest) -> Option<Moment> {
    timeline.granted_at(request.acquisition?)
}

fn finding(timeline: &Timeline<'_>, stale: &StorageRequest, served: &StorageRequest) -> Finding {
    let (late, served_by) = (stale.process, served.process);
    let span = stale.moment.time.since(served.moment.time);
    let granted = match timeline.history.header.locks_unseen {
        true => "learned of its grant",
        false => "was granted the lock",
    };
    let what = match late == served_by {
        true => format!(
            "The storage served a request from {late}'s new acquisition. {span} later it accepted \
             {late}'s write of {}, which {late} had sent in an earlier acquisition.",
            stale.after
        ),
        false => format!(
            "{served_by} {granted} after {late}. The storage served a request of {served_by}, and \
             {span} later accepted {late}'s write of {}.",
            stale.after
        ),
    };
    let clash = match (stale.acquisition, served.acquisition) {
        (Some(earlier), Some(later)) => {
            Some(Clash { earlier, later, late_write: Some(stale.moment.index) })
        }
        _ => None,
    };
    let again = clash.and_then(|clash| granted_again(timeline, clash));
    let what = match again.filter(|_| late != served_by) {
        Some(at) if is_grant(timeline, late, at) => {
            format!("{what} At {}, {late} was granted the lock again.", at.time)
        }
        Some(at) => {
            format!("{what} At {}, {late} set the lock again by an extension.", at.time)
        }
        None => what,
    };
    let mut witness = super::grants_of(timeline, clash);
    witness.extend([served.moment.index, stale.moment.index]);
    Finding {
        kind: Kind::StaleWrite,
        at: stale.moment.time,
        duration: Micros::ZERO,
        processes: vec![stale.process, served.process],
        what,
        witness: super::sorted(witness),
        clash,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::history::Change;
    use crate::record::story::Story;

    fn stale_writes(story: Story) -> Vec<Finding> {
        check(&Timeline::new(&story.build()))
    }

    fn handover() -> Story {
        Story::new().takes(1, 1, "a").takes(5, 2, "b")
    }

    #[test]
    fn without_reported_grants_the_order_is_that_of_the_answers_unless_a_fault_may_change_it() {
        let story = |fault: bool| {
            let story =
                Story::unseen().acquires(1, 1).hears(2, 1, "").reads(3, 1, 0).acquires(5, 2);
            let pause = |story: Story| {
                let story = story.fault_began(6, 7, "pause", &[Node::Client(2)]);
                story.fault_ended(8, 7, "pause", Node::Client(2))
            };
            let story = if fault { pause(story) } else { story };
            stale_writes(story.hears(9, 2, "").reads(10, 2, 0).writes(11, 1, 0, 1))
        };
        let found = story(false);
        assert_eq!(found.len(), 1);
        assert!(found[0].what.contains("client-2 learned of its grant after client-1."));
        assert_eq!(story(true), []);
    }

    #[test]
    fn a_grant_that_only_copies_show_after_a_crash_has_its_place_in_the_order() {
        let story = |story: Story| {
            let story = story.takes(1, 1, "a").acquires(2, 2).redis_crashes(5, 1);
            let story = [2, 3].into_iter().fold(story, |story, redis| {
                story.expires_at(6, redis, "a").restored_on_replica(7, redis, "b")
            });
            story.hears(8, 2, "b").reads(9, 2, 0).writes(10, 1, 0, 1)
        };
        assert_eq!(stale_writes(story(Story::with_sessions())).len(), 1);
        assert_eq!(stale_writes(story(Story::new())), [], "the copy may be lost");
    }

    #[test]
    fn a_writer_that_was_granted_the_lock_again_meanwhile_is_told_so() {
        let story = |nested: bool| {
            let story = handover().reads(6, 2, 0);
            let story = match nested {
                true => story.acquires(7, 1).grants(8, 1, "a").hears(9, 1, "a"),
                false => story,
            };
            stale_writes(story.late_write(12, 1, 10, 0, 1)).remove(0).what
        };
        assert!(story(true).ends_with("At 8ms, client-1 was granted the lock again."));
        assert!(!story(false).contains("again"));
    }

    #[test]
    fn a_release_that_lowers_a_count_does_not_set_the_lock_again() {
        let counted = |story: Story, ms, change, count: &str| {
            story.server(ms, 1, change, count, Some(Node::Client(1)))
        };
        let first = counted(Story::new().acquires(1, 1), 2, Change::Granted, "a=1");
        let lost = first.hears(3, 1, "a=1").expires(12, "a=1").takes(13, 2, "b=1");
        let lost = lost.reads(14, 2, 0).releases(15, 2).removed(15, "b=1", 2).acquires(16, 1);
        let again = counted(lost, 17, Change::Granted, "a=1").hears(18, 1, "a=1").leaves(19, 1);
        let lowered = counted(again, 20, Change::Granted, "a=0");
        let left = counted(lowered, 20, Change::Removed, "a=0").left(21, 1);
        let told = |story: Story| stale_writes(story.late_write(22, 1, 21, 0, 1)).remove(0).what;
        let said = |ms| format!("At {ms}ms, client-1 was granted the lock again.");
        let left = told(left);
        assert!(left.ends_with(&said(17)), "{left}");
        let split = counted(Story::new().acquires(1, 1), 2, Change::Granted, "a=1");
        let split = split.hears(3, 1, "a=1").grants_at(5, 2, 3, "b=1").hears(5, 2, "b=1");
        let raised = counted(split.reads(6, 2, 0).acquires(7, 1), 8, Change::Granted, "a=2");
        let raised = told(raised.hears(9, 1, "a=1"));
        assert!(raised.ends_with(&said(8)), "an inner acquire: {raised}");
    }

    #[test]
    fn accepts_writes_in_the_order_of_grants() {
        let story = handover().writes(6, 1, 0, 1).reads(7, 2, 1).writes(8, 2, 1, 2);
        assert_eq!(stale_writes(story), []);
    }

    #[test]
    fn accepts_a_late_write_that_lands_before_the_later_holder_comes() {
        assert_eq!(stale_writes(handover().writes(8, 1, 0, 1).writes(9, 2, 1, 2)), []);
    }

    #[test]
    fn accepts_a_late_write_that_the_storage_rejects() {
        assert_eq!(stale_writes(handover().writes(6, 2, 0, 1).rejects_write(7, 1, 0, 5)), []);
    }

    #[test]
    fn accepts_a_late_read() {
        assert_eq!(stale_writes(handover().writes(6, 2, 0, 1).reads(7, 1, 1)), []);
    }

    #[test]
    fn a_late_write_of_ones_own_is_told_as_such() {
        let own = Story::new().takes(1, 1, "a").releases(4, 1).takes(5, 1, "b").reads(6, 1, 0);
        let stale = stale_writes(own.late_write(7, 1, 3, 0, 3));
        assert!(stale[0].what.contains("in an earlier acquisition"), "{}", stale[0].what);
        let other = stale_writes(handover().reads(6, 2, 0).writes(7, 1, 0, 3));
        assert!(other[0].what.contains("client-2 was granted the lock after"), "{}", other[0].what);
    }

    #[test]
    fn accepts_the_order_of_grants_even_if_completions_came_the_other_way_round() {
        let story =
            Story::new().grants(1, 1, "a").grants(2, 2, "b").hears(3, 2, "b").hears(4, 1, "a");
        assert_eq!(stale_writes(story.writes(5, 1, 0, 1).writes(6, 2, 1, 2)), []);
    }

    #[test]
    fn rejects_a_late_write_after_a_write_of_the_later_holder() {
        let found = stale_writes(handover().writes(6, 2, 0, 1).writes(7, 1, 0, 5));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].processes, [Node::Client(1), Node::Client(2)]);
        assert_eq!(found[0].at.0, 7_000);
    }

    #[test]
    fn rejects_a_late_write_after_a_mere_read_of_the_later_holder() {
        assert_eq!(stale_writes(handover().reads(6, 2, 0).writes(7, 1, 0, 5)).len(), 1);
    }

    #[test]
    fn rejects_writes_in_the_order_of_completions_if_grants_came_the_other_way_round() {
        let story =
            Story::new().grants(1, 1, "a").grants(2, 2, "b").hears(3, 2, "b").hears(4, 1, "a");
        assert_eq!(stale_writes(story.writes(5, 2, 0, 1).writes(6, 1, 1, 2)).len(), 1);
    }

    #[test]
    fn rejects_a_late_write_of_a_process_that_holds_the_lock_again_by_now() {
        let story = Story::new().takes(1, 1, "a").releases(2, 1).takes(3, 1, "b").reads(4, 1, 0);
        assert_eq!(stale_writes(story.late_write(5, 1, 0, 0, 7)).len(), 1);
    }

    #[test]
    fn for_a_quorum_the_deciding_node_sets_the_order() {
        let story = Story::with_quorum(3)
            .grants_at(1, 1, 1, "a")
            .grants_at(2, 2, 2, "b")
            .grants_at(3, 2, 3, "b")
            .grants_at(4, 2, 4, "b")
            .hears(5, 2, "b")
            .grants_at(6, 1, 5, "a")
            .grants_at(7, 1, 2, "a")
            .hears(8, 1, "a");
        assert_eq!(stale_writes(story.writes(9, 1, 0, 1).writes(10, 2, 1, 2)).len(), 1);
    }

    #[test]
    fn a_late_release_that_lowers_a_count_leaves_the_grant_of_the_open_acquire() {
        let counted = |story: Story, ms, count: &str| {
            story.server(ms, 1, Change::Granted, count, Some(Node::Client(1)))
        };
        // The first release arrives late and lowers the count of the third acquire.
        let first = counted(Story::new().acquires(1, 1), 2, "a=1").hears(3, 1, "a=1");
        let second = counted(first.leaves(4, 1).info(5, 1).acquires(6, 1), 7, "a=2");
        let second = second.hears(8, 1, "a=1").reads(9, 1, 0).writes(10, 1, 0, 1).leaves(11, 1);
        let third = counted(counted(second, 12, "a=1").left(13, 1).acquires(14, 1), 15, "a=2");
        let third = counted(third, 16, "a=1").hears(17, 1, "a=1").reads(18, 1, 1);
        let third = third.writes(19, 1, 1, 2).leaves(20, 1);
        assert_eq!(stale_writes(third.clone()), []);
        let late = stale_writes(third.late_write(21, 1, 6, 2, 3));
        assert_eq!(late.len(), 1);
    }
}
