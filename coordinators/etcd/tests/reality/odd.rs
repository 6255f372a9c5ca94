use super::fake::Fake;
use super::http::{Plain, Server, post};
use super::real::{Real, read};
use fencepost_testing::rest;
use std::io::Write;
use std::time::Duration;

const BODIES: [&str; 36] = [
    "",
    " \n",
    "x",
    "{",
    "{\"key\":",
    "{\"key\" 1}",
    "{1}",
    "{\"key\":\"YQ==\",}",
    "{\"key\":\"YQ==\" \"a\"}",
    "[1 2]",
    "\"x\"",
    "null",
    "5",
    "-x",
    "01",
    "1.x",
    "tru",
    "nulL",
    "{\"key\":\"\\q\"}",
    "{\"key\":\"a\nb\"}",
    "{\"key\":5}",
    "{\"key\":{}}",
    "{\"key\":[]}",
    "{\"key\":[256]}",
    "{\"key\":[\"a\"]}",
    "{\"key\":true}",
    "{\"key\":\"%%%\"}",
    "{\"key\":\"YQ\"}",
    "{\"key\":\"YQ==YQ==\"}",
    "{\"key\":\"\\u0059Q==\"}",
    "{\"key\":\"YQ==\"} trailing",
    "{\"key\":null,\"value\":null,\"lease\":null}",
    "{\"KEY\":\"YQ==\"}",
    "{\"key\":\"YQ==\",\"unknown\":{\"a\":[1,{}]}}",
    "{\"key\":\"YQ==\",\"prev_kv\":\"true\"}",
    "{\"key\":\"YQ==\",\"prevKv\":true}",
];

const NUMBERS: [&str; 10] = [
    "1.5", "\"1.5\"", "\"a\"", "1e3", "9223372036854775807", "9223372036854775808",
    "\"9223372036854775808\"", "true", "{}", "null",
];

