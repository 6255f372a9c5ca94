//! Curator's client ([`Curator`]): retries, new sessions, and the connection state for listeners.
//!
//! Source: Curator 5.4.0 (`CuratorZookeeperClient`, `ConnectionState`, `ConnectionStateManager`,
//! `RetryLoop`, `ExponentialBackoffRetry`):
//!
//! - An operation waits for a connection, at most for the connection timeout. Curator retries the
//!   operation up to three times, for example after a connection loss (`callWithRetry`).
//! - The state is SUSPENDED when the connection is lost, and LOST when the session has ended. If
//!   the connection stays SUSPENDED for the session timeout, Curator treats the session as expired
//!   **without asking a server** (`checkSessionExpiration`), although its nodes may still exist on
//!   the servers.
//! - Curator measures this time and the locks' waits with the wall clock (`currentTimeMillis`).
//!
//! The connection timeout is a quarter of the session's, as in Curator's defaults. The retry policy
//! is `ExponentialBackoffRetry(base, 3)`; the base is the settings' shortest retry delay, but at
//! least 1 ms. Unlike the library, the model does not remove watchers after an operation.

pub mod create;
pub mod lock_internals;
pub mod mutex;
pub mod semaphore;

use super::ensemble::Ensemble;
use super::protocol::ZooKeeperError;
use super::session::Session;
use super::watches::{WatchedEvent, Watcher};
use crate::env::{Draw, Env, Spawned, WallClock};
use crate::lock::Settings;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

pub const MODELS: Option<&str> = Some("Curator 5.4.0 on the Java client of ZooKeeper 3.8");

const RETRIES: u32 = 3;

const RETRY_BASE_MIN: Duration = Duration::from_millis(1);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deletion {
    /// If all retries fail, the node may remain.
    Once,
    /// If all retries fail, Curator retries in the background (`delete().guaranteed()`).
    Guaranteed,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConnectionState {
    Latent,
    Connected,
    Suspended,
    /// The session has ended, or Curator assumes that it has ended.
    Lost,
}

/// The client of a process. Clones share its session.
#[derive(Clone)]
pub struct Curator(Rc<Owner>);

/// A call inside another call shares the outer call's retries, and the first success ends both
/// loops (`ThreadLocalRetryLoop`).
#[derive(Default)]
pub struct RetryLoop {
    retries: Cell<u32>,
    is_done: Cell<bool>,
}

struct Owner {
    core: Rc<Core>,
    manager: Option<Spawned>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        if let Some(manager) = self.manager.take() {
            manager.abort();
        }
    }
}

struct Core {
    env: Env,
    ensemble: Ensemble,
    connection_timeout: Duration,
    retry_base: Duration,
    watcher: Rc<Watcher>,
    session: RefCell<Session>,
    state: Cell<ConnectionState>,
    suspended_since: Cell<Option<WallClock>>,
    interruptions: Cell<u64>,
    wakers: RefCell<Vec<Waker>>,
}

impl Curator {
    pub fn start(env: &Env, ensemble: Ensemble, settings: &Settings) -> Curator {
        let watcher = Rc::<Watcher>::default();
        let core = Rc::new(Core {
            env: env.clone(),
            session: RefCell::new(ensemble.open(watcher.clone())),
            ensemble,
            connection_timeout: settings.ttl / 4,
            retry_base: (*settings.retry.start()).max(RETRY_BASE_MIN),
            watcher,
            state: Cell::new(ConnectionState::Latent),
            suspended_since: Cell::new(None),
            interruptions: Cell::new(0),
            wakers: RefCell::default(),
        });
        let manager = Some(env.spawn(manage(core.clone())));
        Curator(Rc::new(Owner { core, manager }))
    }

    pub fn env(&self) -> &Env {
        &self.0.core.env
    }

    pub fn session(&self) -> Session {
        self.0.core.session.borrow().clone()
    }

    pub async fn call<T>(
        &self,
        operation: impl AsyncFnMut(Session) -> Result<T, ZooKeeperError>,
    ) -> Result<T, ZooKeeperError> {
        let outcome = self.call_in(&RetryLoop::default(), operation).await?;
        outcome.ok_or(ZooKeeperError::ConnectionLoss)
    }

    /// Returns `None` if a nested call has ended the loop, so that the outer call must not retry.
    pub async fn call_in<T>(
        &self,
        retry_loop: &RetryLoop,
        mut operation: impl AsyncFnMut(Session) -> Result<T, ZooKeeperError>,
    ) -> Result<Option<T>, ZooKeeperError> {
        self.wait_until_connected().await;
        loop {
            match operation(self.session()).await {
                Ok(value) => {
                    retry_loop.is_done.set(true);
                    return Ok(Some(value));
                }
                Err(error)
                    if is_retryable(&error)
                        && self.allows_retry(retry_loop.retries.get()).await => {}
                Err(error) => return Err(error),
            }
            if retry_loop.is_done.get() {
                return Ok(None);
            }
            retry_loop.retries.set(retry_loop.retries.get() + 1);
        }
    }

