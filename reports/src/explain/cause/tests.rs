//! Each cause told as the smallest story that has it, and which of two causes comes first.

use super::{Cause, classify};
use crate::judge::checker::CHECKERS;
use crate::judge::finding::Kind;
use crate::judge::timeline::Timeline;
use crate::record::history::{Change, Keeping, What};
use crate::story::{KEY, Story};
use fencepost_faults::{Micros, Node};

const CLIENT: Node = Node::Client(1);
const REDIS: Node = Node::Redis(1);

/// The cause of the first finding of a kind.
fn cause(kind: Kind, story: Story) -> Cause {
    let history = story.build();
    let timeline = Timeline::new(&history);
    let mut findings = CHECKERS.iter().flat_map(|checker| (checker.check)(&timeline));
    let finding =
        findings.find(|finding| finding.kind == kind).expect("the story has such a finding");
    classify(&timeline, &finding)
}

fn overlap(story: Story) -> Cause {
    cause(Kind::Overlap, story)
}

/// Client 1 takes the lock at 1 ms for 10 ms, and the lease runs out before client 2 takes it.
fn overrun(released_at: u64) -> Story {
    Story::new()
        .takes(1, 1, "a")
        .expires(11, "a")
        .takes(12, 2, "b")
        .releases(released_at, 1)
        .releases(99, 2)
}

/// Client 1 takes the lock at 1 ms for 10 ms, and client 2 takes it at 4 ms; in between it went.
fn early(how: impl FnOnce(Story) -> Story) -> Story {
    how(Story::new().takes(1, 1, "a")).takes(4, 2, "b").releases(6, 1).releases(7, 2)
}

#[test]
fn a_holder_that_stood_still_across_the_end_of_its_lease_is_a_holder_pause() {
    for kind in ["pause", "suspend"] {
        let story = overrun(20).fault_began(5, 1, kind, &[CLIENT]).fault_ended(19, 1, kind, CLIENT);
        assert_eq!(overlap(story), Cause::HolderPause);
    }
}

#[test]
fn a_pause_within_the_lease_that_pushed_the_holder_over_its_end_is_a_holder_pause() {
    let story =
        overrun(14).fault_began(2, 1, "pause", &[CLIENT]).fault_ended(8, 1, "pause", CLIENT);
    assert_eq!(overlap(story), Cause::HolderPause);
}

/// Client 2 overwrites the row of client 1, whose lease of 10 ms is not over.
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
    let rest = Story::kept_as(Keeping::RowByClients).takes(1, 1, "a").takes(12, 2, "b");
    let overrun = rest.releases(14, 1).releases(15, 2).at_servers();
    assert_eq!(overlap(overrun), Cause::HoldTooLong, "the lease was over");
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
fn a_short_pause_does_not_excuse_a_holder_who_would_have_overrun_anyway() {
    let story =
        overrun(30).fault_began(2, 1, "pause", &[CLIENT]).fault_ended(3, 1, "pause", CLIENT);
    assert_eq!(overlap(story), Cause::HoldTooLong);
}

#[test]
fn a_pause_of_a_process_is_one_of_each_of_its_threads() {
    let thread = CLIENT.of_thread(2);
    let story =
        Story::new().takes(1, thread, "a").expires(11, "a").takes(12, 2, "b").releases(20, thread);
    let paused = story
        .releases(99, 2)
        .fault_began(5, 1, "pause", &[CLIENT])
        .fault_ended(19, 1, "pause", CLIENT);
    assert_eq!(overlap(paused), Cause::HolderPause);
}

#[test]
fn two_threads_under_one_grant_have_a_shared_owner() {
    let thread = CLIENT.of_thread(2);
    let both = || Story::new().takes(1, 1, "a").acquires(2, thread).hears(3, thread, "a");
    assert_eq!(overlap(both().releases(5, 1).releases(6, thread)), Cause::SharedOwner);
    let removed = both().leaves(4, thread).removed(5, "a", thread).releases(6, 1);
    assert_eq!(cause(Kind::ForeignRelease, removed), Cause::SharedOwner);
}

