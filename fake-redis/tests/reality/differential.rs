use crate::comparison::{is_comparable, same};
use crate::real::{RealRedis, encode};
use crate::sequences::sequence;
use fake_redis::{
    ConnectionId, DiskImage, Input, Machine, Node, NodeConfig, Now, Output, Outputs, WallTime,
};
use fencepost_testing::differential::differential;
use proptest::prelude::*;
use std::time::{SystemTime, UNIX_EPOCH};

const CASES: u32 = 5_000;
const SHRINK_MAX: u32 = 4_000;

#[expect(clippy::disallowed_methods, reason = "the real server lives by the real clock")]
fn now() -> WallTime {
    WallTime(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as i64)
}

struct Fake {
    node: Node,
}

impl Fake {
    fn start() -> Fake {
        let mut fake = Fake {
            node: Node::new(
                NodeConfig { active_expire: false, ..NodeConfig::default() },
                DiskImage::default(),
                7,
                now(),
            ),
        };
        fake.input(Input::Timer);
        fake.input(Input::Accepted { connection: ConnectionId(0), peer: "127.0.0.1:50000" });
        fake
    }

    fn input(&mut self, input: Input<'_>) -> Vec<u8> {
        let (mut out, mut sent) = (Outputs::default(), Vec::new());
        self.node.handle(input, Now::unstepped(now()), &mut out);
        for output in out.list {
            if let Output::Send { bytes, .. } = output {
                sent.extend_from_slice(&bytes);
            }
        }
        sent
    }
}

fn check(real: &RealRedis, is_resp3: bool, commands: &[Vec<String>]) -> Result<(), TestCaseError> {
    let (mut stream, mut fake) = (real.connect(), Fake::start());
    stream.ask(&["FLUSHALL"]);
    if is_resp3 {
        stream.ask(&["HELLO", "3"]);
        fake.input(Input::Received {
            connection: ConnectionId(0),
            bytes: &encode(&["HELLO", "3"]),
        });
    }
    let commands: Vec<&Vec<String>> =
        commands.iter().filter(|words| is_comparable(words)).collect();
    let requests: Vec<Vec<u8>> = commands.iter().map(|words| encode(words)).collect();
    stream.write(&requests.concat());
    for (index, request) in requests.iter().enumerate() {
        let expected = stream.read();
        let answered = fake.input(Input::Received { connection: ConnectionId(0), bytes: request });
        let history = &commands[..=index];
        let name = commands[index][0].to_ascii_uppercase();
        prop_assert!(
            same(&expected, &answered, &name, history),
            "real {:?}\nfake {:?}\nafter\n{:?}",
            String::from_utf8_lossy(&expected),
            String::from_utf8_lossy(&answered),
            history
        );
    }
    Ok(())
}

#[test]
fn replies_are_those_of_a_real_redis() {
    let Some(real) = RealRedis::start(&["--enable-debug-command", "yes"]) else { return };
    real.connect().ask(&["DEBUG", "SET-ACTIVE-EXPIRE", "0"]);
    differential(CASES, SHRINK_MAX, &(any::<bool>(), sequence()), |(is_resp3, commands)| {
        check(&real, is_resp3, &commands)
    });
}
