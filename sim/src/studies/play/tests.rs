use super::*;
use crate::hosts::coordinators::memcached;
use crate::hosts::coordinators::serving::Place;
use fake_redis::serve::ServeOptions;
use fencepost_clients::Coordinator;
use fencepost_faults::{Direction, Families, Fault, FaultPlan, Seed, Spans, Topology};
use fencepost_serve::Sent;
use std::cell::RefCell;
use std::rc::Rc;

struct Desk {
    playing: Playing,
    lines: Rc<RefCell<Vec<String>>>,
    opened: u64,
}

const SECOND: u64 = 1_000_000;

fn rounds(seconds: u64, count: u32) -> Rounds {
    Rounds { length: Micros::from_secs(seconds), count, ends: true }
}

impl Desk {
    fn new(replicas: u16, faults: Vec<(u64, Fault)>, rounds: Rounds) -> Desk {
        let options = ServeOptions { replicas, port: 7000, ..ServeOptions::default() };
        let servers = fake_redis::serve::staged(&options, &[7000, 7001, 7002]).unwrap();
        let timed = |(id, (at_us, fault)): (usize, (u64, Fault))| TimedFault {
            id: id as u32,
            at_us: SimTime(at_us),
            fault,
        };
        let plan = FaultPlan::new(faults.into_iter().enumerate().map(timed).collect());
        let nodes = (1..=replicas + 1).map(Node::Redis).collect();
        let drawn = Drawn { plan, nodes, left_out: Vec::new() };
        let lines = Rc::new(RefCell::new(Vec::new()));
        let log = {
            let lines = lines.clone();
            Box::new(move |line| lines.borrow_mut().push(line))
        };
        let playing = Playing::new(WallTime(0), servers, &drawn, rounds, log);
        lines.borrow_mut().clear();
        Desk { playing, lines, opened: 0 }
    }

    fn open(&mut self, server: usize) -> u64 {
        let socket = self.opened;
        self.opened += 1;
        self.playing.opened(server, socket, "127.0.0.1:5000");
        socket
    }

    fn heard(&mut self, socket: u64) -> String {
        let mut text = String::new();
        for (_, sent) in self.playing.take_sent().into_iter().filter(|(to, _)| *to == socket) {
            match sent {
                Sent::Bytes(bytes) => text.push_str(&String::from_utf8_lossy(&bytes)),
                Sent::Close => text.push_str("closed"),
            }
        }
        text.replace("\r\n", " ").trim_end().to_owned()
    }

    fn say(&mut self, socket: u64, words: &str) -> String {
        self.playing.received(socket, &command(&words.split(' ').collect::<Vec<_>>()));
        self.heard(socket)
    }

    fn pass(&mut self, now_us: u64) {
        self.playing.pass(Duration::from_micros(now_us));
    }

    fn lines(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.borrow_mut())
    }
}

const REDIS: Node = Node::Redis(1);

#[test]
fn a_paused_server_answers_after_the_pause_and_the_log_has_wall_time_and_offset() {
    let pause = Fault::Pause { node: REDIS, duration_us: Micros::from_secs(2) };
    let mut desk = Desk::new(0, vec![(SECOND, pause)], rounds(10, 1));
    let client = desk.open(0);
    assert_eq!(desk.say(client, "SET lock me PX 1500"), "+OK");
    desk.pass(SECOND + 1);
    assert_eq!(desk.say(client, "GET lock"), "");
    desk.pass(3 * SECOND);
    assert_eq!(desk.heard(client), "$-1", "the lease ended during the pause");
    let expected = [
        "1970-01-01T00:00:01.000Z +1s begins: #0 pause redis-1 for 2s",
        "1970-01-01T00:00:03.000Z +3s ends: #0 pause redis-1 for 2s",
    ];
    assert_eq!(desk.lines(), expected);
    assert!(!desk.playing.is_over());
    desk.pass(10 * SECOND);
    assert!(desk.playing.is_over());
}

#[test]
fn a_crash_closes_connections_and_a_power_loss_tells_nobody_before_the_restart() {
    let down_us = Some(Micros::from_secs(1));
    let faults = vec![
        (SECOND, Fault::Crash { node: REDIS, down_us }),
        (3 * SECOND, Fault::PowerLoss { node: REDIS, down_us }),
    ];
    let mut desk = Desk::new(0, faults, rounds(10, 1));
    let client = desk.open(0);
    desk.say(client, "SET lock me");
    desk.pass(SECOND + 1);
    assert_eq!(desk.heard(client), "closed");
    let refused = desk.open(0);
    assert_eq!(desk.heard(refused), "closed");
    desk.pass(2 * SECOND);
    let client = desk.open(0);
    assert_eq!(desk.say(client, "GET lock"), "$-1");
    desk.pass(3 * SECOND);
    assert_eq!(desk.say(client, "GET lock"), "");
    let later = desk.open(0);
    assert_eq!(desk.say(later, "PING"), "");
    desk.pass(4 * SECOND);
    let sent = desk.playing.take_sent();
    assert!(sent.contains(&(client, Sent::Close)), "{sent:?}");
    assert!(sent.contains(&(later, Sent::Bytes("+PONG\r\n".into()))), "{sent:?}");
}

