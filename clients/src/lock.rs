//! The [`Algorithm`] and [`Lock`] traits, their results, and the [`Definition`] of a lock.
//!
//! # Writing a lock
//!
//! A lock is usually one file, with its source cited at the top, and one line in [`crate::table`].
//! A Redis lock talks to its servers through a [`Session`](crate::Session), and every lock to its
//! host through [`Env`].
//!
//! - An attempt writes a [`fresh_owner`](crate::owned_key::fresh_owner). If a failed call may have
//!   taken the lock ([`CallError::may_have_applied`](crate::CallError::may_have_applied)), undo the
//!   attempt or return [`Acquisition::Unknown`].
//! - Retries end at the deadline or at an interrupt. Use [`Retry`](crate::Retry), or call
//!   [`Env::left`] or [`Env::is_interrupted`] in your loop.
//! - The caller may drop a call's future at any await point, and the lock must stay usable.
//! - [`TWINS`](crate::TWINS) lists the locks that deliberately keep a mistake from their source.
//!
//! This minimal lock sets a key and lets it expire:
//!
//! ```
//! use fencepost_clients::owned_key::{fresh_owner, set_if_absent};
//! use fencepost_clients::{Acquisition, Algorithm, Definition, Deployment, Env};
//! use fencepost_clients::{Lease, Release, Session};
//!
//! struct Expiring {
//!     env: Env,
//!     redis: Session,
//!     ttl_ms: String,
//! }
//!
//! impl Algorithm for Expiring {
//!     async fn acquire(&mut self, resource: &str) -> Acquisition {
//!         let owner = fresh_owner(&self.env);
//!         match set_if_absent(&mut self.redis, resource, &owner, &self.ttl_ms).await {
//!             Ok(true) => {
//!                 let (resource, token, valid_until) = (resource.to_owned(), None, None);
//!                 Acquisition::Granted(Lease { resource, owner, token, valid_until })
//!             }
//!             Ok(false) => Acquisition::Refused("held by another".into()),
//!             Err(error) if error.may_have_applied() => Acquisition::Unknown(error.to_string()),
//!             Err(error) => Acquisition::Refused(error.to_string().into()),
//!         }
//!     }
//!
//!     async fn release(&mut self, _: Lease) -> Release {
//!         Release::Unknown("runs out by itself".to_owned())
//!     }
//! }
//!
//! const DEFINITION: Definition = Definition {
//!     name: "expiring",
//!     about: "SET key owner NX PX ttl, never released",
//!     deployment: Deployment::Primary,
//!     has_tokens: false,
//!     is_fair: false,
//!     models: None,
//!     build: |env, servers, settings| {
//!         let redis = Session::primary(&env, servers, settings);
//!         Box::new(Expiring { env, redis, ttl_ms: settings.ttl.as_millis().to_string() })
//!     },
//! };
//! assert_eq!(DEFINITION.name, "expiring");
//! ```

use crate::env::{Address, BoxFuture, Env, Monotonic};
use bytes::Bytes;
use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::time::Duration;

/// A number by which the protected storage orders acquisitions (Kleppmann 2016).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FencingToken(pub u64);

