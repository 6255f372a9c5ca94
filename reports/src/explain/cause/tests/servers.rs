use super::*;

fn overwritten(keeping: Keeping, fault: &str, hit: Node) -> Cause {
    let rest = Story::kept_as(keeping).takes(1, 1, "a").takes(4, 2, "b");
    let story = rest.releases(6, 1).releases(7, 2).fault_began(2, 1, fault, &[hit]);
    overlap(story.fault_ended(8, 1, fault, hit).at_servers())
}

#[test]
fn a_row_that_is_overwritten_by_the_clock_of_a_process_is_a_clock_skew() {
    let server = Node::Server(1);
    for fault in ["clock-jump", "clock-drift"] {
        for hit in [CLIENT, Node::Client(2)] {
            assert_eq!(overwritten(Keeping::RowByClients, fault, hit), Cause::ClockSkew);
        }
        let of_server = overwritten(Keeping::RowByClients, fault, server);
        assert_eq!(of_server, Cause::Unexplained, "no process looks at the clock of the server");
    }
    let of_client = overwritten(Keeping::RowByServer, "clock-jump", CLIENT);
    assert_eq!(of_client, Cause::Unexplained, "the server looks at no clock of a process");
    assert_eq!(overwritten(Keeping::RowByServer, "clock-jump", server), Cause::ClockJump);
    assert_eq!(overwritten(Keeping::RowByServer, "clock-drift", server), Cause::ClockDrift);
    // The transaction reads the clock, the clock is stepped, and the transaction writes the row.
    let stepped = Story::kept_as(Keeping::RowByServer).ttl(10_000).acquires(1, 1);
    let stepped = stepped.fault_began(2, 1, "clock-jump", &[server]).grants(3, 1, "a");
    let stepped = stepped.hears(4, 1, "a").takes(5, 2, "b").releases(6, 1).releases(7, 2);
    let stepped = stepped.with_recorded_leases_of(Micros(0)).at_servers();
    assert_eq!(overlap(stepped), Cause::ClockJump);
    let rest = Story::kept_as(Keeping::RowByClients).takes(1, 1, "a").takes(12, 2, "b");
    let overrun = rest.releases(14, 1).releases(15, 2).at_servers();
    assert_eq!(overlap(overrun), Cause::HoldTooLong, "the lease had expired");
}

#[test]
fn processes_that_a_row_does_not_tell_apart_have_a_shared_client_id() {
    let same = |keeping, owner| {
        let story = Story::kept_as(keeping).takes(1, 1, "app").takes(4, 2, owner);
        overlap(story.releases(6, 1).releases(7, 2).at_servers())
    };
    assert_eq!(same(Keeping::RowByClients, "app"), Cause::SharedClientId);
    assert_eq!(same(Keeping::RowByServer, "app"), Cause::SharedClientId);
    assert_eq!(same(Keeping::RowByClients, "another"), Cause::Unexplained);
    let of_redis = Story::new().takes(1, 1, "app").takes(4, 2, "app");
    assert_ne!(overlap(of_redis.releases(6, 1).releases(7, 2)), Cause::SharedClientId);
}

#[test]
fn a_lock_that_goes_with_its_connection_is_a_lost_connection() {
    let lost = |how: fn(Story) -> Story| {
        let story = how(Story::kept_as(Keeping::Connection).takes(1, 1, "7"));
        overlap(story.takes(14, 2, "8").releases(16, 1).releases(17, 2).at_servers())
    };
    let by_itself = |story: Story| story.server(4, 1, Change::Removed, "7", None);
    assert_eq!(lost(by_itself), Cause::ConnectionLost);
    let restarted = |story: Story| story.server(4, 1, Change::Forgotten, "7", None);
    assert_eq!(lost(restarted), Cause::ConnectionLost);
    let by_command = |story: Story| story.server(4, 1, Change::Removed, "7", Some(CLIENT));
    assert_ne!(lost(by_command), Cause::ConnectionLost, "its own command removed it");
}

