use super::client::{Client, DELETE};
use super::world::World;
use crate::jute::{Reader, Writer};
use fencepost_machine::{KeyChange, TapEvent};

fn contend(world: &mut World, client: &mut Client) -> String {
    let path = "/orders/lock-";
    let reply = client.ask(world, super::client::CREATE, super::client::creation(path, 3)).unwrap();
    Reader::new(&reply.record).text().unwrap()
}

fn tap_lines(taps: Vec<TapEvent>) -> Vec<(KeyChange, String, bool)> {
    tap_lines_of("orders", taps)
}

fn tap_lines_of(key: &str, taps: Vec<TapEvent>) -> Vec<(KeyChange, String, bool)> {
    let value = |tap: &TapEvent| String::from_utf8_lossy(tap.value.as_ref().unwrap()).into_owned();
    let is_whole = |tap: &TapEvent| {
        let stands = matches!(tap.change, KeyChange::Granted | KeyChange::Restored);
        tap.key == key && tap.token.is_some() == stands
    };
    assert!(taps.iter().all(is_whole), "{taps:?}");
    taps.iter().map(|tap| (tap.change, value(tap), tap.primary)).collect()
}

fn two_contenders(world: &mut World, leader: usize) -> (Client, Client, String) {
    let (mut first, mut second) = (Client::enter(world, leader), Client::enter(world, leader));
    assert_eq!(first.create(world, "/orders", 0), Some(0));
    let path = contend(world, &mut first);
    contend(world, &mut second);
    (first, second, path)
}

#[test]
fn the_first_in_the_queue_is_granted_the_lock() {
    let mut world = World::new(3);
    let leader = world.settle(3);
    let (mut first, _, path) = two_contenders(&mut world, leader);
    let granted = (KeyChange::Granted, "lock-0000000000".to_owned(), true);
    assert_eq!(tap_lines(world.taps(leader)), [granted]);
    let mut body = Writer::default();
    body.string(&path).int(-1);
    assert_eq!(first.ask(&mut world, DELETE, body).map(|reply| reply.code), Some(0));
    let removed = (KeyChange::Removed, "lock-0000000000".to_owned(), true);
    let granted = (KeyChange::Granted, "lock-0000000001".to_owned(), true);
    assert_eq!(tap_lines(world.taps(leader)), [removed.clone(), granted.clone()]);
    world.run(10);
    let follower = tap_lines(world.taps((leader + 1) % 3));
    let as_follower = |(change, value, _): (KeyChange, String, bool)| (change, value, false);
    assert_eq!(follower[1..], [as_follower(removed), as_follower(granted)]);
}

#[test]
fn who_is_silent_loses_the_lock_to_the_next() {
    let mut world = World::new(1);
    world.settle(1);
    let (_, mut second, _) = two_contenders(&mut world, 0);
    world.taps(0);
    second.live(&mut world, 12_000);
    let expired = (KeyChange::Expired, "lock-0000000000".to_owned(), true);
    let granted = (KeyChange::Granted, "lock-0000000001".to_owned(), true);
    assert_eq!(tap_lines(world.taps(0)), [expired, granted]);
}

#[test]
fn whose_the_first_node_is_is_told_again_when_its_session_comes_back() {
    let mut world = World::new(3);
    let leader = world.settle(3);
    let (mut first, mut second, _) = two_contenders(&mut world, leader);
    world.run(10);
    let other = (leader + 1) % 3;
    world.taps(other);
    world.hang_up(first.connection);
    assert!(first.reconnect(&mut world, other) && second.reconnect(&mut world, other));
    let taps = world.taps(other);
    let (owner, another) = (world.at_server(first.connection), world.at_server(second.connection));
    assert!(owner.is_some() && owner != another);
    assert!(taps.iter().all(|tap| tap.by == owner), "{taps:?}");
    let restored = (KeyChange::Restored, "lock-0000000000".to_owned(), false);
    assert_eq!(tap_lines(taps), [restored], "the second is not the first of the queue");
}

#[test]
fn a_session_that_contends_twice_is_told_as_long_as_it_does() {
    let mut world = World::new(1);
    world.settle(1);
    let (mut first, mut second, path) = two_contenders(&mut world, 0);
    world.taps(0);
    contend(&mut world, &mut second);
    let twice = "lock-0000000002".to_owned();
    let taps = world.taps(0);
    assert!(taps[0].by.is_some() && taps[0].by == world.at_server(second.connection));
    assert_eq!(tap_lines_of("orders/twice", taps), [(KeyChange::Granted, twice.clone(), true)]);
    let mut deletes = |client: &mut Client, path: &str| {
        let mut body = Writer::default();
        body.string(path).int(-1);
        assert_eq!(client.ask(&mut world, DELETE, body).map(|reply| reply.code), Some(0));
        world.taps(0)
    };
    assert_eq!(tap_lines(deletes(&mut first, &path)).len(), 2);
    let taps = deletes(&mut second, "/orders/lock-0000000001");
    let (of_lock, of_twice): (Vec<TapEvent>, Vec<TapEvent>) =
        taps.into_iter().partition(|tap| tap.key == "orders");
    assert_eq!(tap_lines_of("orders/twice", of_twice), [(KeyChange::Removed, twice.clone(), true)]);
    assert_eq!(tap_lines(of_lock)[1..], [(KeyChange::Granted, twice, true)]);
}

#[test]
fn the_order_of_a_semaphore_is_told_under_its_own_name() {
    let mut world = World::new(1);
    world.settle(1);
    let mut client = Client::enter(&mut world, 0);
    for path in ["/orders", "/orders/locks", "/orders/leases"] {
        assert_eq!(client.create(&mut world, path, 0), Some(0));
    }
    assert_eq!(client.create(&mut world, "/orders/locks/lock-", 3), Some(0));
    let first = |name: &str| [(KeyChange::Granted, format!("{name}0000000000"), true)];
    assert_eq!(tap_lines_of("orders/locks", world.taps(0)), first("lock-"));
    assert_eq!(client.create(&mut world, "/orders/leases/lease-", 3), Some(0));
    assert_eq!(tap_lines(world.taps(0)), first("lease-"));
}
