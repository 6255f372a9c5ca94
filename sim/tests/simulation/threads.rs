use crate::drawn::{drawn, drawn_of, facts};
use crate::planted::{LOCK, granted};
use fencepost::clients::owned_key::{delete_if_owned, fresh_owner};
use fencepost::clients::spring_registry::OBTAIN;
use fencepost::clients::{
    Acquisition, Algorithm, Definition, Env, Lease, Lock, Release, Reply, Servers, Session,
    Settings, find,
};
use fencepost::testing::{Expect, Kind, LockTest};
use fencepost::{Engine, RunOutcome, RunSpec, Scenario};
use fencepost_faults::{Fault, FaultPlan, Micros, Node, SimTime, TimedFault};
use fencepost_reports::{Action, Cause, RunFacts, What};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

static LEAKY: Definition = Definition {
    name: "leaky-registry",
    about: "one owner id per process in Redis by Lua, and no lock inside the process",
    build: |env, servers, settings| {
        let client_id = String::from_utf8_lossy(&fresh_owner(&env)).into();
        Box::new(Leaky::new(client_id, env, servers, settings))
    },
    ..LOCK
};

struct Leaky {
    client_id: Rc<str>,
    env: Env,
    servers: Servers,
    settings: Settings,
    redis: Session,
}

impl Leaky {
    fn new(client_id: Rc<str>, env: Env, servers: &Servers, settings: &Settings) -> Leaky {
        let redis = Session::primary(&env, servers, settings);
        Leaky { client_id, env, servers: servers.clone(), settings: settings.clone(), redis }
    }
}

impl Algorithm for Leaky {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let ttl_ms = self.settings.ttl.as_millis().to_string();
        let deadline = self.env.monotonic_clock().plus(self.settings.acquire_timeout);
        loop {
            let arguments = [self.client_id.as_bytes(), ttl_ms.as_bytes()];
            match OBTAIN.call(&mut self.redis, &[resource.as_bytes()], &arguments).await {
                Ok(Reply::Integer(1)) => return granted(resource, self.client_id.as_bytes()),
                Ok(_) if self.env.monotonic_clock() >= deadline => {
                    return Acquisition::Refused("held".into());
                }
                Ok(_) => self.env.sleep(Duration::from_millis(100)).await,
                Err(error) => return Acquisition::Unknown(error.to_string()),
            }
        }
    }

    async fn release(&mut self, lease: Lease) -> Release {
        match delete_if_owned(&mut self.redis, &lease.resource, &lease.owner).await {
            Ok(true) => Release::Released,
            Ok(false) => Release::NotHeld,
            Err(error) => Release::Unknown(error.to_string()),
        }
    }

    fn for_thread(&self, env: Env) -> Option<Box<dyn Lock>> {
        Some(Box::new(Leaky::new(self.client_id.clone(), env, &self.servers, &self.settings)))
    }
}

const FIRST: Node = Node::Client(1);
const SECOND: Node = Node::Thread { client: 1, thread: 2 };

fn threads(client: &'static Definition) -> LockTest {
    LockTest::new(client).scenario(|scenario| scenario.threads = 2)
}

fn run(client: &'static Definition, fault: &str, seed: u64) -> RunFacts {
    facts(&drawn_of(client, fault, seed, Scenario { threads: 2, ..Scenario::default() }))
}

#[test]
fn a_registry_with_a_lock_inside_the_process_keeps_its_threads_apart() {
    let spring = find("spring-registry").unwrap();
    let sum = threads(spring).seeds(0..60).expect(Expect::Safe).run();
    assert_eq!((sum.cells[0].runs, sum.cells[0].valid), (60, 60));
}

#[test]
fn a_registry_without_it_lets_two_threads_in_under_one_owner() {
    let overlaps = Expect::Violates(vec![Kind::Overlap]);
    threads(&LEAKY).seeds(0..3).expect(overlaps).run();
    for seed in 0..3 {
        let mut found = run(&LEAKY, "none", seed).violations.into_iter();
        let overlap = found.find(|one| one.kind == Kind::Overlap).unwrap();
        assert_eq!(overlap.cause, Cause::SharedOwner, "seed {seed}: {}", overlap.summary);
        let machines: BTreeSet<Node> =
            overlap.processes.iter().map(|node| node.machine()).collect();
        assert_eq!(
            (overlap.processes.len(), machines.len()),
            (2, 1),
            "seed {seed}: {}",
            overlap.summary
        );
    }
    let alone =
        threads(&LEAKY).scenario(|scenario| (scenario.threads, scenario.processes) = (2, 1));
    alone.seeds(0..3).expect(Expect::Violates(vec![Kind::Overlap])).run();
}

#[test]
fn the_same_registry_is_safe_with_one_thread() {
    LockTest::new(&LEAKY).seeds(0..20).expect(Expect::Safe).run();
}

