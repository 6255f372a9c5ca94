//! Sends bytes on three connections to a Redis server. Each output must begin like a RESP reply.

use crate::targets::typed;
use fake_redis::{
    ConnectionId, DiskImage, Input, Machine, Node, NodeConfig, Now, Output, Outputs, WallTime,
};

const START: WallTime = WallTime(1_700_000_000_000_000);
const ROUNDS_MAX: usize = 1_000_000;

fn handle(node: &mut Node, input: Input<'_>) {
    let mut out = Outputs::default();
    node.handle(input, Now::unstepped(START), &mut out);
    for _ in 0..ROUNDS_MAX {
        for output in out.list.drain(..) {
            if let Output::Send { bytes, .. } = output {
                assert!(matches!(
                    bytes[0],
                    b'+' | b'-'
                        | b':'
                        | b'$'
                        | b'*'
                        | b'%'
                        | b'~'
                        | b'>'
                        | b'_'
                        | b','
                        | b'#'
                        | b'='
                        | b'('
                ));
            }
        }
        if !out.more {
            return;
        }
        out.clear();
        node.handle(Input::Continue, Now::unstepped(START), &mut out);
    }
    panic!("the server never runs out of commands");
}

pub(super) fn run(input: &[u8]) {
    typed(input, check_input);
}

fn check_input(pieces: Vec<(u8, Vec<u8>)>) {
    let mut node = Node::new(NodeConfig::default(), DiskImage::default(), 1, START);
    handle(&mut node, Input::Timer);
    for connection in 0..3 {
        handle(
            &mut node,
            Input::Accepted { connection: ConnectionId(connection), peer: "127.0.0.1:50000" },
        );
    }
    for (connection, bytes) in &pieces {
        handle(
            &mut node,
            Input::Received { connection: ConnectionId(u32::from(connection % 3)), bytes },
        );
    }
}
