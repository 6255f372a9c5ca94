use crate::drawn::{drawn, history, violations};
use crate::planted::{LOCK, granted};
use bytes::{Bytes, BytesMut};
use fencepost::engine::Engine;
use fencepost::setup::scenario::Calls;
use fencepost::testing::{Expect, LockTest};
use fencepost::{RunSpec, Scenario};
use fencepost_clients::env::Socket;
use fencepost_clients::owned_key::fresh_owner;
use fencepost_clients::{
    Acquisition, Address, Algorithm, Definition, Env, Lease, Lock, Release, Retry, Servers,
    Settings,
};
use fencepost_faults::Node;
use fencepost_reports::{Action, Cause, GivingUp, Kind, What};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

const INTERRUPTS: Scenarios = |scenario| scenario.calls.interrupt = Calls::Both;
const CANCELS: Scenarios = |scenario| scenario.calls.cancel = Calls::Both;

type Scenarios = fn(&mut Scenario);

fn spec(client: &str, seed: u64, change: Scenarios) -> RunSpec {
    let mut scenario = Scenario::default();
    change(&mut scenario);
    drawn(client, "none", seed, scenario)
}

fn broken(client: &str, seeds: u64, change: Scenarios) -> BTreeSet<(Kind, Cause)> {
    let violations = (0..seeds).flat_map(|seed| violations(&spec(client, seed, change)));
    violations.map(|violation| (violation.kind, violation.cause)).collect()
}

#[test]
fn both_engines_give_calls_up_at_the_same_moments() {
    let locks = ["setnx-expire", "redlock-parallel", "redisson", "curator-mutex", "etcd-mutex"];
    for lock in locks {
        for change in [CANCELS, INTERRUPTS] {
            let spec = spec(lock, 3, change);
            let fast = spec.run(Engine::Fast).unwrap();
            assert_eq!(fast, spec.run(Engine::Turmoil).unwrap(), "{lock}");
            let is_given_up = |what: &What| matches!(what, What::GivenUp { .. });
            assert!(fast.history.events.iter().any(|event| is_given_up(&event.what)), "{lock}");
        }
    }
}

#[test]
fn calls_of_each_kind_are_given_up_where_that_is_asked_for() {
    let given_up = |change: Scenarios| {
        let mut all = BTreeSet::new();
        for seed in 0..4 {
            let history = history(&spec("single-node", seed, change));
            let mut actions: BTreeMap<u64, &Action> = BTreeMap::new();
            for event in &history.events {
                match &event.what {
                    What::Invoke { operation, action } => drop(actions.insert(*operation, action)),
                    What::GivenUp { operation, how } => {
                        assert_ne!(event.node, Node::Probe);
                        let is_acquire = *actions[operation] == Action::Acquire;
                        all.insert((is_acquire, *how == GivingUp::Cancelled));
                    }
                    _ => {}
                }
            }
        }
        all
    };
    assert_eq!(given_up(|_| ()), [].into());
    assert_eq!(given_up(|scenario| scenario.calls.cancel = Calls::Acquire), [(true, true)].into());
    assert_eq!(
        given_up(|scenario| scenario.calls.interrupt = Calls::Release),
        [(false, false)].into()
    );
    let all = given_up(|scenario| {
        (scenario.calls.cancel, scenario.calls.interrupt) = (Calls::Both, Calls::Both);
    });
    assert_eq!(all.len(), 4);
}

#[test]
fn an_acquire_that_is_interrupted_between_two_commands_locks_for_ever_and_one_command_does_not() {
    let found = broken("setnx-expire", 4, |scenario| scenario.calls.interrupt = Calls::Acquire);
    assert_eq!(found, [(Kind::Stuck, Cause::GivenUpCall)].into());
    assert_eq!(
        broken("set-ex-del", 4, |scenario| scenario.calls.interrupt = Calls::Acquire),
        [].into()
    );
}

#[test]
fn a_node_of_an_acquire_that_is_dropped_stays_and_one_that_is_interrupted_is_deleted() {
    for lock in ["zookeeper-naive", "curator-mutex"] {
        let cancelled = broken(lock, 3, |scenario| scenario.calls.cancel = Calls::Acquire);
        assert!(cancelled.contains(&(Kind::Stuck, Cause::GivenUpCall)), "{lock}: {cancelled:?}");
        let interrupted = broken(lock, 3, |scenario| scenario.calls.interrupt = Calls::Acquire);
        assert_eq!(interrupted, [].into(), "{lock}");
    }
}

