//! Predictions for locks that the literature discusses only under some faults ([`verdict`]).
//!
//! Each rule applies a statement of a source to locks and faults. Without such a statement there is
//! no prediction, even if one seems obvious.

mod locks;
mod sources;

use super::{Grounds, KLEPPMANN_FENCING, KLEPPMANN_RESOURCE, REDIS_FAILOVER, REDIS_SINGLE};
use crate::judge::finding::Kind;
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

const RULES: &[Rule] = &[
    Rule {
        clients: &[PLAIN_DELETE],
        families: &[Family::Pause, Family::Suspend],
        kinds: &[Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate, Kind::ForeignRelease],
        grounds: (
            "a holder that is delayed beyond its lease deletes the next holder's lock with a plain \
             DEL",
            REDIS_SINGLE,
        ),
    },
    Rule {
        clients: &[&["memcached-cas"]],
        families: &[Family::Pause, Family::Suspend],
        kinds: &[Kind::Overlap],
        grounds: (
            "a holder may be paused beyond its lease, but its unique number is lower than the next \
             holder's",
            CAS_IDS,
        ),
    },
    Rule {
        clients: &[ON_ETCD],
        families: &[Family::Pause],
        kinds: &[Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate],
        grounds: (
            "a process that is paused for longer than its lease continues as if it still held the \
             lock, which another process holds by then",
            ETCD_JEPSEN,
        ),
    },
    Rule {
        clients: &[WITH_CREATE_REVISION],
        families: &[Family::Pause],
        kinds: &[Kind::Overlap],
        grounds: (
            "the create revision is a fencing token, so a holder that was paused does no harm",
            ETCD_JEPSEN,
        ),
    },
    Rule {
        clients: &[ON_ETCD, WITH_CREATE_REVISION],
        families: &[Family::ClientCrash],
        kinds: &[],
        grounds: ("the keys of a crashed process are deleted when its lease ends", ETCD_LEASES),
    },
    Rule {
        clients: &[ON_ETCD, WITH_CREATE_REVISION],
        families: &[Family::Failover, Family::Restart],
        kinds: &[],
        grounds: (
            "acknowledged writes are durable, and leases survive a change of leader",
            ETCD_GUARANTEES,
        ),
    },
    Rule {
        clients: &[&["chubby-no-delay"]],
        families: &[Family::Pause],
        kinds: &[Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate],
        grounds: (
            "a holder may fail while its request is in transit; another client then gets the lock, \
             and the request arrives unprotected",
            CHUBBY_LOCKS,
        ),
    },
    Rule {
        clients: &[WITHOUT_SEQUENCER],
        families: &[Family::StorageDelay],
        kinds: &[Kind::StaleWrite, Kind::LostUpdate],
        grounds: (
            "a delayed request may arrive after its lock was released: the lock-delay protects \
             only a lock whose holder failed",
            CHUBBY_LOCKS,
        ),
    },
    Rule {
        clients: &[&["chubby-sequencer"]],
        families: &[Family::StorageDelay],
        kinds: &[],
        grounds: ("the recipient rejects requests whose sequencer is invalid", CHUBBY_LOCKS),
    },
    Rule {
        clients: &[WITH_LOCK_DELAY],
        families: &[Family::Pause, Family::ClientCrash],
        kinds: &[],
        grounds: (
            "a lock-delay protects unmodified servers from everyday problems caused by message \
             delays and restarts",
            CHUBBY_LOCKS,
        ),
    },
    Rule {
        clients: &[WITH_LOCK_DELAY, &["chubby-no-delay", "chubby-checked"]],
        families: &[Family::Failover, Family::Restart],
        kinds: &[],
        grounds: (
            "sessions and locks survive a change of master, and the new master extends every lease",
            CHUBBY_FAILOVER,
        ),
    },
    Rule {
        clients: &[&["gemfire"]],
        families: &[Family::Pause, Family::Suspend],
        kinds: &[Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate],
        grounds: (
            "an unresponsive member is removed from the view, and is told so by a message",
            GEODE_DETECTION,
        ),
    },
    Rule {
        clients: &[&["gemfire-lease"]],
        families: &[Family::Pause, Family::Suspend],
        kinds: &[Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate],
        grounds: ("a lock is held until its lease time has passed", GEODE_LEASE),
    },
    Rule {
        clients: &[ON_GEMFIRE, &["gemfire-token"]],
        families: &[Family::ClientCrash],
        kinds: &[],
        grounds: ("the locks of an application that crashes are released", GEODE_CRASHES),
    },
    Rule {
        clients: &[ON_GEMFIRE, &["gemfire-token"]],
        families: &[Family::Failover],
        kinds: &[],
        grounds: ("if the lock grantor goes away, the system assigns another", GEODE_GRANTOR),
    },
    Rule {
        clients: &[SPRING_ROWS],
        families: &[Family::Pause, Family::Suspend],
        kinds: &[Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate],
        grounds: (
            "a lock may expire while its holder uses it, and the resource is then unprotected",
            JDBC_EXPIRATION,
        ),
    },
    Rule {
        clients: &[SPRING_ROWS],
        families: &[Family::ClientCrash],
        kinds: &[],
        grounds: ("the row of a crashed process expires after its time to live", JDBC_TTL),
    },
    Rule {
        clients: &[SHEDLOCK_ROWS],
        families: &[Family::Pause, Family::Suspend],
        kinds: &[Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate],
        grounds: (
            "a task that takes longer than lockAtMostFor may run twice concurrently",
            SHEDLOCK,
        ),
    },
    Rule {
        clients: &[SHEDLOCK_ROWS],
        families: &[Family::ClientCrash],
        kinds: &[],
        grounds: ("the lock of a crashed node is kept for lockAtMostFor", SHEDLOCK),
    },
    Rule {
        clients: &[&["shedlock-jdbc"]],
        families: &[Family::ClockJump],
        kinds: &[Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate],
        grounds: ("the lock assumes that the clocks of all nodes are synchronised", SHEDLOCK),
    },
    Rule {
        clients: &[SPRING_ROWS, SHEDLOCK_ROWS],
        families: &[Family::Restart],
        kinds: &[],
        grounds: ("a committed row survives a crash", RELIABILITY),
    },
    Rule {
        clients: &[SPRING_ROWS, SHEDLOCK_ROWS],
        families: &[Family::Failover],
        kinds: &[Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate],
        grounds: (
            "replication is asynchronous by default: some commits may not have reached the standby \
             when the primary crashes",
            SYNCHRONOUS,
        ),
    },
    Rule {
        clients: &[&["pg-advisory"]],
        families: &[Family::Failover],
        kinds: &[Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate],
        grounds: ("advisory locks are not WAL-logged, so no standby has them", HOT_STANDBY),
    },
    Rule {
        clients: &[SPRING_ROWS, SHEDLOCK_ROWS],
        families: &[Family::ReplicationLag],
        kinds: &[],
        grounds: (
            "connections to a standby are strictly read-only, so it grants no lock",
            HOT_STANDBY,
        ),
    },
    Rule {
        clients: &[&["pg-advisory"]],
        families: &[Family::Pause, Family::Suspend, Family::ClientCrash],
        kinds: &[],
        grounds: (
            "a session-level lock is held until it is released or the session ends, and is free \
             after that",
            ADVISORY,
        ),
    },
    Rule {
        clients: &[&["pg-advisory"]],
        families: &[Family::Restart],
        kinds: &[Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate],
        grounds: ("a session-level lock is held only until the session ends", ADVISORY),
    },
    Rule {
        clients: &[ON_MYSQL],
        families: &[Family::Pause, Family::Suspend, Family::ClientCrash],
        kinds: &[],
        grounds: (
            "the lock is released explicitly or when the session terminates, normally or \
             abnormally",
            GET_LOCK,
        ),
    },
    Rule {
        clients: &[&["mysql-get-lock"]],
        families: &[Family::Restart],
        kinds: &[Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate],
        grounds: ("the lock is released when the session terminates", GET_LOCK),
    },
    Rule {
        clients: &[&["select-for-update"]],
        families: &[Family::Pause, Family::Suspend, Family::ClientCrash],
        kinds: &[],
        grounds: (
            "a row lock is held until its transaction ends, and is free after that",
            ROW_LOCKS,
        ),
    },
    Rule {
        clients: &[&["select-for-update", "select-for-update-timeout"]],
        families: &[Family::Restart],
        kinds: &[Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate],
        grounds: ("a row lock is held only until its transaction ends", ROW_LOCKS),
    },
    Rule {
        clients: &[ON_MEMCACHED],
        families: &[Family::Eviction],
        kinds: &[Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate],
        grounds: ("a server that runs out of memory evicts locks", EDGE_OF_MEMORY),
    },
    Rule {
        clients: &[ON_MEMCACHED],
        families: &[Family::Restart],
        kinds: &[Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate],
        grounds: ("the lock does not survive a failure of its server", NOT_RESISTANT),
    },
    Rule {
        clients: &[FINDING, NOT_FINDING],
        families: &[Family::Pause, Family::Suspend],
        kinds: &[Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate],
        grounds: (
            "a holder may be paused at any point until the lock service grants its lock to another \
             process, whichever service it is",
            KLEPPMANN_RESOURCE,
        ),
    },
    Rule {
        clients: &[WITH_CZXID],
        families: &[Family::Pause, Family::Suspend],
        kinds: &[Kind::Overlap],
        grounds: (
            "the zxid is a fencing token, so a holder that was paused does no harm",
            KLEPPMANN_FENCING,
        ),
    },
    Rule {
        clients: &[FINDING, NOT_FINDING],
        families: &[Family::StorageDelay],
        kinds: &[Kind::StaleWrite, Kind::LostUpdate],
        grounds: (
            "a write may reach the storage after another process was granted the writer's lock",
            KLEPPMANN_RESOURCE,
        ),
    },
    Rule {
        clients: &[WITH_CZXID],
        families: &[Family::StorageDelay],
        kinds: &[],
        grounds: ("the storage rejects writes with an old zxid", KLEPPMANN_FENCING),
    },
    Rule {
        clients: &[NOT_FINDING],
        families: &[Family::LostReply],
        kinds: &[Kind::Stuck],
        grounds: (
            "a node whose create reply was lost stays as long as the session, and every waiter \
             queues behind it",
            ZOOKEEPER_BINDINGS,
        ),
    },
    Rule {
        clients: &[FINDING, WITH_CZXID],
        families: &[Family::LostReply],
        kinds: &[],
        grounds: (
            "the client finds a node whose create reply was lost by the GUID in its name",
            ZOOKEEPER_PROTECTION,
        ),
    },
    Rule {
        clients: &[FINDING, NOT_FINDING, WITH_CZXID],
        families: &[Family::ClientCrash],
        kinds: &[],
        grounds: (
            "the node of a crashed process is deleted when its session ends",
            ZOOKEEPER_EPHEMERAL,
        ),
    },
    Rule {
        clients: &[FINDING, WITH_CZXID],
        families: &[Family::Failover, Family::Restart],
        kinds: &[],
        grounds: (
            "an applied update persists, and every server presents the same view of the service",
            ZOOKEEPER_GUARANTEES,
        ),
    },
    Rule {
        clients: &[COMPARING, ON_MASTERS, WAITING, ON_MEMCACHED],
        families: &[Family::Pause, Family::Suspend],
        kinds: &[Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate],
        grounds: (
            "a holder may be paused beyond its lease at any point, even after a last check, \
             whichever lock service it uses",
            KLEPPMANN_RESOURCE,
        ),
    },
    Rule {
        clients: &[COMPARING, PLAIN_DELETE, ON_MASTERS, WAITING, ON_MEMCACHED],
        families: &[Family::StorageDelay],
        kinds: &[Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate],
        grounds: (
            "a process may wait for the storage beyond its lease, and its write may reach the \
             storage even later",
            KLEPPMANN_RESOURCE,
        ),
    },
    Rule {
        clients: &[&["redisson", "redisson-fair", "redisson-lease"]],
        families: &[Family::Failover],
        kinds: &[Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate],
        grounds: (
            "a lock that is returned before it is replicated is lost in a failover",
            REDISSON_FAILOVER,
        ),
    },
    Rule {
        clients: &[COMPARING, PLAIN_DELETE],
        families: &[Family::Failover],
        kinds: &[Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate],
        grounds: (
            "the primary may fail before the lock has reached the replica that is promoted",
            REDIS_FAILOVER,
        ),
    },
    Rule {
        clients: &[&["setnx"]],
        families: &[Family::ClientCrash],
        kinds: &[Kind::Stuck],
        grounds: (
            "a client that fails or crashes never releases the lock, and the lock has no expiry",
            SETNX,
        ),
    },
    Rule {
        clients: &[&["setnx-stale-del"]],
        families: &[Family::ClientCrash],
        kinds: &[Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate, Kind::ForeignRelease],
        grounds: (
            "two clients that find the lock stale both delete it, and the second DEL removes a new \
             lock",
            SETNX,
        ),
    },
    Rule {
        clients: &[&["setnx-getset-expiry"]],
        families: &[Family::ClientCrash],
        kinds: &[],
        grounds: (
            "GETSET lets only one of the clients that find the lock stale take it over",
            SETNX,
        ),
    },
    Rule {
        clients: &[&["redisson", "redisson-lease"]],
        families: &[Family::ClientCrash],
        kinds: &[],
        grounds: ("the lock of a crashed instance is no longer renewed, so it expires", REDISSON),
    },
    Rule {
        clients: &[&["redlock-fencing"]],
        families: &[
            Family::None,
            Family::ClockDrift,
            Family::Partition,
            Family::LostReply,
            Family::SlowServer,
            Family::Latency,
            Family::ClientCrash,
        ],
        kinds: &[Kind::TokenRegression, Kind::FencedOut],
        grounds: (
            "Redlock's random value does not increase from grant to grant",
            KLEPPMANN_FENCING,
        ),
    },
    Rule {
        clients: &[&["redlock-fencing"]],
        families: &[
            Family::Pause,
            Family::Suspend,
            Family::ClockJump,
            Family::Restart,
            Family::Eviction,
            Family::StorageDelay,
        ],
        kinds: &[
            Kind::Overlap,
            Kind::StaleWrite,
            Kind::LostUpdate,
            Kind::TokenRegression,
            Kind::FencedOut,
        ],
        grounds: (
            "Redlock's random value does not increase from grant to grant",
            KLEPPMANN_FENCING,
        ),
    },
];

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
