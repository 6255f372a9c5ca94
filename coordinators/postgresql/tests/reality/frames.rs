use super::fake::Fake;
use super::messages::{message, query, shown, startup};
use super::real::Real;
use std::io::{Read, Write};
use std::net::Shutdown;

fn real_answer(real: &Real, bytes: &[u8]) -> Vec<u8> {
    let mut stream = real.connect();
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut said = Vec::new();
    let mut buffer = [0; 4_096];
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        said.extend_from_slice(&buffer[..length]);
    }
    said
}

fn fake_answer(bytes: &[u8], piece: usize) -> Vec<u8> {
    let mut fake = Fake::start();
    let id = fake.connect();
    for bytes in bytes.chunks(piece) {
        fake.send(id, bytes);
    }
    fake.take(id)
}

fn check(real: &Real, name: &str, bytes: &[u8]) {
    let all = [&startup()[..], bytes].concat();
    real.session().ask(&query("DROP TABLE IF EXISTS x"));
    let expected = shown(&real_answer(real, &all));
    for piece in [all.len(), 7, 1] {
        assert_eq!(expected, shown(&fake_answer(&all, piece)), "{name} in pieces of {piece}");
    }
}

fn parse(name: &str, sql: &str, types: &[u32]) -> Vec<u8> {
    let mut body = format!("{name}\0{sql}\0").into_bytes();
    body.extend((types.len() as u16).to_be_bytes());
    types.iter().for_each(|oid| body.extend(oid.to_be_bytes()));
    message(b'P', &body)
}

fn bind(portal: &str, statement: &str, values: &[Option<&[u8]>], formats: [&[u16]; 2]) -> Vec<u8> {
    let mut body = format!("{portal}\0{statement}\0").into_bytes();
    let list = |body: &mut Vec<u8>, list: &[u16]| {
        body.extend((list.len() as u16).to_be_bytes());
        list.iter().for_each(|one| body.extend(one.to_be_bytes()));
    };
    list(&mut body, formats[0]);
    body.extend((values.len() as u16).to_be_bytes());
    for value in values {
        match value {
            Some(value) => {
                body.extend((value.len() as u32).to_be_bytes());
                body.extend(*value);
            }
            None => body.extend((-1_i32).to_be_bytes()),
        }
    }
    list(&mut body, formats[1]);
    message(b'B', &body)
}

fn describe(kind: u8, name: &str) -> Vec<u8> {
    message(b'D', &[&[kind], name.as_bytes(), b"\0"].concat())
}

fn execute(portal: &str, rows: u32) -> Vec<u8> {
    message(b'E', &[portal.as_bytes(), b"\0", &rows.to_be_bytes()].concat())
}

fn sync() -> Vec<u8> {
    message(b'S', b"")
}

#[test]
fn odd_messages_are_answered_as_by_a_real_postgresql() {
    let Some(real) = Real::start() else { return };
    let after = query("SELECT 2");
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("an unknown kind", [&message(b'x', b"")[..], &after].concat()),
        ("a length that is too small", [&b"Q\0\0\0\x03"[..], &after].concat()),
        ("a length that is negative", [&b"Q\xff\xff\xff\xff"[..], &after].concat()),
        ("a Sync that is too long after a query", [&after[..], b"S\0\0\x40\0"].concat()),
        ("a Sync that is too long", [&b"S\0\0\x40\0"[..], &after].concat()),
        ("a query without its end", [&message(b'Q', b"SELECT 1")[..], &after].concat()),
        ("a query with more after it", [&message(b'Q', b"SELECT 1\0x")[..], &after].concat()),
        ("a query that is no text", [&message(b'Q', b"SELECT '\xff\xfe'\0")[..], &after].concat()),
        ("a text that is cut", [&message(b'Q', b"SELECT '\xc3\0")[..], &after].concat()),
        ("half a message", after[..7].to_vec()),
        (
            "what is left of a COPY",
            [&message(b'd', b"abc")[..], &message(b'c', b""), &after].concat(),
        ),
        ("a password that nobody asked for", [&message(b'p', b"x\0")[..], &after].concat()),
        ("the end", [&message(b'X', b"")[..], &after].concat()),
        (
            "an error, skipping to Sync",
            [&describe(b'S', "no")[..], &execute("", 0), &sync(), &after].concat(),
        ),
        ("an odd Describe", [&describe(b'Q', "")[..], &sync()].concat()),
        ("an odd Close", [&message(b'C', b"Q\0")[..], &sync()].concat()),
        ("a portal that is none", [&execute("no", 0)[..], &sync()].concat()),
        ("a short Execute", [&message(b'E', b"\0\0")[..], &sync()].concat()),
        ("a short Parse", [&message(b'P', b"\0SELECT 1\0\0\x01")[..], &sync()].concat()),
    ];
    for (name, bytes) in cases {
        check(&real, name, &bytes);
    }
}

