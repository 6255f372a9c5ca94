//! Locks that leave somebody waiting, written over the public API as a user would, each beside its
//! twin without the mistake.

use fencepost::clients::env::BoxFuture;
use fencepost::clients::owned_key::{delete_if_owned, fresh_owner, set_if_absent};
use fencepost::clients::{
    Acquisition, Definition, Deployment, Env, Lease, Lock, Release, Reply, Script, Session,
    Settings, find,
};
use fencepost::run::verdicts::Findings;
use fencepost::setup::scenario::{Hold, MastersOrder};
use fencepost::setup::span::{Span, SpanRange};
use fencepost::{Engine, RunSpec, Scenario};
use fencepost_faults::{Node, Seed};
use fencepost_reports::{Cause, Kind, RunFacts, Verdict, What};
use std::rc::Rc;
use std::time::Duration;

const LOCK: Definition = Definition {
    name: "planted",
    about: "a lock of a test",
    deployment: Deployment::Primary,
    has_tokens: false,
    is_fair: false,
    models: None,
    build: |_, _, _| panic!("only its twins are built"),
};

fn granted(resource: &str, owner: &[u8]) -> Acquisition {
    let (resource, owner) = (resource.to_owned(), owner.to_vec().into());
    Acquisition::Granted(Lease { resource, owner, token: None, valid_until: None })
}

/// Waits for a message that says that the lock is free.
mod by_message {
    use super::*;

    /// What a waiter does between the refusal and its sleep.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(super) enum Habit {
        /// Nothing: a message that comes before it listens is missed, and it sleeps for ever.
        Trusts,
        /// The same, but it sleeps for a minute at most.
        TrustsForAMinute,
        /// It asks again once it listens.
        AsksAgain,
    }

    pub(super) struct Waiter {
        env: Env,
        redis: Session,
        listening: Session,
        ttl: Duration,
        habit: Habit,
    }

    pub(super) const fn definition(habit: Habit) -> Definition {
        let build: fn(Env, &fencepost::clients::Servers, &Settings) -> Box<dyn Lock> = match habit {
            Habit::Trusts => |env, servers, settings| {
                Box::new(Waiter::new(env, servers, settings, Habit::Trusts))
            },
            Habit::TrustsForAMinute => |env, servers, settings| {
                Box::new(Waiter::new(env, servers, settings, Habit::TrustsForAMinute))
            },
            Habit::AsksAgain => |env, servers, settings| {
                Box::new(Waiter::new(env, servers, settings, Habit::AsksAgain))
            },
        };
        Definition { build, ..LOCK }
    }

    impl Waiter {
        fn new(
            env: Env,
            servers: &fencepost::clients::Servers,
            settings: &Settings,
            habit: Habit,
        ) -> Waiter {
            let session = || Session::primary(&env, servers, settings);
            let (redis, listening) = (session(), session());
            Waiter { env, redis, listening, ttl: settings.ttl, habit }
        }

        async fn obtain(&mut self, key: &str) -> Acquisition {
            let owner = fresh_owner(&self.env);
            loop {
                match self.asks(key, &owner).await {
                    Ok(true) => return granted(key, &owner),
                    Ok(false) => {}
                    Err(error) => return Acquisition::Unknown(error.to_string()),
                }
                let Ok(mut messages) = self.listening.subscribe(&[b"freed"]).await else {
                    return Acquisition::Refused("cannot listen".into());
                };
                if self.habit == Habit::AsksAgain {
                    match self.asks(key, &owner).await {
                        Ok(true) => return granted(key, &owner),
                        Ok(false) => {}
                        Err(error) => return Acquisition::Unknown(error.to_string()),
                    }
                }
                let minute = Duration::from_secs(60);
                match self.habit {
                    Habit::TrustsForAMinute => {
                        drop(self.env.timeout(minute, messages.next()).await)
                    }
                    _ => drop(messages.next().await),
                }
            }
        }

        async fn asks(
            &mut self,
            key: &str,
            owner: &[u8],
        ) -> Result<bool, fencepost::clients::CallError> {
            let ttl_ms = self.ttl.as_millis().to_string();
            set_if_absent(&mut self.redis, key, owner, &ttl_ms).await
        }
    }

    impl Lock for Waiter {
        fn acquire<'a>(&'a mut self, resource: &'a str) -> BoxFuture<'a, Acquisition> {
            Box::pin(self.obtain(resource))
        }

        fn release<'a>(&'a mut self, lease: Lease) -> BoxFuture<'a, Release> {
            Box::pin(async move {
                let ours = delete_if_owned(&mut self.redis, &lease.resource, &lease.owner).await;
                let told = self.redis.call(&[b"PUBLISH", b"freed", b"1"]).await;
                match (ours, told) {
                    (Ok(true), Ok(_)) => Release::Released,
                    (Ok(false), Ok(_)) => Release::NotHeld,
                    (Err(error), _) | (_, Err(error)) => Release::Unknown(error.to_string()),
                }
            })
        }
    }
}

