#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use fencepost_machine::{MonotonicTime, Now, WallTime};
use fencepost_memcached::{Config, Memcached};
use fencepost_testing::differential::differential;
use fencepost_testing::{
    Bench, PATIENCE, Process, free_port, instant, rest, skip, wait_until_ready,
};
use proptest::prelude::*;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const CASES: u32 = 3_000;
const SHRINK_MAX: u32 = 4_000;
const LAST: &[u8] = b"version\r\n";
const LAST_REPLY: &[u8] = b"VERSION 1.6.18\r\n";

struct Real {
    process: Process,
    port: u16,
}

impl Real {
    fn start() -> Option<Real> {
        let port = free_port();
        // Without `no_modern`, a background thread makes the padding of `decr` depend on timing.
        let arguments = ["-o", "no_modern", "-u", "nobody", "-l", "127.0.0.1", "-t", "1", "-p"];
        let started = Command::new("memcached")
            .args(arguments)
            .arg(port.to_string())
            .stderr(Stdio::null())
            .spawn();
        let Ok(process) = started else {
            skip("FENCEPOST_REAL_MEMCACHED", "memcached");
            return None;
        };
        let mut real = Real { process: Process(process), port };
        wait_until_ready("memcached", &mut real.process, || {
            TcpStream::connect(("127.0.0.1", port)).ok()
        });
        Some(real)
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }
}

fn ask(stream: &mut TcpStream, bytes: &[u8]) -> Vec<u8> {
    stream.write_all(bytes).unwrap();
    let (mut said, mut buffer) = (Vec::new(), [0; 4_096]);
    while !said.ends_with(LAST_REPLY) {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => said.extend_from_slice(&buffer[..length]),
            Err(error) => {
                panic!("{error} after {:?} to {:?}", text(&said), text(bytes))
            }
        }
    }
    said
}

struct Fake {
    bench: Bench<Memcached>,
    began: Instant,
    connection: u32,
}

impl Fake {
    fn start() -> Fake {
        let began = instant();
        let mut bench = Bench::new(|_, _| Memcached::new(Config::default(), clocks(began)));
        let connection = bench.connect();
        Fake { bench, began, connection }
    }

    fn ask(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.bench.clock = clocks(self.began);
        self.bench.send(self.connection, bytes);
        self.bench.take(self.connection)
    }
}

