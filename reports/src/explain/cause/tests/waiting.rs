use super::*;

#[test]
fn nobody_gets_in_because_the_holder_died_or_never_heard_that_it_holds() {
    let tail =
        |story: Story| story.progress_bound(100).healed(20).probe_acquires(21).probe_fails(130);
    let died = tail(Story::new().takes(1, 1, "a").crashes(3, 1));
    assert_eq!(cause(Kind::Stuck, died), Cause::HolderCrash);
    let unheard = || tail(Story::new().grants(1, 1, "a").info(3, 1));
    assert_eq!(cause(Kind::Stuck, loses_reply(unheard(), 1, 2)), Cause::LostReply);
    assert_eq!(cause(Kind::Stuck, unheard()), Cause::Latency, "it did not wait for the answer");
    let misled = || Story::new().grants(1, 1, "a").fails(3, 1);
    assert_eq!(cause(Kind::Stuck, tail(misled())), Cause::UnfoundedAnswer);
    let forgotten = tail(Story::new().takes(1, 1, "a").releases(3, 1));
    assert_eq!(cause(Kind::Stuck, forgotten), Cause::UnfoundedAnswer, "it never expires");
    let hit = |kind, nodes: &[Node]| {
        let story = Story::new().fault_began(0, 1, kind, nodes).fault_ended(5, 1, kind, nodes[0]);
        cause(Kind::Stuck, tail(story.grants(1, 1, "a").fails(3, 1)))
    };
    assert_eq!(hit("delay", &[CLIENT, REDIS]), Cause::Latency);
    assert_eq!(hit("slow-server", &[REDIS]), Cause::Latency);
    assert_eq!(hit("pause", &[CLIENT]), Cause::HolderPause);
    assert_eq!(hit("partition", &[CLIENT, REDIS]), Cause::LostReply);
    assert_eq!(cause(Kind::Stuck, tail(Story::new())), Cause::Unexplained);
    let replicated = || Story::new().takes(1, 1, "a").replicated(2, 2, "a").releases(3, 1);
    let released = replicated().removed(4, "a", 1).redis_crashes(5, 1);
    assert_eq!(cause(Kind::Stuck, tail(released.clone())), Cause::AsyncReplicationLoss);
    assert_eq!(
        cause(Kind::Stuck, tail(released.removed_on_replica(6, 2, "a"))),
        Cause::Unexplained
    );
}

#[test]
fn a_holder_who_stays_for_ever_stood_still_or_worked() {
    let story = || Story::new().held_bound(10).takes(1, 1, "a").releases(20, 1);
    assert_eq!(cause(Kind::HeldForever, story()), Cause::HoldTooLong);
    let paused = story().faulted(2..15, 1, "pause", &[CLIENT]);
    assert_eq!(cause(Kind::HeldForever, paused), Cause::HolderPause);
}

#[test]
fn a_lock_whose_release_was_lost_stands_for_ever() {
    let taken = || Story::new().takes(1, 1, "a");
    assert_eq!(cause_of_standstill(taken().leaves(3, 1).info(4, 1)), Cause::LostRelease);
    assert_eq!(
        cause_of_standstill(taken().leaves(3, 1).left(4, 1)),
        Cause::UnfoundedAnswer,
        "it was told that it is gone, and no server had removed it"
    );
    let followed = || taken().replicated(2, 2, "a").redis_crashes(3, 1);
    let forgotten =
        |story: Story| story.redis_starts(10, 1).server(10, 1, Change::Forgotten, "a", None);
    assert_eq!(
        cause_of_standstill(forgotten(followed().leaves(4, 1).info(5, 1))),
        Cause::LostRelease
    );
    assert_eq!(
        cause_of_standstill(forgotten(followed().crashes(4, 1))),
        Cause::HolderCrash,
        "its holder never gave it back"
    );
    assert_eq!(
        cause_of_standstill(forgotten(followed().leaves(4, 1).left(5, 1))),
        Cause::Unexplained,
        "its holder was told that it is gone"
    );
}