#[test]
fn a_release_of_another_thread_that_was_not_late_took_one_for_the_other() {
    let thread = CLIENT.of_thread(2);
    let left = |ends: fn(Story) -> Story| {
        let first = ends(Story::new().takes(1, 1, "a").leaves(2, 1))
            .acquires(4, thread)
            .hears(5, thread, "a");
        first.removed(6, "a", 1).takes(7, 2, "b").releases(8, thread).releases(9, 2)
    };
    assert_eq!(overlap(left(|story| story.info(3, 1))), Cause::LostRelease);
    assert_eq!(overlap(left(|story| story.left(3, 1))), Cause::SharedOwner);
    // Still in progress, on its ordinary way.
    let story = Story::new().takes(1, 1, "a").leaves(2, 1).acquires(4, thread);
    let story = story.hears(5, thread, "a").removed(6, "a", 1).left(7, 1).takes(7, 2, "b");
    assert_eq!(overlap(story.releases(8, thread).releases(9, 2)), Cause::SharedOwner);
}

#[test]
fn a_pause_of_somebody_else_does_not_count() {
    let story = overrun(20).fault_began(5, 1, "pause", &[Node::Client(2)]).fault_ended(
        6,
        1,
        "pause",
        Node::Client(2),
    );
    assert_eq!(overlap(story), Cause::HoldTooLong);
}

#[test]
fn a_holder_without_any_fault_held_too_long() {
    assert_eq!(overlap(overrun(20)), Cause::HoldTooLong);
}

#[test]
fn an_extended_lease_counts_from_its_extension() {
    let story = Story::new().takes(1, 1, "a").server(8, 1, Change::Extended, "a", Some(CLIENT));
    let story = story.server(13, 1, Change::Evicted, "a", None).takes(14, 2, "b").releases(16, 1);
    assert_eq!(overlap(story), Cause::Eviction, "13 ms is within the extended lease");
}

#[test]
fn a_validity_that_ends_after_the_lease_is_clock_drift() {
    let story = Story::new()
        .acquires(1, 1)
        .grants(1, 1, "a")
        .hears_validity(1, 1, "a", 10)
        .expires(11, "a");
    let story = story.takes(12, 2, "b").releases(13, 1).releases(14, 2);
    assert_eq!(
        overlap(story.clone().fault_began(0, 1, "clock-drift", &[CLIENT])),
        Cause::ClockDrift
    );
    assert_eq!(
        overlap(story.fault_began(0, 1, "clock-drift", &[Node::Redis(9)])),
        Cause::HoldTooLong
    );
}