#[expect(clippy::disallowed_methods, reason = "the real server lives by the real clock")]
fn clocks(began: Instant) -> Now {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as i64;
    let monotonic = MonotonicTime(began.elapsed().as_micros() as u64);
    Now { wall: WallTime(wall), monotonic }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn pick(choices: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(choices).prop_map(str::to_owned)
}

/// Generates keys of valid length, because memcached drops pending replies after a longer key.
fn good_key() -> impl Strategy<Value = String> {
    prop_oneof![12 => pick(&["a", "b", "lock"]), 1 => Just("k".repeat(250))]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![12 => good_key(), 1 => Just("k".repeat(251))]
}

fn expiry() -> impl Strategy<Value = String> {
    let odd = &["-1", "abc", "2592001", "2147483647", "2147483648", "", "100 x"];
    prop_oneof![8 => pick(&["0", "100", "2592000"]), 1 => pick(odd)]
}

/// Generates no numbers from 2^63 to 2^64 - 1, for which memcached reads uninitialised memory.
fn number() -> impl Strategy<Value = String> {
    let odd = &["-1", "abc", "18446744073709551616", "5x", "+5"];
    prop_oneof![8 => (0..30_u64).prop_map(|n| n.to_string()), 1 => pick(odd)]
}

fn id() -> impl Strategy<Value = String> {
    let odd = &["-1", "abc", "0", "18446744073709551615", "18446744073709551616", "@3@x"];
    prop_oneof![8 => (1..30_u64).prop_map(|n| format!("@{n}@")), 1 => pick(odd)]
}

fn with_ids(request: &str, first: u64) -> String {
    (1..30).fold(request.to_owned(), |text, n| {
        text.replace(&format!("@{n}@"), &(first + n).to_string())
    })
}

fn flags() -> impl Strategy<Value = String> {
    let odd = &["4294967295", "4294967296", "-1", "abc"];
    prop_oneof![8 => pick(&["0", "7"]), 1 => pick(odd)]
}

fn quiet() -> impl Strategy<Value = String> {
    prop_oneof![8 => Just(String::new()), 1 => Just(" noreply".to_owned()), 1 => pick(&[" x"])]
}

fn value() -> impl Strategy<Value = String> {
    pick(&["", "a", "10", "99", "0", "abc def", "9223372036854770000", "-5", " 7"])
}

fn storing() -> impl Strategy<Value = String> {
    let verb = pick(&["set", "add", "replace", "append", "prepend"]);
    let skew = prop_oneof![20 => Just(0_i64), 1 => Just(1), 1 => Just(-1), 1 => Just(-99)];
    (verb, key(), flags(), expiry(), value(), quiet(), skew).prop_map(
        |(verb, key, flags, expiry, value, quiet, skew)| {
            let length = value.len() as i64 + skew;
            format!("{verb} {key} {flags} {expiry} {length}{quiet}\r\n{value}\r\n")
        },
    )
}

fn command() -> impl Strategy<Value = String> {
    let line = |text: String| format!("{text}\r\n");
    prop_oneof![
        8 => storing(),
        3 => (key(), expiry(), value(), id(), quiet()).prop_map(|(k, e, v, n, q)| {
            format!("cas {k} 0 {e} {} {n}{q}\r\n{v}\r\n", v.len())
        }),
        4 => (pick(&["get", "gets"]), prop::collection::vec(good_key(), 0..3))
            .prop_map(move |(verb, keys)| line(format!("{verb} {}", keys.join(" ")))),
        2 => (pick(&["gat", "gats"]), expiry(), prop::collection::vec(good_key(), 0..3))
            .prop_map(move |(verb, e, keys)| line(format!("{verb} {e} {}", keys.join(" ")))),
        3 => (key(), pick(&["", " 0", " 5", " 0 noreply", " noreply", " 0 x", " a b c"]))
            .prop_map(move |(k, rest)| line(format!("delete {k}{rest}"))),
        3 => (pick(&["incr", "decr"]), key(), number(), quiet())
            .prop_map(move |(verb, k, n, q)| line(format!("{verb} {k} {n}{q}"))),
        2 => (key(), expiry(), quiet())
            .prop_map(move |(k, e, q)| line(format!("touch {k} {e}{q}"))),
        1 => pick(&[
            "flush_all\r\n", "flush_all 0\r\n", "flush_all noreply\r\n", "flush_all 0 noreply\r\n",
            "flush_all abc\r\n", "flush_all -1\r\n", "verbosity 1\r\n",
            "verbosity\r\n", "nonsense\r\n", "x\r\n", "\r\n", " \r\n",
            "get\r\n", "GET a\r\n", "get a\n", "set a 0 0\r\n", "incr a\r\n", "delete\r\n",
            "  get   a \r\n", "gat\r\n", "gat 10\r\n", "touch a\r\n",
        ]),
    ]
}

#[test]
fn replies_are_those_of_a_real_memcached() {
    let Some(real) = Real::start() else { return };
    let strategy = prop::collection::vec(command(), 1..60);
    differential(CASES, SHRINK_MAX, &strategy, |commands| check(&real, &commands));
}

/// Compares the replies of both servers, with cas ids relative to each server's first one.
fn check(real: &Real, commands: &[String]) -> Result<(), TestCaseError> {
    let mut stream = real.connect();
    let base = first_cas(&ask(&mut stream, &fresh()));
    let mut fake = Fake::start();
    let own = first_cas(&fake.ask(&fresh()));
    let mut answers = [Vec::new(), Vec::new()];
    // Send one command at a time, because replies to a pipeline depend on timing.
    for command in commands {
        let request = |first| [with_ids(command, first).as_bytes(), b"\r\n", LAST].concat();
        answers[0].extend(ask(&mut stream, &request(base)));
        answers[1].extend(fake.ask(&request(own)));
    }
    let [expected, answered] = answers;
    prop_assert_eq!(
        shifted(&expected, base),
        shifted(&answered, own),
        "after {:?}",
        commands.concat()
    );
    Ok(())
}

/// Returns a request that empties the server and gets the cas id of a new item.
fn fresh() -> Vec<u8> {
    let keys = ["a", "b", "lock", &"k".repeat(250)].map(|key| format!("delete {key}\r\n"));
    let ask = b"set zero 0 0 1\r\nz\r\ngets zero\r\ndelete zero\r\n";
    [b"flush_all\r\n", keys.concat().as_bytes(), ask, LAST].concat()
}

fn first_cas(reply: &[u8]) -> u64 {
    let text = text(reply);
    let line = text.lines().find(|line| line.starts_with("VALUE zero")).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

fn shifted(reply: &[u8], base: u64) -> String {
    let lines = text(reply);
    let shift = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["VALUE", key, flags, length, cas] => {
                let cas: u64 = cas.trim_end().parse().unwrap();
                format!("VALUE {key} {flags} {length} base+{}", cas - base)
            }
            _ => line.to_owned(),
        }
    };
    lines.split('\n').map(shift).collect::<Vec<_>>().join("\n")
}

