use super::rlock::latch_ttl;
use super::script::RELEASE;
use crate::lock::{Acquisition, Lock, Release, Servers, Settings};
use crate::reply::Reply;
use crate::testing::{
    Answer, Call, TestWorld, both, five, granted, normal, once, one, one_redis, sentinels, settings,
};
use std::rc::Rc;
use std::time::Duration;

const UNLOCKED: &str = "*3\r\n$7\r\nmessage\r\n$29\r\nredisson_lock__channel:{lock}\r\n$1\r\n0\r\n";

fn patient(seconds: u64) -> Settings {
    Settings { acquire_timeout: Duration::from_secs(seconds), ..settings() }
}

#[test]
fn a_holder_takes_it_again_and_only_its_last_release_frees_it() {
    let (world, mut lock) = one_redis("redisson-lease", normal);
    let outer = granted(world.run(lock.acquire("lock")));
    let inner = granted(world.run(lock.acquire("lock")));
    assert_eq!(world.run(lock.release(inner)), Release::Released);
    assert!(world.value("redis", "lock").is_some());
    assert_eq!(world.run(lock.release(outer)), Release::Released);
    assert_eq!(world.value("redis", "lock"), None);
    insta::assert_snapshot!(world.trace(), @r"
    0.000 redis #1 connect
    1.000 redis #1 < EVALSHA [sha of hold-once-more] 1 lock 10000 owner-1:1
    2.000 redis #1 > -NOSCRIPT No matching script. Please use EVAL.
    2.000 redis #1 < EVAL [hold-once-more] 1 lock 10000 owner-1:1 > $-1
    3.000 redis #1 < EVALSHA [sha of hold-once-more] 1 lock 10000 owner-1:1 > $-1
    4.000 redis #1 < EVALSHA [sha of hold-once-less] 3 lock redisson_lock__channel:{lock} redisson_unlock_latch:{lock}:owner-2 0 10000 owner-1:1 2800
    5.000 redis #1 > -NOSCRIPT No matching script. Please use EVAL.
    5.000 redis #1 < EVAL [hold-once-less] 3 lock redisson_lock__channel:{lock} redisson_unlock_latch:{lock}:owner-2 0 10000 owner-1:1 2800
    6.000 redis #1 > :0
    6.000 redis #1 < EVALSHA [sha of hold-once-less] 3 lock redisson_lock__channel:{lock} redisson_unlock_latch:{lock}:owner-3 0 10000 owner-1:1 2800
    6.000 redis #2 connect
    7.000 redis #2 < DEL redisson_unlock_latch:{lock}:owner-2
    7.000 redis #1 > :1
    ");
}

#[test]
fn the_watchdog_renews_every_third_until_the_outermost_release() {
    let (world, mut lock) = one_redis("redisson", normal);
    let outer = granted(world.run(lock.acquire("lock")));
    let inner = granted(world.run(lock.acquire("lock")));
    assert_eq!(world.run(lock.release(inner)), Release::Released);
    world.trace();
    world.pass(7_000);
    assert_eq!(world.run(lock.release(outer)), Release::Released);
    world.pass(20_000);
    insta::assert_snapshot!(world.trace(), @r"
       6.000 redis #2 connect
       7.000 redis #2 < DEL redisson_unlock_latch:{lock}:owner-1 > :1
    3336.333 redis #3 connect
    3337.333 redis #3 < EVALSHA [sha of renew] 1 lock 10000 owner-2:1
    3338.333 redis #3 > -NOSCRIPT No matching script. Please use EVAL.
    3338.333 redis #3 < EVAL [renew] 1 lock 10000 owner-2:1 > :1
    6672.666 redis #3 < EVALSHA [sha of renew] 1 lock 10000 owner-2:1 > :1
    7006.000 redis #1 < EVALSHA [sha of hold-once-less] 3 lock redisson_lock__channel:{lock} redisson_unlock_latch:{lock}:owner-3 0 10000 owner-2:1 2800
    7007.000 redis #1 > :1
    7007.000 redis #3 close
    7007.000 redis #2 < DEL redisson_unlock_latch:{lock}:owner-3 > :1
    ");
    assert_eq!(world.pending_timers(), 0);
}

#[test]
fn an_overrun_keeps_others_out_only_if_a_watchdog_renews() {
    for (name, refused) in [("redisson", true), ("redisson-lease", false)] {
        let (world, mut lock) = one_redis(name, normal);
        let mut other = world.lock(name, &one(), &settings());
        granted(world.run(lock.acquire("lock")));
        world.pass(15_000);
        assert_eq!(
            matches!(world.run(other.acquire("lock")), Acquisition::Refused(_)),
            refused,
            "{name}"
        );
    }
}

#[test]
fn the_watchdog_of_a_lost_lock_stops_and_tells_nobody() {
    let (world, mut lock) = one_redis("redisson", normal);
    let lease = granted(world.run(lock.acquire("lock")));
    world.store("redis", |store| store.set("lock", "another=1", None));
    world.pass(20_000);
    let trace = world.trace();
    assert!(!trace.contains("LockLost"), "{trace}");
    assert_eq!(trace.matches("[sha of renew]").count(), 1, "{trace}");
    assert_eq!(world.run(lock.release(lease)), Release::NotHeld);
}

#[test]
fn a_release_that_arrives_twice_counts_once() {
    let (world, mut lock) = one_redis("redisson-lease", normal);
    let outer = granted(world.run(lock.acquire("lock")));
    granted(world.run(lock.acquire("lock")));
    let Servers::One(address) = one() else { panic!("one server") };
    let twice = |latch: &str| {
        let mut session = crate::Session::fixed(&world.env(), &address, settings().ttl);
        let keys = [&b"lock"[..], b"channel", latch.as_bytes()];
        let arguments = [&b"0"[..], b"10000", outer.owner.strip_suffix(b"=1").unwrap(), b"2800"];
        let mut call = || world.run(RELEASE.call(&mut session, &keys, &arguments));
        [call(), call()]
    };
    assert_eq!(twice("first"), [Ok(Reply::Integer(0)), Ok(Reply::Integer(0))]);
    assert_eq!(twice("second"), [Ok(Reply::Integer(1)), Ok(Reply::Integer(1))]);
}

#[test]
fn a_latch_lives_for_at_least_a_millisecond() {
    let none = Duration::ZERO..=Duration::ZERO;
    let quick = Settings { command_timeout: Duration::from_micros(200), retry: none, ..settings() };
    assert_eq!(latch_ttl(&quick), Duration::from_millis(1));
}

#[test]
fn a_waiter_is_woken_by_the_message() {
    let (world, mut lock) = one_redis("redisson-lease", normal);
    let mut other = world.lock("redisson-lease", &one(), &patient(9));
    let lease = granted(world.run(lock.acquire("lock")));
    world.trace();
    let release = async {
        world.env().sleep(Duration::from_millis(500)).await;
        let released = lock.release(lease).await;
        world.publish("redis", UNLOCKED);
        released
    };
    let (acquired, released) = world.run(both(other.acquire("lock"), release));
    assert_eq!(released, Release::Released);
    granted(acquired);
    let waited_ms = world.now() / 1_000;
    assert!((500..520).contains(&waited_ms), "{waited_ms} ms");
    let trace = world.trace();
    assert!(trace.contains("SUBSCRIBE redisson_lock__channel:{lock}"), "{trace}");
    assert_eq!(
        trace.matches("hold-once-more").count(),
        3,
        "asked when it came, after subscribing and after the message: {trace}"
    );
}

#[test]
fn a_waiter_whose_message_is_lost_gets_in_when_the_lock_has_expired() {
    let (world, mut lock) = one_redis("redisson-lease", normal);
    let mut other = world.lock("redisson-lease", &one(), &patient(20));
    let lease = granted(world.run(lock.acquire("lock")));
    let release = async {
        world.env().sleep(Duration::from_millis(500)).await;
        lock.release(lease).await
    };
    world.run(both(async { granted(other.acquire("lock").await) }, release));
    let waited_ms = world.now() / 1_000;
    assert!((10_000..10_020).contains(&waited_ms), "{waited_ms} ms");
}

#[test]
fn a_waiter_that_cannot_subscribe_is_refused_at_the_end_of_its_wait() {
    let dark = |call: &Call<'_>| {
        if call.name() == "SUBSCRIBE" { Answer::ResetBefore } else { Answer::Normal }
    };
    let (world, mut lock) = one_redis("redisson-lease", dark);
    let mut other = world.lock("redisson-lease", &one(), &patient(20));
    granted(world.run(lock.acquire("lock")));
    let refused = world.run(other.acquire("lock"));
    assert_eq!(refused, Acquisition::Refused("held by another".into()));
    let waited_ms = world.now() / 1_000;
    assert!((20_000..20_020).contains(&waited_ms), "{waited_ms} ms");
}

#[test]
fn a_waiter_whose_subscription_breaks_subscribes_again() {
    let (world, mut lock) = one_redis("redisson-lease", once("SUBSCRIBE", Answer::ResetAfter));
    let mut other = world.lock("redisson-lease", &one(), &patient(9));
    let lease = granted(world.run(lock.acquire("lock")));
    let release = async {
        world.env().sleep(Duration::from_millis(500)).await;
        let released = lock.release(lease).await;
        world.publish("redis", UNLOCKED);
        released
    };
    let (acquired, _) = world.run(both(other.acquire("lock"), release));
    granted(acquired);
    assert!(world.now() < 600_000, "{}", world.trace());
}

#[test]
fn an_acquire_whose_reply_was_lost_is_unknown_and_is_taken_up_by_the_next() {
    let (world, mut lock) = one_redis("redisson-lease", once("EVAL", Answer::Lost));
    assert!(matches!(world.run(lock.acquire("lock")), Acquisition::Unknown(_)));
    let lease = granted(world.run(lock.acquire("lock")));
    assert_eq!(world.run(lock.release(lease)), Release::Released);
    assert!(world.value("redis", "lock").unwrap().ends_with("=1"));
}

#[test]
fn a_waiter_whose_acquire_loses_its_reply_is_refused_although_it_has_the_lock() {
    let mut acquires = 0;
    let (world, mut lock) = one_redis("redisson-lease", move |call: &Call<'_>| {
        acquires += usize::from(call.name() == "EVALSHA");
        // The holder sends the first acquire. The waiter sends two before it waits.
        if acquires == 4 { Answer::Lost } else { Answer::Normal }
    });
    let mut other = world.lock("redisson-lease", &one(), &patient(20));
    granted(world.run(lock.acquire("lock")));
    let refused = world.run(other.acquire("lock"));
    assert_eq!(refused, Acquisition::Refused("no reply within 500 ms".into()));
    assert!(world.now() < 11_000_000, "the other 9 s of the wait are lost");
    assert!(world.value("redis", "lock").is_some(), "{}", world.trace());
}

