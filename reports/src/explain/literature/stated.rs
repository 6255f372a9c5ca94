//! Predictions for locks that the literature discusses only under some faults ([`verdict`]). Each
//! rule applies a statement from a source. Without a statement, there is no prediction, even if a
//! prediction seems obvious.

mod locks;
mod sources;

use super::{Grounds, KLEPPMANN_FENCING, KLEPPMANN_RESOURCE, REDIS_FAILOVER, REDIS_SINGLE};
use crate::judge::finding::Kind;
use Kind::{FencedOut, ForeignRelease, LostUpdate, Overlap, StaleWrite, Stuck, TokenRegression};
use fencepost_faults::Family;
use locks::{
    COMPARING, ENDING_LEASE, FINDING, NOT_FINDING, ON_ETCD, ON_GEMFIRE, ON_MASTERS, ON_MEMCACHED,
    ON_MYSQL, PLAIN_DELETE, SHEDLOCK_ROWS, SPRING_ROWS, WAITING, WITH_CREATE_REVISION, WITH_CZXID,
    WITH_LOCK_DELAY, WITHOUT_SEQUENCER,
};
use sources::{
    ADVISORY, CAS_IDS, CHUBBY_FAILOVER, CHUBBY_LOCKS, EDGE_OF_MEMORY, ETCD_GUARANTEES, ETCD_JEPSEN,
    ETCD_LEASES, GEODE_CRASHES, GEODE_DETECTION, GEODE_GRANTOR, GEODE_LEASE, GET_LOCK, HOT_STANDBY,
    JDBC_EXPIRATION, JDBC_TTL, NOT_RESISTANT, REDISSON, REDISSON_FAILOVER, RELIABILITY, ROW_LOCKS,
    SETNX, SHEDLOCK, SYNCHRONOUS, ZOOKEEPER_BINDINGS, ZOOKEEPER_EPHEMERAL, ZOOKEEPER_GUARANTEES,
    ZOOKEEPER_PROTECTION,
};

