use super::evaluation::{Evaluated, Evaluator, RETRY_ATTEMPTS, is_unanswered};
use super::script::{
    ACQUIRE, EXPIRE, FAIR_ACQUIRE, FAIR_LEAVE, FAIR_RELEASE, RELEASE, UNLOCK_MESSAGE,
};
use super::watchdog::Watchdog;
use crate::call_error::CallError;
use crate::connection::Subscription;
use crate::env::{Env, Monotonic};
use crate::lock::{Acquisition, Lease, Release, Settings};
use crate::owned_key::fresh_owner;
use crate::reply::Reply;
use crate::session::Session;
use bytes::Bytes;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

pub fn fresh_uuid(env: &Env) -> Rc<str> {
    String::from_utf8_lossy(&fresh_owner(env)).into()
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LockOptions {
    /// Lease requested by the caller. `None` means that a watchdog renews the lock.
    pub lease: Option<Duration>,
    pub fair: bool,
    pub synchronous: bool,
}

pub type Open = Rc<dyn Fn(&Env) -> Session>;

pub struct RLock {
    env: Env,
    settings: Settings,
    options: LockOptions,
    open: Open,
    server: Evaluator,
    uuid: Rc<str>,
    id: String,
    watchdog: Watchdog,
    /// Idle connection for deleting latches; `None` while a deletion uses it.
    cleaner: Rc<Cell<Option<Session>>>,
}

enum Attempt {
    Locked,
    Held(Option<Duration>),
    /// No replica acknowledged the acquire.
    Unsynced,
}

enum Unlocked {
    Released,
    NotHeld,
    Unsynced,
}

impl RLock {
    pub fn new(
        uuid: Rc<str>,
        env: Env,
        settings: &Settings,
        options: LockOptions,
        open: Open,
    ) -> RLock {
        let (id, settings) = (format!("{uuid}:{}", env.thread()), settings.clone());
        let server = Evaluator::new(env.clone(), open(&env), &settings, options.synchronous);
        let (watchdog, cleaner) = (Watchdog::default(), Rc::default());
        RLock { env, settings, options, open, server, uuid, id, watchdog, cleaner }
    }

    pub fn for_thread(&self, env: Env) -> RLock {
        RLock::new(self.uuid.clone(), env, &self.settings, self.options, self.open.clone())
    }

    pub async fn try_lock(&mut self, key: &str, wait: Duration) -> Acquisition {
        let outcome = self.try_within(key, wait).await;
        match &outcome {
            Acquisition::Granted(_) if self.options.lease.is_none() => self.start_renewing(key),
            // As in the library (`acquireFailed`), leave the queue after a timeout, but not after
            // an interrupt.
            Acquisition::Refused(_) if self.options.fair && !self.env.is_interrupted() => {
                self.leave_queue(key, wait).await;
            }
            _ => {}
        }
        outcome
    }

    async fn try_within(&mut self, key: &str, wait: Duration) -> Acquisition {
        let deadline = self.env.monotonic_clock().plus(wait);
        let (mut messages, mut is_waiting) = (None, false);
        loop {
            let (patience, reason) = match self.attempt(key, wait).await {
                Ok(Attempt::Locked) => return Acquisition::Granted(self.lease(key)),
                Ok(Attempt::Held(patience)) => (patience, "held by another".to_owned()),
                Ok(Attempt::Unsynced) => {
                    return Acquisition::Unknown("no replica acknowledged the lock".to_owned());
                }
                // A grant is possible. `tryLock` logs this error and returns false.
                Err(error) if is_waiting && is_unanswered(&error) => {
                    return Acquisition::Refused(error.to_string().into());
                }
                // The library throws an exception here.
                Err(error) if error.may_have_applied() => {
                    return Acquisition::Unknown(error.to_string());
                }
                Err(error) => (Some(self.env.jitter(&self.settings.retry)), error.to_string()),
            };
            if self.env.left(deadline).is_zero() {
                return Acquisition::Refused(reason.into());
            }
            if !is_waiting {
                messages = self.subscribe(key, deadline).await;
                if messages.is_none() {
                    return Acquisition::Refused(reason.into());
                }
                is_waiting = true;
                // The holder may have released the lock before the client subscribed.
                continue;
            }
            let left = self.env.left(deadline);
            let patience = patience.filter(|patience| *patience < left).unwrap_or(left);
            self.wait_for_message(key, &mut messages, patience).await;
            if self.env.left(deadline).is_zero() {
                return Acquisition::Refused(reason.into());
            }
        }
    }

    /// If no attempt is acknowledged, the library throws a `NoSyncedSlavesException`.
    async fn attempt(&mut self, key: &str, wait: Duration) -> Result<Attempt, CallError> {
        for number in 0..=RETRY_ATTEMPTS {
            if number > 0 {
                self.server.pause().await;
                self.server.stop_if_interrupted()?;
            }
            match self.attempt_once(key, wait).await? {
                Attempt::Unsynced => {
                    let latch = self.fresh_latch(key);
                    let _ = self.unlock_once(key, &latch).await;
                }
                attempt => return Ok(attempt),
            }
        }
        Ok(Attempt::Unsynced)
    }

    async fn attempt_once(&mut self, key: &str, wait: Duration) -> Result<Attempt, CallError> {
        let lives_ms = self.lease_length().as_millis().to_string();
        let Evaluated { reply, is_synced } = match self.options.fair {
            false => self.server.evaluate(&ACQUIRE, &[key], &[&lives_ms, &self.id]).await?,
            true => {
                let names = Names::of(key);
                let (wait_ms, now_ms) =
                    (wait.as_millis().to_string(), self.env.wall_clock().as_millis().to_string());
                let keys = [key, &names.queue, &names.timeouts];
                let arguments = [&*lives_ms, &self.id, &wait_ms, &now_ms];
                self.server.evaluate(&FAIR_ACQUIRE, &keys, &arguments).await?
            }
        };
        match reply {
            _ if !is_synced => Ok(Attempt::Unsynced),
            Reply::Nil => Ok(Attempt::Locked),
            Reply::Integer(ms) => {
                Ok(Attempt::Held(u64::try_from(ms).ok().map(Duration::from_millis)))
            }
            reply => Err(CallError::unexpected(&reply)),
        }
    }

    /// Repeats a failed subscription, as the library does after a broken connection.
    async fn subscribe(&mut self, key: &str, deadline: Monotonic) -> Option<Subscription> {
        let names = Names::of(key);
        let channel = if self.options.fair { names.own_channel(&self.id) } else { names.channel };
        let env = self.env.clone();
        while !env.left(deadline).is_zero() {
            let channels = [channel.as_bytes()];
            let subscription = self.server.redis.subscribe(&channels);
            match env.timeout(env.left(deadline), subscription).await? {
                Ok(subscription) => return Some(subscription),
                Err(_) => env.sleep(env.jitter(&self.settings.retry).min(env.left(deadline))).await,
            }
        }
        None
    }

    async fn wait_for_message(
        &mut self,
        key: &str,
        messages: &mut Option<Subscription>,
        patience: Duration,
    ) {
        let until = self.env.monotonic_clock().plus(patience);
        loop {
            if messages.is_none() {
                *messages = self.subscribe(key, until).await;
            }
            let Some(subscription) = messages else { return };
            match self.env.timeout(self.env.left(until), subscription.next()).await {
                None | Some(Ok(_)) => return,
                Some(Err(_)) => *messages = None,
            }
        }
    }

    /// Releases the lock as `unlock()` does. Retries calls that certainly had no effect. Also
    /// retries, with the same latch, releases that no replica acknowledged.
    pub async fn unlock(&mut self, key: &str) -> Release {
        let latch = self.fresh_latch(key);
        let mut outcome = self.unlock_once(key, &latch).await;
        for _ in 0..RETRY_ATTEMPTS {
            match &outcome {
                _ if self.env.is_interrupted() => break,
                Ok(Unlocked::Unsynced) => self.watchdog.remove(),
                Err(error) if !error.may_have_applied() => {}
                _ => break,
            }
            self.server.pause().await;
            outcome = self.unlock_once(key, &latch).await;
        }
        self.watchdog.remove();
        match outcome {
            Ok(Unlocked::Released) => Release::Released,
            Ok(Unlocked::NotHeld) => Release::NotHeld,
            Ok(Unlocked::Unsynced) => {
                Release::Unknown("no replica acknowledged the release".to_owned())
            }
            Err(error) if error.may_have_applied() => Release::Unknown(error.to_string()),
            Err(error) => Release::Unknown(format!("not released: {error}")),
        }
    }

    /// Releases the lock once, and ignores the outcome.
    pub(super) async fn give_back(&mut self, key: &str) {
        let latch = self.fresh_latch(key);
        let _ = self.unlock_once(key, &latch).await;
    }

    fn fresh_latch(&self, key: &str) -> String {
        format!("redisson_unlock_latch:{{{key}}}:{}", fresh_uuid(&self.env))
    }

    async fn unlock_once(&mut self, key: &str, latch: &str) -> Result<Unlocked, CallError> {
        let names = Names::of(key);
        let lives_ms = self.lease_length().as_millis().to_string();
        let (now_ms, latch_ms) = (
            self.env.wall_clock().as_millis().to_string(),
            latch_ttl(&self.settings).as_millis().to_string(),
        );
        let (script, keys, arguments): (_, &[&str], &[&str]) = match self.options.fair {
            false => (
                &RELEASE,
                &[key, &names.channel, latch],
                &[UNLOCK_MESSAGE, &lives_ms, &self.id, &latch_ms],
            ),
            true => (
                &FAIR_RELEASE,
                &[key, &names.queue, &names.timeouts, &names.channel, latch],
                &[UNLOCK_MESSAGE, &lives_ms, &self.id, &now_ms, &latch_ms],
            ),
        };
        let Evaluated { reply, is_synced } = self.server.evaluate(script, keys, arguments).await?;
        if !is_synced {
            return Ok(Unlocked::Unsynced);
        }
        let outcome = match reply {
            Reply::Integer(_) => Unlocked::Released,
            Reply::Nil => Unlocked::NotHeld,
            reply => return Err(CallError::unexpected(&reply)),
        };
        self.delete_latch(latch.to_owned());
        Ok(outcome)
    }

    /// Sends the DEL without waiting for its reply.
    fn delete_latch(&self, latch: String) {
        let (env, open, cleaner) = (self.env.clone(), self.open.clone(), self.cleaner.clone());
        self.env.spawn(async move {
            let mut redis = cleaner.take().unwrap_or_else(|| open(&env));
            let _ = redis.call(&[b"DEL", latch.as_bytes()]).await;
            cleaner.set(Some(redis));
        });
    }

    pub(super) async fn expire(&mut self, key: &str, lease: Duration) {
        let lives_ms = lease.as_millis().to_string();
        let _ = self.server.evaluate(&EXPIRE, &[key], &[&lives_ms]).await;
    }

    async fn leave_queue(&mut self, key: &str, wait: Duration) {
        let (names, wait_ms) = (Names::of(key), wait.as_millis().to_string());
        let keys = [&*names.queue, &names.timeouts];
        let _ = self.server.evaluate(&FAIR_LEAVE, &keys, &[&self.id, &wait_ms]).await;
    }

    fn lease_length(&self) -> Duration {
        self.options.lease.unwrap_or(self.settings.ttl)
    }

    fn lease(&self, key: &str) -> Lease {
        let owner = Bytes::from(format!("{}=1", self.id));
        Lease { resource: key.to_owned(), owner, token: None, valid_until: None }
    }

    pub(super) fn has_watchdog(&self) -> bool {
        self.options.lease.is_none()
    }

    fn start_renewing(&mut self, key: &str) {
        let RLock { settings, open, id, watchdog, .. } = self;
        // An interrupt of the caller does not reach the watchdog.
        let env = &self.env.for_thread(self.env.thread());
        watchdog
            .add(key, id, settings.ttl, || Evaluator::new(env.clone(), open(env), settings, false));
    }
}

/// Returns the time that a command takes with all its retries, but at least 1 ms
/// (`RedissonBaseLock.unlockInnerAsync`).
pub(super) fn latch_ttl(settings: &Settings) -> Duration {
    let tries = (settings.command_timeout + *settings.retry.end()) * RETRY_ATTEMPTS;
    tries.max(Duration::from_millis(1))
}

struct Names {
    channel: String,
    queue: String,
    timeouts: String,
}

impl Names {
    fn of(key: &str) -> Names {
        Names {
            channel: format!("redisson_lock__channel:{{{key}}}"),
            queue: format!("redisson_lock_queue:{{{key}}}"),
            timeouts: format!("redisson_lock_timeout:{{{key}}}"),
        }
    }

    fn own_channel(&self, id: &str) -> String {
        format!("{}:{id}", self.channel)
    }
}
