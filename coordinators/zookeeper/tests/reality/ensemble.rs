use crate::both::Client;
use crate::fake::Fake;
use crate::protocol::*;
use crate::real;
use crate::real_ensemble::RealEnsemble;
use crate::world::World;
use crate::{Config, ZooKeeper};
use bytes::Bytes;
use fencepost_machine::ConnectionId;
use fencepost_testing::Crash;

pub(crate) const TICK_MS: u32 = 500;
pub(crate) const SYNC_LIMIT: u64 = 20;
const SHORT_MS: i32 = 2_000;
const LONG_MS: i32 = 10_000;

pub(crate) trait Ensemble {
    type Connection;
    fn connect(&mut self, at: usize) -> Self::Connection;
    fn send(&mut self, connection: &mut Self::Connection, bytes: &[u8]);
    fn frame(&mut self, connection: &mut Self::Connection) -> Option<Vec<u8>>;
    fn is_silent(&mut self, connection: &mut Self::Connection, ms: u64) -> bool;
    fn pass(&mut self, ms: u64);
    fn now_ms(&self) -> u64;
    fn settle(&mut self, serving: usize);
    fn leader(&mut self) -> Option<usize>;
    fn leads(&mut self, at: usize) -> bool;
    fn kill(&mut self, at: usize);
    fn restart(&mut self, at: usize);
    fn stop(&mut self, at: usize);
    fn resume(&mut self, at: usize);
    fn hold_traffic(&mut self, is_held: bool);
}

impl Fake {
    fn ensemble() -> Fake {
        let config =
            Config { tick_ms: TICK_MS.into(), sync_limit: SYNC_LIMIT, ..Config::default() };
        let mut fake = Fake(World::of(3, config));
        fake.settle(3);
        fake
    }

    fn mode(&mut self, at: usize) -> Option<String> {
        if self.0.is_paused(at) {
            return None;
        }
        self.0.server(at).map(|_: &ZooKeeper| ())?;
        let connection = self.0.connect(at);
        self.0.send(at, connection, &Bytes::from_static(b"srvr"));
        let answer = self.rest(connection).unwrap_or_default();
        String::from_utf8_lossy(&answer)
            .lines()
            .find_map(|line| line.strip_prefix("Mode: "))
            .map(str::to_owned)
    }
}

impl Ensemble for Fake {
    type Connection = ConnectionId;

    fn connect(&mut self, at: usize) -> ConnectionId {
        self.0.connect(at)
    }

    fn send(&mut self, connection: &mut ConnectionId, bytes: &[u8]) {
        Fake::send(self, *connection, bytes);
    }

    fn frame(&mut self, connection: &mut ConnectionId) -> Option<Vec<u8>> {
        Fake::frame(self, *connection)
    }

    fn is_silent(&mut self, connection: &mut ConnectionId, ms: u64) -> bool {
        Fake::is_silent(self, *connection, ms)
    }

    fn pass(&mut self, ms: u64) {
        self.0.run(ms);
    }

    fn now_ms(&self) -> u64 {
        self.0.now_us / 1_000
    }

    fn settle(&mut self, serving: usize) {
        for _ in 0..600 {
            if (0..3).filter(|at| self.mode(*at).is_some()).count() == serving {
                return;
            }
            self.pass(100);
        }
        panic!("{serving} servers do not come to serve within a minute");
    }

    fn leader(&mut self) -> Option<usize> {
        (0..3).find(|at| self.mode(*at).as_deref() == Some("leader"))
    }

    fn leads(&mut self, at: usize) -> bool {
        self.mode(at).as_deref() == Some("leader")
    }

    fn kill(&mut self, at: usize) {
        self.0.crash(at, Crash::Process);
    }

    fn restart(&mut self, at: usize) {
        self.0.start(at);
    }

    fn stop(&mut self, at: usize) {
        self.0.pause(at);
    }

    fn resume(&mut self, at: usize) {
        self.0.resume(at);
    }

    fn hold_traffic(&mut self, is_held: bool) {
        if is_held {
            self.0.cut(2, 0);
        } else {
            self.0.heal();
        }
    }
}

