//! The [`Lock`] trait, its results, and the entry of a lock in the table of locks.
//!
//! # Writing a lock
//!
//! A lock is one file, with its source cited at the top, and one line in [`crate::table`]. It talks
//! to its servers through a [`Session`](crate::Session) (or one [per
//! master](crate::Session::independent)), and to its host through [`Env`] alone.
//!
//! - An error of a call is a refusal if the server certainly did not execute it, and unknown
//!   otherwise: [`CallError::may_have_applied`](crate::CallError::may_have_applied).
//! - Each attempt writes a fresh owner value: [`fresh_owner`](crate::owned_key::fresh_owner). The
//!   lock undoes an attempt whose outcome is unknown if it can. While such an attempt may have set
//!   the lock, the answer is [`Acquisition::Unknown`], not a refusal.
//! - A lock that later finds its own value has no grant, unless it counts the validity from the
//!   time when it first sent that value.
//! - Loops have an end: [`Retry`](crate::Retry) keeps the deadline of an `acquire`, and ends with
//!   an interrupt. Other loops ask [`Env::left`] or [`Env::is_interrupted`].
//! - The caller may drop a call wherever it waits, and the lock must stay usable. A
//!   [`Session`](crate::Session) closes the connection of a dropped command.
//! - A lock whose library or document breaks these rules says so in its header.
//!
//! The smallest lock that follows these rules takes a key for its ttl and lets it expire:
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
    /// End of the validity on the process's monotonic clock; `None` if the lock has no validity.
    pub valid_until: Option<Monotonic>,
}

/// Result of an acquire; an unknown outcome is never a refusal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Acquisition {
    /// The process may enter its critical section.
    Granted(Lease),
    /// Another process holds the lock, or too few servers granted it; the caller holds nothing.
    Refused(Cow<'static, str>),
    /// A server may have granted the lock, because a reply was lost; the process does not enter.
    Unknown(String),
}

/// Result of a release.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Release {
    /// The server removed the caller's lock.
    Released,
    /// The server no longer had the caller's lock, which had expired or was lost.
    NotHeld,
    /// The server may have removed the lock.
    Unknown(String),
}

/// Result of an extension.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Extension {
    /// The lease is longer, and `valid_until` has its new end.
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

/// An application's use of a lock besides acquire and release.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// The application takes the lock again while it holds it: see [`Lock::acquire`].
    pub nests: bool,
    /// The application checks the lock just before the guarded write: see [`Lock::check`].
    pub checks: bool,
    /// The application extends its lease when little time is left: see [`Lock::extend`].
    pub extends: bool,
    /// The application leaves its critical section when [`Lock::lost`] returns.
    pub leaves: bool,
    /// The lock's own code renews its lease, so a critical section may be longer than the lease.
    pub renews: bool,
}

impl Usage {
    /// The use of a lock by acquire and release only.
    pub const PLAIN: Usage =
        Usage { nests: false, checks: false, extends: false, leaves: false, renews: false };
}

/// A distributed lock, as used by one process of an application.
///
/// `acquire` retries by itself, as the algorithm or library prescribes, until
/// [`Settings::acquire_timeout`]. Each attempt writes a fresh owner value. A client closes a
/// connection on which a reply timed out and never uses it again.
///
/// Code that notices the loss of the lock other than by a release reports
/// [`Note::LockLost`](crate::env::Note::LockLost): `check` and `extend` before they answer
/// `NotHeld`, a watchdog when the server refuses its renewal. The application itself reports
/// nothing.
pub trait Lock {
    /// Tries to take the lock.
    ///
    /// **Nested** ([`Usage::nests`]): in some critical sections the application calls it a second
    /// time for the same resource while it holds the lock, some time after its guarded read. It
    /// releases the inner lease and continues with the outer critical section, which writes and is
    /// then released. Operations: acquire, read, *acquire, release*, write, release. If the inner
    /// acquire is not granted, the application writes nothing and releases the outer lease. The
    /// write belongs to the outer acquisition.
    fn acquire<'a>(&'a mut self, resource: &'a str) -> BoxFuture<'a, Acquisition>;

