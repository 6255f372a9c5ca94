use crate::lock::{Acquisition, Check, Lease, Release, Settings};
use crate::testing::{Answer, Call, TestWorld, both, granted, normal, one, one_redis, settings};
use std::rc::Rc;
use std::time::Duration;

/// Unix time in milliseconds, 20 s before the test world starts.
const LONG_AGO: &str = "1699999980000";
const HELD: &str = "held by another";

fn one_attempt() -> Settings {
    Settings {
        acquire_timeout: Duration::ZERO,
        command_timeout: Duration::from_secs(60),
        ..settings()
    }
}

fn late_get(number: usize, late_ms: u64) -> impl FnMut(&Call<'_>) -> Answer {
    let mut gets = 0;
    move |call: &Call<'_>| {
        gets += usize::from(call.name() == "GET");
        if call.name() == "GET" && gets == number { Answer::Late(late_ms) } else { Answer::Normal }
    }
}

fn stale_world(mishaps: impl FnMut(&Call<'_>) -> Answer + 'static) -> Rc<TestWorld> {
    let world = TestWorld::new();
    world.serve("redis", mishaps);
    world.store("redis", |store| store.set("lock", LONG_AGO, None));
    world
}

#[test]
fn takes_by_setnx_and_releases_by_del() {
    let (world, mut lock) = one_redis("setnx-getset", normal);
    let lease = granted(world.run(lock.acquire("lock")));
    assert_eq!(world.run(lock.release(lease)), Release::Released);
    insta::assert_snapshot!(world.trace(), @r"
    0.000 redis #1 connect
    1.000 redis #1 < SETNX lock 1700000000000 > :1
    2.000 redis #1 < DEL lock > :1
    ");
}

#[test]
fn waits_while_the_lock_is_not_too_old() {
    let (world, mut lock) = one_redis("setnx-getset", normal);
    world.store("redis", |store| store.set("lock", "1699999992000", None));
    assert_eq!(world.run(lock.acquire("lock")), Acquisition::Refused(HELD.into()));
    assert_eq!(world.value("redis", "lock").as_deref(), Some("1699999992000"));
}

#[test]
fn one_of_two_waiters_takes_a_stale_lock_over_and_the_loser_overwrites_its_time() {
    let world = stale_world(late_get(2, 3));
    let mut winner = world.lock("setnx-getset-checked", &one(), &one_attempt());
    let mut loser = world.lock("setnx-getset-checked", &one(), &one_attempt());
    world.skew(0, 7);
    let (won, lost) = world.run(both(winner.acquire("lock"), async {
        world.env().sleep(Duration::from_millis(1)).await;
        loser.acquire("lock").await
    }));
    let won = granted(won);
    assert_eq!(lost, Acquisition::Refused(HELD.into()));
    insta::assert_snapshot!(world.trace(), @r"
    0.000 redis #1 connect
    1.000 redis #1 < SETNX lock 1700000000007
    1.000 redis #2 connect
    2.000 redis #2 < SETNX lock 1700000000008
    2.000 redis #1 > :0
    2.000 redis #1 < GET lock
    3.000 redis #2 > :0
    3.000 redis #2 < GET lock
    3.000 redis #1 > $13 1699999980000
    3.000 redis #1 < GETSET lock 1700000000007 > $13 1699999980000
    7.000 redis #2 > $13 1699999980000
    7.000 redis #2 < GETSET lock 1700000000008 > $13 1700000000007
    ");
    assert_eq!(
        world.run(winner.check(&won)),
        Check::NotHeld,
        "the holder's check fails though it holds the lock"
    );
    insta::assert_snapshot!(world.trace(), @r"
    8.000 redis #1 < GET lock > $13 1700000000008
    9.000 note LockLost
    ");
}

#[test]
fn a_loser_that_was_paused_sets_the_time_back_and_a_third_gets_in() {
    let (overlap, trace) = early_third("setnx-getset");
    assert!(overlap, "{trace}");
    insta::assert_snapshot!(trace, @r"
        0.000 redis #1 connect
        1.000 redis #1 < SETNX lock 1700000000000 > :0
        2.000 redis #1 < GET lock
     8900.000 redis #2 connect
     8901.000 redis #2 < SETNX lock 1700000008900 > :0
     8902.000 redis #2 < GET lock > $13 1699999980000
     8903.000 redis #2 < GETSET lock 1700000008900 > $13 1699999980000
     9003.000 redis #1 > $13 1699999980000
     9003.000 redis #1 < GETSET lock 1700000000000 > $13 1700000008900
    10104.000 redis #3 connect
    10105.000 redis #3 < SETNX lock 1700000010104 > :0
    10106.000 redis #3 < GET lock > $13 1700000000000
    10107.000 redis #3 < GETSET lock 1700000010104 > $13 1700000000000
    ");
}

#[test]
fn a_loser_that_writes_nothing_lets_no_third_in() {
    let (overlap, trace) = early_third("setnx-getset-owner");
    assert!(!overlap, "{trace}");
}

fn early_third(name: &str) -> (bool, String) {
    let world = stale_world(late_get(1, 9_000));
    let mut locks = [0, 1, 2].map(|_| world.lock(name, &one(), &one_attempt()));
    let [loser, winner, third] = &mut locks;
    let (lost, won) = world.run(both(loser.acquire("lock"), async {
        world.env().sleep(Duration::from_millis(8_900)).await;
        winner.acquire("lock").await
    }));
    granted(won);
    assert!(matches!(lost, Acquisition::Refused(_)), "{lost:?}");
    world.pass(1_100);
    let third = world.run(third.acquire("lock"));
    (matches!(third, Acquisition::Granted(_)), world.trace())
}

fn release_before_getset(name: &str) -> (Acquisition, Rc<TestWorld>) {
    let (world, mut holder) = one_redis(name, late_get(1, 2));
    let mut waiter = world.lock(name, &one(), &one_attempt());
    let lease = granted(world.run(holder.acquire("lock")));
    world.pass(10_100);
    let (waiting, released) = world.run(both(waiter.acquire("lock"), async {
        world.env().sleep(Duration::from_millis(3)).await;
        holder.release(lease).await
    }));
    assert_eq!(released, Release::Released);
    (waiting, world)
}

#[test]
fn getset_nil_is_taken_for_a_loss_and_nobody_holds_the_lock_until_it_is_too_old() {
    let (waiting, world) = release_before_getset("setnx-getset");
    assert_eq!(waiting, Acquisition::Refused(HELD.into()));
    insta::assert_snapshot!(world.trace(), @r"
        0.000 redis #1 connect
        1.000 redis #1 < SETNX lock 1700000000000 > :1
    10102.000 redis #2 connect
    10103.000 redis #2 < SETNX lock 1700000010102 > :0
    10104.000 redis #2 < GET lock
    10105.000 redis #1 < DEL lock > :1
    10107.000 redis #2 > $13 1700000000000
    10107.000 redis #2 < GETSET lock 1700000010102 > $-1
    10108.000 redis #2 close
    10108.000 redis #1 close
    ");
    let mut next = world.lock("setnx-getset", &one(), &one_attempt());
    world.pass(9_900);
    assert_eq!(world.run(next.acquire("lock")), Acquisition::Refused(HELD.into()));
    world.pass(200);
    granted(world.run(next.acquire("lock")));
}

#[test]
fn getset_nil_is_a_success_where_nil_is_taken_for_what_it_means() {
    let (waiting, _) = release_before_getset("setnx-getset-nil");
    granted(waiting);
}

#[test]
fn a_release_before_a_comparing_takeover_leaves_the_lock_free() {
    let (waiting, world) = release_before_getset("setnx-getset-owner");
    assert_eq!(waiting, Acquisition::Refused(HELD.into()));
    assert_eq!(world.value("redis", "lock"), None);
}

fn get_nil(name: &str) -> (Lease, String, Option<String>) {
    let (world, mut first) = one_redis(name, late_get(1, 3));
    let mut waiter = world.lock(name, &one(), &one_attempt());
    let mut second = world.lock(name, &one(), &one_attempt());
    let lease = granted(world.run(first.acquire("lock")));
    world.trace();
    let (waiting, (_, next)) = world.run(both(waiter.acquire("lock"), async {
        world.env().sleep(Duration::from_micros(1_500)).await;
        (first.release(lease).await, second.acquire("lock").await)
    }));
    assert!(matches!(waiting, Acquisition::Refused(_)), "{waiting:?}");
    (granted(next), world.trace(), world.value("redis", "lock"))
}

#[test]
fn get_nil_is_taken_for_a_timeout_and_the_time_of_a_new_holder_overwritten() {
    let (next, trace, value) = get_nil("setnx-getset");
    assert_ne!(value.unwrap().as_bytes(), next.owner);
    insta::assert_snapshot!(trace, @r"
    2.000 redis #2 connect
    3.000 redis #2 < SETNX lock 1700000000002
    3.500 redis #1 < DEL lock
    4.000 redis #2 > :0
    4.000 redis #2 < GET lock
    4.500 redis #1 > :1
    4.500 redis #3 connect
    5.500 redis #3 < SETNX lock 1700000000004 > :1
    8.000 redis #2 > $-1
    8.000 redis #2 < GETSET lock 1700000000002 > $13 1700000000004
    ");
}

#[test]
fn get_nil_leaves_a_new_holder_alone_where_nil_is_taken_for_what_it_means() {
    let (next, _, value) = get_nil("setnx-getset-nil");
    assert_eq!(value.unwrap().as_bytes(), next.owner);
}

fn fast_waiter(name: &str) -> (Acquisition, String) {
    let (world, mut holder) = one_redis(name, normal);
    world.skew(1, 11_000);
    let mut waiter = world.lock_on(1, name, &one(), &one_attempt());
    granted(world.run(holder.acquire("lock")));
    (world.run(waiter.acquire("lock")), world.trace())
}

#[test]
fn a_waiter_whose_clock_is_fast_takes_a_fresh_lock_over() {
    let (acquisition, trace) = fast_waiter("setnx-getset");
    granted(acquisition);
    insta::assert_snapshot!(trace, @r"
    0.000 redis #1 connect
    1.000 redis #1 < SETNX lock 1700000000000 > :1
    2.000 redis #2 connect
    3.000 redis #2 < SETNX lock 1700000011002 > :0
    4.000 redis #2 < GET lock > $13 1700000000000
    5.000 redis #2 < GETSET lock 1700000011002 > $13 1700000000000
    ");
}

#[test]
fn the_clock_of_the_server_is_the_same_for_all() {
    let (acquisition, trace) = fast_waiter("setnx-getset-server-time");
    assert_eq!(acquisition, Acquisition::Refused(HELD.into()));
    insta::assert_snapshot!(trace, @r"
    0.000 redis #1 connect
    1.000 redis #1 < TIME > *2 $10 1700000000 $4 1500
    2.000 redis #1 < SETNX lock 1700000000001 > :1
    3.000 redis #2 connect
    4.000 redis #2 < TIME > *2 $10 1700000000 $4 4500
    5.000 redis #2 < SETNX lock 1700000000004 > :0
    6.000 redis #2 < GET lock > $13 1700000000001
    ");
}

#[test]
fn an_overrun_removes_the_lock_of_the_next_holder() {
    for (name, left) in [("setnx-getset", false), ("setnx-getset-owner", true)] {
        let (world, mut first) = one_redis(name, normal);
        let mut second = world.lock(name, &one(), &one_attempt());
        let overrun = granted(world.run(first.acquire("lock")));
        world.pass(10_500);
        granted(world.run(second.acquire("lock")));
        world.run(first.release(overrun));
        assert_eq!(world.value("redis", "lock").is_some(), left, "{name}");
    }
}

#[test]
fn two_takers_within_one_second_are_told_apart_even_by_whole_seconds() {
    let world = stale_world(late_get(2, 3));
    world.store("redis", |store| store.set("lock", "1699999989", None));
    let mut locks = [0, 1].map(|_| world.lock("setnx-getset-seconds", &one(), &one_attempt()));
    let [first, second] = &mut locks;
    let (first, second) = world.run(both(first.acquire("lock"), second.acquire("lock")));
    granted(first);
    assert_eq!(second, Acquisition::Refused(HELD.into()));
    insta::assert_snapshot!(world.trace(), @r"
    0.000 redis #1 connect
    0.000 redis #2 connect
    1.000 redis #1 < SETNX lock 1700000000
    1.000 redis #2 < SETNX lock 1700000000
    2.000 redis #1 > :0
    2.000 redis #1 < GET lock
    2.000 redis #2 > :0
    2.000 redis #2 < GET lock
    3.000 redis #1 > $10 1699999989
    3.000 redis #1 < GETSET lock 1700000000 > $10 1699999989
    6.000 redis #2 > $10 1699999989
    6.000 redis #2 < GETSET lock 1700000000 > $10 1700000000
    ");
}

#[test]
fn two_acquisitions_within_one_second_look_the_same_to_the_check_by_whole_seconds() {
    for (name, check) in [("setnx-getset-seconds", Check::Ours), ("setnx-getset", Check::NotHeld)] {
        let (world, mut first) = one_redis(name, normal);
        let mut second = world.lock(name, &one(), &one_attempt());
        let lease = granted(world.run(first.acquire("lock")));
        world.store("redis", |store| store.clear());
        granted(world.run(second.acquire("lock")));
        assert_eq!(world.run(first.check(&lease)), check, "{name}");
    }
}
