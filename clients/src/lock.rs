//! The [`Lock`] trait, its results, and the [`Definition`] of a lock.
//!
//! # Writing a lock
//!
//! A lock is one file, with its source cited at the top, and one line in [`crate::table`]. It talks
//! to its servers through a [`Session`](crate::Session), and to its host through [`Env`].
//!
//! - If a call fails, the lock returns a refusal only if the server certainly did not execute the
//!   call: [`CallError::may_have_applied`](crate::CallError::may_have_applied).
//! - Each attempt writes a [`fresh_owner`](crate::owned_key::fresh_owner). If the outcome is
//!   unknown, the lock tries to undo the attempt, and returns [`Acquisition::Unknown`] if it
//!   cannot.
//! - Retries end at the deadline or at an interrupt. [`Retry`](crate::Retry) ensures this; a loop
//!   without it calls [`Env::left`] or [`Env::is_interrupted`].
//! - The caller may drop a call's future at any await point, and the lock must stay usable.
//! - [`TWINS`](crate::TWINS) lists the locks that deliberately keep a mistake from their source.
//!
//! The smallest lock that follows these rules sets a key and lets it expire:
//!
//! ```
//! use fencepost_clients::env::BoxFuture;
//! use fencepost_clients::owned_key::{fresh_owner, set_if_absent};
//! use fencepost_clients::{Acquisition, Definition, Deployment, Env};
//! use fencepost_clients::{Lease, Lock, Release, Session};
//!
//! struct Expiring {
//!     env: Env,
//!     redis: Session,
//!     ttl_ms: String,
//! }
//!
//! impl Lock for Expiring {
//!     fn acquire<'a>(&'a mut self, resource: &'a str) -> BoxFuture<'a, Acquisition> {
//!         Box::pin(async move {
//!             let owner = fresh_owner(&self.env);
//!             match set_if_absent(&mut self.redis, resource, &owner, &self.ttl_ms).await {
//!                 Ok(true) => {
//!                     let resource = resource.to_owned();
//!                     let (token, valid_until) = (None, None);
//!                     Acquisition::Granted(Lease { resource, owner, token, valid_until })
//!                 }
//!                 Ok(false) => Acquisition::Refused("held by another".into()),
//!                 Err(error) if error.may_have_applied() => {
//!                     Acquisition::Unknown(error.to_string())
//!                 }
//!                 Err(error) => Acquisition::Refused(error.to_string().into()),
//!             }
//!         })
//!     }
//!
//!     fn release<'a>(&'a mut self, _: Lease) -> BoxFuture<'a, Release> {
//!         Box::pin(std::future::ready(Release::Unknown("runs out by itself".to_owned())))
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
    /// Name of the locked resource.
    pub resource: String,
    /// Owner value of this acquisition.
    pub owner: Bytes,
    /// Token that the storage can check, if the lock has one.
    pub token: Option<FencingToken>,
    /// End of the lease on the process's monotonic clock. `None` if the lock does not know the end.
    pub valid_until: Option<Monotonic>,
}

/// Result of an acquire.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Acquisition {
    /// The process may enter its critical section.
    Granted(Lease),
    /// Another process holds the lock, or too few servers granted it.
    Refused(Cow<'static, str>),
    /// A server may have granted the lock. The process must not enter its critical section.
    Unknown(String),
}

/// Result of a release.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Release {
    /// The server removed the caller's lock.
    Released,
    /// The server no longer had the caller's lock.
    NotHeld,
    /// The server may have removed the lock.
    Unknown(String),
}

/// Result of an extension.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Extension {
    /// The server extended the lease, and the call updated [`Lease::valid_until`].
    Extended,
    /// The lock no longer belonged to the caller.
    NotHeld,
    /// The server may have extended the lease.
    Unknown(String),
    /// This lock cannot be extended.
    Unsupported,
}

/// Result of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Check {
    /// The lock belonged to the caller when the server answered.
    Ours,
    /// The lock no longer belonged to the caller.
    NotHeld,
    /// No server answered.
    Unknown(String),
    /// This lock has no check.
    Unsupported,
}

