use super::*;
use crate::serve::ServeOptions;

struct Desk {
    servers: ManualServers,
    opened: u64,
    received: BTreeMap<u64, Vec<u8>>,
    closed: Vec<u64>,
}

const ADMIN: u64 = 0;

impl Desk {
    fn new(replicas: u16, sentinels: u16) -> Desk {
        let options = ServeOptions { replicas, sentinels, port: 7000, ..ServeOptions::default() };
        let parts = options.parts().unwrap();
        let ports: Vec<u16> = (7000..).take(parts.len()).collect();
        let servers = ManualServers {
            scene: Scene::new(named(&options, &parts, &ports).unwrap()),
            sockets: BTreeMap::new(),
            asking: BTreeMap::new(),
            answers: Vec::new(),
        };
        let mut desk = Desk { servers, opened: 0, received: BTreeMap::new(), closed: Vec::new() };
        desk.open(usize::from(replicas + sentinels) + 1);
        desk
    }

    fn open(&mut self, listener: usize) -> u64 {
        let socket = self.opened;
        self.opened += 1;
        self.servers.opened(listener, socket, "127.0.0.1:5000");
        self.deliver();
        socket
    }

    fn deliver(&mut self) {
        for (socket, sent) in self.servers.take_sent() {
            match sent {
                Sent::Bytes(bytes) => self.received.entry(socket).or_default().extend(bytes),
                Sent::Close => self.closed.push(socket),
            }
        }
    }

    fn replies(&mut self, socket: u64) -> String {
        let bytes = self.received.remove(&socket).unwrap_or_default();
        String::from_utf8(bytes).unwrap().replace("\r\n", " ").trim_end().to_owned()
    }

    fn say(&mut self, socket: u64, words: &str) -> String {
        self.say_words(socket, &words.split(' ').collect::<Vec<_>>())
    }

    fn say_words(&mut self, socket: u64, words: &[&str]) -> String {
        self.servers.received(socket, &wire::command(words));
        self.deliver();
        self.replies(socket)
    }

    fn order(&mut self, words: &str) {
        assert_eq!(self.say(ADMIN, words), "+OK", "{words}");
    }
}

#[test]
fn leases_expire_when_the_clock_is_moved_and_not_before() {
    let mut desk = Desk::new(0, 0);
    let client = desk.open(0);
    for lease in 0..10 {
        assert_eq!(desk.say(client, "SET lock me NX PX 10000"), "+OK", "{lease}");
        assert_eq!(desk.say(client, "SET lock me NX PX 10000"), "$-1");
        desk.order("CLOCK ADVANCE 9999ms");
        assert_eq!(desk.say(client, "PTTL lock"), ":1");
        desk.order("CLOCK ADVANCE 2ms");
    }
    assert_eq!(desk.say(ADMIN, "CLOCK"), ":1700000100010");
    assert_eq!(desk.say(client, "GET lock"), "$-1");
}

#[test]
fn a_blocked_client_is_answered_when_its_time_is_over() {
    let mut desk = Desk::new(0, 0);
    let client = desk.open(0);
    assert_eq!(desk.say(client, "BLPOP queue 5"), "");
    desk.order("CLOCK ADVANCE 4s");
    assert_eq!(desk.replies(client), "");
    desk.order("CLOCK ADVANCE 1s");
    assert_eq!(desk.replies(client), "*-1");
}

#[test]
fn a_wall_clock_that_steps_ends_leases_and_moves_no_timer() {
    let mut desk = Desk::new(0, 0);
    let client = desk.open(0);
    desk.say(client, "SET lock me PX 10000");
    desk.order("CLOCK STEP -5s");
    assert_eq!(desk.say(client, "PTTL lock"), ":15000");
    desk.order("CLOCK STEP 15001ms master-1");
    assert_eq!(desk.say(client, "GET lock"), "$-1");
}

