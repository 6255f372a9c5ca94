use super::world::{World, login, packet, query};
use crate::{Config, Mysql};
use fencepost_testing::disks;
use proptest::prelude::*;

fn answers<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> Vec<u8> {
    let schema = "CREATE DATABASE d; USE d; CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(3))";
    let mut world = World::of(Config { schema: schema.to_owned(), ..Config::default() });
    let id = world.connect();
    for bytes in pieces {
        world.send(id, bytes);
    }
    world.take(id)
}

const WORDS: &[&str] = &[
    "SELECT", "DO", "SET", "USE", "KILL", "QUERY", "SHOW WARNINGS", "BEGIN", "COMMIT", "FROM",
    "DUAL", "LIMIT", "AS", "a", "`b`", "'c'", "\"d", "GET_LOCK('a', 0)", "RELEASE_LOCK('a')",
    "GET_LOCK(", "IS_USED_LOCK(", "CONCAT(", ")", "(", ",", ";", "=", "<=>", "<>", "IS NULL",
    "NOT", "NULL", "TRUE", "1", "-", "1.5", "99999999999999999999", "@@", "autocommit",
    "wait_timeout", "session.", "NAMES", "utf8", "latin1", "/*", "*/", "-- ", "#", "\n", "é", "\0",
    "\\", "TRANSACTION ISOLATION LEVEL", "READ", "COMMITTED", "COLLATE",
    "INSERT IGNORE INTO t VALUES", "(1, 'x')", "ON DUPLICATE KEY UPDATE", "b = VALUES(b)",
    "UPDATE t SET b = 'y'", "DELETE FROM t", "SELECT * FROM t", "WHERE a = 1", "WHERE", "b IN (",
    "OR", "AND", "FOR UPDATE", "LOCK IN SHARE MODE", "SKIP LOCKED", "NOWAIT", "COUNT(*)", "NOW(3)",
    "INTERVAL 1 SECOND", "TIMESTAMPADD(SECOND,", "+", "CREATE TABLE u (a INT", "VARCHAR(3)",
    "TIMESTAMP(3)", "NOT NULL DEFAULT", "PRIMARY KEY", "DROP TABLE t", "ENGINE=InnoDB", ".",
];

fn statement() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(WORDS), 0..12).prop_map(|words| words.join(" "))
}

fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let odd = (any::<u8>(), prop::collection::vec(any::<u8>(), 0..24), 0_u8..2);
    let piece = prop_oneof![
        6 => statement().prop_map(|sql| query(&sql)),
        3 => odd.prop_map(|(command, body, number)| {
            packet(number, &[&[command % 0x24][..], &body].concat())
        }),
        1 => prop::collection::vec(any::<u8>(), 0..9),
        1 => Just(packet(0, b"\x1b\0\0")),
        1 => Just(packet(0, b"")),
    ];
    let first = prop_oneof![
        8 => Just([login(), query("USE d")].concat()),
        1 => Just(Vec::new()),
        1 => prop::collection::vec(any::<u8>(), 0..60).prop_map(|body| packet(1, &body)),
    ];
    (first, prop::collection::vec(piece, 0..12))
        .prop_map(|(first, pieces)| [first, pieces.concat()].concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_it_panic_and_pieces_do_not_matter(bytes in hostile(), size in 1_usize..40) {
        let (whole, split) = (answers([&bytes[..]]), answers(bytes.chunks(size)));
        prop_assert_eq!(String::from_utf8_lossy(&whole), String::from_utf8_lossy(&split));
    }

    #[test]
    fn no_bytes_make_the_wording_panic(bytes: Vec<u8>) {
        use fencepost_machine::wording::Speaker;
        crate::wording::wording(Speaker::Server, &bytes);
        crate::wording::wording(Speaker::Client, &bytes);
    }
}

#[test]
fn a_body_that_goes_on_in_the_next_packet_is_refused() {
    let mut world = World::new();
    let id = world.session();
    world.send(id, b"\xff\xff\xff\0\x03SELECT 1");
    let said = world.take_words(id);
    assert_eq!(said, "ERROR 1153: Got a packet bigger than 'max_allowed_packet' bytes");
    assert_eq!(world.closed, [id]);
}

#[test]
fn a_damaged_log_is_refused_and_a_cut_one_is_repaired() {
    let schema = "CREATE DATABASE d; USE d; CREATE TABLE t (k INT NOT NULL PRIMARY KEY);
        INSERT INTO t VALUES (1)";
    let mut world = World::of(Config { schema: schema.to_owned(), ..Config::default() });
    let id = world.session();
    for statement in ["USE d", "INSERT INTO t VALUES (2)", "DELETE FROM t WHERE k = 1"] {
        assert!(world.ask(id, statement).starts_with("OK"));
    }
    let image = world.disk.image();
    disks::check(&image, |disk| Mysql::new(Config::default(), disk));
}
