//! What every lock is: the [`Lock`] trait, what it answers, and how a lock is entered in the table
//! of locks.
//!
//! # Writing a lock
//!
//! A lock is one file, with its source cited at the top, and one line in [`crate::table`]. It talks
//! to its servers through a [`Session`](crate::Session) (or one [per
//! master](crate::Session::independent)), and to its host through [`Env`] alone.
//!
//! - An error of a call is a refusal if the command was certainly not carried out, and unknown
//!   otherwise: [`CallError::may_have_applied`](crate::CallError::may_have_applied).
//! - Each attempt writes an owner value that no attempt wrote before:
//!   [`fresh_owner`](crate::owned_key::fresh_owner). An attempt whose outcome is unknown is undone
//!   as well as it can be; while it may stand, the answer is [`Acquisition::Unknown`], not a
//!   refusal.
//! - Finding one's own value later is no grant, unless the validity is counted from when it was
//!   first sent.
//! - Loops have an end: [`Retry`](crate::Retry) keeps the deadline of an `acquire`, and ends with
//!   an interrupt. A loop of one's own asks [`Env::left`] or [`Env::is_interrupted`].
//! - A call may be dropped at any point where it waits. What the lock has in its hands must be
//!   whole then: a [`Session`](crate::Session) closes the connection on which a command is under
//!   way.
//! - Whatever deviates from these rules, because the library or document that it models does, says
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

/// A number that the protected storage can order acquisitions by (Kleppmann 2016).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FencingToken(pub u64);

/// A lock that a process believes it holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lease {
    /// What is locked.
    pub resource: String,
    /// What this acquisition wrote as owner.
    pub owner: Bytes,
    /// The token that the storage can check, if the lock gives one.
    pub token: Option<FencingToken>,
    /// When the lock says that its validity ends, by the clock of this process; `None` if the lock
    /// states none.
    pub valid_until: Option<Monotonic>,
}

/// How an attempt to acquire ended. An unknown outcome is never a refusal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Acquisition {
    /// The process may enter its critical section.
    Granted(Lease),
    /// Somebody else holds the lock, or too few servers granted it; nothing is held.
    Refused(Cow<'static, str>),
    /// A server may or may not have granted it (a reply was lost); the process does not enter.
    Unknown(String),
}

/// How a release ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Release {
    /// The server removed our lock.
    Released,
    /// The server no longer had our lock: it had expired, or was lost.
    NotHeld,
    /// The server may or may not have removed it.
    Unknown(String),
}

/// How an extension ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Extension {
    /// The lease now lasts longer; `valid_until` was moved.
    Extended,
    /// The lock was no longer ours.
    NotHeld,
    /// The server may or may not have extended it.
    Unknown(String),
    /// This lock cannot be extended.
    Unsupported,
}

/// What a check of a lease found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Check {
    /// A moment ago the lock was still ours.
    Ours,
    /// The lock was no longer ours.
    NotHeld,
    /// No server told.
    Unknown(String),
    /// This lock has no check.
    Unsupported,
}

/// What an application has to do with a lock besides acquire and release, for the lock to show what
/// it is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// It takes the lock again while it holds it: see [`Lock::acquire`].
    pub nests: bool,
    /// It checks the lock just before the guarded write: see [`Lock::check`].
    pub checks: bool,
    /// It extends its lease when little time is left: see [`Lock::extend`].
    pub extends: bool,
    /// It leaves its section when the lock's code says that the lock may be lost: see
    /// [`Lock::lost`].
    pub leaves: bool,
    /// The lock's own code renews its lease for as long as it is held, so that a section may be
    /// longer than the lease.
    pub renews: bool,
}

impl Usage {
    /// Acquire and release, and nothing else.
    pub const PLAIN: Usage =
        Usage { nests: false, checks: false, extends: false, leaves: false, renews: false };
}