#[test]
fn numbers_wrap_around_and_stop_at_zero() {
    let Some(real) = Real::start() else { return };
    let request =
        b"set n 0 0 1\r\n1\r\nincr n 18446744073709551615\r\ndecr n 18446744073709551615\r\n\
                    incr n 9\r\nincr n 1\r\ndecr n 1\r\nget n\r\n";
    let request = [request.as_slice(), LAST].concat();
    let expected = ask(&mut real.connect(), &request);
    assert_eq!(text(&expected), text(&Fake::start().ask(&request)));
}

#[test]
fn a_key_that_is_too_long_is_refused_whatever_is_asked_of_it() {
    let Some(real) = Real::start() else { return };
    let key = "k".repeat(251);
    for verb in ["get", "gets", "get a", "gat 10", "gats 10", "gat 10 a"] {
        let request = [format!("{verb} {key}\r\n").as_bytes(), LAST].concat();
        let expected = ask(&mut real.connect(), &request);
        assert_eq!(text(&expected), text(&Fake::start().ask(&request)), "{verb}");
    }
}

#[test]
fn what_is_too_large_for_the_cache_is_thrown_away_and_said_so() {
    let Some(real) = Real::start() else { return };
    let block = vec![b'x'; 1_048_577];
    for noreply in ["", " noreply"] {
        let line = format!("set a 0 0 1\r\na\r\nset a 0 0 {}{noreply}\r\n", block.len());
        let request = [line.as_bytes(), &block, b"\r\nget a\r\n", LAST].concat();
        let expected = ask(&mut real.connect(), &request);
        assert_eq!(text(&expected), text(&Fake::start().ask(&request)));
    }
}

fn last_words(stream: &mut TcpStream, bytes: &[u8]) -> Vec<u8> {
    stream.write_all(bytes).unwrap();
    let mut said = Vec::new();
    stream.read_to_end(&mut said).unwrap();
    said
}

#[test]
fn a_line_that_never_ends_ends_the_connection() {
    let Some(real) = Real::start() else { return };
    let expected = last_words(&mut real.connect(), &[b'x'; 4_096]);
    assert_eq!(text(&expected), "");
    let mut fake = Fake::start();
    assert_eq!(fake.ask(&[b'x'; 4_096]), b"");
    assert_eq!(fake.ask(b"version\r\n"), b"", "nothing is answered any more");
}

#[test]
fn a_lease_of_a_second_ends() {
    let Some(real) = Real::start() else { return };
    let mut stream = real.connect();
    ask(&mut stream, &[b"set a 0 1 1\r\na\r\n", LAST].concat());
    let deadline = instant() + Duration::from_secs(60);
    while text(&ask(&mut stream, &[b"get a\r\n", LAST].concat())).starts_with("VALUE") {
        assert!(instant() < deadline, "it does not end");
        rest(Duration::from_millis(5));
    }
}
