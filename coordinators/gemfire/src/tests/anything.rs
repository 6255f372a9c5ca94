use crate::{Config, GemFire};
use fencepost_testing::{Bench, members};
use proptest::prelude::*;

fn bench(count: usize) -> Bench<GemFire> {
    let servers = members(count, 1, 2_000);
    Bench::new(|_, now| GemFire::new(Config { servers, ..Config::default() }, now))
}

fn line() -> impl Strategy<Value = String> {
    let life = "{\"id\":2,\"born\":7}";
    let view = format!(
        "{{\"system\":7,\"number\":514,\"servers\":[{life}],\"processes\":[\"a\"],\
         \"grantor\":{{\"server\":{life},\"version\":514}}}}"
    );
    let word = prop_oneof![
        Just("a".to_owned()),
        Just("1".to_owned()),
        Just("lock".to_owned()),
        Just("0".to_owned()),
        Just(u64::MAX.to_string()),
        Just(view.clone()),
        Just(format!("{{\"view\":{view},\"region\":{{\"lock\":3}}}}")),
        "[ -~]{0,12}",
    ];
    let verb = prop::sample::select(vec![
        "join", "alive", "lock", "unlock", "get", "put", "server", "prepare", "ack", "refuse",
        "install",
    ]);
    (verb, prop::collection::vec(word, 0..8))
        .prop_map(|(verb, words)| format!("{verb} {}\n", words.join(" ")))
}

proptest! {
    #[test]
    fn no_line_makes_a_server_panic(
        count in prop::sample::select(vec![1, 3]),
        lines in prop::collection::vec((0_u32..3, line(), 0_u64..20_000_000), 0..40),
    ) {
        let mut bench = bench(count);
        let connections: Vec<u32> = (0..3).map(|_| bench.connect()).collect();
        if count > 1 {
            bench.send(connections[0], b"server 2\n");
        }
        for (at, line, pause) in lines {
            bench.send(connections[at as usize], line.as_bytes());
            bench.pass(pause);
        }
        let last = bench.connect();
        bench.send(last, b"nonsense\n");
        prop_assert!(bench.take_words(last).starts_with("error request 'nonsense'"));
    }

    #[test]
    fn what_is_cut_is_served_as_a_whole(cut in 0_usize..15) {
        let mut bench = bench(1);
        let (connection, whole) = (bench.connect(), b"join a\nget\n");
        let cut = cut.min(whole.len());
        bench.send(connection, &whole[..cut]);
        bench.send(connection, &whole[cut..]);
        let heard = bench.take_words(connection);
        prop_assert!(heard.starts_with("joined "), "{}", heard);
        prop_assert!(heard.contains(" | error request 'get'"), "{}", heard);
    }
}
