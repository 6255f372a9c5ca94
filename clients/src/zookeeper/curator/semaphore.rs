//! `zookeeper-semaphore`: Curator's non-reentrant lock, a semaphore with one lease. Source: Curator
//! 5.4.0, `InterProcessSemaphoreMutex` and `InterProcessSemaphoreV2` (`internalAcquire1Lease`). A
//! process that holds the semaphore's mutex creates a lease, and waits until no other lease is
//! left. A second acquire by the holder waits for the first lease.

use super::create::{Protection, create_sequential};
use super::lock_internals::LockInternals;
use super::{Curator, Deletion};
use crate::env::WallClock;
use crate::lock::{Acquisition, Algorithm, Definition, Deployment, Lease, Release};
use crate::zookeeper::ensemble::Ensemble;
use crate::zookeeper::protocol::ZooKeeperError;
use crate::zookeeper::session::Session;
use crate::zookeeper::shared::SessionOptions;
use crate::zookeeper::watches::Watcher;
use crate::zookeeper::{failed, lease_of, parent_of, released};
use std::rc::Rc;
use std::time::Duration;

const LEASE_BASE_NAME: &str = "lease-";
const LEASES_MAX: usize = 1;

pub const DEFINITION: Definition = Definition {
    name: "zookeeper-semaphore",
    about: "Curator's InterProcessSemaphoreMutex: one lease, added under a mutex; not reentrant",
    deployment: Deployment::ZooKeeper,
    has_tokens: false,
    is_fair: false,
    models: super::MODELS,
    build: |env, servers, settings| {
        let ensemble = Ensemble::new(&env, servers, settings, SessionOptions::JAVA);
        let curator = Curator::start(&env, ensemble, settings);
        Box::new(Semaphore { curator, wait: settings.acquire_timeout, watcher: Rc::default() })
    },
};

struct Semaphore {
    curator: Curator,
    wait: Duration,
    watcher: Rc<Watcher>,
}

enum Attempt {
    Acquired(String),
    TooLate,
    NodeMissing,
}

impl Semaphore {
    async fn acquire_lease(&self, resource: &str) -> Result<Option<String>, ZooKeeperError> {
        let began = self.curator.env().wall_clock();
        let mut retries = 0;
        loop {
            match self.attempt(resource, began).await? {
                Attempt::Acquired(path) => return Ok(Some(path)),
                Attempt::TooLate => return Ok(None),
                Attempt::NodeMissing if self.curator.allows_retry(retries).await => retries += 1,
                Attempt::NodeMissing => return Err(ZooKeeperError::NoNode),
            }
        }
    }

    async fn attempt(&self, resource: &str, began: WallClock) -> Result<Attempt, ZooKeeperError> {
        let lock = LockInternals::new(
            self.curator.clone(),
            format!("{}/locks", parent_of(resource)),
            Protection::SameSession,
            Deletion::Guaranteed,
        );
        let Some(turn) = lock.attempt_lock(self.left(began)).await? else {
            return Ok(Attempt::TooLate);
        };
        let outcome = self.add_lease(&leases_of(resource), began).await;
        // As in the library, an exception during this release hides `outcome`.
        lock.delete(&turn).await?;
        outcome
    }

    async fn add_lease(&self, parent: &str, began: WallClock) -> Result<Attempt, ZooKeeperError> {
        let path =
            create_sequential(&self.curator, parent, LEASE_BASE_NAME, Protection::SameSession)
                .await?;
        let outcome = self.wait_for_others(parent, path.clone(), began).await;
        if !matches!(outcome, Ok(Attempt::Acquired(_))) {
            // The library's `returnLease` ignores errors.
            let _ = self.curator.delete(&path, Deletion::Guaranteed).await;
        }
        outcome
    }

    async fn wait_for_others(
        &self,
        parent: &str,
        path: String,
        began: WallClock,
    ) -> Result<Attempt, ZooKeeperError> {
        let own = &path[parent.len() + 1..];
        loop {
            self.watcher.clear();
            let children =
                async |session: Session| session.get_children(parent, Some(&self.watcher)).await;
            let leases = self.curator.call(children).await?;
            if !leases.iter().any(|name| name == own) {
                return Ok(Attempt::NodeMissing);
            }
            if leases.len() <= LEASES_MAX {
                return Ok(Attempt::Acquired(path));
            }
            let left = self.left(began);
            if left.is_zero() {
                return Ok(Attempt::TooLate);
            }
            self.curator.env().timeout(left, self.watcher.next()).await;
        }
    }

    fn left(&self, began: WallClock) -> Duration {
        if self.curator.env().is_interrupted() {
            return Duration::ZERO;
        }
        let passed_us = self.curator.env().wall_clock().0 - began.0;
        let span = Duration::from_micros(passed_us.unsigned_abs());
        if passed_us < 0 { self.wait + span } else { self.wait.saturating_sub(span) }
    }
}

fn leases_of(resource: &str) -> String {
    format!("{}/leases", parent_of(resource))
}

impl Algorithm for Semaphore {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        match self.acquire_lease(resource).await {
            Ok(Some(path)) => {
                let parent = leases_of(resource);
                Acquisition::Granted(lease_of(resource, &parent, &path, None))
            }
            Ok(None) => Acquisition::Refused("held by another".into()),
            Err(error) => failed(&error),
        }
    }

    async fn release(&mut self, lease: Lease) -> Release {
        let node = String::from_utf8_lossy(&lease.owner);
        let path = format!("{}/{node}", leases_of(&lease.resource));
        released(self.curator.delete(&path, Deletion::Guaranteed).await)
    }
}
