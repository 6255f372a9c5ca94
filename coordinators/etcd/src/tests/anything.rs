use super::world::World;
use crate::Etcd;
use crate::config::Config;
use fencepost_machine::Now;
use fencepost_testing::disks;
use proptest::collection::vec;
use proptest::prelude::*;

const WHOLE: &[&str] = &[
    "POST /v3/kv/put HTTP/1.1\r\nHost: a\r\nContent-Length: 30\r\n\r\n\
     {\"key\":\"YQ==\",\"value\":\"MQ==\"}",
    "POST /v3/kv/txn HTTP/1.1\r\nHost: a\r\nContent-Length: 46\r\n\r\n\
     {\"success\":[{\"request_put\":{\"key\":\"YQ==\"}}]}  ",
    "POST /v3/watch HTTP/1.1\r\nHost: a\r\nContent-Length: 39\r\n\r\n\
     {\"create_request\":{\"key\":\"YQ==\"}}       ",
    "\0etcd-peer\n\0\0\0\x02{}",
    "\0etcd-peer\n\0\0\0\x47\
     {\"from\":2,\"to\":1,\"term\":99999,\"body\":{\"Vote\":{\"index\":9,\"log_term\":9}}}",
    "\0etcd-peer\n\u{1}",
];

fn nearly_sound() -> impl Strategy<Value = Vec<u8>> {
    let edits = vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    (prop::sample::select(WHOLE), edits).prop_map(|(text, edits)| {
        let mut bytes = text.as_bytes().to_vec();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_bytes_stop_a_server(
        pieces in vec(prop_oneof![nearly_sound(), vec(any::<u8>(), 0..64)], 1..6),
    ) {
        let mut world = World::of(1, Config::default());
        world.run(2_500);
        for piece in pieces {
            let connection = world.connect(0);
            let (one, other) = piece.split_at(piece.len() / 2);
            world.send(0, connection, &one.to_vec().into());
            world.run(1);
            world.send(0, connection, &other.to_vec().into());
            world.run(5);
        }
        let said = world.ask(0, ("kv/put", "{\"key\":\"YQ==\"}"), 20);
        prop_assert!(said.starts_with("HTTP/1.1 200 OK"), "{said}");
    }
}

#[test]
fn a_damaged_log_is_refused_and_a_cut_one_is_repaired() {
    let mut world = World::of(1, Config::default());
    world.run(2_500);
    for body in ["{\"key\":\"YQ==\"}", "{\"key\":\"Yg==\",\"value\":\"MQ==\"}"] {
        let said = world.ask(0, ("kv/put", body), 20);
        assert!(said.starts_with("HTTP/1.1 200 OK"), "{said}");
    }
    disks::check(&world.disk(0).image(), |disk| Etcd::new(Config::default(), disk, Now::default()));
}