/// A distributed lock, as one process of an application holds it in its hands.
///
/// `acquire` retries by itself, as the algorithm or library prescribes, until
/// [`Settings::acquire_timeout`]. Each attempt writes a fresh owner value. A connection on which a
/// reply timed out is closed, never used again.
///
/// Whoever finds that the lock is lost other than by releasing it says so with
/// [`Note::LockLost`](crate::env::Note::LockLost): `check` and `extend` before they answer
/// `NotHeld`, a watchdog when its renewal is refused. The application adds nothing.
pub trait Lock {
    /// Tries to take the lock.
    ///
    /// **Nested** ([`Usage::nests`]): the application calls it a second time while it holds the
    /// lock, on the same resource, some time after its guarded read; releases what that gave it;
    /// and goes on with the outer section, which writes and is then released. Operations: acquire,
    /// read, *acquire, release*, write, release. If the inner acquire is not granted, the
    /// application writes nothing and releases the outer lease. The write belongs to the outer
    /// acquisition.
    fn acquire<'a>(&'a mut self, resource: &'a str) -> BoxFuture<'a, Acquisition>;

    /// Gives the lock back. Called once per lease, also when the lease may have run out.
    fn release<'a>(&'a mut self, lease: Lease) -> BoxFuture<'a, Release>;

    /// Makes the lease last longer, where the algorithm can.
    ///
    /// **Extended** ([`Usage::extends`]): the application calls it whenever less than a third of
    /// the ttl is left until [`Lease::valid_until`] and it still wants to hold: also late, after
    /// the end, once, before it gives up. On `Extended` it goes on, and watches the new end. On
    /// `NotHeld` it leaves the section at once: it writes nothing more and releases. On `Unknown`
    /// it calls again, after a tenth of the ttl, until the validity has ended; then it leaves.
    /// Operations: acquire, read, *extend* as often as needed, write, *extend*, release.
    fn extend<'a>(&'a mut self, lease: &'a mut Lease) -> BoxFuture<'a, Extension> {
        let _ = lease;
        Box::pin(std::future::ready(Extension::Unsupported))
    }

    /// Asks whether the lock is still ours.
    ///
    /// **Checked** ([`Usage::checks`]): the application calls it once per acquisition, after the
    /// guarded read and the hold, directly before the guarded write. It writes only on `Ours`;
    /// otherwise it leaves the section and releases. Operations: acquire, read, *check*, write,
    /// release.
    fn check<'a>(&'a mut self, lease: &'a Lease) -> BoxFuture<'a, Check> {
        let _ = lease;
        Box::pin(std::future::ready(Check::Unsupported))
    }

    /// Returns once the lock's code says that the lock may be lost; never, where it says nothing.
    ///
    /// **Left** ([`Usage::leaves`]): the application works until its hold is over or this returns.
    /// Then it leaves the section at once: it writes nothing more and releases. Operations:
    /// acquire, read, write, release, or fewer.
    fn lost<'a>(&'a mut self, lease: &'a Lease) -> BoxFuture<'a, ()> {
        let _ = lease;
        Box::pin(std::future::pending())
    }

    /// The lock as another thread of the same process has it in its hands, made for the `env` of
    /// that thread ([`Env::thread`]). `None`: the library has no threads of one process.
    fn of_thread(&self, env: Env) -> Option<Box<dyn Lock>> {
        let _ = env;
        None
    }

    /// What the application has to do with it besides acquire and release.
    fn usage(&self) -> Usage {
        Usage::PLAIN
    }
}

/// What a lock needs to find on the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deployment {
    /// One Redis, or one primary found through Sentinel.
    Primary,
    /// Several masters that know nothing of each other.
    Independent,
    /// One memcached.
    Memcached,
    /// An ensemble of ZooKeeper.
    ZooKeeper,
    /// One PostgreSQL, and what there is the lock.
    PostgreSql(Keeps),
    /// One MySQL or MariaDB, where the lock belongs to a connection.
    MySql,
    /// A cluster of etcd.
    Etcd(ServerLock),
    /// A cell of Chubby.
    Chubby,
}

/// What the lock is like that an etcd server itself has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ServerLock {
    /// As in every 3.4: who has waited is granted it, whatever has become of its key.
    Unchecked,
    /// As since 3.5.0: the key is looked for first.
    Checked,
}

/// What a server keeps a lock as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keeps {
    /// A row that says who has it and until when, by the clocks of the processes.
    RowByClients,
    /// The same, by the clock of the server.
    RowByServer,
    /// A lock of a session or of its transaction: it goes when the connection does.
    Connection,
    /// A key that goes when its lease ends; the process keeps that alive.
    Lease,
    /// A lock of a session, which the process keeps alive.
    Session,
}

/// What keeps the lock.
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
    /// MySQL, as MariaDB has it, alone.
    MySql,
    /// etcd, as a cluster.
    Etcd,
    /// Chubby, as a cell.
    Chubby,
}

