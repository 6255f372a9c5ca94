use super::world::World;

#[test]
fn a_lock_has_one_holder_and_each_holder_a_higher_generation() {
    let mut world = World::of(5);
    let (at, a, b) = (world.master(), world.session(), world.session());
    assert_eq!(world.ask(at, &format!("acquire {a} lock 1 0")), "acquired 1");
    assert_eq!(world.ask(at, &format!("acquire {a} lock 1 0")), "acquired 1", "it has it already");
    assert_eq!(world.ask(at, &format!("acquire {b} lock 1 0")), "waiting");
    assert_eq!(world.ask(at, &format!("check {b} lock 1")), "valid");
    assert_eq!(world.ask(at, &format!("release {a} lock 1")), "released");
    assert_eq!(world.ask(at, &format!("check {a} lock 1")), "invalid");
    assert_eq!(world.ask(at, &format!("acquire {b} lock 1 0")), "acquired 2", "it waited");
    assert_eq!(world.tap_lines(at), ["Granted 1-1", "Removed 1-1", "Granted 2-2"]);
}

#[test]
fn a_waiter_is_told_of_its_grant_by_an_event_on_its_keepalive() {
    let mut world = World::of(5);
    let (at, a, b) = (world.master(), world.session(), world.session());
    world.ask(at, &format!("acquire {a} lock 1 0"));
    world.ask(at, &format!("acquire {b} lock 1 0"));
    let alive = world.connect(at);
    world.send_line(alive, &format!("keepalive {b} 0"));
    world.run(1_000);
    assert_eq!(world.received(alive), "", "it is held");
    world.ask(at, &format!("release {a} lock 1"));
    let heard = world.received(alive);
    assert!(heard.ends_with(" 12000000 1 acquired lock"), "{heard}");
    world.send_line(alive, &format!("keepalive {b} 0"));
    world.run(20);
    assert!(world.received(alive).ends_with(" 1 acquired lock"));
    world.send_line(alive, &format!("keepalive {b} 1"));
    world.run(20);
    assert_eq!(world.received(alive), "");
}

#[test]
fn a_keepalive_is_answered_when_a_third_of_the_lease_is_left() {
    let mut world = World::of(1);
    let (at, a) = (world.master(), world.session());
    let alive = world.connect(at);
    world.send_line(alive, &format!("keepalive {a} 0"));
    world.run(7_900);
    assert_eq!(world.received(alive), "");
    world.run(100);
    let heard = world.received(alive);
    let words: Vec<&str> = heard.split(' ').collect();
    assert_eq!((words[0], words[3]), ("alive", "12000000"), "{heard}");
    let held: u64 = words[2].parse().unwrap();
    assert!((7_900_000..8_000_000).contains(&held), "{held}");
}

fn free_after(delay_us: u64) -> u64 {
    let mut world = World::of(5);
    let (at, a) = (world.master(), world.session());
    world.ask(at, &format!("acquire {a} lock 1 {delay_us}"));
    let mut passed = 0;
    loop {
        let b = world.session();
        if world.ask(at, &format!("acquire {b} lock 1 0")) == "acquired 2" {
            let told = world.tap_lines(at);
            assert_eq!(told[..2], ["Granted 1-1", "Expired 1-1"], "{told:?}");
            return passed;
        }
        world.ask(at, &format!("close {b}"));
        world.run(500);
        passed += 500;
    }
}

#[test]
fn a_lock_whose_holder_fails_is_free_after_its_lease_and_its_lock_delay() {
    assert!((11_000..=12_000).contains(&free_after(0)));
    assert!((36_000..=42_000).contains(&free_after(30_000_000)));
}

#[test]
fn a_lock_that_is_released_or_closed_has_no_lock_delay() {
    let mut world = World::of(5);
    let (at, a, b) = (world.master(), world.session(), world.session());
    world.ask(at, &format!("acquire {a} lock 1 60000000"));
    assert_eq!(world.ask(at, &format!("close {a}")), "closed");
    assert_eq!(world.ask(at, &format!("acquire {b} lock 1 0")), "acquired 2");
    assert_eq!(world.ask(at, &format!("release {a} lock 1")), "expired");
}

#[test]
fn what_is_delayed_until_after_a_release_does_nothing() {
    let mut world = World::of(5);
    let (at, a, b) = (world.master(), world.session(), world.session());
    world.ask(at, &format!("acquire {a} lock 1 0"));
    world.ask(at, &format!("release {a} lock 1"));
    assert_eq!(world.ask(at, &format!("acquire {a} lock 1 0")), "released", "an old acquire");
    assert_eq!(world.ask(at, &format!("acquire {a} lock 2 0")), "acquired 2");
    assert_eq!(world.ask(at, &format!("release {a} lock 1")), "released", "an old release");
    assert_eq!(world.ask(at, &format!("check {b} lock 2")), "valid");
}

#[test]
fn a_keepalive_is_answered_when_the_next_one_comes() {
    let mut world = World::of(1);
    let (at, a) = (world.master(), world.session());
    let (old, new) = (world.connect(at), world.connect(at));
    world.send_line(new, &format!("keepalive {a} 0"));
    world.run(20);
    world.send_line(old, &format!("keepalive {a} 0"));
    world.run(20);
    assert!(world.received(new).starts_with("alive 1 "), "the one that came late does not hide it");
}

#[test]
fn nonsense_is_answered_with_what_is_valid() {
    let mut world = World::of(1);
    for (line, answer) in [
        ("hello", "error request 'hello': expected master, open, keepalive, acquire,"),
        ("keepalive 1 x 0", "error number 'x': expected 0 to "),
        ("acquire 1 1 lock 1 60000001", "error lock-delay '60000001': expected 0 to 60000000"),
        ("acquire 9 1 lock 1 0", "expired"),
    ] {
        let heard = world.ask(0, line);
        assert!(heard.starts_with(answer), "{line}: {heard}");
    }
    let long = world.ask(0, &"a".repeat(2_000));
    assert_eq!(long, "error line too long: expected at most 1024 bytes");
}
