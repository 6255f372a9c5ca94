//! Spring Integration's `JdbcLockRegistry` with its `DefaultLockRepository`, in three generations.
//!
//! Source: spring-integration-jdbc, package `lock`: 4.3 to 5.3 (`jdbc-4`), 5.4 to 5.5 (`jdbc-5`),
//! 7.0 (`jdbc-7`).
//!
//! `tryLock(wait)` takes the process's ReentrantLock within `wait`, and then calls `acquire()`
//! every 100 ms until `wait` has passed on the wall clock. `acquire()` runs the statements of its
//! generation (`GENERATIONS`) in one transaction; a duplicate key is a refusal. The outermost
//! `unlock()` sends the DELETE and releases the ReentrantLock; 7 throws if the DELETE found no row.
//! The registry repeats `acquire()` after a transient error (SQLSTATE class 40), `unlock()` too
//! from 5.4 on, and both after a TransactionSystemException from 5.4.8 on: a COMMIT has failed, or
//! the connection broke in the transaction, so that the rollback failed too.
//!
//! These mistakes remain. **`now` comes from the client's clock**: a fast client takes a lock that
//! has not expired, and a slow client loses its row. **Only the application renews the row.**
//! Generations 4 and 5 do not check whether the release found the row. In `jdbc-5-app-id` **every
//! process has the same client id**, the application's name, so each UPDATE changes the rows of
//! other processes.
//!
//! The model sends the isolation level with BEGIN; the library sends it earlier. After a duplicate
//! key, the COMMIT rolls back. The model does not report this, and neither do drivers before pgjdbc
//! 42.2.11. `ON CONFLICT DO NOTHING` in `jdbc-7` avoids the error.

use super::protocol::{Parameter, StatementResult};
use super::session::{Failed, Failure, Session};
use super::time::{date_time, local_date_time, micros};
use super::{connection, lease};
use crate::env::{Draw, Env};
use crate::lock::{
    Acquisition, Algorithm, Definition, Deployment, Lease, Lock, LockForm, Release, Servers,
    Settings, Usage,
};
use crate::spring_registry::Registry;
use bytes::Bytes;
use std::rc::Rc;
use std::time::Duration;

/// The library's `idleBetweenTries`.
const IDLE: Duration = Duration::from_millis(100);
const REGION: &str = "DEFAULT";
const APPLICATION: &str = "orders-service";
const DUPLICATE: &str = "23505";

pub const FOUR: Definition = Definition {
    name: "jdbc-4",
    about: "Spring's JdbcLockRegistry 4.3: DELETE of a row expired by the client's clock, UPDATE, \
            INSERT",
    deployment: Deployment::PostgreSql(LockForm::RowByClients),
    has_tokens: false,
    is_fair: false,
    models: Some("Spring Integration 4.3 to 5.3, JdbcLockRegistry"),
    build: |env, servers, settings| Jdbc::boxed(env, servers, settings, &GENERATIONS[0], false),
};

pub const FIVE: Definition = Definition {
    name: "jdbc-5",
    about: "Spring's JdbcLockRegistry 5.4: UPDATE of a row that is its own or expired, otherwise \
            INSERT",
    models: Some("Spring Integration 5.4 to 5.5, JdbcLockRegistry"),
    build: |env, servers, settings| Jdbc::boxed(env, servers, settings, &GENERATIONS[1], false),
    ..FOUR
};

pub const APP_ID: Definition = Definition {
    name: "jdbc-5-app-id",
    about: "jdbc-5 whose client id is the application's name, the same in every process",
    build: |env, servers, settings| Jdbc::boxed(env, servers, settings, &GENERATIONS[1], true),
    ..FIVE
};

pub const SEVEN: Definition = Definition {
    name: "jdbc-7",
    about: "Spring's JdbcLockRegistry 7.0: like jdbc-5 with EXPIRED_AFTER, and a release that \
            detects a missing row",
    models: Some("Spring Integration 7.0 (August 2026), JdbcLockRegistry"),
    build: |env, servers, settings| Jdbc::boxed(env, servers, settings, &GENERATIONS[2], false),
    ..FOUR
};

struct Generation {
    begin: &'static str,
    /// Parameters: $1 key, $2 region, $3 time up to which rows have expired.
    delete_expired: Option<&'static str>,
    /// Parameters: $1 key, $2 region, $3 owner, $4 new time, and without `delete_expired` also $5,
    /// the time up to which rows have expired.
    update: &'static str,
    /// Parameters: $1 key, $2 region, $3 owner, $4 now, and in 7.0 also $5, the expiry time.
    insert: &'static str,
    delete: &'static str,
    /// `true` if the row stores the expiry time, `false` if it stores the time of acquisition.
    has_expiry: bool,
    /// `true` if the registry also repeats releases after transient errors, and any transaction
    /// whose COMMIT or connection failed.
    retries_all: bool,
    /// `true` if `unlock()` throws when the DELETE found no row.
    checks_release: bool,
}

