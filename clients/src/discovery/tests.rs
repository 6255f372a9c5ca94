use crate::lock::{Acquisition, Lock, Release};
use crate::testing::{Answer, Call, TestWorld, granted, normal, sentinels, settings};
use std::rc::Rc;

const PRIMARY_IS_A: &str = "*2\r\n$1\r\na\r\n$4\r\n6379\r\n";
const PRIMARY_IS_B: &str = "*2\r\n$1\r\nb\r\n$4\r\n6379\r\n";
const UNKNOWN_NAME: &str = "*-1\r\n";
const REPLICA: &str = "*5\r\n$5\r\nslave\r\n$1\r\nb\r\n:6379\r\n$9\r\nconnected\r\n:14\r\n";
const SWITCH: &str =
    "*3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$22\r\nmymaster a 6379 b 6379\r\n";
const OTHER_SWITCH: &str =
    "*3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$19\r\nother a 6379 b 6379\r\n";

fn announce_primary(primary: &'static str) -> impl FnMut(&Call<'_>) -> Answer {
    move |call| if call.name() == "SENTINEL" { Answer::Says(primary) } else { Answer::Normal }
}

fn replica(call: &Call<'_>) -> Answer {
    match call.name() {
        "ROLE" => Answer::Says(REPLICA),
        "CONNECT" => Answer::Normal,
        _ => Answer::Says("-READONLY You can't write against a read only replica.\r\n"),
    }
}

fn world() -> (Rc<TestWorld>, Box<dyn Lock>) {
    let world = TestWorld::new();
    world.serve("s1", announce_primary(PRIMARY_IS_A));
    world.serve("s2", announce_primary(PRIMARY_IS_A));
    world.serve("a", normal);
    world.serve("b", replica);
    let lock = world.lock("single-node", &sentinels(), &settings());
    (world, lock)
}

fn fail_over(world: &TestWorld) {
    world.serve("s1", announce_primary(PRIMARY_IS_B));
    world.serve("s2", announce_primary(PRIMARY_IS_B));
    world.serve("a", replica);
    world.serve("b", normal);
}

fn cycle(world: &TestWorld, lock: &mut Box<dyn Lock>) {
    let lease = granted(world.run(lock.acquire("lock")));
    assert_eq!(world.run(lock.release(lease)), Release::Released);
}

