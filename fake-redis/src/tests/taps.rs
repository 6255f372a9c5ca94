use crate::config::NodeConfig;
use crate::testing::{Bench, check_on};
use bytes::Bytes;
use fencepost_machine::{Input, OperatorAction};

fn tapped() -> Bench {
    Bench::with(NodeConfig {
        tap_prefix: Some(Bytes::from_static(b"lock")),
        ..NodeConfig::default()
    })
}

#[test]
fn grants_extensions_and_removals_name_their_client() {
    let mut bench = tapped();
    check_on(
        &mut bench,
        &[
            ("SET lock a NX PX 100", "+OK"),
            ("1>SET lock b NX PX 100", "$-1"),
            ("PEXPIRE lock 200", ":1"),
            ("1>DEL lock", ":1"),
            ("1>DEL lock", ":0"),
            ("SET other a", "+OK"),
        ],
    );
    assert_eq!(
        bench.tapped(),
        "Granted lock=a by 0 until 100\nExtended lock=a by 0 until 200\nRemoved lock=a by 1 until -"
    );
}

#[test]
fn an_expiry_is_told_when_it_is_noticed() {
    let mut bench = tapped();
    check_on(
        &mut bench,
        &[("DEBUG SET-ACTIVE-EXPIRE 0", "+OK"), ("SET lock a PX 100", "+OK"), ("+5000", "")],
    );
    bench.tapped();
    check_on(&mut bench, &[("1>SET lock b NX", "+OK")]);
    assert_eq!(bench.tapped(), "Expired lock=a by 1 until -\nGranted lock=b by 1 until -");
}

#[test]
fn a_script_acts_for_its_caller() {
    let mut bench = tapped();
    bench.type_at(
        2,
        "EVAL \"redis.call('HSET', 'lock', 'me', 1) redis.call('PEXPIRE', 'lock', 50)\" 0",
    );
    assert_eq!(bench.tapped(), "Granted lock=me=1 by 2 until -\nExtended lock=me=1 by 2 until 50");
}

#[test]
fn an_operator_acts_for_nobody() {
    let mut bench = tapped();
    bench.run("SET lock a PX 9000");
    bench.run("SET lock2 a");
    bench.tapped();
    bench.input(Input::Operator { action: OperatorAction::Evict });
    assert_eq!(bench.tapped(), "Evicted lock=a by - until -");
    bench.input(Input::Operator { action: OperatorAction::FlushAll });
    assert_eq!(bench.tapped(), "Flushed lock2=a by - until -");
}

#[test]
fn without_a_prefix_nothing_is_told() {
    let mut bench = Bench::new();
    bench.run("SET lock a NX PX 100");
    assert_eq!(bench.tapped(), "");
}