#[test]
fn what_was_in_the_way_is_what_stood_then_and_not_at_the_end_of_the_run() {
    let freed = |story: Story| {
        let story = story.progress_bound(100).healed(20).acquires(21, 2).fails(140, 2);
        let story = story.server(141, 1, Change::Flushed, "a", None).takes(150, 3, "c");
        cause(Kind::Stuck, story.crashes(200, 3))
    };
    let taken = || Story::new().takes(1, 1, "a");
    assert_eq!(freed(taken().crashes(3, 1)), Cause::HolderCrash);
    assert_eq!(freed(taken().leaves(3, 1).info(4, 1)), Cause::LostRelease);
    let unheard = loses_reply(Story::new().grants(1, 1, "a").info(3, 1), 1, 2);
    assert_eq!(freed(unheard), Cause::LostReply);
    assert_eq!(freed(taken().releases(3, 1).removed(3, "a", 1)), Cause::Unexplained);
}

fn renewed(story: Story, at: &[u64]) -> Story {
    at.iter().fold(story, |story, ms| story.server(*ms, 1, Change::Extended, "a", Some(CLIENT)))
}

#[test]
fn the_grant_itself_is_no_renewal() {
    let story = |renews: bool| {
        let story = Story::new().progress_bound(100).healed(0).takes(1, 2, "b").releases(2, 2);
        let story = loses_reply(story.removed(2, "b", 2).grants(4, 1, "a").info(5, 1), 4, 5);
        let story = renewed(story, if renews { &[60, 63, 66] } else { &[] });
        cause(Kind::Stuck, story.acquires(6, 3).fails(140, 3))
    };
    assert_eq!(story(true), Cause::OrphanRenewal);
    assert_eq!(story(false), Cause::LostReply);
}

#[test]
fn a_lease_that_ran_out_unnoticed_is_in_nobodys_way() {
    let died = || Story::new().healed(0).takes(1, 1, "a").acquires(2, 2).crashes(5, 1);
    let hangs = || died().silent(40, 2, 2, false);
    assert_eq!(cause(Kind::Deadlock, hangs().with_recorded_leases()), Cause::MissedWakeup);
    assert_eq!(cause(Kind::Deadlock, hangs()), Cause::HolderCrash, "a key without an expiry");
    let sleeps = || died().progress_bound(20).silent(60, 2, 2, true).takes(61, 2, "b");
    assert_eq!(cause(Kind::Stuck, sleeps().with_recorded_leases()), Cause::MissedWakeup);
}

#[test]
fn a_probe_that_gets_a_lock_that_others_slept_on_missed_nothing() {
    let waits = |story: Story| story.progress_bound(20).healed(0).takes(1, 1, "a").acquires(2, 2);
    let probed = |story: Story| story.probe_acquires(60).probe_ok(61, "p").probe_releases(62);
    let died = || probed(waits(Story::new()).crashes(5, 1)).removed(63, "p", 1);
    let of = |story: Story| cause(Kind::Stuck, story.with_recorded_leases());
    assert_eq!(of(died().silent(99, 2, 2, true)), Cause::MissedWakeup);
    assert_eq!(of(died().fails(99, 2)), Cause::Unexplained, "the other may have asked");
}

#[test]
fn who_slept_on_until_another_had_the_lock_slept_on_while_it_was_free() {
    let story = |is_told: bool, first: u16| {
        let story = Story::new().available_within(5, 1, 1).takes(1, 1, "a").acquires(2, 2);
        let story = story.acquires(2, 3).releases(3, 1).removed(3, "a", 1);
        let story = story.silent(20, 2, 2, true).grants(21, first, "b").hears(21, first, "b");
        let story = if is_told { story.silent(22, 3, 2, true) } else { story };
        cause(Kind::Unavailable, story.releases(24, first).removed(24, "b", first))
    };
    assert_eq!(story(true, 2), Cause::MissedWakeup);
    assert_eq!(story(false, 2), Cause::MissedWakeup, "it was next");
    assert_eq!(story(false, 3), Cause::Unexplained, "the other may have asked");
}