    /// Releases the lock. The application calls this once per lease, even after the lease's end.
    fn release<'a>(&'a mut self, lease: Lease) -> BoxFuture<'a, Release>;

    /// Extends the lease, if the algorithm can.
    ///
    /// **Extended** ([`Usage::extends`]): the application calls it whenever less than a third of
    /// the ttl is left until [`Lease::valid_until`] and its work is not done. It also calls it once
    /// after the end, before it gives up. After `Extended` it continues until the new end. After
    /// `NotHeld` it leaves the critical section immediately: it writes nothing more and releases.
    /// After `Unknown` it calls again, each time after a tenth of the ttl, until the validity has
    /// ended; then it leaves. Operations: acquire, read, *extend* as often as needed, write,
    /// *extend*, release.
    fn extend<'a>(&'a mut self, lease: &'a mut Lease) -> BoxFuture<'a, Extension> {
        let _ = lease;
        Box::pin(std::future::ready(Extension::Unsupported))
    }

    /// Checks whether the lock still belongs to the caller.
    ///
    /// **Checked** ([`Usage::checks`]): the application calls it once per acquisition, after the
    /// guarded read and the hold, directly before the guarded write. It writes only on `Ours`;
    /// otherwise it leaves the critical section and releases. Operations: acquire, read, *check*,
    /// write, release.
    fn check<'a>(&'a mut self, lease: &'a Lease) -> BoxFuture<'a, Check> {
        let _ = lease;
        Box::pin(std::future::ready(Check::Unsupported))
    }

    /// Returns when the lock's code reports that the lock may be lost. Never returns for a lock
    /// that does not report this.
    ///
    /// **Left** ([`Usage::leaves`]): the application works until its critical section ends or this
    /// call returns. Then it leaves the critical section immediately: it writes nothing more and
    /// releases. Operations: acquire, read, write, release, or fewer.
    fn lost<'a>(&'a mut self, lease: &'a Lease) -> BoxFuture<'a, ()> {
        let _ = lease;
        Box::pin(std::future::pending())
    }

    /// Returns the lock for another thread of the process; `None` if the lock does not support
    /// threads.
    fn of_thread(&self, env: Env) -> Option<Box<dyn Lock>> {
        let _ = env;
        None
    }

    /// Returns the application's use of the lock besides acquire and release.
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
    /// One memcached.
    Memcached,
    /// A ZooKeeper ensemble.
    ZooKeeper,
    /// One PostgreSQL, which keeps the lock in this form.
    PostgreSql(Keeps),
    /// One MySQL or MariaDB, where the lock belongs to a connection.
    MySql,
    /// An etcd cluster, with this behaviour of its built-in lock.
    Etcd(ServerLock),
    /// A Chubby cell.
    Chubby,
    /// Servers of a GemFire system, which keep the lock in this form.
    GemFire(Keeps),
    /// Servers that the user brings.
    Own,
}

/// The behaviour of an etcd server's built-in lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServerLock {
    /// Every 3.4 server grants the lock to a waiter without checking its key.
    Unchecked,
    /// Servers since 3.5.0 check the waiter's key before they grant the lock.
    Checked,
}

/// The form in which a server keeps a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keeps {
    /// A row with the owner and the expiry, by the clocks of the processes.
    RowByClients,
    /// A row with the owner and the expiry, by the clock of the server.
    RowByServer,
    /// A lock of a database session or of its transaction, which ends with the connection.
    Connection,
    /// A key that is deleted when its lease ends; the process keeps the lease alive.
    Lease,
    /// A lock of a session, which the process keeps alive.
    Session,
    /// A lock of a member of a distributed system, released when the member departs.
    Membership,
    /// A lock of a member, with a lease by the clock of the server.
    MemberLease,
}

/// The kind of server that keeps the lock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Coordinator {
    /// Redis, alone, with replicas and Sentinels, or as independent masters.
    Redis,
    /// A single memcached.
    Memcached,
    /// ZooKeeper, as an ensemble.
    ZooKeeper,
    /// A single PostgreSQL.
    PostgreSql,
    /// A single MySQL, as implemented by MariaDB.
    MySql,
    /// etcd, as a cluster.
    Etcd,
    /// Chubby, as a cell.
    Chubby,
    /// GemFire, as the servers of a distributed system.
    GemFire,
    /// Servers that the user brings, for the user's own program.
    Own,
}

impl Deployment {
    /// Returns the kind of server of this deployment.
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

    /// Returns whether a lock of this deployment lives as long as its process's session, without a
    /// ttl.
    pub const fn lives_with_session(self) -> bool {
        matches!(
            self,
            Deployment::ZooKeeper
                | Deployment::Etcd(_)
                | Deployment::Chubby
                | Deployment::GemFire(Keeps::Membership)
        )
    }

    /// Returns the form in which the server keeps the lock; `None` if the deployment has only one.
    pub const fn keeps(self) -> Option<Keeps> {
        match self {
            Deployment::PostgreSql(keeps) | Deployment::GemFire(keeps) => Some(keeps),
            Deployment::MySql => Some(Keeps::Connection),
            Deployment::Etcd(_) => Some(Keeps::Lease),
            Deployment::Chubby => Some(Keeps::Session),
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
        /// Name under which the Sentinels watch the primary (`mymaster`).
        name: String,
        /// Addresses of the Sentinels.
        sentinels: Vec<Address>,
    },
    /// Independent masters.
    Independent(Vec<Address>),
    /// The members of a coordinator other than Redis; the process may use any of them.
    Ensemble(Vec<Address>),
}

/// The replicas that must acknowledge a grant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplicaWait {
    /// Minimum number of replicas.
    pub replicas: u16,
    /// Time limit that the server enforces, in whole milliseconds. WAIT would take zero as no
    /// limit.
    pub timeout: Duration,
}

/// Parameters that an application chooses. Durations are on the process's monotonic clock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Time to live of a lock at the server.
    pub ttl: Duration,
    /// Delay between two attempts.
    pub retry: RangeInclusive<Duration>,
    /// Time limit of the retries in `acquire`.
    pub acquire_timeout: Duration,
    /// Time limit for the reply of a single server, and for a connection to it.
    pub command_timeout: Duration,
    /// Time limit for one of several masters, small compared to the ttl because a master may be
    /// dead.
    pub node_timeout: Duration,
    /// Replicas that must acknowledge a grant, if the lock supports that.
    pub wait: Option<ReplicaWait>,
    /// `true` if a client of Sentinel listens for `+switch-master` and leaves the old primary when
    /// Sentinel announces another one, as the guidelines for clients recommend. redis-py does not;
    /// it keeps a primary until its connection ends.
    pub hears_switches: bool,
    /// Lock-delay after a holder has failed, where supported; `None` leaves it to the lock.
    pub lock_delay: Option<Duration>,
}

/// A lock's entry in the table of locks.
pub struct Definition {
    /// Value of the lock for `--client`.
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
