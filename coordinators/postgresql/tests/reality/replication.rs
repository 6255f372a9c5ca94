use super::fake::Fake;
use super::messages::{query, shown, startup};
use super::real::{Connection, Real};
use fencepost_machine::{ConnectionId, Input};
use fencepost_postgresql::{Config, Replication};
use fencepost_testing::{signal, wait_for};

const LINK: u32 = 1_000_000;

const AT_A_STANDBY: &[&str] = &[
    "SELECT v FROM t",
    "INSERT INTO t VALUES (5, 5)",
    "UPDATE t SET v = 5",
    "DELETE FROM t",
    "SELECT v FROM t FOR UPDATE",
    "SELECT v FROM t FOR SHARE",
    "CREATE TABLE u (k int)",
    "DROP TABLE t",
    "SELECT pg_is_in_recovery()",
    "SHOW transaction_read_only",
    "SHOW in_hot_standby",
    "SHOW default_transaction_read_only",
    "SELECT pg_try_advisory_lock(7), pg_advisory_unlock(7)",
    "BEGIN READ WRITE",
    "ROLLBACK",
    "BEGIN; SET TRANSACTION READ WRITE",
    "ROLLBACK",
    "BEGIN; SELECT v FROM t; SET TRANSACTION READ WRITE",
    "ROLLBACK",
    "BEGIN ISOLATION LEVEL SERIALIZABLE",
    "ROLLBACK",
    "SET default_transaction_isolation = serializable",
    "SELECT v FROM t",
    "RESET ALL",
    "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT v FROM t; COMMIT",
];

struct Pair {
    real: Real,
    fake: Fake,
}

struct Session {
    real: Connection,
    fake: u32,
}

impl Pair {
    fn session(&mut self) -> Session {
        let session = Session { real: self.real.session(), fake: self.fake.session() };
        let welcome = self.fake.answer(session.fake).unwrap();
        assert_eq!(shown(&session.real.welcome), shown(&welcome));
        session
    }

    fn send(&mut self, session: &mut Session, sql: &str) {
        session.real.send(&query(sql));
        self.fake.send(session.fake, &query(sql));
    }

    fn answered(&mut self, session: &mut Session, what: &str) {
        let own = self.fake.answer(session.fake).unwrap_or_default();
        assert_eq!(shown(&session.real.read()), shown(&own), "{what}");
    }

    fn ask(&mut self, session: &mut Session, sql: &str) {
        self.send(session, sql);
        self.answered(session, sql);
    }
}

struct World {
    primary: Pair,
    standby: Pair,
    link: ConnectionId,
    observer: Connection,
}

impl World {
    fn start() -> Option<World> {
        let real = Real::start()?;
        let mut observer = real.session();
        let schema = "CREATE TABLE t (k int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1)";
        observer.ask(&query(schema));
        let fake = |replication| {
            Fake::of(Config { replication, schema: schema.to_owned(), ..Config::default() })
        };
        let standby = Pair {
            real: real.standby(),
            fake: fake(Replication::Standby { primary: ("primary".to_owned(), 5_432) }),
        };
        let primary = Pair { real, fake: fake(Replication::Primary { synchronous: true }) };
        let mut world = World { primary, standby, link: ConnectionId(0), observer };
        world.connect();
        Some(world)
    }

    fn connect(&mut self) {
        self.link = self.standby.fake.asked.pop().expect("the standby connects");
        let accepted = Input::Accepted { connection: ConnectionId(LINK), peer: "standby:50000" };
        self.primary.fake.input(accepted);
        self.standby.fake.input(Input::Connected { connection: self.link });
        self.pass();
    }

    fn pass(&mut self) {
        loop {
            let to_primary = self.standby.fake.take(self.link.0);
            let to_standby = self.primary.fake.take(LINK);
            if to_primary.is_empty() && to_standby.is_empty() {
                return;
            }
            self.primary.fake.send(LINK, &to_primary);
            let connection = self.link;
            self.standby.fake.input(Input::Received { connection, bytes: &to_standby });
        }
    }

    fn until(session: &mut Connection, sql: &str, wanted: &str) {
        wait_for(&format!("{sql}: {wanted}"), || (session.value(sql) == wanted).then_some(()));
    }

    fn synchronous(&mut self, names: &str) {
        let set = format!("ALTER SYSTEM SET synchronous_standby_names = '{names}'");
        self.observer.ask(&query(&set));
        self.observer.ask(&query("SELECT pg_reload_conf()"));
        let wanted = if names.is_empty() { "async" } else { "sync" };
        World::until(&mut self.observer, "SELECT sync_state FROM pg_stat_replication", wanted);
    }