#[test]
fn what_a_partition_does_to_threads_is_explained() {
    let spring = find("spring-registry").unwrap();
    let violations = (0..40).flat_map(|seed| run(spring, "partition", seed).violations);
    let causes: Vec<(Kind, Cause)> = violations.map(|one| (one.kind, one.cause)).collect();
    assert!(causes.iter().any(|(kind, _)| *kind == Kind::Overlap), "{causes:?}");
    assert!(causes.iter().all(|(_, cause)| *cause != Cause::Unexplained), "{causes:?}");
}

fn hit(client: &'static Definition, fault: Fault, at: u64) -> RunOutcome {
    let scenario = Scenario { threads: 2, processes: 2, ..Scenario::default() };
    let plan = FaultPlan::new(vec![TimedFault { id: 1, at_us: SimTime(at), fault }]);
    let spec = RunSpec { plan, ..drawn_of(client, "none", 1, scenario) };
    spec.validate().unwrap();
    let outcome = spec.run(Engine::Fast).unwrap();
    assert_eq!(spec.run(Engine::Turmoil).unwrap(), outcome);
    outcome
}

fn both_busy(client: &'static Definition, from: u64) -> u64 {
    let quiet =
        hit(client, Fault::Pause { node: Node::Client(2), duration_us: Micros(1) }, 60_000_000);
    let mut busy: BTreeSet<Node> = BTreeSet::new();
    for event in quiet.history.events.iter().filter(|event| event.node.machine() == FIRST) {
        match &event.what {
            What::Invoke { action: Action::Acquire, .. } => {
                busy.insert(event.node);
            }
            What::Invoke { action: Action::Release, .. } => {
                busy.remove(&event.node);
            }
            _ => {}
        }
        if busy.len() == 2 && event.time_us.0 > from {
            return event.time_us.0 + 1_000;
        }
    }
    panic!("both threads are never busy")
}

fn told_of(thread: Node, outcome: &RunOutcome) -> Vec<(u64, &What)> {
    let events = outcome.history.events.iter().filter(|event| event.node == thread);
    let acts = events.filter(|event| matches!(event.what, What::Invoke { .. } | What::Ok { .. }));
    acts.map(|event| (event.time_us.0, &event.what)).collect()
}

#[test]
fn a_crash_takes_all_threads_down_and_each_goes_on_after_the_restart() {
    for client in ["spring-registry", "redisson"].map(|name| find(name).unwrap()) {
        let (at, down) = (both_busy(client, 1_000_000), 700_000);
        let outcome = hit(client, Fault::Crash { node: FIRST, down_us: Some(Micros(down)) }, at);
        for thread in [FIRST, SECOND] {
            let told = told_of(thread, &outcome);
            assert!(
                !told.iter().any(|(time, _)| (at + 100..at + down).contains(time)),
                "{thread} is dead"
            );
            assert!(told.iter().any(|(time, _)| *time > at + down), "{thread} goes on");
        }
        let crashes =
            outcome.history.events.iter().filter(|event| matches!(event.what, What::Crashed));
        assert_eq!(
            crashes.map(|event| event.node).collect::<Vec<_>>(),
            [FIRST],
            "a process dies once, as a whole"
        );
        assert_eq!(fencepost_reports::judge(&outcome.history).violations, []);
    }
}

#[test]
fn a_process_that_dies_for_good_ends_all_its_threads() {
    let outcome = hit(
        find("spring-registry").unwrap(),
        Fault::Crash { node: FIRST, down_us: None },
        5_000_000,
    );
    let dies = outcome
        .history
        .events
        .iter()
        .position(|event| matches!(event.what, What::Crashed))
        .unwrap();
    assert!(outcome.history.events[dies + 1..].iter().all(|event| event.node.machine() != FIRST));
    let limit = SimTime(Scenario::default().timing.max_time.0.0);
    assert!(outcome.virtual_time < limit, "nobody is waited for");
}

#[test]
fn a_thread_that_waits_inside_a_process_that_stands_still_goes_on_after_it() {
    let spring = find("spring-registry").unwrap();
    let (at, length) = (both_busy(spring, 1_000_000), 3_000_000);
    let outcome = hit(spring, Fault::Pause { node: FIRST, duration_us: Micros(length) }, at);
    for thread in [FIRST, SECOND] {
        let told = told_of(thread, &outcome);
        assert!(
            !told.iter().any(|(time, _)| (at + 100..at + length).contains(time)),
            "{thread} stands still"
        );
        let granted = |what: &What| matches!(what, What::Ok { owner: Some(_), .. });
        assert!(
            told.iter().any(|(time, what)| *time > at + length && granted(what)),
            "{thread} gets its turn"
        );
    }
}

#[test]
fn a_plan_that_names_a_thread_is_refused() {
    let spec = drawn("redisson", "none", 1, Scenario { threads: 2, ..Scenario::default() });
    let fault = Fault::Pause { node: SECOND, duration_us: Micros(5) };
    let plan = FaultPlan::new(vec![TimedFault { id: 1, at_us: SimTime(1), fault }]);
    let refused = RunSpec { plan, ..spec }.validate().unwrap_err().to_string();
    assert!(refused.contains("fault 1 of the plan names client-1.2"), "{refused}");
}
