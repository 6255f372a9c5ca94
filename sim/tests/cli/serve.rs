use crate::answer::fencepost;
use crate::refusal::{is_refused, refuses};
use fencepost_testing::{Process, signal};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const POLLS_MAX: usize = 600;
const POLL_INTERVAL: Duration = Duration::from_millis(100);

struct Served(Process);

impl Served {
    fn start(words: &[&str]) -> (Served, Vec<String>) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
        command.args(["serve", "--port", "0"]).args(words).stdout(Stdio::piped());
        let mut process = Process(command.spawn().unwrap());
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let mut named = line.split_whitespace();
        assert_eq!(named.next(), Some("ready"), "{line}");
        let addresses = named.map(|server| server.split_once('=').unwrap().1.to_owned());
        (Served(process), addresses.collect())
    }

    fn interrupt(self) -> bool {
        self.end("INT")
    }

    fn end(mut self, name: &str) -> bool {
        signal(self.0.id(), name);
        self.0.wait().unwrap().success()
    }
}

fn mode(address: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"srvr").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.lines().find_map(|line| line.strip_prefix("Mode: ")).map(str::to_owned)
}

fn modes(addresses: &[String]) -> Vec<String> {
    for _ in 0..POLLS_MAX {
        let modes: Option<Vec<String>> = addresses.iter().map(|address| mode(address)).collect();
        if let Some(mut modes) = modes {
            modes.sort();
            return modes;
        }
        std::thread::park_timeout(POLL_INTERVAL);
    }
    panic!("they do not come to serve");
}

#[test]
fn an_ensemble_elects_a_leader_and_ends_when_it_is_interrupted() {
    for (servers, expected) in
        [("1", vec!["standalone"]), ("3", vec!["follower", "follower", "leader"])]
    {
        let (served, addresses) =
            Served::start(&["--coordinator", "zookeeper", "--servers", servers]);
        assert_eq!(modes(&addresses), expected);
        assert!(served.interrupt());
    }
}

#[test]
fn a_mysql_greets_with_its_version() {
    let (served, addresses) = Served::start(&["--coordinator", "mysql"]);
    let mut greeting = [0; 38];
    TcpStream::connect(&addresses[0]).unwrap().read_exact(&mut greeting).unwrap();
    assert!(greeting[4..].starts_with(b"\x0a5.5.5-10.11.19-MariaDB"));
    assert!(served.interrupt());
}

const CONNECT: &[u8] = b"\0\0\0\x2d\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0f\xa0\0\0\0\0\0\0\0\0\
    \0\0\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

fn ask(address: &str, request: &[u8]) -> i32 {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(CONNECT).unwrap();
    stream.write_all(&(request.len() as u32).to_be_bytes()).unwrap();
    stream.write_all(request).unwrap();
    let mut granted = [0; 41];
    stream.read_exact(&mut granted).unwrap();
    let mut reply = [0; 20];
    stream.read_exact(&mut reply).unwrap();
    i32::from_be_bytes(reply[16..20].try_into().unwrap())
}

#[test]
fn what_an_ensemble_keeps_in_a_folder_is_there_again() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--coordinator", "zookeeper", "--servers", "3"];
    let words = [&words[..], &["--dir", folder.path().to_str().unwrap()]].concat();
    let create = b"\0\0\0\x01\0\0\0\x01\0\0\0\x02/k\0\0\0\0\0\0\0\x01\0\0\0\x1f\0\0\0\x05world\
        \0\0\0\x06anyone\0\0\0\0";
    for expected in [0, -110] {
        let (served, addresses) = Served::start(&words);
        modes(&addresses);
        assert_eq!(ask(&addresses[0], create), expected);
        assert!(served.interrupt());
    }
}

fn call(address: &str, path: &str, body: &str) -> String {
    let length = body.len();
    let head = format!("POST /v3/{path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n");
    for _ in 0..400 {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "{head}Content-Length: {length}\r\n\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        if answer.starts_with("HTTP/1.1 200 OK") {
            return answer;
        }
        std::thread::park_timeout(POLL_INTERVAL);
    }
    panic!("it does not come to serve");
}

#[test]
fn what_a_cluster_of_etcd_keeps_in_a_folder_is_there_again() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--coordinator", "etcd", "--servers", "3"];
    let words = [&words[..], &["--dir", folder.path().to_str().unwrap()]].concat();
    for expected in ["\"version\":\"1\"", "\"version\":\"2\""] {
        let (served, addresses) = Served::start(&words);
        call(&addresses[0], "kv/put", "{\"key\":\"YQ==\"}");
        let said = call(&addresses[1], "kv/range", "{\"key\":\"YQ==\"}");
        assert!(said.contains(expected), "{said}");
        assert!(served.interrupt());
    }
}

