pub(super) const SETNX: &str = "Redis documentation, SETNX, Handling deadlocks";
pub(super) const REDISSON: &str = "Redisson documentation, Locks and synchronizers, Lock";
pub(super) const REDISSON_FAILOVER: &str =
    "Redisson documentation, Locks and synchronizers, Lock reliability and fencing";

pub(super) const EDGE_OF_MEMORY: &str = "IPC::Lock::Memcached documentation, A little warning";
pub(super) const NOT_RESISTANT: &str = "ghetto-lock documentation; memcached wiki, Programming \
                             tricks, Ghetto central locking";
pub(super) const CAS_IDS: &str = "memcached, doc/protocol.txt, Retrieval command; for the pause, Kleppmann \
                       2016, Making the lock safe with fencing";

pub(super) const ZOOKEEPER_BINDINGS: &str =
    "ZooKeeper wiki, Knowledge Base for Client and Binding Implementors";
pub(super) const ZOOKEEPER_PROTECTION: &str =
    "Curator documentation, ProtectACLCreateModePathAndBytesable, withProtection";
pub(super) const ZOOKEEPER_EPHEMERAL: &str =
    "ZooKeeper 3.8 documentation, Programmer's Guide, Ephemeral Nodes";
pub(super) const ZOOKEEPER_GUARANTEES: &str = "ZooKeeper 3.8 documentation, Overview, Guarantees";

pub(super) const ETCD_JEPSEN: &str = "Jepsen, etcd 3.4.3 (2020), Locks";
pub(super) const ETCD_LEASES: &str = "etcd documentation, API, Lease API";
pub(super) const ETCD_GUARANTEES: &str = "etcd documentation, API guarantees, Durability";

pub(super) const CHUBBY_LOCKS: &str = "Burrows, The Chubby lock service, OSDI 2006, 2.4";
pub(super) const CHUBBY_FAILOVER: &str = "Burrows, The Chubby lock service, OSDI 2006, 2.9";

pub(super) const GEODE_DETECTION: &str =
    "Apache Geode 1.15 documentation, Failure Detection and Membership Views";
pub(super) const GEODE_CRASHES: &str = "Apache Geode 1.15 documentation, Recovering from Application and Cache \
                             Server Crashes";
pub(super) const GEODE_LEASE: &str = "Apache Geode 1.15, DistributedLockService, lock";
pub(super) const GEODE_GRANTOR: &str =
    "Apache Geode 1.15 documentation, Locking in Global Regions, Optimize Locking Performance";

pub(super) const ADVISORY: &str = "PostgreSQL 15 documentation, Explicit Locking, Advisory Locks";
pub(super) const GET_LOCK: &str = "MySQL 8.0 reference manual, Locking Functions, GET_LOCK";
pub(super) const ROW_LOCKS: &str = "PostgreSQL 15 documentation, Explicit Locking, Row-Level Locks";
pub(super) const RELIABILITY: &str =
    "PostgreSQL 15 documentation, Reliability and the Write-Ahead Log";
pub(super) const HOT_STANDBY: &str = "PostgreSQL 15 documentation, Hot Standby, User's Overview";
pub(super) const SYNCHRONOUS: &str =
    "PostgreSQL 15 documentation, Log-Shipping Standby Servers, Synchronous Replication";
pub(super) const SHEDLOCK: &str = "ShedLock documentation, README";
pub(super) const JDBC_EXPIRATION: &str = "Spring Integration 7.0, JdbcLockRegistry, unlock";
pub(super) const JDBC_TTL: &str = "Spring Integration, DefaultLockRepository, setTimeToLive";
