//! Redis locks from Chinese web articles, with the articles' mistakes, and corrected variants.
//!
//! Files cite the articles by number: **000** (2014) on SETNX with GETSET; **001** on SETNX with
//! EXPIRE, SET with NX and EX, owner checks and renewal; **003** on Lua scripts, Redlock and
//! reentrancy; **004** on Redisson and Spring Integration. **002** repeats the first part of 000.
//!
//! The articles ignore failed calls. Here a failed call ends the attempt. If no attempt succeeds,
//! but an attempt may have taken the lock, the lock returns [`Acquisition::Unknown`]. Endless loops
//! stop at the acquire timeout. In [`jedis_getset`], a failed call ends the whole acquire.

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
use crate::commands::{delete, get};
use crate::env::{Env, Note};
use crate::lock::{
    Acquisition, Algorithm, Check, Definition, Deployment, Lease, Lock, Release, Servers, Settings,
    Usage,
};
use crate::retry::Retry;
use crate::session::Session;
use bytes::Bytes;

struct Base {
    env: Env,
    settings: Settings,
    redis: Session,
}

trait Steps: 'static {
    async fn attempt(&self, base: &mut Base, resource: &str) -> Result<Bytes, AttemptFailure>;

    async fn remove(&self, base: &mut Base, lease: &Lease) -> Result<bool, CallError> {
        delete(&mut base.redis, &lease.resource).await
    }

    fn usage(&self) -> Usage {
        Usage::PLAIN
    }
}

struct Stepwise<S> {
    base: Base,
    steps: S,
}

impl<S: Steps> Algorithm for Stepwise<S> {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let Stepwise { base, steps } = self;
        Retry::start(&base.env, &base.settings)
            .until_granted(async || acquisition(resource, steps.attempt(base, resource).await))
            .await
    }

    async fn release(&mut self, lease: Lease) -> Release {
        release_result(self.steps.remove(&mut self.base, &lease).await)
    }

    async fn check(&mut self, lease: &Lease) -> Check {
        self.base.check(lease).await
    }

    fn usage(&self) -> Usage {
        self.steps.usage()
    }
}

fn stepwise(env: Env, servers: &Servers, settings: &Settings, steps: impl Steps) -> Box<dyn Lock> {
    Box::new(Stepwise { base: Base::new(env, servers, settings), steps })
}

const fn entry(
    name: &'static str,
    about: &'static str,
    build: fn(Env, &Servers, &Settings) -> Box<dyn Lock>,
) -> Definition {
    Definition {
        name,
        about,
        deployment: Deployment::Primary,
        has_tokens: false,
        is_fair: false,
        models: None,
        build,
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum AttemptFailure {
    Held,
    Failed(String),
    Halfway(String),
}

impl AttemptFailure {
    fn before_any_effect(error: CallError) -> AttemptFailure {
        AttemptFailure::Failed(error.to_string())
    }
}

impl From<CallError> for AttemptFailure {
    fn from(error: CallError) -> AttemptFailure {
        match error.may_have_applied() {
            true => AttemptFailure::Halfway(error.to_string()),
            false => AttemptFailure::Failed(error.to_string()),
        }
    }
}

impl Base {
    fn new(env: Env, servers: &Servers, settings: &Settings) -> Base {
        Base { redis: Session::primary(&env, servers, settings), settings: settings.clone(), env }
    }

    fn expire_ms(&self) -> i64 {
        i64::try_from(self.settings.ttl.as_millis()).unwrap_or(i64::MAX)
    }

    async fn check(&mut self, lease: &Lease) -> Check {
        match get(&mut self.redis, &lease.resource).await {
            Ok(value) if value.as_ref() == Some(&lease.owner) => Check::Ours,
            Ok(_) => {
                self.env.note(Note::LockLost);
                Check::NotHeld
            }
            Err(error) => Check::Unknown(error.to_string()),
        }
    }
}

fn acquisition(resource: &str, attempt: Result<Bytes, AttemptFailure>) -> Acquisition {
    match attempt {
        Ok(owner) => Acquisition::Granted(Lease {
            resource: resource.to_owned(),
            owner,
            token: None,
            valid_until: None,
        }),
        Err(AttemptFailure::Held) => Acquisition::Refused("held by another".into()),
        Err(AttemptFailure::Failed(reason)) => Acquisition::Refused(reason.into()),
        Err(AttemptFailure::Halfway(reason)) => Acquisition::Unknown(reason),
    }
}

fn release_result(removal: Result<bool, CallError>) -> Release {
    match removal {
        Ok(true) => Release::Released,
        Ok(false) => Release::NotHeld,
        Err(error) if error.may_have_applied() => Release::Unknown(error.to_string()),
        Err(error) => Release::Unknown(format!("not released: {error}")),
    }
}
