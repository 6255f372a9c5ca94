//! A lock's queue ([`LockInternals`]). Source: Curator 5.4.0, `LockInternals` (`attemptLock`,
//! `internalLockLoop`, `deleteOurPath`) and `StandardLockInternalsDriver`.

use super::create::{Protection, create_sequential};
use super::{Curator, Deletion};
use crate::env::WallClock;
use crate::zookeeper::protocol::ZooKeeperError;
use crate::zookeeper::session::Session;
use crate::zookeeper::watches::Watcher;
use std::rc::Rc;
use std::time::Duration;

const LOCK_NAME: &str = "lock-";

pub struct LockInternals {
    curator: Curator,
    base_path: String,
    protection: Protection,
    deletion: Deletion,
    watcher: Rc<Watcher>,
}

impl LockInternals {
    pub fn new(
        curator: Curator,
        base_path: String,
        protection: Protection,
        deletion: Deletion,
    ) -> LockInternals {
        LockInternals { curator, base_path, protection, deletion, watcher: Rc::default() }
    }

    pub async fn attempt_lock(&self, wait: Duration) -> Result<Option<String>, ZooKeeperError> {
        let mut patience = RemainingWait { left: wait, since: self.curator.env().wall_clock() };
        let mut retries = 0;
        loop {
            let path =
                create_sequential(&self.curator, &self.base_path, LOCK_NAME, self.protection)
                    .await?;
            match self.lock_loop(&path, &mut patience).await {
                Ok(has_lock) => return Ok(has_lock.then_some(path)),
                Err(ZooKeeperError::NoNode) if self.curator.allows_retry(retries).await => {
                    retries += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn lock_loop(
        &self,
        path: &str,
        patience: &mut RemainingWait,
    ) -> Result<bool, ZooKeeperError> {
        let outcome = self.wait_for_turn(path, patience).await;
        if outcome != Ok(true) {
            // As in the library, an exception during the deletion hides `outcome`.
            self.delete(path).await?;
        }
        outcome
    }

    async fn wait_for_turn(
        &self,
        path: &str,
        patience: &mut RemainingWait,
    ) -> Result<bool, ZooKeeperError> {
        loop {
            let queue = self.queue().await?;
            let own = path[self.base_path.len() + 1..].to_owned();
            let place = queue.iter().position(|name| *name == own).ok_or(ZooKeeperError::NoNode)?;
            let Some(predecessor) = place.checked_sub(1).map(|before| &queue[before]) else {
                return Ok(true);
            };
            self.watcher.clear();
            match self.watch(predecessor).await {
                Ok(()) => {
                    if !patience.has_time_left(self.curator.env().wall_clock()) {
                        return Ok(false);
                    }
                    let env = self.curator.env();
                    env.timeout(patience.left, self.watcher.next()).await;
                    if env.is_interrupted() {
                        return Ok(false);
                    }
                }
                Err(ZooKeeperError::NoNode) => {}
                Err(error) => return Err(error),
            }
        }
    }

    async fn queue(&self) -> Result<Vec<String>, ZooKeeperError> {
        let base_path = &self.base_path;
        let children = async |session: Session| session.get_children(base_path, None).await;
        match self.curator.call(children).await {
            Ok(mut names) => {
                names.sort_by(|one, other| number_of(one).cmp(number_of(other)));
                Ok(names)
            }
            Err(ZooKeeperError::NoNode) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    async fn watch(&self, name: &str) -> Result<(), ZooKeeperError> {
        let path = format!("{}/{name}", self.base_path);
        self.curator
            .call(async |session: Session| session.get_data(&path, Some(&self.watcher)).await)
            .await
            .map(|_| ())
    }

    pub async fn delete(&self, path: &str) -> Result<bool, ZooKeeperError> {
        self.curator.delete(path, self.deletion).await
    }
}

/// Remaining wait on the wall clock (`millisToWait`, `startMillis`).
struct RemainingWait {
    left: Duration,
    since: WallClock,
}

impl RemainingWait {
    /// Subtracts the clock's change, which may be negative. Returns `false` if no time is left.
    fn has_time_left(&mut self, now: WallClock) -> bool {
        let passed_us = now.0 - self.since.0;
        let span = Duration::from_micros(passed_us.unsigned_abs());
        self.left = if passed_us < 0 { self.left + span } else { self.left.saturating_sub(span) };
        self.since = now;
        !self.left.is_zero()
    }
}

fn number_of(name: &str) -> &str {
    name.rfind(LOCK_NAME).map_or(name, |at| &name[at + LOCK_NAME.len()..])
}