/// A queue at the server: whoever is refused is put at its end and told when it is its turn.
mod in_order {
    use super::*;

    /// KEYS: the lock, the queue. ARGV: the owner, the ttl, how many places a grant takes off the
    /// queue.
    static ASK: Script = Script::new(
        "local head = redis.call('lindex', KEYS[2], 0) \
         if redis.call('exists', KEYS[1]) == 0 and (not head or head == ARGV[1]) then \
           redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2]) \
           if head then for _ = 1, ARGV[3] do redis.call('lpop', KEYS[2]) end end \
           return 1 end \
         if redis.call('lpos', KEYS[2], ARGV[1]) == false then \
           redis.call('rpush', KEYS[2], ARGV[1]) end \
         return 0",
    );
    /// The same for whoever comes first.
    static ASK_ANYHOW: Script = Script::new(
        "if redis.call('exists', KEYS[1]) == 0 then \
           redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2]) \
           redis.call('lrem', KEYS[2], 0, ARGV[1]) \
           return 1 end \
         if redis.call('lpos', KEYS[2], ARGV[1]) == false then \
           redis.call('rpush', KEYS[2], ARGV[1]) end \
         return 0",
    );
    /// KEYS: the lock, the queue. ARGV: the owner, which place of the queue is told.
    static LEAVE: Script = Script::new(
        "if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end \
         redis.call('del', KEYS[1]) \
         local next = redis.call('lindex', KEYS[2], ARGV[2]) \
         if next then redis.call('publish', 'turn:' .. next, '1') end \
         return 1",
    );
    const QUEUE: &[u8] = b"queue";

    pub(super) struct Queued {
        env: Env,
        redis: Session,
        listening: Session,
        ttl: Duration,
        ask: &'static Script,
        pops: &'static str,
        tells: &'static str,
    }

    /// By which script a process asks, how many places a grant takes off the queue, and which place
    /// a release tells.
    macro_rules! definition {
        ($ask:ident, $pops:literal, $tells:literal) => {
            Definition {
                is_fair: true,
                build: |env, servers, settings| {
                    let session = || Session::primary(&env, servers, settings);
                    let (redis, listening) = (session(), session());
                    let (ask, pops, tells) = (&$ask, $pops, $tells);
                    Box::new(Queued { env, redis, listening, ttl: settings.ttl, ask, pops, tells })
                },
                ..LOCK
            }
        };
    }
    pub(super) static SOUND: Definition = definition!(ASK, "1", "0");
    /// A grant also takes the place of the next, who lives.
    pub(super) static DROPS_A_PLACE: Definition = definition!(ASK, "2", "0");
    /// Whoever came last is told first.
    pub(super) static LAST_FIRST: Definition = definition!(ASK_ANYHOW, "1", "-1");