/// The calls that an application makes in addition to acquire and release.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// The application acquires the lock again while it holds it: see [`Lock::acquire`].
    pub nests: bool,
    /// The application checks the lock just before the guarded write: see [`Lock::check`].
    pub checks: bool,
    /// The application extends its lease before the lease ends: see [`Lock::extend`].
    pub extends: bool,
    /// The application leaves its critical section when [`Lock::lost`] returns.
    pub leaves: bool,
    /// The lock renews its own lease, so a critical section may be longer than the lease.
    pub renews: bool,
}

impl Usage {
    /// Only acquire and release.
    pub const PLAIN: Usage =
        Usage { nests: false, checks: false, extends: false, leaves: false, renews: false };
}

/// A distributed lock, as one process of an application uses it.
///
/// Code that notices the loss of the lock reports [`Note::LockLost`](crate::env::Note::LockLost),
/// except in a release. `check` and `extend` report it before they return `NotHeld`, and a watchdog
/// reports it when the server refuses its renewal.
pub trait Lock {
    /// Tries to acquire the lock, and retries until [`Settings::acquire_timeout`] has passed.
    ///
    /// **Nested** ([`Usage::nests`]): in some critical sections the application acquires the lock
    /// again after its guarded read. It releases the inner lease and continues the outer critical
    /// section. If the inner acquire fails, the application writes nothing and releases the outer
    /// lease. Operations: acquire, read, *acquire, release*, write, release.
    fn acquire<'a>(&'a mut self, resource: &'a str) -> BoxFuture<'a, Acquisition>;

    /// Releases the lock. The application calls this once per lease, even after the lease's end.
    fn release<'a>(&'a mut self, lease: Lease) -> BoxFuture<'a, Release>;

    /// Extends the lease, if the algorithm supports extensions.
    ///
    /// **Extended** ([`Usage::extends`]): the application extends the lease whenever less than a
    /// third of the ttl is left, and once more after the lease's end. After `NotHeld` it leaves the
    /// critical section without a write. After `Unknown` it retries every tenth of the ttl until
    /// the lease ends. Operations: acquire, read, *extend* as often as needed, write, *extend*,
    /// release.
    fn extend<'a>(&'a mut self, lease: &'a mut Lease) -> BoxFuture<'a, Extension> {
        let _ = lease;
        Box::pin(std::future::ready(Extension::Unsupported))
    }

    /// Checks whether the lock still belongs to the caller.
    ///
    /// **Checked** ([`Usage::checks`]): the application checks once per acquisition, directly
    /// before the guarded write, and writes only if the result is `Ours`. Operations: acquire,
    /// read, *check*, write, release.
    fn check<'a>(&'a mut self, lease: &'a Lease) -> BoxFuture<'a, Check> {
        let _ = lease;
        Box::pin(std::future::ready(Check::Unsupported))
    }

    /// Returns when the lock may be lost. Never returns if the lock cannot notice its loss.
    ///
    /// **Left** ([`Usage::leaves`]): when this call returns, the application leaves the critical
    /// section without further writes. Operations: acquire, read, write, release, or fewer.
    fn lost<'a>(&'a mut self, lease: &'a Lease) -> BoxFuture<'a, ()> {
        let _ = lease;
        Box::pin(std::future::pending())
    }

    /// Returns the lock for another thread, or `None` if the lock supports only one thread.
    fn for_thread(&self, env: Env) -> Option<Box<dyn Lock>> {
        let _ = env;
        None
    }

    /// Returns the calls that the application makes in addition to acquire and release.
    fn usage(&self) -> Usage {
        Usage::PLAIN
    }
}

/// The servers that a lock needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deployment {
    /// One Redis, or one primary found through Sentinel.
    Primary,
    /// Several Redis masters without replication.
    Independent,
    /// One memcached server.
    Memcached,
    /// A ZooKeeper ensemble.
    ZooKeeper,
    /// One PostgreSQL server, which stores the lock in this form.
    PostgreSql(LockForm),
    /// One MySQL or MariaDB, where the lock belongs to a connection.
    MySql,
    /// An etcd cluster with this kind of built-in lock.
    Etcd(ServerLock),
    /// A Chubby cell.
    Chubby,
    /// Servers of a GemFire system, which store the lock in this form.
    GemFire(LockForm),
    /// User-supplied servers.
    Own,
}

/// Version-dependent behaviour of an etcd server's built-in lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServerLock {
    /// All 3.4 servers grant the lock to a waiter without checking its key.
    Unchecked,
    /// Servers since 3.5.0 check the waiter's key before they grant the lock.
    Checked,
}

