use super::*;
use crate::record::story::KEY;

#[test]
fn a_holder_that_stood_still_across_the_end_of_its_lease_is_a_holder_pause() {
    for kind in ["pause", "suspend"] {
        let story = overrun(20).faulted(5..19, 1, kind, &[CLIENT]);
        assert_eq!(overlap(story), Cause::HolderPause);
    }
}

#[test]
fn a_pause_within_the_lease_that_pushed_the_holder_over_its_end_is_a_holder_pause() {
    let story = overrun(14).faulted(2..8, 1, "pause", &[CLIENT]);
    assert_eq!(overlap(story), Cause::HolderPause);
}

#[test]
fn a_short_pause_does_not_excuse_a_holder_who_would_have_overrun_anyway() {
    let story = overrun(30).faulted(2..3, 1, "pause", &[CLIENT]);
    assert_eq!(overlap(story), Cause::HoldTooLong);
}

#[test]
fn a_pause_of_a_process_is_one_of_each_of_its_threads() {
    let thread = CLIENT.for_thread(2);
    let story =
        Story::new().takes(1, thread, "a").expires(11, "a").takes(12, 2, "b").releases(20, thread);
    let paused = story.releases(99, 2).faulted(5..19, 1, "pause", &[CLIENT]);
    assert_eq!(overlap(paused), Cause::HolderPause);
}

#[test]
fn a_pause_of_somebody_else_does_not_count() {
    let story = overrun(20).faulted(5..6, 1, "pause", &[Node::Client(2)]);
    assert_eq!(overlap(story), Cause::HoldTooLong);
}

#[test]
fn a_holder_without_any_fault_held_too_long() {
    assert_eq!(overlap(overrun(20)), Cause::HoldTooLong);
}

