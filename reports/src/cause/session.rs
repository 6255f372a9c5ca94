//! What became of a lock that lives as long as the session of its process.

use super::Cause;
use crate::finding::Clash;
use crate::history::{Change, What};
use crate::timeline::{KeyEnd, KeySpan, Outcome, Timeline};

/// Why the earlier holder no longer had the lock: it was told of it by a server that did not know
/// yet that the lock was gone, or its session ended. Nothing if the lock does not live in a session
/// or went in another way.
pub(super) fn of_clash(timeline: &Timeline<'_>, clash: Clash) -> Option<Cause> {
    if !timeline.history.header.lives_with_session {
        return None;
    }
    let holder = &timeline.acquisitions[clash.earlier];
    let own = timeline.keys.iter().filter(|span| timeline.is_lock_of(span, holder));
    let (gone, expired) = own
        .filter_map(|span| span.to)
        .map(|(at, how)| (at, matches!(how, KeyEnd::Changed { change: Change::Expired, .. })))
        .min_by_key(|(at, _)| *at)?;
    match holder.completed {
        Some(told) if gone < told => Some(Cause::StaleRead),
        _ if expired => Some(Cause::SessionExpired),
        _ => None,
    }
}

/// Why the first of the queue does not take the lock: its process lives, and has been told since
/// that it does not have the lock, or has been waiting ever since.
pub(super) fn of_queue(timeline: &Timeline<'_>, first: &KeySpan<'_>) -> Option<Cause> {
    let process = first.by?;
    let later = timeline.history.events[first.from.index..].iter();
    let mut crashes = later.filter(|event| matches!(event.what, What::Crashed));
    if crashes.any(|event| event.node == process.machine()) {
        return None;
    }
    let of_process = timeline.acquisitions.iter().filter(|one| one.process == process);
    let is_known = of_process.clone().any(|one| one.owner.is_some() && one.owner == first.value);
    let last = of_process.clone().next_back()?;
    match last.outcome {
        _ if is_known => None,
        Outcome::Open if last.invoked < first.from => Some(Cause::LostWatch),
        _ => Some(Cause::OrphanNode),
    }
}

#[cfg(test)]
mod tests {
    use super::super::classify;
    use super::Cause;
    use crate::checker::CHECKERS;
    use crate::finding::Kind;
    use crate::story::Story;
    use crate::timeline::Timeline;

    fn cause(kind: Kind, story: Story) -> Cause {
        let history = story.build();
        let timeline = Timeline::new(&history);
        let mut findings = CHECKERS.iter().flat_map(|checker| (checker.check)(&timeline));
        let finding = findings.find(|finding| finding.kind == kind).expect("such a finding");
        classify(&timeline, &finding)
    }

    /// Client 1 has the lock from 1 ms on, and client 2 takes it at 5 ms; in between it went.
    fn overlap(story: Story) -> Cause {
        cause(Kind::Overlap, story.takes(5, 2, "b").releases(8, 1).releases(9, 2))
    }

    #[test]
    fn a_node_that_went_with_its_session_under_its_holder_is_a_session_that_expired() {
        let expires = |story: Story| overlap(story.takes(1, 1, "a").expires(4, "a"));
        assert_eq!(expires(Story::with_sessions()), Cause::SessionExpired);
        assert_ne!(expires(Story::new()), Cause::SessionExpired, "a ttl is no session");
        let removed = Story::with_sessions().takes(1, 1, "a").removed(4, "a", 2);
        assert_ne!(overlap(removed), Cause::SessionExpired);
    }

    #[test]
    fn a_node_that_was_gone_before_its_process_heard_of_it_is_a_stale_read() {
        let story = Story::with_sessions().acquires(1, 1).grants(2, 1, "a").expires(3, "a");
        assert_eq!(overlap(story.hears(4, 1, "a")), Cause::StaleRead);
    }

    /// Nobody gets in from 21 ms on.
    fn nobody(story: Story) -> Cause {
        cause(Kind::Stuck, story.progress_bound(100).healed(20).probe_acquires(21).probe_fails(130))
    }

    #[test]
    fn a_first_node_that_no_process_knows_of_is_an_orphan() {
        let refused = |story: Story| story.acquires(1, 1).grants(2, 1, "a").info(3, 1);
        assert_eq!(nobody(refused(Story::with_sessions())), Cause::OrphanNode);
        assert_eq!(nobody(refused(Story::new())), Cause::LostReply, "a ttl is no session");
        let died = refused(Story::with_sessions()).crashes(4, 1);
        assert_ne!(nobody(died), Cause::OrphanNode, "its session will end");
    }

    #[test]
    fn a_first_node_whose_process_waits_on_lost_its_watch() {
        let waits = Story::with_sessions().acquires(1, 1).grants(2, 1, "a");
        assert_eq!(nobody(waits), Cause::LostWatch);
        let released = Story::with_sessions().takes(1, 1, "a").leaves(3, 1).info(4, 1);
        assert_eq!(nobody(released), Cause::LostRelease, "a node that its process knows of");
    }
}