#[test]
fn a_crash_closes_connections_and_a_restart_finds_nothing_without_persistence() {
    let mut desk = Desk::new(0, 0);
    let client = desk.open(0);
    desk.say(client, "SET lock me");
    desk.order("CRASH");
    assert_eq!(desk.closed, [client]);
    let refused = desk.open(0);
    assert_eq!(desk.closed, [client, refused]);
    assert!(desk.say(ADMIN, "FREEZE").starts_with("-ERR master-1 has crashed: expected RESTART"));
    desk.order("RESTART EMPTY");
    let client = desk.open(0);
    assert_eq!(desk.say(client, "GET lock"), "$-1");
    assert_eq!(desk.say(ADMIN, "SERVERS"), "*1 $11 master-1 up");
}

#[test]
fn a_frozen_server_answers_once_it_thaws_and_one_that_is_cut_off_has_executed() {
    let mut desk = Desk::new(0, 0);
    let client = desk.open(0);
    for (stop, go_on) in [("FREEZE", "THAW"), ("CUT master-1", "HEAL master-1")] {
        desk.order(stop);
        assert_eq!(desk.say(client, "INCR count"), "");
        desk.order("CLOCK ADVANCE 1s");
        assert_eq!(desk.replies(client), "");
        desk.order(go_on);
        assert!(desk.replies(client).starts_with(':'), "{stop}");
    }
}

#[test]
fn thaw_reconnects_nothing_and_heal_thaws_nothing() {
    for orders in [["THAW", "HEAL master-1"], ["HEAL master-1", "THAW"]] {
        let mut desk = Desk::new(0, 0);
        let client = desk.open(0);
        desk.order("FREEZE");
        desk.order("CUT master-1");
        assert_eq!(desk.say(client, "INCR count"), "");
        desk.order(orders[0]);
        assert_eq!(desk.replies(client), "", "{}", orders[0]);
        desk.order(orders[1]);
        assert_eq!(desk.replies(client), ":1");
    }
}

#[test]
fn a_lost_reply_is_that_of_a_command_which_was_executed() {
    let mut desk = Desk::new(0, 0);
    let client = desk.open(0);
    desk.order("DROP-REPLY OF SET");
    assert_eq!(desk.say(client, "GET lock"), "$-1");
    assert_eq!(desk.say(client, "set lock me"), "");
    assert_eq!(desk.closed, [client]);
    let client = desk.open(0);
    assert_eq!(desk.say(client, "GET lock"), "$2 me");
    assert_eq!(desk.say(client, "SET lock me"), "+OK");
}

#[test]
fn a_whole_command_may_be_one_string() {
    let mut desk = Desk::new(0, 0);
    let client = desk.open(0);
    for line in ["DROP-REPLY OF SET", "LAG 2s", "CLOCK STEP -5s"] {
        assert_eq!(desk.say_words(ADMIN, &[line]), "+OK", "{line}");
    }
    assert_eq!(desk.say(client, "SET lock me"), "");
    let refused = desk.say_words(ADMIN, &["DROP REPLY"]);
    assert!(refused.starts_with("-ERR unknown command 'DROP': expected one of"), "{refused}");
}

#[test]
fn replication_lags_wait_follows_the_clock_and_a_failover_loses_what_lagged() {
    let mut desk = Desk::new(1, 0);
    desk.order("CLOCK ADVANCE 2s");
    let (client, replica) = (desk.open(0), desk.open(1));
    desk.say(client, "SET a 1");
    assert_eq!(desk.say(replica, "GET a"), "$1 1");
    desk.order("LAG 2s");
    desk.say(client, "SET lock me");
    assert_eq!(desk.say(replica, "GET lock"), "$-1");
    assert_eq!(desk.say(client, "WAIT 1 1000"), "");
    desk.order("CLOCK ADVANCE 1s");
    assert_eq!(desk.replies(client), ":0");
    desk.order("CLOCK ADVANCE 1s");
    assert_eq!(desk.say(replica, "GET lock"), "$2 me");
    desk.say(client, "SET lock2 me");
    desk.order("FAILOVER");
    assert_eq!(desk.say(replica, "SET lock2 another NX"), "+OK");
    assert!(desk.say(ADMIN, "FAILOVER").starts_with("+OK"), "back again");
}