#[test]
fn a_lock_that_another_primary_never_heard_of_was_forgotten_by_a_failover() {
    let taken_at = |server, keeping| {
        let story = Story::kept_as(keeping).takes(1, 1, "7").acquires(12, 2);
        let story = story.grants_at(13, 2, server, "8").hears(14, 2, "8");
        overlap(story.releases(16, 1).releases(17, 2).at_servers())
    };
    assert_eq!(taken_at(2, Keeping::Connection), Cause::FailoverForgets);
    assert_ne!(taken_at(1, Keeping::Connection), Cause::FailoverForgets, "the same server");
    assert_ne!(taken_at(2, Keeping::RowByClients), Cause::FailoverForgets, "a row is replicated");
}

#[test]
fn two_primaries_that_each_grant_a_connections_lock_are_a_split_brain() {
    let both = |held_ms: u64, [held_at, taken_at]: [u16; 2]| {
        let story = Story::kept_as(Keeping::Connection).acquires(held_ms, 1);
        let story = story.grants_at(held_ms, 1, held_at, "7").hears(held_ms, 1, "7");
        let story = story.fault_began(5, 1, "promote", &[Node::Server(2)]);
        let story = story.acquires(12, 2).grants_at(13, 2, taken_at, "8").hears(14, 2, "8");
        story.releases(16, 1).releases(17, 2).at_servers()
    };
    assert_eq!(overlap(both(1, [1, 2])), Cause::FailoverForgets, "granted before the promotion");
    assert_eq!(overlap(both(6, [1, 2])), Cause::SplitBrain, "the old primary still grants");
    assert_eq!(overlap(both(6, [2, 1])), Cause::SplitBrain, "the old primary grants again");
}

#[test]
fn a_third_process_that_removes_an_overwritten_lock_is_a_foreign_release() {
    let story = |remover: Option<u16>| {
        let by = Some(Node::Client(2));
        let story = Story::new().acquires(1, 2).takes(2, 1, "a");
        let story = story.server(3, 1, Change::Granted, "b", by);
        let story = match remover {
            Some(client) => story.removed(5, "b", client),
            None => story,
        };
        let story = story.server(6, 1, Change::Granted, "c", by).hears(7, 2, "c");
        overlap(story.releases(8, 1).releases(9, 2))
    };
    assert_eq!(story(Some(3)), Cause::ForeignRelease);
    assert_eq!(story(None), Cause::Interleaving, "the process overwrote it again");
    assert_eq!(story(Some(1)), Cause::Interleaving, "its owner released it");
}

#[test]
fn a_lock_of_a_member_ends_before_its_lease_if_the_member_departs_or_a_clock_is_stepped() {
    let expired = || {
        let story = Story::kept_as(Keeping::MemberLease).takes(1, 1, "a");
        story.server(4, 1, Change::Expired, "a", None).takes(5, 2, "b")
    };
    let released = |story: Story| overlap(story.releases(7, 1).releases(8, 2).at_servers());
    assert_eq!(released(expired()), Cause::SessionExpired);
    let server = Node::Server(1);
    let stepped = expired().fault_began(2, 1, "clock-jump", &[server]);
    assert_eq!(released(stepped.fault_ended(8, 1, "clock-jump", server)), Cause::ClockJump);
}

#[test]
fn a_system_that_is_founded_again_has_forgotten_the_locks_of_its_members() {
    for keeping in [Keeping::Membership, Keeping::MemberLease] {
        let story = Story::kept_as(keeping).takes(1, 1, "7").acquires(4, 2);
        let story = story
            .redis_crashes(3, 1)
            .redis_starts(4, 1)
            .grants_at(5, 2, 2, "8")
            .hears(6, 2, "8")
            .releases(7, 1)
            .releases(8, 2);
        assert_eq!(overlap(story.at_servers()), Cause::RestartWithoutDelay);
    }
}

