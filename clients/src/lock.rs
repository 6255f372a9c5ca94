//! The [`Lock`] trait, its results, and the entry of a lock in the table
//! of locks.
//!
//! # Writing a lock
//!
//! A lock is one file, with its source cited at the top, and one line in [`crate::table`]. It talks
//! to its servers through a [`Session`](crate::Session) (or one [per
//! master](crate::Session::independent)), and to its host through [`Env`] alone.
//!
//! - An error of a call is a refusal if the server certainly did not execute it, and unknown
//!   otherwise: [`CallError::may_have_applied`](crate::CallError::may_have_applied).
//! - Each attempt writes a fresh owner value: [`fresh_owner`](crate::owned_key::fresh_owner). An
//!   attempt whose outcome is unknown is undone if possible; while its lock may be set, the answer
//!   is [`Acquisition::Unknown`], not a refusal.
//! - Finding its own value later is no grant, unless the validity is counted from when it was
//!   first sent.
//! - Loops have an end: [`Retry`](crate::Retry) keeps the deadline of an `acquire`, and ends with
//!   an interrupt. Your own loop asks [`Env::left`] or [`Env::is_interrupted`].
//! - A call may be dropped at any point where it waits. The lock's state must be
//!   whole then: a [`Session`](crate::Session) closes the connection on which a command is under
//!   way.
//! - A lock that deviates from these rules, because its library or document does, says
//!   so in its header.
//!
//! The smallest lock that keeps them takes a key for as long as its ttl, and lets it run out:
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
    /// The locked resource.
    pub resource: String,
    /// The owner value of this acquisition.
    pub owner: Bytes,
    /// The token that the storage can check, if the lock gives one.
    pub token: Option<FencingToken>,
    /// The end of the validity by the clock of this process; `None` if the lock states none.
    pub valid_until: Option<Monotonic>,
}

/// The result of an attempt to acquire; an unknown outcome is never a refusal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Acquisition {
    /// The process may enter its critical section.
    Granted(Lease),
    /// Another process holds the lock, or too few servers granted it; nothing is held.
    Refused(Cow<'static, str>),
    /// A server may have granted it (a reply was lost); the process does not enter.
    Unknown(String),
}

/// The result of a release.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Release {
    /// The server removed our lock.
    Released,
    /// The server no longer had our lock: it had expired, or was lost.
    NotHeld,
    /// The server may have removed it.
    Unknown(String),
}

/// The result of an extension.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Extension {
    /// The lease now lasts longer; `valid_until` was updated.
    Extended,
    /// The lock was no longer ours.
    NotHeld,
    /// The server may have extended it.
    Unknown(String),
    /// This lock cannot be extended.
    Unsupported,
}

/// The result of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Check {
    /// The lock was ours a moment ago.
    Ours,
    /// The lock was no longer ours.
    NotHeld,
    /// No server answered.
    Unknown(String),
    /// This lock has no check.
    Unsupported,
}

/// An application's use of a lock besides acquire and release, which shows its purpose.
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
    /// Only acquire and release.
    pub const PLAIN: Usage =
        Usage { nests: false, checks: false, extends: false, leaves: false, renews: false };
}

/// A distributed lock, as used by one process of an application.
///
/// `acquire` retries by itself, as the algorithm or library prescribes, until
/// [`Settings::acquire_timeout`]. Each attempt writes a fresh owner value. A connection on which a
/// reply timed out is closed, never used again.
///
/// Code that finds the lock lost other than by a release reports
/// [`Note::LockLost`](crate::env::Note::LockLost): `check` and `extend` before they answer
/// `NotHeld`, a watchdog when its renewal is refused. The application reports nothing itself.
pub trait Lock {
    /// Tries to take the lock.
    ///
    /// **Nested** ([`Usage::nests`]): in some critical sections the application calls it a second
    /// time while it holds the lock, on the same resource, some time after its guarded read;
    /// releases the inner lease; and continues with the outer critical section, which writes and is
    /// then released. Operations: acquire, read, *acquire, release*, write, release. If the inner
    /// acquire is not granted, the application writes nothing and releases the outer lease. The
    /// write belongs to the outer acquisition.
    fn acquire<'a>(&'a mut self, resource: &'a str) -> BoxFuture<'a, Acquisition>;

    /// Releases the lock. Called once per lease, also when the lease may have expired.
    fn release<'a>(&'a mut self, lease: Lease) -> BoxFuture<'a, Release>;

    /// Extends the lease, if the algorithm can.
    ///
    /// **Extended** ([`Usage::extends`]): the application calls it whenever less than a third of
    /// the ttl is left until [`Lease::valid_until`] and it still wants to hold: also late, after
    /// the end, once, before it gives up. On `Extended` it continues until the new end. On
    /// `NotHeld` it leaves the critical section immediately: it writes nothing more and releases.
    /// On `Unknown` it calls again, after a tenth of the ttl, until the validity has ended; then it
    /// leaves. Operations: acquire, read, *extend* as often as needed, write, *extend*, release.
    fn extend<'a>(&'a mut self, lease: &'a mut Lease) -> BoxFuture<'a, Extension> {
        let _ = lease;
        Box::pin(std::future::ready(Extension::Unsupported))
    }

    /// Checks whether the lock is still ours.
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
    /// returns.
    /// Then it leaves the critical section immediately: it writes nothing more and releases.
    /// Operations: acquire, read, write, release, or fewer.
    fn lost<'a>(&'a mut self, lease: &'a Lease) -> BoxFuture<'a, ()> {
        let _ = lease;
        Box::pin(std::future::pending())
    }

    /// The lock for another thread of the process, with its [`Env`]; `None` without support.
    fn of_thread(&self, env: Env) -> Option<Box<dyn Lock>> {
        let _ = env;
        None
    }

    /// The application's use of it besides acquire and release.
    fn usage(&self) -> Usage {
        Usage::PLAIN
    }
}

