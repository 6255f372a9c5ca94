use super::world::World;
use crate::{Config, HeldWhen, LockTable, Replication, Watch};
use fencepost_machine::{ConnectionId, Input, KeyChange, Machine, OperatorAction};

const SECOND: u64 = 1_000_000;
const AT_PRIMARY: u32 = 900;

struct Both {
    primary: World,
    standby: World,
    link: ConnectionId,
}

fn config(replication: Replication) -> Config {
    let schema = "CREATE TABLE t (k int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1)";
    let held = HeldWhen::Present { owner: "v", stamp: "k", ttl_us: 1 };
    let tables = vec![LockTable { table: "lock", key: "k", held }];
    let watch = Some(Watch { prefix: "a".to_owned(), tables, advisory: (7, "a".to_owned()) });
    let schema = format!("{schema}; CREATE TABLE lock (k text PRIMARY KEY, v text)");
    Config { schema, replication, watch, ..Config::default() }
}

impl Both {
    fn new(synchronous: bool) -> Both {
        let primary = World::of(config(Replication::Primary { synchronous }));
        let follows = Replication::Standby { primary: ("server-1".to_owned(), 5_432) };
        let standby = World::of(config(follows));
        let mut both = Both { primary, standby, link: ConnectionId(u32::MAX) };
        both.link();
        both.pass();
        both
    }

    fn link(&mut self) {
        self.link = self.standby.asked.pop().expect("the standby connects");
        let connection = ConnectionId(AT_PRIMARY);
        self.primary.input(Input::Accepted { connection, peer: "server-2:50000" });
        self.standby.input(Input::Connected { connection: self.link });
    }

    fn pass(&mut self) {
        loop {
            let to_primary = self.standby.take(self.link.0);
            let to_standby = self.primary.take(AT_PRIMARY);
            if to_primary.is_empty() && to_standby.is_empty() {
                return;
            }
            self.primary.send(AT_PRIMARY, &to_primary);
            let connection = self.link;
            self.standby.input(Input::Received { connection, bytes: &to_standby });
        }
    }

    fn promote(&mut self) {
        self.standby.input(Input::Operator { action: OperatorAction::Promote });
    }
}

#[test]
fn a_standby_has_what_was_committed_once_it_has_come_and_takes_no_writes() {
    let mut both = Both::new(false);
    let (writer, reader) = (both.primary.session(), both.standby.session());
    assert_eq!(both.primary.ask(writer, "BEGIN; UPDATE t SET v = 2"), "BEGIN | UPDATE 1");
    assert_eq!(both.primary.ask(writer, "COMMIT"), "COMMIT", "nobody waits for the standby");
    assert_eq!(both.standby.ask(reader, "SELECT v FROM t"), "(1) | SELECT 1");
    both.pass();
    assert_eq!(both.standby.ask(reader, "SELECT v FROM t"), "(2) | SELECT 1");
    let refused = "ERROR 25006: cannot execute UPDATE in a read-only transaction";
    assert_eq!(both.standby.ask(reader, "UPDATE t SET v = 3"), refused);
}

