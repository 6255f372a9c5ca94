//! Sends arbitrary messages to a Sentinel, which must then answer. A part's first byte is its kind.

use crate::bench::{Bench, START, encode};
use crate::parts;
use fake_redis::sentinel::Address;
use fake_redis::{ConnectionId, Input, Sentinel, SentinelConfig};

struct World {
    sentinel: Bench<Sentinel>,
    subscribed: Vec<ConnectionId>,
}

impl World {
    fn connections(&mut self, wants_messages: bool) -> Vec<ConnectionId> {
        for (connection, bytes) in self.sentinel.sent.drain(..) {
            if bytes.windows(9).any(|word| word.eq_ignore_ascii_case(b"SUBSCRIBE")) {
                self.subscribed.push(connection);
            }
        }
        let is_wanted = |one: &ConnectionId| self.subscribed.contains(one) == wants_messages;
        self.sentinel.opened.iter().copied().filter(is_wanted).collect()
    }

    fn say(&mut self, wants_messages: bool, bytes: &[u8]) {
        for connection in self.connections(wants_messages) {
            if self.sentinel.opened.contains(&connection) {
                self.sentinel.receive(connection, bytes);
            }
        }
    }

    fn step(&mut self, client: ConnectionId, kind: u8, rest: &[u8]) {
        match kind {
            b'h' => self.say(true, &encode(&[b"message", b"__sentinel__:hello", rest])),
            b'i' => self.say(false, &encode(&[rest])[4..]),
            b'r' => self.say(false, rest),
            b's' => self.say(true, rest),
            b'c' => {
                let words: Vec<&[u8]> = rest.split(|byte| *byte == b' ').collect();
                self.sentinel.receive(client, &encode(&words));
            }
            b't' => self.sentinel.pass(rest.iter().map(|byte| u64::from(*byte)).sum::<u64>() * 10),
            b'x' => {
                for connection in std::mem::take(&mut self.sentinel.opened) {
                    self.sentinel.input(Input::Closed { connection });
                }
            }
            _ => {}
        }
    }
}

pub(super) fn run(input: &[u8]) {
    let mut config =
        SentinelConfig::new(Address::new("sentinel-1", 26379), Address::new("redis-1", 6379));
    (config.down_after_ms, config.failover_timeout_ms) = (1_000, 10_000);
    let sentinel = Bench::of(Sentinel::new(config, 1, START));
    let mut world = World { sentinel, subscribed: Vec::new() };
    let client = world.sentinel.accept();
    for (kind, rest) in parts(input) {
        world.step(client, kind, rest);
        world.sentinel.pass(100);
    }
    world.sentinel.pass(60_000);
    assert_eq!(world.sentinel.ask(&[b"PING"]), b"+PONG\r\n");
}
