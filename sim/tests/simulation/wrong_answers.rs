use crate::drawn::{drawn, drawn_of, facts, violations};
use crate::planted::{LOCK, granted};
use fencepost::Scenario;
use fencepost::clients::owned_key::{delete_if_owned, fresh_owner, set_if_absent};
use fencepost::clients::{
    Acquisition, Algorithm, CallError, Definition, Env, Lease, Release, Servers, Session, Settings,
    find,
};
use fencepost::setup::scenario::ClientCalls;
use fencepost::setup::span::Span;
use fencepost_reports::{Cause, Kind};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

const SEEDS: u64 = 60;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Habit {
    Believes,
    Doubts,
}

struct Resender {
    env: Env,
    redis: Session,
    ttl_ms: String,
    habit: Habit,
}

const fn definition(habit: Habit) -> Definition {
    Definition {
        name: "resender",
        build: match habit {
            Habit::Believes => |env, servers, settings| {
                Box::new(Resender::new(env, servers, settings, Habit::Believes))
            },
            Habit::Doubts => |env, servers, settings| {
                Box::new(Resender::new(env, servers, settings, Habit::Doubts))
            },
        },
        ..LOCK
    }
}

impl Resender {
    fn new(env: Env, servers: &Servers, settings: &Settings, habit: Habit) -> Resender {
        let redis = Session::primary(&env, servers, settings);
        Resender { env, redis, ttl_ms: settings.ttl.as_millis().to_string(), habit }
    }

    fn is_certain(&self, first: &CallError) -> bool {
        self.habit == Habit::Believes || !first.may_have_applied()
    }
}

impl Algorithm for Resender {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let owner = fresh_owner(&self.env);
        let first = loop {
            match set_if_absent(&mut self.redis, resource, &owner, &self.ttl_ms).await {
                Ok(true) => return granted(resource, &owner),
                Ok(false) => self.env.sleep(Duration::from_secs(3)).await,
                Err(error) => break error,
            }
        };
        match set_if_absent(&mut self.redis, resource, &owner, &self.ttl_ms).await {
            Ok(true) => granted(resource, &owner),
            Ok(false) if self.is_certain(&first) => Acquisition::Refused("taken".into()),
            Ok(false) => Acquisition::Unknown(first.to_string()),
            Err(error) => Acquisition::Unknown(error.to_string()),
        }
    }

    async fn release(&mut self, lease: Lease) -> Release {
        let first = match delete_if_owned(&mut self.redis, &lease.resource, &lease.owner).await {
            Ok(true) => return Release::Released,
            Ok(false) => return Release::NotHeld,
            Err(error) => error,
        };
        match delete_if_owned(&mut self.redis, &lease.resource, &lease.owner).await {
            Ok(true) => Release::Released,
            Ok(false) if self.is_certain(&first) => Release::NotHeld,
            Ok(false) => Release::Unknown(first.to_string()),
            Err(error) => Release::Unknown(error.to_string()),
        }
    }
}

fn wrong_answers(client: &'static Definition, family: &str) -> (u64, BTreeSet<String>) {
    wrong_answers_within(Scenario::default(), client, family)
}

fn wrong_answers_within(
    scenario: Scenario,
    client: &'static Definition,
    family: &str,
) -> (u64, BTreeSet<String>) {
    let scenario = Rc::new(scenario);
    let (mut runs, mut said) = (0, BTreeSet::new());
    for seed in 0..SEEDS {
        let facts = facts(&drawn_of(client, family, seed, scenario.clone()));
        assert!(facts.acquisitions > 0, "{family} {seed}");
        let found = facts.violations.iter();
        let wrong: Vec<_> = found.filter(|one| one.kind == Kind::WrongAnswer).collect();
        runs += u64::from(!wrong.is_empty());
        for one in wrong {
            assert_eq!(one.cause, Cause::LostReply, "{family} {seed}: {}", one.summary);
            let words = one.summary.split(' ').skip(4).take(6);
            said.insert(words.collect::<Vec<_>>().join(" "));
        }
    }
    (runs, said)
}

#[test]
fn who_takes_the_second_answer_for_the_only_one_tells_what_is_not_so() {
    static BELIEVES: Definition = definition(Habit::Believes);
    static DOUBTS: Definition = definition(Habit::Doubts);
    let mut all = BTreeSet::new();
    for family in ["lost-reply", "partition"] {
        let (runs, said) = wrong_answers(&BELIEVES, family);
        println!("{family}: wrong answers in {runs} of {SEEDS} runs: {said:?}");
        assert!(runs > 0, "{family}");
        all.extend(said);
        assert_eq!(wrong_answers(&DOUBTS, family).0, 0, "{family}");
    }
    let both = ["it did not get the lock,", "it no longer held the lock,"].map(str::to_owned);
    assert_eq!(all, BTreeSet::from(both));
}

/// The connection breaks before the server syncs and commits a row. ShedLock reports a refusal.
#[test]
fn a_refusal_after_a_broken_connection_is_a_wrong_answer() {
    let calls = ClientCalls { acquire_timeout: Span::secs(2), ..ClientCalls::default() };
    let impatient = Scenario { calls, ..Scenario::default() };
    let shedlock = find("shedlock-db-time").unwrap();
    let (runs, said) = wrong_answers_within(impatient, shedlock, "lost-reply");
    println!("wrong answers in {runs} of {SEEDS} runs: {said:?}");
    assert!(runs > 0);
    assert_eq!(said, BTreeSet::from(["it did not get the lock,".to_owned()]));
}

#[test]
fn a_delete_that_is_sent_again_and_finds_nothing_has_done_what_it_was_sent_for() {
    // Curator and kazoo ignore a `NoNode` error when they release a lock.
    for name in ["curator-mutex", "kazoo-lock", "zookeeper-semaphore"] {
        assert_eq!(wrong_answers(find(name).unwrap(), "partition").0, 0, "{name}");
    }
}

#[test]
fn the_textbook_locks_tell_nothing_that_is_not_so() {
    for name in ["single-node", "redlock", "fencing"] {
        for family in ["lost-reply", "latency", "slow-server"] {
            assert_eq!(wrong_answers(find(name).unwrap(), family).0, 0, "{name} {family}");
        }
    }
}

#[test]
fn a_gemfire_member_that_departed_does_not_say_that_a_grantor_that_missed_it_released_its_lock() {
    let violations = violations(&drawn("gemfire", "partition", 91, Scenario::default()));
    assert!(violations.is_empty(), "{violations:?}");
}
