//! Locks on GemFire. Source: Apache Geode 1.15.1, the open-source edition. The protocol is
//! fencepost's own. A process is a member of the distributed system ([`member`]). When the member
//! departs, the grantor frees its locks. After an abandoned call, the member departs.
//!
//! - `gemfire` is the lock of Spring Integration's `GemfireLockRegistry`, with the lease of the
//!   cache (`lock-lease`, two minutes by default). When a holder departs, its cache closes, and its
//!   next acquire joins the system again.
//! - `gemfire-lease` is `DistributedLockService.lock(name, wait, lease)`: the lock ends after the
//!   ttl on the grantor's wall clock.
//! - `gemfire-token` also increments a counter in the region before its critical section.

pub mod member;
pub mod system;

use crate::env::{Env, Monotonic};
use crate::lock::{
    Acquisition, Algorithm, Definition, Deployment, FencingToken, Lease, Lock, LockForm, Release,
    Servers, Settings,
};
use member::{Failure, Member};
use std::rc::Rc;
use std::time::Duration;
use system::System;

const LOCK_LEASE: Duration = Duration::from_secs(120);

pub const DEFINITION: Definition = Definition {
    name: "gemfire",
    about: "GemfireLockRegistry: a distributed lock of a GLOBAL region, released when its member \
     departs",
    deployment: Deployment::GemFire(LockForm::Membership),
    has_tokens: false,
    is_fair: false,
    models: Some("Spring Integration 5.5, Geode 1.15"),
    build: |env, servers, settings| build(&env, servers, settings, Traits::PLAIN),
};

pub const LEASE: Definition = Definition {
    name: "gemfire-lease",
    about: "DistributedLockService.lock with a lease time",
    deployment: Deployment::GemFire(LockForm::MemberLease),
    models: Some("Geode 1.15"),
    build: |env, servers, settings| {
        build(&env, servers, settings, Traits { has_lease: true, ..Traits::PLAIN })
    },
    ..DEFINITION
};

pub const TOKEN: Definition = Definition {
    name: "gemfire-token",
    about: "gemfire with a counter in the GLOBAL region as fencing token",
    has_tokens: true,
    models: Some("Geode 1.15"),
    build: |env, servers, settings| {
        build(&env, servers, settings, Traits { has_tokens: true, ..Traits::PLAIN })
    },
    ..DEFINITION
};

#[derive(Clone, Copy)]
struct Traits {
    has_lease: bool,
    has_tokens: bool,
}

impl Traits {
    const PLAIN: Traits = Traits { has_lease: false, has_tokens: false };
}

fn build(env: &Env, servers: &Servers, settings: &Settings, traits: Traits) -> Box<dyn Lock> {
    Box::new(GemFire {
        system: Rc::new(System::new(env, servers, settings)),
        acquire_timeout: settings.acquire_timeout,
        command_timeout: settings.command_timeout,
        ttl: settings.ttl,
        traits,
        member: None,
        serial: 0,
    })
}

struct GemFire {
    system: Rc<System>,
    acquire_timeout: Duration,
    command_timeout: Duration,
    ttl: Duration,
    traits: Traits,
    member: Option<Member>,
    serial: u64,
}

impl GemFire {
    fn now(&self) -> Monotonic {
        self.system.env().monotonic_clock()
    }

    fn lease(&self) -> Duration {
        if self.traits.has_lease { self.ttl } else { LOCK_LEASE }
    }

    async fn take_or_join_member(&mut self, deadline: Monotonic) -> Result<Member, Failure> {
        match self.member.take().filter(|member| !member.is_closed()) {
            Some(member) => Ok(member),
            None => Member::join(&self.system, deadline).await,
        }
    }

    async fn token(
        &self,
        member: &Member,
        resource: &str,
        deadline: Monotonic,
    ) -> Result<Option<FencingToken>, Failure> {
        if !self.traits.has_tokens {
            return Ok(None);
        }
        member.increment(resource, deadline).await.map(|count| Some(FencingToken(count)))
    }

    fn granted(
        &mut self,
        resource: &str,
        member: Member,
        token: Option<FencingToken>,
    ) -> Acquisition {
        let owner = format!("{}-{}", member.name(), self.serial).into();
        self.member = Some(member);
        Acquisition::Granted(Lease {
            resource: resource.to_owned(),
            owner,
            token,
            // GemFire's `lock` does not return the end of the lease.
            valid_until: None,
        })
    }

    async fn give_up(
        &mut self,
        member: Member,
        (resource, serial): (&str, u64),
        failure: &Failure,
    ) -> Acquisition {
        let (why, patience) = (wording(failure), self.now().plus(self.command_timeout));
        match member.unlock(resource, serial, patience).await {
            Ok(_) => {
                self.member = Some(member);
                Acquisition::Refused(why.into())
            }
            Err(Failure::Departed { may_have_applied: false }) => Acquisition::Refused(why.into()),
            Err(_) => Acquisition::Unknown(why),
        }
    }
}

fn wording(failure: &Failure) -> String {
    match failure {
        Failure::Departed { .. } => "the member has departed".to_owned(),
        Failure::Refused(text) => format!("the server answered {text}"),
        Failure::Late(why) => why.clone(),
    }
}

impl Algorithm for GemFire {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let deadline = self.now().plus(self.acquire_timeout);
        loop {
            let member = match self.take_or_join_member(deadline).await {
                Ok(member) => member,
                Err(failure) => return Acquisition::Refused(wording(&failure).into()),
            };
            let serial = member.next_serial();
            let failure = match member.lock(resource, serial, self.lease(), deadline).await {
                Ok(()) => match self.token(&member, resource, deadline).await {
                    Ok(token) => {
                        self.serial = serial;
                        return self.granted(resource, member, token);
                    }
                    Err(failure) => failure,
                },
                Err(failure) => failure,
            };
            if !matches!(failure, Failure::Departed { .. }) {
                return self.give_up(member, (resource, serial), &failure).await;
            }
        }
    }

    async fn release(&mut self, lease: Lease) -> Release {
        let Some(member) = self.member.take() else { return Release::NotHeld };
        let patience = self.now().plus(member.silence());
        match member.unlock(&lease.resource, self.serial, patience).await {
            Ok(was_held) => {
                self.member = Some(member);
                if was_held { Release::Released } else { Release::NotHeld }
            }
            Err(Failure::Departed { may_have_applied: false }) => Release::NotHeld,
            Err(failure) => Release::Unknown(wording(&failure)),
        }
    }
}