/// A lock that mistakes the reply to a dropped call for the reply to the next call, unless
/// `drops_connection` is set. The asyncio client of redis-py 4.5.3 makes this mistake (redis-py
/// #2665).
struct Raw {
    env: Env,
    settings: Settings,
    address: Address,
    connection: Option<(Socket, BytesMut)>,
    drops_connection: bool,
}

const COMPARE_AND_DELETE: &str = "if redis.call('get',KEYS[1]) == ARGV[1] then return \
                                  redis.call('del',KEYS[1]) else return 0 end";

impl Raw {
    async fn call(&mut self, words: &[&[u8]]) -> io::Result<Bytes> {
        if self.connection.is_none() {
            let socket = self.env.connect(&self.address).await?;
            self.connection = Some((socket, BytesMut::new()));
        }
        if !self.drops_connection {
            let connection = self.connection.as_mut().expect("there is one");
            return ask(connection, words).await;
        }
        let mut connection = self.connection.take().expect("there is one");
        let answer = ask(&mut connection, words).await?;
        self.connection = Some(connection);
        Ok(answer)
    }

    async fn attempt(&mut self, resource: &str) -> Acquisition {
        let (owner, ttl_ms) = (fresh_owner(&self.env), self.settings.ttl.as_millis().to_string());
        let words: [&[u8]; 6] =
            [b"SET", resource.as_bytes(), &owner, b"NX", b"PX", ttl_ms.as_bytes()];
        match self.call(&words).await {
            Ok(answer) if &answer[..] == b"$-1" => Acquisition::Refused("held by another".into()),
            Ok(_) => granted(resource, &owner),
            Err(error) => Acquisition::Unknown(error.to_string()),
        }
    }
}

async fn ask((socket, input): &mut (Socket, BytesMut), words: &[&[u8]]) -> io::Result<Bytes> {
    let mut request = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        request.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        request.extend_from_slice(word);
        request.extend_from_slice(b"\r\n");
    }
    socket.write_all(&request).await?;
    loop {
        if let Some(end) = input.windows(2).position(|pair| pair == b"\r\n") {
            let line = input.split_to(end + 2).freeze();
            return Ok(line.slice(..end));
        }
        if socket.read(input).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

impl Algorithm for Raw {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        Retry::start(&self.env, &self.settings)
            .until_granted(async || self.attempt(resource).await)
            .await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        let script = COMPARE_AND_DELETE.as_bytes();
        let words: [&[u8]; 5] = [b"EVAL", script, b"1", lease.resource.as_bytes(), &lease.owner];
        match self.call(&words).await {
            Ok(answer) if &answer[..] == b":0" => Release::NotHeld,
            Ok(_) => Release::Released,
            Err(error) => Release::Unknown(error.to_string()),
        }
    }
}

fn raw(env: Env, servers: &Servers, settings: &Settings, drops_connection: bool) -> Box<dyn Lock> {
    let Servers::One(address) = servers else { panic!("one server is wanted: {servers:?}") };
    let (address, settings) = (address.clone(), settings.clone());
    Box::new(Raw { env, settings, address, connection: None, drops_connection })
}

static REUSES: Definition = Definition {
    name: "reuses-connection",
    about: "goes on with the connection of a call that was dropped",
    build: |env, servers, settings| raw(env, servers, settings, false),
    ..LOCK
};

static DROPS: Definition = Definition {
    name: "drops-connection",
    about: "drops the connection with the call",
    build: |env, servers, settings| raw(env, servers, settings, true),
    ..REUSES
};

#[test]
fn an_answer_that_is_read_as_the_answer_to_the_next_command_lets_two_in() {
    let test = |lock: &'static Definition, expect: Expect| {
        let test = LockTest::new(lock).seeds(0..8).expect(expect);
        test.scenario(|scenario| scenario.calls.cancel = Calls::Release).check_with(&|_| None)
    };
    test(&REUSES, Expect::Violates(vec![Kind::Overlap])).unwrap();
    test(&DROPS, Expect::Safe).unwrap();
    LockTest::new(&REUSES).seeds(0..8).check_with(&|_| None).unwrap();
}
