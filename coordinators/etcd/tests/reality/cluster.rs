use super::http::{Plain, items, post, whole};
use super::real_cluster::RealCluster;
use super::sequences::{Dice, LAST, WATCH, call, clean, revision_of};
use crate::world::World;
use crate::{Config, Etcd};
use fencepost_machine::ConnectionId;
use fencepost_testing::differential::number;
use std::collections::BTreeMap;

#[derive(Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) heartbeat_ms: u64,
    pub(crate) election_ms: u64,
}

/// Timeouts for tests that cause elections.
const FAST: Pace = Pace { heartbeat_ms: 100, election_ms: ELECTION_MS };
const CALM: Pace = Pace { heartbeat_ms: 100, election_ms: 3_000 };
const ELECTION_MS: u64 = 1_500;
const REQUEST_MS: u64 = 5_000 + 2 * ELECTION_MS;
const PATIENCE_MS: u64 = 30_000;
const CASES: u64 = 60;

pub(crate) trait Cluster {
    type Call;
    fn send(&mut self, at: usize, bytes: &[u8]) -> Self::Call;
    fn read_reply(&mut self, call: &mut Self::Call, enough: fn(&[u8]) -> bool, ms: u64) -> Vec<u8>;
    fn now_ms(&self) -> u64;
    fn pass(&mut self, ms: u64);
    fn kill(&mut self, at: usize);
    fn restart(&mut self, at: usize);
    fn stop(&mut self, at: usize);
    fn resume(&mut self, at: usize);

    fn ask(&mut self, at: usize, bytes: &[u8]) -> Vec<u8> {
        let mut call = self.send(at, bytes);
        self.read_reply(&mut call, is_whole, PATIENCE_MS)
    }

    fn leader(&mut self, of: &[usize]) -> usize {
        for _ in 0..600 {
            let status = |cluster: &mut Self, at: usize| {
                let mut call = cluster.send(at, &post("/v3/maintenance/status", "{}"));
                let said = cluster.read_reply(&mut call, is_whole, 1_000);
                let said = String::from_utf8_lossy(&said).into_owned();
                Some((field(&said, "member_id")?, field(&said, "leader")?))
            };
            let all: Vec<_> = of.iter().filter_map(|at| status(self, *at)).collect();
            let leads = |leader: &String| all.iter().position(|(own, _)| own == leader);
            if let [(_, first), rest @ ..] = &all[..]
                && all.len() == of.len()
                && rest.iter().all(|(_, leader)| leader == first)
                && let Some(place) = leads(first)
            {
                return of[place];
            }
            self.pass(50);
        }
        panic!("nobody leads {of:?}")
    }
}

fn field(text: &str, name: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("\"{name}\":\""))?;
    rest.split('"').next().map(str::to_owned)
}

pub(crate) fn is_whole(said: &[u8]) -> bool {
    whole(said).is_some()
}

struct Ours {
    world: World,
    heard: BTreeMap<ConnectionId, Vec<u8>>,
}

impl Ours {
    fn new(Pace { heartbeat_ms, election_ms }: Pace) -> Ours {
        let election_ticks = election_ms / heartbeat_ms;
        let config = Config { heartbeat_ms, election_ticks, ..Config::default() };
        let world = World::of(3, config);
        let _: Option<&Etcd> = world.server(0);
        Ours { world, heard: BTreeMap::new() }
    }
}

impl Cluster for Ours {
    type Call = ConnectionId;

    fn send(&mut self, at: usize, bytes: &[u8]) -> ConnectionId {
        let call = self.world.connect(at);
        self.world.send(at, call, &bytes.to_vec().into());
        call
    }

    fn read_reply(
        &mut self,
        call: &mut ConnectionId,
        enough: fn(&[u8]) -> bool,
        ms: u64,
    ) -> Vec<u8> {
        let until = self.now_ms() + ms;
        loop {
            let more = self.world.received(*call);
            let said = self.heard.entry(*call).or_default();
            said.extend(more.into_bytes());
            if enough(said) || self.world.now_us / 1_000 >= until {
                return said.clone();
            }
            self.world.run(5);
        }
    }

    fn now_ms(&self) -> u64 {
        self.world.now_us / 1_000
    }

    fn pass(&mut self, ms: u64) {
        self.world.run(ms);
    }

    fn kill(&mut self, at: usize) {
        self.world.crash(at, fencepost_testing::Crash::Process);
    }

    fn restart(&mut self, at: usize) {
        self.world.start(at);
    }

    fn stop(&mut self, at: usize) {
        self.world.pause(at);
    }

    fn resume(&mut self, at: usize) {
        self.world.resume(at);
    }
}

fn roles(leader: usize) -> [usize; 3] {
    [leader, (leader + 1) % 3, (leader + 2) % 3]
}

const PUT: &str = "{\"key\":\"YQ==\",\"value\":\"MQ==\"}";
/// A transaction that writes nothing, because its condition is false.
const WRITE: &str = "{\"compare\":[{\"key\":\"YQ==\",\"target\":\"VERSION\",\"version\":99}],\
    \"success\":[{\"request_put\":{\"key\":\"YQ==\"}}]}";