#[test]
fn a_grantor_that_keeps_its_lock_beside_the_new_grantor_is_a_split_brain() {
    let story = |discarded_ms: u64| {
        let story = Story::kept_as(Keeping::Membership).takes(1, 1, "7").acquires(2, 2);
        let discards = |story: Story| story.server(discarded_ms, 1, Change::Discarded, "7", None);
        let story = if discarded_ms < 5 { discards(story) } else { story };
        let story = story.grants_at(5, 2, 2, "8").hears(6, 2, "8");
        let story = if discarded_ms < 5 { story } else { discards(story) };
        overlap(story.releases(8, 1).releases(9, 2).at_servers())
    };
    assert_eq!(story(7), Cause::SplitBrain);
    assert_eq!(story(4), Cause::AsyncReplicationLoss, "the new grantor was the only one");
}

#[test]
fn two_threads_under_one_grant_have_a_shared_owner() {
    let thread = CLIENT.for_thread(2);
    let both = || Story::new().takes(1, 1, "a").acquires(2, thread).hears(3, thread, "a");
    assert_eq!(overlap(both().releases(5, 1).releases(6, thread)), Cause::SharedOwner);
    let removed = both().leaves(4, thread).removed(5, "a", thread).releases(6, 1);
    assert_eq!(cause(Kind::ForeignRelease, removed), Cause::SharedOwner);
}

#[test]
fn threads_whose_counts_differ_have_a_shared_owner_and_other_owners_do_not() {
    let thread = CLIENT.for_thread(2);
    let both = |value: &str| {
        let story = Story::new().takes(1, 1, "a=1").acquires(2, thread).grants(3, thread, value);
        overlap(story.hears(4, thread, value).releases(5, 1).releases(6, thread))
    };
    assert_eq!(both("a=2"), Cause::SharedOwner);
    assert_eq!(both("b=2"), Cause::Interleaving);
}

#[test]
fn what_a_server_says_about_its_key_is_the_cause() {
    let lost = |change: Change| overlap(early(|story| story.server(3, 1, change, "a", None)));
    assert_eq!(lost(Change::Evicted), Cause::Eviction);
    assert_eq!(lost(Change::Flushed), Cause::Flush);
    assert_eq!(lost(Change::Forgotten), Cause::RestartWithoutDelay);
    assert_eq!(lost(Change::Discarded), Cause::AsyncReplicationLoss);
    assert_eq!(
        lost(Change::Expired),
        Cause::Unexplained,
        "it ran out early, and no fault says why"
    );
}

#[test]
fn a_restart_that_no_key_event_tells_of_is_seen_by_the_crash() {
    assert_eq!(
        overlap(early(|story| story.redis_crashes(2, 1).redis_starts(3, 1))),
        Cause::RestartWithoutDelay
    );
}

#[test]
fn a_removal_is_foreign_or_the_holders_own() {
    assert_eq!(overlap(early(|story| story.removed(3, "a", 3))), Cause::ForeignRelease);
    assert_eq!(overlap(early(|story| story.removed(3, "a", 1))), Cause::EarlyRelease);
    let lost_reply =
        early(|story| story.removed(3, "a", 1)).fault_began(1, 1, "lost-reply", &[REDIS, CLIENT]);
    assert_eq!(overlap(lost_reply), Cause::LostReply);
    let inner = |lost_ms| {
        let story = Story::new().ttl(100).acquires(1, 1).grants(4, 1, "a").hears(5, 1, "a");
        let story = story.acquires(6, 1).hears(7, 1, "a").leaves(8, 1).removed(10, "a", 1);
        let story = loses_reply(story, lost_ms, lost_ms).left(11, 1).takes(12, 2, "b");
        overlap(story.releases(14, 1).releases(15, 2))
    };
    assert_eq!(inner(2), Cause::EarlyRelease, "the inner release was sent after the loss");
    assert_eq!(inner(9), Cause::LostReply, "the inner release was sent twice");
    let before = Story::new().fault_began(1, 1, "lost-reply", &[REDIS, CLIENT]);
    let before = before.takes(2, 1, "z").releases(3, 1).removed(3, "z", 1).takes(5, 1, "a");
    let before = before.removed(6, "a", 1).takes(7, 2, "b").releases(8, 1).releases(9, 2);
    assert_eq!(overlap(before), Cause::EarlyRelease);
}

