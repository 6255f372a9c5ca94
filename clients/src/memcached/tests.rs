use super::whole_seconds;
use crate::lock::{Acquisition, FencingToken, Release};
use crate::testing::{Answer, granted, normal, once, one_cache};
use std::time::Duration;

const RESOURCE: &str = "lock";

#[test]
fn a_ttl_is_rounded_up_to_whole_seconds() {
    let seconds = |ms| whole_seconds(Duration::from_millis(ms));
    assert_eq!([seconds(1), seconds(999), seconds(1_000), seconds(1_001)], [1, 1, 1, 2]);
}

#[test]
fn add_takes_the_lock_and_delete_gives_it_back_whoever_has_it() {
    let (world, mut lock) = one_cache("memcached-add", normal);
    let lease = granted(world.run(lock.acquire(RESOURCE)));
    assert_eq!((lease.token, lease.valid_until), (None, None));
    assert_eq!(world.run(lock.release(lease)), Release::Released);
    let late = granted(world.run(lock.acquire(RESOURCE)));
    world.pass(11_000);
    world.store_item(RESOURCE, "another", 10);
    assert_eq!(world.run(lock.release(late)), Release::Released, "the mistake");
    insta::assert_snapshot!(world.trace(), @r"
        0.000 cache #1 connect
        1.000 cache #1 < add lock 0 10 40 owner-1 > STORED
        2.000 cache #1 < delete lock > DELETED
        3.000 cache #1 < add lock 0 10 40 owner-2 > STORED
    11004.000 cache #1 < delete lock > DELETED
    ");
}

#[test]
fn get_delete_looks_whose_the_lock_is_first() {
    let (world, mut lock) = one_cache("memcached-get-delete", normal);
    let lease = granted(world.run(lock.acquire(RESOURCE)));
    assert_eq!(world.run(lock.release(lease)), Release::Released);
    let late = granted(world.run(lock.acquire(RESOURCE)));
    world.pass(11_000);
    world.store_item(RESOURCE, "another", 10);
    assert_eq!(world.run(lock.release(late)), Release::NotHeld);
    insta::assert_snapshot!(world.trace(), @r"
        0.000 cache #1 connect
        1.000 cache #1 < add lock 0 10 40 owner-1 > STORED
        2.000 cache #1 < gets lock > VALUE lock 0 40 1 owner-1 END
        3.000 cache #1 < delete lock > DELETED
        4.000 cache #1 < add lock 0 10 40 owner-2 > STORED
    11005.000 cache #1 < gets lock > VALUE lock 0 7 3 another END
    ");
}

#[test]
fn cas_gives_back_by_an_expired_value_and_its_ids_are_tokens_that_grow() {
    let (world, mut lock) = one_cache("memcached-cas", normal);
    let lease = granted(world.run(lock.acquire(RESOURCE)));
    assert_eq!(lease.token, Some(FencingToken(1)));
    assert_eq!(world.run(lock.release(lease)), Release::Released);
    let next = granted(world.run(lock.acquire(RESOURCE)));
    assert_eq!(next.token, Some(FencingToken(3)));
    insta::assert_snapshot!(world.trace(), @r"
    0.000 cache #1 connect
    1.000 cache #1 < add lock 0 11 40 owner-1 > STORED
    2.000 cache #1 < gets lock > VALUE lock 0 40 1 owner-1 END
    3.000 cache #1 < gets lock > VALUE lock 0 40 1 owner-1 END
    4.000 cache #1 < cas lock 0 -1 0 1 > STORED
    5.000 cache #1 < add lock 0 11 40 owner-2 > STORED
    6.000 cache #1 < gets lock > VALUE lock 0 40 3 owner-2 END
    ");
}

#[test]
fn a_lock_that_another_has_is_refused_and_left_alone() {
    for name in ["memcached-add", "memcached-get-delete", "memcached-cas"] {
        let (world, mut lock) = one_cache(name, normal);
        world.store_item(RESOURCE, "another", 10);
        let refused = world.run(lock.acquire(RESOURCE));
        assert_eq!(refused, Acquisition::Refused("held by another".into()), "{name}");
        let trace = world.trace();
        assert!(!trace.contains("delete") && !trace.contains("cas"), "{name}: {trace}");
    }
}

#[test]
fn an_add_whose_reply_is_lost_is_unknown_unless_it_could_be_undone() {
    for name in ["memcached-add", "memcached-get-delete"] {
        let (world, mut lock) = one_cache(name, once("add", Answer::ResetAfter));
        let unknown = world.run(lock.acquire(RESOURCE));
        assert!(matches!(unknown, Acquisition::Unknown(_)), "{name}: {unknown:?}");
    }
    let (world, mut lock) = one_cache("memcached-cas", once("add", Answer::ResetAfter));
    let lease = granted(world.run(lock.acquire(RESOURCE)));
    assert_eq!(lease.token, Some(FencingToken(3)), "the first was taken back, by a second item");
}

#[test]
fn a_release_whose_reply_is_lost_is_unknown() {
    for (name, last) in
        [("memcached-add", "delete"), ("memcached-get-delete", "delete"), ("memcached-cas", "cas")]
    {
        let (world, mut lock) = one_cache(name, once(last, Answer::Lost));
        let lease = granted(world.run(lock.acquire(RESOURCE)));
        let released = world.run(lock.release(lease));
        assert!(matches!(released, Release::Unknown(_)), "{name}: {released:?}");
    }
}