/// A lock that a process believes it holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lease {
    pub resource: String,
    /// The owner, such as a random value or a connection number.
    pub owner: Bytes,
    pub token: Option<FencingToken>,
    /// End of the lease on the process's monotonic clock. `None` if the lock does not know the end.
    pub valid_until: Option<Monotonic>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Acquisition {
    Granted(Lease),
    /// The process did not get the lock, for example because another process holds it.
    Refused(Cow<'static, str>),
    /// A server may have granted the lock. The process must not enter its critical section.
    Unknown(String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Release {
    Released,
    NotHeld,
    Unknown(String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Extension {
    Extended,
    NotHeld,
    Unknown(String),
    Unsupported,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Check {
    Ours,
    NotHeld,
    Unknown(String),
    Unsupported,
}

/// Ways in which an application uses a lock, in addition to acquire and release.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Acquires the lock a second time while holding it (see [`Algorithm::acquire`]).
    pub nests: bool,
    /// Checks the lock just before the guarded write (see [`Algorithm::check`]).
    pub checks: bool,
    /// Extends the lease before the lease ends (see [`Algorithm::extend`]).
    pub extends: bool,
    /// Leaves the critical section when [`Algorithm::lost`] completes.
    pub leaves: bool,
    /// Relies on the lock to renew its lease, so a critical section may outlast one lease.
    pub renews: bool,
    /// Requests a lock-delay ([`Settings::lock_delay`]): after its holder has failed, the lock
    /// stays taken for this time.
    pub delays: bool,
}

impl Usage {
    pub const PLAIN: Usage = Usage {
        nests: false,
        checks: false,
        extends: false,
        leaves: false,
        renews: false,
        delays: false,
    };
}

/// A distributed lock, as one process of an application uses it.
///
/// A lock that notices its loss outside a release should report
/// [`Note::LockLost`](crate::env::Note::LockLost), for example before `check` returns `NotHeld`.
#[expect(async_fn_in_trait, reason = "the calls of a process run on one thread")]
pub trait Algorithm {
    /// Tries to acquire the lock until [`Settings::acquire_timeout`] has passed.
    ///
    /// **Nested** ([`Usage::nests`]): in some critical sections the application acquires the lock
    /// again after its guarded read, and releases the inner lease. If the inner acquire fails, the
    /// application writes nothing and releases the outer lease.
    async fn acquire(&mut self, resource: &str) -> Acquisition;

    /// Releases the lock. The application calls this once per lease, even if the lease has ended.
    async fn release(&mut self, lease: Lease) -> Release;

    /// Extends the lease. Returns [`Extension::Unsupported`] if the algorithm has no extensions.
    ///
    /// **Extended** ([`Usage::extends`]): the application extends the lease whenever less than a
    /// third of the ttl is left. After `NotHeld` it leaves the critical section without a further
    /// write; after `Unknown` it retries every tenth of the ttl until the lease ends.
    async fn extend(&mut self, _lease: &mut Lease) -> Extension {
        Extension::Unsupported
    }

    /// Asks the server whether the lock still belongs to the caller.
    ///
    /// **Checked** ([`Usage::checks`]): the application checks once per acquisition, directly
    /// before the guarded write, and writes only after `Ours`.
    async fn check(&mut self, _lease: &Lease) -> Check {
        Check::Unsupported
    }

    /// Completes when the lock may have been lost; never, if the lock cannot notice a loss.
    ///
    /// **Left** ([`Usage::leaves`]): when this call completes, the application leaves the critical
    /// section without further writes.
    async fn lost(&mut self, _lease: &Lease) {
        std::future::pending().await
    }

    /// Returns this lock for use by another thread, or `None` if it supports only one thread.
    fn for_thread(&self, _env: Env) -> Option<Box<dyn Lock>> {
        None
    }

    fn usage(&self) -> Usage {
        Usage::PLAIN
    }
}

/// An [`Algorithm`] of any type, behind a pointer. Every [`Algorithm`] is a `Lock`, so a lock
/// implements only [`Algorithm`].
pub trait Lock {
    fn acquire<'a>(&'a mut self, resource: &'a str) -> BoxFuture<'a, Acquisition>;

    fn release<'a>(&'a mut self, lease: Lease) -> BoxFuture<'a, Release>;

    fn extend<'a>(&'a mut self, lease: &'a mut Lease) -> BoxFuture<'a, Extension>;

    fn check<'a>(&'a mut self, lease: &'a Lease) -> BoxFuture<'a, Check>;

    fn lost<'a>(&'a mut self, lease: &'a Lease) -> BoxFuture<'a, ()>;

    fn for_thread(&self, env: Env) -> Option<Box<dyn Lock>>;

    fn usage(&self) -> Usage;
}

impl<A: Algorithm> Lock for A {
    fn acquire<'a>(&'a mut self, resource: &'a str) -> BoxFuture<'a, Acquisition> {
        Box::pin(Algorithm::acquire(self, resource))
    }

    fn release<'a>(&'a mut self, lease: Lease) -> BoxFuture<'a, Release> {
        Box::pin(Algorithm::release(self, lease))
    }

    fn extend<'a>(&'a mut self, lease: &'a mut Lease) -> BoxFuture<'a, Extension> {
        Box::pin(Algorithm::extend(self, lease))
    }

    fn check<'a>(&'a mut self, lease: &'a Lease) -> BoxFuture<'a, Check> {
        Box::pin(Algorithm::check(self, lease))
    }

    fn lost<'a>(&'a mut self, lease: &'a Lease) -> BoxFuture<'a, ()> {
        Box::pin(Algorithm::lost(self, lease))
    }

    fn for_thread(&self, env: Env) -> Option<Box<dyn Lock>> {
        Algorithm::for_thread(self, env)
    }

    fn usage(&self) -> Usage {
        Algorithm::usage(self)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deployment {
    Primary,
    Independent,
    Memcached,
    ZooKeeper,
    PostgreSql(LockForm),
    /// One MySQL or MariaDB server. A connection owns the lock.
    MySql,
    /// An etcd cluster whose servers have this version of the built-in lock.
    Etcd(ServerLock),
    Chubby,
    GemFire(LockForm),
    Own,
}

/// Version of the lock built into etcd's server. etcd 3.5.0 changed this lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServerLock {
    /// Servers before 3.5.0 grant the lock to a waiter without checking the waiter's key.
    Unchecked,
    /// Servers from 3.5.0 on check the waiter's key before they grant the lock.
    Checked,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockForm {
    /// A row that expires on the processes' clocks.
    RowByClients,
    /// A row that expires on the server's clock.
    RowByServer,
    /// A lock that ends with its database connection.
    Connection,
    /// A key that the server deletes when its lease ends. The process keeps the lease alive.
    Lease,
    /// A lock that ends with its session. The process keeps the session alive.
    Session,
    /// A lock that the server releases when the member departs.
    Membership,
    /// A member's lock with a lease on the server's clock.
    MemberLease,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Coordinator {
    Redis,
    Memcached,
    ZooKeeper,
    PostgreSql,
    MySql,
    Etcd,
    Chubby,
    GemFire,
    Own,
}

impl Deployment {
    pub const fn coordinator(self) -> Coordinator {
        match self {
            Deployment::Primary | Deployment::Independent => Coordinator::Redis,
            Deployment::Memcached => Coordinator::Memcached,
            Deployment::ZooKeeper => Coordinator::ZooKeeper,
            Deployment::PostgreSql(_) => Coordinator::PostgreSql,
            Deployment::MySql => Coordinator::MySql,
            Deployment::Etcd(_) => Coordinator::Etcd,
            Deployment::Chubby => Coordinator::Chubby,
            Deployment::GemFire(_) => Coordinator::GemFire,
            Deployment::Own => Coordinator::Own,
        }
    }

    pub const fn lives_with_session(self) -> bool {
        matches!(
            self,
            Deployment::ZooKeeper
                | Deployment::Etcd(_)
                | Deployment::Chubby
                | Deployment::GemFire(LockForm::Membership)
        )
    }

    pub const fn lock_form(self) -> Option<LockForm> {
        match self {
            Deployment::PostgreSql(keeps) | Deployment::GemFire(keeps) => Some(keeps),
            Deployment::MySql => Some(LockForm::Connection),
            Deployment::Etcd(_) => Some(LockForm::Lease),
            Deployment::Chubby => Some(LockForm::Session),
            Deployment::Primary
            | Deployment::Independent
            | Deployment::Memcached
            | Deployment::ZooKeeper
            | Deployment::Own => None,
        }
    }
}

impl Coordinator {
    /// All coordinators except [`Coordinator::Own`], in display order.
    pub const ALL: &'static [Coordinator] = &[
        Coordinator::Redis,
        Coordinator::Memcached,
        Coordinator::ZooKeeper,
        Coordinator::PostgreSql,
        Coordinator::MySql,
        Coordinator::Etcd,
        Coordinator::Chubby,
        Coordinator::GemFire,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Coordinator::Redis => "redis",
            Coordinator::Memcached => "memcached",
            Coordinator::ZooKeeper => "zookeeper",
            Coordinator::PostgreSql => "postgresql",
            Coordinator::MySql => "mysql",
            Coordinator::Etcd => "etcd",
            Coordinator::Chubby => "chubby",
            Coordinator::GemFire => "gemfire",
            Coordinator::Own => "own",
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Servers {
    One(Address),
    Sentinels {
        /// Name under which the Sentinels monitor the primary, such as `mymaster`.
        name: String,
        sentinels: Vec<Address>,
    },
    Independent(Vec<Address>),
    Ensemble(Vec<Address>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplicaWait {
    pub replicas: u16,
    /// Timeout argument of WAIT, sent in whole milliseconds.
    pub timeout: Duration,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    pub ttl: Duration,
    pub retry: RangeInclusive<Duration>,
    pub acquire_timeout: Duration,
    /// Usual time limit for connecting to a server, and for each reply.
    pub command_timeout: Duration,
    /// The same limit for one of several independent masters.
    pub node_timeout: Duration,
    /// Replicas that must acknowledge a grant, if the lock supports this.
    pub wait: Option<ReplicaWait>,
    /// `true` if the Sentinel client subscribes to `+switch-master`. redis-py does not.
    pub hears_switches: bool,
    /// Lock-delay of Chubby locks that request one. `None` means one minute.
    pub lock_delay: Option<Duration>,
}

pub struct Definition {
    /// The lock's name in `--client`.
    pub name: &'static str,
    pub about: &'static str,
    pub deployment: Deployment,
    pub has_tokens: bool,
    /// `true` if the lock promises to serve waiters in order of arrival.
    pub is_fair: bool,
    pub models: Option<&'static str>,
    /// Builds the lock for a process's first thread. Panics if the servers do not match.
    pub build: fn(Env, &Servers, &Settings) -> Box<dyn Lock>,
}