#[test]
fn the_primary_is_asked_for_verified_and_kept() {
    let (world, mut lock) = world();
    cycle(&world, &mut lock);
    cycle(&world, &mut lock);
    insta::assert_snapshot!(world.trace(), @r"
    0.000 s1 #1 connect
    0.000 s1 #2 connect
    1.000 s1 #1 < SENTINEL get-master-addr-by-name mymaster
    1.000 s1 #2 < SUBSCRIBE +switch-master
    2.000 s1 #1 > *2 $1 a $4 6379
    2.000 s1 #1 close
    2.000 a #3 connect
    2.000 s1 #2 > *3 $9 subscribe $14 +switch-master :1
    3.000 a #3 < ROLE > *3 $6 master :0 *0
    4.000 a #3 < SET lock owner-1 NX PX 10000 > +OK
    5.000 a #3 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    6.000 a #3 > -NOSCRIPT No matching script. Please use EVAL.
    6.000 a #3 < EVAL [compare-and-delete] 1 lock owner-1 > :1
    7.000 a #3 < SET lock owner-2 NX PX 10000 > +OK
    8.000 a #3 < EVALSHA [sha of compare-and-delete] 1 lock owner-2 > :1
    ");
}

#[test]
fn the_sentinel_that_answered_is_asked_first_next_time() {
    let (world, mut lock) = world();
    world.serve("s1", |_| Answer::Dropped);
    cycle(&world, &mut lock);
    world.reset_connections("a");
    world.pass(10);
    world.trace();
    cycle(&world, &mut lock);
    insta::assert_snapshot!(world.trace(), @r"
    517.000 a #4 close
    517.000 s2 #5 connect
    518.000 s2 #5 < SENTINEL get-master-addr-by-name mymaster > *2 $1 a $4 6379
    519.000 s2 #5 close
    519.000 a #6 connect
    520.000 a #6 < ROLE > *3 $6 master :0 *0
    521.000 a #6 < SET lock owner-1 NX PX 10000 > +OK
    522.000 a #6 < EVALSHA [sha of compare-and-delete] 1 lock owner-1 > :1
    ");
}

#[test]
fn a_switch_that_is_announced_drops_the_connection() {
    let (world, mut lock) = world();
    cycle(&world, &mut lock);
    world.pass(50);
    fail_over(&world);
    world.publish("s1", SWITCH);
    world.pass(10);
    world.trace();
    let lease = granted(world.run(lock.acquire("lock")));
    assert_eq!(world.value("b", "lock").unwrap().as_bytes(), lease.owner);
    insta::assert_snapshot!(world.trace(), @r"
    67.000 a #3 close
    67.000 s1 #4 connect
    68.000 s1 #4 < SENTINEL get-master-addr-by-name mymaster > *2 $1 b $4 6379
    69.000 s1 #4 close
    69.000 b #5 connect
    70.000 b #5 < ROLE > *3 $6 master :0 *0
    71.000 b #5 < SET lock owner-1 NX PX 10000 > +OK
    ");
}

#[test]
fn a_switch_of_another_primary_changes_nothing() {
    let (world, mut lock) = world();
    cycle(&world, &mut lock);
    world.pass(50);
    world.publish("s1", OTHER_SWITCH);
    world.pass(10);
    world.trace();
    cycle(&world, &mut lock);
    assert!(!world.trace().contains("connect"));
}

#[test]
fn a_renewed_subscription_counts_as_a_switch_that_may_have_been_missed() {
    let (world, mut lock) = world();
    cycle(&world, &mut lock);
    world.pass(50);
    fail_over(&world);
    world.reset_connections("s1");
    world.pass(2_000);
    world.trace();
    let lease = granted(world.run(lock.acquire("lock")));
    assert_eq!(world.value("b", "lock").unwrap().as_bytes(), lease.owner);
    assert!(!world.trace().contains("READONLY"), "the demoted primary is not asked");
}

#[test]
fn a_demoted_primary_is_left_when_it_refuses_a_write() {
    let (world, mut lock) = world();
    cycle(&world, &mut lock);
    fail_over(&world);
    world.trace();
    let lease = granted(world.run(lock.acquire("lock")));
    assert_eq!(world.value("b", "lock").unwrap().as_bytes(), lease.owner);
    insta::assert_snapshot!(world.trace(), @r"
      7.000 a #3 < SET lock owner-1 NX PX 10000
      8.000 a #3 > -READONLY You can't write against a read only replica.
      8.000 a #3 close
    164.656 s1 #4 connect
    165.656 s1 #4 < SENTINEL get-master-addr-by-name mymaster > *2 $1 b $4 6379
    166.656 s1 #4 close
    166.656 b #5 connect
    167.656 b #5 < ROLE > *3 $6 master :0 *0
    168.656 b #5 < SET lock owner-2 NX PX 10000 > +OK
    ");
}

#[test]
fn a_sentinel_whose_answer_proves_wrong_is_not_asked_first_again() {
    let (world, mut lock) = world();
    fail_over(&world);
    world.serve("s1", announce_primary(PRIMARY_IS_A));
    let lease = granted(world.run(lock.acquire("lock")));
    assert_eq!(world.value("b", "lock").unwrap().as_bytes(), lease.owner);
    insta::assert_snapshot!(world.trace(), @r"
      0.000 s1 #1 connect
      0.000 s1 #2 connect
      1.000 s1 #1 < SENTINEL get-master-addr-by-name mymaster
      1.000 s1 #2 < SUBSCRIBE +switch-master
      2.000 s1 #1 > *2 $1 a $4 6379
      2.000 s1 #1 close
      2.000 a #3 connect
      2.000 s1 #2 > *3 $9 subscribe $14 +switch-master :1
      3.000 a #3 < ROLE > *5 $5 slave $1 b :6379 $9 connected :14
      4.000 a #3 close
    160.656 s2 #4 connect
    161.656 s2 #4 < SENTINEL get-master-addr-by-name mymaster > *2 $1 b $4 6379
    162.656 s2 #4 close
    162.656 b #5 connect
    163.656 b #5 < ROLE > *3 $6 master :0 *0
    164.656 b #5 < SET lock owner-1 NX PX 10000 > +OK
    ");
}

#[test]
fn a_release_follows_the_primary_and_finds_the_lock_lost() {
    let (world, mut lock) = world();
    let lease = granted(world.run(lock.acquire("lock")));
    fail_over(&world);
    assert_eq!(world.run(lock.release(lease)), Release::NotHeld);
}

#[test]
fn silent_sentinels_are_a_refusal_at_the_timeout() {
    for answer in [
        Answer::Dropped,
        Answer::ResetBefore,
        Answer::Says(UNKNOWN_NAME),
        Answer::Says("*2\r\n:1\r\n:2\r\n"),
    ] {
        let (world, mut lock) = world();
        for sentinel in ["s1", "s2"] {
            let answer = answer.clone();
            world.serve(sentinel, move |call| {
                if call.name() == "SUBSCRIBE" { Answer::Normal } else { answer.clone() }
            });
        }
        let acquisition = world.run(lock.acquire("lock"));
        let reason = "no primary: none of 2 sentinels knows mymaster";
        assert_eq!(acquisition, Acquisition::Refused(reason.into()), "{answer:?}");
        assert!(world.now() < 3_000_000, "{answer:?} took until {}", world.now());
    }
}

#[test]
fn a_dropped_lock_stops_listening() {
    let (world, mut lock) = world();
    cycle(&world, &mut lock);
    world.pass(50);
    world.trace();
    drop(lock);
    insta::assert_snapshot!(world.trace(), @r"
    57.000 s1 #2 close
    57.000 a #3 close
    ");
}
