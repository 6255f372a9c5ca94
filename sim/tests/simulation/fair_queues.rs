use super::waiting::{assert_quiet, shown};
use fencepost::Scenario;
use fencepost::clients::{
    Acquisition, Algorithm, CLIENTS, Definition, Deployment, Env, Lease, Lock, Release, find,
};
use fencepost::setup::scenario::ClientCalls;
use fencepost::setup::span::Span;
use fencepost_reports::{Cause, Kind};
use std::ops::RangeInclusive;
use std::time::Duration;

const LATE: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(120);

static LATE_COMER: Definition = Definition {
    name: "late-comer",
    build: |env, servers, settings| {
        let inner = (mutex().build)(env.clone(), servers, settings);
        Box::new(LateStarter { env, inner })
    },
    ..fencepost::clients::zookeeper::curator::mutex::DEFINITION
};

struct LateStarter {
    env: Env,
    inner: Box<dyn Lock>,
}

impl Algorithm for LateStarter {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let late = self.env.jitter(&LATE);
        self.env.sleep(late).await;
        self.inner.acquire(resource).await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        self.inner.release(lease).await
    }
}

fn mutex() -> &'static Definition {
    find("curator-mutex").unwrap()
}

fn busy() -> Scenario {
    Scenario {
        cycles: 10,
        calls: ClientCalls { acquire_timeout: Span::secs(300), ..ClientCalls::default() },
        ..Scenario::default()
    }
}

#[test]
fn a_lock_that_takes_its_place_late_is_passed_over_and_curators_is_not() {
    // A late starter that has not yet joined the queue sleeps even while the lock is free.
    let found = shown(&LATE_COMER, 3, &busy());
    assert!(found.contains(&(Kind::Starved, Cause::LostPlace)), "{found:?}");
    assert_quiet(mutex(), 3, &busy());
}

#[test]
fn every_queue_of_zookeeper_promises_its_order_and_a_semaphore_does_not() {
    let fair = |name: &str| find(name).unwrap().is_fair;
    let queues = CLIENTS.iter().filter(|lock| lock.deployment == Deployment::ZooKeeper);
    let unfair: Vec<&str> = queues.map(|lock| lock.name).filter(|name| !fair(name)).collect();
    assert_eq!(unfair, ["zookeeper-semaphore"]);
}
