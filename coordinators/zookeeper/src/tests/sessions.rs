use super::client::{Client, SET_DATA, TIMEOUT_MS};
use super::world::World;
use crate::jute::Writer;
use fencepost_testing::Crash;

#[test]
fn a_silent_session_ends_with_its_nodes_and_a_living_one_does_not() {
    let mut world = World::new(1);
    world.settle(1);
    let (mut silent, mut living) = (Client::enter(&mut world, 0), Client::enter(&mut world, 0));
    assert_eq!(silent.create(&mut world, "/silent", 1), Some(0));
    assert_eq!(living.create(&mut world, "/living", 1), Some(0));
    living.live(&mut world, u64::from(TIMEOUT_MS.unsigned_abs()) + 2_000);
    let mut reader = Client::enter(&mut world, 0);
    assert!(!reader.sees(&mut world, "/silent") && reader.sees(&mut world, "/living"));
    assert!(world.is_closed(silent.connection));
    assert!(!silent.reconnect(&mut world, 0), "its session is over");
    assert_eq!(silent.session, 0);
}

#[test]
fn a_closed_connection_does_not_end_a_session() {
    let mut world = World::new(1);
    world.settle(1);
    let (mut client, mut reader) = (Client::enter(&mut world, 0), Client::enter(&mut world, 0));
    assert_eq!(client.create(&mut world, "/mine", 1), Some(0));
    world.hang_up(client.connection);
    world.run(2_000);
    assert!(reader.sees(&mut world, "/mine"));
    assert!(client.reconnect(&mut world, 0));
}

#[test]
fn a_restart_keeps_nodes_and_sessions() {
    let mut world = World::new(1);
    world.settle(1);
    let mut client = Client::enter(&mut world, 0);
    assert_eq!(client.create(&mut world, "/mine", 1), Some(0));
    world.crash(0, Crash::Power);
    world.start(0);
    assert!(client.reconnect(&mut world, 0));
    assert!(client.sees(&mut world, "/mine"));
    let mut gone = Client::enter(&mut world, 0);
    assert_eq!(gone.create(&mut world, "/gone", 1), Some(0));
    world.crash(0, Crash::Process);
    world.start(0);
    world.run(12_000);
    let mut reader = Client::enter(&mut world, 0);
    assert!(!reader.sees(&mut world, "/gone"));
}

#[test]
fn containers_go_once_their_last_child_has_gone() {
    let mut world = World::new(1);
    world.settle(1);
    let mut client = Client::enter(&mut world, 0);
    for (path, flags) in [("/used", 4), ("/unused", 4), ("/used/child", 1)] {
        let kind = if flags == 4 { 19 } else { 1 };
        let reply = client.ask(&mut world, kind, super::client::creation(path, flags));
        assert_eq!(reply.map(|reply| reply.code), Some(0));
    }
    world.run(75_000);
    let mut reader = Client::enter(&mut world, 0);
    assert!(!reader.sees(&mut world, "/used/child"));
    reader.live(&mut world, 60_000);
    assert!(!reader.sees(&mut world, "/used"), "its child went with its session");
    assert!(reader.sees(&mut world, "/unused"), "it never had a child");
}

#[test]
fn a_watch_is_told_before_the_reply_that_shows_the_change() {
    let mut world = World::new(3);
    let leader = world.settle(3);
    let mut watcher = Client::enter(&mut world, (leader + 1) % 3);
    assert_eq!(watcher.create(&mut world, "/watched", 0), Some(0));
    let mut body = Writer::default();
    body.string("/watched").bool(true);
    assert!(watcher.ask(&mut world, super::client::EXISTS, body).is_some());
    let mut body = Writer::default();
    body.string("/watched").buffer(None).int(-1);
    let xid = watcher.send(&mut world, SET_DATA, body);
    assert_eq!(watcher.next(&mut world, 5_000).map(|reply| reply.xid), Some(-1));
    assert_eq!(watcher.next(&mut world, 5_000).map(|reply| reply.xid), Some(xid));
}
