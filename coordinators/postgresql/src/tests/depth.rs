use super::world::World;
use fencepost_testing::depth::{Level, level, on_small_stack, statements_of_growing_depth};

const TOO_DEEP: &str = "ERROR 54001: stack depth limit exceeded";
const MANY: u32 = 10_000;
const FEW: u32 = 100;

const DEEPER: &[Level] = &[
    level("1", "", "+1"),
    level("1", "", "-1"),
    level("1", "", "*1"),
    level("1", "", "/1"),
    level("1", "", "%1"),
    level("1", "", "::int"),
    level("'a'", "", "::char(3)::text"),
    level("k", "", "::int::text::int"),
    level("k", "", " is null"),
    level("k", "", " is not null"),
    level("k", "", " isnull"),
    level("now()", "", " at time zone 'utc'"),
    level("now()", "", "+ interval '1 second'"),
    level("true", "not ", ""),
    level("k", "- ", ""),
    level("1", "(", ")"),
    level("1", "cast(", " as int)"),
    level("true", "(", " = true)"),
    level("true", "(", ") and k = 1 or true"),
    level("1", "case when true then ", " end"),
    level("true", "case when ", " then true end"),
    level("1", "1 + (", ")"),
];

const WIDER: &[Level] = &[
    level("true", "", " or true"),
    level("true", "", " is not null and true is not null or false is null"),
    level("false", "", " or false"),
    level("k = 1", "", " and k = 1"),
    level("false", "", " or k = 1"),
];

fn answers(statements: Vec<String>) -> Vec<String> {
    on_small_stack(move || {
        let mut world = World::new();
        let id = world.session();
        statements.iter().map(|statement| world.ask(id, statement)).collect()
    })
}

fn statements(expression: &str) -> Vec<String> {
    vec![
        format!("SELECT {expression} FROM t"),
        format!("SELECT k FROM t WHERE ({expression})::text = '' AND k = 1"),
        format!("SELECT count({expression}) FROM t"),
        format!("INSERT INTO t VALUES (2, 1) RETURNING {expression}"),
        format!("UPDATE t SET v = ({expression})::text::int"),
        format!("DELETE FROM t WHERE k = 2 AND ({expression})::text = ''"),
        format!("CREATE TABLE u (k text DEFAULT ({expression})::text)"),
        "INSERT INTO u VALUES (DEFAULT)".to_owned(),
        "DROP TABLE IF EXISTS u".to_owned(),
    ]
}

#[test]
fn a_chain_of_any_operator_is_answered() {
    for level in DEEPER {
        let said = answers(vec![format!("SELECT {} FROM t", level.deep(100_000))]);
        assert_eq!(said, [TOO_DEEP], "{:?} .. {:?}", level.before, level.after);
    }
    for level in WIDER {
        let said = answers(vec![format!("SELECT {} FROM t", level.deep(100_000))]);
        assert!(said[0].contains("SELECT"), "{:?}: {}", level.after, said[0]);
    }
}

#[test]
fn any_operator_may_follow_is_null() {
    let ask = |expression: &str| answers(vec![format!("SELECT {expression} FROM t")]).remove(0);
    assert_eq!(ask("1 + k IS NULL::int + 1"), "(1) | SELECT 1");
    assert_eq!(ask("k ISNULL = false IS NULL"), "(f) | SELECT 1");
    assert!(ask("k IS NOT NULL * 2").starts_with("ERROR 42883"));
}

#[test]
fn a_constant_that_is_no_number_orders_nothing() {
    for constant in ["NULL", "'k'"] {
        let said = answers(vec![format!("SELECT k FROM t ORDER BY {constant}")]).remove(0);
        assert_eq!(said, "ERROR 42601: non-integer constant in ORDER BY");
    }
}

#[test]
fn the_deepest_expressions_fit_the_stack() {
    for level in DEEPER {
        let depths = [190, 499];
        let chains = depths.map(|depth| statements(&level.deep(depth)));
        eprintln!("{} {}", level.before, level.after);
        answers(chains.concat());
    }
}

fn check_drawn(statements: u32) {
    let all = statements_of_growing_depth(statements, "k", |draw, inner| {
        let deeper = DEEPER[draw(DEEPER.len())].around(inner);
        if draw(2) == 0 { level("", "(", ")").around(&deeper) } else { deeper }
    });
    let said = answers(all);
    assert!(said.iter().any(|said| said.ends_with("SELECT 1")));
    assert!(said.iter().any(|said| said == TOO_DEEP));
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