#[test]
fn a_partition_holds_messages_of_clients_back_and_latency_delays_them() {
    let (clients, servers) = (vec![Node::Client(1)], vec![REDIS]);
    let cut = Fault::Partition {
        side_a: servers.clone(),
        side_b: clients.clone(),
        direction: Direction::AToB,
        duration_us: Micros::from_secs(1),
    };
    let delay = Fault::Delay {
        from: clients,
        to: servers,
        extra_us_min: Micros::from_millis(300),
        extra_us_max: Micros::from_millis(300),
        duration_us: Micros::from_secs(1),
    };
    let mut desk = Desk::new(0, vec![(0, cut), (2 * SECOND, delay)], rounds(10, 1));
    desk.pass(0);
    let client = desk.open(0);
    assert_eq!(desk.say(client, "SET lock me"), "", "executed, but the reply is cut off");
    desk.pass(SECOND);
    assert_eq!(desk.heard(client), "+OK");
    desk.pass(2 * SECOND);
    assert_eq!(desk.say(client, "GET lock"), "");
    assert_eq!(desk.playing.next(), Some(Duration::from_millis(2_300)));
    desk.pass(2 * SECOND + 300_000);
    assert_eq!(desk.heard(client), "$2 me");
}

#[test]
fn a_lost_reply_strikes_once_and_a_trap_without_a_command_just_ends() {
    let duration_us = Micros::from_secs(1);
    let trap = |at| (at, Fault::LostReply { server: REDIS, client: Node::Client(1), duration_us });
    let lost = Fault::LostRequest { server: REDIS, client: Node::Client(1), duration_us };
    let faults = vec![trap(SECOND), trap(3 * SECOND), (5 * SECOND, lost)];
    let mut desk = Desk::new(0, faults, rounds(10, 1));
    let client = desk.open(0);
    desk.pass(SECOND);
    assert_eq!(desk.say(client, "SET lock me"), "closed");
    let client = desk.open(0);
    assert_eq!(desk.say(client, "GET lock"), "$2 me");
    desk.pass(5 * SECOND);
    assert_eq!(desk.say(client, "DEL lock"), "closed");
    let client = desk.open(0);
    assert_eq!(desk.say(client, "GET lock"), "$2 me");
    let lines = desk.lines();
    let what = lines.iter().map(|line| line.split(' ').nth(2).unwrap()).collect::<Vec<_>>();
    assert_eq!(what, ["begins:", "strikes:", "begins:", "ends:", "begins:", "strikes:"]);
}

#[test]
fn clocks_of_a_server_jump_and_drift_and_a_slow_server_answers_late() {
    let faults = vec![
        (SECOND, Fault::ClockJump { node: REDIS, offset_us: 20_000_000 }),
        (
            2 * SECOND,
            Fault::ClockDrift { node: REDIS, rate_ppm: 500_000, duration_us: Micros::from_secs(2) },
        ),
        (
            5 * SECOND,
            Fault::SlowServer {
                node: REDIS,
                extra_us: Micros::from_millis(100),
                duration_us: Micros::from_secs(2),
            },
        ),
    ];
    let mut desk = Desk::new(0, faults, rounds(10, 1));
    let client = desk.open(0);
    desk.say(client, "SET lock me PX 20000");
    desk.pass(SECOND);
    assert_eq!(desk.say(client, "SET lock me NX PX 10000"), "+OK");
    desk.pass(4 * SECOND);
    assert_eq!(desk.say(client, "PTTL lock"), ":6000", "2 s at the rate 1.5, and 1 s");
    desk.pass(5 * SECOND);
    assert_eq!(desk.say(client, "PING"), "");
    assert_eq!(desk.say(client, "ECHO x"), "");
    desk.pass(5 * SECOND + 100_000);
    assert_eq!(desk.heard(client), "+PONG");
    desk.pass(5 * SECOND + 200_000);
    assert_eq!(desk.heard(client), "$1 x");
}