#[test]
fn a_dead_waiter_is_in_the_way_if_nothing_else_is() {
    let died = |waiting: bool| {
        let story = Story::new().takes(1, 1, "a");
        let story = if waiting { story.acquires(2, 2) } else { story };
        story.crashes(3, 2).releases(4, 1).removed(5, "a", 1)
    };
    assert_eq!(cause_of_standstill(died(true)), Cause::WaiterCrash);
    assert_eq!(cause_of_standstill(died(false)), Cause::Unexplained, "it was not in the queue");
    let standing =
        Story::new().takes(1, 1, "a").acquires(2, 2).crashes(3, 2).leaves(4, 1).info(5, 1);
    assert_eq!(cause_of_standstill(standing), Cause::LostRelease, "the lock itself is in the way");
}

#[test]
fn processes_that_divide_the_servers_among_them_are_in_each_others_way() {
    let votes = |others: &[(u64, u16)]| {
        let mut story =
            Story::with_quorum(2).progress_bound(100).healed(20).probe_acquires(21).acquires(22, 1);
        story = story.acquires(22, 2).grants_at(30, 1, 1, "a").removed_at(32, 1, "a", 1);
        for (ms, redis) in others {
            story = story.grants_at(*ms, 2, *redis, "b").removed_at(ms + 2, *redis, "b", 2);
        }
        cause(Kind::Stuck, story.probe_fails(130))
    };
    assert_eq!(votes(&[(30, 2)]), Cause::Interleaving);
    assert_eq!(votes(&[]), Cause::Unexplained, "one process alone divides nothing");
    assert_eq!(votes(&[(40, 1)]), Cause::Unexplained, "one server was never enough for anybody");
}

#[test]
fn what_a_server_tells_of_a_release_is_no_attempt_to_get_the_lock() {
    let story = Story::with_quorum(2).progress_bound(100).takes(1, 2, "b").healed(20);
    let story = story.probe_acquires(21).acquires(22, 1).grants_at(30, 1, 1, "a");
    let story = story.removed_at(32, 1, "a", 1).leaves(25, 2).removed_at(26, 1, "b", 2);
    let story = story.grants_at(30, 2, 2, "b").removed_at(31, 2, "b", 2).left(33, 2);
    assert_ne!(cause(Kind::Stuck, story.probe_fails(140)), Cause::Interleaving);
}

#[test]
fn a_process_that_died_before_its_command_was_applied_leaves_the_lock_behind() {
    let story = |died: bool| {
        let story = Story::new().acquires(1, 1);
        let story = match died {
            true => story.crashes(2, 1),
            false => loses_reply(story.info(2, 1), 1, 2),
        };
        story.server(3, 1, Change::Granted, "1", Some(CLIENT))
    };
    assert_eq!(cause_of_standstill(story(true)), Cause::HolderCrash);
    assert_eq!(cause_of_standstill(story(false)), Cause::LostReply);
}

#[test]
fn a_lock_that_is_renewed_by_nobody_in_its_section_is_an_orphan_renewal() {
    let story = |renewals: &[u64]| {
        let story = Story::new().takes(1, 1, "a").leaves(2, 1).info(3, 1);
        renewed(story, renewals)
    };
    assert_eq!(cause_of_standstill(story(&[80, 83, 86])), Cause::OrphanRenewal);
    assert_eq!(
        cause_of_standstill(story(&[80])),
        Cause::LostRelease,
        "that may be a command sent again"
    );
    assert_eq!(cause_of_standstill(story(&[])), Cause::LostRelease);
    // If the holder renewed the lock in its critical section, one later renewal is enough evidence.
    let renews = renewed(Story::new().takes(1, 1, "a"), &[4]).leaves(5, 1).info(6, 1);
    assert_eq!(cause_of_standstill(renewed(renews, &[80])), Cause::OrphanRenewal);
}

