use crate::{Chubby, Config};
use fencepost_machine::Now;
use fencepost_testing::{Bench, disks, members};
use proptest::prelude::*;

fn config(count: usize) -> Config {
    Config { members: members(count, 1, 2_000), seed: 1, ..Config::default() }
}

fn bench(count: usize) -> Bench<Chubby> {
    Bench::new(|disk, now| Chubby::new(config(count), disk, now))
}

fn line() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("1".to_owned()),
        Just("2".to_owned()),
        Just("lock".to_owned()),
        Just("0".to_owned()),
        Just(u64::MAX.to_string()),
        Just("{\"ballot\":66,\"index\":1,\"state\":".to_owned()),
        Just("{\"epoch\":1,\"sessions\":{},\"session_last\":0,\"locks\":{}}}".to_owned()),
        "[ -~]{0,12}",
    ];
    let verb = prop::sample::select(vec![
        "master", "open", "keepalive", "acquire", "release", "check", "close", "replica",
        "prepare", "promise", "refuse", "accept", "ack", "commit",
    ]);
    (verb, prop::collection::vec(word, 0..5))
        .prop_map(|(verb, words)| format!("{verb} {}\n", words.join(" ")))
}

proptest! {
    #[test]
    fn no_line_makes_a_replica_panic(
        count in prop::sample::select(vec![1, 5]),
        lines in prop::collection::vec((0_u32..3, line(), 0_u64..20_000_000), 0..40),
    ) {
        let mut bench = bench(count);
        let connections: Vec<u32> = (0..3).map(|_| bench.connect()).collect();
        for (at, line, pause) in lines {
            bench.send(connections[at as usize], line.as_bytes());
            bench.pass(pause);
        }
        let last = bench.connect();
        bench.send(last, b"master\n");
        prop_assert!(bench.take_words(last).starts_with("master "));
    }

    #[test]
    fn what_is_cut_is_served_as_a_whole(cut in 0_usize..15) {
        let mut bench = bench(1);
        let (connection, whole) = (bench.connect(), b"open\nmaster\n\n");
        let cut = cut.min(whole.len());
        bench.send(connection, &whole[..cut]);
        bench.send(connection, &whole[cut..]);
        let heard = bench.take_words(connection);
        prop_assert!(heard.starts_with("session 1 1 12000000 | master here | error "), "{}", heard);
    }
}

#[test]
fn a_damaged_disk_is_refused() {
    let mut bench = bench(1);
    let connection = bench.connect();
    bench.send(connection, b"open\nacquire 1 1 lock 1 0\n");
    let boot = |disk: &_| Chubby::new(config(1), disk, Now::default());
    disks::check(&bench.disk.image(), boot);
}
