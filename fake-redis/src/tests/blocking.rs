use crate::testing::{Bench, check_on};

#[test]
fn who_came_first_is_served_first_and_the_pop_is_propagated() {
    let mut bench = Bench::new();
    check_on(&mut bench, &[("1>BLPOP l 0", ""), ("2>BRPOP l 0", ""), ("RPUSH l a b", ":2")]);
    assert_eq!(bench.replies(1), "*2|$1|l|$1|a");
    assert_eq!(bench.replies(2), "*2|$1|l|$1|b");
    check_on(&mut bench, &[("EXISTS l", ":0")]);
    assert_eq!(bench.propagated(), "RPUSH l a b | LPOP l | RPOP l");
}

#[test]
fn elements_that_a_transaction_takes_away_again_wake_nobody() {
    let mut bench = Bench::new();
    let script = [
        ("1>BLPOP l 0", ""),
        ("MULTI", "+OK"),
        ("RPUSH l a", "+QUEUED"),
        ("DEL l", "+QUEUED"),
        ("EXEC", "*2|:1|:1"),
    ];
    check_on(&mut bench, &script);
    assert_eq!(bench.replies(1), "");
}

#[test]
fn a_wait_ends_when_its_time_is_up_or_another_client_ends_it() {
    let mut bench = Bench::new();
    check_on(&mut bench, &[("1>BLPOP l 0.1", ""), ("+100", "")]);
    assert_eq!(bench.replies(1), "*-1");
    check_on(
        &mut bench,
        &[
            ("1>CLIENT ID", ":2"),
            ("1>BLMOVE l m LEFT RIGHT 0", ""),
            ("CLIENT UNBLOCK 2 ERROR", ":1"),
        ],
    );
    assert_eq!(bench.replies(1), "-UNBLOCKED client unblocked via CLIENT UNBLOCK");
    check_on(&mut bench, &[("CLIENT UNBLOCK 2", ":0")]);
}

#[test]
fn what_comes_after_a_wait_is_served_after_it() {
    let mut bench = Bench::new();
    check_on(&mut bench, &[("1>BLPOP l 0", ""), ("1>PING", ""), ("LPUSH l a", ":1")]);
    assert_eq!(bench.replies(1), "*2|$1|l|$1|a|+PONG");
}

#[test]
fn nobody_waits_in_a_transaction() {
    let mut bench = Bench::new();
    check_on(&mut bench, &[("MULTI", "+OK"), ("BLPOP l 0", "+QUEUED"), ("EXEC", "*1|*-1")]);
}

#[test]
fn who_waits_is_disconnected_when_the_server_becomes_a_replica() {
    let mut bench = Bench::new();
    check_on(&mut bench, &[("1>BLPOP l 0", ""), ("REPLICAOF 127.0.0.1 1", "+OK")]);
    let said = bench.replies(1);
    assert!(said.starts_with("-UNBLOCKED force unblock"), "{said}");
    assert_eq!(bench.closed, [fencepost_machine::ConnectionId(1)]);
}

#[test]
fn another_client_ends_a_wait_for_replicas() {
    let mut bench = Bench::new();
    let id = bench.type_at(1, "CLIENT ID").trim_start_matches(':').to_owned();
    for (how, said) in
        [("ERROR", "-UNBLOCKED client unblocked via CLIENT UNBLOCK"), ("TIMEOUT", ":0")]
    {
        let unblock = format!("CLIENT UNBLOCK {id} {how}");
        check_on(&mut bench, &[("1>WAIT 1 0", ""), (&unblock, ":1"), (&unblock, ":0")]);
        assert_eq!(bench.replies(1), said);
    }
}

#[test]
fn a_move_that_times_out_replies_with_a_null_array_but_not_in_exec() {
    let mut bench = Bench::new();
    for line in ["BLMOVE a b LEFT LEFT 0.05", "BRPOPLPUSH a b 0.05"] {
        check_on(&mut bench, &[(line, ""), ("+50", "")]);
        assert_eq!(bench.replies(0), "*-1", "{line}");
        check_on(&mut bench, &[("MULTI", "+OK"), (line, "+QUEUED"), ("EXEC", "*1|$-1")]);
    }
}
