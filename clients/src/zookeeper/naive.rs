//! `zookeeper-naive` and its variants: the documentation's recipe on the plain client.
//!
//! Sources: articles 001 and 002 on ephemeral sequential nodes; the ZooKeeper documentation,
//! "ZooKeeper Recipes and Solutions", "Locks":
//!
//! ```text
//! acquire: 1. create /lock/node- with the sequence and the ephemeral flag
//!          2. getChildren /lock, without a watch
//!          3. if the own node is the lowest: acquired
//!          4. exists, with a watch, for the node directly before the own node
//!          5. unless that node is gone, wait for the notification; then go back to 2
//! release: delete the own node
//! ```
//!
//! These mistakes remain. After a connection loss the client **retries a create without checking
//! whether the node exists**, although the recipe recommends a GUID. A release that ends in a
//! connection loss **may leave the node**, which blocks later acquires, even by the same process.
//! The holder never checks whether its session has ended.
//!
//! - `zookeeper-naive` follows these steps.
//! - `zookeeper-herd` watches the children of `/lock`, so every change of them wakes all waiters.
//! - `zookeeper-lost-watch` does not set its watches again after a reconnect
//!   (`zookeeper.disableAutoWatchReset`), and waits **without limit for the deletion alone**.

use super::ensemble::{Client, Ensemble};
use super::protocol::{CreateMode, NodeChange, ZooKeeperError};
use super::session::Session;
use super::shared::{AfterLoss, SessionOptions};
use super::watches::{WatchedEvent, Watcher};
use super::{lease_of, parent_of, released};
use crate::env::{Env, Monotonic};
use crate::lock::{
    Acquisition, Algorithm, Definition, Deployment, Lease, Lock, Release, Servers, Settings,
};
use std::rc::Rc;
use std::time::Duration;

const NODE_NAME: &str = "node-";

pub const DEFINITION: Definition = Definition {
    name: "zookeeper-naive",
    about: "ephemeral sequential nodes; each waiter watches its predecessor; creates a second node \
            after a lost reply",
    deployment: Deployment::ZooKeeper,
    has_tokens: false,
    is_fair: true,
    models: None,
    build: |env, servers, settings| build(env, servers, settings, Wait::Predecessor),
};

pub const HERD: Definition = Definition {
    name: "zookeeper-herd",
    about: "zookeeper-naive whose waiters watch the whole queue, so each change wakes them all",
    build: |env, servers, settings| build(env, servers, settings, Wait::AllChildren),
    ..DEFINITION
};