#[test]
fn one_that_slept_while_the_lock_became_free_missed_its_wakeup() {
    let waits = || Story::new().healed(0).takes(1, 1, "a").acquires(2, 2).leaves(5, 1);
    let freed = waits().removed(5, "a", 1).left(6, 1);
    assert_eq!(cause(Kind::Deadlock, freed.clone().silent(9, 2, 2, false)), Cause::MissedWakeup);
    assert_eq!(cause(Kind::Starved, freed.silent(99, 2, 2, true)), Cause::MissedWakeup);
    let stands = waits().info(6, 1).silent(9, 2, 2, false);
    assert_eq!(cause(Kind::Deadlock, stands), Cause::LostRelease);
}

#[test]
fn who_waits_for_a_server_that_lost_power_waits_on_a_lost_connection() {
    let waits = |keeping, crashed_at| {
        let story = Story::kept_as(keeping).healed(0).takes(1, 1, "7").acquires(2, 2);
        let story = story.leaves(5, 1).removed(5, "7", 1).left(6, 1).silent(99, 2, 2, true);
        cause(Kind::Starved, story.event(crashed_at, Node::Server(1), What::Crashed).at_servers())
    };
    assert_eq!(waits(Keeping::Connection, 4), Cause::ConnectionLost);
    assert_eq!(waits(Keeping::Connection, 1), Cause::MissedWakeup, "before it began to wait");
    assert_eq!(waits(Keeping::RowByServer, 4), Cause::MissedWakeup, "nobody waits there");
}

/// Returns the cause of this standstill: client 2 waits, client 1 releases the lock, client 3
/// acquires and releases it after the faults, and then no process gets the lock.
fn passed_by(keeping: Keeping, what: impl FnOnce(Story) -> Story) -> Cause {
    let story =
        Story::kept_as(keeping).progress_bound(50).takes(1, 1, "7").acquires(2, 2).leaves(5, 1);
    let story = what(story.removed(5, "7", 1).left(6, 1)).healed(7).takes(8, 3, "8");
    let story = story.leaves(9, 3).removed(9, "8", 3).left(10, 3);
    let story = match keeping {
        Keeping::Connection => story.silent(99, 2, 2, true),
        Keeping::RowByClients
        | Keeping::RowByServer
        | Keeping::Lease
        | Keeping::Session
        | Keeping::Membership
        | Keeping::MemberLease => story,
    };
    cause(Kind::Stuck, story.info(99, 2).at_servers())
}

#[test]
fn a_free_lock_for_which_all_wait_on_dead_connections_woke_nobody_by_that() {
    let waits = |crashed_at| {
        let story = Story::kept_as(Keeping::Connection).available_within(20, 1, 1);
        let story = story.takes(1, 1, "7").acquires(3, 2).leaves(5, 1).removed(5, "7", 1);
        let story = story.left(6, 1).silent(99, 2, 3, true);
        let crashed = story.event(crashed_at, Node::Server(1), What::Crashed);
        cause(Kind::Unavailable, crashed.at_servers())
    };
    assert_eq!(waits(4), Cause::ConnectionLost);
    assert_eq!(waits(2), Cause::MissedWakeup, "it asked the server that was back");
}

#[test]
fn nobody_gets_in_while_all_who_wait_do_so_on_a_connection_that_a_dead_server_forgot() {
    let crash = |story: Story| story.event(4, Node::Server(1), What::Crashed);
    assert_eq!(passed_by(Keeping::Connection, crash), Cause::ConnectionLost);
    assert_ne!(passed_by(Keeping::Connection, |story| story), Cause::ConnectionLost);
}

#[test]
fn nobody_gets_in_while_a_slow_clock_finds_the_row_of_a_fast_one_taken() {
    let jump = |hit| move |story: Story| story.fault_began(3, 1, "clock-jump", &[hit]);
    assert_eq!(passed_by(Keeping::RowByClients, jump(Node::Client(2))), Cause::ClockSkew);
    let of_server = passed_by(Keeping::RowByClients, jump(Node::Server(1)));
    assert_ne!(of_server, Cause::ClockSkew, "nobody looks at the clock of the server");
    let by_server = passed_by(Keeping::RowByServer, jump(Node::Client(2)));
    assert_ne!(by_server, Cause::ClockSkew, "nobody looks at that clock");
}