#[test]
fn a_lock_that_is_taken_over_while_it_stands_is_interleaving_unless_a_clock_was_wrong() {
    assert_eq!(overlap(early(|story| story)), Cause::Interleaving);
    assert_eq!(
        overlap(early(|story| story.fault_began(2, 1, "clock-jump", &[CLIENT]))),
        Cause::ClockJump
    );
    let stepped = || early(|story| story.fault_began(2, 1, "clock-jump", &[REDIS]));
    assert_eq!(overlap(stepped().with_recorded_leases()), Cause::ClockJump);
    assert_eq!(overlap(stepped()), Cause::Interleaving, "the server ends no lease of that key");
}

#[test]
fn of_a_quorum_only_servers_that_granted_both_are_asked() {
    let mut story = Story::with_quorum(3);
    for (ms, redis) in [(1, 1), (1, 2), (1, 3)] {
        story = story.grants_at(ms, 1, redis, "a");
    }
    story = story.hears(2, 1, "a").server(3, 3, Change::Forgotten, "a", None).server(
        3,
        5,
        Change::Flushed,
        "x",
        None,
    );
    for redis in [3, 4, 5] {
        story = story.grants_at(4, 2, redis, "b");
    }
    assert_eq!(
        overlap(story.hears(5, 2, "b").releases(7, 1).releases(8, 2)),
        Cause::RestartWithoutDelay
    );
}

#[test]
fn of_two_reasons_at_two_servers_the_deed_comes_before_the_loss() {
    let mut story = Story::with_quorum(2);
    for redis in [1, 2] {
        story = story.grants_at(1, 1, redis, "a");
    }
    story =
        story.hears(1, 1, "a").server(2, 1, Change::Forgotten, "a", None).removed_at(3, 2, "a", 3);
    for redis in [1, 2] {
        story = story.grants_at(4, 2, redis, "b");
    }
    assert_eq!(
        overlap(story.hears(5, 2, "b").releases(7, 1).releases(8, 2)),
        Cause::ForeignRelease
    );
}

#[test]
fn a_lock_whose_value_is_the_same_for_all_is_whose_grant_it_was() {
    let story = Story::new()
        .takes(1, 1, "1")
        .expires(11, "1")
        .takes(12, 2, "1")
        .releases(20, 1)
        .releases(21, 2);
    let paused = || story.clone().faulted(5..19, 1, "pause", &[CLIENT]);
    assert_eq!(
        overlap(paused()),
        Cause::HolderPause,
        "the grant of the second is no lease of the first"
    );
    let chain = Story::new()
        .takes(1, 1, "1")
        .expires(11, "1")
        .takes(12, 2, "1")
        .releases(13, 1)
        .removed(13, "1", 1);
    let chain = chain.takes(15, 3, "1").releases(16, 3).releases(17, 2);
    let history = chain.build();
    let timeline = Timeline::new(&history);
    let findings: Vec<_> = CHECKERS.iter().flat_map(|checker| (checker.check)(&timeline)).collect();
    let of = |kind: Kind| {
        findings.iter().filter(move |one| one.kind == kind).map(|one| classify(&timeline, one))
    };
    assert_eq!(of(Kind::Overlap).collect::<Vec<_>>(), [Cause::HoldTooLong, Cause::ForeignRelease]);
    assert_eq!(
        of(Kind::ForeignRelease).collect::<Vec<_>>(),
        [Cause::HoldTooLong],
        "why the remover was still there"
    );
}

