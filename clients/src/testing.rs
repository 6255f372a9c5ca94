//! A test world with one host, virtual time and simulated servers ([`TestWorld`]).

mod cache;
mod etcd;
mod keeper;
mod server;
mod state;
mod world;

pub(crate) use server::{Answer, Call, normal};
pub(crate) use world::TestWorld;

use crate::env::Address;
use crate::lock::{Acquisition, Lease, Lock, Servers, Settings};
use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

pub(crate) fn settings() -> Settings {
    Settings {
        ttl: Duration::from_secs(10),
        retry: Duration::from_millis(100)..=Duration::from_millis(200),
        acquire_timeout: Duration::from_secs(1),
        command_timeout: Duration::from_millis(500),
        node_timeout: Duration::from_millis(50),
        hears_switches: true,
        lock_delay: None,
        wait: None,
    }
}

pub(crate) fn at(host: &str) -> Address {
    Address { host: host.to_owned(), port: 6379 }
}

pub(crate) fn one() -> Servers {
    Servers::One(at("redis"))
}

pub(crate) fn five() -> Servers {
    Servers::Independent(["m1", "m2", "m3", "m4", "m5"].map(at).to_vec())
}

pub(crate) fn ensemble() -> Servers {
    let member = |host: &str| Address { host: host.to_owned(), port: keeper::KEEPER_PORT };
    Servers::Ensemble(["zk1", "zk2", "zk3"].map(member).to_vec())
}

pub(crate) fn three_keepers(
    name: &str,
    mishaps: impl FnMut(&Call<'_>) -> Answer + 'static,
) -> (Rc<TestWorld>, Box<dyn Lock>) {
    let world = TestWorld::new();
    let mishaps = Rc::new(RefCell::new(mishaps));
    for host in ["zk1", "zk2", "zk3"] {
        let mishaps = mishaps.clone();
        world.serve_keeper(host, move |call| (mishaps.borrow_mut())(call));
    }
    let lock = world.lock(name, &ensemble(), &settings());
    (world, lock)
}

pub(crate) fn sentinels() -> Servers {
    Servers::Sentinels { name: "mymaster".to_owned(), sentinels: ["s1", "s2"].map(at).to_vec() }
}

pub(crate) fn one_redis(
    name: &str,
    mishaps: impl FnMut(&Call<'_>) -> Answer + 'static,
) -> (Rc<TestWorld>, Box<dyn Lock>) {
    let world = TestWorld::new();
    world.serve("redis", mishaps);
    let lock = world.lock(name, &one(), &settings());
    (world, lock)
}

pub(crate) fn one_cache(
    name: &str,
    mishaps: impl FnMut(&Call<'_>) -> Answer + 'static,
) -> (Rc<TestWorld>, Box<dyn Lock>) {
    let world = TestWorld::new();
    let servers = world.serve_cache("cache", mishaps);
    let lock = world.lock(name, &servers, &settings());
    (world, lock)
}

pub(crate) fn once(name: &'static str, answer: Answer) -> impl FnMut(&Call<'_>) -> Answer {
    let mut left = Some(answer);
    move |call| {
        if call.name() == name { left.take().unwrap_or(Answer::Normal) } else { Answer::Normal }
    }
}

pub(crate) fn granted(acquisition: Acquisition) -> Lease {
    match acquisition {
        Acquisition::Granted(lease) => lease,
        other => panic!("not granted: {other:?}"),
    }
}

pub(crate) async fn both<A, B>(
    one: impl Future<Output = A>,
    other: impl Future<Output = B>,
) -> (A, B) {
    let (mut one, mut other) = (std::pin::pin!(one), std::pin::pin!(other));
    let (mut first, mut second) = (None, None);
    std::future::poll_fn(move |context| {
        if first.is_none()
            && let Poll::Ready(value) = one.as_mut().poll(context)
        {
            first = Some(value);
        }
        if second.is_none()
            && let Poll::Ready(value) = other.as_mut().poll(context)
        {
            second = Some(value);
        }
        match (first.take(), second.take()) {
            (Some(first), Some(second)) => Poll::Ready((first, second)),
            (still, waiting) => {
                (first, second) = (still, waiting);
                Poll::Pending
            }
        }
    })
    .await
}