struct Rule {
    clients: &'static [&'static [&'static str]],
    families: &'static [Family],
    kinds: &'static [Kind],
    grounds: Grounds,
}

/// Violations that need two holders at the same time.
const TWO_HOLDERS: &[Kind] = &[Overlap, StaleWrite, LostUpdate];

macro_rules! rules {
    ($($($clients:tt),+: $($family:ident),+ => $kinds:tt, $text:literal, $source:ident;)*) => {
        const RULES: &[Rule] = &[$(Rule {
            clients: &[$(&$clients),+],
            families: &[$(Family::$family),+],
            kinds: &$kinds,
            grounds: ($text, $source),
        }),*];
    };
}

rules! {
    PLAIN_DELETE: Pause, Suspend => [Overlap, StaleWrite, LostUpdate, ForeignRelease],
        "a holder that is delayed beyond its lease deletes the next holder's lock with a plain DEL",
        REDIS_SINGLE;
    ["memcached-cas"]: Pause, Suspend => [Overlap],
        "a holder may be paused beyond its lease, but its unique number is lower than the next \
         holder's", CAS_IDS;
    ON_ETCD: Pause => TWO_HOLDERS,
        "a process that is paused for longer than its lease continues as if it still held the \
         lock, which another process holds by then", ETCD_JEPSEN;
    WITH_CREATE_REVISION: Pause => [Overlap],
        "the create revision is a fencing token, so a holder that was paused does no harm",
        ETCD_JEPSEN;
    ON_ETCD, WITH_CREATE_REVISION: ClientCrash => [],
        "the keys of a crashed process are deleted when its lease ends", ETCD_LEASES;
    ON_ETCD, WITH_CREATE_REVISION: Failover, Restart => [],
        "acknowledged writes are durable, and leases survive a change of leader", ETCD_GUARANTEES;
    ["chubby-no-delay"]: Pause => TWO_HOLDERS,
        "a holder may fail while its request is in transit; another client then gets the lock, and \
         the request arrives unprotected", CHUBBY_LOCKS;
    WITHOUT_SEQUENCER: StorageDelay => [StaleWrite, LostUpdate],
        "a delayed request may arrive after its lock was released: the lock-delay protects only a \
         lock whose holder failed", CHUBBY_LOCKS;
    ["chubby-sequencer"]: StorageDelay => [],
        "the recipient rejects requests whose sequencer is invalid", CHUBBY_LOCKS;
    WITH_LOCK_DELAY: Pause, ClientCrash => [],
        "a lock-delay protects unmodified servers from everyday problems caused by message delays \
         and restarts", CHUBBY_LOCKS;
    WITH_LOCK_DELAY, ["chubby-no-delay", "chubby-checked"]: Failover, Restart => [],
        "sessions and locks survive a change of master, and the new master extends every lease",
        CHUBBY_FAILOVER;
    ["gemfire"]: Pause, Suspend => TWO_HOLDERS,
        "an unresponsive member is removed from the view, and is told so by a message",
        GEODE_DETECTION;
    ["gemfire-lease"]: Pause, Suspend => TWO_HOLDERS,
        "a lock is held until its lease time has passed", GEODE_LEASE;
    ON_GEMFIRE, ["gemfire-token"]: ClientCrash => [],
        "the locks of an application that crashes are released", GEODE_CRASHES;
    ON_GEMFIRE, ["gemfire-token"]: Failover => [],
        "if the lock grantor goes away, the system assigns another", GEODE_GRANTOR;
    SPRING_ROWS: Pause, Suspend => TWO_HOLDERS,
        "a lock may expire while its holder uses it, and the resource is then unprotected",
        JDBC_EXPIRATION;
    SPRING_ROWS: ClientCrash => [],
        "the row of a crashed process expires after its time to live", JDBC_TTL;
    SHEDLOCK_ROWS: Pause, Suspend => TWO_HOLDERS,
        "a task that takes longer than lockAtMostFor may run twice concurrently", SHEDLOCK;
    SHEDLOCK_ROWS: ClientCrash => [],
        "the lock of a crashed node is kept for lockAtMostFor", SHEDLOCK;
    ["shedlock-jdbc"]: ClockJump => TWO_HOLDERS,
        "the lock assumes that the clocks of all nodes are synchronised", SHEDLOCK;
    SPRING_ROWS, SHEDLOCK_ROWS: Restart => [], "a committed row survives a crash", RELIABILITY;
    SPRING_ROWS, SHEDLOCK_ROWS: Failover => TWO_HOLDERS,
        "replication is asynchronous by default: some commits may not have reached the standby \
         when the primary crashes", SYNCHRONOUS;
    ["pg-advisory"]: Failover => TWO_HOLDERS,
        "advisory locks are not WAL-logged, so no standby has them", HOT_STANDBY;
    SPRING_ROWS, SHEDLOCK_ROWS: ReplicationLag => [],
        "connections to a standby are strictly read-only, so it grants no lock", HOT_STANDBY;
    ["pg-advisory"]: Pause, Suspend, ClientCrash => [],
        "a session-level lock is held until it is released or the session ends, and is free after \
         that", ADVISORY;
    ["pg-advisory"]: Restart => TWO_HOLDERS,
        "a session-level lock is held only until the session ends", ADVISORY;
    ON_MYSQL: Pause, Suspend, ClientCrash => [],
        "the lock is released explicitly or when the session terminates, normally or abnormally",
        GET_LOCK;
    ["mysql-get-lock"]: Restart => TWO_HOLDERS,
        "the lock is released when the session terminates", GET_LOCK;
    ["select-for-update"]: Pause, Suspend, ClientCrash => [],
        "a row lock is held until its transaction ends, and is free after that", ROW_LOCKS;
    ["select-for-update", "select-for-update-timeout"]: Restart => TWO_HOLDERS,
        "a row lock is held only until its transaction ends", ROW_LOCKS;
    ON_MEMCACHED: Eviction => TWO_HOLDERS,
        "a server that runs out of memory evicts locks", EDGE_OF_MEMORY;
    ON_MEMCACHED: Restart => TWO_HOLDERS,
        "the lock does not survive a failure of its server", NOT_RESISTANT;
    FINDING, NOT_FINDING: Pause, Suspend => TWO_HOLDERS,
        "a holder may be paused at any point until the lock service grants its lock to another \
         process, whichever service it is", KLEPPMANN_RESOURCE;
    WITH_CZXID: Pause, Suspend => [Overlap],
        "the zxid is a fencing token, so a holder that was paused does no harm", KLEPPMANN_FENCING;
    FINDING, NOT_FINDING: StorageDelay => [StaleWrite, LostUpdate],
        "a write may reach the storage after another process was granted the writer's lock",
        KLEPPMANN_RESOURCE;
    WITH_CZXID: StorageDelay => [],
        "the storage rejects writes with an old zxid", KLEPPMANN_FENCING;
    NOT_FINDING: LostReply => [Stuck],
        "a node whose create reply was lost stays as long as the session, and every waiter queues \
         behind it", ZOOKEEPER_BINDINGS;
    FINDING, WITH_CZXID: LostReply => [],
        "the client finds a node whose create reply was lost by the GUID in its name",
        ZOOKEEPER_PROTECTION;
    FINDING, NOT_FINDING, WITH_CZXID: ClientCrash => [],
        "the node of a crashed process is deleted when its session ends", ZOOKEEPER_EPHEMERAL;
    FINDING, WITH_CZXID: Failover, Restart => [],
        "an applied update persists, and every server presents the same view of the service",
        ZOOKEEPER_GUARANTEES;
    COMPARING, ON_MASTERS, WAITING, ON_MEMCACHED: Pause, Suspend => TWO_HOLDERS,
        "a holder may be paused beyond its lease at any point, even after a last check, whichever \
         lock service it uses", KLEPPMANN_RESOURCE;
    COMPARING, PLAIN_DELETE, ON_MASTERS, WAITING, ON_MEMCACHED: StorageDelay => TWO_HOLDERS,
        "a process may wait for the storage beyond its lease, and its write may reach the storage \
         even later", KLEPPMANN_RESOURCE;
    ["redisson", "redisson-fair", "redisson-lease"]: Failover => TWO_HOLDERS,
        "a lock that is returned before it is replicated is lost in a failover", REDISSON_FAILOVER;
    COMPARING, PLAIN_DELETE: Failover => TWO_HOLDERS,
        "the primary may fail before the lock has reached the replica that is promoted",
        REDIS_FAILOVER;
    ["setnx"]: ClientCrash => [Stuck],
        "a client that fails or crashes never releases the lock, and the lock has no expiry", SETNX;
    ["setnx-stale-del"]: ClientCrash => [Overlap, StaleWrite, LostUpdate, ForeignRelease],
        "two clients that find the lock stale both delete it, and the second DEL removes a new \
         lock", SETNX;
    ["setnx-getset-expiry"]: ClientCrash => [],
        "GETSET lets only one of the clients that find the lock stale take it over", SETNX;
    ["redisson", "redisson-lease"]: ClientCrash => [],
        "the lock of a crashed instance is no longer renewed, so it expires", REDISSON;
    ["redlock-fencing"]: None, ClockDrift, Partition, LostReply, SlowServer, Latency, ClientCrash
            => [TokenRegression, FencedOut],
        "Redlock's random value does not increase from grant to grant", KLEPPMANN_FENCING;
    ["redlock-fencing"]: Pause, Suspend, ClockJump, Restart, Eviction, StorageDelay
            => [Overlap, StaleWrite, LostUpdate, TokenRegression, FencedOut],
        "Redlock's random value does not increase from grant to grant", KLEPPMANN_FENCING;
}

pub(super) fn verdict(client: &str, family: Family) -> Option<(Vec<Kind>, Grounds)> {
    let about = |rule: &&Rule| {
        rule.families.contains(&family)
            && rule.clients.iter().any(|clients| clients.contains(&client))
    };
    RULES.iter().find(about).map(|rule| (rule.kinds.to_vec(), rule.grounds))
}

pub(super) fn is_plain_lease(client: &str) -> bool {
    [ENDING_LEASE, SPRING_ROWS, SHEDLOCK_ROWS].iter().any(|clients| clients.contains(&client))
}

pub(super) fn clients() -> impl Iterator<Item = &'static str> {
    RULES.iter().flat_map(|rule| rule.clients).flat_map(|clients| clients.iter().copied())
}
