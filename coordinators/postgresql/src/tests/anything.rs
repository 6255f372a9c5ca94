use super::world::{World, message, query, startup};
use crate::{Config, Postgresql};
use fencepost_machine::Now;
use proptest::prelude::*;

fn answers<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> Vec<u8> {
    let mut world = World::new();
    let id = world.connect();
    for bytes in pieces {
        world.send(id, bytes);
    }
    world.take(id)
}

fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let words = [
        "SELECT", "INSERT INTO", "UPDATE t SET", "DELETE FROM", "t", "k", "v", "=", "1", "'a",
        "'b'", "(", ")", ",", "*", ";", "WHERE", "ORDER BY", "FOR UPDATE", "VALUES", "ON CONFLICT",
        "BEGIN", "COMMIT", "::int", "CAST(", "interval", "-", "$1", "99999999999999999999", "NULL",
        "AND", "now()", "count(*)", "LIMIT", "ROLLBACK TO a", "pg_advisory_lock(1)", "\"", "/*",
        "DEFAULT", "CREATE TABLE u (", "int", "PRIMARY KEY", "RETURNING", "SET", "lock_timeout",
        "1.5",
    ];
    let word = prop::sample::select(words.to_vec());
    let sql = prop::collection::vec(word, 0..12).prop_map(|words| query(&words.join(" ")));
    let kind = prop::sample::select(b"QPBDECSHXFdcfpx\0".to_vec());
    let odd = (kind, prop::collection::vec(any::<u8>(), 0..24))
        .prop_map(|(kind, body)| message(kind, &body));
    let piece = prop_oneof![
        6 => sql,
        3 => odd,
        1 => prop::collection::vec(any::<u8>(), 0..9),
        1 => Just(message(b'S', b"")),
        1 => Just(message(b'P', b"\0SELECT $1 + k FROM t WHERE v < $2\0\0\0")),
        1 => Just(message(b'B', b"\0\0\0\0\0\x02\0\0\0\x011\0\0\0\x012\0\0")),
        1 => Just(message(b'E', b"\0\0\0\0\0")),
    ];
    let all = prop::collection::vec(piece, 0..12);
    (prop::bool::weighted(0.9), all).prop_map(|(begins, pieces)| {
        let first = if begins { startup() } else { Vec::new() };
        [first, pieces.concat()].concat()
    })
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic_and_pieces_do_not_matter(bytes in hostile(), size in 1_usize..40) {
        let (whole, split) = (answers([&bytes[..]]), answers(bytes.chunks(size)));
        prop_assert_eq!(String::from_utf8_lossy(&whole), String::from_utf8_lossy(&split));
    }
}

#[test]
fn a_damaged_log_is_refused_and_a_cut_one_is_repaired() {
    let mut world = World::new();
    let id = world.session();
    for statement in ["INSERT INTO t VALUES (2, 2)", "DELETE FROM t WHERE k = 1"] {
        world.ask(id, statement);
    }
    fencepost_testing::disks::check(&world.disk.image(), |disk| {
        Postgresql::new(Config::default(), disk, Now::default())
    });
}
