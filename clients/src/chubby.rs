//! Locks on Chubby, after Burrows, "The Chubby lock service for loosely-coupled distributed
//! systems", OSDI 2006. Numbers in brackets are sections of that paper. Chubby is not available
//! outside Google, so the server is a model of a cell with fencepost's own protocol.
//!
//! A process has one session ([`session`]), and the end of the session releases its locks. After an
//! abandoned acquire, or a release without a reply, the client lets the session expire.
//!
//! - `chubby` requests a lock-delay of one minute by default, the maximum: after a holder fails,
//!   its lock stays taken for that time (2.4). The holder ignores events.
//! - `chubby-sequencer` passes the generation of its sequencer to the storage, which compares it
//!   with the latest generation that it has received (2.4).
//! - `chubby-no-delay` requests no lock-delay. This mistake is **planted**.
//! - `chubby-checked` is `chubby-no-delay` with a careful holder. It leaves its critical section
//!   when its session is in jeopardy (2.8), and checks its sequencer just before it writes (2.6).

pub mod cell;
pub mod session;

use crate::env::{Env, Monotonic, Note};
use crate::lock::{
    Acquisition, Algorithm, Check, Definition, Deployment, FencingToken, Lease, Lock, Release,
    Servers, Settings, Usage,
};
use cell::Cell;
use session::{Failure, GRACE, Session, Status};
use std::rc::Rc;
use std::time::Duration;

pub const LOCK_DELAY_MAX: Duration = Duration::from_secs(60);

pub const DEFINITION: Definition = Definition {
    name: "chubby",
    about: "a Chubby lock with a lock-delay of one minute after its holder fails",
    deployment: Deployment::Chubby,
    has_tokens: false,
    is_fair: false,
    models: Some("Chubby, Burrows 2006"),
    build: |env, servers, settings| build(&env, servers, settings, Traits::PLAIN),
};

pub const SEQUENCER: Definition = Definition {
    name: "chubby-sequencer",
    about: "chubby with its sequencer as fencing token",
    has_tokens: true,
    build: |env, servers, settings| {
        build(&env, servers, settings, Traits { has_tokens: true, ..Traits::PLAIN })
    },
    ..DEFINITION
};

pub const NO_DELAY: Definition = Definition {
    name: "chubby-no-delay",
    about: "chubby with a lock-delay of zero",
    build: |env, servers, settings| build(&env, servers, settings, Traits::NO_DELAY),
    ..DEFINITION
};

pub const CHECKED: Definition = Definition {
    name: "chubby-checked",
    about: "chubby-no-delay whose holder leaves when its session is in jeopardy and checks its \
            sequencer before writing",
    build: |env, servers, settings| {
        build(&env, servers, settings, Traits { is_careful: true, ..Traits::NO_DELAY })
    },
    ..DEFINITION
};

#[derive(Clone, Copy)]
struct Traits {
    has_delay: bool,
    has_tokens: bool,
    is_careful: bool,
}

impl Traits {
    const PLAIN: Traits = Traits { has_delay: true, has_tokens: false, is_careful: false };
    const NO_DELAY: Traits = Traits { has_delay: false, ..Traits::PLAIN };
}

fn build(env: &Env, servers: &Servers, settings: &Settings, traits: Traits) -> Box<dyn Lock> {
    let delay = settings.lock_delay.unwrap_or(LOCK_DELAY_MAX);
    Box::new(Chubby {
        cell: Rc::new(Cell::new(env, servers, settings)),
        acquire_timeout: settings.acquire_timeout,
        command_timeout: settings.command_timeout,
        lock_delay: if traits.has_delay { delay } else { Duration::ZERO },
        traits,
        session: None,
        held: HeldSequencer::default(),
    })
}

struct Chubby {
    cell: Rc<Cell>,
    acquire_timeout: Duration,
    command_timeout: Duration,
    lock_delay: Duration,
    traits: Traits,
    /// Empty during an acquire or a release, so that dropping the call also drops the session.
    session: Option<Session>,
    held: HeldSequencer,
}

#[derive(Clone, Copy, Default)]
struct HeldSequencer {
    acquire: u64,
    generation: u64,
}

impl Chubby {
    fn now(&self) -> Monotonic {
        self.cell.env().monotonic_clock()
    }