fn a_read_is_stale<E: Ensemble>(ensemble: &mut E) -> Vec<String> {
    let mut writer = Client::enter(ensemble, 2, LONG_MS);
    let mut reader = Client::enter(ensemble, 0, LONG_MS);
    let mut said = vec![writer.create(ensemble, "/stale", false), reader.sync(ensemble)];
    said.push(reader.get(ensemble, "/stale", true));
    ensemble.hold_traffic(true);
    said.push(writer.set(ensemble, "/stale", "new"));
    said.push(writer.get(ensemble, "/stale", false));
    said.push(reader.get(ensemble, "/stale", false));
    reader.send(ensemble, SYNC, Record::default().text("/"));
    said.push(format!("waits: {}", ensemble.is_silent(&mut reader.connection, 500)));
    ensemble.hold_traffic(false);
    said.push(reader.read_reply(ensemble, SYNC));
    said.push(reader.read_reply(ensemble, SYNC));
    said.push(reader.get(ensemble, "/stale", false));
    said
}

fn a_session_ends_in_a_pause<E: Ensemble>(ensemble: &mut E) -> Vec<String> {
    let mut holder = Client::enter(ensemble, 0, SHORT_MS);
    let mut heir = Client::enter(ensemble, 1, LONG_MS);
    let mut said = vec![holder.create(ensemble, "/held", true), heir.sync(ensemble)];
    let stands_since = ensemble.now_ms();
    said.push(heir.get(ensemble, "/held", true));
    said.push(heir.create(ensemble, "/held", true));
    while ensemble.is_silent(&mut heir.connection, 100) {
        assert!(ensemble.now_ms() - stands_since < 20_000, "the session never ends");
    }
    let stood_ms = ensemble.now_ms() - stands_since;
    let (least, most) = (SHORT_MS as u64 - 500, SHORT_MS as u64 + 3_000);
    assert!((least..most).contains(&stood_ms), "the session ends after {stood_ms} ms");
    said.push(heir.read_reply(ensemble, PING));
    said.push(heir.create(ensemble, "/held", true));
    // After the pause, the client continues as if it still held the node.
    said.push(holder.set(ensemble, "/held", "mine"));
    let password = holder.session.password.clone();
    said.push(holder.reconnect(ensemble, 1, &password));
    said.push(holder.get(ensemble, "/held", false));
    said.push(heir.get(ensemble, "/held", false));
    said
}

fn a_session_moves<E: Ensemble>(ensemble: &mut E) -> Vec<String> {
    let mut mover = Client::enter(ensemble, 0, LONG_MS);
    let mut said = vec![mover.create(ensemble, "/moving", true)];
    let password = mover.session.password.clone();
    let mut left = mover.twin(ensemble.connect(1));
    said.push(left.reconnect(ensemble, 1, &[7; 16]));
    said.push(left.reconnect(ensemble, 1, &password));
    said.push(left.get(ensemble, "/moving", false));
    said.push(left.set(ensemble, "/moving", "there"));
    said.push(mover.set(ensemble, "/moving", "here"));
    said.push(left.get(ensemble, "/moving", false));
    said
}

fn a_session_outlives_its_server<E: Ensemble>(ensemble: &mut E, victim: usize) -> Vec<String> {
    let (refuge, path) = (if victim == 1 { 0 } else { 1 }, format!("/other-{victim}"));
    let mine = format!("/mine-{victim}");
    let mut mover = Client::enter(ensemble, victim, LONG_MS);
    let mut other = Client::enter(ensemble, refuge, LONG_MS);
    let mut said = vec![mover.create(ensemble, &mine, true)];
    said.push(other.create(ensemble, &path, false));
    said.push(mover.sync(ensemble));
    said.push(mover.get(ensemble, &path, true));
    let seen = mover.seen();
    ensemble.kill(victim);
    said.push(mover.read_reply(ensemble, PING));
    ensemble.settle(2);
    let password = other.session.password.clone();
    said.push(other.reconnect(ensemble, refuge, &password));
    said.push(other.set(ensemble, &path, "changed"));
    let password = mover.session.password.clone();
    said.push(mover.reconnect(ensemble, refuge, &password));
    said.push(mover.get(ensemble, &mine, false));
    let watches = Record::default().long(seen).texts(std::slice::from_ref(&path));
    said.push(mover.ask(ensemble, SET_WATCHES, watches.texts(&[]).texts(&[])));
    said.push(mover.read_reply(ensemble, SET_WATCHES));
    said.push(mover.ask(ensemble, CLOSE, Record::default()));
    said.push(other.get(ensemble, &mine, false));
    ensemble.restart(victim);
    ensemble.settle(3);
    said
}

