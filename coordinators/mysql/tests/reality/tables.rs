use super::fake::Fake;
use super::packets::{is_refused, query, shown};
use super::real::Real;
use super::sequences::{Frame, SHRINK_MAX, Step, check};
use super::statements::pick;
use fencepost_testing::differential::differential;
use proptest::prelude::*;
use std::cell::Cell;

const CASES: u32 = 600;

/// Arguments for a server that keeps old row versions and never waits for the disk.
const ARGUMENTS: &[&str] =
    &["--innodb-force-recovery=2", "--innodb-flush-method=nosync", "--sync-frm=0"];

fn key() -> impl Strategy<Value = String> + Clone {
    pick(&["'a'", "'b'", "'b'", "'c'", "'d'", "'e'", "'B '"])
}

fn condition() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => key().prop_map(|key| format!(" WHERE name = {key}")),
        1 => (key(), pick(&["owner IS NULL", "n < 2", "held <= '2020-01-01'", "NOT n = 1"]))
            .prop_map(|(key, more)| format!(" WHERE name = {key} AND {more}")),
        2 => pick(&["", " WHERE n > 1", " WHERE n IN (1, 2)", " WHERE owner IS NULL OR n = 2",
            " WHERE held > '2020-01-01 00:00:00.5'"]),
    ]
}

fn reading() -> impl Strategy<Value = String> {
    let items =
        pick(&["*", "name", "name, n, held", "COUNT(*)", "n = 1, owner IS NULL, name AS x"]);
    let lock = pick(&[
        "", " FOR UPDATE", " FOR UPDATE", " LOCK IN SHARE MODE", " FOR UPDATE NOWAIT",
        " FOR UPDATE SKIP LOCKED", " LOCK IN SHARE MODE NOWAIT", " FOR UPDATE WAIT 60",
        " LIMIT 1 FOR UPDATE",
    ]);
    (items, condition(), lock).prop_map(|(items, condition, lock)| {
        let lock = if items == "COUNT(*)" { lock.replace(" LIMIT 1", "") } else { lock };
        format!("SELECT {items} FROM locks{condition}{lock}")
    })
}

fn writing() -> impl Strategy<Value = String> {
    let row = (key(), pick(&["NULL", "'x'", "'yy'", "7"]))
        .prop_map(|(key, owner)| format!("({key}, {owner})"));
    let rows = prop_oneof![5 => row.clone(), 1 => (row.clone(), row)
        .prop_map(|(one, other)| format!("{one}, {other}"))];
    let end = pick(&[
        "",
        "",
        "",
        " ON DUPLICATE KEY UPDATE n = n + 1",
        " ON DUPLICATE KEY UPDATE owner = VALUES(owner)",
    ]);
    let set = pick(&[
        "n = n + 1",
        "n = 2",
        "owner = 'z'",
        "held = '2024-05-06 07:08:09.123'",
        "n = n + 1, owner = NULL",
        "n = 1, n = n + 1",
    ]);
    prop_oneof![
        6 => (pick(&["", "", "", "IGNORE "]), rows, end).prop_map(|(ignores, rows, end)| {
            let ignores = if end.is_empty() { ignores } else { String::new() };
            format!("INSERT {ignores}INTO locks (name, owner) VALUES {rows}{end}")
        }),
        4 => (set, condition()).prop_map(|(set, which)| format!("UPDATE locks SET {set}{which}")),
        4 => condition().prop_map(|condition| format!("DELETE FROM locks{condition}")),
    ]
}

fn statement() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => pick(&["BEGIN", "BEGIN", "COMMIT", "COMMIT", "ROLLBACK", "START TRANSACTION"]),
        8 => reading(),
        9 => writing(),
        1 => pick(&["SET autocommit = 0", "SET autocommit = 1", "SHOW WARNINGS",
            "SELECT GET_LOCK('x', 60)", "SELECT RELEASE_LOCK('x')",
            "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
            "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
            "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"]),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        40 => statement().prop_map(Step::Say),
        1 => Just(Step::Leave),
        1 => (0..3_usize, any::<bool>()).prop_map(|(at, is_query)| Step::Kill(at, is_query)),
    ]
}