#[test]
fn nobody_gets_in_while_a_fast_clock_said_until_when_a_row_is_taken() {
    let jump = |story: Story| story.fault_began(3, 1, "clock-jump", &[Node::Client(3)]);
    let given_back_by_it = passed_by(Keeping::RowByClients, jump);
    assert_eq!(given_back_by_it, Cause::ClockSkew);
}

#[test]
fn who_waits_for_the_answer_of_a_dead_server_was_not_forgotten_by_a_release() {
    let story = |unanswered: bool| {
        let story = Story::new().healed(0).takes(1, 1, "a").acquires(2, 2).leaves(5, 1);
        let story = story.removed(5, "a", 1).left(6, 1).redis_crashes(7, 1);
        let about = Some(Node::Client(2));
        let story = match unanswered {
            true => story.event(7, REDIS, What::Turn { turn: Turn::Unanswered, about }),
            false => story,
        };
        cause(Kind::Starved, story.redis_starts(7, 1).silent(99, 2, 2, true))
    };
    assert_eq!(story(true), Cause::ConnectionLost);
    assert_eq!(story(false), Cause::MissedWakeup);
}

#[test]
fn one_that_was_passed_over_lost_its_place() {
    let story = Story::new().order_bound(10).healed(0).takes(1, 1, "a").acquires(2, 2);
    let story = story.releases(15, 1).removed(15, "a", 1);
    assert_eq!(cause(Kind::Starved, story.takes(20, 3, "c").releases(22, 3)), Cause::LostPlace);
}

#[test]
fn a_lock_that_outlives_its_release_was_counted_twice_or_stands_where_the_release_did_not_come() {
    // The release never arrives, or lowers a count that was raised twice, so the lock remains.
    let story = |lowered: bool| {
        let story = loses_reply(Story::with_quorum(2).acquires(1, 1), 1, 2);
        let story = story.grants_at(2, 1, 1, if lowered { "a=2" } else { "a=1" });
        let story = story.grants_at(2, 1, 2, "a=1").hears(3, 1, "a=1").leaves(4, 1);
        let story = if lowered { story.grants_at(5, 1, 1, "a=1") } else { story };
        cause_of_standstill(story.removed_at(5, 2, "a=1", 1).left(6, 1))
    };
    assert_eq!(story(true), Cause::LostReply);
    assert_eq!(story(false), Cause::LostRelease);
}

#[test]
fn a_release_of_unknown_outcome_keeps_a_lock_that_a_loser_overwrote() {
    let overwritten = |answered: bool| {
        let story = Story::new().ttl(100).available_within(10, 1, 1).takes(1, 1, "a");
        let story = story.acquires(2, 3).grants(3, 3, "b").acquires(3, 2).leaves(5, 1);
        let story = if answered { story.left(6, 1) } else { story.info(6, 1) };
        cause(Kind::Unavailable, story.grants(40, 2, "c").hears(41, 2, "c"))
    };
    assert_eq!(overwritten(false), Cause::LostRelease);
    assert_ne!(overwritten(true), Cause::LostRelease);
}

#[test]
fn a_server_that_refuses_writes_after_its_disk_works_again_is_named() {
    let story = |reason: &str| {
        let story =
            Story::new().ttl(10).progress_bound(10).syncs_fail(2, 5).healed(5).acquires(6, 1);
        let story = story.fails_because(20, 1, reason).acquires(21, 1);
        cause(Kind::Stuck, story.fails_because(40, 1, reason).acquires(41, 1))
    };
    let refused = "the server answered MISCONF Errors writing to the AOF file: Input/output error";
    assert_eq!(story(refused), Cause::DiskFailure);
    assert_ne!(story("no reply within 500 ms"), Cause::DiskFailure);
}

