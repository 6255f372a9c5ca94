use super::DELETE;
use crate::env::Monotonic;
use crate::lock::{Acquisition, Lease, Lock, Release, Settings};
use crate::owned_key::COMPARE_AND_DELETE;
use crate::testing::{Answer, Call, TestWorld, both, five, granted, normal, settings};
use std::rc::Rc;
use std::time::Duration;

const MASTERS: [&str; 5] = ["m1", "m2", "m3", "m4", "m5"];

fn one_attempt() -> Settings {
    Settings { acquire_timeout: Duration::from_millis(50), ..settings() }
}

fn serve(world: &TestWorld, masters: &[&str], mishaps: fn(&Call<'_>) -> Answer) {
    for master in masters {
        world.serve(master, mishaps);
    }
}

fn held(name: &str) -> (Rc<TestWorld>, Box<dyn Lock>, Lease) {
    let world = TestWorld::new();
    serve(&world, &MASTERS, normal);
    let mut lock = world.lock(name, &five(), &settings());
    let lease = granted(world.run(lock.acquire("lock")));
    world.trace();
    (world, lock, lease)
}

fn is_unlock(call: &Call<'_>) -> bool {
    call.name() == "EVALSHA"
        && [&COMPARE_AND_DELETE, &DELETE].iter().any(|script| script.digest() == call.words[1])
}

fn unlock_dropped(call: &Call<'_>) -> Answer {
    if is_unlock(call) { Answer::Dropped } else { Answer::Normal }
}

fn unlocks(world: &TestWorld) -> usize {
    world.trace().lines().filter(|line| line.contains("< EVALSHA")).count()
}

/// Acquires the lock at 1 s, and steps the wall clock 3 ms later.
fn acquired_across_a_step(name: &str, step_ms: i64) -> Acquisition {
    let world = TestWorld::new();
    serve(&world, &MASTERS, normal);
    world.pass(1_000);
    let mut lock = world.lock(name, &five(), &one_attempt());
    let env = world.env();
    let step = async {
        env.sleep(Duration::from_millis(3)).await;
        world.skew(0, step_ms);
    };
    world.run(both(lock.acquire("lock"), step)).0
}

#[test]
fn redlock_py_asks_each_master_once_and_never_reports_a_failed_release() {
    let (world, mut lock, lease) = held("redlock-py");
    serve(&world, &MASTERS, unlock_dropped);
    assert_eq!(world.run(lock.release(lease)), Release::Released);
    assert_eq!(unlocks(&world), 5);

    let (world, mut lock, lease) = held("redlock-py");
    world.pass(11_000);
    assert_eq!(world.run(lock.release(lease)), Release::Released);
}

#[test]
fn redlock_py_refuses_if_its_clock_steps_beyond_the_validity() {
    let refused = Acquisition::Refused("locked 5 of 5, too late".into());
    assert_eq!(acquired_across_a_step("redlock-py", 20_000), refused);
    let lease = granted(acquired_across_a_step("redlock-py", 5_000));
    assert_eq!(lease.valid_until, Some(Monotonic(1_000_000 + 9_898_000 - 5_000_000)));
    let lease = granted(acquired_across_a_step("redlock-py", -5_000));
    assert_eq!(lease.valid_until, Some(Monotonic(1_000_000 + 9_898_000 + 5_000_000)));
}

#[test]
fn node_redlock_counts_its_validity_on_the_wall_clock_and_grants_even_a_late_majority() {
    let lease = granted(acquired_across_a_step("node-redlock", 5_000));
    assert_eq!(lease.valid_until, Some(Monotonic(1_000_000 + 9_898_000 - 5_000_000)));
    let lease = granted(acquired_across_a_step("node-redlock", 20_000));
    assert!(lease.valid_until.is_some_and(|end| end < Monotonic(1_000_000)));
}

#[test]
fn node_redlock_releases_in_up_to_eleven_attempts() {
    let releases = |failures: usize| {
        let (world, mut lock, lease) = held("node-redlock");
        for master in ["m1", "m2", "m3"] {
            let mut left = failures;
            world.serve(master, move |call| {
                let fails = left > 0 && is_unlock(call);
                left -= usize::from(fails);
                if fails { Answer::ResetBefore } else { Answer::Normal }
            });
        }
        (world.run(lock.release(lease)), unlocks(&world))
    };
    let unknown = || Release::Unknown("0 of 5 masters removed the key".to_owned());
    assert_eq!(releases(10), (Release::Released, 55));
    assert_eq!(releases(11), (unknown(), 55));

    let (world, mut lock, lease) = held("node-redlock");
    world.pass(11_000);
    assert_eq!(world.run(lock.release(lease)), unknown(), "does not tell that the lock expired");
}

#[test]
fn redsync_counts_one_missing_key_as_an_expired_lock() {
    let (world, mut lock, lease) = held("redsync");
    world.store("m1", |store| store.clear());
    serve(&world, &["m2", "m3", "m4"], unlock_dropped);
    assert_eq!(world.run(lock.release(lease)), Release::NotHeld);
    assert_eq!(world.value("m5", "lock"), None);

    let (world, mut lock, lease) = held("redsync");
    for master in ["m1", "m2"] {
        world.store(master, |store| store.clear());
    }
    assert_eq!(world.run(lock.release(lease)), Release::Released);
}

#[test]
fn redsync_asks_each_master_once_and_does_not_know_why_a_release_failed() {
    let unknown = |taken: usize| {
        let reason = format!("1 of 5 masters removed the key, {taken} had another owner's");
        Release::Unknown(reason)
    };
    let (world, mut lock, lease) = held("redsync");
    serve(&world, &["m1", "m2", "m3", "m4"], unlock_dropped);
    let start = world.now();
    assert_eq!(world.run(lock.release(lease)), unknown(0));
    assert!(world.now() - start < 100_000, "asks in parallel");
    assert_eq!(unlocks(&world), 5);

    let (world, mut lock, lease) = held("redsync");
    world.store("m1", |store| store.clear());
    for master in ["m2", "m3", "m4"] {
        world.store(master, |store| store.set("lock", "another", None));
    }
    assert_eq!(world.run(lock.release(lease)), unknown(3));
}
