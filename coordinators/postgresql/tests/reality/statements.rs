use proptest::prelude::*;

pub(crate) const TABLES: &[&str] = &[
    "DROP TABLE IF EXISTS t, u, lock",
    "CREATE TABLE t (k integer PRIMARY KEY, v bigint NOT NULL DEFAULT 7, o varchar(5))",
    "CREATE TABLE lock (lock_key char(6), region varchar(10) DEFAULT 'r', client char(4), \
     created timestamp NOT NULL, CONSTRAINT lock_pk PRIMARY KEY (lock_key, region))",
    "CREATE TABLE IF NOT EXISTS t (x int)",
    "INSERT INTO t VALUES (1, 1, 'a')",
    "CREATE TABLE u (a int PRIMARY KEY, b int UNIQUE, c int)",
];

pub(crate) const LAST: &[&str] =
    &["SELECT * FROM t ORDER BY k", "SELECT lock_key, region, client FROM lock ORDER BY 1, 2"];

pub(crate) fn pick(choices: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(choices).prop_map(str::to_owned)
}

fn key() -> impl Strategy<Value = String> {
    pick(&["1", "1", "2", "3"])
}

fn filter() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => key().prop_map(|k| format!("k = {k}")),
        2 => (key(), key()).prop_map(|(k, v)| format!("k = {k} AND v >= {v}")),
        1 => key().prop_map(|v| format!("v < {v}")),
        1 => pick(&[
            "o IS NULL OR v = 1", "NOT (v = 1)", "o = 'a'",
            "v IS NULL", "v = '2'", "o = 3", "k", "t.k = 1", "x.k = 1", "true",
            "k = v - 1 AND o IS NOT NULL", "v::text = '1'",
        ]),
    ]
}

fn insert() -> impl Strategy<Value = String> {
    let rest = pick(&[
        "",
        "",
        "",
        "",
        " ON CONFLICT DO NOTHING",
        " ON CONFLICT (k) DO NOTHING RETURNING k",
        " ON CONFLICT (k) DO UPDATE SET v = t.v + 1",
        " ON CONFLICT (k) DO UPDATE SET v = excluded.v, o = 'u' WHERE t.v < 3 RETURNING v, o AS p",
        " ON CONFLICT (v) DO NOTHING",
        " ON CONFLICT ON CONSTRAINT t_pkey DO UPDATE SET v = 0",
        " ON CONFLICT DO UPDATE SET v = 0",
        " RETURNING *",
    ]);
    let values = prop_oneof![
        8 => (key(), key()).prop_map(|(k, v)| format!("(k, v) VALUES ({k}, {v})")),
        1 => key().prop_map(|k| format!("(k) VALUES ({k})")),
        1 => pick(&[
            "VALUES (2, 5, 'x'), (3, 6, 'y')", "VALUES (2, 5, 'too long')", "VALUES (NULL, 1)",
            "(k, v) VALUES (3, NULL)", "(k, k) VALUES (1, 1)", "(k, z) VALUES (1, 1)",
            "(k, v) VALUES (1)", "VALUES (1, 2, 3, 4)", "VALUES ('4', DEFAULT, 'abc   ')",
            "VALUES ('x')", "VALUES (2, 2, 2), (2, 2, 2)", "VALUES (now())", "DEFAULT VALUES",
            "VALUES (99999999999)", "VALUES (2147483647 + 1)",
        ]),
    ];
    (values, rest).prop_map(|(values, rest)| format!("INSERT INTO t {values}{rest}"))
}

fn change() -> impl Strategy<Value = String> {
    let set = pick(&[
        "v = v + 1", "v = v + 1", "v = 2", "k = k + 1", "k = 2", "o = 'z', v = 0", "v = NULL",
        "z = 1", "v = DEFAULT", "v = 1, v = 2", "v = 'x'", "o = 12", "v = v / 0", "k = 1",
    ]);
    let returning = || pick(&["", "", "", " RETURNING k, v + 1", " RETURNING *"]);
    prop_oneof![
        3 => (set, filter(), returning())
            .prop_map(|(set, filter, rest)| format!("UPDATE t SET {set} WHERE {filter}{rest}")),
        2 => (filter(), returning())
            .prop_map(|(filter, rest)| format!("DELETE FROM t WHERE {filter}{rest}")),
        1 => pick(&["UPDATE t SET v = v + 1", "DELETE FROM t",
            "UPDATE t AS u SET v = 3 WHERE u.k = 1"]),
    ]
}