#[test]
fn a_waiter_whose_connection_breaks_is_refused_at_the_timeout_of_the_reply() {
    let mut acquires = 0;
    let (world, mut lock) = one_redis("redisson-lease", move |call: &Call<'_>| {
        acquires += usize::from(call.name() == "EVALSHA");
        if acquires == 4 { Answer::ResetAfter } else { Answer::Normal }
    });
    let mut other = world.lock("redisson-lease", &one(), &patient(20));
    granted(world.run(lock.acquire("lock")));
    assert!(matches!(world.run(other.acquire("lock")), Acquisition::Refused(_)));
    let refused_ms = world.now() / 1_000;
    assert!((10_500..10_520).contains(&refused_ms), "{refused_ms} ms");
    assert!(world.value("redis", "lock").is_some(), "{}", world.trace());
}

#[test]
fn a_waiter_that_is_interrupted_after_a_reset_does_not_know_the_outcome() {
    let mut acquires = 0;
    let (world, mut lock) = one_redis("redisson-lease", move |call: &Call<'_>| {
        acquires += usize::from(call.name() == "EVALSHA");
        if acquires == 4 { Answer::ResetAfter } else { Answer::Normal }
    });
    granted(world.run(lock.acquire("lock")));
    let env = world.env();
    let mut other = (super::LEASE.build)(env.clone(), &one(), &patient(20));
    let outcome = world.run(async {
        let mut acquire = std::pin::pin!(other.acquire("lock"));
        // The connection breaks after 10 s.
        let still_waits = env.timeout(Duration::from_millis(10_200), &mut acquire).await;
        assert_eq!(still_waits, None);
        env.interrupting(acquire.as_mut()).await
    });
    assert!(matches!(outcome, Acquisition::Unknown(_)), "{outcome:?}");
    assert!(world.value("redis", "lock").is_some(), "{}", world.trace());
}

