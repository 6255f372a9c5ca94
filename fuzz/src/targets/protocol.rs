//! Sends bytes on three connections to a Redis server. Each output must begin like a RESP reply.

use crate::bench::Bench;
use crate::targets::typed;
use fake_redis::{DiskImage, NodeConfig};

const FIRST_BYTES: &[u8] = b"+-:$*%~>_,#=(";

pub(super) fn run(input: &[u8]) {
    typed(input, check_input);
}

fn check_input(pieces: Vec<(u8, Vec<u8>)>) {
    let mut server = Bench::server(NodeConfig::default(), DiskImage::default());
    let clients = [server.accept(), server.accept(), server.accept()];
    for (client, bytes) in &pieces {
        server.receive(clients[usize::from(client % 3)], bytes);
        for (_, said) in server.sent.drain(..) {
            assert!(FIRST_BYTES.contains(&said[0]), "{said:?}");
        }
    }
}
