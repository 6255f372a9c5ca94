//! What became of a lock that lives as long as the session or the connection of its process.

use super::Cause;
use crate::judge::finding::Clash;
use crate::judge::timeline::{Acquisition, KeyEnd, KeySpan, Moment, Timeline, creator, of_key};
use crate::record::history::{Change, Keeping, What};
use fencepost_faults::{Node, SimTime};

/// Why the earlier holder no longer had the lock: it was told of it by a server that did not know
/// yet that the lock was gone, or its session ended. Nothing if the lock does not live in a session
/// or went in another way.
pub(super) fn of_clash(timeline: &Timeline<'_>, clash: Clash) -> Option<Cause> {
    if !timeline.history.header.has_no_ttl() {
        return None;
    }
    if timeline.history.header.kept_as == Some(Keeping::Lease) && was_never_first(timeline, clash) {
        return Some(Cause::ExpiredWaiter);
    }
    let holder = &timeline.acquisitions[clash.earlier];
    if was_granted_elsewhere(timeline, clash) {
        return Some(Cause::FailoverForgets);
    }
    let (gone, how) = timeline.gone(holder)?;
    if timeline.history.header.kept_as == Some(Keeping::Connection) {
        return ended_by_itself(how).then_some(Cause::ConnectionLost);
    }
    let told = holder.completed.filter(|told| gone < *told);
    let is_expiry = matches!(how, KeyEnd::Changed { change: Change::Expired, .. });
    match told {
        Some(told) if still_stood(timeline, holder, told) => Some(Cause::StaleRead),
        _ if is_expiry => Some(Cause::SessionExpired),
        _ => None,
    }
}

/// Whether a lock of a connection was granted again by another server, which never heard of it.
fn was_granted_elsewhere(timeline: &Timeline<'_>, clash: Clash) -> bool {
    let at = |index: usize| timeline.acquisitions[index].grant.as_ref().map(|grant| grant.node);
    let servers = at(clash.earlier).zip(at(clash.later));
    timeline.history.header.kept_as == Some(Keeping::Connection)
        && servers.is_some_and(|(held, taken)| held != taken)
}

/// Whether one of both entered though no server ever had its key as the first of the queue: it went
/// while the process waited.
fn was_never_first(timeline: &Timeline<'_>, clash: Clash) -> bool {
    [clash.earlier, clash.later].iter().any(|index| timeline.acquisitions[*index].grant.is_none())
}

/// Whether a lock of a connection went without a command: with the connection, or with the server.
fn ended_by_itself(how: KeyEnd) -> bool {
    let KeyEnd::Changed { change, by, .. } = how else { return false };
    change == Change::Forgotten || change == Change::Removed && by.is_none()
}

/// Whether the server that a process was connected to still had its lock at an instant.
fn still_stood(timeline: &Timeline<'_>, holder: &Acquisition<'_>, at: Moment) -> bool {
    let own = timeline.keys.iter().filter(|span| timeline.is_lock_of(span, holder));
    own.filter(|span| span.by.map(Node::machine) == Some(holder.process.machine()))
        .any(|span| span.from < at && span.to.is_none_or(|(to, _)| at < to))
}

/// The node that was the first of the queue for most of the time in which nobody got in; of a
/// semaphore, where no lease stood, the first of those who wait to add one.
pub(super) fn first_node<'h>(
    timeline: &Timeline<'h>,
    (from, until): (SimTime, SimTime),
) -> Option<KeySpan<'h>> {
    let stood = |span: &&KeySpan<'_>| {
        let to = span.to.map_or(timeline.end, |(to, _)| to.time).min(until);
        to.since(span.from.time.max(from)).0 * 2 > until.since(from).0
    };
    let first = timeline.keys.iter().find(stood).cloned();
    first.or_else(|| {
        let order =
            of_key(timeline.history, &format!("{}/locks", timeline.history.header.resource));
        order.iter().find(stood).cloned()
    })
}

/// Whether a process got a second node in a queue of the lock between two instants: then it knows
/// of one of them at most.
pub(super) fn contended_twice(
    timeline: &Timeline<'_>,
    process: Node,
    (from, until): (SimTime, SimTime),
) -> bool {
    let events = timeline.history.events.iter().skip_while(|event| event.time_us < from);
    let meanwhile = events.take_while(|event| event.time_us <= until);
    let mut seconds = meanwhile.filter_map(|event| match &event.what {
        What::Server { key, value: Some(value), .. } if key.ends_with("/twice") => Some(value),
        _ => None,
    });
    seconds.any(|node| creator(timeline.history, node) == Some(process))
}

/// Why the first of the queue does not take the lock: its process waits on and has not been told,
/// or it waits with another node, or has been told since that it does not have the lock. Nothing if
/// a process once had the lock under that name, or a process died whose session may have kept it
/// there.
pub(super) fn of_queue(
    timeline: &Timeline<'_>,
    first: &KeySpan<'_>,
    until: SimTime,
) -> Option<Cause> {
    let is_known = |one: &Acquisition<'_>| one.owner.is_some() && one.owner == first.value;
    let by = first.value.and_then(|node| creator(timeline.history, node));
    if died_since(timeline, (by, first.from.time), until)
        || timeline.acquisitions.iter().any(is_known)
    {
        return None;
    }
    let mut waiting = timeline.acquisitions.iter().filter(|one| {
        one.invoked < first.from && one.completed.is_none_or(|completed| until <= completed.time)
    });
    match by {
        Some(by) => {
            let waits_with_it = waiting.any(|one| one.process == by)
                && !contended_twice(timeline, by, (SimTime::ZERO, until));
            Some(if waits_with_it { Cause::LostWatch } else { Cause::OrphanNode })
        }
        // Whoever waits since then may wait with this node.
        None => waiting.next().is_none().then_some(Cause::OrphanNode),
    }
}