fn select() -> impl Strategy<Value = String> {
    let items = pick(&[
        "*",
        "k",
        "k, v",
        "v + k AS s",
        "count(*)",
        "count(o), 1",
        "k, count(*)",
        "o, 'x'",
        "v::text",
        "CASE WHEN v > 1 THEN v WHEN k = 2 THEN 7 ELSE k END, 1",
        "CASE WHEN v IS NULL THEN 'none' END",
        "CASE WHEN v THEN 1 END",
        "CASE WHEN v > 1 THEN o ELSE v END",
        "k = 1 AND v IS NULL, NULL",
        "v IS NULL::int + 1, 1 + v ISNULL = true",
        "v IS NOT NULL * 2",
    ]);
    let locking = pick(&[
        "", "", "", " FOR UPDATE", " FOR UPDATE", " FOR UPDATE NOWAIT", " FOR UPDATE SKIP LOCKED",
        " FOR SHARE", " FOR NO KEY UPDATE", " FOR KEY SHARE", " FOR SHARE NOWAIT",
    ]);
    let tail = pick(&[
        " ORDER BY k", " ORDER BY k", " ORDER BY k DESC", " ORDER BY k DESC", " ORDER BY 'k'",
        " ORDER BY NULL", " ORDER BY 9",
    ]);
    (items, filter(), tail, locking).prop_map(|(items, filter, tail, locking)| {
        let counts = items.contains("count(");
        let tail = if counts { "" } else { &tail };
        let locking = if counts { "" } else { &locking };
        format!("SELECT {items} FROM t WHERE {filter}{tail}{locking}")
    })
}

fn lock_table() -> impl Strategy<Value = String> {
    let client = || pick(&["'c1'", "'c2'"]);
    let old = || pick(&["'2020-01-01 00:00:00'", "'2030-01-01 00:00:00.5'", "now()"]);
    let key = || pick(&["'a'", "'a'", "'b'"]);
    prop_oneof![
        (key(), client(), old()).prop_map(|(k, c, t)| format!(
            "INSERT INTO lock (lock_key, region, client, created) VALUES ({k}, 'r', {c}, {t})"
        )),
        (key(), client(), old()).prop_map(|(k, c, t)| format!(
            "UPDATE lock SET client = {c}, created = {t} WHERE lock_key = {k} AND region = 'r' \
             AND (client = {c} OR created < {t})"
        )),
        (key(), old()).prop_map(|(k, t)| format!(
            "DELETE FROM lock WHERE region = 'r' AND lock_key = {k} AND created < {t}"
        )),
        (key(), client()).prop_map(|(k, c)| format!(
            "DELETE FROM lock WHERE region = 'r' AND lock_key = {k} AND client = {c}"
        )),
        (key(), client(), old()).prop_map(|(k, c, t)| format!(
            "SELECT COUNT(region) FROM lock WHERE region = 'r' AND lock_key = {k} AND client = {c} \
             AND created >= {t}"
        )),
        key().prop_map(|k| format!("SELECT client FROM lock WHERE lock_key = {k} FOR UPDATE")),
        key().prop_map(|k| format!(
            "INSERT INTO lock (lock_key, client, created) VALUES ({k}, 'c3', \
             timezone('utc', CURRENT_TIMESTAMP) + cast('5 seconds' as interval)) \
             ON CONFLICT (lock_key, region) DO UPDATE SET client = 'c3' WHERE lock.created <= \
             timezone('utc', CURRENT_TIMESTAMP)"
        )),
    ]
}

