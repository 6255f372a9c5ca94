use super::masters::{Removal, judge};
use super::min_validity;
use crate::env::Monotonic;
use crate::lock::{Acquisition, Release, Settings};
use crate::testing::{Answer, Call, TestWorld, five, granted, normal, settings};
use std::rc::Rc;
use std::time::Duration;

const MASTERS: [&str; 5] = ["m1", "m2", "m3", "m4", "m5"];

fn world(broken: &[&str], mishaps: fn(&Call<'_>) -> Answer) -> Rc<TestWorld> {
    let world = TestWorld::new();
    for master in MASTERS {
        if broken.contains(&master) {
            world.serve(master, mishaps)
        } else {
            world.serve(master, normal)
        }
    }
    world
}

fn one_attempt() -> Settings {
    Settings { acquire_timeout: Duration::from_millis(50), ..settings() }
}

fn dark(_: &Call<'_>) -> Answer {
    Answer::Dropped
}

fn lost_set(call: &Call<'_>) -> Answer {
    if call.name() == "SET" { Answer::Lost } else { Answer::Normal }
}

#[test]
fn asks_all_masters_in_turn_and_states_its_validity() {
    let world = world(&[], normal);
    let mut lock = world.lock("redlock", &five(), &settings());
    let lease = granted(world.run(lock.acquire("lock")));
    // The validity is 10 s less 1 % and 2 ms, from the start of the acquire at 0 s.
    assert_eq!(lease.valid_until, Some(Monotonic(9_898_000)));
    assert_eq!(world.run(lock.release(lease)), Release::Released);
    insta::assert_snapshot!(world.trace(), @r"
     0.000 m1 #1 connect
     1.000 m1 #1 < SET lock owner-1 NX PX 10000 > +OK
     2.000 m2 #2 connect
     3.000 m2 #2 < SET lock owner-1 NX PX 10000 > +OK
     4.000 m3 #3 connect
     5.000 m3 #3 < SET lock owner-1 NX PX 10000 > +OK
     6.000 m4 #4 connect
     7.000 m4 #4 < SET lock owner-1 NX PX 10000 > +OK
     8.000 m5 #5 connect
     9.000 m5 #5 < SET lock owner-1 NX PX 10000 > +OK
    10.000 m1 #1 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    11.000 m1 #1 > -NOSCRIPT No matching script. Please use EVAL.
    11.000 m1 #1 < EVAL [compare-and-delete] 1 lock owner-1 > :1
    12.000 m2 #2 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    13.000 m2 #2 > -NOSCRIPT No matching script. Please use EVAL.
    13.000 m2 #2 < EVAL [compare-and-delete] 1 lock owner-1 > :1
    14.000 m3 #3 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    15.000 m3 #3 > -NOSCRIPT No matching script. Please use EVAL.
    15.000 m3 #3 < EVAL [compare-and-delete] 1 lock owner-1 > :1
    16.000 m4 #4 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    17.000 m4 #4 > -NOSCRIPT No matching script. Please use EVAL.
    17.000 m4 #4 < EVAL [compare-and-delete] 1 lock owner-1 > :1
    18.000 m5 #5 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    19.000 m5 #5 > -NOSCRIPT No matching script. Please use EVAL.
    19.000 m5 #5 < EVAL [compare-and-delete] 1 lock owner-1 > :1
    ");
}

#[test]
fn two_dark_masters_of_five_do_not_matter() {
    let world = world(&["m1", "m4"], dark);
    let mut lock = world.lock("redlock", &five(), &settings());
    let lease = granted(world.run(lock.acquire("lock")));
    assert_eq!(world.now(), 106_000, "each dark master costs the node timeout");
    assert_eq!(world.run(lock.release(lease)), Release::Released);
}

#[test]
fn a_minority_is_unlocked_on_all_masters_even_those_that_did_not_answer() {
    let world = world(&["m4"], lost_set);
    for master in ["m1", "m2"] {
        world.store(master, |store| store.set("lock", "another", None));
    }
    world.serve("m3", dark);
    let mut lock = world.lock("redlock", &five(), &one_attempt());
    let acquisition = world.run(lock.acquire("lock"));
    // The client deleted the key at m4, where it lost the reply to SET. It never reached m3.
    assert_eq!(acquisition, Acquisition::Refused("locked 1 of 5".into()));
    for master in ["m3", "m4", "m5"] {
        assert_eq!(world.value(master, "lock"), None, "{master}");
    }
    insta::assert_snapshot!(world.trace(), @r"
      0.000 m1 #1 connect
      1.000 m1 #1 < SET lock owner-1 NX PX 10000 > $-1
      2.000 m2 #2 connect
      3.000 m2 #2 < SET lock owner-1 NX PX 10000 > $-1
      4.000 m3 #3 connect
     54.000 m3 #3 close
     54.000 m4 #4 connect
     55.000 m4 #4 < SET lock owner-1 NX PX 10000
    105.000 m4 #4 close
    105.000 m5 #5 connect
    106.000 m5 #5 < SET lock owner-1 NX PX 10000 > +OK
    107.000 m1 #1 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    108.000 m1 #1 > -NOSCRIPT No matching script. Please use EVAL.
    108.000 m1 #1 < EVAL [compare-and-delete] 1 lock owner-1 > :0
    109.000 m2 #2 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    110.000 m2 #2 > -NOSCRIPT No matching script. Please use EVAL.
    110.000 m2 #2 < EVAL [compare-and-delete] 1 lock owner-1 > :0
    111.000 m3 #6 connect
    161.000 m3 #6 close
    161.000 m4 #7 connect
    162.000 m4 #7 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    163.000 m4 #7 > -NOSCRIPT No matching script. Please use EVAL.
    163.000 m4 #7 < EVAL [compare-and-delete] 1 lock owner-1 > :1
    164.000 m5 #5 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    165.000 m5 #5 > -NOSCRIPT No matching script. Please use EVAL.
    165.000 m5 #5 < EVAL [compare-and-delete] 1 lock owner-1 > :1
    ");
}

#[test]
fn an_attempt_that_may_stand_somewhere_is_unknown() {
    let world = world(&["m3", "m4", "m5"], |call| match call.name() {
        "SET" => Answer::AppliedLate(400),
        _ => Answer::Normal,
    });
    let mut lock = world.lock("redlock", &five(), &one_attempt());
    let acquisition = world.run(lock.acquire("lock"));
    assert_eq!(acquisition, Acquisition::Unknown("locked 2 of 5".to_owned()));
    world.pass(1_000);
    assert!(world.value("m3", "lock").is_some());
}

#[test]
fn a_quorum_that_came_too_slowly_is_discarded_and_unlocked() {
    let world = world(&MASTERS, |call| match call.name() {
        "SET" => Answer::Late(20),
        _ => Answer::Normal,
    });
    let settings = Settings { ttl: Duration::from_millis(100), ..one_attempt() };
    let mut lock = world.lock("redlock", &five(), &settings);
    let acquisition = world.run(lock.acquire("lock"));
    assert_eq!(acquisition, Acquisition::Refused("locked 5 of 5, too late".into()));
    insta::assert_snapshot!(world.trace(), @r"
      0.000 m1 #1 connect
      1.000 m1 #1 < SET lock owner-1 NX PX 100
     22.000 m1 #1 > +OK
     22.000 m2 #2 connect
     23.000 m2 #2 < SET lock owner-1 NX PX 100
     44.000 m2 #2 > +OK
     44.000 m3 #3 connect
     45.000 m3 #3 < SET lock owner-1 NX PX 100
     66.000 m3 #3 > +OK
     66.000 m4 #4 connect
     67.000 m4 #4 < SET lock owner-1 NX PX 100
     88.000 m4 #4 > +OK
     88.000 m5 #5 connect
     89.000 m5 #5 < SET lock owner-1 NX PX 100
    110.000 m5 #5 > +OK
    110.000 m1 #1 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    111.000 m1 #1 > -NOSCRIPT No matching script. Please use EVAL.
    111.000 m1 #1 < EVAL [compare-and-delete] 1 lock owner-1 > :0
    112.000 m2 #2 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    113.000 m2 #2 > -NOSCRIPT No matching script. Please use EVAL.
    113.000 m2 #2 < EVAL [compare-and-delete] 1 lock owner-1 > :1
    114.000 m3 #3 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    115.000 m3 #3 > -NOSCRIPT No matching script. Please use EVAL.
    115.000 m3 #3 < EVAL [compare-and-delete] 1 lock owner-1 > :1
    116.000 m4 #4 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    117.000 m4 #4 > -NOSCRIPT No matching script. Please use EVAL.
    117.000 m4 #4 < EVAL [compare-and-delete] 1 lock owner-1 > :1
    118.000 m5 #5 < EVALSHA [sha of compare-and-delete] 1 lock owner-1
    119.000 m5 #5 > -NOSCRIPT No matching script. Please use EVAL.
    119.000 m5 #5 < EVAL [compare-and-delete] 1 lock owner-1 > :1
    ");
}

#[test]
fn a_quorum_just_in_time_is_granted() {
    let world = world(&MASTERS, |call| match call.name() {
        "SET" => Answer::Late(17),
        _ => Answer::Normal,
    });
    let settings = Settings { ttl: Duration::from_millis(100), ..one_attempt() };
    let mut lock = world.lock("redlock", &five(), &settings);
    // The 5 masters need 95 ms, and the validity ends at 97 ms.
    let lease = granted(world.run(lock.acquire("lock")));
    assert_eq!((world.now(), lease.valid_until), (95_000, Some(Monotonic(97_000))));
}

#[test]
fn tries_again_under_a_fresh_owner_after_a_random_delay() {
    let world = world(&[], normal);
    for master in ["m1", "m2", "m3"] {
        world.store(master, |store| store.set("lock", "another", Some(150_000)));
    }
    let mut lock = world.lock("redlock", &five(), &settings());
    let lease = granted(world.run(lock.acquire("lock")));
    let valid_until = lease.valid_until.unwrap().0;
    assert!(
        valid_until > 9_898_000 + 150_000,
        "counts from the start of the attempt that succeeded: {valid_until}"
    );
    let trace = world.trace();
    let first =
        trace.lines().find(|line| line.contains("m1 #1 < SET")).unwrap().split_whitespace().nth(6);
    let last =
        trace.lines().rfind(|line| line.contains("m1 #1 < SET")).unwrap().split_whitespace().nth(6);
    assert_eq!(first, Some("owner-1"));
    assert_ne!(last, first, "{trace}");
}

#[test]
fn drift_is_one_percent_of_the_ttl_and_two_milliseconds() {
    assert_eq!(min_validity(Duration::from_secs(10)), Duration::from_millis(10_000 - 100 - 2));
    assert_eq!(min_validity(Duration::from_millis(1)), Duration::ZERO, "never valid");
}

#[test]
fn a_release_is_judged_by_its_majority() {
    use Removal::{Absent, Gone, Removed};
    let silent = Removal::Unanswered { reached: true };
    let unreached = Removal::Unanswered { reached: false };
    let unknown = |removals: &[Removal]| matches!(judge(removals, 3), Release::Unknown(_));
    assert_eq!(judge(&[Removed, Removed, Removed, silent, silent], 3), Release::Released);
    assert_eq!(judge(&[Removed, Removed, Removed, Absent, Absent], 3), Release::Released);
    assert_eq!(judge(&[Removed, Removed, Absent, Absent, Absent], 3), Release::NotHeld);
    assert_eq!(judge(&[Absent, Absent, Absent, silent, silent], 3), Release::NotHeld);
    assert!(unknown(&[Removed, Removed, Gone, Absent, Absent]));
    assert!(unknown(&[Removed, Removed, silent, Absent, Absent]));
    assert!(unknown(&[Removed, Removed, unreached, Absent, Absent]));
}

#[test]
fn a_release_asks_the_silent_masters_again() {
    let world = world(&["m2", "m3", "m5"], |call| match call.name() {
        "EVAL" if call.number < 4 => Answer::ResetBefore,
        _ => Answer::Normal,
    });
    let mut lock = world.lock("redlock", &five(), &settings());
    let lease = granted(world.run(lock.acquire("lock")));
    assert_eq!(world.run(lock.release(lease)), Release::Released);
    for master in MASTERS {
        assert_eq!(world.value(master, "lock"), None, "{master}");
    }
}

#[test]
fn a_release_whose_replies_were_lost_is_unknown_and_not_called_not_held() {
    let world = world(&["m1", "m2", "m3"], |call| match call.name() {
        "EVAL" => Answer::ResetAfter,
        _ => Answer::Normal,
    });
    let mut lock = world.lock("redlock", &five(), &settings());
    let lease = granted(world.run(lock.acquire("lock")));
    let release = world.run(lock.release(lease));
    assert_eq!(
        release,
        Release::Unknown("2 of 5 masters removed the key, 0 did not have it".to_owned())
    );
}

#[test]
fn an_expired_lock_is_not_held_any_more() {
    let world = world(&[], normal);
    let mut lock = world.lock("redlock", &five(), &settings());
    let lease = granted(world.run(lock.acquire("lock")));
    world.pass(11_000);
    assert_eq!(world.run(lock.release(lease)), Release::NotHeld);
}

#[test]
fn a_master_that_locked_and_then_fell_silent_may_still_hold_the_attempt() {
    let world = world(&["m4"], |call| match call.name() {
        "EVALSHA" => Answer::Dropped,
        _ => Answer::Normal,
    });
    for master in ["m1", "m2", "m3"] {
        world.store(master, |store| store.set("lock", "another", None));
    }
    let mut lock = world.lock("redlock", &five(), &one_attempt());
    assert_eq!(world.run(lock.acquire("lock")), Acquisition::Unknown("locked 2 of 5".to_owned()));
    assert!(world.value("m4", "lock").is_some());
    assert_eq!(world.value("m5", "lock"), None);
}

#[test]
fn libraries_report_a_failure_although_a_master_keeps_the_value() {
    for name in ["redlock-py", "redsync"] {
        let world = world(&["m4"], |call| match call.name() {
            "EVALSHA" => Answer::Dropped,
            _ => Answer::Normal,
        });
        for master in ["m1", "m2", "m3"] {
            world.store(master, |store| store.set("lock", "another", None));
        }
        let mut lock = world.lock(name, &five(), &one_attempt());
        let outcome = world.run(lock.acquire("lock"));
        assert_eq!(outcome, Acquisition::Refused("locked 2 of 5".into()), "{name}");
        assert!(world.value("m4", "lock").is_some(), "{name}");
    }
}