const BEGIN_SERIALIZABLE: &str = "BEGIN ISOLATION LEVEL SERIALIZABLE";
const INSERT: &str =
    "INSERT INTO INT_LOCK (REGION, LOCK_KEY, CLIENT_ID, CREATED_DATE) VALUES ($2, $1, $3, $4)";
const DELETE: &str = "DELETE FROM INT_LOCK WHERE REGION=$2 AND LOCK_KEY=$1 AND CLIENT_ID=$3";

static GENERATIONS: [Generation; 3] = [
    Generation {
        begin: BEGIN_SERIALIZABLE,
        delete_expired: Some(
            "DELETE FROM INT_LOCK WHERE REGION=$2 AND LOCK_KEY=$1 AND CREATED_DATE<$3",
        ),
        update: "UPDATE INT_LOCK SET CREATED_DATE=$4 \
                 WHERE REGION=$2 AND LOCK_KEY=$1 AND CLIENT_ID=$3",
        insert: INSERT,
        delete: DELETE,
        has_expiry: false,
        retries_all: false,
        checks_release: false,
    },
    Generation {
        begin: BEGIN_SERIALIZABLE,
        delete_expired: None,
        update: "UPDATE INT_LOCK SET CLIENT_ID=$3, CREATED_DATE=$4 \
                 WHERE REGION=$2 AND LOCK_KEY=$1 AND (CLIENT_ID=$3 OR CREATED_DATE<$5)",
        insert: INSERT,
        delete: DELETE,
        has_expiry: false,
        retries_all: true,
        checks_release: false,
    },
    Generation {
        begin: "BEGIN ISOLATION LEVEL READ COMMITTED",
        delete_expired: None,
        update: "UPDATE INT7_LOCK SET CLIENT_ID=$3, EXPIRED_AFTER=$4 \
                 WHERE REGION=$2 AND LOCK_KEY=$1 AND (CLIENT_ID=$3 OR EXPIRED_AFTER<$5)",
        insert: "INSERT INTO INT7_LOCK (REGION, LOCK_KEY, CLIENT_ID, CREATED_DATE, EXPIRED_AFTER) \
                 VALUES ($2, $1, $3, $4, $5) ON CONFLICT DO NOTHING",
        delete: "DELETE FROM INT7_LOCK WHERE REGION=$2 AND LOCK_KEY=$1 AND CLIENT_ID=$3",
        has_expiry: true,
        retries_all: true,
        checks_release: true,
    },
];

fn uuid(env: &Env) -> Bytes {
    let [high, low] = env.randoms::<2>(Draw::Owner);
    let high = high & !0xf000 | 0x4000;
    let low = low & !(0b11 << 62) | 1 << 63;
    let (high, low) = (format!("{high:016x}"), format!("{low:016x}"));
    let parts = [&high[..8], &high[8..12], &high[12..], &low[..4], &low[4..]];
    Bytes::from(parts.join("-"))
}

struct Jdbc {
    registry: Rc<Registry>,
    env: Env,
    servers: Servers,
    settings: Settings,
    generation: &'static Generation,
    server: Session,
}

impl Jdbc {
    fn boxed(
        env: Env,
        servers: &Servers,
        settings: &Settings,
        generation: &'static Generation,
        has_app_id: bool,
    ) -> Box<dyn Lock> {
        let client_id = match has_app_id {
            true => Bytes::from_static(APPLICATION.as_bytes()),
            false => uuid(&env),
        };
        let registry = Registry::with_id(client_id);
        Box::new(Jdbc::with_registry(&registry, env, servers, settings, generation))
    }

    fn with_registry(
        registry: &Rc<Registry>,
        env: Env,
        servers: &Servers,
        settings: &Settings,
        generation: &'static Generation,
    ) -> Jdbc {
        let server = connection(&env, servers, settings);
        let (registry, servers, settings) = (registry.clone(), servers.clone(), settings.clone());
        Jdbc { registry, env, servers, settings, generation, server }
    }

    fn now(&self) -> i64 {
        self.env.wall_clock().0
    }

    fn time(&self, micros: i64) -> Parameter {
        match self.generation.has_expiry {
            true => local_date_time(micros),
            false => date_time(micros),
        }
    }

    fn bound(&self) -> Parameter {
        let ttl = if self.generation.has_expiry { 0 } else { micros(self.settings.ttl) };
        self.time(self.now().saturating_sub(ttl))
    }

    fn key(&self, resource: &str) -> Vec<Parameter> {
        vec![Parameter::text(resource), Parameter::text(REGION)]
    }

    fn own(&self, resource: &str) -> Vec<Parameter> {
        let mut values = self.key(resource);
        let client_id = self.registry.client_id();
        values.push(Parameter::text(String::from_utf8_lossy(client_id)));
        values
    }