#[test]
fn every_round_plays_the_plan_and_ends_its_faults() {
    let faults = vec![(SECOND, Fault::Crash { node: REDIS, down_us: None })];
    let mut desk = Desk::new(0, faults, rounds(3, 2));
    desk.pass(100 * SECOND);
    assert_eq!(
        desk.lines(),
        [
            "1970-01-01T00:00:00.000Z +0us round 1 of 2",
            "1970-01-01T00:00:01.000Z +1s begins: #0 crash redis-1, for good",
            "1970-01-01T00:00:03.000Z +3s ends: #0 crash redis-1, for good",
            "1970-01-01T00:00:03.000Z +3s round 2 of 2",
            "1970-01-01T00:00:04.000Z +4s begins: #0 crash redis-1, for good",
            "1970-01-01T00:00:06.000Z +6s ends: #0 crash redis-1, for good",
        ]
    );
    assert!(desk.playing.is_over());
}

#[test]
fn an_operator_makes_the_primary_follow_its_replica_which_then_refuses_to_lead() {
    use fencepost_faults::OperatorCommand::{AppendOnlyOff, ReplicaOf};
    let typed = |command| Fault::Operator { node: REDIS, command };
    let faults = vec![(SECOND, typed(ReplicaOf)), (2 * SECOND, typed(AppendOnlyOff))];
    let mut desk = Desk::new(1, faults, rounds(10, 1));
    let client = desk.open(0);
    desk.pass(SECOND);
    assert!(desk.say(client, "SET lock me").starts_with("-READONLY"));
    desk.pass(2 * SECOND);
    assert!(desk.lines().last().unwrap().contains("has no effect"));
}

#[test]
fn an_operator_s_command_has_no_effect_on_a_paused_server() {
    use fencepost_faults::OperatorCommand::ReplicaOf;
    let pause = Fault::Pause { node: REDIS, duration_us: Micros::from_secs(2) };
    let follows = Fault::Operator { node: REDIS, command: ReplicaOf };
    let mut desk = Desk::new(1, vec![(SECOND, pause), (2 * SECOND, follows)], rounds(10, 1));
    let client = desk.open(0);
    desk.pass(2 * SECOND);
    assert!(desk.lines().last().unwrap().contains("the server is paused"), "{:?}", desk.lines());
    desk.pass(4 * SECOND);
    assert_eq!(desk.say(client, "SET lock me"), "+OK");
}

fn drawing(coordinator: Coordinator, fault: &str, topology: Topology) -> Drawing {
    Drawing {
        seed: Seed(1),
        families: fault.parse::<Families>().unwrap(),
        coordinator,
        topology,
        ttl: Micros::from_secs(10),
        length: Micros::from_secs(60),
        restart_delay: Spans::millis(0, 0),
    }
}

#[test]
fn a_drawn_plan_names_servers_and_faults_of_clients_are_left_out_with_a_reason() {
    let drawn = |fault| draw(&drawing(Coordinator::Redis, fault, Topology::Standalone));
    for fault in
        ["pause", "restart", "partition", "latency", "lost-reply", "clock-jump", "eviction"]
    {
        let drawn = drawn(fault).unwrap();
        assert!(!drawn.plan.faults.is_empty(), "{fault}");
        assert_eq!(drawn.left_out, [], "{fault}");
    }
    let drift = drawn("clock-drift").unwrap();
    assert_eq!(drift.plan.faults.len(), drift.left_out.len(), "client-1 drifts, too");
    for fault in ["suspend", "client-crash", "storage-delay"] {
        let error = drawn(fault).unwrap_err().to_string();
        assert!(error.contains(fault) && error.contains("use another seed"), "{error}");
    }
}

#[test]
fn memcached_is_restarted_and_evicts() {
    let place = Place { bind: [127, 0, 0, 1].into(), port: 0, servers: 1, dir: None };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (_, servers) = runtime.block_on(async { memcached::served(None, 0).stage(place) }).unwrap();
    let node = Node::Server(1);
    let evict = TimedFault { id: 0, at_us: SimTime(SECOND), fault: Fault::Evict { node } };
    let drawn =
        Drawn { plan: FaultPlan::new(vec![evict]), nodes: vec![node], left_out: Vec::new() };
    let log = Box::new(|_| {});
    let mut playing = Playing::new(WallTime(0), servers, &drawn, rounds(10, 1), log);
    playing.opened(0, 7, "127.0.0.1:5000");
    playing.received(7, b"set lock 0 60 2\r\nme\r\n");
    assert_eq!(playing.take_sent(), [(7, Sent::Bytes("STORED\r\n".into()))]);
    playing.pass(Duration::from_secs(2));
    playing.received(7, b"get lock\r\n");
    assert_eq!(playing.take_sent(), [(7, Sent::Bytes("END\r\n".into()))]);
}
