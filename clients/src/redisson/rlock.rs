use super::script::{
    ACQUIRE, EXPIRE, FAIR_ACQUIRE, FAIR_LEAVE, FAIR_RELEASE, RELEASE, RENEW, UNLOCK_MESSAGE,
};
use crate::call_error::CallError;
use crate::connection::Subscription;
use crate::env::{Env, Spawned};
use crate::lock::{Acquisition, Lease, Release, Settings};
use crate::owned_key::{RELEASE_ATTEMPTS, fresh_owner};
use crate::reply::Reply;
use crate::session::Session;
use bytes::Bytes;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// `retryAttempts`. An attempt of the model fails after this many unacknowledged grants; the library
/// makes one more.
const RETRY_ATTEMPTS: u32 = 4;

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
    redis: Session,
    uuid: Rc<str>,
    id: String,
    watch: Watch,
    /// Idle connection for the DEL of latches. `None` while it is in use.
    cleaner: Rc<Cell<Option<Session>>>,
}

#[derive(Default)]
struct Watch {
    holds: usize,
    task: Option<Spawned>,
}

enum Attempt {
    Locked,
    Held(Option<Duration>),
}

impl RLock {
    pub fn new(
        uuid: Rc<str>,
        env: Env,
        settings: &Settings,
        options: LockOptions,
        open: Open,
    ) -> RLock {
        let (id, settings, watch) =
            (format!("{uuid}:{}", env.thread()), settings.clone(), Watch::default());
        let (redis, cleaner) = (open(&env), Rc::default());
        RLock { redis, settings, watch, env, options, open, uuid, id, cleaner }
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
                // The server may have executed the acquire. `tryLock` logs this error and returns
                // false.
                Err(error @ CallError::Timeout(_)) if is_waiting => {
                    return Acquisition::Refused(error.to_string().into());
                }
                // The library throws an exception.
                Err(error) if error.may_have_applied() => {
                    return Acquisition::Unknown(error.to_string());
                }
                Err(error) => (Some(self.env.jitter(&self.settings.retry)), error.to_string()),
            };
            if self.env.left(deadline).is_zero() {
                return Acquisition::Refused(reason.into());
            }
            if messages.is_none() {
                messages = self.subscribe(key, self.env.left(deadline)).await;
                is_waiting |= messages.is_some();
                if messages.is_some() {
                    // Try again, because the holder may have released the lock before the client
                    // subscribed.
                    continue;
                }
            }
            let left = self.env.left(deadline);
            let patience = patience.filter(|patience| *patience < left).unwrap_or(left);
            self.wait_for_message(&mut messages, patience).await;
            if self.env.left(deadline).is_zero() {
                return Acquisition::Refused(reason.into());
            }
        }
    }

    async fn attempt(&mut self, key: &str, wait: Duration) -> Result<Attempt, CallError> {
        for _ in 0..RETRY_ATTEMPTS {
            let attempt = self.attempt_once(key, wait).await?;
            if !self.options.synchronous
                || matches!(attempt, Attempt::Held(_))
                || self.is_replicated().await?
            {
                return Ok(attempt);
            }
            self.unlock_once(key).await?;
            self.env.sleep(self.env.jitter(&self.settings.retry)).await;
        }
        Err(CallError::Server("no replica acknowledged the lock".to_owned()))
    }

    async fn attempt_once(&mut self, key: &str, wait: Duration) -> Result<Attempt, CallError> {
        let lives_ms = self.lease_length().as_millis().to_string();
        let reply = match self.options.fair {
            false => {
                ACQUIRE
                    .call(
                        &mut self.redis,
                        &[key.as_bytes()],
                        &[lives_ms.as_bytes(), self.id.as_bytes()],
                    )
                    .await?
            }
            true => {
                let names = Names::of(key);
                let keys = [key.as_bytes(), names.queue.as_bytes(), names.timeouts.as_bytes()];
                let (wait_ms, now_ms) =
                    (wait.as_millis().to_string(), self.env.wall_clock().as_millis().to_string());
                let arguments =
                    [&lives_ms, &self.id, &wait_ms, &now_ms].map(|text| text.as_bytes());
                FAIR_ACQUIRE.call(&mut self.redis, &keys, &arguments).await?
            }
        };
        match reply {
            Reply::Nil => Ok(Attempt::Locked),
            Reply::Integer(ms) => {
                Ok(Attempt::Held(u64::try_from(ms).ok().map(Duration::from_millis)))
            }
            reply => Err(CallError::unexpected(&reply)),
        }
    }

    /// Returns `true` if a replica acknowledged the lock within a third of the reply timeout.
    async fn is_replicated(&mut self) -> Result<bool, CallError> {
        let patience_ms = (self.settings.command_timeout / 3).as_millis().to_string();
        match self.redis.call(&[b"WAIT", b"1", patience_ms.as_bytes()]).await? {
            Reply::Integer(replicas) => Ok(replicas > 0),
            reply => Err(CallError::unexpected(&reply)),
        }
    }

    async fn subscribe(&mut self, key: &str, patience: Duration) -> Option<Subscription> {
        let names = Names::of(key);
        let channel = if self.options.fair { names.own_channel(&self.id) } else { names.channel };
        let env = self.env.clone();
        env.timeout(patience, self.redis.subscribe(&[channel.as_bytes()])).await?.ok()
    }

    async fn wait_for_message(&self, messages: &mut Option<Subscription>, patience: Duration) {
        let sleep_on = self.env.monotonic_clock().plus(patience);
        if let Some(subscription) = messages {
            match self.env.timeout(patience, subscription.next()).await {
                None | Some(Ok(_)) => return,
                Some(Err(_)) => *messages = None,
            }
        }
        self.env.sleep(self.env.left(sleep_on)).await;
    }

    /// Releases the lock as `unlock()` does. Retries only calls that certainly had no effect.
    pub async fn unlock(&mut self, key: &str) -> Release {
        let mut outcome = self.unlock_once(key).await;
        for _ in 1..RELEASE_ATTEMPTS {
            if !matches!(&outcome, Err(error) if !error.may_have_applied()) {
                break;
            }
            self.env.sleep(self.env.jitter(&self.settings.retry)).await;
            outcome = self.unlock_once(key).await;
        }
        self.stop_renewing();
        match outcome {
            Ok(true) => Release::Released,
            Ok(false) => Release::NotHeld,
            Err(error) if error.may_have_applied() => Release::Unknown(error.to_string()),
            Err(error) => Release::Unknown(format!("not released: {error}")),
        }
    }

    pub(super) async fn unlock_once(&mut self, key: &str) -> Result<bool, CallError> {
        let names = Names::of(key);
        let latch = format!("redisson_unlock_latch:{{{key}}}:{}", fresh_uuid(&self.env));
        let lives_ms = self.lease_length().as_millis().to_string();
        let (now_ms, latch_ms) = (
            self.env.wall_clock().as_millis().to_string(),
            latch_ttl(&self.settings).as_millis().to_string(),
        );
        let (script, keys, arguments): (_, &[&str], &[&str]) = match self.options.fair {
            false => (
                &RELEASE,
                &[key, &names.channel, &latch],
                &[UNLOCK_MESSAGE, &lives_ms, &self.id, &latch_ms],
            ),
            true => (
                &FAIR_RELEASE,
                &[key, &names.queue, &names.timeouts, &names.channel, &latch],
                &[UNLOCK_MESSAGE, &lives_ms, &self.id, &now_ms, &latch_ms],
            ),
        };
        let [keys, arguments] = [keys, arguments]
            .map(|texts| texts.iter().map(|text| text.as_bytes()).collect::<Vec<_>>());
        let is_held = match script.call(&mut self.redis, &keys, &arguments).await? {
            Reply::Integer(_) => true,
            Reply::Nil => false,
            reply => return Err(CallError::unexpected(&reply)),
        };
        self.delete_latch(latch);
        Ok(is_held)
    }

    /// Does not wait for the reply.
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
        let _ = EXPIRE.call(&mut self.redis, &[key.as_bytes()], &[lives_ms.as_bytes()]).await;
    }

    async fn leave_queue(&mut self, key: &str, wait: Duration) {
        let (names, wait_ms) = (Names::of(key), wait.as_millis().to_string());
        let keys = [names.queue.as_bytes(), names.timeouts.as_bytes()];
        let _ = FAIR_LEAVE
            .call(&mut self.redis, &keys, &[self.id.as_bytes(), wait_ms.as_bytes()])
            .await;
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
        self.watch.holds += 1;
        if self.watch.task.is_none() {
            let (redis, ttl) = ((self.open)(&self.env), self.settings.ttl);
            let task = renew(self.env.clone(), redis, key.to_owned(), self.id.clone(), ttl);
            self.watch.task = Some(self.env.spawn(task));
        }
    }

    /// Decrements the hold count even if the unlock failed, as the library does.
    fn stop_renewing(&mut self) {
        self.watch.holds = self.watch.holds.saturating_sub(1);
        if self.watch.holds == 0
            && let Some(task) = self.watch.task.take()
        {
            task.abort();
        }
    }
}

/// At least the time of a command with all its retries, and at least 1 ms
/// (`RedissonBaseLock.unlockInnerAsync`).
pub(super) fn latch_ttl(settings: &Settings) -> Duration {
    let tries = (settings.command_timeout + *settings.retry.end()) * RETRY_ATTEMPTS;
    tries.max(Duration::from_millis(1))
}

async fn renew(env: Env, mut redis: Session, key: String, id: String, ttl: Duration) {
    let ttl_ms = ttl.as_millis().to_string();
    loop {
        env.sleep(ttl / 3).await;
        let renewed =
            RENEW.call(&mut redis, &[key.as_bytes()], &[ttl_ms.as_bytes(), id.as_bytes()]).await;
        if renewed == Ok(Reply::Integer(0)) {
            return;
        }
    }
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