#[test]
fn sentinels_promote_a_replica_once_the_primary_was_silent_for_long_enough() {
    let mut desk = Desk::new(1, 3);
    desk.order("CLOCK ADVANCE 15s");
    let sentinel = desk.open(2);
    let asked = "SENTINEL GET-MASTER-ADDR-BY-NAME mymaster";
    assert!(desk.say(sentinel, asked).contains("7000"));
    desk.order("CRASH master-1");
    desk.order("CLOCK ADVANCE 10s");
    assert!(desk.say(sentinel, asked).contains("7000"));
    desk.order("CLOCK ADVANCE 1m");
    assert!(desk.say(sentinel, asked).contains("7001"));
}

#[test]
fn the_judge_tells_who_was_inside_together_and_the_history_what_happened() {
    let mut desk = Desk::new(0, 0);
    let client = desk.open(0);
    desk.say(client, "SET lock one PX 1000");
    desk.order("ENTER lock one");
    desk.order("CLOCK ADVANCE 1500ms");
    desk.say(client, "SET lock two NX");
    assert_eq!(desk.say(ADMIN, "JUDGE"), "*0");
    desk.order("ENTER lock two");
    desk.order("LEAVE lock one");
    let judged = desk.say(ADMIN, "JUDGE");
    assert!(
        judged.ends_with("lock: two entered at 1.500000s while one was inside since 0.000000s"),
        "{judged}"
    );
    let history = desk.say(ADMIN, "HISTORY");
    assert!(history.contains("0.000000s master-1 sets lock one"), "{history}");
    assert!(history.contains("1.500000s one leaves lock"), "{history}");
    desk.order("RESET");
    assert_eq!(desk.say(ADMIN, "HISTORY"), "*0");
    assert_eq!(desk.say(ADMIN, "CLOCK"), ":1700000000000");
    assert_eq!(desk.closed, [client]);
}

#[test]
fn what_makes_no_sense_is_refused_with_what_would() {
    let mut desk = Desk::new(0, 0);
    for (order, told) in [
        ("CLOCK ADVANCE soon", "-ERR 'soon': expected a duration of at most a day, like 10s"),
        ("CLOCK ADVANCE 25h", "-ERR '25h': expected a duration"),
        ("CLOCK ADVANCE -1s", "-ERR CLOCK ADVANCE '-1s': expected a duration of at least 0"),
        ("CRASH redis-9", "-ERR unknown server 'redis-9': expected one of master-1"),
        ("FAILOVER", "-ERR FAILOVER: expected a replica that is up"),
        ("LEAVE lock me", "-ERR me is not inside lock"),
        ("LAG", "-ERR 'LAG': expected LAG 2s"),
        ("clock back 1s", "-ERR 'clock back 1s': expected one of CLOCK (milliseconds since"),
        ("FAILOVER replica-1", "-ERR 'FAILOVER replica-1': expected FAILOVER"),
        ("DROP-REPLY SET", "-ERR 'DROP-REPLY SET': expected DROP-REPLY OF SET [server]"),
        ("DROP-REPLY OF STE", "-ERR DROP-REPLY OF 'STE': expected a command of Redis, like SET"),
        ("EXPLODE", "-ERR unknown command 'EXPLODE': expected one of CLOCK"),
    ] {
        let answer = desk.say(ADMIN, order);
        assert!(answer.starts_with(told), "{order}: {answer}");
    }
}

#[test]
fn client_libraries_that_greet_are_answered() {
    let mut desk = Desk::new(0, 0);
    assert!(desk.say(ADMIN, "HELLO 3").starts_with("%4"));
    assert!(desk.say(ADMIN, "HELLO").starts_with("*8"));
    assert_eq!(desk.say(ADMIN, "CLIENT SETINFO LIB-NAME redis-py"), "+OK");
    assert_eq!(desk.say(ADMIN, "PING"), "+PONG");
    assert!(desk.say(ADMIN, "HELLO 4").starts_with("-ERR"));
}
