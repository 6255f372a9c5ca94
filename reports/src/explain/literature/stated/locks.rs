/// Locks with a lease on one primary and without tokens, released by a script or after a check.
pub(super) const COMPARING: &[&str] = &[
    "set-px-get-del", "thread-id-get-del", "setnx-stale-compare", "setnx-getset-owner",
    "setnx-getset-expiry-owner", "jedis-getset-owner", "checked", "lua-extend",
    "lua-extend-unchecked", "lua-extend-reacquire", "reentrant-by-value", "reentrant-counted",
    "watchdog", "watchdog-capped", "watchdog-expire", "watchdog-resurrecting",
    "watchdog-unstopped", "redisson", "redisson-fair", "redisson-lease", "spring-registry",
];
/// Locks with a lease on one primary and without tokens, released by DEL without a check.
pub(super) const PLAIN_DELETE: &[&str] = &[
    "set-ex-del", "setnx-expire", "setnx-stale-del", "setnx-getset", "setnx-getset-nil",
    "setnx-getset-seconds", "setnx-getset-server-time", "jedis-getset",
];
pub(super) const ON_MASTERS: &[&str] = &[
    "redisson-redlock", "redlock-no-random-delay", "redlock-no-validity-check",
    "redlock-unlock-answered", "redlock-py", "node-redlock", "redsync",
];
pub(super) const ON_MEMCACHED: &[&str] = &["memcached-add", "memcached-get-delete"];
pub(super) const FINDING: &[&str] = &[
    "curator-mutex", "curator-suspended", "curator-any-session", "curator-unguaranteed",
    "kazoo-lock", "zookeeper-semaphore",
];
pub(super) const NOT_FINDING: &[&str] =
    &["zookeeper-naive", "zookeeper-herd", "zookeeper-lost-watch", "curator-unprotected"];
pub(super) const WITH_CZXID: &[&str] = &["curator-fencing"];
pub(super) const ON_MYSQL: &[&str] = &["mysql-get-lock", "mysql-get-lock-checked"];
pub(super) const ON_ETCD: &[&str] = &[
    "etcd-mutex", "etcd-mutex-unchecked", "etcd-mutex-done", "etcd-lock-api", "etcd-lock-api-fixed",
];
pub(super) const WITH_CREATE_REVISION: &[&str] = &["etcd-mutex-fencing"];
pub(super) const WITH_LOCK_DELAY: &[&str] = &["chubby", "chubby-sequencer"];
pub(super) const WITHOUT_SEQUENCER: &[&str] = &["chubby", "chubby-no-delay", "chubby-checked"];
pub(super) const ON_GEMFIRE: &[&str] = &["gemfire", "gemfire-lease"];
/// Spring's locks in a database table, in which each process has its own id.
pub(super) const SPRING_ROWS: &[&str] = &["jdbc-4", "jdbc-5", "jdbc-7"];
pub(super) const SHEDLOCK_ROWS: &[&str] = &["shedlock-jdbc", "shedlock-db-time"];
/// Locks that wait for replicas, according to their documentation.
pub(super) const WAITING: &[&str] = &["redisson-wait"];
/// Other locks that neither renew nor extend their lease, and that a source calls safe.
pub(super) const ENDING_LEASE: &[&str] =
    &["setnx-getset-expiry", "redisson-lease", "gemfire-lease"];
