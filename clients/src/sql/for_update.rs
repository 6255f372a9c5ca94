//! `select-for-update`: a transaction locks a row before the critical section, and COMMIT frees it.
//! Source: PostgreSQL 15's documentation, "Explicit Locking", row-level locks. `lock_timeout`
//! limits the wait for the row. Mistake: **only the end of the connection ends a paused holder's
//! transaction**. In `select-for-update-timeout` the server ends a transaction that is idle for a
//! ttl (`idle_in_transaction_session_timeout`); the holder notices when it commits.

use super::protocol::{Parameter, StatementResult};
use super::session::{Failure, Session};
use super::{connection, lease};
use crate::call_error::CallError;
use crate::env::{Env, Monotonic};
use crate::lock::{
    Acquisition, Algorithm, Definition, Deployment, Lease, LockForm, Release, Servers, Settings,
};
use crate::retry::Retry;
use std::time::Duration;

pub const DEFINITION: Definition = Definition {
    name: "select-for-update",
    about: "PostgreSQL: SELECT ... FOR UPDATE locks a row until the transaction ends",
    deployment: Deployment::PostgreSql(LockForm::Connection),
    has_tokens: false,
    is_fair: false,
    models: None,
    build: |env, servers, settings| Box::new(ForUpdate::new(env, servers, settings, None)),
};

pub const TIMEOUT: Definition = Definition {
    name: "select-for-update-timeout",
    about: "select-for-update on a server that ends a transaction after an idle time of one ttl",
    build: |env, servers, settings| {
        Box::new(ForUpdate::new(env, servers, settings, Some(settings.ttl)))
    },
    ..DEFINITION
};

const SELECT: &str = "SELECT name FROM locks WHERE name = $1 FOR UPDATE";

struct ForUpdate {
    env: Env,
    settings: Settings,
    idle: Option<Duration>,
    server: Session,
}

impl ForUpdate {
    fn new(env: Env, servers: &Servers, settings: &Settings, idle: Option<Duration>) -> ForUpdate {
        let server = connection(&env, servers, settings);
        ForUpdate { env, settings: settings.clone(), idle, server }
    }

    async fn attempt(&mut self, resource: &str, deadline: Monotonic) -> Acquisition {
        match self.lock_row(resource, deadline).await {
            Ok(done) if !done.rows.is_empty() => {
                let backend = self.server.backend().unwrap_or_default();
                Acquisition::Granted(lease(resource, backend.to_string()))
            }
            Ok(_) => {
                self.server.roll_back().await;
                Acquisition::Refused("no row has that name".into())
            }
            Err(error) => {
                if let Failure::Refused(_) = error {
                    self.server.roll_back().await;
                }
                match error.may_have_applied() {
                    true => Acquisition::Unknown(error.to_string()),
                    false => Acquisition::Refused(error.to_string().into()),
                }
            }
        }
    }

    async fn lock_row(
        &mut self,
        resource: &str,
        deadline: Monotonic,
    ) -> Result<StatementResult, Failure> {
        let left = deadline.since(self.env.monotonic_clock()).max(Duration::from_millis(1));
        let bound = format!("SET LOCAL lock_timeout = '{}ms'", left.as_millis());
        self.server.begin("BEGIN", &bound, &[]).await?;
        if let Some(idle) = self.idle {
            let setting = "idle_in_transaction_session_timeout";
            let bound = format!("SET LOCAL {setting} = '{}ms'", idle.as_millis());
            self.server.run_next(&bound, &[]).await?;
        }
        let name = [Parameter::text(resource)];
        self.server.bound(SELECT, &name, left + self.settings.command_timeout).await
    }
}

impl Algorithm for ForUpdate {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let deadline = self.env.monotonic_clock().plus(self.settings.acquire_timeout);
        let retry = Retry::start(&self.env, &self.settings);
        retry.until_granted(async || self.attempt(resource, deadline).await).await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        let own = self.server.backend().map(|backend| backend.to_string());
        if own.as_deref().map(str::as_bytes) != Some(&lease.owner[..]) {
            return Release::NotHeld;
        }
        match self.server.commit().await {
            Ok(true) => Release::Released,
            Ok(false) | Err(Failure::Refused(_) | Failure::Lost(CallError::Unsent(_))) => {
                self.server.close();
                Release::NotHeld
            }
            Err(error) => Release::Unknown(error.to_string()),
        }
    }
}
