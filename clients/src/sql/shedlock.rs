//! `shedlock-jdbc` and `shedlock-db-time`: a row with the time until which it is locked.
//!
//! Source: ShedLock 7, JdbcTemplate provider. `StorageBasedLockProvider` tries an INSERT for a name
//! that it has not used before. For a known name, or if the INSERT changes nothing, it tries an
//! UPDATE. The statements are from `PostgresSqlStatementsSource` and, with `usingDbTime()`, from
//! `PostgresSqlServerTimeStatementsSource`, with the intervals of version 4 (`cast(... as
//! interval)`). The owner (`lockedBy`) is drawn once per process. The application retries.
//!
//! These mistakes remain. **The current time comes from the client's clock**: a client with a fast
//! clock may take the lock too early. `shedlock-db-time` uses the database's clock. **If the
//! connection breaks in a transaction, the provider assumes that nothing changed**, so it refuses a
//! lock that the server may have granted. (The rollback fails too, with a
//! TransactionSystemException.)
//!
//! Up to version 6, a release with client time does not compare the owner: it frees another
//! process's lock. The model does not have this mistake.

use super::protocol::Parameter;
use super::session::{Failed, Failure, Session};
use super::time::{local_date_time, micros};
use super::{connection, lease};
use crate::env::Env;
use crate::lock::{
    Acquisition, Algorithm, Definition, Deployment, Lease, LockForm, Release, Servers, Settings,
};
use crate::owned_key::fresh_owner;
use crate::retry::Retry;
use bytes::Bytes;

/// After this many attempts, `JdbcTemplateStorageAccessor` returns without an error.
const UNLOCK_ATTEMPTS: usize = 10;

pub const DEFINITION: Definition = Definition {
    name: "shedlock-jdbc",
    about: "ShedLock on PostgreSQL: a row with lock_until, compared with each client's clock",
    deployment: Deployment::PostgreSql(LockForm::RowByClients),
    has_tokens: false,
    is_fair: false,
    models: Some("ShedLock 7 (August 2026), JdbcTemplateLockProvider"),
    build: |env, servers, settings| Box::new(ShedLock::new(env, servers, settings, &CLIENT_TIME)),
};

pub const DB_TIME: Definition = Definition {
    name: "shedlock-db-time",
    about: "ShedLock on PostgreSQL with usingDbTime(): lock_until is compared with the server's \
            clock",
    deployment: Deployment::PostgreSql(LockForm::RowByServer),
    models: Some("ShedLock 7 (August 2026), JdbcTemplateLockProvider with usingDbTime()"),
    build: |env, servers, settings| Box::new(ShedLock::new(env, servers, settings, &SERVER_TIME)),
    ..DEFINITION
};

struct Statements {
    /// Parameters: $1 name, $2 owner, $3 end or duration of the lock; with client time also $4 now.
    insert: &'static str,
    update: &'static str,
    /// Parameters: $1 name, $2 owner, $3 new end or remaining duration of the lock.
    unlock: &'static str,
    is_by_clients: bool,
}

const CLIENT_TIME: Statements = Statements {
    insert: "INSERT INTO shedlock(name, lock_until, locked_at, locked_by) \
             VALUES($1, $3, $4, $2) ON CONFLICT (name) DO UPDATE \
             SET lock_until = $3, locked_at = $4, locked_by = $2 WHERE shedlock.lock_until <= $4",
    update: "UPDATE shedlock SET lock_until = $3, locked_at = $4, locked_by = $2 \
             WHERE name = $1 AND lock_until <= $4",
    unlock: "UPDATE shedlock SET lock_until = $3 WHERE name = $1 AND locked_by = $2",
    is_by_clients: true,
};

const SERVER_TIME: Statements = Statements {
    insert: "INSERT INTO shedlock(name, lock_until, locked_at, locked_by) \
             VALUES($1, timezone('utc', CURRENT_TIMESTAMP) + cast($3 as interval), \
             timezone('utc', CURRENT_TIMESTAMP), $2) ON CONFLICT (name) DO UPDATE \
             SET lock_until = timezone('utc', CURRENT_TIMESTAMP) + cast($3 as interval), \
             locked_at = timezone('utc', CURRENT_TIMESTAMP), locked_by = $2 \
             WHERE shedlock.name = $1 \
             AND shedlock.lock_until <= timezone('utc', CURRENT_TIMESTAMP)",
    update: "UPDATE shedlock \
             SET lock_until = timezone('utc', CURRENT_TIMESTAMP) + cast($3 as interval), \
             locked_at = timezone('utc', CURRENT_TIMESTAMP), locked_by = $2 \
             WHERE shedlock.name = $1 \
             AND shedlock.lock_until <= timezone('utc', CURRENT_TIMESTAMP)",
    unlock: "UPDATE shedlock SET lock_until = \
             CASE WHEN locked_at + cast($3 as interval) > timezone('utc', CURRENT_TIMESTAMP) \
             THEN locked_at + cast($3 as interval) ELSE timezone('utc', CURRENT_TIMESTAMP) END \
             WHERE name = $1 AND locked_by = $2",
    is_by_clients: false,
};

