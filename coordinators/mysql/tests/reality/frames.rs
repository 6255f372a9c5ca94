use super::fake::Fake;
use super::packets::{
    CONNECT_WITH_DB, PLAIN, PLUGIN_AUTH, PROTOCOL_41, SECURE_CONNECTION, login, packet, query,
    root, shown, split,
};
use super::real::Real;
use std::io::{Read, Write};
use std::net::Shutdown;

fn real_answer(real: &Real, bytes: &[u8]) -> Vec<u8> {
    let mut stream = real.connect();
    let (mut said, mut buffer) = (Vec::new(), [0; 4_096]);
    // Wait for the greeting, because a client that disconnects earlier may never get it.
    while split(&said).is_empty() {
        let length = stream.read(&mut buffer).unwrap();
        said.extend_from_slice(&buffer[..length]);
    }
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        said.extend_from_slice(&buffer[..length]);
    }
    let greeting = split(&said)[0].1.len() + 4;
    said.split_off(greeting)
}

fn fake_answer(bytes: &[u8], piece: usize) -> Vec<u8> {
    let mut fake = Fake::start(3);
    let id = fake.connect();
    for bytes in bytes.chunks(piece) {
        fake.send(id, bytes);
    }
    fake.take(id)
}

fn check(real: &Real, cases: &[(&str, Vec<u8>)]) {
    let mut different = Vec::new();
    for (name, bytes) in cases {
        let expected = shown(&real_answer(real, bytes));
        for piece in [bytes.len().max(1), 7, 1] {
            let own = shown(&fake_answer(bytes, piece));
            if own != expected {
                let pieces = format!("{name}, in pieces of {piece}");
                different.push(format!("{pieces}\n  MariaDB: {expected}\n  ours:    {own}"));
            }
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
}

#[test]
fn odd_commands_are_answered_as_by_a_real_mariadb() {
    let Some(real) = Real::start() else { return };
    let after = query("SELECT 2");
    let command = |body: &[u8]| [packet(0, body), after.clone()].concat();
    let mut cases: Vec<(&str, Vec<u8>)> = vec![
        ("nothing", Vec::new()),
        ("two at once", [query("SELECT 1"), after.clone()].concat()),
        ("a number that is not the next", [packet(1, b"\x03SELECT 1"), after.clone()].concat()),
        ("another one", packet(7, b"\x0e")),
        ("an empty packet", command(b"")),
        ("half a header", after[..2].to_vec()),
        ("half a body", after[..8].to_vec()),
        ("the end", command(b"\x01")),
        ("a database", command(b"\x02mysql")),
        ("an unknown database", command(b"\x02nothing")),
        ("a database with a zero", command(b"\x02mysql\0")),
        ("no database", command(b"\x02")),
        ("a query that a zero ends", command(b"\x03SELECT 1\0")),
        ("a query with a zero in it", command(b"\x03SELECT \0 1")),
        ("a query that is no text", command(b"\x03SELECT '\xff\xfe'")),
        ("a query that is empty", command(b"\x03")),
        ("an unknown session", command(b"\x0c\xff\xff\xff\x7f")),
        ("a session with a short number", command(b"\x0c")),
        ("a ping with more", command(b"\x0eabc")),
        ("data for no statement", command(b"\x18\x01\0\0\0\0\0x")),
        ("no statement to close", command(b"\x19\x01\0\0\0")),
        ("an unknown option", command(b"\x1b\x02\0")),
        ("a new beginning", command(b"\x1f")),
        (
            "several statements",
            [packet(0, b"\x1b\0\0"), query("SELECT 1; DO 2; SELECT x; SELECT 3"), after.clone()]
                .concat(),
        ),
        (
            "several statements no longer",
            [packet(0, b"\x1b\0\0"), packet(0, b"\x1b\x01\0"), query("SELECT 1; SELECT 3")]
                .concat(),
        ),
        (
            "locks before and after a new beginning",
            [
                query("SELECT GET_LOCK('x', 0)"),
                packet(0, b"\x1f"),
                query("SELECT IS_FREE_LOCK('x')"),
            ]
            .concat(),
        ),
    ];
    for kind in [0x00, 0x05, 0x06, 0x0b, 0x0f, 0x10, 0x13, 0x14, 0x1d, 0x1e, 0x20, 0x23, 0x63] {
        cases.push(("a command that is none", command(&[kind])));
    }
    let cases: Vec<(&str, Vec<u8>)> =
        cases.into_iter().map(|(name, bytes)| (name, [root(), bytes].concat())).collect();
    check(&real, &cases);
}

#[test]
fn odd_logins_are_answered_as_by_a_real_mariadb() {
    let Some(real) = Real::start() else { return };
    let after = query("SELECT 'a', DATABASE()");
    let native = b"mysql_native_password\0";
    let with = |user: &[u8], rest: &[&[u8]]| {
        let rest = [user, b"\0", &rest.concat()].concat();
        [login(PLAIN, 45, &rest), after.clone()].concat()
    };
    let of = |capabilities: u32, charset: u8, rest: &[u8]| {
        [login(capabilities, charset, rest), after.clone()].concat()
    };
    let other = b"caching_sha2_password\0";
    let switched = |answer: &[u8]| {
        [login(PLAIN, 45, &[b"root\0\x01x", &other[..]].concat()), packet(3, answer), after.clone()]
            .concat()
    };
    let password = [&[20][..], &[b'x'; 20]].concat();
    let plain = PROTOCOL_41 | SECURE_CONNECTION;
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("root", with(b"root", &[b"\0", native])),
        ("nobody known", with(b"somebody", &[b"\0", native])),
        ("nobody", with(b"", &[b"\0", native])),
        ("a password", with(b"root", &[&password, native])),
        ("a password of nobody known", with(b"somebody", &[&password, native])),
        ("a password that is none", with(b"root", &[b"\x03abc", native])),
        ("more after it", with(b"root", &[b"\0", native, b"abc"])),
        ("another way, and none", switched(b"")),
        ("another way, and a password", switched(&[b'x'; 20])),
        ("another way, and nonsense", switched(b"abc")),
        ("a wrong number", packet(0, b"")),
        ("another wrong number", packet(2, b"abc")),
        ("HTTP", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec()),
        ("nothing at all", packet(1, b"")),
        ("too short", packet(1, b"\x05\xa6")),
        ("no end of the name", packet(1, &login(PLAIN, 45, b"root")[4..])),
        ("no way named", of(plain, 45, b"root\0\0")),
        ("encryption", of(PLAIN | 1 << 11, 45, b"")),
        ("a database", of(PLAIN | CONNECT_WITH_DB, 45, b"root\0\0mysql\0mysql_native_password\0")),
        ("an unknown one", of(PLAIN | CONNECT_WITH_DB, 45, b"root\0\0no\0mysql_native_password\0")),
        ("an empty one", of(PLAIN | CONNECT_WITH_DB, 45, b"root\0\0\0mysql_native_password\0")),
        ("latin1", of(plain, 8, b"root\0\0")),
        ("utf8mb3", of(plain, 33, b"root\0\0")),
        ("utf8mb4_unicode_ci", of(plain, 224, b"root\0\0")),
        ("an unknown character set", of(plain, 0, b"root\0\0")),
        ("a character set of MySQL 8", of(plain, 255, b"root\0\0")),
        (
            "several statements",
            [login(plain | 1 << 16, 45, b"root\0\0"), query("SELECT 1; SELECT 2")].concat(),
        ),
        (
            "no safe password",
            of(
                PLAIN & !SECURE_CONNECTION & !PLUGIN_AUTH | PLUGIN_AUTH,
                45,
                b"root\0\0mysql_native_password\0",
            ),
        ),
    ];
    check(&real, &cases);
}