/// The servers that a lock needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deployment {
    /// One Redis, or one primary found through Sentinel.
    Primary,
    /// Several masters without replication.
    Independent,
    /// One memcached.
    Memcached,
    /// An ensemble of ZooKeeper.
    ZooKeeper,
    /// One PostgreSQL, and the form of the lock in it.
    PostgreSql(Keeps),
    /// One MySQL or MariaDB, where the lock belongs to a connection.
    MySql,
    /// A cluster of etcd.
    Etcd(ServerLock),
    /// A cell of Chubby.
    Chubby,
    /// Servers of a GemFire system, and the form of the lock there.
    GemFire(Keeps),
}

/// The behaviour of an etcd server's built-in lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServerLock {
    /// As in every 3.4: grants it to a waiter without checking its key.
    Unchecked,
    /// As since 3.5.0: checks the key first.
    Checked,
}

/// The form in which a server keeps a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keeps {
    /// A row with the owner and the expiry, by the clocks of the processes.
    RowByClients,
    /// The same, by the clock of the server.
    RowByServer,
    /// A lock of a session or of its transaction: it ends with the connection.
    Connection,
    /// A key that is deleted when its lease ends; the process keeps the lease alive.
    Lease,
    /// A lock of a session, which the process keeps alive.
    Session,
    /// A lock of a member of a distributed system, released when the member departs.
    Membership,
    /// The same with a lease by the clock of the server.
    MemberLease,
}

/// The kind of server that keeps the lock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Coordinator {
    /// Redis, alone, with replicas and Sentinels, or as independent masters.
    Redis,
    /// memcached.
    Memcached,
    /// ZooKeeper, as an ensemble.
    ZooKeeper,
    /// PostgreSQL, alone.
    PostgreSql,
    /// MySQL, as implemented by MariaDB, alone.
    MySql,
    /// etcd, as a cluster.
    Etcd,
    /// Chubby, as a cell.
    Chubby,
    /// GemFire, as the servers of a distributed system.
    GemFire,
}

impl Deployment {
    /// The kind of server of this deployment.
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
        }
    }

    /// Returns whether a lock there lives as long as its process's session, so it has no ttl.
    pub const fn lives_with_session(self) -> bool {
        matches!(
            self,
            Deployment::ZooKeeper
                | Deployment::Etcd(_)
                | Deployment::Chubby
                | Deployment::GemFire(Keeps::Membership)
        )
    }

    /// The form of a lock there, if the server does not end leases by itself.
    pub const fn keeps(self) -> Option<Keeps> {
        match self {
            Deployment::PostgreSql(keeps) | Deployment::GemFire(keeps) => Some(keeps),
            Deployment::MySql => Some(Keeps::Connection),
            Deployment::Etcd(_) => Some(Keeps::Lease),
            Deployment::Chubby => Some(Keeps::Session),
            Deployment::Primary
            | Deployment::Independent
            | Deployment::Memcached
            | Deployment::ZooKeeper => None,
        }
    }
}

impl Coordinator {
    /// Every coordinator that can be simulated, in display order.
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

    /// Its value for `--coordinator`.
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
        /// The name under which the Sentinels watch it (`mymaster`).
        name: String,
        /// Addresses of the Sentinels.
        sentinels: Vec<Address>,
    },
    /// Independent masters.
    Independent(Vec<Address>),
    /// The members of a coordinator other than Redis; the process may use any.
    Ensemble(Vec<Address>),
}

/// The replicas that must acknowledge a grant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplicaWait {
    /// At least this many.
    pub replicas: u16,
    /// The server's limit for calls, in whole milliseconds, at least one: zero means for ever.
    pub timeout: Duration,
}

/// Parameters that an application chooses. Spans are of the process's monotonic clock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Life of a lock at the server.
    pub ttl: Duration,
    /// Delay between two attempts.
    pub retry: RangeInclusive<Duration>,
    /// Time limit of the retries in `acquire`.
    pub acquire_timeout: Duration,
    /// Time limit for the reply of a single server, and for a connection to it.
    pub command_timeout: Duration,
    /// For one of several masters: small compared to the ttl, so that a dead one costs little.
    pub node_timeout: Duration,
    /// The replicas that must have a grant for it to count, if the lock supports that.
    pub wait: Option<ReplicaWait>,
    /// `true` if a client of Sentinel listens for `+switch-master` and leaves the old primary when
    /// it hears of another one, as the guidelines for clients recommend. redis-py does not: it
    /// stays until its connection ends.
    pub hears_switches: bool,
    /// The lock-delay after a holder has failed, where supported; `None` leaves it to the lock.
    pub lock_delay: Option<Duration>,
}

/// A lock's entry in the table: one line per lock.
pub struct Definition {
    /// Its value for `--client`.
    pub name: &'static str,
    /// A one-line description.
    pub about: &'static str,
    /// The servers that it needs.
    pub deployment: Deployment,
    /// `true` if its leases carry a fencing token.
    pub has_tokens: bool,
    /// `true` if it promises to serve waiters in order of arrival.
    pub is_fair: bool,
    /// The library and version that it models, if any.
    pub models: Option<&'static str>,
    /// Builds the lock for a process's first thread. Panics if the servers do not fit the
    /// deployment.
    pub build: fn(Env, &Servers, &Settings) -> Box<dyn Lock>,
}