#[test]
fn a_waiter_of_the_fair_lock_that_is_refused_leaves_the_queue() {
    let mut scripts = 0;
    let (world, _) = one_redis("redisson-fair", move |call: &Call<'_>| {
        scripts += usize::from(call.name() == "EVALSHA");
        match (call.name(), scripts) {
            ("EVALSHA", 1 | 2) => Answer::Says(":9000\r\n"),
            ("EVALSHA", 3) => Answer::Lost,
            ("EVALSHA", _) => Answer::Says(":1\r\n"),
            _ => Answer::Normal,
        }
    });
    let mut lock = world.lock("redisson-fair", &one(), &patient(20));
    let refused = world.run(lock.acquire("lock"));
    assert_eq!(refused, Acquisition::Refused("no reply within 500 ms".into()));
    let trace = world.trace();
    let leave = " 2 redisson_lock_queue:{lock} redisson_lock_timeout:{lock} ";
    assert_eq!(trace.matches(leave).count(), 1, "{trace}");
}

#[test]
fn a_failed_renewal_is_repeated_before_the_next_third() {
    let (world, mut lock) = one_redis("redisson", normal);
    granted(world.run(lock.acquire("lock")));
    let mut renewals = 0;
    world.serve("redis", move |call: &Call<'_>| {
        let is_renewal = call.name() == "EVALSHA";
        renewals += usize::from(is_renewal);
        if is_renewal && renewals <= 3 { Answer::ResetBefore } else { Answer::Normal }
    });
    world.pass(12_000);
    assert!(world.value("redis", "lock").is_some(), "{}", world.trace());
}