impl Deployment {
    /// What keeps the lock there.
    pub const fn coordinator(self) -> Coordinator {
        match self {
            Deployment::Primary | Deployment::Independent => Coordinator::Redis,
            Deployment::Memcached => Coordinator::Memcached,
            Deployment::ZooKeeper => Coordinator::ZooKeeper,
            Deployment::PostgreSql(_) => Coordinator::PostgreSql,
            Deployment::MySql => Coordinator::MySql,
            Deployment::Etcd(_) => Coordinator::Etcd,
            Deployment::Chubby => Coordinator::Chubby,
        }
    }

    /// Whether a lock there lives as long as the session of its process, which the process prolongs
    /// by its pings: such a lock has no ttl of its own.
    pub const fn lives_with_session(self) -> bool {
        matches!(self, Deployment::ZooKeeper | Deployment::Etcd(_) | Deployment::Chubby)
    }

    /// What a server there keeps a lock as, if it does not end leases by itself.
    pub const fn keeps(self) -> Option<Keeps> {
        match self {
            Deployment::PostgreSql(keeps) => Some(keeps),
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
    /// Every coordinator that can be simulated, in the order in which they are listed for people.
    pub const ALL: &'static [Coordinator] = &[
        Coordinator::Redis,
        Coordinator::Memcached,
        Coordinator::ZooKeeper,
        Coordinator::PostgreSql,
        Coordinator::MySql,
        Coordinator::Etcd,
        Coordinator::Chubby,
    ];

    /// What `--coordinator` takes.
    pub const fn name(self) -> &'static str {
        match self {
            Coordinator::Redis => "redis",
            Coordinator::Memcached => "memcached",
            Coordinator::ZooKeeper => "zookeeper",
            Coordinator::PostgreSql => "postgresql",
            Coordinator::MySql => "mysql",
            Coordinator::Etcd => "etcd",
            Coordinator::Chubby => "chubby",
        }
    }
}

/// Where the servers of a run are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Servers {
    /// One server at a fixed address.
    One(Address),
    /// A primary whose address the Sentinels know.
    Sentinels {
        /// The name under which they watch it (`mymaster`).
        name: String,
        /// Where they listen.
        sentinels: Vec<Address>,
    },
    /// Independent masters.
    Independent(Vec<Address>),
    /// The members of a coordinator other than Redis; the process may speak to any.
    Ensemble(Vec<Address>),
}

/// How many replicas must acknowledge a grant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplicaWait {
    /// So many, at least.
    pub replicas: u16,
    /// How long the server waits for them; whole milliseconds, at least one (zero would mean for
    /// ever).
    pub timeout: Duration,
}

/// The numbers that an application chooses. Spans are of the process's own monotonic clock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// How long a lock lives at the server.
    pub ttl: Duration,
    /// Delay between two attempts.
    pub retry: RangeInclusive<Duration>,
    /// How long `acquire` goes on trying.
    pub acquire_timeout: Duration,
    /// How long to wait for the reply of a single server, and for a connection to it.
    pub command_timeout: Duration,
    /// The same for one of several independent masters: small against the ttl, so that a dead one
    /// costs little.
    pub node_timeout: Duration,
    /// How many replicas must have a grant for it to count, where a lock can ask for that.
    pub wait: Option<ReplicaWait>,
    /// Whether a client of Sentinel listens for `+switch-master` and leaves the old primary when it
    /// hears of another one, as the guidelines for clients recommend. redis-py does not: it stays
    /// until its connection ends.
    pub hears_switches: bool,
    /// How long a lock is kept from all whose holder has failed, where a lock can ask for that;
    /// `None` leaves it to the lock.
    pub lock_delay: Option<Duration>,
}

/// A lock's entry in the table: one line per lock.
pub struct Definition {
    /// What `--client` takes.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// What it runs against.
    pub deployment: Deployment,
    /// Whether its leases carry a fencing token.
    pub has_tokens: bool,
    /// Whether it promises to serve those who wait in the order in which they came.
    pub is_fair: bool,
    /// The library and version that it models, if any.
    pub models: Option<&'static str>,
    /// Makes the lock of one process, in the hands of its first thread. Panics if the servers are
    /// not of the deployment stated.
    pub build: fn(Env, &Servers, &Settings) -> Box<dyn Lock>,
}
