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
    /// Name of a similar lock without this mistake, although it may have other mistakes.
    pub fixed: &'static str,
    pub mistake: &'static str,
}

macro_rules! twins {
    ($($flawed:literal => $fixed:literal, $mistake:literal;)*) => {
        &[$(Twin { flawed: $flawed, fixed: $fixed, mistake: $mistake },)*]
    };
}

pub static TWINS: &[Twin] = twins! {
    "setnx" => "set-ex-del", "the lock never expires";
    "setnx-expire" => "set-ex-del", "a second command sets the expiry";
    "setnx-stale-del" => "setnx-stale-compare", "a stale lock is deleted without checking it again";
    "setnx-stale-del" => "setnx-getset", "a stale lock is deleted without checking it again";
    "setnx-getset" => "setnx-getset-nil", "nil replies are read as a timeout and as a lost race";
    "setnx-getset" => "setnx-getset-server-time",
        "clients compute the age of a lock with their own clocks";
    "setnx-getset" => "setnx-getset-owner", "losers overwrite the winner's time";
    "setnx-getset" => "setnx-getset-owner", "the release does not check the owner";
    "setnx-getset-seconds" => "setnx-getset", "times are in whole seconds";
    "setnx-getset-expiry" => "setnx-getset-expiry-owner",
        "the release compares a time instead of an owner";
    "jedis-getset" => "jedis-getset-owner", "the release does not check the owner";
    "jedis-getset" => "jedis-getset-owner", "a nil reply from GETSET is read as a lost race";
    "set-ex-del" => "set-px-get-del", "the release does not check the owner";
    "thread-id-get-del" => "set-px-get-del", "all processes use the same owner value";
    "set-px-get-del" => "single-node", "the release compares and deletes in two commands";
    "redisson-lease" => "redisson", "the lease is not renewed while the holder works";
    "redisson" => "redisson-wait", "the lock is granted before any replica has it";
    "redisson" => "redisson-fair", "waiters are not served in order of arrival";
    "redisson-redlock" => "redlock", "the client ignores how long it took to lock the majority";
    "redlock-no-random-delay" => "redlock-parallel",
        "processes with a minority each retry after the same delay";
    "redlock-no-validity-check" => "redlock",
        "the client accepts a majority even after the validity time";
    "redlock-unlock-answered" => "redlock", "masters that did not answer keep the key";
    "redlock-fencing" => "fencing", "tokens have no order";
    "redlock-py" => "redlock", "a lock that was taken is reported as an error";
    "node-redlock" => "redlock-parallel", "the client does not release after a failed attempt";
    "reentrant-by-value" => "reentrant-counted", "the inner release frees the lock";
    "watchdog-expire" => "watchdog", "each renewal lasts exactly until the next one";
    "watchdog-resurrecting" => "watchdog", "a late renewal takes the lock again";
    "watchdog-unstopped" => "watchdog", "the watchdog keeps renewing after the release";
    "watchdog" => "watchdog-capped", "a hanging holder keeps the lock forever";
    "single-node" => "watchdog", "the lease is not renewed while the holder works";
    "lua-extend-unchecked" => "lua-extend", "the extension does not check the owner";
    "lua-extend-reacquire" => "lua-extend", "the holder retakes a lost lock and continues its work";
    "memcached-add" => "memcached-cas", "the release does not check the owner";
    "memcached-add" => "memcached-cas", "a ttl in whole seconds ends up to a second early";
    "memcached-get-delete" => "memcached-cas", "the release compares and deletes in two commands";
    "zookeeper-naive" => "curator-mutex",
        "after a lost reply the client creates a second node, and the first one stays";
    "zookeeper-herd" => "zookeeper-naive", "every change of the queue wakes all waiters";
    "zookeeper-lost-watch" => "zookeeper-naive",
        "the client does not set its watches again on another server";
    "curator-mutex" => "curator-suspended", "the holder keeps working after the connection is lost";
    "curator-mutex" => "curator-fencing",
        "the storage cannot recognise a holder whose session has ended";
    "curator-unprotected" => "curator-mutex",
        "after a lost reply the client creates a second node, and the first one stays";
    "curator-any-session" => "curator-mutex",
        "the client uses a node that an earlier session created";
    "curator-unguaranteed" => "curator-mutex", "a failed release leaves its node behind";
    "jdbc-4" => "shedlock-db-time",
        "each process decides by its own clock whether a row has expired";
    "jdbc-5" => "shedlock-db-time",
        "each process decides by its own clock whether a row has expired";
    "jdbc-7" => "shedlock-db-time",
        "each process decides by its own clock whether a row has expired";
    "shedlock-jdbc" => "shedlock-db-time",
        "each process decides by its own clock whether a row has expired";
    "jdbc-5-app-id" => "jdbc-5", "all processes have the same client id";
    "select-for-update" => "select-for-update-timeout",
        "the server never ends a paused holder's transaction";
    "select-for-update-timeout" => "select-for-update", "a paused holder loses its lock";
    "etcd-mutex-unchecked" => "etcd-mutex", "the client does not check its own key after waiting";
    "etcd-lock-api" => "etcd-lock-api-fixed",
        "the server does not check the caller's key after waiting";
    "etcd-mutex" => "etcd-mutex-fencing", "a holder whose session has ended can still write";
    "chubby" => "chubby-sequencer", "a write may arrive after the lock-delay";
    "chubby-no-delay" => "chubby", "a failed holder's lock is granted again immediately";
    "chubby-no-delay" => "chubby-checked",
        "the holder keeps working while its session is in jeopardy";
    "chubby-checked" => "chubby-sequencer", "the check and the write are separate steps";
    "checked" => "fencing", "the check and the write are separate steps";
    "gemfire" => "gemfire-token", "a holder whose member has departed can still write";
};

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

    /// The compiler does not report a public definition that is missing from the table.
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
