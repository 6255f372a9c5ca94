//! Locks on one Redis as articles for practitioners give them, mistakes included, each with the
//! same lock in which the mistake is fixed.
//!
//! The files name their sources by number; these are four articles in Chinese, as they circulate on
//! the web:
//!
//! - **000**, on SETNX and GETSET locks, 2014, in two parts: first a lock whose value is the time
//!   of the acquire, then ("an article from practice") one whose value is the time of expiry, with
//!   pseudo-code and a Java class for Jedis.
//! - **001**, on distributed locks for microservices: SETNX and EXPIRE, SET with NX and EX, the
//!   owner check, the renewing daemon.
//! - **002**, the first part of 000 once more.
//! - **003**, on what to mind when a Redis lock is used: the release by Lua, the extension by Lua,
//!   Redlock, reentrancy by value.
//!
//! The articles do not say what happens when a call fails. Here an attempt whose call fails is
//! over, and the loop goes on; if the call may have been carried out, the answer is
//! [`Acquisition::Unknown`] in the end. Values are not undone unless the header says so: without an
//! owner in the value nobody can tell whose it is. Loops without an end stop at the timeout of the
//! acquire.

pub mod setnx;

pub mod set_ex_del;
pub mod set_px_get_del;
pub mod setnx_expire;

pub mod jedis_getset;
pub mod setnx_getset;
pub mod setnx_getset_expiry;
pub mod setnx_stale_del;
pub mod stamp;

pub mod checked;
pub mod lua_extend;
pub mod reentrant;
pub mod watchdog;

use crate::call_error::CallError;
use crate::env::Env;
use crate::lock::{Acquisition, Lease, Release, Servers, Settings};
use crate::retry::Retry;
use crate::session::Session;
use bytes::Bytes;

/// What every lock of this family has: its host, its numbers, and its one Redis.
struct Base {
    env: Env,
    settings: Settings,
    redis: Session,
}

/// Why an attempt did not bring the lock.
#[derive(Clone, PartialEq, Eq, Debug)]
enum NotTaken {
    /// Somebody else holds it.
    Held,
    /// A call failed, and nothing of this attempt stands.
    Failed(String),
    /// A call failed that may have been carried out, or the attempt was left halfway: something of
    /// it may stand.
    Halfway(String),
}

impl NotTaken {
    /// For the error of a call that takes nothing, such as a read: whether it was carried out does
    /// not matter.
    fn harmless(error: CallError) -> NotTaken {
        NotTaken::Failed(error.to_string())
    }
}

impl From<CallError> for NotTaken {
    fn from(error: CallError) -> NotTaken {
        match error.may_have_applied() {
            true => NotTaken::Halfway(error.to_string()),
            false => NotTaken::Failed(error.to_string()),
        }
    }
}

impl Base {
    fn new(env: Env, servers: &Servers, settings: &Settings) -> Base {
        Base { redis: Session::primary(&env, servers, settings), settings: settings.clone(), env }
    }

    /// How old a lock may become before others take it over, in milliseconds.
    fn expire_ms(&self) -> i64 {
        i64::try_from(self.settings.ttl.as_millis()).unwrap_or(i64::MAX)
    }

    /// Attempts until one gives the value under which the lock is held, or the time is over.
    async fn until_taken(
        &mut self,
        resource: &str,
        mut attempt: impl AsyncFnMut(&mut Base, &str) -> Result<Bytes, NotTaken>,
    ) -> Acquisition {
        let retry = Retry::start(&self.env, &self.settings);
        retry.until_granted(async || acquisition(resource, attempt(self, resource).await)).await
    }
}

/// The answer to one attempt. These locks state no validity and give no token.
fn acquisition(resource: &str, attempt: Result<Bytes, NotTaken>) -> Acquisition {
    match attempt {
        Ok(owner) => Acquisition::Granted(Lease {
            resource: resource.to_owned(),
            owner,
            token: None,
            valid_until: None,
        }),
        Err(NotTaken::Held) => Acquisition::Refused("held by another".into()),
        Err(NotTaken::Failed(reason)) => Acquisition::Refused(reason.into()),
        Err(NotTaken::Halfway(reason)) => Acquisition::Unknown(reason),
    }
}

/// What the outcome of the command that removes the key says about the release. The articles send
/// it once.
fn release_by(removal: Result<bool, CallError>) -> Release {
    match removal {
        Ok(true) => Release::Released,
        Ok(false) => Release::NotHeld,
        Err(error) if error.may_have_applied() => Release::Unknown(error.to_string()),
        Err(error) => Release::Unknown(format!("not released: {error}")),
    }
}