    /// Sleeps before a retry. Returns `false` if interrupted, or if the policy allows no retry.
    pub async fn allows_retry(&self, retries: u32) -> bool {
        if retries >= RETRIES {
            return false;
        }
        let core = &self.0.core;
        let bits = core.env.random(Draw::Jitter) >> (64 - (retries + 1));
        core.env.sleep(core.retry_base * u32::try_from(bits).unwrap_or(1).max(1)).await;
        !core.env.is_interrupted()
    }

    /// Returns `false` if the first request finds no node. After a later request, a missing node
    /// counts as deleted, because an earlier request may have deleted it. Curator ignores a missing
    /// node (`LockInternals.deleteOurPath`).
    pub async fn delete(&self, path: &str, deletion: Deletion) -> Result<bool, ZooKeeperError> {
        let mut sent = 0_u32;
        let deletes = async |session: Session| {
            sent += 1;
            session.delete(path).await
        };
        match self.call(deletes).await {
            Ok(()) => Ok(true),
            Err(ZooKeeperError::NoNode) => Ok(sent > 1),
            Err(error) => {
                if is_retryable(&error) && deletion == Deletion::Guaranteed {
                    self.delete_in_background(path);
                }
                Err(error)
            }
        }
    }

    /// Repeats the deletion in the background while errors are retryable (`FailedDeleteManager`).
    pub fn delete_in_background(&self, path: &str) {
        let (client, path) = (self.clone(), path.to_owned());
        self.env().spawn(async move {
            let deletes = async |session: Session| session.delete(&path).await;
            while client.call(deletes).await.is_err_and(|error| is_retryable(&error)) {}
        });
    }

    pub fn interruptions(&self) -> u64 {
        self.0.core.interruptions.get()
    }

    pub async fn wait_for_interruption_after(&self, interruptions: u64) {
        self.until(|core| core.interruptions.get() > interruptions).await;
    }

    async fn wait_until_connected(&self) {
        let connected = self.until(|core| core.state.get() == ConnectionState::Connected);
        self.env().timeout(self.0.core.connection_timeout, connected).await;
    }

    async fn until(&self, is_so: impl Fn(&Core) -> bool) {
        let core = &self.0.core;
        std::future::poll_fn(|context| {
            if is_so(core) {
                return Poll::Ready(());
            }
            let mut wakers = core.wakers.borrow_mut();
            if !wakers.iter().any(|waker| waker.will_wake(context.waker())) {
                wakers.push(context.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }
}

/// Returns `true` if the retry policy retries after this error (`RetryPolicy.allowRetry`).
pub fn is_retryable(error: &ZooKeeperError) -> bool {
    match error {
        ZooKeeperError::ConnectionLoss
        | ZooKeeperError::SessionExpired
        | ZooKeeperError::SessionMoved => true,
        ZooKeeperError::NoNode | ZooKeeperError::NodeExists | ZooKeeperError::Server(_) => false,
    }
}

async fn manage(core: Rc<Core>) {
    loop {
        let event = match core.patience() {
            Some(patience) => core.env.timeout(patience, core.watcher.next()).await,
            None => Some(core.watcher.next().await),
        };
        match event {
            Some(WatchedEvent::Connected) => core.enter(ConnectionState::Connected),
            Some(WatchedEvent::Disconnected) => core.suspend(),
            Some(WatchedEvent::Expired) => core.open_new_session(),
            Some(WatchedEvent::Node(_)) => {}
            None => core.session.borrow().give_up(),
        }
    }
}

impl Core {
    fn patience(&self) -> Option<Duration> {
        let since = self.suspended_since.get()?;
        let suspended_us = self.env.wall_clock().0 - since.0;
        let suspended = Duration::from_micros(u64::try_from(suspended_us).unwrap_or(0));
        Some(self.session.borrow().timeout().saturating_sub(suspended))
    }

    fn suspend(&self) {
        if !matches!(self.state.get(), ConnectionState::Suspended | ConnectionState::Lost) {
            self.enter(ConnectionState::Suspended);
            self.suspended_since.set(Some(self.env.wall_clock()));
        }
    }

    fn open_new_session(&self) {
        self.enter(ConnectionState::Lost);
        let session = self.ensemble.open(self.watcher.clone());
        drop(self.session.replace(session));
    }

    fn enter(&self, state: ConnectionState) {
        self.state.set(state);
        self.suspended_since.set(None);
        if matches!(state, ConnectionState::Suspended | ConnectionState::Lost) {
            self.interruptions.set(self.interruptions.get() + 1);
        }
        self.wakers.take().into_iter().for_each(Waker::wake);
    }
}
