use crate::testing::Bench;
use fencepost_machine::{ConnectionId, Input};

const READER: ConnectionId = ConnectionId(1);

fn limited(limits: &str) -> Bench {
    let mut bench = Bench::new();
    assert_eq!(
        ask(&mut bench, 0, &["CONFIG", "SET", "client-output-buffer-limit", limits]),
        "+OK\r\n"
    );
    bench
}

fn ask(bench: &mut Bench, client: u32, words: &[&str]) -> String {
    let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
    String::from_utf8_lossy(&bench.words(client, &words)).into_owned()
}

fn wait(bench: &mut Bench, bytes: usize) {
    bench.input(Input::Unsent { connection: READER, bytes });
}

#[test]
fn a_listener_is_disconnected_at_its_limit_and_a_normal_client_is_not() {
    let mut bench = limited("pubsub 1000 0 0");
    wait(&mut bench, 5_000);
    assert!(bench.closed.is_empty(), "normal clients have no limit");
    wait(&mut bench, 0);
    ask(&mut bench, 1, &["SUBSCRIBE", "news"]);
    wait(&mut bench, 999);
    assert!(bench.closed.is_empty());
    wait(&mut bench, 1_000);
    assert_eq!(bench.closed, [READER]);
    assert_eq!(ask(&mut bench, 0, &["PUBLISH", "news", "x"]), ":0\r\n", "nobody listens any more");
}

#[test]
fn the_soft_limit_acts_by_itself_after_its_time() {
    let mut bench = limited("normal 0 100 3");
    wait(&mut bench, 200);
    bench.pass(2_900);
    assert!(bench.closed.is_empty());
    bench.pass(2_000);
    assert_eq!(bench.closed, [READER]);
}

#[test]
fn who_reads_in_time_stays() {
    let mut bench = limited("normal 0 100 3");
    wait(&mut bench, 200);
    bench.pass(2_000);
    wait(&mut bench, 50);
    bench.pass(60_000);
    assert!(bench.closed.is_empty());
}

#[test]
fn the_limits_are_shown_and_changed_as_redis_does() {
    let mut bench = limited("replica 1mb 1kb 10 normal 5 4 3");
    let shown = ask(&mut bench, 0, &["CONFIG", "GET", "client-output-buffer-limit"]);
    assert!(
        shown.contains("normal 5 4 3 slave 1048576 1024 10 pubsub 33554432 8388608 60"),
        "{shown}"
    );
    for (value, why) in [
        ("normal 0 0", "Wrong number of arguments in buffer limit configuration."),
        ("master 0 0 0", "Invalid client class specified in buffer limit configuration."),
        (
            "normal 1 0 0 pubsub x 0 0",
            "Error in hard, soft or soft_seconds setting in buffer limit configuration.",
        ),
        (
            "pubsub 0 0 -1",
            "Error in hard, soft or soft_seconds setting in buffer limit configuration.",
        ),
    ] {
        let refused = ask(&mut bench, 0, &["CONFIG", "SET", "client-output-buffer-limit", value]);
        assert!(refused.ends_with(&format!("') - {why}\r\n")), "{refused}");
        assert_eq!(
            ask(&mut bench, 0, &["CONFIG", "GET", "client-output-buffer-limit"]),
            shown,
            "nothing has changed"
        );
    }
}