/// How a server stores a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockForm {
    /// A row with an owner and an expiry time on the processes' clocks.
    RowByClients,
    /// A row with an owner and an expiry time on the server's clock.
    RowByServer,
    /// A lock that belongs to a database connection and ends with it.
    Connection,
    /// A key that is deleted when its lease ends. The process keeps the lease alive.
    Lease,
    /// A lock that belongs to a session, which the process keeps alive.
    Session,
    /// A member's lock in a distributed system, released when the member departs.
    Membership,
    /// A member's lock, with a lease on the server's clock.
    MemberLease,
}

/// The kind of server that stores the lock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Coordinator {
    /// Redis: a single server, a primary with replicas and Sentinels, or independent masters.
    Redis,
    /// A single memcached server.
    Memcached,
    /// A ZooKeeper ensemble.
    ZooKeeper,
    /// A single PostgreSQL server.
    PostgreSql,
    /// A single MySQL server, as implemented by MariaDB.
    MySql,
    /// An etcd cluster.
    Etcd,
    /// A Chubby cell.
    Chubby,
    /// The servers of a GemFire distributed system.
    GemFire,
    /// User-supplied servers, for a user-supplied program.
    Own,
}

impl Deployment {
    /// Returns the kind of server in this deployment.
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

    /// Returns whether a lock in this deployment lives as long as its process's session.
    pub const fn lives_with_session(self) -> bool {
        matches!(
            self,
            Deployment::ZooKeeper
                | Deployment::Etcd(_)
                | Deployment::Chubby
                | Deployment::GemFire(LockForm::Membership)
        )
    }

    /// Returns how the server stores the lock, or `None` if its coordinator has only one way.
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
    /// All coordinators that fencepost simulates, in display order.
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

    /// Returns the coordinator's value for `--coordinator`.
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

/// The addresses of the servers in a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Servers {
    /// One server at a fixed address.
    One(Address),
    /// A primary whose address the Sentinels know.
    Sentinels {
        /// Name under which the Sentinels monitor the primary (`mymaster`).
        name: String,
        /// Addresses of the Sentinels.
        sentinels: Vec<Address>,
    },
    /// Independent masters.
    Independent(Vec<Address>),
    /// The servers of a coordinator other than Redis. The process may use any of them.
    Ensemble(Vec<Address>),
}

/// The replicas that must acknowledge a grant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplicaWait {
    /// Minimum number of replicas.
    pub replicas: u16,
    /// Time limit at the server, in whole milliseconds and not zero, because WAIT 0 waits forever.
    pub timeout: Duration,
}

/// Parameters that an application chooses. Durations are measured on the process's monotonic clock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Time to live of a lock at the server.
    pub ttl: Duration,
    /// Range of the random delay between two attempts.
    pub retry: RangeInclusive<Duration>,
    /// Time limit on the retries in `acquire`.
    pub acquire_timeout: Duration,
    /// Time limit for a connection to a single server, and for each of its replies.
    pub command_timeout: Duration,
    /// Time limit for one of several independent masters, which is small compared to the ttl.
    pub node_timeout: Duration,
    /// Replicas that must acknowledge a grant, if the lock supports that.
    pub wait: Option<ReplicaWait>,
    /// `true` if a Sentinel client listens for `+switch-master`. redis-py does not listen for it.
    pub hears_switches: bool,
    /// Lock-delay after a holder has failed. `None` means the lock's default.
    pub lock_delay: Option<Duration>,
}

/// The properties of a lock, and the function that builds it.
pub struct Definition {
    /// Name of the lock, a value of `--client`.
    pub name: &'static str,
    /// One-line description of the lock.
    pub about: &'static str,
    /// Servers that the lock needs.
    pub deployment: Deployment,
    /// `true` if the lock's leases have a fencing token.
    pub has_tokens: bool,
    /// `true` if the lock promises to serve waiters in order of arrival.
    pub is_fair: bool,
    /// Library and version that the lock models, if any.
    pub models: Option<&'static str>,
    /// Builds the lock for a process's first thread. Panics if the servers do not fit.
    pub build: fn(Env, &Servers, &Settings) -> Box<dyn Lock>,
}
