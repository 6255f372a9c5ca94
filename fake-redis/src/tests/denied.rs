use crate::config::NodeConfig;
use crate::state::busy::Busy;
use crate::state::client_key::ClientKey;
use crate::testing::{Bench, check_on, readable};
use bytes::Bytes;

const NO_SCRIPT: &str = "-NOSCRIPT No matching script. Please use EVAL.";

#[test]
fn a_replica_refuses_writes_and_answers_reads() {
    let mut bench = Bench::with(NodeConfig {
        replica_of: Some((String::from("p"), 1)),
        ..NodeConfig::default()
    });
    let refused = "-READONLY You can't write against a read only replica.";
    check_on(
        &mut bench,
        &[
            ("SET k v", refused),
            ("GET k", "$-1"),
            ("EVAL \"return redis.call('GET', 'k')\" 0", "$-1"),
            (
                "EVAL \"return redis.call('SET', 'k', 'v')\" 0",
                "-READONLY You can't write against a read only replica. script: \
                 5c4d62f4e30c54fb15935b5892148e5ce7374077, on @user_script:1.",
            ),
            ("MULTI", "+OK"),
            ("SET k v", refused),
            ("EXEC", "-EXECABORT Transaction discarded because of previous errors."),
        ],
    );
    let script: &[&[u8]] = &[b"EVAL", b"#!lua\nreturn 1", b"0"];
    assert_eq!(readable(&bench.words(0, script)), refused);
}

#[test]
fn a_stale_replica_may_be_told_not_to_answer() {
    let replica_of = Some((String::from("p"), 1));
    let mut bench = Bench::with(NodeConfig {
        replica_of,
        replica_serve_stale_data: false,
        ..NodeConfig::default()
    });
    let down = "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
    check_on(&mut bench, &[("GET k", down), ("PING", down), ("SELECT 1", "+OK")]);
    check_on(
        &mut bench,
        &[
            ("EVAL \"return 1\" 0", down),
            ("EVAL \"return redis.call('PUBLISH', 'c', 'x')\" 0", down),
            ("EVAL \"return redis.call('GET', 'k')\" 0", down),
            ("EVALSHA 0000000000000000000000000000000000000000 0", NO_SCRIPT),
            ("SCRIPT LOAD \"return 1\"", "$40|e0e1f9fabfc9d4800c877a703b823ac0578ff8db"),
            ("EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0", down),
            ("SCRIPT EXISTS e0e1f9fabfc9d4800c877a703b823ac0578ff8db", down),
            ("SCRIPT FLUSH", down),
            ("MULTI", "+OK"),
            ("EVAL \"return 1\" 0", "+QUEUED"),
            ("EXEC", &format!("*1|{down}")),
        ],
    );
    let mut eval = |script: &[u8]| readable(&bench.words(0, &[b"EVAL", script, b"0"]));
    assert_eq!(eval(b"#!lua flags=no-writes\nreturn 1"), down);
    assert_eq!(eval(b"#!lua flags=no-writes,allow-stale\nreturn 1"), ":1");
    assert_eq!(
        eval(b"#!lua flags=allow-stale\nreturn 1"),
        "-READONLY You can't write against a read only replica."
    );
    let read = eval(b"#!lua flags=no-writes,allow-stale\nreturn redis.call('GET', 'k')");
    assert!(read.starts_with("-ERR Can not execute the command on a stale replica script: "));
}

#[test]
fn a_script_fails_if_its_transaction_forbids_stale_answers() {
    let replica_of = Some((String::from("p"), 1));
    let mut bench = Bench::with(NodeConfig { replica_of, ..NodeConfig::default() });
    check_on(&mut bench, &[("MULTI", "+OK")]);
    check_on(&mut bench, &[("CONFIG SET replica-serve-stale-data no", "+QUEUED")]);
    let script: &[&[u8]] = &[b"EVAL", b"#!lua flags=no-writes\nreturn 1", b"0"];
    assert_eq!(readable(&bench.words(0, script)), "+QUEUED");
    let refused = "*2|+OK|-MASTERDOWN Link with MASTER is down, replica-serve-stale-data is set to \
                   'no' and 'allow-stale' flag is not set on the script.";
    check_on(&mut bench, &[("EXEC", refused)]);
}

#[test]
fn a_transaction_fails_if_its_replica_becomes_stale() {
    let replica_of = Some((String::from("p"), 1));
    let mut bench = Bench::with(NodeConfig { replica_of, ..NodeConfig::default() });
    check_on(
        &mut bench,
        &[
            ("MULTI", "+OK"),
            ("GET k", "+QUEUED"),
            ("1>CONFIG SET replica-serve-stale-data no", "+OK"),
            (
                "EXEC",
                "-EXECABORT Transaction discarded because of: MASTERDOWN Link with MASTER is down \
                 and replica-serve-stale-data is set to 'no'.",
            ),
            ("MULTI", "+OK"),
            ("SELECT 1", "+QUEUED"),
            ("EXEC", "*1|+OK"),
        ],
    );
}

