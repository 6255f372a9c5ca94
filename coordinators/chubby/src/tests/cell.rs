use super::world::World;
use fencepost_testing::Crash;

fn fail_over(world: &mut World, old: usize) -> usize {
    for _ in 0..100 {
        world.run(100);
        if let Some(master) = world.masters().iter().copied().find(|at| *at != old) {
            return master;
        }
    }
    panic!("nobody was elected within 10 s");
}

#[test]
fn a_cell_has_one_master_whom_every_replica_names() {
    let mut world = World::of(5);
    let master = world.master();
    for at in 0..5 {
        let heard = world.ask(at, "master");
        let expected = format!("master {} 2000", master + 1);
        assert_eq!(heard, if at == master { "master here" } else { &expected });
    }
    let other = (master + 1) % 5;
    assert_eq!(world.ask(other, "open"), "not-master");
}

#[test]
fn locks_and_sessions_outlive_their_master_and_epochs_rise() {
    let mut world = World::of(5);
    let (old, a) = (world.master(), world.session());
    world.ask(old, &format!("acquire {a} lock 1 0"));
    world.crash(old, Crash::Power);
    let new = fail_over(&mut world, old);
    assert_eq!(world.ask(new, &format!("check {a} lock 1")), "epoch 2");
    assert_eq!(world.ask(new, "open"), "busy", "a session has not heard of the new master");
    let alive = world.connect(new);
    world.send_line(alive, &format!("keepalive {a} 1"));
    world.run(20);
    assert_eq!(world.received(alive), "alive 2 0 12000000 1 failed-over");
    let now = a.replace(" 1", " 2");
    assert_eq!(world.ask(new, &format!("check {now} lock 1")), "busy", "not acknowledged");
    world.send_line(alive, &format!("keepalive {now} 1"));
    world.run(20);
    assert_eq!(world.ask(new, &format!("check {now} lock 1")), "valid");
    assert!(world.ask(new, "open").starts_with("session 2 2 "));
}

#[test]
fn a_new_master_waits_for_silent_sessions_to_end() {
    let mut world = World::of(5);
    let (old, a) = (world.master(), world.session());
    world.ask(old, &format!("acquire {a} lock 1 20000000"));
    world.crash(old, Crash::Process);
    let new = fail_over(&mut world, old);
    world.run(13_000);
    assert_eq!(world.ask(new, "open"), "busy");
    world.run(1_000);
    let b = world.session();
    assert_eq!(world.ask(new, &format!("acquire {b} lock 1 0")), "waiting", "its lock-delay");
    assert!(!world.keep_alive(new, &b, 19));
    assert!(world.keep_alive(new, &b, 9));
}

#[test]
fn a_lock_delay_begins_anew_with_a_new_master() {
    let mut world = World::of(5);
    let (old, a) = (world.master(), world.session());
    world.ask(old, &format!("acquire {a} lock 1 60000000"));
    world.run(40_000);
    assert_eq!(world.tap_lines(old), ["Granted 1-1", "Expired 1-1"]);
    world.crash(old, Crash::Process);
    let new = fail_over(&mut world, old);
    let b = world.session();
    assert_eq!(world.ask(new, &format!("acquire {b} lock 1 0")), "waiting");
    assert!(!world.keep_alive(new, &b, 55));
    assert!(world.keep_alive(new, &b, 13));
    assert_eq!(world.ask(new, &format!("acquire {b} lock 1 0")), "acquired 2");
}

#[test]
fn a_master_without_a_majority_stops_before_another_is_elected() {
    let mut world = World::of(5);
    let (old, mut new) = (world.master(), None);
    world.isolate(old);
    for _ in 0..100 {
        world.run(100);
        let masters = world.masters();
        assert!(masters.len() < 2, "{masters:?}");
        new = masters.into_iter().find(|at| *at != old);
        if new.is_some() {
            break;
        }
    }
    assert!(new.is_some(), "the others elect one");
    world.heal();
    world.run(5_000);
    assert_eq!(Some(world.master()), new, "the old one follows");
}

#[test]
fn a_paused_master_answers_nothing_when_it_goes_on() {
    let mut world = World::of(5);
    let (old, a) = (world.master(), world.session());
    let alive = world.connect(old);
    world.pause(old);
    world.send_line(alive, &format!("keepalive {a} 0"));
    world.run(10_000);
    assert_ne!(world.masters(), [old]);
    world.resume(old);
    world.run(20);
    assert_eq!(world.received(alive), "", "its connection was closed");
    assert_eq!(world.masters().len(), 1);
}

#[test]
fn a_replica_that_was_cut_off_does_not_unseat_the_master() {
    let mut world = World::of(5);
    let master = world.master();
    let other = (master + 1) % 5;
    world.isolate(other);
    world.run(30_000);
    world.heal();
    world.run(10_000);
    assert_eq!(world.master(), master);
    let epoch = world.session();
    assert!(epoch.ends_with(" 1"), "{epoch}");
}

#[test]
fn a_cell_that_loses_its_power_keeps_what_it_acknowledged() {
    let mut world = World::of(5);
    let (at, a) = (world.master(), world.session());
    world.ask(at, &format!("acquire {a} lock 1 0"));
    (0..5).for_each(|at| world.crash(at, Crash::Power));
    (0..5).for_each(|at| world.start(at));
    let new = fail_over(&mut world, 5);
    let now = a.replace(" 1", " 2");
    let alive = world.connect(new);
    world.send_line(alive, &format!("keepalive {now} 1"));
    world.run(20);
    assert_eq!(world.ask(new, &format!("check {now} lock 1")), "valid");
}