    impl Queued {
        async fn obtain(&mut self, key: &str) -> Acquisition {
            let owner = fresh_owner(&self.env);
            let channel = [&b"turn:"[..], &owner].concat();
            let Ok(mut turns) = self.listening.subscribe(&[&channel]).await else {
                return Acquisition::Refused("cannot listen".into());
            };
            let ttl_ms = self.ttl.as_millis().to_string();
            loop {
                let keys = [key.as_bytes(), QUEUE];
                let arguments = [&owner[..], ttl_ms.as_bytes(), self.pops.as_bytes()];
                match self.ask.call(&mut self.redis, &keys, &arguments).await {
                    Ok(Reply::Integer(1)) => return granted(key, &owner),
                    Ok(_) => drop(turns.next().await),
                    Err(error) => return Acquisition::Unknown(error.to_string()),
                }
            }
        }
    }

    impl Lock for Queued {
        fn acquire<'a>(&'a mut self, resource: &'a str) -> BoxFuture<'a, Acquisition> {
            Box::pin(self.obtain(resource))
        }

        fn release<'a>(&'a mut self, lease: Lease) -> BoxFuture<'a, Release> {
            Box::pin(async move {
                let keys = [lease.resource.as_bytes(), QUEUE];
                match LEAVE
                    .call(&mut self.redis, &keys, &[&lease.owner, self.tells.as_bytes()])
                    .await
                {
                    Ok(Reply::Integer(1)) => Release::Released,
                    Ok(_) => Release::NotHeld,
                    Err(error) => Release::Unknown(error.to_string()),
                }
            })
        }
    }
}

/// Takes two masters one after the other, and gives back what it has if the second is taken.
mod both {
    use super::*;

    pub(super) struct Both {
        env: Env,
        masters: Vec<Session>,
        ttl: Duration,
        delay: Delay,
    }

    #[derive(Clone, Copy)]
    pub(super) enum Delay {
        /// All who lost try again at the next twentieth of a second by the clock on the wall.
        Aligned,
        Random,
    }

    pub(super) static TIES: Definition = Definition {
        deployment: Deployment::Independent,
        build: |env, servers, settings| {
            let masters = Session::independent(&env, servers, settings);
            Box::new(Both { env, masters, ttl: settings.ttl, delay: Delay::Aligned })
        },
        ..LOCK
    };
    pub(super) static SETTLES: Definition = Definition {
        build: |env, servers, settings| {
            let masters = Session::independent(&env, servers, settings);
            Box::new(Both { env, masters, ttl: settings.ttl, delay: Delay::Random })
        },
        ..TIES
    };

    impl Both {
        fn pause(&self) -> Duration {
            const PERIOD: u64 = 50_000;
            match self.delay {
                Delay::Aligned => {
                    let past = self.env.wall_clock().0.rem_euclid(PERIOD as i64);
                    Duration::from_micros(PERIOD - past.unsigned_abs())
                }
                Delay::Random => {
                    self.env.jitter(&(Duration::ZERO..=Duration::from_micros(2 * PERIOD)))
                }
            }
        }

        async fn obtain(&mut self, key: &str) -> Acquisition {
            let ttl_ms = self.ttl.as_millis().to_string();
            for _ in 0..8 {
                let owner = fresh_owner(&self.env);
                let mut taken = 0;
                for master in &mut self.masters {
                    match set_if_absent(master, key, &owner, &ttl_ms).await {
                        Ok(true) => taken += 1,
                        Ok(false) => break,
                        Err(error) => return Acquisition::Unknown(error.to_string()),
                    }
                }
                if taken == self.masters.len() {
                    return granted(key, &owner);
                }
                for master in self.masters.iter_mut().take(taken) {
                    if let Err(error) = delete_if_owned(master, key, &owner).await {
                        return Acquisition::Unknown(error.to_string());
                    }
                }
                self.env.sleep(self.pause()).await;
            }
            Acquisition::Refused("held by another".into())
        }
    }

    impl Lock for Both {
        fn acquire<'a>(&'a mut self, resource: &'a str) -> BoxFuture<'a, Acquisition> {
            Box::pin(self.obtain(resource))
        }