struct ShedLock {
    env: Env,
    settings: Settings,
    statements: &'static Statements,
    server: Session,
    locked_by: Bytes,
    is_known: bool,
}

impl ShedLock {
    fn new(
        env: Env,
        servers: &Servers,
        settings: &Settings,
        statements: &'static Statements,
    ) -> ShedLock {
        let (server, locked_by) = (connection(&env, servers, settings), fresh_owner(&env));
        let settings = settings.clone();
        ShedLock { env, settings, statements, server, locked_by, is_known: false }
    }

    fn own(&self, resource: &str) -> Vec<Parameter> {
        let locked_by = String::from_utf8_lossy(&self.locked_by).into_owned();
        vec![Parameter::text(resource), Parameter::text(locked_by)]
    }

    fn now(&self) -> i64 {
        self.env.wall_clock().0
    }

    fn taking(&self, resource: &str, created_at: i64) -> Vec<Parameter> {
        let (mut values, ttl) = (self.own(resource), self.settings.ttl);
        if self.statements.is_by_clients {
            let until = created_at.saturating_add(micros(ttl));
            values.extend([local_date_time(until), local_date_time(self.now())]);
        } else {
            values.push(Parameter::text(format!("{} milliseconds", ttl.as_millis())));
        }
        values
    }

    async fn try_lock(&mut self, resource: &str) -> Result<bool, Failure> {
        // The library reads this time once per attempt (`LockConfiguration.createdAt`).
        let created_at = self.now();
        let Statements { insert, update, .. } = *self.statements;
        let is_new = !self.is_known;
        if is_new {
            let inserted = self.execute(insert, &self.taking(resource, created_at)).await;
            let is_ours = inserted.or_else(if_nothing_changed)?;
            self.is_known = true;
            if is_ours {
                return Ok(true);
            }
        }
        let updated = self.execute(update, &self.taking(resource, created_at)).await;
        let updated = updated.or_else(if_nothing_changed);
        // If this UPDATE failed, the row may not exist (`removeLockRecord`).
        self.is_known &= !(is_new && updated.is_err());
        updated
    }

    async fn execute(&mut self, sql: &str, values: &[Parameter]) -> Result<bool, Failed> {
        self.server.transact("BEGIN", sql, values).await
    }

    async fn attempt(&mut self, resource: &str) -> Acquisition {
        match self.try_lock(resource).await {
            Ok(true) => Acquisition::Granted(lease(resource, self.locked_by.clone())),
            Ok(false) => Acquisition::Refused("lock_until has not passed".into()),
            Err(error) if error.may_have_applied() => Acquisition::Unknown(error.to_string()),
            Err(error) => Acquisition::Refused(error.to_string().into()),
        }
    }
}

/// `true` for SQLSTATE class 40, such as a deadlock, and for a TransactionSystemException.
fn is_ignored(failed: &Failed) -> bool {
    let is_refused = matches!(&failed.error, Failure::Refused(it) if it.code.starts_with("40"));
    is_refused || failed.is_of_transaction_system()
}

fn if_nothing_changed(failed: Failed) -> Result<bool, Failure> {
    if is_ignored(&failed) { Ok(false) } else { Err(failed.error) }
}

impl Algorithm for ShedLock {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        Retry::start(&self.env, &self.settings)
            .until_granted(async || self.attempt(resource).await)
            .await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        let mut may_have_released = false;
        for _ in 0..UNLOCK_ATTEMPTS {
            let mut values = self.own(&lease.resource);
            values.push(match self.statements.is_by_clients {
                true => local_date_time(self.now()),
                false => Parameter::text("0 milliseconds"),
            });
            match self.execute(self.statements.unlock, &values).await {
                Ok(true) => return Release::Released,
                // The library does not check whether the UPDATE changed a row; the history records
                // `NotHeld`, unless an earlier attempt may have released the lock.
                Ok(false) if !may_have_released => return Release::NotHeld,
                Ok(false) => return Release::Released,
                Err(failed) if is_ignored(&failed) => {
                    may_have_released |= failed.error.may_have_applied();
                }
                Err(Failed { error, .. }) => return Release::Unknown(error.to_string()),
            }
        }
        Release::Released
    }
}