pub const LOST_WATCH: Definition = Definition {
    name: "zookeeper-lost-watch",
    about: "zookeeper-naive that relies on its watches and does not set them again on another \
            server",
    build: |env, servers, settings| build(env, servers, settings, Wait::DeletionOnly),
    ..DEFINITION
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wait {
    /// The wait ends at the acquire timeout, or if the predecessor or the connection changes.
    Predecessor,
    /// The wait ends at the acquire timeout, or if the queue or the connection changes.
    AllChildren,
    DeletionOnly,
}

fn build(env: Env, servers: &Servers, settings: &Settings, wait: Wait) -> Box<dyn Lock> {
    let options = match wait {
        Wait::Predecessor | Wait::AllChildren => SessionOptions::JAVA,
        Wait::DeletionOnly => {
            SessionOptions { after_loss: AfterLoss::Forget, ..SessionOptions::JAVA }
        }
    };
    let client = Client::open(Ensemble::new(&env, servers, settings, options));
    Box::new(Naive { env, client, wait, settings: settings.clone(), watcher: Rc::default() })
}

struct Naive {
    env: Env,
    client: Client,
    wait: Wait,
    settings: Settings,
    watcher: Rc<Watcher>,
}

enum Turn {
    First,
    TooLate,
    Gone,
}

impl Naive {
    async fn create(&self, parent: &str, deadline: Monotonic) -> Result<String, ZooKeeperError> {
        let path = format!("{parent}/{NODE_NAME}");
        self.until_answered(deadline, async |session: Session| {
            match session.create(&path, CreateMode::EphemeralSequential).await {
                Err(ZooKeeperError::NoNode) => {}
                outcome => return outcome,
            }
            match session.create(parent, CreateMode::Persistent).await {
                Ok(_) | Err(ZooKeeperError::NodeExists) => {
                    session.create(&path, CreateMode::EphemeralSequential).await
                }
                outcome => outcome,
            }
        })
        .await
    }

    async fn wait_for_turn(
        &self,
        parent: &str,
        path: &str,
        deadline: Monotonic,
    ) -> Result<Turn, ZooKeeperError> {
        let own = &path[parent.len() + 1..];
        loop {
            self.watcher.clear();
            let queue = self.queue(parent, deadline).await?;
            let Some(place) = queue.iter().position(|name| name == own) else {
                return Ok(Turn::Gone);
            };
            let Some(before) = place.checked_sub(1) else { return Ok(Turn::First) };
            let left = self.env.left(deadline);
            if left.is_zero() && self.wait != Wait::DeletionOnly {
                return Ok(Turn::TooLate);
            }
            let predecessor = format!("{parent}/{}", queue[before]);
            self.wait_for_change(&predecessor, deadline).await?;
        }
    }

    async fn queue(
        &self,
        parent: &str,
        deadline: Monotonic,
    ) -> Result<Vec<String>, ZooKeeperError> {
        let watcher = (self.wait == Wait::AllChildren).then_some(&self.watcher);
        let children = async |session: Session| session.get_children(parent, watcher).await;
        let mut names = self.until_answered(deadline, children).await?;
        names.sort();
        Ok(names)
    }

    async fn wait_for_change(
        &self,
        predecessor: &str,
        deadline: Monotonic,
    ) -> Result<(), ZooKeeperError> {
        if self.wait != Wait::AllChildren {
            let watches =
                async |session: Session| session.exists(predecessor, Some(&self.watcher)).await;
            if self.until_answered(deadline, watches).await?.is_none() {
                return Ok(());
            }
        }
        let is_deletion = |event| event == WatchedEvent::Node(NodeChange::Deleted);
        if self.wait == Wait::DeletionOnly {
            while !is_deletion(self.watcher.next().await) {}
        } else {
            let left = self.env.left(deadline);
            self.env.timeout(left, self.watcher.next()).await;
        }
        Ok(())
    }

    async fn until_answered<T>(
        &self,
        deadline: Monotonic,
        mut operation: impl AsyncFnMut(Session) -> Result<T, ZooKeeperError>,
    ) -> Result<T, ZooKeeperError> {
        loop {
            let outcome = operation(self.client.session()).await;
            let is_over = self.env.left(deadline).is_zero();
            match outcome {
                Err(ZooKeeperError::ConnectionLoss | ZooKeeperError::SessionExpired)
                    if !is_over =>
                {
                    let delay = self.env.jitter(&self.settings.retry);
                    self.env.sleep(delay.max(Duration::from_millis(1))).await;
                }
                outcome => return outcome,
            }
        }
    }

    async fn leave(&self, path: &str) -> Acquisition {
        match self.client.session().delete(path).await {
            Ok(()) | Err(ZooKeeperError::NoNode) => Acquisition::Refused("held by another".into()),
            Err(error) => Acquisition::Unknown(error.to_string()),
        }
    }
}

impl Algorithm for Naive {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let parent = parent_of(resource);
        let deadline = self.env.monotonic_clock().plus(self.settings.acquire_timeout);
        loop {
            let path = match self.create(&parent, deadline).await {
                Ok(path) => path,
                Err(error) => return super::failed(&error),
            };
            match self.wait_for_turn(&parent, &path, deadline).await {
                Ok(Turn::First) => {
                    return Acquisition::Granted(lease_of(resource, &parent, &path, None));
                }
                Ok(Turn::TooLate) => return self.leave(&path).await,
                Ok(Turn::Gone) => {}
                Err(error) => {
                    let _ = self.client.session().delete(&path).await;
                    return super::failed(&error);
                }
            }
        }
    }

    async fn release(&mut self, lease: Lease) -> Release {
        let node = String::from_utf8_lossy(&lease.owner);
        let path = format!("{}/{node}", parent_of(&lease.resource));
        match self.client.session().delete(&path).await {
            Ok(()) => released(Ok(true)),
            Err(ZooKeeperError::NoNode) => released(Ok(false)),
            Err(error) => released(Err(error)),
        }
    }
}