        fn release<'a>(&'a mut self, lease: Lease) -> BoxFuture<'a, Release> {
            Box::pin(async move {
                let mut answer = Release::Released;
                for master in &mut self.masters {
                    match delete_if_owned(master, &lease.resource, &lease.owner).await {
                        Ok(true) => {}
                        Ok(false) => answer = Release::NotHeld,
                        Err(error) => return Release::Unknown(error.to_string()),
                    }
                }
                answer
            })
        }
    }
}

/// Short sections and little time between them, so that processes meet.
fn busy() -> Scenario {
    let ms = Span::millis;
    Scenario {
        hold: Hold::Drawn(SpanRange::new(ms(1), ms(5))),
        think: SpanRange::new(ms(1), ms(4)),
        ..Scenario::default()
    }
}

/// Two processes over two masters, each of which begins with another.
fn in_step() -> Scenario {
    let ms = Span::millis;
    Scenario {
        processes: 2,
        cycles: 3,
        masters: 2,
        masters_order: MastersOrder::Rotated,
        hold: Hold::Drawn(SpanRange::new(ms(10), ms(10))),
        think: SpanRange::new(Span::default(), Span::default()),
        latency: SpanRange::new(ms(2), ms(2)),
        ..Scenario::default()
    }
}

fn run(client: &'static Definition, fault: &str, seed: u64, scenario: Scenario) -> RunFacts {
    let families = fault.parse().unwrap();
    let spec = RunSpec::draw(Seed(seed), client, &families, Rc::new(scenario));
    let outcome = spec.run(Engine::Fast).unwrap();
    Findings { spec: &spec, outcome: &outcome }.facts()
}

/// What the seeds from 0 show, each rule with its cause.
pub(super) fn shown(
    client: &'static Definition,
    seeds: u64,
    scenario: &Scenario,
) -> Vec<(Kind, Cause)> {
    let runs = (0..seeds).map(|seed| run(client, "none", seed, scenario.clone()));
    let mut shown: Vec<(Kind, Cause)> =
        runs.flat_map(|run| run.violations).map(|one| (one.kind, one.cause)).collect();
    shown.sort();
    shown.dedup();
    shown
}

pub(super) fn is_quiet(client: &'static Definition, seeds: u64, scenario: &Scenario) {
    for seed in 0..seeds {
        let run = run(client, "none", seed, scenario.clone());
        assert_eq!(run.verdict, Verdict::Valid, "seed {seed}: {:?}", run.violations);
    }
}

#[test]
fn a_waiter_that_misses_the_message_waits_for_ever() {
    static MISSES: Definition = by_message::definition(by_message::Habit::Trusts);
    static HEARS: Definition = by_message::definition(by_message::Habit::AsksAgain);
    assert_eq!(shown(&MISSES, 10, &busy()), [(Kind::Deadlock, Cause::MissedWakeup)]);
    is_quiet(&HEARS, 10, &busy());
}

#[test]
fn a_waiter_that_misses_the_message_and_sleeps_long_is_starved() {
    static MISSES: Definition = by_message::definition(by_message::Habit::TrustsForAMinute);
    let found = shown(&MISSES, 10, &busy());
    assert!(found.contains(&(Kind::Starved, Cause::MissedWakeup)), "{found:?}");
    assert!(found.iter().all(|(kind, _)| *kind != Kind::Deadlock), "a timer lies ahead: {found:?}");
}

#[test]
fn a_fair_lock_that_drops_the_place_of_a_live_waiter_leaves_it_waiting() {
    let found = shown(&in_order::DROPS_A_PLACE, 10, &busy());
    assert!(found.contains(&(Kind::Deadlock, Cause::MissedWakeup)), "{found:?}");
    is_quiet(&in_order::SOUND, 10, &busy());
}

#[test]
fn a_fair_lock_that_serves_the_last_first_passes_others_over() {
    let many = Scenario { processes: 6, cycles: 60, ..busy() };
    let found = shown(&in_order::LAST_FIRST, 5, &many);
    assert_eq!(found, [(Kind::Starved, Cause::LostPlace)]);
    is_quiet(&in_order::SOUND, 5, &many);
}

