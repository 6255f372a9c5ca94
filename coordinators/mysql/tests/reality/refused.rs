use super::fake::Fake;
use super::packets::{is_refused, query, split};
use super::real::Real;

const SETUP: &[&str] =
    &["CREATE DATABASE refused", "USE refused", "CREATE TABLE t (k INT PRIMARY KEY, n INT)"];

const VALID: &[&str] = &[
    "SELECT IF(IS_USED_LOCK('a') = CONNECTION_ID(), 1, 0)",
    "SELECT COALESCE(GET_LOCK('a', 0), 0)",
    "SELECT CASE WHEN 1 = 1 THEN 1 ELSE 0 END",
    "SELECT EXISTS(SELECT 1 FROM t)",
    "SELECT (SELECT 1)",
    "SELECT k FROM t WHERE n = (SELECT 1)",
    "SELECT k FROM t WHERE EXISTS (SELECT 1 FROM t)",
    "SELECT k FROM t WHERE (n = 1) IS TRUE",
    "SELECT DISTINCT n FROM t",
    "SELECT SQL_NO_CACHE 1",
    "SELECT @@sql_mode",
    "SELECT @@session.auto_increment_increment, @@hostname, @@lower_case_table_names",
    "INSERT INTO t VALUES (1, 1) RETURNING k",
    "INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE n = IF(n > 3, VALUES(n), n)",
    "INSERT LOW_PRIORITY INTO t VALUES (2, 2)",
    "UPDATE IGNORE t SET n = 1",
    "CREATE TABLE u (a INT PRIMARY KEY, b INT, CONSTRAINT u_b UNIQUE (b))",
    "CREATE TABLE v (a INT PRIMARY KEY, b INT, CONSTRAINT CHECK (b > 0))",
    "CREATE TABLE w (a INT PRIMARY KEY, b INT, KEY (b))",
    "SET sql_mode = 'STRICT_TRANS_TABLES'",
    "SET SESSION sql_mode = 'ANSI', @@session.time_zone = '+00:00'",
    "SET foreign_key_checks = 0",
    "SET character_set_results = NULL",
    "SET CHARACTER SET utf8mb4",
    "SET SESSION TRANSACTION READ WRITE",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE",
];

fn is_error(bytes: &[u8]) -> bool {
    split(bytes).iter().any(|(_, body)| body.first() == Some(&0xff))
}

#[test]
fn valid_statements_that_the_model_lacks_are_refused_as_unsupported() {
    let mut fake = Fake::start(3);
    let id = fake.session();
    let mut ask = |sql: &str| {
        fake.send(id, &query(sql));
        fake.answer(id).unwrap_or_default()
    };
    assert!(!SETUP.iter().any(|sql| is_error(&ask(sql))));
    let wrong: Vec<_> = VALID.iter().filter(|sql| !is_refused(&ask(sql))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let Some(real) = Real::start() else { return };
    let mut session = real.session();
    let all = SETUP.iter().chain(VALID);
    let wrong: Vec<_> = all.filter(|sql| is_error(&session.ask(&query(sql)))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