fn a_follower_stands_still<E: Ensemble>(ensemble: &mut E) -> Vec<String> {
    let leader = ensemble.leader().expect("a leader");
    let mut followers = (0..3).filter(|at| *at != leader);
    let (victim, refuge) = (followers.next().unwrap_or(0), followers.next().unwrap_or(0));
    let mut mover = Client::enter(ensemble, victim, LONG_MS);
    let mut said = vec![mover.create(ensemble, "/walking", true)];
    let password = mover.session.password.clone();
    ensemble.stop(victim);
    let mut moved = mover.twin(ensemble.connect(refuge));
    said.push(moved.reconnect(ensemble, refuge, &password));
    said.push(moved.set(ensemble, "/walking", "there"));
    ensemble.resume(victim);
    said.push(mover.set(ensemble, "/walking", "here"));
    said.push(moved.get(ensemble, "/walking", false));
    said.push(moved.ask(ensemble, CLOSE, Record::default()));
    said
}

fn the_leader_stands_still<E: Ensemble>(ensemble: &mut E) -> Vec<String> {
    let leader = ensemble.leader().expect("a leader");
    let refuge = if leader == 0 { 1 } else { 0 };
    let mut outside = Client::enter(ensemble, refuge, LONG_MS);
    let mut inside = Client::enter(ensemble, leader, LONG_MS);
    let mut said = vec![outside.create(ensemble, "/outside", true)];
    said.push(inside.create(ensemble, "/inside", true));
    ensemble.stop(leader);
    let creation = Record::default().text("/unheard").bytes(Some(b"x")).world(31).int(0);
    inside.send(ensemble, CREATE, creation);
    said.push(outside.read_reply(ensemble, PING));
    ensemble.settle(2);
    let password = outside.session.password.clone();
    said.push(outside.reconnect(ensemble, refuge, &password));
    said.push(outside.set(ensemble, "/outside", "new"));
    ensemble.resume(leader);
    said.push(inside.read_reply(ensemble, CREATE));
    // Until the resumed leader finds that it has no followers, its replies depend on timing.
    let awake_since = ensemble.now_ms();
    while ensemble.leads(leader) {
        assert!(ensemble.now_ms() - awake_since < 60_000, "it never finds that nobody follows it");
        ensemble.pass(100);
    }
    ensemble.settle(3);
    let password = inside.session.password.clone();
    said.push(inside.reconnect(ensemble, leader, &password));
    said.push(inside.get(ensemble, "/inside", false));
    said.push(inside.get(ensemble, "/unheard", false));
    said.push(format!("it leads again: {}", ensemble.leader() == Some(leader)));
    said
}

fn all<E: Ensemble>(ensemble: &mut E) -> Vec<(&'static str, Vec<String>)> {
    vec![
        ("a stale read", a_read_is_stale(ensemble)),
        ("a session that ends in a pause", a_session_ends_in_a_pause(ensemble)),
        ("a session that moves", a_session_moves(ensemble)),
        ("a follower is killed", a_session_outlives_its_server(ensemble, 0)),
        ("the leader is killed", a_session_outlives_its_server(ensemble, 2)),
        ("a follower stands still", a_follower_stands_still(ensemble)),
        ("the leader stands still", the_leader_stands_still(ensemble)),
    ]
}

#[test]
fn an_ensemble_in_trouble_tells_its_clients_what_a_real_one_does() {
    let ours = all(&mut Fake::ensemble());
    let said = |story: usize| -> Vec<&str> { ours[story].1.iter().map(String::as_str).collect() };
    let (stale, ended, moved) = (said(0), said(1), said(2));
    assert_eq!(stale[4..6], ["0 new", "0 old"], "the first server lags behind");
    assert_eq!(ended[4..7], ["event 2 3 /held", "0 /held", "cut off"], "the node has gone");
    assert_eq!(moved[5..], ["cut off", "0 there"], "only the new way is served");
    assert!(said(3)[8..11].contains(&"event 3 3 /other-0"), "a missed change is told");
    assert_eq!(said(5)[3..5], ["cut off", "0 there"], "the new way is served");
    assert_eq!(
        said(6)[5..],
        [
            "cut off",
            "the same session: true, timeout 10000",
            "0 old",
            "-101",
            "it leads again: false"
        ]
    );
    if !real::is_there() {
        return;
    }
    for (ours, theirs) in ours.into_iter().zip(all(&mut RealEnsemble::new())) {
        assert_eq!(ours, theirs);
    }
}