#[test]
fn a_lock_that_a_process_takes_again_and_again_under_one_value_is_lost_by_its_latest_grant() {
    // The replica receives the first of client 1's two locks but never the second.
    let story = Story::new()
        .takes(1, 1, "id=1")
        .replicated(1, 2, "id=1")
        .releases(2, 1)
        .removed(2, "id=1", 1);
    let story = story.removed_on_replica(3, 2, "id=1").takes(4, 1, "id=1").redis_crashes(5, 1);
    let story =
        story.grants_at(6, 2, 2, "other=1").hears(6, 2, "other=1").releases(7, 1).releases(8, 2);
    assert_eq!(overlap(story), Cause::AsyncReplicationLoss);
}

#[test]
fn a_lock_that_counts_is_one_lock_at_every_count() {
    let story = Story::new().acquires(1, 1).grants(1, 1, "id=1").server(
        2,
        1,
        Change::Granted,
        "id=2",
        Some(CLIENT),
    );
    let story = story.hears(3, 1, "id=1").server(4, 1, Change::Evicted, "id=2", None);
    assert_eq!(
        overlap(story.takes(5, 2, "other=1").releases(6, 1).releases(7, 2)),
        Cause::Eviction
    );
}

#[test]
fn a_waiter_that_removes_a_lock_which_it_holds_to_be_stale_takes_it_over() {
    let story = || {
        Story::new()
            .takes(1, 1, "a")
            .crashes(2, 1)
            .acquires(13, 2)
            .acquires(13, 3)
            .removed(14, "a", 2)
    };
    let second = story()
        .grants(15, 2, "b")
        .hears(16, 2, "b")
        .removed(17, "b", 3)
        .grants(18, 3, "c")
        .hears(19, 3, "c");
    let second = second.releases(20, 2).releases(21, 3);
    assert_eq!(overlap(second.clone()), Cause::StaleTakeover);
    assert_eq!(cause(Kind::ForeignRelease, second), Cause::StaleTakeover);
}

#[test]
fn a_late_release_that_arrives_while_its_sender_acquires_is_no_takeover() {
    let story =
        Story::new().takes(1, 1, "1").leaves(10, 1).info(11, 1).expires(11, "1").takes(12, 2, "1");
    let story = story.acquires(13, 1).removed(14, "1", 1).releases(15, 2);
    assert_ne!(cause(Kind::ForeignRelease, story), Cause::StaleTakeover);
}

#[test]
fn a_renewal_that_puts_an_earlier_lock_over_another_one_is_an_orphan_renewal() {
    let written = |value: &str| {
        let story = Story::new().takes(1, 3, "c").releases(2, 3).expires(2, "c").takes(3, 1, "a");
        let story = story.server(4, 1, Change::Granted, value, Some(Node::Client(3)));
        overlap(story.removed(5, value, 3).takes(6, 2, "b").releases(8, 1).releases(9, 2))
    };
    assert_eq!(written("c"), Cause::OrphanRenewal);
    assert_eq!(written("d"), Cause::Interleaving, "it never had that lock");
}

fn unseen_overlap(story: Story) -> (Cause, String) {
    explained(Kind::Overlap, story.releases(40, 1).releases(41, 2))
}

#[test]
fn of_a_server_that_is_not_read_the_facts_are_told_and_no_cause_is_guessed() {
    let enters = |story: Story, at, client| story.acquires(at, client).hears(at + 1, client, "");
    let plain = enters(enters(Story::unseen(), 1, 1), 20, 2);
    let (cause, said) = unseen_overlap(plain);
    assert_eq!(cause, Cause::Unexplained);
    assert!(
        said.contains("client-2 entered its critical section 19ms after client-1 had"),
        "{said}"
    );
    assert!(said.ends_with("No fault affected them or a server meanwhile."), "{said}");
    let paused = enters(Story::unseen(), 1, 1).fault_began(3, 7, "pause", &[CLIENT]);
    let paused = enters(paused.fault_ended(18, 7, "pause", CLIENT), 20, 2);
    let (cause, said) = unseen_overlap(paused);
    assert_eq!(cause, Cause::Unexplained);
    assert!(said.ends_with("Faults meanwhile: pause of client-1 from 3ms to 18ms."), "{said}");
    assert!(!said.contains("please report"), "{said}");
}

