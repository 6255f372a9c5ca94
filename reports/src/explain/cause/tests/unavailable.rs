use super::*;

#[test]
fn why_a_lock_that_is_free_is_not_had_is_told_by_what_acted_meanwhile() {
    let story = |fault: Option<(&str, Node)>, ended: u64| {
        let story = Story::with_quorum(2).ttl(100).available_within(10, 1, 3).acquires(1, 1);
        let story = story.acquires(1, 2);
        let story = match fault {
            Some((kind, node)) => story.faulted(2..ended, 1, kind, &[node, Node::Client(3)]),
            None => story,
        };
        story.starts(60, 3)
    };
    let told = |fault| cause(Kind::Unavailable, story(fault, 50));
    assert_eq!(told(Some(("crash", Node::Redis(1)))), Cause::ServerOutage);
    assert_eq!(told(Some(("pause", Node::Redis(3)))), Cause::ServerOutage);
    assert_eq!(told(Some(("partition", Node::Redis(1)))), Cause::Partition);
    assert_eq!(told(Some(("pause", Node::Client(3)))), Cause::Unexplained);
    assert_eq!(told(None), Cause::Unexplained);
    let back_at_once = story(Some(("crash", Node::Redis(1))), 3);
    assert_eq!(cause(Kind::Unavailable, back_at_once), Cause::Unexplained);
    let before = |kind| {
        let story = story(Some((kind, Node::Redis(1))), 20).between_faults();
        cause(Kind::Unavailable, story)
    };
    assert_eq!(["partition", "delay"].map(before), [Cause::Unexplained; 2], "it was over");
    assert_eq!(told(Some(("delay", Node::Redis(1)))), Cause::Latency, "no cut");
    let split = |fault| {
        let split = story(fault, 50).grants_at(3, 1, 1, "a").grants_at(3, 2, 2, "b");
        cause(Kind::Unavailable, split.removed_at(4, 1, "a", 1).removed_at(4, 2, "b", 2))
    };
    assert_eq!(split(None), Cause::Interleaving);
    assert_eq!(split(Some(("crash", Node::Redis(3)))), Cause::Interleaving, "two were enough");
    assert_eq!(split(Some(("delay", Node::Redis(3)))), Cause::Latency);
}

#[test]
fn votes_are_split_only_among_attempts_that_need_each_others_servers() {
    let story = || {
        let story = Story::with_quorum(2).ttl(100).available_within(10, 1, 3).acquires(1, 1);
        story.acquires(1, 2).grants_at(3, 1, 1, "a")
    };
    let told = |story: Story| cause(Kind::Unavailable, story.starts(60, 3));
    let second_at = |ms: u64| {
        let first = story().removed_at(4, 1, "a", 1).grants_at(ms, 2, 2, "b");
        told(first.removed_at(ms + 1, 2, "b", 2))
    };
    assert_eq!(second_at(3), Cause::Interleaving);
    assert_eq!(second_at(6), Cause::Unexplained, "the other process had given up its vote");
    let with_quorum = story().grants_at(3, 1, 2, "a").grants_at(3, 2, 3, "b");
    let with_quorum = with_quorum.removed_at(4, 1, "a", 1).removed_at(4, 2, "a", 1);
    assert_eq!(told(with_quorum.removed_at(4, 3, "b", 2)), Cause::Unexplained);
    let alone = story().grants_at(3, 1, 2, "a").removed_at(4, 1, "a", 1);
    assert_eq!(told(alone.removed_at(4, 2, "a", 1)), Cause::Unexplained, "nobody else had a vote");
}

#[test]
fn a_lock_that_is_free_is_not_had_while_no_server_is_a_primary() {
    let story = |promoted_at: u64, is_demoted: bool| {
        let story = Story::new().ttl(100).available_within(10, 1, 2).acquires(1, 1);
        let turn = |turn| What::Turn { turn, about: None };
        let story = match is_demoted {
            true => story.event(2, Node::Redis(1), turn(Turn::Demoted)),
            false => story,
        };
        let story = story.event(promoted_at, Node::Redis(2), turn(Turn::Promoted));
        cause(Kind::Unavailable, story.starts(60, 3))
    };
    assert_eq!(story(50, true), Cause::NoPrimary);
    assert_eq!(story(20, true), Cause::Unexplained, "there was a primary for most of the time");
    assert_eq!(story(50, false), Cause::Unexplained, "there was one before, too");
}

#[test]
fn a_lock_that_is_free_is_not_had_while_the_first_of_its_queue_stands_still() {
    let story = |paused: u16, until: u64, is_fair: bool| {
        let mut story = Story::new().ttl(100).available_within(10, 1, 1).acquires(1, 1);
        if is_fair {
            story = story.order_bound(5);
        }
        let story = story.acquires(2, 2).faulted(3..until, 1, "pause", &[Node::Client(paused)]);
        [1, 2].map(|next| {
            let story = story.clone().grants(60, next, "a").hears(61, next, "a");
            cause(Kind::Unavailable, story.starts(62, 3))
        })
    };
    assert_eq!(story(1, 50, true), [Cause::WaiterPause; 2]);
    assert_eq!(story(1, 20, true), [Cause::Unexplained; 2], "it ran for most of the time");
    assert_eq!(story(2, 50, true), [Cause::Unexplained; 2], "it is not first");
    let of_no_order = [Cause::WaiterPause, Cause::Unexplained];
    assert_eq!(story(1, 50, false), of_no_order, "the other could have taken it, or did");
}

