//! Sends bytes to a PostgreSQL server. Its clients must receive complete messages.

use crate::bench::{Bench, START};
use fencepost_machine::{ConnectionId, DiskImage, Now};
use fencepost_postgresql::{Config, Postgresql};

const STARTUP: &[u8] = b"\0\0\0\x11\0\x03\0\0user\0me\0\0";
const TABLE: &str = "CREATE TABLE t (k int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1)";
const QUESTION: &[u8] = b"Q\0\0\0\x0dSELECT 1\0";

fn look_at(server: &mut Bench<Postgresql>, client: ConnectionId) -> Vec<u8> {
    let mut kinds = Vec::new();
    for (to, said) in server.sent.drain(..).filter(|(to, _)| *to == client) {
        let mut rest = &said[..];
        while let Some((head, _)) = rest.split_first_chunk::<5>() {
            let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
            rest = rest.get(1 + length as usize..).expect("a whole message");
            kinds.push(head[0]);
        }
        assert!(rest.is_empty(), "half a message to {to:?}: {rest:?}");
    }
    kinds
}

fn enter(server: &mut Bench<Postgresql>) -> ConnectionId {
    let client = server.accept();
    server.receive(client, STARTUP);
    client
}

pub(super) fn run(input: &[u8]) {
    let config = Config { schema: TABLE.to_owned(), ..Config::default() };
    let machine = Postgresql::new(config, &DiskImage::default(), Now::unstepped(START));
    let mut server = Bench::of(machine);
    let clients = [enter(&mut server), enter(&mut server), server.accept()];
    server.play(clients, 2, input, None, |server, kind| {
        look_at(server, clients[usize::from(kind == 1)]);
    });
    let last = enter(&mut server);
    look_at(&mut server, last);
    server.receive(last, QUESTION);
    assert_eq!(look_at(&mut server, last), *b"TDCZ", "a row, its end, and ready for the next");
}