#[test]
fn extended_queries_are_answered_as_by_a_real_postgresql() {
    let Some(real) = Real::start() else { return };
    let text: [&[u16]; 2] = [&[], &[]];
    let sum = "SELECT $1::int + 1 AS a, $2::text";
    let values: &[Option<&[u8]>] = &[Some(b"41"), None];
    let setup =
        "DROP TABLE IF EXISTS x; CREATE TABLE x (k int PRIMARY KEY, v varchar(9), c timestamp)";
    let insert = "INSERT INTO x VALUES ($1, $2, $3)";
    let row: &[Option<&[u8]>] = &[Some(b"1"), Some(b"one"), Some(b"2024-01-02 03:04:05.678")];
    let whole = |parts: &[Vec<u8>]| parts.concat();
    let cases: Vec<(&str, Vec<u8>)> = vec![
        (
            "described and executed",
            whole(&[
                parse("s", sum, &[]),
                describe(b'S', "s"),
                bind("", "s", values, text),
                describe(b'P', ""),
                execute("", 0),
                sync(),
            ]),
        ),
        (
            "binary values",
            whole(&[
                parse("", sum, &[23, 25]),
                bind("", "", &[Some(&[0, 0, 0, 9]), Some(b"x")], [&[1, 0], &[1]]),
                describe(b'P', ""),
                execute("", 0),
                sync(),
            ]),
        ),
        ("too few values", whole(&[parse("", sum, &[]), bind("", "", &[None], text), sync()])),
        (
            "a value that does not fit",
            whole(&[
                parse("", sum, &[]),
                bind("", "", &[Some(b"abc"), None], text),
                execute("", 0),
                sync(),
            ]),
        ),
        ("two statements in one", whole(&[parse("", "SELECT 1; SELECT 2", &[]), sync()])),
        (
            "nothing",
            whole(&[
                parse("", "", &[]),
                describe(b'S', ""),
                bind("", "", &[], text),
                execute("", 0),
                sync(),
            ]),
        ),
        ("a type that nobody can tell", whole(&[parse("", "SELECT $1 IS NULL", &[]), sync()])),
        (
            "rows of a table",
            whole(&[
                query(setup),
                parse("i", insert, &[]),
                describe(b'S', "i"),
                bind("", "i", row, text),
                execute("", 0),
                sync(),
                bind("", "i", row, text),
                execute("", 0),
                sync(),
                parse("", "SELECT * FROM x WHERE k = $1 AND c < $2 AND v = $3", &[]),
                describe(b'S', ""),
                bind("", "", &[Some(b"1"), Some(b"2030-01-01"), Some(b"one")], text),
                describe(b'P', ""),
                execute("", 0),
                sync(),
            ]),
        ),
        (
            "binary rows",
            whole(&[
                query(setup),
                query("INSERT INTO x VALUES (7, 'seven', '2024-02-29 23:59:59.5')"),
                parse("", "SELECT * FROM x", &[]),
                bind("", "", &[], [&[], &[1]]),
                execute("", 0),
                sync(),
            ]),
        ),
    ];
    for (name, bytes) in cases {
        check(&real, name, &bytes);
    }
}