#[test]
fn writes_that_a_quorum_refuses_are_named_although_the_client_hides_the_answer() {
    let turned = |story: Story, at: u64, redis: u16, turn: Turn| {
        story.event(at, Node::Redis(redis), What::Turn { turn, about: None })
    };
    let story = |refusing: &[u16], until: u64| {
        let story = Story::with_quorum(2).ttl(10).progress_bound(10).syncs_fail(2, 5).healed(5);
        let story = refusing.iter().fold(story, |story, redis| {
            turned(turned(story, 3, *redis, Turn::RefusesWrites), until, *redis, Turn::TakesWrites)
        });
        let story = story.acquires(6, 1).fails_because(20, 1, "locked 0 of 3").acquires(21, 1);
        story.fails_because(40, 1, "locked 0 of 3").acquires(41, 1)
    };
    let cause_of = |story| cause(Kind::Stuck, story);
    assert_eq!(cause_of(story(&[1, 2], 41)), Cause::DiskFailure);
    assert_ne!(cause_of(story(&[1], 41)), Cause::DiskFailure, "two others are a quorum");
    assert_ne!(cause_of(story(&[1, 2], 15)), Cause::DiskFailure, "they took writes again");
    let restarted = story(&[1, 2], 41).event(9, Node::Redis(2), What::Crashed);
    assert_ne!(cause_of(restarted), Cause::DiskFailure, "a restart ended the refusal");
}

#[test]
fn a_refusal_is_no_reason_for_a_process_that_waits_for_a_message() {
    let story = |is_silent: bool| {
        let story = Story::new().ttl(10).progress_bound(10).syncs_fail(2, 5);
        let turn = What::Turn { turn: Turn::RefusesWrites, about: None };
        let story = story.event(3, REDIS, turn).healed(5).acquires(6, 1);
        let story = if is_silent { story.silent(41, 1, 6, true) } else { story };
        cause(Kind::Stuck, story.starts(41, 3))
    };
    assert_eq!(story(false), Cause::DiskFailure);
    assert_ne!(story(true), Cause::DiskFailure);
}

#[test]
fn a_replica_that_refuses_writes_keeps_no_process_waiting() {
    let story = |redis: u16| {
        let story = Story::new().ttl(10).progress_bound(10).syncs_fail(2, 5).takes(1, 1, "a");
        let turn = What::Turn { turn: Turn::RefusesWrites, about: None };
        let story = story.event(3, Node::Redis(redis), turn).releases(4, 1).removed(4, "a", 1);
        let story = story.healed(5).acquires(6, 1).fails_because(20, 1, "no lock");
        cause(Kind::Stuck, story.acquires(21, 1).starts(41, 3))
    };
    assert_eq!(story(1), Cause::DiskFailure);
    assert_ne!(story(2), Cause::DiskFailure);
}

#[test]
fn the_first_votes_of_the_next_process_are_no_reason_for_the_wait_before() {
    // Redis-1 and redis-2 keep the lock, by a raised count or a lost release, until the leases end.
    // Two processes then split the votes.
    let story = |counted: bool| {
        let story = Story::with_quorum(2).ttl(92).acquires(1, 1);
        let story = loses_reply(story, 1, 2);
        let first = if counted { "a=2" } else { "a=1" };
        let story = (1..=2).fold(story, |story, redis| story.grants_at(2, 1, redis, first));
        let story = story.hears(3, 1, "a=1").leaves(4, 1);
        let story = match counted {
            true => (1..=2).fold(story, |story, redis| story.grants_at(5, 1, redis, "a=1")),
            false => story,
        };
        let story = story.left(6, 1).healed(7).acquires(8, 2).acquires(8, 3);
        let story = (1..=2).fold(story, |story, redis| story.expires_at(98, redis, "a=1"));
        let story = story.grants_at(98, 3, 1, "c=1").grants_at(98, 2, 2, "b=1");
        let story = story.grants_at(98, 2, 3, "b=1").hears(99, 2, "b=1").releases(100, 2);
        let story = story.removed_at(100, 2, "b=1", 2).removed_at(100, 3, "b=1", 2);
        let story = story.grants_at(101, 3, 2, "c=1").hears(102, 3, "c=1").releases(103, 3);
        cause(Kind::Stuck, story.progress_bound(50))
    };
    assert_eq!(story(true), Cause::LostReply);
    assert_eq!(story(false), Cause::LostRelease);
}

