//! Sends arbitrary bytes to a ZooKeeper server. If the input begins with 5, the server is one of
//! three, and pieces of kind 5 or more are from another server. Otherwise, a new client must then
//! get a session.

use crate::bench::{Bench, START};
use fencepost_machine::{ConnectionId, DiskImage, Now};
use fencepost_zookeeper::{Config, Member, ZooKeeper};

const CONNECT: &[u8] = b"\0\0\0\x2d\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0f\xa0\0\0\0\0\0\0\0\0\
    \0\0\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

fn look_at(server: &mut Bench<ZooKeeper>, client: ConnectionId) -> usize {
    let mut frames = 0;
    for (to, said) in server.sent.drain(..) {
        let mut rest = if to == client { &said[..] } else { &[] };
        while let Some((length, more)) = rest.split_first_chunk() {
            rest = more.get(u32::from_be_bytes(*length) as usize..).expect("a whole frame");
            frames += 1;
        }
        assert!(rest.is_empty(), "half a frame: {rest:?}");
    }
    frames
}

fn enter(server: &mut Bench<ZooKeeper>) -> ConnectionId {
    let client = server.accept();
    server.receive(client, CONNECT);
    client
}

pub(super) fn run(input: &[u8]) {
    let is_alone = input.first() != Some(&5);
    let member = |id| Member { id, host: format!("zookeeper-{id}"), port: 2181 };
    let members = if is_alone { Vec::new() } else { (1..=3).map(member).collect() };
    let config = Config { members, ..Config::default() };
    let machine = ZooKeeper::new(config, &DiskImage::default(), Now::unstepped(START));
    let mut server = Bench::of(machine);
    let client = enter(&mut server);
    let clients = [client, server.accept(), server.accept()];
    server.play(clients, 1, input, Some(5), |server, _| {
        look_at(server, client);
    });
    let last = enter(&mut server);
    assert!(!is_alone || look_at(&mut server, last) == 1, "a new client gets a session");
}