fn control() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => pick(&["BEGIN", "BEGIN", "COMMIT", "COMMIT", "ROLLBACK"]),
        2 => pick(&[
            "BEGIN ISOLATION LEVEL REPEATABLE READ",
            "START TRANSACTION ISOLATION LEVEL READ COMMITTED",
            "BEGIN READ ONLY", "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            "SHOW transaction_isolation",
        ]),
    ]
}

fn advisory() -> impl Strategy<Value = String> {
    pick(&[
        "SELECT pg_try_advisory_lock(1)",
        "SELECT pg_try_advisory_lock_shared(1)",
        "SELECT pg_advisory_lock(1)",
        "SELECT pg_advisory_lock(1)",
        "SELECT pg_advisory_lock_shared(1)",
        "SELECT pg_advisory_unlock(1)",
        "SELECT pg_advisory_unlock(1)",
        "SELECT pg_advisory_unlock_shared(1)",
        "SELECT pg_advisory_xact_lock(2)",
        "SELECT pg_try_advisory_xact_lock(2) AS got, 1",
        "SELECT pg_advisory_xact_lock_shared(2)",
        "SELECT pg_advisory_unlock_all()",
        "SELECT pg_advisory_lock(1, 2)",
        "SELECT pg_advisory_lock('x')",
        "SELECT pg_advisory_lock(1.5)",
    ])
}

pub(crate) const ODD: &[&str] = &[
    "",
    ";",
    "SELEC 1",
    "SELECT",
    "SELECT 1 +",
    "SELECT 'a",
    "SELECT 1; SELECT 2",
    "SELECT * FROM no",
    "INSERT INTO t VALUES (2, 2); INSERT INTO t VALUES (2, 2)",
    "BEGIN; INSERT INTO t VALUES (3, 3)",
    "SELECT $1",
    "SELECT 1/0",
    "SELECT -5 % 3, 7 / 2, 2 * -3",
    "SELECT interval '1 day 2 hours' + interval '90 minutes'",
    "SELECT true AND NULL, NOT false",
    "SELECT timestamp '2024-02-29 12:00' + interval '1 year'",
    "SELECT CAST('12' AS integer) + 1",
    "SELECT timestamp '2024-01-31' - timestamp '2024-01-01 06:00'",
    "SELECT 1 = 'x'",
    "SELECT no()",
    "SELECT 1::boolean, 'yes'::bool, 'off'::boolean",
    "SELECT 1 < 2 < 3",
    "SHOW nothing",
    "SHOW lock_timeout",
    "SET lock_timeout = '5min'",
    "SET LOCAL lock_timeout = 0",
    "SET lock_timeout TO 'x'",
    "RESET lock_timeout",
    "SET statement_timeout = -1",
    "SELECT 'abc'::varchar(2), 'x'::char(3) = 'x'",
    "SELECT \"k\" FROM t ORDER BY 1",
    "DROP TABLE no",
    "CREATE TABLE t (a int)",
    "SELECT count(*) FROM lock",
    "SELECT 1 WHERE false",
    "-- nothing\n",
    "SELECT /* a /* b */ c */ 1",
    "SELECT E'a\\nb', 'it''s'",
    "SELECT current_setting('lock_timeout')",
    "SELECT 9223372036854775807 + 1",
    "SELECT -9223372036854775808",
    "SELECT 1 AS \"A b\", 2 c",
    "COMMIT AND",
    "SELECT u.* FROM t",
    "SELECT t.* FROM t",
    "SELECT true",
    "SET client_min_messages = 'WARNING'; DROP TABLE IF EXISTS no; COMMIT",
    "SET client_min_messages TO error; SHOW client_min_messages; COMMIT",
    "SET client_min_messages = Debug; SHOW client_min_messages; RESET client_min_messages; COMMIT",
    "SET client_min_messages TO fatal",
    "SET search_path = public; SHOW search_path",
    "SET extra_float_digits = 3; SHOW extra_float_digits",
];

fn odd() -> impl Strategy<Value = String> {
    pick(ODD)
}

pub(crate) fn statement() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => insert(),
        7 => change(),
        5 => select(),
        6 => lock_table(),
        8 => control(),
        3 => advisory(),
        3 => odd(),
    ]
}
