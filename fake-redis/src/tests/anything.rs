use crate::commands;
use crate::testing::Bench;
use proptest::collection::vec;
use proptest::prelude::*;

fn names() -> Vec<Vec<&'static str>> {
    let plain = commands::table().all().map(|command| vec![command.name]);
    let contained = commands::table().all().flat_map(|container| {
        container.subcommands.iter().map(move |subcommand| vec![container.name, subcommand.name])
    });
    plain.chain(contained).collect()
}

fn argument() -> impl Strategy<Value = Vec<u8>> {
    let words = [
        "", "0", "1", "-1", "2", "10", "9223372036854775807", "-9223372036854775808",
        "9223372036854775808", "1e300", "-inf", "nan", "0.1", "0x7fffffffffffffffp16000", "k", "h",
        "s", "NX", "XX", "GT", "GET", "EX", "PX", "EXAT", "PXAT", "KEEPTTL", "MATCH", "COUNT",
        "TYPE", "*", "[a-", "\\", "ID", "ADDR", "SKIPME", "AUTH", "SETNAME", "return KEYS",
        "while", "DB", "WITHVALUES", "maxmemory", "on", "WRITE", "evict-volatile",
    ];
    prop_oneof![
        8 => proptest::sample::select(words.to_vec()).prop_map(|word| word.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 0..40),
    ]
}

fn call() -> impl Strategy<Value = Vec<Vec<u8>>> {
    (proptest::sample::select(names()), vec(argument(), 0..6)).prop_map(|(name, arguments)| {
        let name = name.into_iter().map(|word| word.as_bytes().to_vec());
        name.chain(arguments).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_command_panics_and_the_server_goes_on(
        calls in vec((0_u32..2, 0_i64..2_000, call()), 1..25),
    ) {
        let mut bench = Bench::new();
        bench.run("HSET h f 1 g 2");
        bench.run("SET s 10 PX 500");
        for (client, millis, words) in calls {
            let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
            bench.words(client, &words);
            bench.pass(millis);
        }
        bench.node.server_mut().end_pause();
        bench.node.server_mut().life.is_asleep = false;
        bench.node.server_mut().config.set([(&b"requirepass"[..], &b""[..])].into_iter()).unwrap();
        let answer = bench.type_at(2, "PING");
        let is_alive = answer == "+PONG" || bench.closed.iter().any(|closed| closed.0 == 2);
        prop_assert!(is_alive, "answered {}", answer);
    }
}
