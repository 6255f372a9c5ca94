use super::fake::Fake;
use super::messages::{query, shown};
use super::real::Real;
use super::statements::TABLES;

const VALID: &[&str] = &[
    "SELECT COALESCE(v, 0) FROM t",
    "SELECT greatest(1, 2), least(1, 2), nullif(1, 1)",
    "SELECT max(v) FROM t",
    "SELECT pg_try_advisory_lock(hashtext('a'))",
    "SELECT pg_try_advisory_xact_lock(hashtextextended('a', 0))",
    "SELECT set_config('lock_timeout', '3s', false)",
    "SELECT current_setting('no.setting', true)",
    "SELECT current_schema, current_schema()",
    "SELECT txid_current(), pg_current_xact_id()",
    "SELECT CAST(EXTRACT(epoch FROM NOW()) AS INT)",
    "SELECT count(DISTINCT v) FROM t",
    "SELECT count(*) OVER () FROM t",
    "SELECT * FROM t WHERE k = ANY('{1,2}')",
    "SELECT * FROM t WHERE k = ANY(ARRAY[1, 2])",
    "SELECT * FROM t WHERE (k, v) = (1, 1)",
    "SELECT * FROM t WHERE k BETWEEN 1 AND 2",
    "SELECT * FROM t WHERE k NOT BETWEEN 1 AND 2",
    "SELECT * FROM t WHERE o LIKE 'a%'",
    "SELECT * FROM t WHERE o NOT ILIKE 'a%'",
    "SELECT * FROM t WHERE (k = 1) IS TRUE",
    "SELECT * FROM t WHERE v IS NOT DISTINCT FROM 1",
    "SELECT * FROM t WHERE k = (SELECT 1)",
    "SELECT EXISTS(SELECT 1 FROM t)",
    "SELECT * FROM (SELECT 1) x",
    "SELECT * FROM generate_series(1, 2)",
    "SELECT * FROM t JOIN u ON t.k = u.a",
    "SELECT * FROM t x LEFT JOIN u ON x.k = u.a",
    "SELECT DISTINCT v FROM t",
    "SELECT v FROM t UNION SELECT 1",
    "SELECT v FROM t ORDER BY v NULLS FIRST",
    "SELECT v FROM t FOR UPDATE LIMIT 1",
    "SELECT xmax FROM t",
    "SELECT count(*) FROM pg_locks",
    "SELECT count(*) FROM pg_catalog.pg_stat_activity",
    "SELECT count(*) FROM information_schema.tables",
    "UPDATE t SET (v, o) = (1, 'a')",
    "DELETE FROM t USING u WHERE t.k = u.a",
    "CREATE TABLE w (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY)",
    "CREATE TABLE x (k int) WITH (fillfactor = 70)",
    "CREATE TABLE y AS SELECT 1",
    "SHOW ALL",
    "SET ROLE postgres",
    "SET NAMES 'UTF8'",
    "SET TimeZone = 'Europe/Berlin'",
    "SET synchronous_commit = off",
    "SET client_encoding = 'LATIN1'",
    "SET work_mem = '8MB'",
    "SHOW transaction_deferrable",
    "SET my.setting = 1",
];

#[test]
fn valid_statements_that_the_model_lacks_are_refused_as_unsupported() {
    let mut fake = Fake::start();
    let id = fake.session();
    let mut ask = |sql: &str| {
        fake.send(id, &query(sql));
        fake.answer(id).map_or_else(String::new, |answer| format!("{:?}", shown(&answer)))
    };
    TABLES.iter().for_each(|sql| drop(ask(sql)));
    let said = VALID.iter().map(|sql| (sql, ask(sql)));
    let wrong: Vec<_> = said.filter(|(_, said)| !said.contains("C0A000")).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let Some(real) = Real::start() else { return };
    let mut session = real.session();
    for sql in TABLES.iter().chain(VALID) {
        let said = format!("{:?}", shown(&session.ask(&query(sql))));
        assert!(!said.contains("ERROR"), "{sql}: {said}");
    }
}