#[test]
fn who_enters_though_no_server_granted_it_the_lock_has_it_from_the_locks_own_code() {
    let enters = |story: Story| {
        let story = story.hears(5, 2, "b").releases(7, 2).releases(8, 1).removed(8, "a", 1);
        overlap(story)
    };
    let asked = || Story::new().takes(1, 1, "a").acquires(2, 2);
    assert_eq!(enters(asked()), Cause::UnfoundedAnswer);
    assert_eq!(enters(asked().grants(4, 2, "b")), Cause::Interleaving, "a server let it in");
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

/// Returns the cause of an overlap at a server that counts leases in whole seconds. At 1 ms, client
/// 1 requests a lease of 10,000 ms and gets a lease of `given` ms. Client 2 gets the lock at 9.6 s.
fn coarse(given: u64, left: u64, how: impl FnOnce(Story) -> Story) -> Cause {
    let story = how(Story::new().ttl(10_000).takes(1, 1, "a")).takes(9_600, 2, "b");
    let story = story.with_recorded_leases_of(Micros::from_millis(given)).at_servers();
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
    let stays = coarse(10_600, 12_000, |story| story.expires(9_501, "a"));
    assert_eq!(stays, Cause::Unexplained, "the lease was not short");
    let stays = coarse(10_600, 12_000, |story| drifts(story).expires(9_501, "a"));
    assert_eq!(stays, Cause::HoldTooLong, "it stayed beyond the whole lease");
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
    let first = overlap(story(false).renewing());
    assert_eq!(first, Cause::MissedRenewal, "the first renewal came too late");
}

#[test]
fn a_lock_that_ran_out_in_a_pause_did_not_live_on_in_what_a_nested_acquire_put_there_later() {
    let story = |paused: bool| {
        let story = Story::new().takes(1, 1, "a=1").expires(11, "a=1");
        let story = story.acquires(16, 1).grants(17, 1, "a=1").hears(18, 1, "a=1");
        let story = story.leaves(19, 1).removed(20, "a=1", 1).left(20, 1);
        let story = story.takes(21, 2, "b=1").releases(30, 1).releases(31, 2);
        match paused {
            true => {
                let story = story.fault_began(2, 1, "pause", &[CLIENT]);
                story.fault_ended(15, 1, "pause", CLIENT)
            }
            false => story,
        }
    };
    assert_eq!(overlap(story(true)), Cause::HolderPause);
    assert_eq!(overlap(story(false)), Cause::HoldTooLong);
}

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
fn the_last_second_of_a_lease_did_not_matter_to_one_that_had_left_before() {
    let removes = |left_ms: u64, heard_ms: u64| {
        let story = Story::new().ttl(10_000).takes(1, 1, "a").leaves(left_ms, 1).info(heard_ms, 1);
        let story = story.expires(9_501, "a").takes(9_600, 2, "b").removed(9_700, "b", 1);
        let story = story.releases(11_000, 2);
        let short = story.with_recorded_leases_of(Micros::from_millis(9_500)).at_servers();
        cause(Kind::ForeignRelease, short)
    };
    assert_eq!(removes(2_000, 7_000), Cause::LostRelease, "the network held its release up");
    assert_eq!(removes(9_650, 9_800), Cause::CoarseExpiry, "it was in its section until then");
}

#[test]
fn a_waiter_whose_earlier_release_is_under_way_has_not_taken_over() {
    let removes = |arrived: bool| {
        let story = Story::new().ttl(100).takes(1, 1, "a").leaves(2, 1).info(4, 1);
        let story = if arrived { story.removed(5, "a", 1) } else { story.expires(5, "a") };
        let story = story.takes(6, 1, "c").leaves(7, 1).removed(8, "c", 1).left(9, 1);
        let story = story.takes(10, 2, "b").acquires(11, 1).removed(12, "b", 1).fails(13, 1);
        cause(Kind::ForeignRelease, story.releases(15, 2))
    };
    assert_eq!(removes(false), Cause::LostRelease);
    assert_eq!(removes(true), Cause::StaleTakeover, "all that it had sent had arrived");
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

#[test]
fn what_a_nested_acquire_puts_at_a_new_primary_is_not_the_lock_that_expired_at_the_old_one() {
    let story = Story::new().ttl(10).takes(1, 1, "a").replicated(1, 2, "a").acquires(2, 1);
    let story = story.expires(11, "a").removed_on_replica(11, 2, "a");
    let story = story.grants_at(20, 1, 2, "a").hears(21, 1, "a").leaves(22, 1);
    let story =
        story.removed_at(23, 2, "a", 1).left(24, 1).grants_at(25, 2, 2, "b").acquires(24, 2);
    let cause = overlap(story.hears(26, 2, "b").releases(30, 1).releases(31, 2));
    assert_eq!(cause, Cause::HoldTooLong);
}

#[test]
fn a_command_that_is_lost_while_the_holder_works_is_a_renewal() {
    let lost = |ms, client| {
        let nodes = [Node::Client(client), REDIS];
        let story = overrun(20).fault_began(ms, 1, "lost-request", &nodes);
        overlap(story.fault_ended(ms, 1, "lost-request", REDIS))
    };
    assert_eq!(lost(8, 1), Cause::MissedRenewal);
    assert_eq!(lost(8, 2), Cause::HoldTooLong, "of another process");
    assert_eq!(lost(14, 1), Cause::HoldTooLong, "after the lease");
}

#[test]
fn what_one_late_command_extends_is_not_renewed_by_itself() {
    let story = |times: &[u64]| {
        let story = Story::new().acquires(0, 3).info(1, 3).takes(2, 3, "c");
        let extends = |story: Story, ms: &u64| {
            story.server(*ms, 1, Change::Extended, "c", Some(Node::Client(3)))
        };
        let story = times.iter().fold(story, extends).releases(8, 3).removed(8, "c", 3);
        let story = story.takes(10, 1, "a").expires(20, "a").takes(24, 2, "b");
        overlap(story.releases(40, 1).releases(41, 2))
    };
    assert_eq!(story(&[4]), Cause::HoldTooLong);
    assert_eq!(story(&[4, 6]), Cause::MissedRenewal);
}

#[test]
fn an_extension_without_an_answer_is_a_missed_renewal() {
    let extends = |ms: u64, answered: bool, client: u16| {
        let story = overrun(20).extends(ms, client);
        overlap(if answered { story.left(ms + 1, client) } else { story.info(ms + 1, client) })
    };
    assert_eq!(extends(8, false, 1), Cause::MissedRenewal);
    assert_eq!(extends(8, true, 1), Cause::HoldTooLong, "the lock answered that it had extended");
    assert_eq!(extends(8, false, 3), Cause::HoldTooLong, "of another process");
    assert_eq!(extends(14, false, 1), Cause::HoldTooLong, "after the lease");
}

#[test]
fn a_lock_that_a_renewal_writes_again_is_renewed_by_itself() {
    let story = |value: &str, answered: bool| {
        let story = Story::new().takes(1, 3, "c").expires(4, "c");
        let story = if answered { story } else { story.acquires(4, 3).info(5, 3) };
        let story = story.server(6, 1, Change::Granted, value, Some(Node::Client(3)));
        let story = story.releases(8, 3).removed(8, value, 3).takes(10, 1, "a");
        let story = story.fault_began(12, 1, "clock-jump", &[REDIS]).expires(13, "a");
        let story = story.fault_ended(12, 1, "clock-jump", REDIS).takes(24, 2, "b");
        overlap(story.releases(40, 1).releases(41, 2))
    };
    assert_eq!(story("c", true), Cause::ClockJump, "a renewal would have kept the lock");
    assert_eq!(story("c", false), Cause::HoldTooLong, "it may be a late acquire");
    assert_eq!(story("d", true), Cause::HoldTooLong, "the process never had that value");
}

#[test]
fn a_renewed_lease_that_a_stepped_clock_ended_was_not_missed_by_its_renewals() {
    let story = |stepped: bool| {
        let story = Story::new().takes(1, 3, "c");
        let story = story.server(4, 1, Change::Extended, "c", Some(Node::Client(3)));
        let story = story.releases(8, 3).removed(8, "c", 3).takes(10, 1, "a");
        let story = match stepped {
            true => story.faulted(12..12, 1, "clock-jump", &[REDIS]).expires(13, "a"),
            false => story.expires(20, "a"),
        };
        overlap(story.takes(24, 2, "b").releases(40, 1).releases(41, 2))
    };
    assert_eq!([story(true), story(false)], [Cause::ClockJump, Cause::MissedRenewal]);
}

#[test]
fn a_pause_in_the_middle_of_an_acquire_uses_up_the_lease_that_began_before_it() {
    let row = |story: Story, ms, client, value: &str, lease_ms| {
        let (key, value) = (KEY.to_owned(), Some(value.to_owned()));
        let lease_us = Some(Micros::from_millis(lease_ms));
        let (change, by, primary) = (Change::Granted, Some(Node::Client(client)), true);
        let what = What::Server { key, change, value, by, primary, token: None, lease_us };
        story.event(ms, Node::Server(1), what)
    };
    let story = |paused, lease_ms| {
        let story = Story::kept_as(Keeping::RowByServer).ttl(10_000).acquires(1, 1);
        let story = story.fault_began(100, 1, "pause", &[Node::Client(paused)]).acquires(200, 2);
        let story = story.fault_ended(20_000, 1, "pause", Node::Client(paused));
        let story = row(story, 20_001, 1, "a", lease_ms).hears(20_002, 1, "a");
        let story = row(story, 20_003, 2, "b", 10_000).hears(20_004, 2, "b");
        story.releases(20_010, 1).releases(20_020, 2)
    };
    assert_eq!(overlap(story(1, 0)), Cause::HolderPause);
    assert_eq!(overlap(story(2, 0)), Cause::Unexplained, "another process was paused");
    assert_eq!(overlap(story(1, 10_000)), Cause::Unexplained, "the lease began after the pause");
    let judgement = judge(&story(1, 0).build());
    let told = &judgement.violations[0];
    let said = "client-1 was paused from 100ms to 20s; its 10s lease expired during the pause.";
    assert!(told.summary.ends_with(said), "{}", told.summary);
    let granted = "server-1 grants the lock to client-1, whose lease is already over.";
    assert_eq!(told.narrative[0].text, granted);
}

#[test]
fn a_restart_decides_nothing_if_the_paused_holder_could_not_renew_before_its_lease_ended() {
    let story = |resumed: u64| {
        let story = Story::new().takes(1, 1, "a").server(3, 1, Change::Extended, "a", Some(CLIENT));
        let story = story.fault_began(4, 1, "suspend", &[CLIENT]);
        let story = story.redis_crashes(6, 1).redis_starts(6, 1);
        let story = story.server(6, 1, Change::Forgotten, "a", None);
        let story = story.fault_ended(resumed, 1, "suspend", CLIENT).takes(21, 2, "b");
        overlap(story.releases(30, 1).releases(31, 2))
    };
    assert_eq!(story(20), Cause::HolderPause);
    assert_eq!(story(8), Cause::RestartWithoutDelay, "it could have renewed from 8 to 13");
}

#[test]
fn an_application_that_takes_its_lost_lock_again_by_an_extension_holds_it_again() {
    let story = |again: bool, change: Change| {
        let story = Story::new().takes(1, 1, "a").server(7, 1, Change::Evicted, "a", None);
        let story = match again {
            true => story.server(8, 1, Change::Granted, "a", Some(CLIENT)),
            false => story,
        };
        let story = story.server(13, 1, change, "a", None).takes(14, 2, "b");
        overlap(story.releases(16, 1).releases(17, 2))
    };
    assert_eq!(story(true, Change::Flushed), Cause::Flush);
    assert_eq!(story(true, Change::Evicted), Cause::Eviction);
    assert_eq!(story(false, Change::Flushed), Cause::HoldTooLong, "its lease had expired");
}

#[test]
fn a_row_whose_request_was_in_transit_has_a_shorter_lease() {
    let story = |invoked_ms: u64| {
        let story = Story::kept_as(Keeping::RowByClients).ttl(10_000).acquires(invoked_ms, 1);
        let story = story.grants(1_000, 1, "a").hears(1_001, 1, "a");
        let story = story.faulted(2_000..12_000, 1, "pause", &[CLIENT]).takes(10_800, 2, "b");
        let story = story.with_recorded_leases_of(Micros::from_millis(9_700)).at_servers();
        overlap(story.releases(12_100, 1).releases(12_200, 2))
    };
    assert_eq!(story(600), Cause::HolderPause);
    assert_ne!(story(999), Cause::HolderPause, "the request was not in transit for 300ms");
}

#[test]
fn fewer_masters_than_a_quorum_that_kept_an_earlier_lock_grant_nothing() {
    let story = |kept_ms: u64| {
        let mut story = Story::with_quorum(2);
        for redis in [1, 2] {
            story = story.grants_at(1, 1, redis, "a");
        }
        for redis in [1, 2] {
            story = story.server(kept_ms, redis, Change::Expired, "a", None);
        }
        story.acquires(10, 1).grants_at(11, 1, 3, "a").hears(12, 1, "a").build()
    };
    let is_granted = |kept_ms: u64| {
        let history = story(kept_ms);
        Timeline::new(&history).acquisitions.iter().any(|one| one.grant.is_some())
    };
    assert!(is_granted(11), "two masters had the lock during the acquire");
    assert!(!is_granted(9), "their locks had ended before the acquire");
}

#[test]
fn a_nested_acquire_and_its_release_do_not_bring_an_evicted_lock_back() {
    let by = Some(CLIENT);
    let story = || {
        let story = Story::new().ttl(100).takes(1, 1, "a=1");
        let story = story.server(5, 1, Change::Evicted, "a=1", None);
        let story = story.acquires(6, 1).server(7, 1, Change::Granted, "a=1", by);
        let story = story.hears(8, 1, "a=1").leaves(9, 1);
        let story = story.server(10, 1, Change::Granted, "a=0", by).removed(10, "a=0", 1);
        let story = story.left(11, 1).takes(12, 2, "b=1");
        overlap(story.releases(14, 1).releases(15, 2))
    };
    assert_eq!(story(), Cause::Eviction);
}

#[test]
fn a_clock_that_ends_a_lease_a_little_early_is_harmless_if_the_holder_was_paused_beyond_it() {
    let paused = |until_ms: u64, left_ms: u64| {
        let story = Story::new().takes(1, 1, "a").fault_began(2, 1, "clock-drift", &[REDIS]);
        let story = story.fault_began(3, 2, "pause", &[CLIENT]).expires(7, "a").takes(8, 2, "b");
        let story = story.fault_ended(until_ms, 2, "pause", CLIENT);
        overlap(story.releases(left_ms, 1).releases(15, 2))
    };
    assert_eq!(paused(13, 14), Cause::HolderPause, "the lease would have ended during the pause");
    assert_eq!(paused(9, 10), Cause::ClockDrift, "the pause ended before the lease");
    assert_eq!(paused(9, 14), Cause::HolderPause, "the pause kept the holder beyond the lease");
}

#[test]
fn a_lease_that_ends_by_the_time_in_the_value_counts_from_the_reading_of_the_clock() {
    // The clocks show 1,767,225,600,000 ms plus the time of the run. The acquire takes 100 ms.
    let story = |unix_ms: u64, replaced: u64| {
        let story = Story::new().ttl(10_000).takes(1, 3, "1767225600001:c");
        let story = story.releases(5, 3).removed(5, "1767225600001:c", 3).acquires(3_001, 1);
        let value = format!("{unix_ms}:a");
        let story = story.grants(3_101, 1, &value).hears(3_150, 1, &value).acquires(3_200, 2);
        let story = story.takes(replaced, 2, "1767225613040:b");
        story.releases(14_000, 1).releases(14_001, 2)
    };
    let replaced = |unix_ms, replaced| overlap(story(unix_ms, replaced));
    assert_eq!(replaced(1_767_225_603_001, 13_050), Cause::HoldTooLong);
    assert_eq!(replaced(1_767_225_603_001, 12_900), Cause::Interleaving, "before its end");
    assert_eq!(replaced(1_767_225_603_090, 13_050), Cause::Interleaving, "read later");
    assert_eq!(replaced(1_767_225_603, 13_050), Cause::Interleaving, "whole seconds end later");
    let stepped = story(1_767_225_603_001, 13_050).fault_began(2, 1, "clock-jump", &[CLIENT]);
    assert_eq!(overlap(stepped), Cause::ClockJump);
}

#[test]
fn a_clock_at_the_wrong_rate_excuses_no_holder_that_left_in_time() {
    let story = |left: u64| {
        let story = Story::new().acquires(1, 1).fault_began(1, 1, "clock-drift", &[CLIENT]);
        let story = story.grants(1, 1, "1").hears_validity(1, 1, "1", 12);
        let story = if left < 11 { story.leaves(left, 1) } else { story };
        let story = story.expires(11, "1").takes(12, 2, "1");
        let story = if left < 11 { story } else { story.leaves(left, 1) };
        cause(Kind::ForeignRelease, story.removed(14, "1", 1).left(15, 1).releases(16, 2))
    };
    assert_eq!(story(5), Cause::LostRelease);
    assert_eq!(story(13), Cause::ClockDrift);
}

#[test]
fn a_holder_that_works_for_too_long_may_have_been_paused_too() {
    let story = |paused: bool| {
        let story = Story::new().ttl(900).held_bound(10).takes(1, 1, "a");
        let story = match paused {
            true => story.faulted(3..5, 1, "pause", &[Node::Client(1)]),
            false => story,
        };
        let judgement = judge(&story.releases(30, 1).build());
        let mut violations = judgement.violations.into_iter();
        violations.find(|one| one.kind == Kind::HeldForever).expect("held too long").summary
    };
    let said = "The holder worked for 27ms, and was paused for 2ms.";
    assert!(story(true).ends_with(said), "{}", story(true));
    assert!(!story(false).contains("paused"));
}
