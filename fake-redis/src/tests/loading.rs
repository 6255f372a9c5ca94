use crate::config::{Fsync, NodeConfig, Persistence};
use crate::front::node::Node;
use crate::testing::readable;
use crate::world::World;
use bytes::Bytes;
use fencepost_machine::{
    ConnectionId, Disk, DiskFile, DiskImage, Input, InputDriver, InterruptedMachine, Machine, Now,
    Output, Outputs, Response, WallTime,
};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

const AOF: Persistence = Persistence::Aof { fsync: Fsync::Always };
fn now() -> Now {
    Now::unstepped(WallTime(1_700_000_000_000_000))
}

#[derive(Debug, Default)]
struct ScriptedDriver {
    now: Cell<u64>,
    looks: Cell<u64>,
    lines: RefCell<Vec<&'static str>>,
    answers: RefCell<Vec<String>>,
    must_stop: Cell<bool>,
}

impl InputDriver for ScriptedDriver {
    fn now(&self) -> Duration {
        self.now.set(self.now.get() + 1);
        Duration::from_secs(self.now.get())
    }

    fn must_stop(&self) -> bool {
        self.must_stop.get()
    }

    fn deliver_input(&self, interrupted: &mut dyn InterruptedMachine) {
        let (connection, mut out) = (ConnectionId(0), Outputs::default());
        if self.looks.replace(self.looks.get() + 1) == 0 {
            interrupted.handle(Input::Accepted { connection, peer: "127.0.0.1:9" }, &mut out);
        }
        let Some(line) = self.lines.borrow_mut().pop() else { return };
        if line == "leave" {
            return self.must_stop.set(true);
        }
        assert!(interrupted.takes(connection));
        out.clear();
        let bytes = format!("{line}\r\n");
        interrupted.handle(Input::Received { connection, bytes: bytes.as_bytes() }, &mut out);
        let sent = out.list.iter().filter_map(|output| match output {
            Output::Send { bytes, .. } => Some(readable(bytes)),
            _ => None,
        });
        self.answers.borrow_mut().extend(sent);
    }
}

fn long_file() -> Bytes {
    let set = |number| format!("*3\r\n$3\r\nSET\r\n$5\r\n{number:05}\r\n$1\r\nv\r\n");
    Bytes::from((0..20_000).map(set).collect::<String>())
}

