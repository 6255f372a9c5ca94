use super::world::World;
use crate::Config;
use fencepost_testing::depth::{Level, level, on_small_stack, statements_of_growing_depth};

const TOO_DEEP: &str = "ERROR 1436: Thread stack overrun";
const TOO_NESTED: &str = "ERROR 1235: ";
const MANY: u32 = 10_000;
const FEW: u32 = 100;

const DEEPER: &[Level] = &[
    level("n", "", " + 1"),
    level("n", "", " - 1"),
    level("1", "", " is null"),
    level("1", "", " is not null"),
    level("1", "", " = 1"),
    level("1", "", " <> n"),
    level("1", "", " < 1"),
    level("1", "", " <=> null"),
    level("now()", "", " + interval 1 second"),
    level("now()", "", " - interval 1 day"),
    level("1", "", "+ interval 1"),
    level("1", "not ", ""),
    level("1", "(", ")"),
    level("1", "not (", ")"),
    level("1", "(", " in (1, 2))"),
    level("1", "1 in (1, ", ")"),
    level("1", "concat(", ")"),
    level("now()", "timestampadd(second, 1, ", ")"),
    level("now()", "date_add(", ", interval 1 day)"),
    level("now()", "date_sub(now(), interval ", " day)"),
    level("1", "(", ") and 1 or 1"),
    level("1", "1 + (", ")"),
];

const WIDER: &[Level] = &[
    level("n = 1", "", " or n = 1"),
    level("n = 0", "", " and n = 0"),
    level("n in (1", "", ", 2"),
];

fn answers(statements: Vec<String>) -> Vec<String> {
    on_small_stack(move || {
        let schema = "CREATE DATABASE d; USE d;
            CREATE TABLE t (k INT NOT NULL PRIMARY KEY, n INT); INSERT INTO t VALUES (1, 0)";
        let mut world = World::of(Config { schema: schema.to_owned(), ..Config::default() });
        let id = world.session();
        world.ask(id, "USE d");
        statements.iter().map(|statement| world.ask(id, statement)).collect()
    })
}

fn statements(expression: &str) -> Vec<String> {
    vec![
        format!("SELECT {expression}"),
        format!("SELECT {expression} FROM t"),
        format!("SELECT k FROM t WHERE {expression}"),
        format!("SELECT k FROM t WHERE k = 1 AND n = {expression}"),
        format!("DO {expression}"),
        format!("UPDATE t SET n = {expression}"),
        format!("INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE n = {expression}"),
        format!("DELETE FROM t WHERE n > 7 AND {expression}"),
        format!("INSERT INTO t VALUES (2, {expression})"),
        "DELETE FROM t WHERE k = 2".to_owned(),
    ]
}

fn is_refused(said: &str) -> bool {
    said.starts_with(TOO_DEEP) || said.starts_with(TOO_NESTED)
}

#[test]
fn a_chain_of_any_operator_is_answered() {
    for level in DEEPER {
        for said in answers(vec![format!("SELECT {}", level.deep(100_000))]) {
            assert!(is_refused(&said), "{:?} .. {:?}: {said}", level.before, level.after);
        }
    }
    for level in WIDER {
        let wide = level.deep(100_000);
        let end = if wide.contains('(') { ")" } else { "" };
        let said = answers(vec![format!("SELECT k, {wide}{end} FROM t")]);
        assert!(said[0].starts_with("(1, "), "{:?}: {}", level.after, said[0]);
    }
}

#[test]
fn a_chain_is_as_long_as_on_the_real_server() {
    let sum = |terms: usize| format!("UPDATE t SET n = {}", ["1"].repeat(terms).join(" + "));
    let said = answers(vec![sum(593), sum(594)]);
    assert_eq!(said[0], "OK");
    assert!(said[1].starts_with(TOO_DEEP), "{}", said[1]);
}

#[test]
fn the_deepest_expressions_fit_the_stack() {
    for level in DEEPER {
        let depths = [31, 63, 592];
        let chains = depths.map(|depth| statements(&level.deep(depth)));
        answers(chains.concat());
    }
}

/// If an operator bound an operand several times, each level would multiply the time.
#[test]
fn nested_operators_do_not_multiply_the_time() {
    for level in [level("n", "(", " in (1, 2))"), level("1", "n in (1, ", ")")] {
        let said = answers(vec![format!("SELECT k FROM t WHERE n = {}", level.deep(60))]);
        assert!(!said[0].starts_with("ERROR"), "{:?}: {}", level.after, said[0]);
    }
}

fn check_drawn(statements: u32) {
    let all = statements_of_growing_depth(statements, "n", |draw, inner| {
        DEEPER[draw(DEEPER.len())].around(inner)
    });
    let said = answers(all);
    assert!(said.iter().any(|said| said.starts_with('(')));
    assert!(said.iter().any(|said| is_refused(said)));
    assert!(said.iter().all(|said| !said.is_empty()), "each is answered");
}

#[test]
fn drawn_statements_of_growing_depth_are_answered() {
    check_drawn(FEW);
}

#[test]
#[ignore = "takes long; ci/nightly.sh runs it"]
fn many_drawn_statements_of_growing_depth_are_answered() {
    check_drawn(MANY);
}