#[test]
fn a_plan_is_played_on_each_coordinator_and_ends_the_servers() {
    for coordinator in ["redis", "memcached", "zookeeper", "postgresql", "mysql", "etcd"] {
        let plan = "serve --port 0 --seed 1 --fault restart --ttl 100ms --duration 1s --repeat 2";
        let words: Vec<&str> = plan.split(' ').chain(["--coordinator", coordinator]).collect();
        let played = fencepost(&words);
        assert_eq!(played.status, 0, "{}", played.stderr);
        assert!(played.stdout.starts_with("ready "), "{}", played.stdout);
        assert_eq!(played.stdout.lines().count(), 1, "{}", played.stdout);
        let count = |text: &str| played.stderr.lines().filter(|line| line.contains(text)).count();
        let faults = count("plan: #");
        assert!(faults > 0, "{}", played.stderr);
        let expected = (faults * 2, faults * 2);
        assert_eq!((count(" begins: #"), count(" ends: #")), expected, "{}", played.stderr);
        assert!(played.stderr.contains(" round 2 of 2"), "{}", played.stderr);
    }
}

fn query(address: &str, sql: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"\0\0\0\x11\0\x03\0\0user\0me\0\0").unwrap();
    let length = (sql.len() + 5) as u32;
    let query = [&b"Q"[..], &length.to_be_bytes(), sql.as_bytes(), b"\0X\0\0\0\x04"].concat();
    stream.write_all(&query).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn what_postgresql_has_committed_in_a_folder_is_there_again() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    for expected in ["INSERT 0 1", "already exists"] {
        let (served, addresses) = Served::start(&["--coordinator", "postgresql", "--dir", dir]);
        let said = query(&addresses[0], "CREATE TABLE t (k int); INSERT INTO t VALUES (1)");
        assert!(said.contains(expected), "{said}");
        assert!(served.interrupt());
    }
}

#[test]
fn a_folder_serves_one_program_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let dir = ["--dir", folder.path().to_str().unwrap()];
    for words in [
        &["--persistence", "aof-always"][..],
        &["--coordinator", "zookeeper"],
        &["--coordinator", "postgresql"],
        &["--coordinator", "mysql"],
        &["--coordinator", "etcd"],
        &["--coordinator", "chubby"],
    ] {
        let words = [words, &dir].concat();
        let (served, _) = Served::start(&words);
        let second = fencepost(&[&["serve", "--port", "0"][..], &words].concat());
        is_refused(&second, &[&format!("in use by process {}", served.0.id())]);
        assert!(served.interrupt());
    }
}

#[test]
fn servers_are_announced_once_they_answer() {
    for servers in ["1", "3"] {
        let (served, addresses) = Served::start(&["--coordinator", "etcd", "--servers", servers]);
        for address in &addresses {
            let mut stream = TcpStream::connect(address).unwrap();
            stream
                .write_all(b"GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                .unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
        }
        assert!(served.interrupt());
    }
    let (served, addresses) = Served::start(&["--coordinator", "chubby", "--servers", "5"]);
    let whereabouts = |address: &String| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"master\n").unwrap();
        let mut answer = [0; 64];
        let length = stream.read(&mut answer).unwrap();
        String::from_utf8_lossy(&answer[..length]).into_owned()
    };
    let answers: Vec<String> = addresses.iter().map(whereabouts).collect();
    assert_eq!(
        answers.iter().filter(|answer| *answer == "master here\n").count(),
        1,
        "{answers:?}"
    );
    assert!(served.interrupt());
    let (served, addresses) = Served::start(&["--coordinator", "gemfire", "--servers", "3"]);
    for address in &addresses {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"join a\n").unwrap();
        let mut answer = [0; 6];
        stream.read_exact(&mut answer).unwrap();
        assert!([b"joined", b"coordi"].contains(&&answer), "{answer:?}");
    }
    assert!(served.interrupt());
    let (served, addresses) = Served::start(&["--coordinator", "zookeeper", "--servers", "3"]);
    assert!(addresses.iter().all(|address| mode(address).is_some()));
    assert!(served.interrupt());
}

#[test]
fn a_damaged_file_is_refused_with_its_path_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("master-1");
    std::fs::create_dir(&place).unwrap();
    let dir = folder.path().to_str().unwrap();
    let words = ["serve", "--port", "0", "--persistence", "aof-always", "--dir", dir];
    let log = place.join("appendonly.0.aof");
    let good = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n";
    let bad = [good, "*3\r\n$3\r\nSEX\r\n$1\r\nb\r\n$1\r\n1\r\n", good].concat();
    std::fs::write(&log, &bad).unwrap();
    refuses(&words, &["appendonly.0.aof: damaged at byte 27"]);
    assert_eq!(std::fs::read_to_string(&log).unwrap(), bad);
    std::fs::remove_file(&log).unwrap();
    let snapshot = place.join("dump.0.rdb");
    std::fs::write(&snapshot, b"REDIS0010\xff12345678").unwrap();
    refuses(&words, &["dump.0.rdb: "]);
}