#[test]
fn locks_of_attempts_that_were_given_up_keep_everybody_from_a_majority() {
    let story = |standing: &[u16], again: bool| {
        let mut story = Story::with_quorum(2).ttl(100).available_within(10, 1, 3);
        story = loses_reply(story.acquires(1, 1).acquires(1, 2), 1, 2);
        for redis in standing {
            story = story.grants_at(2, *redis, *redis, ["late", "later"][usize::from(*redis) - 1]);
        }
        for (ms, client) in [(4, 1), (8, 2)].into_iter().filter(|_| again) {
            story = story.grants_at(ms, client, 3, "new").removed_at(ms + 1, 3, "new", client);
        }
        story.starts(60, 3)
    };
    assert_eq!(cause(Kind::Unavailable, story(&[1, 2], true)), Cause::LostReply);
    assert_ne!(cause(Kind::Unavailable, story(&[1], true)), Cause::LostReply, "a quorum is free");
    assert_ne!(
        cause(Kind::Unavailable, story(&[1, 2], false)),
        Cause::LostReply,
        "it may still be about to hear of them"
    );
}

#[test]
fn who_sleeps_on_a_lock_that_became_free_was_not_woken_whatever_acted_meanwhile() {
    let story = Story::new().ttl(100).available_within(10, 1, 1).takes(1, 1, "a").acquires(2, 2);
    let story = story.releases(5, 1).removed(5, "a", 1);
    let story = story.faulted(6..6, 1, "crash", &[Node::Redis(1)]);
    let asked = story.clone().grants(40, 2, "b").hears(41, 2, "b");
    assert_eq!(cause(Kind::Unavailable, asked), Cause::Unexplained, "the server was back at once");
    let asked = story.clone().silent(12, 2, 2, true).grants(40, 2, "b").hears(41, 2, "b");
    assert_eq!(cause(Kind::Unavailable, asked), Cause::Unexplained, "it soon asked again");
    let slept = story.silent(40, 2, 2, true).grants(40, 2, "b").hears(41, 2, "b");
    assert_eq!(cause(Kind::Unavailable, slept), Cause::MissedWakeup);
    let queued = |since| {
        let story = Story::new().ttl(100).available_within(10, 1, 1).takes(1, 1, "a");
        let story = story.acquires(2, 2).releases(5, 1).removed(5, "a", 1).acquires(6, 3);
        let story = story.fails(20, 3).acquires(21, 3).silent(40, 2, since, true);
        cause(Kind::Unavailable, story.grants(40, 2, "b").hears(41, 2, "b"))
    };
    assert_eq!([queued(2), queued(30)], [Cause::MissedWakeup, Cause::Unexplained]);
}

#[test]
fn a_slow_server_makes_a_process_give_up_the_votes_of_the_others() {
    let story = Story::with_quorum(2).ttl(100).available_within(10, 2, 3).acquires(1, 1);
    let story = story.fault_began(1, 1, "slow-server", &[Node::Redis(3)]);
    let story = story.grants_at(2, 1, 1, "a").grants_at(2, 1, 2, "a").info(4, 1).acquires(5, 2);
    assert_eq!(cause(Kind::Unavailable, story.starts(60, 3)), Cause::Latency);
}

#[test]
fn who_asked_first_and_slept_until_a_fault_ended_the_wait_is_in_the_way() {
    let story = |sleeps: u16| {
        let story = Story::new().available_within(5, 1, 1).between_faults().takes(1, 1, "a");
        let story = story.acquires(2, 2).acquires(3, 3).releases(4, 1).removed(4, "a", 1);
        let story = story.fault_began(20, 1, "partition", &[REDIS, CLIENT]);
        let story = story.silent(30, sleeps, 2, true).fault_ended(40, 1, "partition", REDIS);
        cause(Kind::Unavailable, story.grants(41, 3, "b").hears(42, 3, "b").releases(43, 3))
    };
    assert_eq!(story(2), Cause::MissedWakeup);
    assert_eq!(story(3), Cause::Unexplained, "the other had asked first");
}

#[test]
fn a_lock_is_not_had_while_disks_do_not_sync() {
    let stops = |fails: bool, back_at: u64| {
        let story = Story::new().ttl(100).available_within(10, 1, 2).acquires(1, 1);
        let story = if fails { story.syncs_fail(2, 50) } else { story };
        let turn = What::Turn { turn: Turn::DiskFailed, about: None };
        let story = story.event(3, Node::Redis(1), turn).event(3, Node::Redis(1), What::Crashed);
        cause(Kind::Unavailable, story.event(back_at, Node::Redis(1), What::Started).starts(60, 3))
    };
    assert_eq!(stops(true, 50), Cause::DiskFailure);
    assert_eq!(stops(true, 20), Cause::Unexplained, "it was back for most of the time");
    assert_eq!(stops(false, 50), Cause::ServerOutage, "no sync failed");
}

#[test]
fn a_free_lock_that_processes_outside_their_sections_renew_is_an_orphan_renewal() {
    let story = |renewals: &[u64]| {
        // The process never learns of its grant, so the lock counts as free.
        let story = Story::new().ttl(10).available_within(10, 1, 1).acquires(1, 1);
        let story = loses_reply(story.grants(1, 1, "a").info(3, 1), 1, 3).acquires(4, 2);
        let extends =
            |story: Story, ms: &u64| story.server(*ms, 1, Change::Extended, "a", Some(CLIENT));
        cause(Kind::Unavailable, renewals.iter().fold(story, extends).starts(60, 3))
    };
    assert_eq!(story(&[8, 15, 22, 29, 36, 43, 50]), Cause::OrphanRenewal);
    assert_ne!(story(&[]), Cause::OrphanRenewal);
}
