use crate::testing::{Bench, START_MS, check_on};

#[track_caller]
fn check_effect(lines: &[&str], expected: &str) {
    let mut bench = Bench::new();
    lines.iter().for_each(|line| drop(bench.run(line)));
    assert_eq!(bench.propagated(), expected, "{lines:?}");
}

#[test]
fn times_become_absolute() {
    let at = START_MS + 5_000;
    check_effect(&["SET k v NX PX 5000"], &format!("SET k v PXAT {at}"));
    check_effect(&["SET k v EX 5 GET"], &format!("SET k v PXAT {at}"));
    check_effect(&["SETEX k 5 v"], &format!("SET k v PXAT {at}"));
    check_effect(&["PSETEX k 5000 v"], &format!("SET k v PXAT {at}"));
    check_effect(&["SET k v", "EXPIRE k 5"], &format!("SET k v | PEXPIREAT k {at}"));
    check_effect(&["SET k v", "GETEX k EX 5"], &format!("SET k v | PEXPIREAT k {at}"));
    check_effect(&["SET k v", "GETEX k"], "SET k v");
    check_effect(
        &["SET k v PX 5000", "GETEX k PERSIST"],
        &format!("SET k v PXAT {at} | PERSIST k"),
    );
}

#[test]
fn commands_that_changed_nothing_are_not_told() {
    check_effect(
        &[
            "GET k", "DEL k", "SET k v XX", "EXPIRE k 5", "HDEL h f", "PERSIST k", "SETNX k v",
            "SETNX k w",
        ],
        "SETNX k v",
    );
}

#[test]
fn the_get_option_and_floats_do_not_travel() {
    check_effect(&["SET k v GET", "SET k w XX GET"], "SET k v | SET k w XX");
    check_effect(&["GETSET k v", "GETDEL k"], "SET k v | DEL k");
    check_effect(&["SET f 1", "INCRBYFLOAT f 0.5"], "SET f 1 | SET f 1.5 KEEPTTL");
    check_effect(&["HINCRBYFLOAT h f 0.5"], "HSET h f 0.5");
    check_effect(&["INCR n", "APPEND n 1"], "INCR n | APPEND n 1");
}

#[test]
fn a_stream_tells_the_chosen_identifier_and_the_exact_outcome_of_a_trim() {
    let id = |sequence: u64| format!("{START_MS}-{sequence}");
    let added = format!("XADD x {} f v | XADD x {} f w", id(0), id(1));
    check_effect(&["XADD x * f v", "XADD x * f w"], &added);
    let trimmed = "XADD x 1-1 f v | XADD x MAXLEN = 2 2-0 f w | XTRIM x MAXLEN 1";
    check_effect(
        &["XADD x 1-1 f v", "XADD x MAXLEN ~ 1 2-* f w", "XTRIM x MAXLEN 1", "XTRIM x MAXLEN 1"],
        trimmed,
    );
    check_effect(&["XADD x MINID ~ 9 NOMKSTREAM 3 f v", "XDEL x 3", "XDEL x 3"], "");
    check_effect(&["XADD x 3 f v", "XDEL x 3", "XDEL x 3"], "XADD x 3-0 f v | XDEL x 3");
}

#[test]
fn a_script_is_told_as_its_effects_and_as_a_transaction_if_they_are_many() {
    check_effect(&["EVAL \"return redis.call('GET', 'k')\" 0"], "");
    check_effect(&["EVAL \"return redis.call('INCR', 'k')\" 0"], "INCR k");
    check_effect(
        &["EVAL \"redis.call('SET', 'k', 'v', 'PX', 5000) redis.call('INCR', 'n')\" 0"],
        &format!("MULTI | SET k v PXAT {} | INCR n | EXEC", START_MS + 5_000),
    );
    check_effect(
        &["EVAL \"redis.call('SELECT', 3) redis.call('SET', 'k', 'v')\" 0", "SET k w"],
        "3: SET k v | SET k w",
    );
    check_effect(
        &["EVAL \"redis.set_repl(redis.REPL_NONE) redis.call('SET', 'k', 'v')\" 0", "SET k w"],
        "SET k w",
    );
}

#[test]
fn a_transaction_is_told_as_one_if_it_changed_more_than_one_thing() {
    check_effect(&["MULTI", "SET a 1", "GET a", "EXEC"], "SET a 1");
    check_effect(&["MULTI", "SET a 1", "SET b 2", "EXEC"], "MULTI | SET a 1 | SET b 2 | EXEC");
    check_effect(&["MULTI", "SET a 1", "DISCARD"], "");
}

#[test]
fn a_key_that_expires_is_deleted_before_the_command_that_noticed() {
    let mut bench = Bench::new();
    check_on(
        &mut bench,
        &[("DEBUG SET-ACTIVE-EXPIRE 0", "+OK"), ("SET k v PX 10", "+OK"), ("+11", "")],
    );
    bench.propagated();
    bench.run("SET k w NX PX 10");
    let at = START_MS + 21;
    assert_eq!(bench.propagated(), format!("MULTI | DEL k | SET k w PXAT {at} | EXEC"));
    bench.pass(11);
    bench.run("GET k");
    assert_eq!(bench.propagated(), "DEL k");
}

#[test]
fn flushing_is_told_even_if_there_was_nothing() {
    check_effect(&["FLUSHDB", "FLUSHALL"], "FLUSHDB | FLUSHALL");
}

#[test]
fn applying_what_was_told_gives_the_same_data() {
    let (mut one, mut other) = (Bench::new(), Bench::new());
    for line in [
        "SET a 1 PX 5000", "HSET h f 1 g 2", "HINCRBYFLOAT h f 0.25", "INCR a", "GETEX a EX 9",
        "RENAME h i", "COPY i j",
    ] {
        one.run(line);
    }
    for (_, parts) in one.node.take_propagated() {
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        other.node.server_mut().apply_replicated(&parts);
    }
    for line in ["KEYS *", "GET a", "PTTL a", "HGETALL i", "HGETALL j"] {
        assert_eq!(one.run(line), other.run(line), "{line}");
    }
}