const FIXED: &[&str] = &[
    "CREATE DATABASE e",
    "CREATE DATABASE e",
    "CREATE DATABASE IF NOT EXISTS e",
    "SHOW WARNINGS",
    "CREATE DATABASE mysql",
    "SELECT * FROM t",
    "DROP TABLE t",
    "USE e",
    "SELECT * FROM t",
    "DROP TABLE t",
    "DROP TABLE IF EXISTS t",
    "SHOW WARNINGS",
    "CREATE TABLE nowhere.t (a INT PRIMARY KEY)",
    "CREATE TABLE t (a INT, a INT PRIMARY KEY)",
    "CREATE TABLE t (a INT, PRIMARY KEY (b))",
    "CREATE TABLE t (a INT PRIMARY KEY, PRIMARY KEY (a))",
    "CREATE TABLE t (a INT PRIMARY KEY",
    "CREATE TABLE t (k CHAR(6), r VARCHAR(10) NOT NULL, n INT DEFAULT 3, big BIGINT NOT NULL, \
     b BOOLEAN, t TINYINT NOT NULL DEFAULT TRUE, w INT(5), at TIMESTAMP(3) NOT NULL, \
     du DATETIME(6) NULL, made TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, \
     free TIMESTAMP, day DATETIME DEFAULT NOW(), PRIMARY KEY (k, r)) ENGINE=InnoDB DEFAULT \
     CHARSET=utf8mb4",
    "CREATE TABLE t (a INT PRIMARY KEY)",
    "CREATE TABLE IF NOT EXISTS t (a INT PRIMARY KEY)",
    "SHOW WARNINGS",
    "SET timestamp = 1700000000.123456",
    "INSERT INTO t (k, r, big, at) VALUES ('a', 'x', 1, NOW(3)), ('B', 'y', -2, '2024-02-29')",
    "INSERT INTO t SET k = 'c ', r = 'z', big = 9, at = '2024-01-01 00:00:00.9999', du = NOW(6)",
    "SELECT * FROM t",
    "SELECT k AS x, `r`, t.n, big FROM t WHERE k = 'A' AND r = 'x '",
    "SELECT q.k FROM t AS q WHERE q.k = 'a' AND q.r = 'x' AND n <> 4",
    "SELECT t.k FROM t q",
    "SELECT k FROM e.t WHERE n >= 3 LIMIT 1",
    "SELECT k FROM t LIMIT 1, 1",
    "SELECT k FROM t LIMIT 5 OFFSET 1",
    "SELECT k FROM t LIMIT 0",
    "SELECT COUNT(*) FROM t WHERE n = 3 OR n IS NULL",
    "SELECT COUNT(*) c FROM t WHERE k = 'zz' AND r = 'y'",
    "SELECT n = 3, n > big, NOT n, n IN (1, NULL), du IS NULL, du < at, k = 'A', 1, 'x', NULL \
     FROM t",
    "SELECT NOW(3), UTC_TIMESTAMP(3), CURRENT_TIMESTAMP, CURRENT_TIMESTAMP(6), \
     DATE_ADD(NOW(3), INTERVAL 1500000 MICROSECOND), NOW() + INTERVAL 2 MINUTE FROM t LIMIT 1",
    "SELECT NOW(3), TIMESTAMPADD(MICROSECOND, -1000, UTC_TIMESTAMP(3)), \
     DATE_SUB(NOW(), INTERVAL 1 HOUR), 2 < 3, 3 <= 2, 1 > NULL, 4 >= 4",
    "INSERT INTO t (k, r, big, at) VALUES ('A', 'X', 1, NOW(3))",
    "INSERT IGNORE INTO t (k, r, big, at) VALUES ('A', 'X', 1, NOW(3)), ('d', '', 1, NULL)",
    "SHOW WARNINGS",
    "INSERT INTO t VALUES (1)",
    "INSERT INTO t (k, r) VALUES ('e', 'e')",
    "INSERT INTO t (k, k) VALUES ('e', 'e')",
    "INSERT INTO t (nothing) VALUES (1)",
    "INSERT INTO t (k, r, big, at) VALUES (NULL, 'e', 1, NOW())",
    "INSERT INTO t (k, r, big, at) VALUES ('1234567', 'e', 1, NOW())",
    "INSERT INTO t (k, r, big, at) VALUES ('f', 'e', 1, 'soon')",
    "INSERT INTO t (k, r, big, at) VALUES ('f', 'e', 1, '2024-13-01')",
    "INSERT INTO t (k, r, big, at) VALUES ('f', 'e', 1, '1969-01-01 00:00:00')",
    "INSERT INTO t (k, r, big, at, n) VALUES ('f', 'e', 1, NOW(), 99999999999)",
    "INSERT INTO t (k, r, big, at, n) VALUES ('g', 'e', 1, NOW(), 1), ('f', 'e', 1, NOW(), 'x')",
    "INSERT INTO t (k, r, big, at, n) VALUES (7, 8, '9', NOW(), TRUE)",
    "INSERT INTO t (k, r, big, at) VALUES ('a', 'x', 5, NOW()), ('h', 'x', 5, NOW()) \
     ON DUPLICATE KEY UPDATE big = VALUES(big), n = n + 1",
    "INSERT INTO t (k, r, big, at) VALUES ('a', 'x', 5, NOW()) ON DUPLICATE KEY UPDATE big = 5",
    "SELECT k, n, big FROM t WHERE n IN (3, 4)",
    "UPDATE t SET n = NULL WHERE k = 'a' AND r = 'x'",
    "UPDATE t SET big = NULL",
    "UPDATE t SET nothing = 1",
    "UPDATE t SET n = 1 WHERE nothing = 1",
    "UPDATE t q SET q.n = 8, w = n - 1 WHERE q.big = 5",
    "UPDATE t SET at = DATE_ADD(NOW(3), INTERVAL 400 MICROSECOND), r = r WHERE k = 'x'",
    "UPDATE t SET at = DATE_ADD(NOW(3), INTERVAL 400 MICROSECOND)",
    "SELECT * FROM t WHERE at >= '2023-11-14 22:13:20.123'",
    "SELECT * FROM nothing",
    "DELETE FROM t WHERE nothing = 1",
    "DELETE FROM t WHERE big = 5 AND du IS NULL",
    "DELETE FROM t WHERE r = 'y' OR n < 2",
    "SELECT k FROM t FOR UPDATE",
    "SELECT k FROM t LOCK IN SHARE MODE",
    "BEGIN",
    "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "DELETE FROM t",
    "ROLLBACK",
    "SELECT *",
    "SELECT * FROM t WHERE",
    "INSERT INTO t VALUE",
    "UPDATE t",
    "DELETE t",
    "CREATE",
    "DROP TABLE t",
    "SELECT k FROM t",
    "CREATE TABLE c (a INT, b INT, CONSTRAINT c_pk PRIMARY KEY (a, b))",
    "SHOW WARNINGS",
    "INSERT INTO c VALUES (1, 2)",
    "INSERT INTO c VALUES (1, 2)",
    "CREATE TABLE d (a INT PRIMARY KEY, CONSTRAINT `d_pk` PRIMARY KEY (a))",
    "CREATE TABLE d (a INT, CONSTRAINT PRIMARY KEY (a))",
    "CREATE TABLE f (a INT, CONSTRAINT f_pk (a))",
];