fn boot(
    persistence: Persistence,
    image: DiskImage,
    lines: &[&'static str],
) -> (Vec<String>, Node, Outputs) {
    let scripted = Rc::new(ScriptedDriver::default());
    scripted.lines.borrow_mut().extend(lines.iter().rev());
    let config = NodeConfig { persistence, ..NodeConfig::default() };
    let driver = Rc::<ScriptedDriver>::clone(&scripted);
    let mut node = Node::with_driver(config, image, 1, now().wall, driver);
    let mut out = Outputs::default();
    assert!(!node.is_ready());
    node.handle(Input::Timer, now(), &mut out);
    (scripted.answers.take(), node, out)
}

fn long_image() -> DiskImage {
    DiskImage { append_only: long_file(), ..DiskImage::default() }
}

#[test]
fn clients_are_answered_while_data_is_loaded() {
    let lines = ["GET 00000", "PING", "SELECT 0", "INFO persistence", "MULTI", "GET 1", "EXEC"];
    let (answers, mut node, mut out) = boot(AOF, long_image(), &lines);
    let loading = "-LOADING Redis is loading the dataset in memory";
    assert_eq!(answers[..3], [loading, loading, "+OK"]);
    assert!(answers[3].contains("loading:1"), "{}", answers[3]);
    let aborted = "-EXECABORT Transaction discarded because of previous errors.";
    assert_eq!(answers[4..], ["+OK", loading, aborted]);
    assert!(node.is_ready());
    out.clear();
    let connection = ConnectionId(0);
    node.handle(Input::Received { connection, bytes: b"DBSIZE\r\n" }, now(), &mut out);
    assert_eq!(out.list, [Output::Send { connection, bytes: Bytes::from(":20000\r\n") }]);
}

#[test]
fn a_server_that_is_told_to_end_does_so_while_it_loads_and_writes_nothing() {
    let mut snapshot_of = World::new();
    snapshot_of.start_node("redis-1", NodeConfig::default());
    for number in 0..4_000 {
        let value = "v".repeat(50);
        snapshot_of.ask("redis-1", &["SET", &number.to_string(), &value]);
    }
    snapshot_of.ask("redis-1", &["SAVE"]);
    let snapshot = snapshot_of.disk("redis-1").image();
    for end in ["leave", "SHUTDOWN", "SHUTDOWN SAVE"] {
        for (persistence, image) in [(AOF, long_image()), (Persistence::Rdb, snapshot.clone())] {
            let lines = ["CONFIG SET appendonly yes", end, "PING", "PING"];
            let (answers, node, out) = boot(persistence, image, &lines);
            assert_eq!(answers, ["+OK"], "{end}: nobody is answered afterwards");
            assert!(out.stopped && !node.is_ready());
            let writes = |output: &Output| {
                matches!(output, Output::DiskReplace { .. } | Output::DiskAppend { .. })
            };
            assert!(!out.list.iter().any(writes), "{end}: {:?}", out.list);
        }
    }
}

fn started(config: NodeConfig, image: &DiskImage) -> (Option<(DiskFile, String, Response)>, bool) {
    let mut world = World::new();
    *world.disk("redis-1") = Disk::holding(image.clone());
    world.start_node("redis-1", config);
    let found = world.damages("redis-1").first().cloned();
    let client = world.connect("redis-1");
    world.send_command(client, &["PING"]);
    world.run_for(10);
    let serves = world.drain_texts(client) == ["PONG"];
    if !serves {
        assert_eq!(world.disk("redis-1").image(), *image, "its files are as they were");
    }
    (found.map(|damage| (damage.file, damage.what, damage.response)), serves)
}

fn files(persistence: Persistence) -> (NodeConfig, DiskImage) {
    let mut world = World::new();
    let config = NodeConfig { persistence, ..NodeConfig::default() };
    world.start_node("redis-1", config.clone());
    for key in ["a", "b", "c"] {
        world.ask("redis-1", &["SET", key, "some value"]);
    }
    if persistence == Persistence::Rdb {
        world.ask("redis-1", &["SAVE"]);
    }
    (config, world.disk("redis-1").image())
}

#[test]
fn a_snapshot_with_one_flipped_bit_is_refused() {
    let (config, image) = files(Persistence::Rdb);
    assert_eq!(started(config.clone(), &image), (None, true));
    let good = image.snapshot.unwrap();
    for bit in 0..good.len() * 8 {
        let mut bad = good.to_vec();
        bad[bit / 8] ^= 1 << (bit % 8);
        let image = DiskImage { snapshot: Some(Bytes::from(bad)), ..DiskImage::default() };
        let (found, serves) = started(config.clone(), &image);
        let (file, what, response) = found.unwrap();
        assert_eq!((file, response, serves), (DiskFile::Snapshot, Response::Refused, false));
        assert!(!what.is_empty());
    }
}

#[test]
fn a_snapshot_that_is_cut_off_or_has_more_databases_is_refused() {
    let (config, image) = files(Persistence::Rdb);
    let good = image.snapshot.clone().unwrap();
    for length in 0..good.len() {
        let image = DiskImage { snapshot: Some(good.slice(..length)), ..DiskImage::default() };
        let (found, serves) = started(config.clone(), &image);
        assert!(!serves && found.unwrap().2 == Response::Refused, "{length} bytes");
    }
    let (found, serves) = started(NodeConfig { databases: 0, ..config }, &image);
    assert!(!serves && found.unwrap().1.contains("database 0"));
}

#[test]
fn a_damaged_command_in_an_append_only_file_is_refused_and_said_where() {
    let (config, image) = files(AOF);
    let good = String::from_utf8(image.append_only.to_vec()).unwrap();
    let second = good.find("*3\r\n$3\r\nSET\r\n$1\r\nb").unwrap();
    for (bad, why) in [
        ("*3\r\n$3\r\nSUT\r\n$1\r\nb", "unknown command 'SUT'"),
        ("*2\r\n$3\r\nSET\r\n$1\r\nb", "wrong number of arguments for 'set' command"),
        ("*3\r\n$3\r\nSET\r\n$0\r\nb", "no command"),
        ("+3\r\n$3\r\nSET\r\n$1\r\nb", "no command"),
        ("\r\n\r\n$3\r\nSET\r\n$1\r\nb", "no command"),
    ] {
        let bad = good.replace("*3\r\n$3\r\nSET\r\n$1\r\nb", bad);
        let image = DiskImage { append_only: Bytes::from(bad), ..DiskImage::default() };
        let (found, serves) = started(config.clone(), &image);
        let (file, what, response) = found.unwrap();
        assert_eq!((file, response, serves), (DiskFile::AppendOnly, Response::Refused, false));
        let expected = format!("damaged at byte {second}: {why}");
        assert!(what.starts_with(&expected), "{what} is not {expected}");
    }
}

#[test]
fn a_tail_that_is_cut_off_is_left_out_and_said_unless_the_configuration_forbids_it() {
    let (config, image) = files(AOF);
    let length = image.append_only.len();
    let image =
        DiskImage { append_only: image.append_only.slice(..length - 3), ..DiskImage::default() };
    let (found, serves) = started(config.clone(), &image);
    let (file, what, response) = found.unwrap();
    assert_eq!((file, response, serves), (DiskFile::AppendOnly, Response::Repaired, true));
    assert!(what.contains("cut off in the middle of a command at byte"), "{what}");
    let strict = NodeConfig { aof_load_truncated: false, ..config };
    let (found, serves) = started(strict, &image);
    assert!(!serves && found.unwrap().2 == Response::Refused);
}
