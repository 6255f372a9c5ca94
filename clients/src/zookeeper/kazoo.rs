//! `kazoo-lock`: the lock of the Python library kazoo.
//!
//! Source: kazoo 2.11.0, `kazoo.recipe.lock.Lock` and `kazoo.retry.KazooRetry`. The calls are
//! `acquire(timeout=...)` and `release()` on one `Lock` object for the life of the process.
//!
//! - A node's name begins with a uuid that **the object never changes**, so the lock finds a node
//!   whose create reply was lost, even if an earlier session created the node.
//! - kazoo does not set watches again after a reconnect, but notifies its watchers of the lost
//!   connection. A waiting lock then checks the queue again.
//! - While the client is disconnected, new requests wait instead of failing.
//! - `release` retries forever after connection losses. A release that finds no node may return
//!   `NotHeld`; the library ignores a missing node.
//! - Each wait for the predecessor lasts up to the whole timeout (`wake_event.wait(timeout)`).

use super::ensemble::{Client, Ensemble};
use super::protocol::{CreateMode, ZooKeeperError};
use super::session::Session;
use super::shared::SessionOptions;
use super::watches::Watcher;
use super::{lease_of, parent_of, released};
use crate::env::{Draw, Env, Monotonic};
use crate::lock::{Acquisition, Algorithm, Definition, Deployment, Lease, Release};
use std::rc::Rc;
use std::time::Duration;

const NODE_NAME: &str = "__lock__";

pub const DEFINITION: Definition = Definition {
    name: "kazoo-lock",
    about: "kazoo's Lock: ephemeral sequential nodes with a uuid; each waiter watches its \
            predecessor",
    deployment: Deployment::ZooKeeper,
    has_tokens: false,
    is_fair: true,
    models: Some("kazoo 2.11.0"),
    build: |env, servers, settings| {
        let client = Client::open(Ensemble::new(&env, servers, settings, SessionOptions::KAZOO));
        let [high, low] = env.randoms(Draw::Owner);
        let prefix = format!("{high:016x}{low:016x}{NODE_NAME}");
        let (timeout, watcher) = (settings.acquire_timeout, Rc::default());
        let state =
            State { create_tried: false, is_acquired: false, assured_path: false, node: None };
        Box::new(KazooLock { env, client, prefix, timeout, watcher, state })
    },
};

struct KazooLock {
    env: Env,
    client: Client,
    prefix: String,
    timeout: Duration,
    watcher: Rc<Watcher>,
    state: State,
}

struct State {
    create_tried: bool,
    is_acquired: bool,
    assured_path: bool,
    node: Option<String>,
}

enum Exception {
    /// The library's `KazooRetry` retries after this exception.
    Retryable(String),
    Final(String),
}

impl From<ZooKeeperError> for Exception {
    fn from(error: ZooKeeperError) -> Exception {
        match error {
            ZooKeeperError::ConnectionLoss | ZooKeeperError::SessionExpired => {
                Exception::Retryable(error.to_string())
            }
            error => Exception::Final(error.to_string()),
        }
    }
}

/// The library's `KazooRetry`. The first delay is 0.1 s, and each further delay is twice the last
/// sleep, up to `delay_max`. Delays vary by up to 40 %.
struct KazooRetry {
    env: Env,
    delay: Duration,
    delay_max: Duration,
    deadline: Option<Monotonic>,
}

impl KazooRetry {
    fn new(env: &Env, delay_max: Duration, deadline: Option<Monotonic>) -> KazooRetry {
        KazooRetry { env: env.clone(), delay: Duration::from_millis(100), delay_max, deadline }
    }

    async fn wait_to_retry(&mut self) -> bool {
        let sleep = self.env.jitter(&(self.delay * 3 / 5..=self.delay * 7 / 5));
        let until = self.env.monotonic_clock().plus(sleep);
        if self.deadline.is_some_and(|deadline| until >= deadline) {
            return false;
        }
        self.env.sleep(sleep).await;
        self.delay = (sleep * 2).min(self.delay_max);
        !self.env.is_interrupted()
    }
}

impl KazooLock {
    /// Follows `_inner_acquire`.
    async fn inner_acquire(&mut self, parent: &str) -> Result<String, Exception> {
        if self.state.is_acquired {
            return Err(Exception::Retryable("this process holds the lock".to_owned()));
        }
        let session = self.client.session();
        if !self.state.assured_path {
            ensure_path(&session, parent).await?;
            self.state.assured_path = true;
        }
        let found = match std::mem::replace(&mut self.state.create_tried, true) {
            true => self.find_node(&session, parent).await?,
            false => None,
        };
        let node = match found {
            Some(node) => node,
            None => self.create(&session, parent).await?,
        };
        self.state.node = Some(node.clone());
        self.wait_for_turn(&session, parent, &node).await?;
        Ok(node)
    }

    async fn create(&self, session: &Session, parent: &str) -> Result<String, ZooKeeperError> {
        let path = format!("{parent}/{}", self.prefix);
        let path = session.create(&path, CreateMode::EphemeralSequential).await?;
        Ok(path[parent.len() + 1..].to_owned())
    }

