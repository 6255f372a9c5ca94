use super::sequences::run;
use super::statements::pick;
use proptest::prelude::*;

const CASES: u32 = 1_000;

fn key() -> impl Strategy<Value = String> {
    pick(&["1", "1", "2", "2", "3", "4"])
}

fn filter() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => key().prop_map(|k| format!("k = {k}")),
        1 => (key(), key()).prop_map(|(k, v)| format!("k = {k} AND v >= {v}")),
        2 => key().prop_map(|v| format!("v < {v}")),
        1 => pick(&["o = 'a'", "v = 1", "true", "false", "k = NULL", "NOT (v = 1)"]),
    ]
}

fn select() -> impl Strategy<Value = String> {
    let items = pick(&["*", "k, v", "k", "count(*)", "count(o)", "1"]);
    let tail = pick(&["", "", "", " FOR UPDATE", " FOR SHARE"]);
    let plain = (items, filter(), tail).prop_map(|(items, filter, tail)| {
        let tail = if items.contains("count") { "" } else { &tail };
        format!("SELECT {items} FROM t WHERE {filter}{tail}")
    });
    prop_oneof![
        6 => plain,
        1 => pick(&["SELECT * FROM t", "SELECT count(*) FROM t", "SELECT 1", "SELECT * FROM u",
            "SELECT * FROM u WHERE b = 1", "SELECT * FROM u WHERE a = 1",
            "SELECT * FROM u WHERE a = 1 AND b = 1", "SELECT count(*) FROM lock"]),
    ]
}

fn change() -> impl Strategy<Value = String> {
    let set = pick(&["v = v + 1", "v = v + 1", "v = 2", "k = k + 1", "k = 2", "o = 'z', v = 0"]);
    let rest = pick(&[
        "",
        "",
        "",
        " ON CONFLICT DO NOTHING",
        " ON CONFLICT (k) DO UPDATE SET v = t.v + 1",
    ]);
    prop_oneof![
        6 => (set, filter()).prop_map(|(set, filter)| format!("UPDATE t SET {set} WHERE {filter}")),
        2 => filter().prop_map(|filter| format!("DELETE FROM t WHERE {filter}")),
        4 => (key(), rest).prop_map(|(k, rest)| format!("INSERT INTO t VALUES ({k}, {k}){rest}")),
        2 => pick(&["INSERT INTO u VALUES (1, 1)", "INSERT INTO u VALUES (2, 1)",
            "INSERT INTO u VALUES (1, 2)", "UPDATE u SET b = b + 1", "UPDATE u SET c = 1",
            "DELETE FROM u WHERE a = 1", "UPDATE u SET c = 2 WHERE b = 1"]),
    ]
}

/// Generates the statements that Spring sends for its lock table.
fn lock_table() -> impl Strategy<Value = String> {
    let client = || pick(&["'c1'", "'c2'"]);
    let key = || pick(&["'a'", "'a'", "'b'"]);
    let is_this = "region = 'r' AND lock_key";
    prop_oneof![
        key().prop_map(move |k| format!(
            "DELETE FROM lock WHERE {is_this} = {k} AND created < '2020-01-01'"
        )),
        (key(), client()).prop_map(move |(k, c)| format!(
            "UPDATE lock SET created = '2024-01-01' WHERE {is_this} = {k} AND client = {c}"
        )),
        (key(), client()).prop_map(move |(k, c)| format!(
            "UPDATE lock SET client = {c}, created = '2024-01-01' WHERE {is_this} = {k} AND \
             (client = {c} OR created < '2020-01-01')"
        )),
        (key(), client()).prop_map(|(k, c)| format!(
            "INSERT INTO lock (lock_key, region, client, created) VALUES ({k}, 'r', {c}, \
             '2024-01-01')"
        )),
        (key(), client()).prop_map(move |(k, c)| format!(
            "DELETE FROM lock WHERE {is_this} = {k} AND client = {c}"
        )),
        key().prop_map(move |k| format!("SELECT client FROM lock WHERE {is_this} = {k}")),
    ]
}

fn control() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => Just("BEGIN ISOLATION LEVEL SERIALIZABLE".to_owned()),
        1 => pick(&[
            "BEGIN ISOLATION LEVEL REPEATABLE READ", "BEGIN",
            "SET default_transaction_isolation = serializable",
        ]),
        8 => Just("COMMIT".to_owned()),
        1 => Just("ROLLBACK".to_owned()),
    ]
}

fn statement() -> impl Strategy<Value = String> {
    prop_oneof![
        10 => control(),
        8 => select(),
        8 => change(),
        2 => lock_table(),
        1 => Just("DROP TABLE u".to_owned()),
    ]
}

fn script() -> impl Strategy<Value = Vec<(usize, String)>> {
    let begin = |index| (index, "BEGIN ISOLATION LEVEL SERIALIZABLE".to_owned());
    let step = prop_oneof![4 => select(), 4 => change(), 1 => control(), 1 => lock_table()];
    let steps = prop::collection::vec((0..3_usize, step), 3..14);
    (1..8_usize, steps).prop_map(move |(who, steps)| {
        let mut all: Vec<(usize, String)> =
            (0..3).filter(|index| who & (1 << index) != 0).map(begin).collect();
        all.extend(steps);
        all.extend((0..3).map(|index| (index, "COMMIT".to_owned())));
        all
    })
}

