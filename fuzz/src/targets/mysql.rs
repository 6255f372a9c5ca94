//! Sends bytes to a MariaDB server. Its clients must receive complete packets.

use crate::bench::Bench;
use fencepost_machine::{ConnectionId, DiskImage};
use fencepost_mysql::{Config, Mysql};

/// Login packet of root without a password (protocol 4.1).
const LOGIN: &[u8] = b"\x26\0\0\x01\0\x82\0\0\0\0\0\x01\x2d\
    \0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0root\0\0";
const SCHEMA: &str = "CREATE DATABASE d; USE d; CREATE TABLE t (k INT PRIMARY KEY, v INT); \
                      INSERT INTO t VALUES (1, 1)";
const QUESTION: &[u8] = b"\x09\0\0\0\x03SELECT 1";
const PACKETS: usize = 5;

fn look_at(server: &mut Bench<Mysql>, client: ConnectionId) -> Vec<Option<u8>> {
    let mut firsts = Vec::new();
    for (to, said) in server.sent.drain(..).filter(|(to, _)| *to == client) {
        let mut rest = &said[..];
        while let Some((head, body)) = rest.split_first_chunk::<4>() {
            let length = u32::from_le_bytes([head[0], head[1], head[2], 0]);
            firsts.push(body.first().copied().filter(|_| length > 0));
            rest = body.get(length as usize..).expect("a whole packet");
        }
        assert!(rest.is_empty(), "half a packet to {to:?}: {rest:?}");
    }
    firsts
}

fn enter(server: &mut Bench<Mysql>) -> ConnectionId {
    let client = server.accept();
    server.receive(client, LOGIN);
    client
}

pub(super) fn run(input: &[u8]) {
    let config = Config { schema: SCHEMA.to_owned(), ..Config::default() };
    let mut server = Bench::of(Mysql::new(config, &DiskImage::default()));
    let clients = [enter(&mut server), enter(&mut server), server.accept()];
    server.play(clients, 2, input, None, |server, kind| {
        look_at(server, clients[usize::from(kind == 1)]);
    });
    let last = enter(&mut server);
    let greeting = look_at(&mut server, last);
    assert_eq!(greeting, [Some(10), Some(0)], "a greeting, and that it is let in");
    server.receive(last, QUESTION);
    assert_eq!(look_at(&mut server, last).len(), PACKETS);
}
