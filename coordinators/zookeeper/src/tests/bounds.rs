use super::anything::feed;
use crate::config::Config;
use crate::server::ZooKeeper;
use fencepost_machine::{ConnectionId, DiskImage, Input, Machine, Now, Outputs};

fn server(config: Config) -> ZooKeeper {
    let mut server = ZooKeeper::new(config, &DiskImage::default(), Now::default());
    server.handle(Input::Timer, Now::default(), &mut Outputs::default());
    server
}

fn accept(server: &mut ZooKeeper, number: u32, peer: &str) -> ConnectionId {
    let connection = ConnectionId(number);
    let accepted = Input::Accepted { connection, peer };
    server.handle(accepted, Now::default(), &mut Outputs::default());
    connection
}

fn is_kept(server: &mut ZooKeeper, number: u32, peer: &str) -> bool {
    let connection = accept(server, number, peer);
    feed(server, connection, &[0, 0, 0, 45]);
    server.connections.contains_key(&connection)
}

#[test]
fn one_host_gets_so_many_clients_and_another_one_as_many() {
    let mut server = server(Config { clients_per_host_max: 2, ..Config::default() });
    let kept = |server: &mut ZooKeeper, numbers: std::ops::Range<u32>, host: &str| {
        let kept = numbers.filter(|number| is_kept(server, *number, &format!("{host}:{number}")));
        kept.count()
    };
    assert_eq!(kept(&mut server, 0..4, "10.0.0.1"), 2);
    assert_eq!(kept(&mut server, 4..8, "::1"), 2);
    server.handle(
        Input::Closed { connection: ConnectionId(0) },
        Now::default(),
        &mut Outputs::default(),
    );
    assert_eq!(kept(&mut server, 8..10, "10.0.0.1"), 1, "a place is free again");
}

#[test]
fn all_hosts_together_get_so_many_clients_and_members_need_no_place() {
    let members = fencepost_testing::members(3, 1, 1);
    let mut server = server(Config { clients_max: 3, members, ..Config::default() });
    let kept = (0..9).filter(|number| is_kept(&mut server, *number, &format!("h{number}:1")));
    assert_eq!(kept.count(), 3);
    let member = accept(&mut server, 9, "2:1");
    feed(&mut server, member, &crate::member::links::greeting(2));
    assert!(server.connections.contains_key(&member));
}

#[test]
fn of_too_many_who_say_nothing_the_first_goes() {
    let mut server = server(Config { clients_max: 3, ..Config::default() });
    (0..5).for_each(|number| {
        accept(&mut server, number, "h:1");
    });
    assert_eq!(server.connections.keys().map(|id| id.0).collect::<Vec<_>>(), [2, 3, 4]);
}