#[test]
fn a_removal_after_the_promotion_could_not_be_replicated() {
    // The old primary executes the release before or after the other server is promoted.
    let story = |removed_ms: u64| {
        let turn = What::Turn { turn: Turn::Promoted, about: None };
        let story = Story::new().takes(1, 1, "a").replicated(1, 2, "a").leaves(3, 1);
        let promotes = |story: Story| story.event(5, Node::Redis(2), turn.clone());
        let story = if removed_ms < 5 { story } else { promotes(story) };
        let story = story.removed(removed_ms, "a", 1);
        if removed_ms < 5 { promotes(story) } else { story }
    };
    assert_eq!(cause_of_standstill(story(4).info(9, 1)), Cause::AsyncReplicationLoss);
    assert_eq!(cause_of_standstill(story(7).info(9, 1)), Cause::LostRelease);
    let confirmed = cause_of_standstill(story(7).left(9, 1));
    assert_ne!(confirmed, Cause::UnfoundedAnswer, "the old primary had removed the lock");
}

#[test]
fn a_count_that_a_release_lowered_after_late_answers_is_due_to_the_delay() {
    let story = Story::with_quorum(2)
        .acquires(1, 1)
        .faulted(1..3, 9, "delay", &[REDIS, CLIENT])
        .grants_at(2, 1, 1, "a=1");
    let story = story.grants_at(2, 1, 1, "a=2");
    let story = story.grants_at(2, 1, 2, "a=1").hears(3, 1, "a=2").leaves(4, 1);
    let story = story.grants_at(5, 1, 1, "a=1").removed_at(5, 2, "a=1", 1);
    assert_eq!(cause_of_standstill(story.left(6, 1)), Cause::Latency);
}

#[test]
fn a_time_to_live_that_a_release_sets_with_a_lower_count_is_no_renewal() {
    let story = |extended_ms: u64| {
        let story = Story::with_quorum(2).renewing().acquires(1, 1);
        let story = story.faulted(1..3, 9, "delay", &[REDIS, CLIENT]).grants_at(2, 1, 1, "a=1");
        let story = story.grants_at(2, 1, 1, "a=2").grants_at(2, 1, 2, "a=1").hears(3, 1, "a=2");
        let story = story.leaves(19, 1).grants_at(25, 1, 1, "a=1");
        let story = story.server(extended_ms, 1, Change::Extended, "a=1", Some(CLIENT));
        cause_of_standstill(story.removed_at(25, 2, "a=1", 1).left(26, 1))
    };
    assert_eq!(story(25), Cause::Latency);
    assert_eq!(story(40), Cause::OrphanRenewal, "the watchdog did not stop");
}

#[test]
fn a_copy_of_a_lock_whose_owner_does_not_know_of_it_is_explained_by_its_grant() {
    let copied = |hits: fn(Story) -> Story, is_promoted: bool| {
        let story = hits(Story::new().acquires(1, 1)).grants(2, 1, "a").replicated(2, 2, "a");
        let story = story.info(3, 1).redis_crashes(4, 1);
        let turn = What::Turn { turn: Turn::Promoted, about: None };
        let story = if is_promoted { story.event(5, Node::Redis(2), turn) } else { story };
        cause_of_standstill(story.server(6, 1, Change::Forgotten, "a", None))
    };
    let loses: fn(Story) -> Story = |story| loses_reply(story, 1, 3);
    assert_eq!(copied(loses, true), Cause::LostReply);
    assert_eq!(copied(loses, false), Cause::Unexplained, "no process asks a replica");
    let pauses: fn(Story) -> Story = |story| {
        let story = story.fault_began(1, 1, "pause", &[CLIENT]);
        story.fault_ended(3, 1, "pause", CLIENT)
    };
    assert_eq!(copied(pauses, true), Cause::HolderPause);
}
