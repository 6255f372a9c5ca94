use crate::testing::{Bench, check, check_on};
use fencepost_machine::{ConnectionId, Input};

#[test]
fn messages_reach_those_who_listen_once_for_each_subscription() {
    let mut bench = Bench::new();
    check_on(
        &mut bench,
        &[
            ("1>SUBSCRIBE a b", "*3|$9|subscribe|$1|a|:1|*3|$9|subscribe|$1|b|:2"),
            ("1>PSUBSCRIBE ?", "*3|$10|psubscribe|$1|?|:3"),
            ("PUBLISH a hi", ":2"),
            ("PUBLISH c hi", ":1"),
            ("PUBLISH long hi", ":0"),
        ],
    );
    assert_eq!(
        bench.replies(1),
        "*3|$7|message|$1|a|$2|hi|*4|$8|pmessage|$1|?|$1|a|$2|hi|*4|$8|pmessage|$1|?|$1|c|$2|hi"
    );
    check_on(
        &mut bench,
        &[
            ("1>UNSUBSCRIBE", "*3|$11|unsubscribe|$1|a|:2|*3|$11|unsubscribe|$1|b|:1"),
            ("PUBLISH a x", ":1"),
        ],
    );
}

#[test]
fn a_listener_that_speaks_resp2_may_only_listen() {
    check(&[
        ("SUBSCRIBE a", "*3|$9|subscribe|$1|a|:1"),
        (
            "GET k",
            "-ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / \
             RESET are allowed in this context",
        ),
        ("PING", "*2|$4|pong|$0|"),
        ("RESET", "+RESET"),
        ("GET k", "$-1"),
        ("1>PUBLISH a x", ":0"),
    ]);
}

#[test]
fn a_listener_that_speaks_resp3_hears_pushes_before_the_reply() {
    let mut bench = Bench::new();
    bench.run("HELLO 3");
    bench.run("SUBSCRIBE a");
    check_on(&mut bench, &[("PUBLISH a hi", ">3|$7|message|$1|a|$2|hi|:1"), ("GET k", "_")]);
}

#[test]
fn a_listener_that_left_hears_nothing() {
    let mut bench = Bench::new();
    bench.type_at(1, "SSUBSCRIBE s");
    check_on(&mut bench, &[("SPUBLISH s x", ":1"), ("PUBSUB SHARDNUMSUB s", "*2|$1|s|:1")]);
    bench
        .input(fencepost_machine::Input::Closed { connection: fencepost_machine::ConnectionId(1) });
    check_on(&mut bench, &[("SPUBLISH s x", ":0"), ("PUBSUB SHARDCHANNELS", "*0")]);
}

#[test]
fn keyspace_events_are_told_at_the_deletion_and_only_if_asked_for() {
    let mut bench = Bench::new();
    bench.type_at(1, "PSUBSCRIBE *");
    bench.run("SET k v PX 50");
    assert_eq!(bench.replies(1), "");
    check_on(
        &mut bench,
        &[
            ("CONFIG SET notify-keyspace-events Ex", "+OK"),
            ("CONFIG GET notify-keyspace-events", "*2|$22|notify-keyspace-events|$2|xE"),
        ],
    );
    bench.run("SET k v PX 50");
    bench.pass(40);
    assert_eq!(bench.replies(1), "");
    bench.pass(200);
    assert_eq!(bench.replies(1), "*4|$8|pmessage|$1|*|$22|__keyevent@0__:expired|$1|k");
}

/// Creating a key sends a separate event (`dbAdd` in db.c).
#[test]
fn a_new_key_is_told_once_and_before_the_event_of_its_command() {
    let mut bench = Bench::new();
    bench.run("CONFIG SET notify-keyspace-events En$");
    bench.type_at(1, "PSUBSCRIBE *");
    bench.run("SET foo bar");
    bench.run("SET foo baz");
    let event = |name: &str| {
        format!("*4|$8|pmessage|$1|*|${}|__keyevent@0__:{name}|$3|foo", 15 + name.len())
    };
    assert_eq!(bench.replies(1), [event("new"), event("set"), event("set")].join("|"));
}

/// This test would take seconds if each removal moved all remaining names.
#[test]
fn thousands_of_channels_end_with_their_client_and_leave_those_of_others() {
    let mut bench = Bench::new();
    let names: Vec<String> = (0..20_000).map(|number| format!("c{number}")).collect();
    let words: Vec<&[u8]> = std::iter::once("SUBSCRIBE")
        .chain(names.iter().map(String::as_str))
        .map(str::as_bytes)
        .collect();
    bench.words(1, &words);
    bench.run("SUBSCRIBE mine c7");
    bench.words(1, &[b"UNSUBSCRIBE", b"c3"]);
    bench.input(Input::Closed { connection: ConnectionId(1) });
    bench.type_at(2, "PING");
    assert_eq!(
        bench.type_at(2, "PUBSUB NUMSUB c3 c7 c19999 mine"),
        "*8|$2|c3|:0|$2|c7|:1|$6|c19999|:0|$4|mine|:1"
    );
    assert!(bench.type_at(2, "PUBSUB CHANNELS").starts_with("*2|"));
}
