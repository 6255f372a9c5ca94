use super::*;

fn retaken(story: Story) -> Cause {
    cause(Kind::Overlap, story.takes(5, 2, "b").releases(8, 1).releases(9, 2))
}

#[test]
fn a_node_that_went_with_its_session_under_its_holder_is_a_session_that_expired() {
    let expires = |story: Story| retaken(story.takes(1, 1, "a").expires(4, "a"));
    assert_eq!(expires(Story::with_sessions()), Cause::SessionExpired);
    assert_ne!(expires(Story::new()), Cause::SessionExpired, "a ttl is no session");
    let removed = Story::with_sessions().takes(1, 1, "a").removed(4, "a", 2);
    assert_ne!(retaken(removed), Cause::SessionExpired);
}

#[test]
fn a_node_that_a_process_heard_of_from_a_server_that_was_behind_is_a_stale_read() {
    let granted = || Story::with_sessions().acquires(1, 1).grants(2, 1, "a");
    let gone = || granted().replicated(2, 2, "a").expires_at(3, 2, "a");
    assert_eq!(retaken(gone().hears(4, 1, "a").expires(5, "a")), Cause::StaleRead);
    let level = gone().expires(3, "a").hears(4, 1, "a");
    assert_eq!(retaken(level), Cause::SessionExpired, "the answer was under way");
}

#[test]
fn who_enters_though_its_key_was_never_the_first_is_a_waiter_whose_lease_had_ended() {
    let entered = |story: Story, told: u64| {
        let story = story.acquires(1, 1).hears(told, 1, "a").takes(told + 2, 2, "b");
        cause(Kind::Overlap, story.releases(told + 5, 1).releases(told + 6, 2))
    };
    assert_eq!(entered(Story::with_leases(), 11), Cause::ExpiredWaiter);
    let early = entered(Story::with_leases(), 5);
    assert_eq!(early, Cause::UnfoundedAnswer, "its lease cannot have ended within half a ttl");
    assert_ne!(entered(Story::with_sessions(), 11), Cause::ExpiredWaiter, "a node is no key");
    let held = |story: Story| retaken(story.takes(1, 1, "a").expires(4, "a"));
    assert_eq!(held(Story::with_leases()), Cause::SessionExpired, "it was the first");
}

#[test]
fn a_first_node_that_no_process_knows_of_is_an_orphan() {
    let refused = |story: Story| story.acquires(1, 1).grants(2, 1, "a").info(3, 1);
    assert_eq!(cause_of_standstill(refused(Story::with_sessions())), Cause::OrphanNode);
    let with_ttl = loses_reply(refused(Story::new()), 1, 3);
    assert_eq!(cause_of_standstill(with_ttl), Cause::LostReply, "a ttl is no session");
    let unheard = || Story::with_sessions().acquires(1, 1).replicated(2, 1, "a").info(3, 1);
    assert_eq!(cause_of_standstill(unheard()), Cause::OrphanNode, "nobody waits since then");
    assert_ne!(
        cause_of_standstill(unheard().crashes(125, 2)),
        Cause::OrphanNode,
        "it may be the dead one's"
    );
    let died = refused(Story::with_sessions()).crashes(4, 1);
    assert_ne!(cause_of_standstill(died), Cause::OrphanNode, "its session will end");
}

#[test]
fn the_first_node_may_be_that_of_an_acquire_which_the_application_gave_up() {
    let cancelled = || Story::with_sessions().acquires(1, 1).grants(2, 1, "a").cancels(3, 1);
    assert_eq!(cause_of_standstill(cancelled()), Cause::GivenUpCall);
    let another = Story::with_sessions().acquires(1, 2).cancels(1, 2);
    assert_eq!(
        cause_of_standstill(another.grants(2, 1, "a").info(3, 1)),
        Cause::OrphanNode,
        "not its own"
    );
    let (redis, client) = (Node::Redis(1), Node::Client(1));
    let lost = cancelled().fault_began(1, 1, "lost-reply", &[redis, client]);
    let lost = lost.fault_ended(2, 1, "lost-reply", redis);
    assert_eq!(
        cause_of_standstill(lost),
        Cause::OrphanNode,
        "a lost reply leaves such a node, too"
    );
    let paused = |client: u16, from: u64| {
        let story = cancelled().fault_began(from, 1, "pause", &[Node::Client(client)]);
        cause_of_standstill(story.fault_ended(from + 1, 1, "pause", Node::Client(client)))
    };
    assert_eq!(paused(2, 1), Cause::GivenUpCall, "the pause of another process");
    assert_eq!(paused(1, 1), Cause::OrphanNode);
    let earlier = Story::with_sessions().fault_began(1, 1, "pause", &[client]);
    let earlier = earlier.fault_ended(2, 1, "pause", client).acquires(4, 1).grants(5, 1, "a");
    assert_eq!(cause_of_standstill(earlier.cancels(6, 1)), Cause::GivenUpCall, "it was over");
    let released = Story::with_sessions().takes(1, 1, "a").leaves(3, 1).cancels(4, 1);
    assert_eq!(cause_of_standstill(released), Cause::GivenUpCall);
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
    assert_eq!(sleeps(Story::kept_as(Keeping::Membership)), Cause::MissedWakeup);
    assert_eq!(sleeps(Story::with_sessions().with_lock_delay(60)), Cause::MissedWakeup);
}

#[test]
fn an_orphan_that_keeps_the_order_of_a_semaphore_is_in_the_way_where_no_lease_stands() {
    let refused = || Story::with_sessions().acquires(1, 1);
    let order = format!("{KEY}/locks");
    let orphan = refused().keyed(2, &order, Change::Granted, "lock-1", 1).info(3, 1);
    assert_eq!(cause_of_standstill(orphan.clone()), Cause::OrphanNode);
    let gone = orphan.keyed(30, &order, Change::Removed, "lock-1", 1);
    assert_eq!(cause_of_standstill(gone), Cause::Unexplained, "it stood for a tenth of that time");
    assert_eq!(cause_of_standstill(refused().info(3, 1)), Cause::Unexplained);
}

#[test]
fn a_first_node_whose_process_waits_on_lost_its_watch() {
    let waits = Story::with_sessions().acquires(1, 1).grants(2, 1, "a");
    assert_eq!(cause_of_standstill(waits), Cause::LostWatch);
    let unheard = Story::with_sessions().acquires(1, 1).replicated(2, 1, "a");
    assert_eq!(cause_of_standstill(unheard), Cause::Unexplained, "it may be another's node");
    let waits = || Story::with_sessions().acquires(1, 1).grants(2, 1, "a");
    let told = |key: &str, client: u16| {
        let story = waits().keyed(3, &format!("{KEY}{key}"), Change::Granted, "b", client);
        cause_of_standstill(story)
    };
    assert_eq!(told("/twice", 1), Cause::OrphanNode);
    assert_eq!(told("/twice", 2), Cause::LostWatch, "another process has two nodes");
    assert_eq!(told("/other", 1), Cause::LostWatch, "it has one node in this queue");
    let released = Story::with_sessions().takes(1, 1, "a").leaves(3, 1).info(4, 1);
    assert_eq!(
        cause_of_standstill(released),
        Cause::LostRelease,
        "a node that its process knows of"
    );
}