#[test]
fn an_answer_that_took_most_of_the_lease_is_latency() {
    let story = Story::new()
        .grants(1, 1, "a")
        .hears(9, 1, "a")
        .expires(11, "a")
        .takes(12, 2, "b")
        .releases(14, 1);
    assert_eq!(overlap(story), Cause::Latency);
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

/// At a server that counts in whole seconds, client 1 takes the lock at 1 ms for a lease of 10 s;
/// the server gives it `given` milliseconds. Client 2 takes it at 9.6 s.
fn coarse(given: u64, left: u64, how: impl FnOnce(Story) -> Story) -> Cause {
    let story = how(Story::new().ttl(10_000).takes(1, 1, "a")).takes(9_600, 2, "b");
    let story = story.tells_leases_of(Micros::from_millis(given)).at_servers();
    overlap(story.releases(left, 1).releases(left + 1, 2))
}

#[test]
fn a_lease_that_was_counted_in_whole_seconds_ends_early_by_that_and_one_of_full_length_by_a_clock()
{
    let server = Node::Server(1);
    let drifts = |story: Story| story.fault_began(0, 1, "clock-drift", &[server]);
    assert_eq!(coarse(9_500, 9_800, |story| story.expires(9_501, "a")), Cause::CoarseExpiry);
    let drifted = |given| coarse(given, 9_800, |story| drifts(story).expires(9_501, "a"));
    assert_eq!(drifted(9_500), Cause::CoarseExpiry, "it would have been early anyway");
    assert_eq!(drifted(10_600), Cause::ClockDrift, "its clock had passed the lease");
    let still = coarse(10_600, 9_800, |story| story.expires(9_501, "a"));
    assert_eq!(still, Cause::Unexplained, "no clock was wrong");
    let stays = coarse(10_600, 12_000, |story| drifts(story).expires(9_501, "a"));
    assert_eq!(stays, Cause::ClockDrift, "the lease was not short");
}

#[test]
fn the_second_of_a_coarse_lease_hides_no_other_loss() {
    let paused = |story: Story| {
        let story = story.fault_began(5_000, 1, "pause", &[CLIENT]);
        story.fault_ended(15_000, 1, "pause", CLIENT)
    };
    let lost = |change: Change| {
        coarse(9_900, 15_001, |story| paused(story).server(9_500, 1, change, "a", None))
    };
    assert_eq!(lost(Change::Evicted), Cause::Eviction);
    assert_eq!(lost(Change::Forgotten), Cause::RestartWithoutDelay);
    let ran_out = coarse(9_500, 15_001, |story| paused(story).expires(9_501, "a"));
    assert_eq!(ran_out, Cause::HolderPause, "it stayed beyond the whole lease");
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
}

#[test]
fn a_key_that_ran_out_early_did_so_by_the_clock_of_its_server() {
    let expired = || early(|story| story.expires(3, "a"));
    assert_eq!(overlap(expired().fault_began(2, 1, "clock-jump", &[REDIS])), Cause::ClockJump);
    assert_eq!(overlap(expired().fault_began(2, 1, "clock-drift", &[REDIS])), Cause::ClockDrift);
    let both = expired().fault_began(2, 1, "clock-drift", &[REDIS]).fault_began(
        2,
        2,
        "clock-jump",
        &[REDIS],
    );
    assert_eq!(overlap(both), Cause::ClockJump);
}

#[test]
fn a_clock_that_jumped_before_the_lease_or_elsewhere_does_not_count() {
    let expired = || early(|story| story.expires(3, "a"));
    assert_eq!(overlap(expired().fault_began(0, 1, "clock-jump", &[REDIS])), Cause::Unexplained);
    assert_eq!(
        overlap(expired().fault_began(2, 1, "clock-jump", &[Node::Redis(2)])),
        Cause::Unexplained
    );
}

#[test]
fn a_lock_that_is_taken_over_while_it_stands_is_interleaving_unless_a_clock_was_wrong() {
    assert_eq!(overlap(early(|story| story)), Cause::Interleaving);
    assert_eq!(
        overlap(early(|story| story.fault_began(2, 1, "clock-jump", &[CLIENT]))),
        Cause::ClockJump
    );
    assert_eq!(
        overlap(early(|story| story.fault_began(2, 1, "clock-jump", &[REDIS]))),
        Cause::ClockJump
    );
}

#[test]
fn a_server_that_never_had_the_lock_grants_it_by_replication_loss() {
    let story =
        Story::new().takes(1, 1, "a").redis_crashes(2, 1).grants_at(4, 2, 2, "b").hears(4, 2, "b");
    assert_eq!(overlap(story.releases(6, 1).releases(7, 2)), Cause::AsyncReplicationLoss);
}

#[test]
fn an_old_primary_that_comes_back_empty_is_still_replication_loss() {
    let story = Story::new().takes(1, 1, "a").redis_crashes(2, 1).redis_starts(3, 1);
    let story =
        story.server(3, 1, Change::Forgotten, "a", None).grants_at(4, 2, 2, "b").hears(4, 2, "b");
    assert_eq!(overlap(story.releases(6, 1).releases(7, 2)), Cause::AsyncReplicationLoss);
}

#[test]
fn a_replica_that_had_the_lock_and_let_it_run_out_early_did_so_by_a_clock() {
    let story = Story::new().takes(1, 1, "a").replicated(2, 2, "a").expires_at(3, 2, "a");
    let story = story.grants_at(4, 2, 2, "b").hears(4, 2, "b").releases(6, 1).releases(7, 2);
    assert_eq!(overlap(story.clone()), Cause::Unexplained);
    // The replica's clock was stepped long before the lock was granted: it got the key with an
    // absolute time.
    assert_eq!(overlap(story.fault_began(0, 1, "clock-jump", &[Node::Redis(2)])), Cause::ClockJump);
}

#[test]
fn after_a_failover_a_lease_that_had_run_out_is_no_replication_loss() {
    let story = Story::new()
        .takes(1, 1, "a")
        .redis_crashes(2, 1)
        .grants_at(14, 2, 2, "b")
        .hears(14, 2, "b");
    assert_eq!(overlap(story.releases(20, 1).releases(21, 2)), Cause::HoldTooLong);
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

/// Client 1 sends a write while it holds, gives up on it and leaves; client 2 holds when it lands.
fn late_write() -> Story {
    let story = Story::new()
        .takes(1, 1, "a")
        .releases(4, 1)
        .removed(4, "a", 1)
        .takes(5, 2, "b")
        .reads(6, 2, 0);
    story.late_write(7, 1, 2, 0, 9)
}

#[test]
fn a_write_that_was_on_its_way_when_the_lock_changed_hands_is_storage_delay() {
    assert_eq!(cause(Kind::StaleWrite, late_write()), Cause::StorageDelay);
    let delayed = late_write().fault_began(2, 1, "delay", &[CLIENT, Node::Storage]);
    assert_eq!(cause(Kind::StaleWrite, delayed), Cause::StorageDelay);
}

#[test]
fn a_pause_between_sending_and_landing_is_a_holder_pause_but_a_clock_fault_of_the_storage_delays_nothing()
 {
    let paused =
        late_write().fault_began(3, 1, "pause", &[CLIENT]).fault_ended(4, 1, "pause", CLIENT);
    assert_eq!(cause(Kind::StaleWrite, paused.clone()), Cause::HolderPause);
    let drifting = paused.clone().fault_began(2, 2, "clock-drift", &[Node::Storage]);
    assert_eq!(cause(Kind::StaleWrite, drifting), Cause::HolderPause);
    let delayed = paused.fault_began(2, 2, "delay", &[Node::Storage]);
    assert_eq!(cause(Kind::StaleWrite, delayed), Cause::StorageDelay);
}

#[test]
fn a_write_that_was_sent_late_has_the_cause_of_the_overlap() {
    let story =
        overrun(20).fault_began(5, 1, "pause", &[CLIENT]).fault_ended(14, 1, "pause", CLIENT);
    let story = story.reads(13, 2, 0).writes(15, 1, 0, 9);
    assert_eq!(cause(Kind::StaleWrite, story), Cause::HolderPause);
}

#[test]
fn an_update_lost_to_a_late_write_has_its_cause() {
    let story = Story::new()
        .takes(1, 1, "a")
        .reads(2, 1, 0)
        .expires(11, "a")
        .takes(12, 2, "b")
        .reads(13, 2, 0);
    let story = story.writes(14, 1, 0, 1).writes(15, 2, 0, 1).fault_began(3, 1, "pause", &[CLIENT]);
    assert_eq!(
        cause(Kind::LostUpdate, story.fault_ended(13, 1, "pause", CLIENT)),
        Cause::HolderPause
    );
}

/// Client 1 gets token 7, and client 2 a lower one later.
fn tokens(how: impl FnOnce(Story) -> Story, redis: u16) -> Story {
    let story = how(Story::new().takes_with_token(1, 1, "a", 7).releases(2, 1).removed(2, "a", 1));
    story.grants_at(9, 2, redis, "b").hears_token(9, 2, "b", 3)
}

#[test]
fn a_counter_goes_back_by_failover_restart_or_flush() {
    let regression = |story| cause(Kind::TokenRegression, story);
    assert_eq!(regression(tokens(|story| story, 2)), Cause::AsyncReplicationLoss);
    let restarted = tokens(|story| story.redis_crashes(4, 1).redis_starts(5, 1), 1);
    assert_eq!(regression(restarted), Cause::RestartDataLoss);
    assert_eq!(
        regression(tokens(|story| story.fault_began(4, 1, "flush-all", &[REDIS]), 1)),
        Cause::Flush
    );
    assert_eq!(regression(tokens(|story| story, 1)), Cause::Unexplained);
}

#[test]
fn a_foreign_release_has_the_cause_that_let_the_remover_overrun() {
    let story = overrun(20).removed(20, "b", 1).fault_began(5, 1, "pause", &[CLIENT]);
    assert_eq!(
        cause(Kind::ForeignRelease, story.fault_ended(19, 1, "pause", CLIENT)),
        Cause::HolderPause
    );
}

#[test]
fn nobody_gets_in_because_the_holder_died_or_never_heard_that_it_holds() {
    let tail =
        |story: Story| story.progress_bound(100).healed(20).probe_acquires(21).probe_fails(130);
    let died = tail(Story::new().takes(1, 1, "a").crashes(3, 1));
    assert_eq!(cause(Kind::Stuck, died), Cause::HolderCrash);
    let unheard = tail(Story::new().grants(1, 1, "a").info(3, 1));
    assert_eq!(cause(Kind::Stuck, unheard), Cause::LostReply);
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
    let paused = story().fault_began(2, 1, "pause", &[CLIENT]).fault_ended(15, 1, "pause", CLIENT);
    assert_eq!(cause(Kind::HeldForever, paused), Cause::HolderPause);
}

#[test]
fn a_lock_whose_value_is_the_same_for_all_is_whose_grant_it_was() {
    let story = Story::new()
        .takes(1, 1, "1")
        .expires(11, "1")
        .takes(12, 2, "1")
        .releases(20, 1)
        .releases(21, 2);
    let paused =
        || story.clone().fault_began(5, 1, "pause", &[CLIENT]).fault_ended(19, 1, "pause", CLIENT);
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
    // The replica has seen the first of two locks of client 1 come and go, and never received the
    // second.
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
fn an_extension_that_a_replica_never_received_is_replication_loss() {
    let story = Story::new().takes(1, 1, "a").replicated(2, 2, "a").redis_crashes(7, 1);
    let extended = Story::new().takes(1, 1, "a").replicated(2, 2, "a");
    let extended = extended.server(8, 1, Change::Extended, "a", Some(CLIENT)).redis_crashes(9, 1);
    let taken =
        |story: Story| story.expires_at(11, 2, "a").grants_at(12, 2, 2, "b").hears(12, 2, "b");
    let overlap = |story: Story| overlap(taken(story).releases(14, 1).releases(15, 2));
    assert_eq!(overlap(extended), Cause::AsyncReplicationLoss);
    assert_eq!(overlap(story), Cause::HoldTooLong, "nobody had extended it");
}

#[test]
fn a_holder_that_extends_at_a_deposed_primary_lost_its_lock_by_replication() {
    let extended = |story: Story, ms| story.server(ms, 1, Change::Extended, "a", Some(CLIENT));
    let story = extended(extended(Story::new().takes(1, 1, "a"), 8), 15);
    let story = story.grants_at(16, 2, 2, "b").hears(16, 2, "b");
    assert_eq!(
        overlap(extended(story, 20).releases(22, 1).releases(23, 2)),
        Cause::AsyncReplicationLoss
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
fn tokens_of_servers_that_share_no_counter_have_no_order() {
    let mut story = Story::with_quorum(2);
    for redis in [1, 2] {
        story = story.grants_at(1, 1, redis, "a");
    }
    story =
        story.hears_token(2, 1, "a", 7).releases(3, 1).removed(4, "a", 1).removed_at(4, 2, "a", 1);
    for redis in [2, 3] {
        story = story.grants_at(5, 2, redis, "b");
    }
    assert_eq!(
        cause(Kind::TokenRegression, story.hears_token(6, 2, "b", 3)),
        Cause::UnorderedTokens
    );
}

/// Client 1 releases in time; the network holds that back, and it removes the lock that client 2
/// has been granted since.
fn late_release(sent: u64) -> Story {
    let story = Story::new().takes(1, 1, "1").leaves(sent, 1).info(sent + 1, 1).expires(11, "1");
    story.takes(12, 2, "1").removed(14, "1", 1).releases(15, 2)
}

#[test]
fn a_release_that_was_held_up_removes_the_lock_of_the_next_holder() {
    assert_eq!(cause(Kind::ForeignRelease, late_release(5)), Cause::LostRelease);
    // A pause that is over before the lock changes hands did not do it, nor one in which the
    // release arrives.
    for (until, expected) in
        [(11, Cause::LostRelease), (13, Cause::HolderPause), (15, Cause::LostRelease)]
    {
        let story = Story::new()
            .takes(1, 1, "1")
            .leaves(5, 1)
            .fault_began(6, 1, "pause", &[CLIENT])
            .expires(11, "1");
        let ends = |story: Story, at| {
            if at == until { story.fault_ended(at, 1, "pause", CLIENT) } else { story }
        };
        let story = ends(story, 11).takes(12, 2, "1");
        let story = ends(story, 13).removed(14, "1", 1);
        assert_eq!(
            cause(Kind::ForeignRelease, ends(story, 15).releases(16, 2)),
            expected,
            "until {until}"
        );
    }
    // Had it been sent after the lock changed hands, its sender would have overrun.
    let story =
        Story::new().takes(1, 1, "1").expires(11, "1").takes(12, 2, "1").leaves(13, 1).info(13, 1);
    assert_eq!(
        cause(Kind::ForeignRelease, story.removed(14, "1", 1).releases(15, 2)),
        Cause::HoldTooLong
    );
}

#[test]
fn a_holder_whose_grant_a_failover_replaced_releases_at_a_server_that_never_had_it() {
    let story = |also_here: bool| {
        let story = Story::new()
            .takes(1, 2, "b")
            .replicated(2, 2, "b")
            .leaves(3, 2)
            .left(4, 2)
            .removed(4, "b", 2);
        let story = story.takes(5, 1, "a");
        let story = if also_here { story.replicated(6, 2, "a") } else { story };
        story.leaves(7, 1).removed_at(8, 2, "b", 1).left(9, 1)
    };
    assert_eq!(cause(Kind::ForeignRelease, story(false)), Cause::AsyncReplicationLoss);
    assert_eq!(
        cause(Kind::ForeignRelease, story(true)),
        Cause::Unexplained,
        "its own lock had been there"
    );
}

/// Nobody gets in from 21 ms on.
fn nobody(story: Story) -> Cause {
    cause(Kind::Stuck, story.progress_bound(100).healed(20).probe_acquires(21).probe_fails(130))
}

#[test]
fn a_lock_whose_release_was_lost_stands_for_ever() {
    let taken = || Story::new().takes(1, 1, "a");
    assert_eq!(nobody(taken().leaves(3, 1).info(4, 1)), Cause::LostRelease);
    assert_eq!(
        nobody(taken().leaves(3, 1).left(4, 1)),
        Cause::Unexplained,
        "the server answered that it is gone"
    );
    let followed = || taken().replicated(2, 2, "a").redis_crashes(3, 1);
    let forgotten =
        |story: Story| story.redis_starts(10, 1).server(10, 1, Change::Forgotten, "a", None);
    assert_eq!(nobody(forgotten(followed().leaves(4, 1).info(5, 1))), Cause::LostRelease);
    assert_eq!(
        nobody(forgotten(followed().crashes(4, 1))),
        Cause::HolderCrash,
        "its holder never gave it back"
    );
    assert_eq!(
        nobody(forgotten(followed().leaves(4, 1).left(5, 1))),
        Cause::Unexplained,
        "its holder was told that it is gone"
    );
}

#[test]
fn what_was_in_the_way_is_what_stood_then_and_not_at_the_end_of_the_run() {
    // From 21 ms to 150 ms nobody gets in; then an operator frees the lock.
    let freed = |story: Story| {
        let story = story.progress_bound(100).healed(20).acquires(21, 2).fails(140, 2);
        let story = story.server(141, 1, Change::Flushed, "a", None).takes(150, 3, "c");
        cause(Kind::Stuck, story.crashes(200, 3))
    };
    let taken = || Story::new().takes(1, 1, "a");
    assert_eq!(freed(taken().crashes(3, 1)), Cause::HolderCrash);
    assert_eq!(freed(taken().leaves(3, 1).info(4, 1)), Cause::LostRelease);
    assert_eq!(freed(Story::new().grants(1, 1, "a").info(3, 1)), Cause::LostReply);
    assert_eq!(freed(taken().releases(3, 1).removed(3, "a", 1)), Cause::Unexplained);
}

#[test]
fn a_lease_that_ran_out_unnoticed_is_in_nobodys_way() {
    let died = || Story::new().healed(0).takes(1, 1, "a").acquires(2, 2).crashes(5, 1);
    let hangs = || died().silent(40, 2, 2, false);
    assert_eq!(cause(Kind::Deadlock, hangs().tells_leases()), Cause::MissedWakeup);
    assert_eq!(cause(Kind::Deadlock, hangs()), Cause::HolderCrash, "a key without an expiry");
    let sleeps = || died().progress_bound(20).silent(60, 2, 2, true).takes(61, 2, "b");
    assert_eq!(cause(Kind::Stuck, sleeps().tells_leases()), Cause::MissedWakeup);
}

#[test]
fn a_dead_waiter_is_in_the_way_if_nothing_else_is() {
    let died = |waiting: bool| {
        let story = Story::new().takes(1, 1, "a");
        let story = if waiting { story.acquires(2, 2) } else { story };
        story.crashes(3, 2).releases(4, 1).removed(5, "a", 1)
    };
    assert_eq!(nobody(died(true)), Cause::WaiterCrash);
    assert_eq!(nobody(died(false)), Cause::Unexplained, "it was not in the queue");
    let standing =
        Story::new().takes(1, 1, "a").acquires(2, 2).crashes(3, 2).leaves(4, 1).info(5, 1);
    assert_eq!(nobody(standing), Cause::LostRelease, "the lock itself is in the way");
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
fn a_copy_of_an_earlier_lock_of_its_own_lets_a_process_in_after_a_failover() {
    let story = |copied: bool| {
        let story = Story::new().takes(1, 1, "one");
        let story = if copied { story.replicated(2, 2, "one") } else { story };
        let story =
            story.releases(3, 1).removed(3, "one", 1).takes(4, 2, "two").redis_crashes(5, 1);
        story.acquires(6, 1).hears(7, 1, "one").releases(8, 1).releases(9, 2)
    };
    assert_eq!(overlap(story(true)), Cause::AsyncReplicationLoss);
    assert_eq!(overlap(story(false)), Cause::Unexplained, "no copy of its lock stood anywhere");
}

#[test]
fn a_release_of_an_earlier_lock_that_arrives_late_removes_the_next_lock_of_the_same_process() {
    let story = |unheard: bool| {
        let story = Story::new().takes(1, 1, "id").leaves(2, 1);
        let story = if unheard { story.info(3, 1) } else { story.left(3, 1) };
        let story = story
            .removed(3, "id", 1)
            .acquires(4, 1)
            .grants(5, 1, "id")
            .removed(6, "id", 1)
            .hears(7, 1, "id");
        story.takes(8, 2, "other").releases(9, 1).releases(10, 2)
    };
    assert_eq!(overlap(story(true)), Cause::LostRelease);
    assert_eq!(overlap(story(false)), Cause::EarlyRelease, "every release was answered");
}

#[test]
fn two_servers_that_grant_as_primaries_at_once_are_a_split_brain() {
    // redis-2 follows, is promoted and grants to client 2 before redis-1 grants to client 1.
    let story = |promoted: bool| {
        let story = Story::new().takes(1, 3, "c").replicated(1, 2, "c").releases(2, 3);
        let story = story.removed(2, "c", 3).removed_on_replica(2, 2, "c");
        let story = match promoted {
            true => story.acquires(3, 2).grants_at(3, 2, 2, "x").removed_at(3, 2, "x", 2),
            false => story.acquires(3, 2),
        };
        story
            .takes(4, 1, "a")
            .grants_at(5, 2, 2, "b")
            .hears(6, 2, "b")
            .releases(8, 1)
            .releases(9, 2)
    };
    assert_eq!(overlap(story(true)), Cause::SplitBrain);
    assert_eq!(overlap(story(false)), Cause::AsyncReplicationLoss, "promoted only after the grant");
}

#[test]
fn counters_of_two_primaries_at_once_are_a_split_brain_too() {
    // redis-2 follows, is promoted and grants to client 2 before or after redis-1 gives token 7.
    let story = |promoted: bool| {
        let story = Story::new().takes(1, 3, "c").replicated(1, 2, "c").releases(2, 3);
        let story = story.removed(2, "c", 3).removed_on_replica(2, 2, "c").acquires(3, 2);
        let story = match promoted {
            true => story.grants_at(3, 2, 2, "x").removed_at(3, 2, "x", 2),
            false => story,
        };
        let story = story.takes_with_token(4, 1, "a", 7).releases(5, 1).removed(5, "a", 1);
        story.grants_at(6, 2, 2, "b").hears_token(6, 2, "b", 3)
    };
    let regression = |promoted| cause(Kind::TokenRegression, story(promoted));
    assert_eq!(regression(true), Cause::SplitBrain);
    assert_eq!(regression(false), Cause::AsyncReplicationLoss);
}

#[test]
fn a_lease_that_the_lock_renews_by_itself_ends_by_a_missed_renewal() {
    let story = |renewed: bool| {
        let story = Story::new().takes(1, 1, "a");
        let story = match renewed {
            true => story.server(3, 1, Change::Extended, "a", Some(CLIENT)).expires(13, "a"),
            false => story.expires(11, "a"),
        };
        story.takes(14, 2, "b").releases(30, 1).releases(31, 2)
    };
    assert_eq!(overlap(story(true)), Cause::MissedRenewal);
    assert_eq!(overlap(story(false)), Cause::HoldTooLong);
}

#[test]
fn a_lost_lock_that_a_nested_acquire_creates_anew_is_lost_by_what_lost_it_first() {
    // The inner acquire puts the key there again, and the inner release removes it.
    let story = |loss: Change| {
        let story = Story::new().ttl(100).takes(1, 1, "a=1").server(3, 1, loss, "a=1", None);
        let story = story.acquires(4, 1).grants(5, 1, "a=1").hears(6, 1, "a=1");
        let story = story.leaves(7, 1).removed(8, "a=1", 1).left(9, 1);
        story.takes(10, 2, "b=1").releases(20, 1).releases(21, 2)
    };
    assert_eq!(overlap(story(Change::Evicted)), Cause::Eviction);
    assert_eq!(overlap(story(Change::Flushed)), Cause::Flush);
    let kept = Story::new().ttl(100).takes(1, 1, "a=1").acquires(4, 1).grants(5, 1, "a=2");
    let kept = kept.hears(6, 1, "a=2").leaves(7, 1).removed(8, "a=2", 1).left(9, 1);
    let kept = kept.takes(10, 2, "b=1").releases(20, 1).releases(21, 2);
    assert_eq!(overlap(kept), Cause::EarlyRelease, "nothing but its own command removed it");
}

#[test]
fn a_process_that_died_before_its_command_was_applied_leaves_the_lock_behind() {
    let story = |died: bool| {
        let story = Story::new().acquires(1, 1);
        let story = if died { story.crashes(2, 1) } else { story.info(2, 1) };
        story.server(3, 1, Change::Granted, "1", Some(CLIENT))
    };
    assert_eq!(nobody(story(true)), Cause::HolderCrash);
    assert_eq!(nobody(story(false)), Cause::LostReply);
}

#[test]
fn a_lock_that_is_renewed_by_nobody_in_its_section_is_an_orphan_renewal() {
    let story = |renewed: bool| {
        let story = Story::new().takes(1, 1, "a").leaves(2, 1).info(3, 1);
        match renewed {
            true => story.server(80, 1, Change::Extended, "a", Some(CLIENT)),
            false => story,
        }
    };
    assert_eq!(nobody(story(true)), Cause::OrphanRenewal);
    assert_eq!(nobody(story(false)), Cause::LostRelease);
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

/// Client 2 waits from 2 on; client 1 had the lock and gave it back, and client 3 takes it and gives
/// it back when everything is healed. Then nobody gets in.
fn passed_by(keeping: Keeping, what: impl FnOnce(Story) -> Story) -> Cause {
    let story =
        Story::kept_as(keeping).progress_bound(50).takes(1, 1, "7").acquires(2, 2).leaves(5, 1);
    let story = what(story.removed(5, "7", 1).left(6, 1)).healed(7).takes(8, 3, "8");
    let story = story.leaves(9, 3).removed(9, "8", 3).left(10, 3);
    // Who waits for a row asks again and again.
    let story = match keeping {
        Keeping::Connection => story.silent(99, 2, 2, true),
        Keeping::RowByClients | Keeping::RowByServer | Keeping::Lease => story,
    };
    cause(Kind::Stuck, story.info(99, 2).at_servers())
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
fn one_that_was_passed_over_lost_its_place() {
    let story = Story::new().order_bound(10).healed(0).takes(1, 1, "a").acquires(2, 2);
    let story = story.releases(15, 1).removed(15, "a", 1);
    assert_eq!(cause(Kind::Starved, story.takes(20, 3, "c").releases(22, 3)), Cause::LostPlace);
}

/// What memcached tells: client 1 takes the lock at 1 s for 10 s, the server lets it run out, and
/// client 2 takes it at once; both leave in the end.
fn on_memcached(expired_ms: u64) -> Story {
    const SERVER: Node = Node::Server(1);
    let told = |change, value: &str, by| {
        let value = Some(value.to_owned());
        What::Server {
            key: KEY.to_owned(),
            change,
            value,
            by,
            primary: true,
            token: None,
            lease_us: None,
        }
    };
    let grant = |client| (Change::Granted, Some(Node::Client(client)));
    let ((granted, one), (_, two)) = (grant(1), grant(2));
    let story = Story::new().ttl(10_000).client("memcached-add").acquires(1_000, 1);
    let story = story.event(1_000, SERVER, told(granted, "a", one)).hears(1_000, 1, "a");
    let story = story.event(expired_ms, SERVER, told(Change::Expired, "a", None));
    let story = story.acquires(expired_ms, 2).event(expired_ms, SERVER, told(granted, "b", two));
    story.hears(expired_ms, 2, "b")
}

#[test]
fn a_lease_that_ends_in_its_last_second_is_a_coarse_expiry() {
    let done = |story: Story, ms| story.releases(ms, 1).releases(99_000, 2);
    assert_eq!(overlap(done(on_memcached(10_100), 10_900)), Cause::CoarseExpiry);
    assert_eq!(overlap(done(on_memcached(9_000), 10_900)), Cause::Unexplained, "two seconds early");
    assert_eq!(
        overlap(done(on_memcached(10_100), 12_000)),
        Cause::HoldTooLong,
        "who stays beyond the whole lease was not hurt by its last second"
    );
    let fast = on_memcached(9_000).fault_began(2_000, 1, "clock-drift", &[Node::Server(1)]);
    assert_eq!(overlap(done(fast, 10_900)), Cause::ClockDrift);
}