const KNOWN: &[&str] = &[
    "0: count; 1: count; 0: UPDATE t SET v = 0 WHERE k = 1; 1: UPDATE t SET v = 0 WHERE k = 2; \
     0: COMMIT; 1: COMMIT",
    "0: SELECT v FROM t WHERE k = 1; 1: UPDATE t SET v = v + 1 WHERE k = 1; 1: COMMIT; \
     2: COMMIT; 2: BEGIN ISOLATION LEVEL SERIALIZABLE; \
     2: SELECT v FROM t WHERE k = 1; 2: SELECT * FROM u WHERE b = 1; 2: COMMIT; \
     0: INSERT INTO u VALUES (1, 1); 0: COMMIT",
    "0: SELECT v FROM t WHERE k = 1; 0: INSERT INTO u VALUES (7, 7); \
     1: SELECT v FROM t WHERE k = 2; 1: UPDATE t SET v = 5 WHERE k = 1; 0: COMMIT; \
     2: UPDATE t SET v = 6 WHERE k = 2; 1: COMMIT; 2: COMMIT",
    "0: SELECT v FROM t WHERE k = 2; 1: SELECT a FROM u WHERE a = 1; \
     2: INSERT INTO u VALUES (1, 1); 2: COMMIT; 1: UPDATE t SET v = 5 WHERE k = 1; 1: COMMIT; \
     0: SELECT v FROM t WHERE k = 1",
    "0: SELECT b FROM u WHERE a = 1; 1: SELECT b FROM u WHERE a = 1; \
     0: INSERT INTO u VALUES (1, 1); 0: COMMIT; 1: INSERT INTO u VALUES (1, 2)",
    "0: count; 1: count; 0: INSERT INTO u VALUES (1, 1); 0: COMMIT; 1: INSERT INTO u VALUES (1, 2)",
    "0: count; 1: count; 0: UPDATE t SET v = 0 WHERE k = 1; 1: UPDATE t SET v = 0 WHERE k = 2; \
     0: COMMIT; 1: UPDATE t SET v = 1 WHERE k = 2; 1: COMMIT",
    "0: count; 1: count; 0: UPDATE t SET v = 0 WHERE k = 1; 1: UPDATE t SET v = 0 WHERE k = 2; \
     0: COMMIT; 1: SELECT v FROM t WHERE k = 2; 1: COMMIT",
];

fn known() -> impl Strategy<Value = Vec<(usize, String)>> {
    prop::sample::select(KNOWN).prop_map(|text| {
        let text = text.replace("count", "SELECT count(*) FROM t WHERE v > 0");
        let mut all = vec![(0, "INSERT INTO t VALUES (2, 2), (3, 3)".to_owned())];
        all.extend((0..3).map(|who| (who, "BEGIN ISOLATION LEVEL SERIALIZABLE".to_owned())));
        all.extend(text.split("; ").map(|step| {
            let (who, sql) = step.split_once(": ").unwrap();
            (who.parse().unwrap(), sql.to_owned())
        }));
        all
    })
}

fn tight() -> impl Strategy<Value = Vec<(usize, String)>> {
    let key = || pick(&["1", "2", "3"]);
    let step = prop_oneof![
        4 => key().prop_map(|k| format!("SELECT v FROM t WHERE k = {k}")),
        1 => pick(&["SELECT count(*) FROM t WHERE v > 1", "SELECT k FROM t WHERE k = 9",
            "SELECT * FROM u", "SELECT c FROM u WHERE a = 1"]),
        4 => Just("UPDATE t SET v = v + 1 WHERE k = own".to_owned()),
        1 => pick(&["UPDATE t SET v = 0 WHERE k = 1", "INSERT INTO t VALUES (9, 9)",
            "INSERT INTO t VALUES (8, 8)", "INSERT INTO u VALUES (1, 1)",
            "INSERT INTO u VALUES (2, 2)", "DELETE FROM t WHERE k = 3",
            "UPDATE t SET v = 0 WHERE v = 2", "UPDATE t SET k = k + 4 WHERE k = 2"]),
        3 => Just("COMMIT".to_owned()),
        2 => Just("BEGIN ISOLATION LEVEL SERIALIZABLE".to_owned()),
        1 => Just("ROLLBACK".to_owned()),
    ];
    prop::collection::vec((0..3_usize, step), 6..26).prop_map(|steps| {
        let mut all = vec![(0, "INSERT INTO t VALUES (2, 2), (3, 3)".to_owned())];
        all.extend((0..3).map(|who| (who, "BEGIN ISOLATION LEVEL SERIALIZABLE".to_owned())));
        let own = |(who, sql): (usize, String)| (who, sql.replace("own", &(who + 1).to_string()));
        all.extend(steps.into_iter().map(own));
        all.extend((0..3).map(|who| (who, "COMMIT".to_owned())));
        all
    })
}

#[test]
fn serializable_transactions_are_cancelled_as_by_a_real_postgresql() {
    let any = prop::collection::vec((0..3_usize, statement()), 1..40);
    let Some(reasons) =
        run(CASES, prop_oneof![3 => any, 3 => script(), 12 => tight(), 1 => known()])
    else {
        return;
    };
    for words in [
        "during conflict out checking", "during conflict in checking", "during commit attempt",
        "during write", "during read",
    ] {
        let is_given = reasons.keys().any(|reason| reason.contains(words));
        assert!(is_given, "nobody was cancelled {words}: {reasons:?}");
    }
    eprintln!("{reasons:#?}");
}
