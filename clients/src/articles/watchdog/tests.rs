use crate::lock::{Acquisition, Release};
use crate::testing::{Answer, Call, granted, normal, one, one_redis, settings};

fn dark_after_grant(call: &Call<'_>) -> Answer {
    if call.words.iter().any(|word| word.contains("pexpire")) || call.name() == "EVALSHA" {
        Answer::Dropped
    } else {
        Answer::Normal
    }
}

#[test]
fn renews_every_third_of_the_ttl_and_stops_at_the_release() {
    let (world, mut lock) = one_redis("watchdog", normal);
    let lease = granted(world.run(lock.acquire("lock")));
    world.pass(12_000);
    assert_eq!(world.run(lock.release(lease)), Release::Released);
    world.pass(20_000);
    insta::assert_snapshot!(world.trace(), @r"
        0.000 redis #1 connect
        1.000 redis #1 < SET lock owner-1 NX PX 10000 > +OK
     3335.333 redis #2 connect
     3336.333 redis #2 < EVALSHA [sha of extend-if-owned] 1 lock owner-1 10000
     3337.333 redis #2 > -NOSCRIPT No matching script. Please use EVAL.
     3337.333 redis #2 < EVAL [extend-if-owned] 1 lock owner-1 10000 > :1
     6671.666 redis #2 < EVALSHA [sha of extend-if-owned] 1 lock owner-1 10000 > :1
    10005.999 redis #2 < EVALSHA [sha of extend-if-owned] 1 lock owner-1 10000 > :1
    12002.000 redis #2 close
    12002.000 redis #1 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    12003.000 redis #1 > -NOSCRIPT No matching script. Please use EVAL.
    12003.000 redis #1 < EVAL [compare-and-delete] 1 lock owner-1 > :1
    ");
    assert_eq!(world.pending_timers(), 0);
}

#[test]
fn an_overrun_keeps_others_out() {
    let (world, mut lock) = one_redis("watchdog", normal);
    let mut other = world.lock("watchdog", &one(), &settings());
    granted(world.run(lock.acquire("lock")));
    for _ in 0..10 {
        world.pass(6_000);
        assert!(matches!(world.run(other.acquire("lock")), Acquisition::Refused(_)));
    }
}

#[test]
fn a_refused_renewal_is_noted_and_is_the_last() {
    let (world, mut lock) = one_redis("watchdog", normal);
    granted(world.run(lock.acquire("lock")));
    world.store("redis", |store| store.set("lock", "another", None));
    world.pass(20_000);
    insta::assert_snapshot!(world.trace(), @r"
       0.000 redis #1 connect
       1.000 redis #1 < SET lock owner-1 NX PX 10000 > +OK
    3335.333 redis #2 connect
    3336.333 redis #2 < EVALSHA [sha of extend-if-owned] 1 lock owner-1 10000
    3337.333 redis #2 > -NOSCRIPT No matching script. Please use EVAL.
    3337.333 redis #2 < EVAL [extend-if-owned] 1 lock owner-1 10000 > :0
    3338.333 note LockLost
    3338.333 redis #2 close
    ");
}

#[test]
fn a_ttl_without_any_confirmed_renewal_is_noted() {
    let (world, mut lock) = one_redis("watchdog", dark_after_grant);
    granted(world.run(lock.acquire("lock")));
    world.pass(20_000);
    insta::assert_snapshot!(world.trace(), @r"
        0.000 redis #1 connect
        1.000 redis #1 < SET lock owner-1 NX PX 10000 > +OK
     3335.333 redis #2 connect
     3336.333 redis #2 < EVALSHA [sha of extend-if-owned] 1 lock owner-1 10000
     3836.333 redis #2 close
     7169.666 redis #3 connect
     7170.666 redis #3 < EVALSHA [sha of extend-if-owned] 1 lock owner-1 10000
     7670.666 redis #3 close
    11003.999 redis #4 connect
    11004.999 redis #4 < EVALSHA [sha of extend-if-owned] 1 lock owner-1 10000
    11504.999 redis #4 close
    11504.999 note LockLost
    ");
}

#[test]
fn a_renewal_that_the_release_overtakes_is_refused() {
    let mut renewals = 0;
    let (world, mut lock) = one_redis("watchdog", move |call: &Call<'_>| {
        let is_renewal = call.name() == "EVALSHA" && call.words.len() == 5;
        renewals += usize::from(is_renewal);
        if is_renewal && renewals == 2 { Answer::AppliedLate(5) } else { Answer::Normal }
    });
    let lease = granted(world.run(lock.acquire("lock")));
    world.pass(6_670);
    assert_eq!(world.run(lock.release(lease)), Release::Released);
    world.pass(10);
    assert_eq!(world.value("redis", "lock"), None);
    let trace = world.trace();
    let tail: Vec<&str> = trace.lines().skip(6).collect();
    insta::assert_snapshot!(tail.join("\n"), @r"
    6671.666 redis #2 < EVALSHA [sha of extend-if-owned] 1 lock owner-1 10000
    6672.000 redis #2 close
    6672.000 redis #1 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    6673.000 redis #1 > -NOSCRIPT No matching script. Please use EVAL.
    6673.000 redis #1 < EVAL [compare-and-delete] 1 lock owner-1 > :1
    ");
}

#[test]
fn a_set_that_the_release_overtakes_brings_the_lock_back() {
    let (world, mut lock) =
        one_redis("watchdog-resurrecting", |call: &Call<'_>| match call.words {
            [name, _, _, px, _] if name == "SET" && px == "PX" => Answer::AppliedLate(5),
            _ => Answer::Normal,
        });
    let mut other = world.lock("watchdog-resurrecting", &one(), &settings());
    let lease = granted(world.run(lock.acquire("lock")));
    // At 3337.333 ms, the daemon has connected and read the owner, and sends its SET.
    world.pass(3_336);
    assert_eq!(world.run(lock.release(lease)), Release::Released);
    world.pass(10);
    assert!(
        matches!(world.run(other.acquire("lock")), Acquisition::Refused(_)),
        "nobody holds it, and nobody gets it"
    );
    let trace = world.trace();
    let head: Vec<&str> = trace.lines().take(11).collect();
    insta::assert_snapshot!(head.join("\n"), @r"
       0.000 redis #1 connect
       1.000 redis #1 < SET lock owner-1 NX PX 10000 > +OK
    3335.333 redis #2 connect
    3336.333 redis #2 < GET lock > $40 owner-1
    3337.333 redis #2 < SET lock owner-1 PX 10000
    3338.000 redis #2 close
    3338.000 redis #1 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    3339.000 redis #1 > -NOSCRIPT No matching script. Please use EVAL.
    3339.000 redis #1 < EVAL [compare-and-delete] 1 lock owner-1 > :1
    3350.000 redis #3 connect
    3351.000 redis #3 < SET lock owner-2 NX PX 10000 > $-1
    ");
}

#[test]
fn the_daemon_of_the_article_lets_the_lock_expire_under_a_living_holder() {
    let (world, mut lock) = one_redis("watchdog-expire", normal);
    let mut other = world.lock("watchdog-expire", &one(), &settings());
    let lease = granted(world.run(lock.acquire("lock")));
    world.pass(16_100);
    granted(world.run(other.acquire("lock")));
    assert_eq!(world.run(lock.release(lease)), Release::NotHeld);
    insta::assert_snapshot!(world.trace(), @r"
        0.000 redis #1 connect
        1.000 redis #1 < SET lock owner-1 NX PX 10000 > +OK
     9668.666 redis #2 connect
     9669.666 redis #2 < PEXPIRE lock 6666 > :1
    16102.000 redis #3 connect
    16103.000 redis #3 < SET lock owner-2 NX PX 10000 > $-1
    16260.656 redis #3 < SET lock owner-3 NX PX 10000 > $-1
    16337.332 redis #2 < PEXPIRE lock 6666 > :0
    16436.234 redis #3 < SET lock owner-4 NX PX 10000 > +OK
    16437.234 redis #2 close
    16437.234 redis #1 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    16438.234 redis #1 > -NOSCRIPT No matching script. Please use EVAL.
    16438.234 redis #1 < EVAL [compare-and-delete] 1 lock owner-1 > :0
    ");
}

#[test]
fn the_daemon_of_the_article_is_closed_at_the_release() {
    let (world, mut lock) = one_redis("watchdog-expire", normal);
    let lease = granted(world.run(lock.acquire("lock")));
    world.pass(9_900);
    assert_eq!(world.run(lock.release(lease)), Release::Released);
    world.trace();
    world.pass(60_000);
    assert_eq!(world.trace(), "");
}

#[test]
fn a_plain_expire_keeps_the_lock_of_another_alive() {
    let (world, mut lock) = one_redis("watchdog-expire", normal);
    granted(world.run(lock.acquire("lock")));
    world.pass(9_000);
    let in_a_moment = world.now() + 1_000_000;
    world.store("redis", |store| store.set("lock", "another", Some(in_a_moment)));
    world.pass(5_000);
    assert_eq!(world.value("redis", "lock").as_deref(), Some("another"));
}

#[test]
fn a_daemon_that_nobody_closes_keeps_the_lock_of_the_dead_alive() {
    for (name, free) in [("watchdog", true), ("watchdog-unstopped", false)] {
        let (world, mut lock) = one_redis(name, normal);
        let mut other = world.lock(name, &one(), &settings());
        let lease = granted(world.run(lock.acquire("lock")));
        assert_eq!(world.run(lock.release(lease)), Release::Released);
        let soon = world.now() + 10_000_000;
        world.store("redis", |store| store.set("lock", "dead", Some(soon)));
        world.pass(600_000);
        assert_eq!(
            matches!(world.run(other.acquire("lock")), Acquisition::Granted(_)),
            free,
            "{name}"
        );
    }
}

#[test]
fn a_stuck_holder_keeps_the_lock_for_ever_unless_it_is_capped() {
    for (name, kept) in [("watchdog", true), ("watchdog-capped", false)] {
        let (world, mut lock) = one_redis(name, normal);
        granted(world.run(lock.acquire("lock")));
        world.pass(3_600_000);
        assert_eq!(world.value("redis", "lock").is_some(), kept, "{name}");
    }
}

#[test]
fn a_capped_watchdog_notes_the_loss_before_the_lock_expires() {
    let (world, mut lock) = one_redis("watchdog-capped", normal);
    granted(world.run(lock.acquire("lock")));
    world.pass(66_650);
    assert!(world.value("redis", "lock").is_some());
    let trace = world.trace();
    assert!(trace.contains("note LockLost"), "{trace}");
    world.pass(100);
    assert_eq!(world.value("redis", "lock"), None);
}