fn log_in(folder: &Path) -> PathBuf {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found = entries.filter_map(|path| match path.is_dir() {
        true => Some(log_in(&path)),
        false => path.extension().is_some_and(|kind| kind == "aof").then_some(path),
    });
    found.next().unwrap()
}

#[test]
fn a_damaged_log_is_refused_in_one_line_and_a_cut_one_is_repaired_with_a_warning() {
    for coordinator in ["zookeeper", "postgresql", "mysql", "etcd"] {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().to_str().unwrap();
        let words = ["--coordinator", coordinator, "--dir", dir];
        let (served, addresses) = Served::start(&words);
        match coordinator {
            "postgresql" => {
                assert!(query(&addresses[0], "CREATE TABLE t (k int)").contains("CREATE"))
            }
            "zookeeper" => drop(modes(&addresses)),
            _ => {}
        }
        assert!(served.interrupt());
        let path = log_in(folder.path());
        let log = std::fs::read(&path).unwrap();
        let mut damaged = log.clone();
        let Some(byte) = damaged.get_mut(log.len() / 2) else { continue };
        *byte ^= 1;
        std::fs::write(&path, &damaged).unwrap();
        let arguments = [&["serve", "--port", "0"][..], &words].concat();
        refuses(&arguments, &[path.to_str().unwrap()]);
        assert_eq!(std::fs::read(&path).unwrap(), damaged, "a refused file stays as it is");
        std::fs::write(&path, &log[..log.len() - 1]).unwrap();
        let (served, _) = Served::start(&words);
        assert!(served.interrupt());
        let (served, _) = Served::start(&words);
        assert!(served.interrupt());
    }
}

fn said(stream: &mut BufReader<TcpStream>, line: &str) -> String {
    stream.get_mut().write_all(format!("{line}\r\n").as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_line(&mut reply).unwrap();
    reply.trim_end().to_owned()
}

#[test]
fn a_redis_with_save_points_saves_when_a_signal_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--persistence", "rdb", "--replicas", "1"];
    let words = [&words[..], &["--dir", folder.path().to_str().unwrap()]].concat();
    // Each round reads the data that the round before it saved.
    for (count, signal) in ["TERM", "INT", "TERM"].into_iter().enumerate() {
        let (served, addresses) = Served::start(&words);
        let mut redis = BufReader::new(TcpStream::connect(&addresses[0]).unwrap());
        assert_eq!(said(&mut redis, "INCR count"), format!(":{}", count + 1));
        assert!(served.end(signal), "{signal}");
    }
}

#[test]
fn a_server_may_end_with_its_standard_input() {
    for more in [&["--clock", "manual"][..], &[], &["--fault", "pause"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
        command.args(["serve", "--port", "0", "--end-with-stdin"]).args(more);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = Process(command.spawn().unwrap());
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("ready "), "{line}");
        assert!(process.try_wait().unwrap().is_none(), "{more:?}");
        drop(process.stdin.take());
        assert!(process.wait().unwrap().success(), "{more:?}");
    }
}

#[test]
fn a_test_owns_the_clock_of_a_redis_and_its_faults() {
    let (served, addresses) = Served::start(&["--clock", "manual"]);
    let connect = |address: &str| BufReader::new(TcpStream::connect(address).unwrap());
    let (mut redis, mut admin) = (connect(&addresses[0]), connect(&addresses[1]));
    for lease in 0..10 {
        let taken = said(&mut redis, &format!("SET lock {lease} NX PX 10000"));
        assert_eq!(taken, "+OK", "lease {lease}");
        assert_eq!(said(&mut admin, "CLOCK ADVANCE 10001ms"), "+OK");
    }
    assert_eq!(said(&mut admin, "CLOCK"), ":1700000100010");
    assert_eq!(said(&mut admin, "DROP-REPLY OF SET"), "+OK");
    assert_eq!(said(&mut redis, "SET lock me"), "", "the connection is closed");
    let mut redis = connect(&addresses[0]);
    assert_eq!(said(&mut redis, "EXISTS lock"), ":1");
    assert!(served.interrupt());
    let elsewhere = ["serve", "--clock", "manual", "--coordinator", "etcd"];
    refuses(&elsewhere, &["error: --clock manual does not work with"]);
}