#[test]
fn portals_and_transactions_of_extended_queries_are_those_of_a_real_postgresql() {
    let Some(real) = Real::start() else { return };
    let text: [&[u16]; 2] = [&[], &[]];
    let setup = "DROP TABLE IF EXISTS x; CREATE TABLE x (k int PRIMARY KEY, v varchar(9))";
    let whole = |parts: &[Vec<u8>]| parts.concat();
    let cases: Vec<(&str, Vec<u8>)> = vec![
        (
            "some rows at a time",
            whole(&[
                query(setup),
                query("INSERT INTO x VALUES (1, 'a'), (2, 'b'), (3, 'c')"),
                parse("", "SELECT k FROM x ORDER BY k", &[]),
                bind("p", "", &[], text),
                execute("p", 2),
                execute("p", 2),
                execute("p", 2),
                sync(),
            ]),
        ),
        (
            "one transaction until Sync",
            whole(&[
                query(setup),
                parse("", "INSERT INTO x VALUES (1)", &[]),
                bind("", "", &[], text),
                execute("", 0),
                parse("", "INSERT INTO x VALUES (1)", &[]),
                bind("", "", &[], text),
                execute("", 0),
                sync(),
                query("SELECT count(*) FROM x"),
            ]),
        ),
        (
            "a block",
            whole(&[
                parse("", "BEGIN", &[]),
                bind("", "", &[], text),
                execute("", 0),
                sync(),
                parse("", "SELECT 1/0", &[]),
                bind("", "", &[], text),
                execute("", 0),
                sync(),
                parse("", "SELECT 1", &[]),
                sync(),
                parse("", "ROLLBACK", &[]),
                bind("", "", &[], text),
                execute("", 0),
                sync(),
            ]),
        ),
        (
            "names that are taken and given back",
            whole(&[
                parse("a", "SELECT 1", &[]),
                parse("a", "SELECT 1", &[]),
                sync(),
                message(b'C', b"Sa\0"),
                parse("a", "SELECT 2", &[]),
                sync(),
                query("DEALLOCATE a"),
                query("DEALLOCATE a"),
                bind("", "a", &[], text),
                sync(),
            ]),
        ),
    ];
    for (name, bytes) in cases {
        check(&real, name, &bytes);
    }
}

#[test]
fn odd_beginnings_are_answered_as_by_a_real_postgresql() {
    let Some(real) = Real::start() else { return };
    let packet = |code: u32, rest: &[u8]| {
        let length = (rest.len() + 8) as u32;
        [&length.to_be_bytes()[..], &code.to_be_bytes(), rest].concat()
    };
    let (ssl, gss, version) = (80_877_103, 80_877_104, 3 << 16);
    let user = b"user\0postgres\0";
    let options =
        |line: &str| packet(version, &[&user[..], b"options\0", line.as_bytes(), b"\0\0"].concat());
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("nothing", Vec::new()),
        ("a length that is too small", vec![0, 0, 0, 4]),
        ("a length that is too large", vec![0, 1, 0, 0, 0, 3, 0, 0]),
        ("an old version", packet(2 << 16, b"\0")),
        ("a later version", packet(version + 2, &[&user[..], b"\0"].concat())),
        ("no user", packet(version, b"database\0postgres\0\0")),
        ("no end", packet(version, b"user\0postgres")),
        ("an unknown setting", packet(version, &[&user[..], b"nothing\0x\0\0"].concat())),
        (
            "a name of the application",
            packet(version, &[&user[..], b"application_name\0me\0\0"].concat()),
        ),
        ("HTTP", b"GET / HTTP/1.1\r\n\r\n".to_vec()),
        ("options", options("--search-path=public -c lock_timeout=1s -capplication_name=a\\ b")),
        ("an unknown setting in options", options("-c nothing=x")),
        ("a wrong value in options", options("-c lock_timeout=1x")),
        ("a request to cancel nobody", packet(80_877_102, &[0, 0, 0, 0, 0, 0, 0, 0])),
    ];
    for (name, bytes) in cases {
        let expected = shown(&real_answer(&real, &bytes));
        assert_eq!(expected, shown(&fake_answer(&bytes, 4_096)), "{name}");
    }
    let asked = [packet(ssl, b""), packet(gss, b""), startup()].concat();
    let own = fake_answer(&asked, 3);
    assert_eq!(&own[..2], b"NN", "no encryption of either kind");
    assert_eq!(shown(&own[2..]), shown(&fake_answer(&startup(), 3)));
}