const GET: &str = "{\"key\":\"YQ==\",\"range_end\":\"eg==\"}";
const OLD_GET: &str = "{\"key\":\"YQ==\",\"range_end\":\"eg==\",\"serializable\":true}";

const LEADER_FAILED: &str = ", possibly due to previous leader failure";

struct Script<'c, C: Cluster> {
    cluster: &'c mut C,
    plain: Plain,
    log: Vec<String>,
    late: Vec<(String, u64)>,
}

impl<C: Cluster> Script<'_, C> {
    fn note(&mut self, what: &str, said: &[u8]) {
        // The time of the election decides whether an answer contains this text.
        let shown = self.plain.show(said).replace(LEADER_FAILED, "");
        let is_size = |line: &&str| usize::from_str_radix(line, 16).is_ok();
        let shown = shown.lines().filter(|line| !is_size(line)).collect::<Vec<_>>().join("\n");
        self.log.push(format!("{what}: {shown}"));
    }

    fn ask(&mut self, what: &str, at: usize, path: &str, body: &str) {
        let said = self.cluster.ask(at, &post(&format!("/v3/{path}"), body));
        self.note(what, &said);
    }

    fn ask_together(&mut self, calls: &[(&str, usize, &str, &str)]) {
        let began = self.cluster.now_ms();
        let mut open: Vec<C::Call> = Vec::new();
        for (_, at, path, body) in calls {
            open.push(self.cluster.send(*at, &post(&format!("/v3/{path}"), body)));
        }
        self.finish(calls, open, began);
    }

    fn finish(&mut self, calls: &[(&str, usize, &str, &str)], open: Vec<C::Call>, began: u64) {
        for ((what, ..), mut call) in calls.iter().zip(open) {
            let said = self.cluster.read_reply(&mut call, is_whole, PATIENCE_MS);
            self.note(what, &said);
            if String::from_utf8_lossy(&said).contains("timed out") {
                self.late.push(((*what).to_owned(), self.cluster.now_ms() - began));
            }
        }
    }
}

fn trouble<C: Cluster>(cluster: &mut C) -> (Vec<String>, Vec<(String, u64)>) {
    let [_, first, second] = roles(cluster.leader(&[0, 1, 2]));
    let (plain, log, late) = (Plain::default(), Vec::new(), Vec::new());
    let mut script = Script { cluster, plain, log, late };
    script.ask("a write at a follower", first, "kv/put", PUT);
    script.ask("a read at the other", second, "kv/range", GET);
    script.ask("a lease from a follower", first, "lease/grant", "{\"TTL\":10,\"ID\":7}");
    script.ask("kept alive at the other", second, "lease/keepalive", "{\"ID\":7}");
    let bound = "{\"key\":\"Yw==\",\"lease\":7}";
    script.ask("a key of the lease", second, "kv/put", bound);
    script.ask("a read before", first, "kv/range", GET);
    // Unless a new leader extends it, the lease expires before the test revokes it below.
    script.cluster.pass(2_500);
    // An election during the wait may have changed the leader.
    let [leader, first, second] = roles(script.cluster.leader(&[0, 1, 2]));
    script.cluster.stop(leader);
    let calls = [
        ("a write without a leader", first, "kv/txn", WRITE),
        ("a read without a leader", second, "kv/range", GET),
        ("a serializable read without a leader", second, "kv/range", OLD_GET),
    ];
    script.ask_together(&calls);
    let new = script.cluster.leader(&[first, second]);
    let other = first + second - new;
    script.ask("a read of the new leader", new, "kv/range", GET);
    script.ask("the lease is given back", new, "lease/revoke", "{\"ID\":7}");
    script.ask("a write at its follower", other, "kv/put", PUT);
    script.cluster.resume(leader);
    script.cluster.leader(&[leader, first, second]);
    script.ask("a read of the old leader", leader, "kv/range", GET);
    script.ask("a write at the old leader", leader, "kv/put", PUT);
    script.cluster.kill(leader);
    let last = script.cluster.leader(&[first, second]);
    let lone = first + second - last;
    script.ask("a read before the end", lone, "kv/range", GET);
    script.cluster.kill(last);
    script.cluster.pass(2 * ELECTION_MS + 200);
    let calls = [
        ("a write without a majority", lone, "kv/txn", WRITE),
        ("a read without a majority", lone, "kv/range", GET),
        ("a transaction without a majority", lone, "kv/txn", "{}"),
        ("a lease without a majority", lone, "lease/grant", "{\"TTL\":9,\"ID\":8}"),
        ("a serializable read without a majority", lone, "kv/range", OLD_GET),
        ("a lease's time without a majority", lone, "lease/timetolive", "{\"ID\":7}"),
        ("a lease kept alive without a majority", lone, "lease/keepalive", "{\"ID\":7}"),
    ];
    script.ask_together(&calls);
    script.cluster.restart(leader);
    script.cluster.leader(&[leader, lone]);
    script.ask("a read of two", lone, "kv/range", OLD_GET);
    script.ask("a write at the one that came back", leader, "kv/put", PUT);
    (script.log, script.late)
}