    async fn try_outside(&mut self, resource: &str, deadline: i64) -> Acquisition {
        let mut is_uncertain = false;
        loop {
            match self.obtain(resource).await {
                Ok(true) => {
                    return Acquisition::Granted(lease(
                        resource,
                        self.registry.client_id().clone(),
                    ));
                }
                Ok(false) if self.now() >= deadline => {
                    return Acquisition::Refused("held by another process".into());
                }
                Ok(false) => {
                    self.env.sleep(IDLE).await;
                    if self.env.is_interrupted() {
                        return Acquisition::Refused("interrupted".into());
                    }
                }
                Err(failed) if self.repeats(&failed) => {
                    is_uncertain |= failed.error.may_have_applied();
                }
                Err(Failed { error, .. }) if is_uncertain || error.may_have_applied() => {
                    return Acquisition::Unknown(error.to_string());
                }
                Err(Failed { error, .. }) => {
                    return Acquisition::Refused(error.to_string().into());
                }
            }
        }
    }

    fn repeats(&self, failed: &Failed) -> bool {
        let is_transient = match &failed.error {
            // Spring throws a `TransientDataAccessException` here.
            Failure::Refused(refusal) => !failed.at_commit && refusal.code.starts_with("40"),
            Failure::Lost(_) => false,
        };
        is_transient || self.generation.retries_all && failed.is_of_transaction_system()
    }

    /// Follows `DefaultLockRepository.acquire`. Returns `true` if the caller now has the row.
    async fn obtain(&mut self, resource: &str) -> Result<bool, Failed> {
        let changed = match self.change(resource).await {
            Ok(changed) => changed,
            Err(error) if error.is(DUPLICATE) => false,
            Err(error) => return Err(self.server.rolled_back(error).await),
        };
        Ok(self.server.committed().await? && changed)
    }

    async fn change(&mut self, resource: &str) -> Result<bool, Failure> {
        let generation = self.generation;
        let mut has_begun = false;
        if let Some(delete) = generation.delete_expired {
            let mut values = self.key(resource);
            values.push(self.bound());
            self.server.begin(generation.begin, delete, &values).await?;
            has_begun = true;
        }
        let mut values = self.own(resource);
        let lasts = if generation.has_expiry { micros(self.settings.ttl) } else { 0 };
        values.push(self.time(self.now().saturating_add(lasts)));
        values.extend((!has_begun).then(|| self.bound()));
        let updated: StatementResult = match has_begun {
            true => self.server.run_next(generation.update, &values).await?,
            false => self.server.begin(generation.begin, generation.update, &values).await?,
        };
        if updated.count() > 0 {
            return Ok(true);
        }
        let (mut values, now) = (self.own(resource), self.now());
        values.push(self.time(now));
        if generation.has_expiry {
            values.push(self.time(now.saturating_add(lasts)));
        }
        Ok(self.server.run_next(generation.insert, &values).await?.count() > 0)
    }

    async fn unlock(&mut self, resource: &str) -> Release {
        if self.registry.is_nested() {
            self.registry.unlock_inside();
            return Release::Released;
        }
        let removed = self.remove(resource).await;
        self.registry.unlock_inside();
        match removed {
            Ok(true) => Release::Released,
            // If no row was deleted, version 7.0 throws a ConcurrentModificationException. Earlier
            // versions do not check.
            Ok(false) => Release::NotHeld,
            Err(error) if error.may_have_applied() => Release::Unknown(error.to_string()),
            Err(error) => Release::Unknown(format!("not released: {error}")),
        }
    }

    /// Follows `DefaultLockRepository.delete`. If the generation ignores the row count, a DELETE
    /// without a row also counts as a release if an earlier attempt may have removed the row.
    async fn remove(&mut self, resource: &str) -> Result<bool, Failure> {
        let mut may_have_removed = None;
        loop {
            let values = self.own(resource);
            match self.server.transact("BEGIN", self.generation.delete, &values).await {
                Ok(has_removed) => {
                    let is_ignored = may_have_removed.is_some() && !self.generation.checks_release;
                    return Ok(has_removed || is_ignored);
                }
                Err(failed) if self.generation.retries_all && self.repeats(&failed) => {
                    let error = failed.error;
                    may_have_removed =
                        may_have_removed.or(error.may_have_applied().then_some(error));
                }
                Err(Failed { error, .. }) => return Err(may_have_removed.unwrap_or(error)),
            }
        }
    }
}

impl Algorithm for Jdbc {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let (began, wait) = (self.now(), self.settings.acquire_timeout);
        if self.env.timeout(wait, self.registry.lock_inside(self.env.thread())).await.is_none() {
            return Acquisition::Refused("held by another thread of this process".into());
        }
        let outcome = self.try_outside(resource, began.saturating_add(micros(wait))).await;
        if !matches!(outcome, Acquisition::Granted(_)) {
            self.registry.unlock_inside();
        }
        outcome
    }

    async fn release(&mut self, lease: Lease) -> Release {
        self.unlock(&lease.resource).await
    }

    fn for_thread(&self, env: Env) -> Option<Box<dyn Lock>> {
        let (registry, servers, settings) = (&self.registry, &self.servers, &self.settings);
        Some(Box::new(Jdbc::with_registry(registry, env, servers, settings, self.generation)))
    }

    fn usage(&self) -> Usage {
        Usage { nests: true, ..Usage::PLAIN }
    }
}