#[test]
fn the_watchdog_of_a_lost_lock_starts_again_with_the_next_acquire() {
    let (world, mut lock) = one_redis("redisson", normal);
    granted(world.run(lock.acquire("lock")));
    world.store("redis", |store| store.set("lock", "another=1", Some(3_400)));
    world.pass(4_000);
    granted(world.run(lock.acquire("lock")));
    world.pass(15_000);
    assert!(world.value("redis", "lock").is_some(), "{}", world.trace());
}

#[test]
fn red_lock_without_a_majority_is_refused_even_if_a_release_was_lost() {
    let world = TestWorld::new();
    let mut scripts = 0;
    world.serve("m1", move |call: &Call<'_>| {
        scripts += usize::from(call.name() == "EVALSHA");
        if scripts > 1 { Answer::Dropped } else { Answer::Normal }
    });
    world.serve("m2", normal);
    for master in ["m3", "m4", "m5"] {
        world.serve(master, |_| Answer::Dropped);
    }
    let mut lock = world.lock("redisson-redlock", &five(), &settings());
    let refused = world.run(lock.acquire("lock"));
    assert_eq!(refused, Acquisition::Refused("no majority in time".into()));
    assert!(world.value("m1", "lock").is_some(), "{}", world.trace());
}

#[test]
fn a_majority_is_given_its_lease_afterwards() {
    let world = TestWorld::new();
    for master in ["m1", "m2", "m3", "m4"] {
        world.serve(master, normal);
    }
    world.serve("m5", |_| Answer::Dropped);
    let mut lock = world.lock("redisson-redlock", &five(), &settings());
    let lease = granted(world.run(lock.acquire("lock")));
    let taken_at = world.now();
    world.pass(9_000);
    assert!(world.value("m1", "lock").is_some());
    world.pass(1_100);
    assert_eq!(world.value("m1", "lock"), None, "{taken_at}");
    assert_eq!(world.run(lock.release(lease)), Release::Released);
}

#[test]
fn threads_of_one_process_have_its_uuid_and_their_own_numbers_and_exclude_each_other() {
    let (world, mut first) = one_redis("redisson", normal);
    let mut second = first.for_thread(world.env().for_thread(2)).unwrap();
    let held = granted(world.run(first.acquire("lock")));
    assert!(matches!(world.run(second.acquire("lock")), Acquisition::Refused(_)));
    assert_eq!(world.run(first.release(held.clone())), Release::Released);
    let theirs = granted(world.run(second.acquire("lock")));
    let text = |owner: &[u8]| String::from_utf8_lossy(owner).into_owned();
    assert_eq!(text(&theirs.owner), text(&held.owner).replace(":1=1", ":2=1"));
    assert_eq!(
        world.run(first.release(held)),
        Release::NotHeld,
        "a thread gives back what is its own only"
    );
    assert_eq!(world.run(second.release(theirs)), Release::Released);
}