#[test]
fn a_cluster_in_trouble_answers_as_a_real_one() {
    let Some(mut real) = RealCluster::start(FAST) else { return };
    let (ours, our_times) = trouble(&mut Ours::new(FAST));
    let (theirs, their_times) = trouble(&mut real);
    let pairs = ours.iter().zip(&theirs);
    let different: Vec<_> = pairs.filter(|(ours, theirs)| ours != theirs).collect();
    assert!(different.is_empty(), "ours, theirs: {different:#?}");
    assert_eq!(ours.len(), theirs.len());
    // The real server may time out late, but at most 100 ms early.
    for ((what, ours), (_, theirs)) in our_times.iter().zip(&their_times) {
        assert!((REQUEST_MS..REQUEST_MS + 200).contains(ours), "{what}: {ours} ms");
        assert!(*theirs >= REQUEST_MS - 100, "{what}: {theirs} ms");
    }
}

struct Both {
    real: RealCluster,
    ours: Ours,
    members: [[usize; 3]; 2],
    of_real: Plain,
    of_ours: Plain,
    log: Vec<String>,
}

impl Both {
    fn level(&mut self, [theirs, own]: [usize; 2]) {
        let bytes = post("/v3/kv/range", "{\"key\":\"YQ==\",\"count_only\":true}");
        drop((self.real.ask(theirs, &bytes), self.ours.ask(own, &bytes)));
    }

    fn ask(&mut self, dice: &mut Dice, bytes: &[u8]) -> String {
        let role = dice.roll(3) as usize;
        let [theirs, own] = self.members.map(|members| members[role]);
        let text = String::from_utf8_lossy(bytes).into_owned();
        // These calls see all earlier changes. Before other calls, the members must catch up.
        let is_sure = ["/v3/kv/put", "/v3/kv/deleterange", "/v3/kv/range"]
            .iter()
            .any(|path| text.contains(path) && !text.contains("serializable"));
        if !is_sure {
            self.level([theirs, own]);
        }
        self.log.push(format!("{role}: {}", text.replace("\r\n", " ")));
        let theirs = self.of_real.show(&self.real.ask(theirs, bytes));
        let own = self.of_ours.show(&self.ours.ask(own, bytes));
        assert_eq!(own, theirs, "{}", self.log.join("\n"));
        self.log.push(format!("   revision {:?}", revision_of(&own)));
        own
    }
}

#[test]
fn random_calls_at_any_member_are_answered_as_by_a_real_cluster() {
    let Some(mut real) = RealCluster::start(CALM) else { return };
    let mut ours = Ours::new(CALM);
    let members = [roles(real.leader(&[0, 1, 2])), roles(ours.leader(&[0, 1, 2]))];
    let (of_real, of_ours) = (Plain::default(), Plain::default());
    let seed = number::<u64>("FENCEPOST_DIFFERENTIAL_SEED").unwrap_or(1);
    let mut pair = Both { real, ours, members, of_real, of_ours, log: Vec::new() };
    let mut latest = 1;
    let enough = |said: &[u8]| String::from_utf8_lossy(said).contains("enp6");
    let are_watching = |said: &[u8]| items(said).len() >= 2;
    for case in 0..number("FENCEPOST_DIFFERENTIAL_CASES").unwrap_or(CASES) {
        let mut dice = Dice(seed << 32 | case | 1 << 63);
        pair.log = vec![format!("case {case}")];
        for call in clean() {
            pair.ask(&mut dice, &call);
        }
        let watcher = 1 + dice.roll(2) as usize;
        let [theirs, own] = pair.members.map(|members| members[watcher]);
        pair.level([theirs, own]);
        let watch = post("/v3/watch", WATCH);
        let mut watches = (pair.real.send(theirs, &watch), pair.ours.send(own, &watch));
        pair.real.read_reply(&mut watches.0, are_watching, PATIENCE_MS);
        pair.ours.read_reply(&mut watches.1, are_watching, PATIENCE_MS);
        for _ in 0..dice.roll(14) {
            let bytes = call(&mut dice, latest);
            // Skip calls that name a revision. If such a call is a transaction and only one member
            // refuses it, the members' states differ.
            if String::from_utf8_lossy(&bytes).contains("\"revision\":\"") {
                continue;
            }
            let said = pair.ask(&mut dice, &bytes);
            latest = revision_of(&said).unwrap_or(latest).max(latest);
        }
        pair.ask(&mut dice, &post("/v3/kv/put", LAST));
        let theirs = pair.real.read_reply(&mut watches.0, enough, PATIENCE_MS);
        let own = pair.ours.read_reply(&mut watches.1, enough, PATIENCE_MS);
        let show = |plain: &mut Plain, said: &[u8]| {
            let items = items(said);
            let items = items.iter().map(|item| plain.show(item.as_bytes()));
            items.partition::<Vec<String>, _>(|item| item.contains("\"watch_id\""))
        };
        let own = show(&mut pair.of_ours, &own);
        assert_eq!(own, show(&mut pair.of_real, &theirs), "case {case}: the watch");
    }
}
