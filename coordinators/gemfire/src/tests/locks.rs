use super::world::World;
use fencepost_testing::Crash;

fn world(processes: &[&str]) -> World {
    let mut world = World::of(3);
    for process in processes {
        world.join(process);
    }
    world.beat(processes, 300);
    world
}

#[test]
fn a_lock_has_one_holder_and_waiters_are_served_in_order() {
    let mut world = world(&["a", "b", "c"]);
    let [a, b, c] =
        ["a", "b", "c"].map(|process| world.lock(process, &format!("lock 1 9000000 {}", 0)));
    world.run(20);
    assert_eq!([world.received(a), world.received(b), world.received(c)], ["granted 0", "", ""]);
    assert_eq!(world.unlock("a", "lock 1"), "unlocked");
    assert_eq!([world.received(b), world.received(c)], ["granted 0", ""]);
    assert_eq!(world.unlock("a", "lock 1"), "unlocked", "the same call gets the same answer");
    assert_eq!(world.unlock("b", "lock 1"), "unlocked");
    assert_eq!(world.received(c), "granted 0");
    let told = ["Granted a-1", "Removed a-1", "Granted b-1", "Removed b-1", "Granted c-1"];
    assert_eq!(world.tap_lines(2), told);
}

#[test]
fn a_call_waits_as_long_as_it_says_and_is_void_once_given_up() {
    let mut world = world(&["a", "b"]);
    world.lock("a", "lock 1 0 0");
    let waits = world.lock("b", "lock 1 500000 0");
    world.run(450);
    assert_eq!(world.received(waits), "");
    world.run(100);
    assert_eq!(world.received(waits), "timeout");
    assert_eq!(world.unlock("b", "lock 2"), "not-held");
    let late = world.lock("b", "lock 2 500000 0");
    world.run(20);
    assert_eq!(world.received(late), "released");
}

#[test]
fn a_lease_ends_to_the_millisecond() {
    let mut world = world(&["a", "b"]);
    let held = world.lock("a", "lock 1 0 3000");
    world.run(20);
    assert!(world.received(held).starts_with("granted 1"));
    let waits = world.lock("b", "lock 1 9000000 0");
    world.beat(&["a", "b"], 2_900);
    assert_eq!(world.received(waits), "");
    world.run(120);
    assert_eq!(world.received(waits), "granted 0");
    assert_eq!(world.unlock("a", "lock 1"), "not-held");
}

#[test]
fn the_locks_of_a_process_that_departs_are_released() {
    let mut world = world(&["a", "b"]);
    world.lock("a", "lock 1 0 0");
    let waits = world.lock("b", "lock 1 60000000 0");
    world.beat(&["b"], 4_500);
    assert_eq!(world.received(waits), "");
    world.beat(&["b"], 2_000);
    assert_eq!(world.received(waits), "granted 0");
    assert_eq!(world.unlock("a", "lock 1"), "departed");
}

#[test]
fn a_holder_outlives_the_death_of_its_grantor() {
    let mut world = world(&["a", "b"]);
    world.lock("a", "lock 1 0 0");
    world.holds("a", "lock 1 0");
    world.beat(&["a", "b"], 500);
    world.crash(2, Crash::Process);
    world.beat(&["a", "b"], 5_000);
    assert_eq!(world.grantor(), Some(1));
    let waits = world.lock("b", "lock 1 60000000 0");
    world.beat(&["a", "b"], 1_000);
    assert_eq!(world.received(waits), "", "its holder is a");
    assert_eq!(world.unlock("a", "lock 1"), "unlocked");
    assert_eq!(world.received(waits), "granted 0");
    assert_eq!(world.tap_lines(1), ["Restored a-1", "Removed a-1", "Granted b-1"]);
}

#[test]
fn a_new_grantor_waits_for_members_that_have_not_told_what_they_hold() {
    let mut world = world(&["a", "b"]);
    world.lock("a", "lock 1 0 0");
    world.holds("a", "lock 1 0");
    world.beat(&["a", "b"], 500);
    world.crash(2, Crash::Process);
    world.beat(&["b"], 4_000);
    assert_eq!(world.grantor(), None, "a may hold something");
    let version = world.numbers(1).1;
    assert_eq!(world.ask(1, &format!("lock b {version} lock 1 0 0")), "busy");
    world.beat(&["b"], 3_000);
    assert_eq!(world.grantor(), Some(1), "a has departed");
}

#[test]
fn a_value_is_at_every_server_and_never_goes_back() {
    let mut world = world(&["a"]);
    let view = world.numbers(0).0;
    for at in 0..3 {
        assert_eq!(world.ask(at, &format!("put a {view} lock 2")), "done");
        assert_eq!(world.ask(at, &format!("put a {view} lock 1")), "done");
        assert_eq!(world.ask(at, &format!("get a {view} lock")), "value 2");
    }
    world.crash(1, Crash::Process);
    world.beat(&["a"], 5_000);
    world.start(1);
    world.beat(&["a"], 2_000);
    let view = world.numbers(1).0;
    assert_eq!(world.ask(1, &format!("get a {view} lock")), "value 2", "it was copied");
    assert_eq!(world.ask(0, &format!("put a {} lock 3", view - 1)), "later");
    assert_eq!(world.ask(0, &format!("put z {view} lock 3")), "departed");
}