    async fn wait_for_turn(
        &self,
        session: &Session,
        parent: &str,
        node: &str,
    ) -> Result<(), Exception> {
        loop {
            self.watcher.clear();
            let Some(predecessor) = self.predecessor(session, parent, node).await? else {
                return Ok(());
            };
            let path = format!("{parent}/{predecessor}");
            match session.get_data(&path, Some(&self.watcher)).await {
                Err(ZooKeeperError::NoNode) => continue,
                outcome => outcome?,
            };
            if self.env.timeout(self.timeout, self.watcher.next()).await.is_none() {
                return Err(Exception::Final("held by another".to_owned()));
            }
        }
    }

    async fn predecessor(
        &self,
        session: &Session,
        parent: &str,
        node: &str,
    ) -> Result<Option<String>, Exception> {
        let children = session.get_children(parent, None).await?;
        if !children.iter().any(|child| child == node) {
            return Err(Exception::Retryable("the node is gone".to_owned()));
        }
        let before = |child: &String| number_of(child).is_some_and(|it| Some(it) < number_of(node));
        let contenders = children.into_iter().filter(before);
        Ok(contenders.max_by(|one, other| number_of(one).cmp(&number_of(other))))
    }

    async fn find_node(
        &self,
        session: &Session,
        parent: &str,
    ) -> Result<Option<String>, ZooKeeperError> {
        let children = session.get_children(parent, None).await?;
        Ok(children.into_iter().find(|child| child.starts_with(&self.prefix)))
    }

    /// Follows `_best_effort_cleanup`, but returns the errors, which the library ignores.
    async fn best_effort_cleanup(&self, parent: &str) -> Result<(), ZooKeeperError> {
        let session = self.client.session();
        let node = match &self.state.node {
            Some(node) => Some(node.clone()),
            None => self.find_node(&session, parent).await?,
        };
        match node {
            Some(node) => session.delete(&format!("{parent}/{node}")).await,
            None => Ok(()),
        }
    }

    async fn delete_node(&mut self, resource: &str) -> Release {
        let (true, Some(node)) = (self.state.is_acquired, self.state.node.clone()) else {
            return Release::NotHeld;
        };
        let path = format!("{}/{node}", parent_of(resource));
        let mut retry = KazooRetry::new(&self.env, Duration::from_secs(3_600), None);
        let mut is_sent_again = false;
        let outcome = loop {
            match self.client.session().delete(&path).await {
                Ok(()) => break Ok(true),
                // An earlier request may have deleted the node.
                Err(ZooKeeperError::NoNode) => break Ok(is_sent_again),
                Err(ZooKeeperError::ConnectionLoss | ZooKeeperError::SessionExpired) => {
                    retry.wait_to_retry().await;
                    is_sent_again = true;
                }
                Err(error) => break Err(error),
            }
        };
        if outcome.is_ok() {
            (self.state.is_acquired, self.state.node) = (false, None);
        }
        released(outcome)
    }
}

async fn ensure_path(session: &Session, path: &str) -> Result<(), ZooKeeperError> {
    if session.exists(path, None).await?.is_some() {
        return Ok(());
    }
    match session.create(path, CreateMode::Persistent).await {
        Ok(_) | Err(ZooKeeperError::NodeExists) => Ok(()),
        Err(error) => Err(error),
    }
}

fn number_of(name: &str) -> Option<&str> {
    let number = &name[name.rfind(NODE_NAME)? + NODE_NAME.len()..];
    (number.len() == 10).then_some(number)
}

impl Algorithm for KazooLock {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let parent = parent_of(resource);
        let already_acquired = self.state.is_acquired;
        let deadline = self.env.monotonic_clock().plus(self.timeout);
        let mut retry = KazooRetry::new(&self.env, Duration::from_secs(60), Some(deadline));
        let reason = loop {
            match self.inner_acquire(&parent).await {
                Ok(node) => {
                    self.state.is_acquired = true;
                    let path = format!("{parent}/{node}");
                    return Acquisition::Granted(lease_of(resource, &parent, &path, None));
                }
                Err(Exception::Final(reason)) => break reason,
                Err(Exception::Retryable(_)) if retry.wait_to_retry().await => {}
                Err(Exception::Retryable(reason)) => break reason,
            }
        };
        if already_acquired {
            return Acquisition::Refused("this process has not released the lock yet".into());
        }
        if self.env.is_interrupted() {
            // kazoo cleans up after a `KazooException`, but an interrupt is a `KeyboardInterrupt`.
            return Acquisition::Unknown("interrupted".to_owned());
        }
        match self.best_effort_cleanup(&parent).await {
            Ok(()) | Err(ZooKeeperError::NoNode) => Acquisition::Refused(reason.into()),
            Err(error) => Acquisition::Unknown(error.to_string()),
        }
    }

    async fn release(&mut self, lease: Lease) -> Release {
        self.delete_node(&lease.resource).await
    }
}