#[test]
fn of_a_server_that_is_not_read_no_lock_is_said_to_be_free() {
    let stuck = |story: Story| {
        let story = story.acquires(1, 1).event(5, CLIENT, What::Crashed).progress_bound(100);
        cause_of_standstill(story)
    };
    assert_eq!(stuck(Story::new()), Cause::WaiterCrash);
    assert_eq!(stuck(Story::unseen()), Cause::Unexplained);
}

#[test]
fn an_overwritten_lock_that_a_flush_removes_is_lost_by_the_flush() {
    let by = Some(Node::Client(2));
    let story = Story::new().acquires(1, 2).takes(2, 1, "a");
    let story = story.server(3, 1, Change::Granted, "b", by);
    let story = story.fault_began(5, 1, "flush-all", &[REDIS]);
    let story = story.server(5, 1, Change::Flushed, "b", None);
    let story = story.server(6, 1, Change::Granted, "c", by).hears(7, 2, "c");
    assert_eq!(overlap(story.releases(8, 1).releases(9, 2)), Cause::Flush);
}

#[test]
fn a_reply_that_is_lost_after_a_release_took_effect_does_not_explain_the_release() {
    let story = |lost_ms: u64| {
        let story = Story::new().ttl(100).takes(1, 1, "a").acquires(2, 1).hears(3, 1, "a");
        let story = story.leaves(4, 1);
        let lost = |story| loses_reply(story, lost_ms, lost_ms);
        let story = if lost_ms < 6 { lost(story) } else { story };
        let story = story.removed(6, "a", 1);
        let story = if lost_ms < 6 { story } else { lost(story) };
        overlap(story.info(8, 1).takes(9, 2, "b").releases(12, 1).releases(13, 2))
    };
    assert_eq!(story(5), Cause::LostReply);
    assert_eq!(story(6), Cause::EarlyRelease, "at the same time, but after the removal");
}

#[test]
fn an_overwritten_lock_that_the_server_forgets_or_discards_is_lost_by_that() {
    let story = |change: Change| {
        let story = Story::new().ttl(100).takes(1, 1, "a").acquires(2, 2).grants(3, 2, "b");
        let story = story.fails(4, 2).redis_crashes(5, 1).redis_starts(6, 1);
        let story = story.server(6, 1, change, "b", None).takes(7, 3, "c");
        overlap(story.releases(8, 1).releases(9, 3))
    };
    assert_eq!(story(Change::Forgotten), Cause::RestartWithoutDelay);
    assert_eq!(story(Change::Discarded), Cause::AsyncReplicationLoss);
    assert_eq!(story(Change::Expired), Cause::Interleaving, "the server lost nothing");
}

#[test]
fn a_lost_reply_of_a_nested_acquire_ends_before_the_release_that_the_process_then_sends() {
    let story = |released: u64, lost: u64| {
        let story = Story::new().ttl(100).takes(1, 1, "a").acquires(5, 1);
        let began = |story: Story| story.fault_began(lost, 1, "lost-reply", &[REDIS, CLIENT]);
        let story = if lost < 8 { began(story) } else { story };
        let story = story.hears(8, 1, "a").leaves(released, 1);
        let story = if lost < 8 { story } else { began(story) };
        let story = story.removed(10, "a", 1).left(11, 1).takes(12, 2, "b");
        overlap(story.releases(14, 1).releases(15, 2))
    };
    assert_eq!(story(8, 6), Cause::EarlyRelease, "at the same time");
    assert_eq!(story(9, 6), Cause::EarlyRelease);
    assert_eq!(story(8, 9), Cause::LostReply, "the reply to the release");
}