#[test]
fn a_repeatable_read_at_a_standby_sees_what_it_saw_first() {
    let mut both = Both::new(false);
    let (writer, reader) = (both.primary.session(), both.standby.session());
    both.standby.ask(reader, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT v FROM t");
    both.primary.ask(writer, "UPDATE t SET v = 2; INSERT INTO t VALUES (2, 2)");
    both.pass();
    assert_eq!(both.standby.ask(reader, "SELECT k, v FROM t"), "(1, 1) | SELECT 1");
    assert_eq!(both.standby.ask(reader, "COMMIT"), "COMMIT");
    assert_eq!(both.standby.ask(reader, "SELECT k, v FROM t"), "(1, 2) | (2, 2) | SELECT 2");
}

#[test]
fn a_synchronous_commit_waits_until_the_standby_has_it_on_its_disk() {
    let mut both = Both::new(true);
    let (writer, other) = (both.primary.session(), both.primary.session());
    assert_eq!(both.primary.ask(writer, "UPDATE t SET v = 2"), "");
    assert_eq!(both.primary.ask(other, "SELECT v FROM t"), "(1) | SELECT 1", "it is not done");
    both.standby.syncs_at_once = false;
    both.pass();
    assert_eq!(both.primary.take_words(writer), "", "the standby has written it, and not synced");
    both.standby.finish_sync();
    both.pass();
    assert_eq!(both.primary.take_words(writer), "UPDATE 1");
    assert_eq!(both.primary.ask(other, "SELECT v FROM t"), "(2) | SELECT 1");
    both.primary.ask(other, "SET synchronous_commit = local");
    assert_eq!(both.primary.ask(other, "UPDATE t SET v = 3"), "UPDATE 1", "it need not wait");
}

#[test]
fn who_cancels_the_wait_for_a_standby_is_told_that_the_commit_stays() {
    let mut both = Both::new(true);
    let (writer, other) = (both.primary.session(), both.primary.session());
    both.primary.ask(writer, "UPDATE t SET v = 2");
    both.primary.ask(other, "SELECT pg_cancel_backend(1003)");
    let warning = "WARNING 01000: canceling wait for synchronous replication due to user request";
    assert_eq!(both.primary.take_words(writer), format!("{warning} | UPDATE 1"));
    assert_eq!(both.primary.ask(other, "SELECT v FROM t"), "(2) | SELECT 1");
    both.primary.ask(writer, "UPDATE t SET v = 3");
    both.primary.ask(other, "SELECT pg_terminate_backend(1003)");
    assert!(both.primary.take_words(writer).starts_with("WARNING 57P01"));
    assert_eq!(both.primary.closed, [writer]);
    assert_eq!(both.primary.ask(other, "SELECT v FROM t"), "(3) | SELECT 1");
}

#[test]
fn a_promoted_standby_has_what_it_had_received_and_no_advisory_lock_and_stays_a_primary() {
    let mut both = Both::new(false);
    let (writer, reader) = (both.primary.session(), both.standby.session());
    both.primary.ask(writer, "UPDATE t SET v = 2; SELECT pg_advisory_lock(7)");
    both.pass();
    both.primary.ask(writer, "UPDATE t SET v = 3");
    assert!(both.standby.machine.supports(OperatorAction::Promote));
    assert!(!both.primary.machine.supports(OperatorAction::Promote));
    both.promote();
    assert!(!both.standby.machine.supports(OperatorAction::Promote), "once is enough");
    assert_eq!(both.standby.ask(reader, "SELECT v FROM t"), "(2) | SELECT 1", "3 is lost");
    assert_eq!(both.standby.ask(reader, "SELECT pg_try_advisory_lock(7)"), "(t) | SELECT 1");
    assert_eq!(both.standby.ask(reader, "UPDATE t SET v = 4"), "UPDATE 1");
    both.standby.restart();
    let reader = both.standby.session();
    assert_eq!(both.standby.ask(reader, "UPDATE t SET v = v + 1"), "UPDATE 1");
    assert_eq!(both.standby.ask(reader, "SELECT v FROM t"), "(5) | SELECT 1");
    assert_eq!(both.primary.ask(writer, "SELECT v FROM t"), "(3) | SELECT 1", "it is one as well");
}

#[test]
fn a_standby_connects_again_and_goes_on_where_it_was() {
    let mut both = Both::new(false);
    let writer = both.primary.session();
    both.primary.hang_up(AT_PRIMARY);
    let connection = both.link;
    both.standby.input(Input::Closed { connection });
    both.primary.ask(writer, "UPDATE t SET v = 2");
    both.standby.pass(5 * SECOND - 1);
    assert!(both.standby.asked.is_empty(), "not sooner than 5 s after the last attempt");
    both.standby.pass(1);
    both.link();
    both.pass();
    let reader = both.standby.session();
    assert_eq!(both.standby.ask(reader, "SELECT v FROM t"), "(2) | SELECT 1");
    both.primary.ask(writer, "UPDATE t SET v = 3");
    both.standby.restart();
    both.primary.hang_up(AT_PRIMARY);
    both.link();
    both.pass();
    let reader = both.standby.session();
    assert_eq!(both.standby.ask(reader, "SELECT v FROM t"), "(3) | SELECT 1");
}

#[test]
fn each_gives_the_other_up_after_a_minute_of_silence() {
    let mut both = Both::new(false);
    both.standby.pass(30 * SECOND);
    let asks = both.standby.take(both.link.0);
    assert_eq!(asks.last(), Some(&1), "a sign of life is asked for");
    both.primary.send(AT_PRIMARY, &asks);
    assert!(!both.primary.take(AT_PRIMARY).is_empty());
    both.primary.pass(60 * SECOND - 1);
    assert!(both.primary.closed.is_empty());
    both.primary.pass(1);
    assert_eq!(both.primary.closed, [AT_PRIMARY]);
    both.standby.pass(30 * SECOND);
    assert_eq!(both.standby.closed, [both.link.0]);
    assert_eq!(both.standby.asked.len(), 1, "it connects anew");
}

#[test]
fn the_judge_is_told_what_a_standby_follows_as_of_a_standby() {
    let mut both = Both::new(false);
    let writer = both.primary.session();
    both.primary.ask(writer, "INSERT INTO lock VALUES ('a', 'me')");
    both.pass();
    let [tap] = &both.standby.taps[..] else { panic!("{:?}", both.standby.taps) };
    assert_eq!((tap.change, tap.primary, tap.by), (KeyChange::Granted, false, None));
    assert!(both.primary.taps[0].primary);
    both.promote();
    let writer = both.standby.session();
    both.standby.ask(writer, "DELETE FROM lock");
    let tap = &both.standby.taps[1];
    let by = Some(ConnectionId(writer));
    assert_eq!((tap.change, tap.primary, tap.by), (KeyChange::Removed, true, by));
}

#[test]
fn no_log_of_a_primary_and_no_progress_of_a_standby_makes_the_other_panic() {
    for bytes in [
        &b"d\0\0\0\x1dw\0\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"[..],
        b"d\0\0\0\x05w",
        b"d\0\0\0\x04",
        b"d\xff\xff\xff\xff",
        b"E\0\0\0\x04Z\0\0\0\x05I",
    ] {
        let mut both = Both::new(false);
        let connection = both.link;
        both.standby.input(Input::Received { connection, bytes });
        both.primary.send(AT_PRIMARY, bytes);
        both.primary.send(AT_PRIMARY, b"d\0\0\0\x05rQ\0\0\0\x05\0");
    }
}
