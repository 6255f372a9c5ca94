use crate::lock::{Acquisition, FencingToken, Release};
use crate::testing::{Answer, Call, granted, normal, one_redis};

#[test]
fn each_grant_carries_the_next_token() {
    let (world, mut lock) = one_redis("fencing", normal);
    for token in 1..=3 {
        let lease = granted(world.run(lock.acquire("lock")));
        assert_eq!(lease.token, Some(FencingToken(token)));
        assert_eq!(world.run(lock.release(lease)), Release::Released);
    }
    insta::assert_snapshot!(world.trace(), @r"
    0.000 redis #1 connect
    1.000 redis #1 < EVALSHA [sha of acquire-with-token] 2 lock lock:token owner-1 10000
    2.000 redis #1 > -NOSCRIPT No matching script. Please use EVAL.
    2.000 redis #1 < EVAL [acquire-with-token] 2 lock lock:token owner-1 10000 > :1
    3.000 redis #1 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    4.000 redis #1 > -NOSCRIPT No matching script. Please use EVAL.
    4.000 redis #1 < EVAL [compare-and-delete] 1 lock owner-1 > :1
    5.000 redis #1 < EVALSHA [sha of acquire-with-token] 2 lock lock:token owner-2 10000
    6.000 redis #1 > :2
    6.000 redis #1 < EVALSHA [sha of compare-and-delete] 1 lock owner-2 > :1
    7.000 redis #1 < EVALSHA [sha of acquire-with-token] 2 lock lock:token owner-3 10000
    8.000 redis #1 > :3
    8.000 redis #1 < EVALSHA [sha of compare-and-delete] 1 lock owner-3 > :1
    ");
}

#[test]
fn a_refused_attempt_uses_up_no_token() {
    let (world, mut lock) = one_redis("fencing", normal);
    world.store("redis", |store| store.set("lock", "another", Some(300_000)));
    assert_eq!(granted(world.run(lock.acquire("lock"))).token, Some(FencingToken(1)));
}

#[test]
fn a_lost_reply_uses_up_a_token_and_is_undone() {
    let mut lost = false;
    let (world, mut lock) = one_redis("fencing", move |call: &Call<'_>| match call.name() {
        "EVAL" if !std::mem::replace(&mut lost, true) => Answer::Lost,
        _ => Answer::Normal,
    });
    let lease = granted(world.run(lock.acquire("lock")));
    assert_eq!(lease.token, Some(FencingToken(2)));
    assert_eq!(world.value("redis", "lock").unwrap().as_bytes(), lease.owner);
    insta::assert_snapshot!(world.trace(), @r"
      0.000 redis #1 connect
      1.000 redis #1 < EVALSHA [sha of acquire-with-token] 2 lock lock:token owner-1 10000
      2.000 redis #1 > -NOSCRIPT No matching script. Please use EVAL.
      2.000 redis #1 < EVAL [acquire-with-token] 2 lock lock:token owner-1 10000
    502.000 redis #1 close
    502.000 redis #2 connect
    503.000 redis #2 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    504.000 redis #2 > -NOSCRIPT No matching script. Please use EVAL.
    504.000 redis #2 < EVAL [compare-and-delete] 1 lock owner-1 > :1
    661.656 redis #2 < EVALSHA [sha of acquire-with-token] 2 lock lock:token owner-2 10000
    662.656 redis #2 > :2
    ");
}

#[test]
fn a_token_that_is_no_positive_number_is_no_grant() {
    for nonsense in [":0\r\n", ":-3\r\n", "+OK\r\n"] {
        let (world, mut lock) = one_redis("fencing", move |call: &Call<'_>| match call.name() {
            "EVALSHA" => Answer::Says(nonsense),
            _ => Answer::Normal,
        });
        let acquisition = world.run(lock.acquire("lock"));
        assert!(matches!(acquisition, Acquisition::Unknown(_)), "{nonsense:?}: {acquisition:?}");
    }
}