#[test]
fn statements_about_tables_are_answered_as_by_a_real_mariadb() {
    let Some(real) = Real::start() else { return };
    let mut session = real.session();
    let mut fake = Fake::start(session.id);
    let id = fake.session();
    let mut different = Vec::new();
    for sql in FIXED {
        fake.send(id, &query(sql));
        let own = fake.answer(id).unwrap_or_default();
        if is_refused(&own) {
            continue;
        }
        let (expected, own) = (shown(&session.ask(&query(sql))), shown(&own));
        if own != expected {
            different.push(format!("{sql}\n  MariaDB: {expected}\n  ours:    {own}"));
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
}

#[test]
fn tables_and_their_locks_are_those_of_a_real_mariadb() {
    let Some(mut real) = Real::start_with(ARGUMENTS) else { return };
    let steps = prop::collection::vec((0..3_usize, step()), 1..30);
    let (real, number) = (std::cell::RefCell::new(&mut real), Cell::new(0));
    differential(CASES, SHRINK_MAX, &steps, |steps| {
        number.set(number.get() + 1);
        let base = format!("d{}", number.get());
        let setup = vec![
            format!("CREATE DATABASE {base}"),
            format!(
                "CREATE TABLE {base}.locks (name VARCHAR(20) NOT NULL PRIMARY KEY, \
                 owner VARCHAR(8), n INT NOT NULL DEFAULT 1, held TIMESTAMP(3) NULL)"
            ),
            format!("INSERT INTO {base}.locks (name, n) VALUES ('b', 1), ('d', 2)"),
        ];
        let last = &["ROLLBACK", "SELECT RELEASE_ALL_LOCKS()"];
        let frame = Frame { setup, first: vec![format!("USE {base}")], last, one_waits: true };
        check(&mut real.borrow_mut(), &frame, &steps)
    });
}

#[test]
fn a_circle_of_a_row_and_a_user_lock_is_noticed_by_neither() {
    let Some(mut real) = Real::start() else { return };
    let say = |sql: &str| Step::Say(sql.to_owned());
    let steps = [
        (0, say("SELECT GET_LOCK('x', 60)")),
        (1, say("BEGIN")),
        (1, say("SELECT n FROM locks WHERE name = 'b' FOR UPDATE")),
        (0, say("UPDATE locks SET n = 7 WHERE name = 'b'")),
        (1, say("SELECT GET_LOCK('x', 60)")),
        (2, Step::Kill(1, true)),
        (1, say("COMMIT")),
        (0, say("SELECT n FROM locks")),
    ];
    let setup = ["CREATE DATABASE d", "CREATE TABLE d.locks (name VARCHAR(20) PRIMARY KEY, n INT)"];
    let setup = [setup[0], setup[1], "INSERT INTO d.locks VALUES ('b', 1)"].map(str::to_owned);
    let first = vec!["USE d".to_owned()];
    let last = &["ROLLBACK", "SELECT RELEASE_ALL_LOCKS()"];
    let frame = Frame { setup: setup.to_vec(), first, last, one_waits: false };
    check(&mut real, &frame, &steps).unwrap();
}