#[test]
fn two_processes_that_tie_over_two_masters_use_up_their_attempts() {
    assert_eq!(shown(&both::TIES, 5, &in_step()), [(Kind::Stuck, Cause::Interleaving)]);
    is_quiet(&both::SETTLES, 5, &in_step());
}

#[test]
fn servers_and_sentinels_that_tick_are_nothing_that_could_wake_a_waiter() {
    // Faults bring Sentinels; the run then goes on until its time is over.
    static MISSES: Definition = by_message::definition(by_message::Habit::Trusts);
    let mut hung = 0;
    for seed in 0..30 {
        let families = "replication-lag".parse().unwrap();
        let spec = RunSpec::draw(Seed(seed), &MISSES, &families, Rc::new(busy()));
        let outcome = spec.run(Engine::Fast).unwrap();
        let events = &outcome.history.events;
        let sleeps = events.iter().rev().find_map(|event| match event.what {
            What::Silent { ahead, .. } => Some((event.time_us, ahead)),
            _ => None,
        });
        // Nobody who sleeps has set a timer.
        let Some((_, ahead)) = sleeps.filter(|told| events.last().unwrap().time_us == told.0)
        else {
            continue;
        };
        assert!(!ahead, "seed {seed}");
        let facts = Findings { spec: &spec, outcome: &outcome }.facts();
        let mut kinds = facts.violations.iter().map(|one| one.kind);
        assert!(kinds.any(|kind| kind == Kind::Deadlock), "seed {seed}");
        hung += 1;
    }
    assert!(hung > 1, "{hung} runs hung");
}

#[test]
fn a_dead_holder_whose_lease_runs_out_is_not_what_keeps_waiters_asleep() {
    static MISSES: Definition = by_message::definition(by_message::Habit::Trusts);
    static SLEEPS: Definition = by_message::definition(by_message::Habit::TrustsForAMinute);
    let mut kinds = Vec::new();
    for client in [&MISSES, &SLEEPS] {
        for seed in 0..20 {
            for one in run(client, "client-crash", seed, Scenario::default()).violations {
                let (kind, cause) = (one.kind, one.cause);
                assert_ne!(cause, Cause::HolderCrash, "seed {seed}: {}", one.summary);
                kinds.push(kind);
            }
        }
    }
    assert!(kinds.contains(&Kind::Deadlock) && kinds.contains(&Kind::Stuck), "{kinds:?}");
}

#[test]
fn the_world_tells_of_no_silence_where_all_goes_well() {
    let spec = RunSpec::draw(
        Seed(1),
        find("single-node").unwrap(),
        &"none".parse().unwrap(),
        Rc::new(Scenario::default()),
    );
    for engine in [Engine::Fast, Engine::Turmoil] {
        let history = spec.run(engine).unwrap().history;
        assert!(!history.events.iter().any(|event| matches!(event.what, What::Silent { .. })));
    }
}

#[test]
fn both_engines_know_the_same_of_what_lay_ahead() {
    static MISSES: Definition = by_message::definition(by_message::Habit::Trusts);
    let families = "none".parse().unwrap();
    let told = |seed, engine| {
        let spec = RunSpec::draw(Seed(seed), &MISSES, &families, Rc::new(busy()));
        let history = spec.run(engine).unwrap().history;
        let silent = history.events.into_iter().filter(|event| {
            event.node != Node::Storage && matches!(event.what, What::Silent { ahead: false, .. })
        });
        silent.collect::<Vec<_>>()
    };
    let fast: Vec<_> = (0..4).map(|seed| told(seed, Engine::Fast)).collect();
    assert!(fast.iter().any(|told| !told.is_empty()));
    assert_eq!(fast, (0..4).map(|seed| told(seed, Engine::Turmoil)).collect::<Vec<_>>());
}