/// Whether a process died and its session may have kept the node: the process whose node it is,
/// since then; or, where that is not known, any process, so late that its session may not have
/// ended. That takes its timeout and a tick, and no more than twice as long.
fn died_since(
    timeline: &Timeline<'_>,
    (by, from): (Option<Node>, SimTime),
    until: SimTime,
) -> bool {
    let session = timeline.history.header.ttl_us;
    timeline.history.events.iter().any(|event| {
        let is_whose = match by {
            Some(by) => event.node == by.machine() && from <= event.time_us,
            None => event.node.is_process() && until < event.time_us + session + session,
        };
        is_whose && event.time_us <= until && matches!(event.what, What::Crashed)
    })
}

#[cfg(test)]
mod tests {
    use super::super::classify;
    use super::Cause;
    use crate::judge::checker::CHECKERS;
    use crate::judge::finding::Kind;
    use crate::judge::timeline::Timeline;
    use crate::record::history::Change;
    use crate::record::story::{KEY, Story};

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
    fn a_node_that_a_process_heard_of_from_a_server_that_was_behind_is_a_stale_read() {
        let granted = || Story::with_sessions().acquires(1, 1).grants(2, 1, "a");
        let gone = || granted().replicated(2, 2, "a").expires_at(3, 2, "a");
        assert_eq!(overlap(gone().hears(4, 1, "a").expires(5, "a")), Cause::StaleRead);
        let level = gone().expires(3, "a").hears(4, 1, "a");
        assert_eq!(overlap(level), Cause::SessionExpired, "the answer was under way");
    }

    #[test]
    fn who_enters_though_its_key_was_never_the_first_is_a_waiter_whose_lease_had_ended() {
        // Client 1 is told that it has the lock, of which no server knows.
        let entered = |story: Story| overlap(story.acquires(1, 1).hears(3, 1, "a"));
        assert_eq!(entered(Story::with_leases()), Cause::ExpiredWaiter);
        assert_ne!(entered(Story::with_sessions()), Cause::ExpiredWaiter, "a node is no key");
        let held = |story: Story| overlap(story.takes(1, 1, "a").expires(4, "a"));
        assert_eq!(held(Story::with_leases()), Cause::SessionExpired, "it was the first");
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
        let unheard = || Story::with_sessions().acquires(1, 1).replicated(2, 1, "a").info(3, 1);
        assert_eq!(nobody(unheard()), Cause::OrphanNode, "nobody waits since then");
        assert_ne!(
            nobody(unheard().crashes(125, 2)),
            Cause::OrphanNode,
            "it may be the dead one's"
        );
        let died = refused(Story::with_sessions()).crashes(4, 1);
        assert_ne!(nobody(died), Cause::OrphanNode, "its session will end");
    }

    #[test]
    fn a_waiter_that_slept_on_a_free_lock_lost_its_watch_or_its_wakeup() {
        let sleeps = |story: Story| {
            let story = story.healed(0).takes(1, 1, "a").acquires(2, 2).leaves(5, 1);
            let story = story.removed(5, "a", 1).left(6, 1);
            cause(Kind::Deadlock, story.silent(7, 2, 2, false))
        };
        assert_eq!(sleeps(Story::with_sessions()), Cause::LostWatch);
        assert_eq!(sleeps(Story::new()), Cause::MissedWakeup);
    }

    #[test]
    fn an_orphan_that_keeps_the_order_of_a_semaphore_is_in_the_way_where_no_lease_stands() {
        let refused = || Story::with_sessions().acquires(1, 1);
        let order = format!("{KEY}/locks");
        let orphan = refused().keyed(2, &order, Change::Granted, "lock-1", 1).info(3, 1);
        assert_eq!(nobody(orphan.clone()), Cause::OrphanNode);
        let gone = orphan.keyed(30, &order, Change::Removed, "lock-1", 1);
        assert_eq!(nobody(gone), Cause::Unexplained, "it stood for a tenth of that time");
        assert_eq!(nobody(refused().info(3, 1)), Cause::Unexplained);
    }

    #[test]
    fn a_first_node_whose_process_waits_on_lost_its_watch() {
        let waits = Story::with_sessions().acquires(1, 1).grants(2, 1, "a");
        assert_eq!(nobody(waits), Cause::LostWatch);
        let unheard = Story::with_sessions().acquires(1, 1).replicated(2, 1, "a");
        assert_eq!(nobody(unheard), Cause::Unexplained, "it may be another's node");
        // It made a second node, and waits with that behind its first one.
        let waits = || Story::with_sessions().acquires(1, 1).grants(2, 1, "a");
        let told = |key: &str, client: u16| {
            let story = waits().keyed(3, &format!("{KEY}{key}"), Change::Granted, "b", client);
            nobody(story)
        };
        assert_eq!(told("/twice", 1), Cause::OrphanNode);
        assert_eq!(told("/twice", 2), Cause::LostWatch, "another process has two nodes");
        assert_eq!(told("/other", 1), Cause::LostWatch, "it has one node in this queue");
        let released = Story::with_sessions().takes(1, 1, "a").leaves(3, 1).info(4, 1);
        assert_eq!(nobody(released), Cause::LostRelease, "a node that its process knows of");
    }
}
