use crate::articles::{
    checked, jedis_getset, lua_extend, reentrant, set_ex_del, set_px_get_del, setnx, setnx_expire,
    setnx_getset, setnx_getset_expiry, setnx_stale_del, watchdog,
};
use crate::lock::Definition;
use crate::memcached::{add, cas, get_delete};
use crate::mysql::get_lock;
use crate::redisson::{fair, red_lock};
use crate::redlock::{libraries, variants};
use crate::sql::{advisory, for_update, shedlock, spring};
use crate::zookeeper::curator::{mutex, semaphore};
use crate::zookeeper::{kazoo, naive};
use crate::{chubby, etcd, fencing, gemfire, redisson, redlock, single_node, spring_registry};

pub static CLIENTS: &[Definition] = &[
    single_node::DEFINITION,
    redlock::DEFINITION,
    fencing::DEFINITION,
    setnx::DEFINITION,
    setnx_expire::DEFINITION,
    setnx_stale_del::DEFINITION,
    setnx_stale_del::COMPARING,
    setnx_getset::DEFINITION,
    setnx_getset::SECONDS,
    setnx_getset::CHECKED,
    setnx_getset::NIL_HANDLED,
    setnx_getset::SERVER_TIME,
    setnx_getset::OWNER,
    setnx_getset_expiry::DEFINITION,
    setnx_getset_expiry::OWNER,
    jedis_getset::DEFINITION,
    jedis_getset::OWNER,
    set_ex_del::DEFINITION,
    set_px_get_del::DEFINITION,
    set_px_get_del::THREAD_ID,
    watchdog::DEFINITION,
    watchdog::CAPPED,
    watchdog::EXPIRE,
    watchdog::RESURRECTING,
    watchdog::UNSTOPPED,
    lua_extend::DEFINITION,
    lua_extend::UNCHECKED,
    lua_extend::REACQUIRE,
    reentrant::DEFINITION,
    reentrant::COUNTED,
    checked::DEFINITION,
    redisson::DEFINITION,
    redisson::LEASE,
    redisson::WAIT,
    fair::FAIR,
    red_lock::RED_LOCK,
    spring_registry::DEFINITION,
    variants::PARALLEL,
    variants::NO_RANDOM_DELAY,
    variants::NO_VALIDITY_CHECK,
    variants::UNLOCK_ANSWERED,
    variants::FENCING,
    libraries::PYTHON,
    libraries::NODE,
    libraries::REDSYNC,
    add::DEFINITION,
    get_delete::DEFINITION,
    cas::DEFINITION,
    naive::DEFINITION,
    naive::HERD,
    naive::LOST_WATCH,
    mutex::DEFINITION,
    mutex::SUSPENDED,
    mutex::FENCING,
    mutex::UNPROTECTED,
    mutex::ANY_SESSION,
    mutex::UNGUARANTEED,
    kazoo::DEFINITION,
    semaphore::DEFINITION,
    spring::FOUR,
    spring::FIVE,
    spring::APP_ID,
    spring::SEVEN,
    shedlock::DEFINITION,
    shedlock::DB_TIME,
    advisory::DEFINITION,
    for_update::DEFINITION,
    for_update::TIMEOUT,
    get_lock::DEFINITION,
    get_lock::CHECKED,
    etcd::mutex::DEFINITION,
    etcd::mutex::OLD,
    etcd::mutex::DONE,
    etcd::mutex::FENCING,
    etcd::server_lock::DEFINITION,
    etcd::server_lock::FIXED,
    chubby::DEFINITION,
    chubby::SEQUENCER,
    chubby::NO_DELAY,
    chubby::CHECKED,
    gemfire::DEFINITION,
    gemfire::LEASE,
    gemfire::TOKEN,
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Twin {
    pub flawed: &'static str,
    /// Name of a similar lock without this mistake. It may have other mistakes.
    pub fixed: &'static str,
    pub mistake: &'static str,
}

pub static TWINS: &[Twin] = &[
    Twin { flawed: "setnx", fixed: "set-ex-del", mistake: "the lock never expires" },
    Twin {
        flawed: "setnx-expire",
        fixed: "set-ex-del",
        mistake: "a second command sets the expiry",
    },
    Twin {
        flawed: "setnx-stale-del",
        fixed: "setnx-stale-compare",
        mistake: "a stale lock is deleted without checking it again",
    },
    Twin {
        flawed: "setnx-stale-del",
        fixed: "setnx-getset",
        mistake: "a stale lock is deleted without checking it again",
    },
    Twin {
        flawed: "setnx-getset",
        fixed: "setnx-getset-nil",
        mistake: "nil replies are read as a timeout and as a lost race",
    },
    Twin {
        flawed: "setnx-getset",
        fixed: "setnx-getset-server-time",
        mistake: "clients compute the age of a lock with their own clocks",
    },
    Twin {
        flawed: "setnx-getset",
        fixed: "setnx-getset-owner",
        mistake: "losers overwrite the winner's time",
    },
    Twin {
        flawed: "setnx-getset",
        fixed: "setnx-getset-owner",
        mistake: "the release does not check the owner",
    },
    Twin {
        flawed: "setnx-getset-seconds",
        fixed: "setnx-getset",
        mistake: "times are in whole seconds",
    },
    Twin {
        flawed: "setnx-getset-expiry",
        fixed: "setnx-getset-expiry-owner",
        mistake: "the release compares a time instead of an owner",
    },
    Twin {
        flawed: "jedis-getset",
        fixed: "jedis-getset-owner",
        mistake: "the release does not check the owner",
    },
    Twin {
        flawed: "jedis-getset",
        fixed: "jedis-getset-owner",
        mistake: "a nil reply from GETSET is read as a lost race",
    },
    Twin {
        flawed: "set-ex-del",
        fixed: "set-px-get-del",
        mistake: "the release does not check the owner",
    },
    Twin {
        flawed: "thread-id-get-del",
        fixed: "set-px-get-del",
        mistake: "all processes use the same owner value",
    },
    Twin {
        flawed: "set-px-get-del",
        fixed: "single-node",
        mistake: "the release compares and deletes in two commands",
    },
    Twin {
        flawed: "redisson-lease",
        fixed: "redisson",
        mistake: "the lease is not renewed while the holder works",
    },
    Twin {
        flawed: "redisson",
        fixed: "redisson-wait",
        mistake: "the lock is granted before any replica has it",
    },
    Twin {
        flawed: "redisson",
        fixed: "redisson-fair",
        mistake: "waiters are not served in order of arrival",
    },
    Twin {
        flawed: "redisson-redlock",
        fixed: "redlock",
        mistake: "the client ignores how long it took to lock the majority",
    },
    Twin {
        flawed: "redlock-no-random-delay",
        fixed: "redlock-parallel",
        mistake: "processes with a minority each retry after the same delay",
    },
    Twin {
        flawed: "redlock-no-validity-check",
        fixed: "redlock",
        mistake: "the client accepts a majority even after the validity time",
    },
    Twin {
        flawed: "redlock-unlock-answered",
        fixed: "redlock",
        mistake: "masters that did not answer keep the key",
    },
    Twin { flawed: "redlock-fencing", fixed: "fencing", mistake: "tokens have no order" },
    Twin {
        flawed: "redlock-py",
        fixed: "redlock",
        mistake: "a lock that was taken is reported as an error",
    },
    Twin {
        flawed: "node-redlock",
        fixed: "redlock-parallel",
        mistake: "the client does not release after a failed attempt",
    },
    Twin {
        flawed: "reentrant-by-value",
        fixed: "reentrant-counted",
        mistake: "the inner release frees the lock",
    },
    Twin {
        flawed: "watchdog-expire",
        fixed: "watchdog",
        mistake: "each renewal lasts exactly until the next one",
    },
    Twin {
        flawed: "watchdog-resurrecting",
        fixed: "watchdog",
        mistake: "a late renewal takes the lock again",
    },
    Twin {
        flawed: "watchdog-unstopped",
        fixed: "watchdog",
        mistake: "the watchdog keeps renewing after the release",
    },
    Twin {
        flawed: "watchdog",
        fixed: "watchdog-capped",
        mistake: "a hanging holder keeps the lock forever",
    },
    Twin {
        flawed: "single-node",
        fixed: "watchdog",
        mistake: "the lease is not renewed while the holder works",
    },
    Twin {
        flawed: "lua-extend-unchecked",
        fixed: "lua-extend",
        mistake: "the extension does not check the owner",
    },
    Twin {
        flawed: "lua-extend-reacquire",
        fixed: "lua-extend",
        mistake: "the holder retakes a lost lock and continues its work",
    },
    Twin {
        flawed: "memcached-add",
        fixed: "memcached-cas",
        mistake: "the release does not check the owner",
    },
    Twin {
        flawed: "memcached-add",
        fixed: "memcached-cas",
        mistake: "a ttl in whole seconds ends up to a second early",
    },
    Twin {
        flawed: "memcached-get-delete",
        fixed: "memcached-cas",
        mistake: "the release compares and deletes in two commands",
    },
    Twin {
        flawed: "zookeeper-naive",
        fixed: "curator-mutex",
        mistake: "after a lost reply the client creates a second node, and the first one stays",
    },
    Twin {
        flawed: "zookeeper-herd",
        fixed: "zookeeper-naive",
        mistake: "every change of the queue wakes all waiters",
    },
    Twin {
        flawed: "zookeeper-lost-watch",
        fixed: "zookeeper-naive",
        mistake: "the client does not set its watches again on another server",
    },
    Twin {
        flawed: "curator-mutex",
        fixed: "curator-suspended",
        mistake: "the holder keeps working after the connection is lost",
    },
    Twin {
        flawed: "curator-mutex",
        fixed: "curator-fencing",
        mistake: "the storage cannot recognise a holder whose session has ended",
    },
    Twin {
        flawed: "curator-unprotected",
        fixed: "curator-mutex",
        mistake: "after a lost reply the client creates a second node, and the first one stays",
    },
    Twin {
        flawed: "curator-any-session",
        fixed: "curator-mutex",
        mistake: "the client uses a node that an earlier session created",
    },
    Twin {
        flawed: "curator-unguaranteed",
        fixed: "curator-mutex",
        mistake: "a failed release leaves its node behind",
    },
    Twin {
        flawed: "jdbc-4",
        fixed: "shedlock-db-time",
        mistake: "each process decides by its own clock whether a row has expired",
    },
    Twin {
        flawed: "jdbc-5",
        fixed: "shedlock-db-time",
        mistake: "each process decides by its own clock whether a row has expired",
    },
    Twin {
        flawed: "jdbc-7",
        fixed: "shedlock-db-time",
        mistake: "each process decides by its own clock whether a row has expired",
    },
    Twin {
        flawed: "shedlock-jdbc",
        fixed: "shedlock-db-time",
        mistake: "each process decides by its own clock whether a row has expired",
    },
    Twin {
        flawed: "jdbc-5-app-id",
        fixed: "jdbc-5",
        mistake: "all processes have the same client id",
    },
    Twin {
        flawed: "select-for-update",
        fixed: "select-for-update-timeout",
        mistake: "the server never ends a paused holder's transaction",
    },
    Twin {
        flawed: "select-for-update-timeout",
        fixed: "select-for-update",
        mistake: "a paused holder loses its lock",
    },
    Twin {
        flawed: "etcd-mutex-unchecked",
        fixed: "etcd-mutex",
        mistake: "the client does not check its own key after waiting",
    },
    Twin {
        flawed: "etcd-lock-api",
        fixed: "etcd-lock-api-fixed",
        mistake: "the server does not check the caller's key after waiting",
    },
    Twin {
        flawed: "etcd-mutex",
        fixed: "etcd-mutex-fencing",
        mistake: "a holder whose session has ended can still write",
    },
    Twin {
        flawed: "chubby",
        fixed: "chubby-sequencer",
        mistake: "a write may arrive after the lock-delay",
    },
    Twin {
        flawed: "chubby-no-delay",
        fixed: "chubby",
        mistake: "a failed holder's lock is granted again immediately",
    },
    Twin {
        flawed: "chubby-no-delay",
        fixed: "chubby-checked",
        mistake: "the holder keeps working while its session is in jeopardy",
    },
    Twin {
        flawed: "chubby-checked",
        fixed: "chubby-sequencer",
        mistake: "the check and the write are separate steps",
    },
    Twin {
        flawed: "checked",
        fixed: "fencing",
        mistake: "the check and the write are separate steps",
    },
    Twin {
        flawed: "gemfire",
        fixed: "gemfire-token",
        mistake: "a holder whose member has departed can still write",
    },
];

pub fn find(name: &str) -> Option<&'static Definition> {
    CLIENTS.iter().find(|definition| definition.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const TABLE: &str = include_str!("table.rs");

    #[test]
    fn every_lock_is_found_under_its_own_name_only() {
        for definition in CLIENTS {
            assert!(
                std::ptr::eq(find(definition.name).unwrap(), definition),
                "{} is listed twice",
                definition.name
            );
        }
        assert!(find("no-such-lock").is_none());
    }

    #[test]
    fn twins_are_two_locks_of_the_table() {
        for twin in TWINS {
            assert!(
                find(twin.flawed).is_some()
                    && find(twin.fixed).is_some()
                    && twin.flawed != twin.fixed,
                "{twin:?}"
            );
        }
    }

    /// The compiler cannot report a public definition that the table omits.
    #[test]
    fn every_lock_is_in_the_table() {
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
        let mut found = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let text = std::fs::read_to_string(&path).unwrap();
                let names = text.lines().filter_map(|line| {
                    line.strip_prefix("pub const ")?
                        .split_once(": Definition = ")
                        .map(|(name, _)| name)
                });
                for name in names {
                    let name = format!("{}::{name}", path.file_stem().unwrap().to_string_lossy());
                    assert!(TABLE.contains(&format!("{name},")), "{name} is not in the table");
                    found += 1;
                }
            }
        }
        assert_eq!(found, CLIENTS.len());
    }
}
