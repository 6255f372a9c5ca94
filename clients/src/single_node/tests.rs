use crate::lock::{Acquisition, Release};
use crate::testing::{Answer, Call, TestWorld, granted, normal, once, one, one_redis, settings};

#[test]
fn acquires_with_one_set_and_releases_by_script() {
    let (world, mut lock) = one_redis("single-node", normal);
    for _ in 0..2 {
        let lease = granted(world.run(lock.acquire("lock")));
        assert_eq!((lease.valid_until, lease.token), (None, None));
        assert_eq!(world.value("redis", "lock").unwrap().as_bytes(), lease.owner);
        assert_eq!(world.run(lock.release(lease)), Release::Released);
    }
    insta::assert_snapshot!(world.trace(), @r"
    0.000 redis #1 connect
    1.000 redis #1 < SET lock owner-1 NX PX 10000 > +OK
    2.000 redis #1 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    3.000 redis #1 > -NOSCRIPT No matching script. Please use EVAL.
    3.000 redis #1 < EVAL [compare-and-delete] 1 lock owner-1 > :1
    4.000 redis #1 < SET lock owner-2 NX PX 10000 > +OK
    5.000 redis #1 < EVALSHA [sha of compare-and-delete] 1 lock owner-2 > :1
    ");
}

#[test]
fn a_server_that_forgot_the_script_is_sent_it_again() {
    let (world, mut lock) = one_redis("single-node", normal);
    let lease = granted(world.run(lock.acquire("lock")));
    world.run(lock.release(lease));
    let lease = granted(world.run(lock.acquire("lock")));
    world.store("redis", |store| {
        store.clear();
        store.set("lock", std::str::from_utf8(&lease.owner).unwrap(), None);
    });
    world.trace();
    assert_eq!(world.run(lock.release(lease)), Release::Released);
    insta::assert_snapshot!(world.trace(), @r"
    5.000 redis #1 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    6.000 redis #1 > -NOSCRIPT No matching script. Please use EVAL.
    6.000 redis #1 < EVAL [compare-and-delete] 1 lock owner-1 > :1
    ");
}

#[test]
fn waits_for_another_holder_until_the_timeout() {
    let (world, mut lock) = one_redis("single-node", normal);
    world.store("redis", |store| store.set("lock", "another", None));
    assert_eq!(world.run(lock.acquire("lock")), Acquisition::Refused("held by another".into()));
    assert_eq!(world.value("redis", "lock").as_deref(), Some("another"));
    insta::assert_snapshot!(world.trace(), @r"
      0.000 redis #1 connect
      1.000 redis #1 < SET lock owner-1 NX PX 10000 > $-1
    158.656 redis #1 < SET lock owner-2 NX PX 10000 > $-1
    334.234 redis #1 < SET lock owner-3 NX PX 10000 > $-1
    532.335 redis #1 < SET lock owner-4 NX PX 10000 > $-1
    677.771 redis #1 < SET lock owner-5 NX PX 10000 > $-1
    823.197 redis #1 < SET lock owner-6 NX PX 10000 > $-1
    ");
}

#[test]
fn is_granted_as_soon_as_the_other_lock_expires() {
    let (world, mut lock) = one_redis("single-node", normal);
    world.store("redis", |store| store.set("lock", "another", Some(300_000)));
    let lease = granted(world.run(lock.acquire("lock")));
    assert_eq!(world.value("redis", "lock").unwrap().as_bytes(), lease.owner);
    assert!(world.now() > 300_000 && world.now() < 600_000, "{}", world.now());
}

#[test]
fn a_lost_reply_closes_the_connection_and_the_attempt_is_undone() {
    let (world, mut lock) = one_redis("single-node", once("SET", Answer::Lost));
    let lease = granted(world.run(lock.acquire("lock")));
    assert_eq!(world.value("redis", "lock").unwrap().as_bytes(), lease.owner);
    insta::assert_snapshot!(world.trace(), @r"
      0.000 redis #1 connect
      1.000 redis #1 < SET lock owner-1 NX PX 10000
    501.000 redis #1 close
    501.000 redis #2 connect
    502.000 redis #2 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    503.000 redis #2 > -NOSCRIPT No matching script. Please use EVAL.
    503.000 redis #2 < EVAL [compare-and-delete] 1 lock owner-1 > :1
    660.656 redis #2 < SET lock owner-2 NX PX 10000 > +OK
    ");
}

#[test]
fn a_late_reply_is_never_taken_for_the_reply_of_the_next_command() {
    let (world, mut lock) = one_redis("single-node", once("SET", Answer::Late(550)));
    world.store("redis", |store| store.set("lock", "another", None));
    let acquisition = world.run(lock.acquire("lock"));
    assert!(matches!(acquisition, Acquisition::Unknown(_)), "{acquisition:?}");
    insta::assert_snapshot!(world.trace(), @r"
      0.000 redis #1 connect
      1.000 redis #1 < SET lock owner-1 NX PX 10000
    501.000 redis #1 close
    501.000 redis #2 connect
    502.000 redis #2 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    503.000 redis #2 > -NOSCRIPT No matching script. Please use EVAL.
    503.000 redis #2 < EVAL [compare-and-delete] 1 lock owner-1 > :0
    660.656 redis #2 < SET lock owner-2 NX PX 10000 > $-1
    836.234 redis #2 < SET lock owner-3 NX PX 10000 > $-1
    ");
}

#[test]
fn a_command_still_on_its_way_makes_the_outcome_unknown() {
    let (world, mut lock) = one_redis("single-node", |call: &Call<'_>| match call.name() {
        "SET" => Answer::AppliedLate(900),
        _ => Answer::Normal,
    });
    let acquisition = world.run(lock.acquire("lock"));
    assert_eq!(acquisition, Acquisition::Unknown("no reply within 500 ms".to_owned()));
    world.pass(1_000);
    assert!(world.value("redis", "lock").is_some(), "the undone attempt took the lock after all");
}

#[test]
fn a_reset_after_the_command_is_unknown_until_undone() {
    let (world, mut lock) = one_redis("single-node", once("SET", Answer::ResetAfter));
    granted(world.run(lock.acquire("lock")));
    insta::assert_snapshot!(world.trace(), @r"
      0.000 redis #1 connect
      1.000 redis #1 < SET lock owner-1 NX PX 10000
      2.000 redis #1 close
      2.000 redis #2 connect
      3.000 redis #2 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
      4.000 redis #2 > -NOSCRIPT No matching script. Please use EVAL.
      4.000 redis #2 < EVAL [compare-and-delete] 1 lock owner-1 > :1
    161.656 redis #2 < SET lock owner-2 NX PX 10000 > +OK
    ");
}

#[test]
fn an_attempt_that_was_undone_for_certain_leaves_a_refusal() {
    let mut sets = 0;
    let (world, mut lock) = one_redis("single-node", move |call: &Call<'_>| {
        sets += usize::from(call.name() == "SET");
        match (call.name(), sets) {
            ("SET", 1) => Answer::ResetAfter,
            ("SET", _) => {
                Answer::Says("-OOM command not allowed when used memory > 'maxmemory'.\r\n")
            }
            _ => Answer::Normal,
        }
    });
    let acquisition = world.run(lock.acquire("lock"));
    let reason = "the server answered OOM command not allowed when used memory > 'maxmemory'.";
    assert_eq!(acquisition, Acquisition::Refused(reason.into()));
}

#[test]
fn a_server_that_refuses_connections_is_a_refusal() {
    let (world, mut lock) = one_redis("single-node", |_: &Call<'_>| Answer::ResetBefore);
    let acquisition = world.run(lock.acquire("lock"));
    assert_eq!(
        acquisition,
        Acquisition::Refused("no connection to redis:6379: connection refused".into())
    );
    assert!(world.now() >= 800_000, "it kept trying: {}", world.now());
}

#[test]
fn a_dark_server_is_a_refusal_because_nothing_was_sent() {
    let (world, mut lock) = one_redis("single-node", |_: &Call<'_>| Answer::Dropped);
    let acquisition = world.run(lock.acquire("lock"));
    assert_eq!(
        acquisition,
        Acquisition::Refused("no connection to redis:6379: not within 500 ms".into())
    );
}

#[test]
fn an_unknown_host_ends_even_without_any_delay() {
    let world = TestWorld::new();
    let mut settings = settings();
    settings.retry = std::time::Duration::ZERO..=std::time::Duration::ZERO;
    let mut lock = world.lock("single-node", &one(), &settings);
    assert!(matches!(world.run(lock.acquire("lock")), Acquisition::Refused(_)));
}

#[test]
fn a_connection_reset_while_idle_is_noticed_before_anything_is_sent() {
    let (world, mut lock) = one_redis("single-node", normal);
    let lease = granted(world.run(lock.acquire("lock")));
    world.run(lock.release(lease));
    world.reset_connections("redis");
    world.pass(10);
    world.trace();
    granted(world.run(lock.acquire("lock")));
    insta::assert_snapshot!(world.trace(), @r"
    14.000 redis #1 close
    14.000 redis #2 connect
    15.000 redis #2 < SET lock owner-1 NX PX 10000 > +OK
    ");
}

#[test]
fn nonsense_for_a_reply_is_unknown() {
    // `:1` is invalid for SET but confirms the undo. `*-1` is nil, which refuses SET NX; the excess
    // `*` only makes the connection unfit for another call.
    for (nonsense, expected) in [
        ("+QUEUED\r\n", "Unknown"),
        ("hello\r\n", "Unknown"),
        ("*1\r\n+OK\r\n", "Unknown"),
        ("$-7\r\n", "Unknown"),
        (":1\r\n", "Refused"),
        ("*-1\r\n*", "Refused"),
    ] {
        let (world, mut lock) =
            one_redis("single-node", move |call: &Call<'_>| match call.name() {
                "CONNECT" => Answer::Normal,
                _ => Answer::Says(nonsense),
            });
        let acquisition = world.run(lock.acquire("lock"));
        assert!(format!("{acquisition:?}").starts_with(expected), "{nonsense:?}: {acquisition:?}");
    }
}

#[test]
fn no_two_attempts_share_an_owner_value() {
    let (world, mut lock) = one_redis("single-node", normal);
    let mut other = world.lock("single-node", &one(), &settings());
    world.store("redis", |store| store.set("lock", "another", None));
    world.run(lock.acquire("lock"));
    world.run(other.acquire("lock"));
    let trace = world.trace();
    let owners: Vec<&str> =
        trace.lines().filter_map(|line| line.split(" < SET lock ").nth(1)).collect();
    let distinct: std::collections::BTreeSet<&&str> = owners.iter().collect();
    assert!(owners.len() > 8, "{trace}");
    assert_eq!(owners.len(), distinct.len(), "{trace}");
}

#[test]
fn releasing_a_lock_that_expired_is_not_held() {
    let (world, mut lock) = one_redis("single-node", normal);
    let lease = granted(world.run(lock.acquire("lock")));
    world.pass(11_000);
    world.store("redis", |store| store.set("lock", "another", None));
    assert_eq!(world.run(lock.release(lease)), Release::NotHeld);
    assert_eq!(world.value("redis", "lock").as_deref(), Some("another"));
}

#[test]
fn a_release_whose_reply_was_lost_is_tried_again_but_stays_unknown() {
    let (world, mut lock) = one_redis("single-node", once("EVAL", Answer::Lost));
    let lease = granted(world.run(lock.acquire("lock")));
    world.trace();
    let release = world.run(lock.release(lease));
    assert_eq!(release, Release::Unknown("released or expired: no reply within 500 ms".to_owned()));
    insta::assert_snapshot!(world.trace(), @r"
      2.000 redis #1 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
      3.000 redis #1 > -NOSCRIPT No matching script. Please use EVAL.
      3.000 redis #1 < EVAL [compare-and-delete] 1 lock owner-1
    503.000 redis #1 close
    659.656 redis #2 connect
    660.656 redis #2 < EVALSHA [sha of compare-and-delete] 1 lock owner-1 > :0
    ");
}

#[test]
fn a_release_that_was_lost_on_its_way_succeeds_when_tried_again() {
    let (world, mut lock) = one_redis("single-node", once("EVAL", Answer::ResetBefore));
    let lease = granted(world.run(lock.acquire("lock")));
    assert_eq!(world.run(lock.release(lease)), Release::Released);
}

#[test]
fn a_release_that_never_gets_through_is_unknown_after_three_tries() {
    let mut alive = true;
    let (world, mut lock) = one_redis("single-node", move |call: &Call<'_>| {
        alive &= call.name() != "EVALSHA";
        if alive { Answer::Normal } else { Answer::Dropped }
    });
    let lease = granted(world.run(lock.acquire("lock")));
    world.trace();
    assert_eq!(
        world.run(lock.release(lease)),
        Release::Unknown("no reply within 500 ms".to_owned())
    );
    insta::assert_snapshot!(world.trace(), @r"
       2.000 redis #1 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
     502.000 redis #1 close
     658.656 redis #2 connect
    1158.656 redis #2 close
    1333.234 redis #3 connect
    1833.234 redis #3 close
    ");
}