#[test]
fn a_release_of_red_lock_never_reports_a_failure() {
    let world = TestWorld::new();
    for master in ["m1", "m2", "m3", "m4", "m5"] {
        world.serve(master, normal);
    }
    let mut lock = world.lock("redisson-redlock", &five(), &settings());
    let lease = granted(world.run(lock.acquire("lock")));
    for master in ["m1", "m2", "m3", "m4", "m5"] {
        world.serve(master, |_| Answer::Dropped);
    }
    assert_eq!(world.run(lock.release(lease)), Release::Released);
    assert!(world.value("m1", "lock").is_some());
}

fn replicated(
    info: &'static str,
    mut mishaps: impl FnMut(&Call<'_>) -> Answer + 'static,
) -> (Rc<TestWorld>, Box<dyn Lock>) {
    let world = TestWorld::new();
    for sentinel in ["s1", "s2"] {
        let primary = "*2\r\n$5\r\nredis\r\n$4\r\n6379\r\n";
        world.serve(sentinel, move |call| match call.name() {
            "SENTINEL" => Answer::Says(primary),
            _ => Answer::Normal,
        });
    }
    world.serve("redis", move |call| match (call.name(), mishaps(call)) {
        ("INFO", _) => Answer::Says(info),
        (_, answer) => answer,
    });
    let lock = world.lock("redisson-wait", &sentinels(), &patient(20));
    (world, lock)
}

const NO_REPLICA: &str = "$20\r\nconnected_slaves:0\r\n\r\n";
const TWO_REPLICAS: &str = "$20\r\nconnected_slaves:2\r\n\r\n";

#[test]
fn wait_asks_for_all_connected_replicas_and_is_content_with_one() {
    let (world, mut lock) = replicated(TWO_REPLICAS, |call| match call.name() {
        "WAIT" => Answer::Says(":1\r\n"),
        _ => Answer::Normal,
    });
    let lease = granted(world.run(lock.acquire("lock")));
    assert_eq!(world.run(lock.release(lease)), Release::Released);
    let trace = world.trace();
    let counts = ["INFO ALL", "WAIT 2 166"].map(|words| trace.matches(words).count());
    assert_eq!(counts, [2, 2], "{trace}");
}

#[test]
fn a_client_that_found_no_replica_never_waits_for_one() {
    let (world, mut lock) = replicated(NO_REPLICA, normal);
    for _ in 0..2 {
        let lease = granted(world.run(lock.acquire("lock")));
        assert_eq!(world.run(lock.release(lease)), Release::Released);
    }
    let trace = world.trace();
    assert_eq!((trace.matches("INFO ALL").count(), trace.contains("WAIT")), (1, false), "{trace}");
}

#[test]
fn a_lock_that_no_replica_acknowledges_is_released_and_the_outcome_is_unknown() {
    let (world, mut lock) = replicated(TWO_REPLICAS, |call| match call.name() {
        "WAIT" => Answer::Says(":0\r\n"),
        _ => Answer::Normal,
    });
    assert!(matches!(world.run(lock.acquire("lock")), Acquisition::Unknown(_)));
    assert_eq!(world.value("redis", "lock"), None);
    assert_eq!(world.trace().matches("WAIT 2").count(), 10);
}

#[test]
fn an_acquire_in_a_batch_is_sent_again_and_counts_twice() {
    let (world, mut lock) = replicated(TWO_REPLICAS, {
        let mut lost = once("EVAL", Answer::Lost);
        move |call| match call.name() {
            "WAIT" => Answer::Says(":2\r\n"),
            _ => lost(call),
        }
    });
    let lease = granted(world.run(lock.acquire("lock")));
    assert!(world.value("redis", "lock").unwrap().ends_with("=2"));
    assert_eq!(world.run(lock.release(lease)), Release::Released);
    assert!(world.value("redis", "lock").unwrap().ends_with("=1"));
    world.pass(12_000);
    assert_eq!(world.value("redis", "lock"), None, "no watchdog renews what is left");
}