#[test]
fn a_primary_without_enough_replicas_refuses_writes() {
    let mut bench = Bench::with(NodeConfig { min_replicas_to_write: 1, ..NodeConfig::default() });
    check_on(
        &mut bench,
        &[("SET k v", "-NOREPLICAS Not enough good replicas to write."), ("GET k", "$-1")],
    );
}

#[test]
fn a_password_is_asked_for() {
    let requirepass = Some(Bytes::from_static(b"secret"));
    let mut bench = Bench::with(NodeConfig { requirepass, ..NodeConfig::default() });
    let wrong = "-WRONGPASS invalid username-password pair or user is disabled.";
    check_on(
        &mut bench,
        &[
            ("GET k", "-NOAUTH Authentication required."),
            ("AUTH wrong", wrong),
            ("HELLO 3 AUTH default wrong", wrong),
            ("AUTH default secret", "+OK"),
            ("GET k", "$-1"),
            ("1>HELLO 2 AUTH nobody secret", wrong),
        ],
    );
    assert!(bench.type_at(1, "HELLO 2").starts_with("-NOAUTH HELLO must be called with"));
    assert_eq!(
        bench.raw(2, b"*11\r\n"),
        b"-ERR Protocol error: unauthenticated multibulk length\r\n"
    );
    assert_eq!(bench.closed.len(), 1);
}

#[test]
fn loading_and_a_stuck_script_are_answered_as_such() {
    let mut bench = Bench::new();
    bench.node.server_mut().life.is_loading = true;
    check_on(
        &mut bench,
        &[("GET k", "-LOADING Redis is loading the dataset in memory"), ("SELECT 1", "+OK")],
    );
    bench.node.server_mut().life.is_loading = false;
    let busy = Busy { caller: ClientKey::SCRIPT, has_written: false, is_killed: false };
    bench.node.server_mut().long_script.running = Some(busy);
    let busy =
        "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
    check_on(
        &mut bench,
        &[
            ("GET k", busy),
            ("AUTH x y", "-WRONGPASS invalid username-password pair or user is disabled."),
        ],
    );
}

#[test]
fn a_pause_of_writes_delays_them_and_their_time_to_live_starts_at_execution() {
    let mut bench = Bench::new();
    check_on(
        &mut bench,
        &[
            ("CLIENT PAUSE 1000 WRITE", "+OK"),
            ("1>SET k v PX 500", ""),
            ("2>EVAL \"return 1\" 0", ""),
            ("GET k", "$-1"),
            ("SET", "-ERR wrong number of arguments for 'set' command"),
        ],
    );
    bench.pass(1_000);
    assert_eq!(bench.replies(1), "+OK");
    assert_eq!(bench.replies(2), ":1");
    check_on(&mut bench, &[("PTTL k", ":500")]);
}

#[test]
fn a_pause_of_everything_delays_reads_too_and_keeps_the_order() {
    let mut bench = Bench::new();
    check_on(
        &mut bench,
        &[
            ("SET n 0", "+OK"),
            ("CLIENT PAUSE 100", "+OK"),
            ("2>APPEND n 2", ""),
            ("+1", ""),
            ("1>APPEND n 1", ""),
        ],
    );
    bench.pass(200);
    check_on(&mut bench, &[("GET n", "$3|021")]);
}

#[test]
fn nothing_expires_during_a_pause() {
    let mut bench = Bench::new();
    check_on(
        &mut bench,
        &[("SET k v PX 50", "+OK"), ("CLIENT PAUSE 1000 WRITE", "+OK"), ("+500", "")],
    );
    bench.propagated();
    check_on(&mut bench, &[("GET k", "$-1"), ("DBSIZE", ":1")]);
    assert_eq!(bench.propagated(), "");
    bench.pass(1_000);
    check_on(&mut bench, &[("DBSIZE", ":0")]);
    assert_eq!(bench.propagated(), "DEL k");
}

#[test]
fn a_sleeping_server_answers_nobody_until_it_wakes() {
    let mut bench = Bench::new();
    check_on(
        &mut bench,
        &[("DEBUG SLEEP 0.5", ""), ("1>SET k v PX 100", ""), ("+499", ""), ("1>PING", "")],
    );
    assert_eq!(bench.replies(0), "");
    bench.pass(1);
    assert_eq!(bench.replies(0), "+OK");
    assert_eq!(bench.replies(1), "+OK|+PONG");
    check_on(&mut bench, &[("PTTL k", ":100")]);
}

#[test]
fn too_many_clients_are_turned_away() {
    let mut bench = Bench::with(NodeConfig { max_clients: 2, ..NodeConfig::default() });
    assert_eq!(bench.replies(2), "-ERR max number of clients reached");
    assert_eq!(bench.closed.len(), 1);
    check_on(&mut bench, &[("1>PING", "+PONG")]);
}