    fn sender(&mut self) -> u32 {
        let sender = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walsender'";
        self.observer.value(sender).parse().unwrap()
    }

    fn waits(&mut self, session: &mut Session) {
        let pid = session.real.pid();
        let sql = format!("SELECT wait_event FROM pg_stat_activity WHERE pid = {pid}");
        World::until(&mut self.observer, &sql, "SyncRep");
        assert!(!session.real.has_answer());
        assert_eq!(self.primary.fake.answer(session.fake), None, "ours waits too");
    }
}

#[test]
fn a_standby_and_its_primary_answer_as_real_ones() {
    let Some(mut world) = World::start() else { return };
    let mut reader = world.standby.session();
    for sql in AT_A_STANDBY {
        world.standby.ask(&mut reader, sql);
    }

    // A synchronous standby has an acknowledged commit on disk, and shows it a moment later.
    world.synchronous("*");
    let (mut writer, mut other) = (world.primary.session(), world.primary.session());
    world.primary.send(&mut writer, "UPDATE t SET v = 2");
    world.pass();
    world.primary.answered(&mut writer, "a synchronous commit");
    World::until(&mut reader.real, "SELECT v FROM t", "2");
    world.standby.ask(&mut reader, "SELECT v FROM t");

    // While the standby receives nothing, a commit waits and is invisible to other sessions.
    let sender = world.sender();
    signal(sender, "STOP");
    world.primary.send(&mut writer, "UPDATE t SET v = 3");
    world.waits(&mut writer);
    world.primary.ask(&mut other, "SELECT v FROM t");
    other.real.ask(&query(&format!("SELECT pg_cancel_backend({})", writer.real.pid())));
    let own = own_pid(&mut world.primary.fake, writer.fake);
    world.primary.fake.send(other.fake, &query(&format!("SELECT pg_cancel_backend({own})")));
    world.primary.fake.answer(other.fake);
    world.primary.answered(&mut writer, "a wait that was canceled");
    world.primary.ask(&mut other, "SELECT v FROM t");
    world.primary.ask(&mut other, "SET synchronous_commit = local; UPDATE t SET v = 4");
    world.primary.ask(&mut other, "RESET synchronous_commit; SHOW synchronous_commit");
    world.primary.send(&mut writer, "UPDATE t SET v = 5");
    world.waits(&mut writer);
    other.real.ask(&query(&format!("SELECT pg_terminate_backend({})", writer.real.pid())));
    world.primary.fake.send(other.fake, &query(&format!("SELECT pg_terminate_backend({own})")));
    world.primary.fake.answer(other.fake);
    world.primary.answered(&mut writer, "a wait whose session was ended");
    world.primary.ask(&mut other, "SELECT v FROM t");

    signal(sender, "CONT");
    world.pass();
    world.synchronous("");
    World::until(&mut reader.real, "SELECT v FROM t", "5");
    world.primary.ask(&mut other, "SELECT pg_try_advisory_lock(7)");
    let sender = world.sender();
    signal(sender, "STOP");
    world.primary.ask(&mut other, "SET synchronous_commit = local");
    world.primary.ask(&mut other, "UPDATE t SET v = 6");
    let World { primary, mut standby, .. } = world;
    primary.real.kill();
    signal(sender, "KILL");
    let mut next = standby.session();
    standby.ask(&mut next, "SELECT pg_promote()");
    standby.ask(&mut next, "SELECT pg_promote()");
    standby.ask(&mut next, "SELECT v FROM t; SELECT pg_try_advisory_lock(7)");
    standby.ask(&mut next, "UPDATE t SET v = v + 10; SELECT v FROM t; SHOW in_hot_standby");
    standby.ask(&mut reader, "SHOW in_hot_standby");
    standby.ask(&mut reader, "INSERT INTO t VALUES (6, 6)");
    standby.session();
}

fn own_pid(fake: &mut Fake, session: u32) -> u32 {
    // A waiting session cannot report its id, so derive it from the id of the next session.
    let probe = fake.connect();
    fake.send(probe, &startup());
    let welcome = fake.answer(probe).unwrap();
    let key = super::messages::split(&welcome).into_iter().find(|(kind, _)| *kind == b'K');
    let key = key.unwrap().1;
    let pid = u32::from_be_bytes([key[0], key[1], key[2], key[3]]);
    fake.hang_up(probe);
    pid - (probe - session)
}