    async fn take_or_open_session(&mut self, deadline: Monotonic) -> Result<Session, Failure> {
        match self.session.take().filter(|session| session.status() != Status::Expired) {
            Some(session) => Ok(session),
            None => Session::open(&self.cell, deadline).await,
        }
    }

    async fn wait_for(
        &self,
        session: &Session,
        request: &str,
        deadline: Monotonic,
    ) -> Result<u64, Failure> {
        let env = self.cell.env();
        loop {
            let changed = session.changed();
            let answer = session.call("acquire", request, deadline).await?;
            if let [word, generation] = &answer[..]
                && word == "acquired"
                && let Ok(generation) = generation.parse()
            {
                return Ok(generation);
            }
            let left = deadline.since(env.monotonic_clock());
            if env.timeout(left, changed).await.is_none() || env.is_interrupted() {
                return Err(Failure::Late("the lock is held or in its lock-delay".to_owned()));
            }
        }
    }

    fn granted(&mut self, resource: &str, session: Session) -> Acquisition {
        let generation = self.held.generation;
        let owner = format!("{}-{generation}", session.id()).into();
        let token = self.traits.has_tokens.then_some(FencingToken(generation));
        self.session = Some(session);
        Acquisition::Granted(Lease {
            resource: resource.to_owned(),
            owner,
            token,
            valid_until: None,
        })
    }
}

fn wording(failure: &Failure) -> String {
    match failure {
        Failure::Expired { .. } => "the session has expired".to_owned(),
        Failure::Refused(text) => format!("the cell answered {text}"),
        Failure::Late(why) => why.clone(),
    }
}

impl Algorithm for Chubby {
    async fn acquire(&mut self, resource: &str) -> Acquisition {
        let deadline = self.now().plus(self.acquire_timeout);
        let (session, acquire, failure) = loop {
            let session = match self.take_or_open_session(deadline).await {
                Ok(session) => session,
                Err(failure) => return Acquisition::Refused(wording(&failure).into()),
            };
            let acquire = session.next_acquire();
            let request = format!("{resource} {acquire} {}", self.lock_delay.as_micros());
            match self.wait_for(&session, &request, deadline).await {
                Ok(generation) => {
                    self.held = HeldSequencer { acquire, generation };
                    return self.granted(resource, session);
                }
                Err(Failure::Expired { .. }) => {}
                Err(failure) => break (session, acquire, failure),
            }
        };
        let why = wording(&failure);
        let patience = self.now().plus(self.command_timeout);
        match session.call("release", &format!("{resource} {acquire}"), patience).await {
            Ok(_) => {
                self.session = Some(session);
                Acquisition::Refused(why.into())
            }
            Err(Failure::Expired { .. }) => Acquisition::Refused(why.into()),
            Err(_) => Acquisition::Unknown(why),
        }
    }

    async fn release(&mut self, lease: Lease) -> Release {
        let Some(session) = self.session.take() else { return Release::NotHeld };
        let patience = self.now().plus(GRACE);
        let words = format!("{} {}", lease.resource, self.held.acquire);
        match session.call("release", &words, patience).await {
            Ok(_) => {
                self.session = Some(session);
                Release::Released
            }
            Err(Failure::Expired { may_have_applied: false }) => Release::NotHeld,
            Err(failure) => Release::Unknown(wording(&failure)),
        }
    }

    async fn check(&mut self, lease: &Lease) -> Check {
        let Some(session) = &self.session else { return Check::NotHeld };
        let patience = self.now().plus(self.command_timeout);
        let words = format!("{} {}", lease.resource, self.held.generation);
        let answer = session.call("check", &words, patience).await;
        match answer.as_deref() {
            Ok([word]) if word == "valid" => Check::Ours,
            Ok(_) | Err(Failure::Expired { .. }) => {
                self.cell.env().note(Note::LockLost);
                Check::NotHeld
            }
            Err(failure) => Check::Unknown(wording(failure)),
        }
    }

    async fn lost(&mut self, _: &Lease) {
        let Some(session) = self.session.as_ref().filter(|_| self.traits.is_careful) else {
            return std::future::pending().await;
        };
        session.wait_until_unsafe().await;
        self.cell.env().note(Note::LockLost);
    }

    fn usage(&self) -> Usage {
        let is_careful = self.traits.is_careful;
        Usage {
            leaves: is_careful,
            checks: is_careful,
            renews: true,
            delays: self.traits.has_delay,
            ..Usage::PLAIN
        }
    }
}
