use crate::config::NodeConfig;
use crate::testing::{Bench, START_MS, check, check_on};

fn replica() -> Bench {
    Bench::with(NodeConfig {
        replica_of: Some((String::from("primary"), 6379)),
        ..NodeConfig::default()
    })
}

#[test]
fn a_key_is_alive_at_its_last_millisecond_and_gone_at_the_next() {
    check(&[
        ("SET k v PX 100", "+OK"),
        ("+100", ""),
        ("GET k", "$1|v"),
        ("PTTL k", ":0"),
        ("SET k w NX", "$-1"),
        ("+1", ""),
        ("SET k w NX", "+OK"),
    ]);
}

#[test]
fn part_of_a_millisecond_does_not_end_a_key() {
    let mut bench = Bench::new();
    bench.run("SET k v PX 100");
    bench.now.0 += 100_999;
    assert_eq!(bench.run("GET k"), "$1|v");
    bench.now.0 += 1;
    assert_eq!(bench.run("GET k"), "$-1");
}

#[test]
fn an_expiry_in_the_past_deletes_at_once() {
    let mut bench = Bench::new();
    check_on(&mut bench, &[("SET k v", "+OK"), ("PEXPIRE k 0", ":1"), ("EXISTS k", ":0")]);
    check_on(
        &mut bench,
        &[("SET k v", "+OK"), ("EXPIREAT k 1", ":1"), ("EXISTS k", ":0"), ("EXPIRE k 5", ":0")],
    );
    assert_eq!(bench.propagated(), "SET k v | DEL k | SET k v | DEL k");
}

#[test]
fn conditions_on_expire_compare_with_never_as_infinity() {
    check(&[
        ("SET k v", "+OK"),
        ("EXPIRE k 100 XX", ":0"),
        ("EXPIRE k 100 GT", ":0"),
        ("EXPIRE k 100 LT", ":1"),
        ("EXPIRE k 50 NX", ":0"),
        ("EXPIRE k 50 GT", ":0"),
        ("EXPIRE k 200 GT", ":1"),
        ("TTL k", ":200"),
        (
            "EXPIRE k 1 NX GT",
            "-ERR NX and XX, GT or LT options at the same time are not compatible",
        ),
        ("EXPIRE k 1 SOON", "-ERR Unsupported option SOON"),
    ]);
}

#[test]
fn a_clock_that_jumps_forward_ends_keys_and_one_that_jumps_back_prolongs_them() {
    let mut bench = Bench::new();
    bench.run("SET k v PX 10000");
    bench.step_clock(-5_000);
    assert_eq!(bench.run("PTTL k"), ":15000");
    bench.step_clock(15_001);
    assert_eq!(bench.run("SET k w NX"), "+OK");
}

#[test]
fn nobody_has_to_ask_for_a_key_to_expire() {
    let mut bench = Bench::new();
    bench.run("SET k v PX 130");
    bench.run("SET forever v");
    bench.pass(130);
    assert_eq!(bench.run("DBSIZE"), ":2");
    bench.pass(100);
    assert_eq!(bench.run("DBSIZE"), ":1");
    assert_eq!(
        bench.propagated(),
        format!("SET k v PXAT {} | SET forever v | DEL k", START_MS + 130)
    );
}

#[test]
fn without_active_expiry_a_key_stays_until_it_is_asked_for() {
    let mut bench = Bench::new();
    check_on(
        &mut bench,
        &[
            ("DEBUG SET-ACTIVE-EXPIRE 0", "+OK"),
            ("SET k v PX 130", "+OK"),
            ("+9000", ""),
            ("DBSIZE", ":1"),
        ],
    );
    bench.propagated();
    check_on(&mut bench, &[("GET k", "$-1"), ("DBSIZE", ":0")]);
    assert_eq!(bench.propagated(), "DEL k");
}

#[test]
fn the_last_instant_there_is_can_be_set_and_asked_for() {
    check(&[
        ("SET k v PXAT 9223372036854775807", "+OK"),
        ("PEXPIRETIME k", ":9223372036854775807"),
        ("EXPIRETIME k", ":9223372036854776"),
        ("SET k v PX 9223372036854775807", "-ERR invalid expire time in 'set' command"),
        ("GETEX k EXAT 9223372036854775807", "-ERR invalid expire time in 'getex' command"),
    ]);
}

#[test]
fn a_replica_masks_an_expired_key_and_keeps_it() {
    let mut bench = replica();
    let at = (START_MS + 100).to_string();
    bench.node.server_mut().apply_replicated(&[b"SET", b"k", b"v", b"PXAT", at.as_bytes()]);
    check_on(
        &mut bench,
        &[("GET k", "$1|v"), ("+5000", ""), ("GET k", "$-1"), ("EXISTS k", ":0"), ("DBSIZE", ":1")],
    );
}

#[test]
fn a_replica_with_a_fast_clock_masks_a_key_that_its_primary_still_holds() {
    let mut bench = replica();
    bench.step_clock(10_000);
    let at = (START_MS + 7_500).to_string();
    bench.node.server_mut().apply_replicated(&[b"SET", b"k", b"v", b"PXAT", at.as_bytes()]);
    check_on(&mut bench, &[("GET k", "$-1"), ("DBSIZE", ":1")]);
}

#[test]
fn what_a_primary_sends_meets_keys_that_have_expired_here_as_alive() {
    let mut bench = replica();
    let at = (START_MS + 100).to_string();
    bench.node.server_mut().apply_replicated(&[b"SET", b"n", b"5", b"PXAT", at.as_bytes()]);
    bench.pass(1_000);
    bench.node.server_mut().clock.now = bench.now;
    bench.node.server_mut().apply_replicated(&[b"INCR", b"n"]);
    // Step the clock back to show that the key exists and that INCR counted from 5.
    bench.step_clock(-1_000);
    check_on(&mut bench, &[("GET n", "$1|6")]);
}

#[test]
fn time_stands_still_within_a_script_and_a_transaction() {
    let mut bench = Bench::new();
    bench.run("SET k v PX 1");
    let script = "local a = redis.call('PTTL', 'k') for i = 1, 10000 do end return \
     redis.call('PTTL', 'k') - a";
    assert_eq!(bench.run(&format!("EVAL \"{script}\" 0")), ":0");
}