fn requests() -> Vec<(Vec<u8>, usize)> {
    let post_of = |headers: &str, body: &str| {
        format!("POST /v3/kv/range HTTP/1.1\r\nHost: a\r\n{headers}\r\n{body}").into_bytes()
    };
    let get = |target: &str| format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n").into_bytes();
    let mut all = vec![
        (b"GARBAGE\r\n\r\n".to_vec(), 0),
        (b"POST  /x HTTP/1.1\r\n\r\n".to_vec(), 0),
        (b"POST /v3/kv/range\r\n\r\n".to_vec(), 0),
        (b"GET / HTTP/2.9\r\nHost: a\r\n\r\n".to_vec(), 0),
        (b"GET /health HTTP/1.1\r\n\r\n".to_vec(), 0),
        (post_of("Connection: close\r\nContent-Length: 2\r\n", "{}"), 0),
        (post_of("Content-Length: x\r\n", ""), 0),
        (post_of("Content-Length: -1\r\n", "{}"), 0),
        (post_of("Content-Length: 2\r\nContent-Length: 3\r\n", "{}"), 0),
        (post_of("Transfer-Encoding: foo\r\n", ""), 0),
        (post_of("bad header\r\n", ""), 0),
        (post_of("Content-Length: 5\r\n", "{}"), 0),
        (post_of("Expect: 100-continue\r\nContent-Length: 2\r\n", ""), 1),
        ([post_of("", ""), post_of("Content-Length: 2\r\n", "{}")].concat(), 2),
        (get("/version"), 1),
        (get("/%76ersion?x=1"), 1),
        (get("http://b/version"), 1),
        (get("/version/"), 1),
        (get("/health?x"), 1),
        (get("/nothing"), 1),
        (get("/v3/kv/range"), 1),
        (get("/v3/"), 1),
        (get("/v3/watch"), 1),
        (post("/version", ""), 1),
        (post("/v3/nothing", "{}"), 1),
        (post("/v3/kv/range/", "{}"), 1),
        (post("/v3beta/kv/range", "{\"key\":\"YQ==\"}"), 1),
        (post("/v3alpha/kv/range", "{}"), 1),
        (b"OPTIONS /v3/kv/range HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(), 1),
    ];
    all.extend(["PUT", "PATCH", "DELETE", "TRACE", "FOO"].map(|method| {
        (format!("{method} /v3/kv/range HTTP/1.1\r\nHost: a\r\n\r\n").into_bytes(), 1)
    }));
    all
}

fn calls() -> Vec<Vec<u8>> {
    let mut calls: Vec<Vec<u8>> = BODIES.iter().map(|body| post("/v3/kv/put", body)).collect();
    calls.extend(BODIES.iter().map(|body| post("/v3/lock/unlock", body)));
    calls.extend(NUMBERS.iter().flat_map(|number| {
        let put = format!("{{\"key\":\"YQ==\",\"lease\":{number}}}");
        let sorted = format!("{{\"key\":\"YQ==\",\"sort_order\":{number}}}");
        [post("/v3/kv/put", &put), post("/v3/kv/range", &sorted)]
    }));
    let many = |count: usize| vec!["{\"request_range\":{\"key\":\"YQ==\"}}"; count].join(",");
    let big =
        |length: usize| format!("{{\"key\":\"YQ==\",\"value\":\"{}\"}}", "YWFh".repeat(length / 3));
    let rare = [
        ("/v3/kv/txn", "{\"compare\":{}}".to_owned()),
        ("/v3/kv/txn", "{\"compare\":[{}]}".to_owned()),
        ("/v3/kv/txn", "{\"compare\":[{\"key\":\"YQ==\",\"target\":\"FOO\"}]}".to_owned()),
        ("/v3/kv/txn", format!("{{\"success\":[{}]}}", many(128))),
        ("/v3/kv/txn", format!("{{\"success\":[{}]}}", many(129))),
        ("/v3/kv/put", big(60_000)),
        ("/v3/kv/range", "{\"key\":\"YQ==\"}".to_owned()),
        ("/v3/kv/put", big(1_800_000)),
        ("/v3/lease/grant", "{\"TTL\":9000000001}".to_owned()),
        ("/v3/lease/grant", "{\"ttl\":10}".to_owned()),
        ("/v3/lease/keepalive", String::new()),
        ("/v3/lease/keepalive", "x".to_owned()),
        ("/v3/lease/keepalive", "{\"ID\":5}x".to_owned()),
        ("/v3/lease/keepalive", "{\"ID\":5}{\"ID\":6}".to_owned()),
        ("/v3/lease/timetolive", "{\"ID\":5}".to_owned()),
        ("/v3/lease/leases", "{}".to_owned()),
        ("/v3/lock/lock", "{\"name\":\"bQ==\",\"lease\":5}".to_owned()),
        ("/v3/lock/unlock", "{}".to_owned()),
        ("/v3/maintenance/status", "{}".to_owned()),
    ];
    calls.extend(rare.iter().map(|(path, body)| post(path, body)));
    calls
}

/// Reduces an error about invalid JSON to its first line: the model lacks Go's messages.
fn wordless(answer: &str) -> &str {
    let is_unread = !answer.starts_with("HTTP/1.1 200")
        && answer.contains("\"error\"")
        && !answer.contains("etcdserver: ")
        && !answer.contains("grpc");
    if is_unread { answer.lines().next().unwrap_or_default() } else { answer }
}

#[test]
fn odd_requests_are_answered_as_by_the_real_server() {
    let Some(mut real) = Real::start() else { return };
    let mut fake = Fake::start();
    let (mut of_real, mut of_fake) = (Plain::default(), Plain::default());
    for call in calls() {
        let (theirs, ours) = (of_real.show(&real.ask(&call)), of_fake.show(&fake.ask(&call)));
        let shown = String::from_utf8_lossy(&call);
        assert_eq!(
            wordless(&ours),
            wordless(&theirs),
            "{}",
            shown.chars().take(300).collect::<String>()
        );
    }
    for (request, answers) in requests() {
        let theirs = of_real.show(&real.ask_on_new_connection(&request, answers));
        let ours = of_fake.show(&fake.ask_on_new_connection(&request, answers));
        assert_eq!(ours, theirs, "{}", String::from_utf8_lossy(&request));
    }
}

#[test]
fn a_request_may_come_in_any_pieces() {
    let mut fake = Fake::start();
    let put = post("/v3/kv/put", "{\"key\":\"YQ==\",\"value\":\"MQ==\"}");
    for at in 1..put.len() {
        let connection = fake.connect();
        fake.send(connection, &put[..at]);
        assert!(fake.received(connection).is_empty(), "after {at} bytes");
        fake.send(connection, &put[at..]);
        assert!(fake.received(connection).starts_with(b"HTTP/1.1 200 OK"), "after {at} bytes");
    }
}

#[test]
fn watches_from_the_past_are_told_what_the_real_server_tells() {
    let Some(mut real) = Real::start() else { return };
    let mut fake = Fake::start();
    let (mut of_real, mut of_fake) = (Plain::default(), Plain::default());
    let mut ask = |bytes: &[u8], answers: usize| {
        let theirs = of_real.show(&real.ask_on_new_connection(bytes, answers));
        let ours = of_fake.show(&fake.ask_on_new_connection(bytes, answers));
        assert_eq!(wordless(&ours), wordless(&theirs));
    };
    for value in ["MQ==", "Mg==", "Mw=="] {
        ask(&post("/v3/kv/put", &format!("{{\"key\":\"YQ==\",\"value\":\"{value}\"}}")), 1);
    }
    ask(&post("/v3/kv/deleterange", "{\"key\":\"YQ==\"}"), 1);
    ask(&post("/v3/kv/put", "{\"key\":\"YQ==\"}"), 1);
    let create = |more: &str| format!("{{\"create_request\":{{\"key\":\"YQ==\"{more}}}}}");
    for body in [
        create(",\"start_revision\":4"),
        create(",\"start_revision\":\"3\",\"prev_kv\":true"),
        create(",\"start_revision\":1"),
        create(",\"range_end\":\"YQ==\""),
        create("") + &create("") + "{\"cancel_request\":{\"watch_id\":0}}",
        "{\"cancel_request\":{\"watch_id\":5}}".to_owned(),
        "x".to_owned(),
        create("") + "x",
    ] {
        ask(&post("/v3/watch", &body), 0);
    }
}

#[test]
fn a_lock_is_granted_after_its_own_lease_has_ended_as_by_the_real_server() {
    let Some(mut real) = Real::start() else { return };
    let mut fake = Fake::start();
    let (mut of_real, mut of_fake) = (Plain::default(), Plain::default());
    let mut both = |path: &str, body: &str| {
        let call = post(path, body);
        let (theirs, ours) = (of_real.show(&real.ask(&call)), of_fake.show(&fake.ask(&call)));
        assert_eq!(ours, theirs, "{path} {body}");
    };
    for lease in [71, 72, 73] {
        both("/v3/lease/grant", &format!("{{\"TTL\":500,\"ID\":{lease}}}"));
    }
    both("/v3/lock/lock", "{\"name\":\"bQ==\",\"lease\":71}");
    let wait =
        |lease: u64| post("/v3/lock/lock", &format!("{{\"name\":\"bQ==\",\"lease\":{lease}}}"));
    let (mut waiter, mut leaver) = (real.connect(), real.connect());
    let (our_waiter, our_leaver) = (fake.connect(), fake.connect());
    waiter.write_all(&wait(72)).unwrap();
    rest(Duration::from_millis(100));
    leaver.write_all(&wait(73)).unwrap();
    rest(Duration::from_millis(100));
    drop(leaver);
    rest(Duration::from_millis(100));
    fake.send(our_waiter, &wait(72));
    fake.send(our_leaver, &wait(73));
    fake.hang_up(our_leaver);
    let mut both = |path: &str, body: &str| {
        let call = post(path, body);
        let (theirs, ours) = (of_real.show(&real.ask(&call)), of_fake.show(&fake.ask(&call)));
        assert_eq!(ours, theirs, "{path} {body}");
        ours
    };
    let below = "{\"key\":\"bS8=\",\"range_end\":\"bTA=\"}";
    assert!(both("/v3/kv/range", below).contains("\"count\":\"2\""), "who gave up has left");
    both("/v3/lease/revoke", "{\"ID\":72}");
    both("/v3/lock/unlock", "{\"key\":\"bS80Nw==\"}");
    let theirs = read(&mut waiter, |said| super::http::whole(said).is_some());
    let ours = of_fake.show(&fake.received(our_waiter));
    assert_eq!(ours, of_real.show(&theirs));
    assert!(
        ours.contains("\"key\":\"bS80OA==\""),
        "its lease has ended, and it has the lock: {ours}"
    );
}
