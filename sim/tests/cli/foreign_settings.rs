//! Locks, flags and settings that do not fit the coordinator.

use crate::answer::fencepost;
use crate::refusal::refuses;

#[test]
fn locks_and_flags_of_another_coordinator_are_refused() {
    refuses(
        &["--coordinator", "memcache"],
        &["unknown coordinator 'memcache'", "memcached", "redis"],
    );
    let wrong = ["client 'redlock' uses redis, not memcached", "memcached-add"];
    refuses(&["--coordinator", "memcached", "--client", "redlock"], &wrong);
    let sweep = ["sweep", "--seeds", "0..2", "--coordinator", "memcached", "--client", "redlock"];
    refuses(&sweep, &wrong);
    refuses(&["matrix", "--coordinator", "memcached", "--client", "redlock"], &wrong);
    refuses(
        &["--coordinator", "redis", "--client", "memcached-add"],
        &["client 'memcached-add' uses memcached, not redis", "single-node"],
    );
    refuses(
        &["--coordinator", "memcached", "--program", "true", "--deployment", "sentinel"],
        &["--deployment 'sentinel'", "expected single", "memcached"],
    );
    refuses(&["--program", "/nowhere/worker"], &["program '/nowhere/worker' not found"]);
    refuses(
        &["--program", "no-such-worker-at-all"],
        &["program 'no-such-worker-at-all' not found"],
    );
    refuses(&["--program", "/etc/passwd"], &["'/etc/passwd' is not executable"]);
    refuses(
        &["serve", "--coordinator", "zoo"],
        &[
            "unknown coordinator 'zoo'", "redis", "memcached", "zookeeper", "postgresql", "mysql",
            "etcd", "chubby", "gemfire",
        ],
    );
    refuses(
        &["--coordinator", "postgresql", "--client", "single-node"],
        &["client 'single-node' uses redis, not postgresql", "pg-advisory"],
    );
    refuses(
        &["serve", "--coordinator", "postgresql", "--nodes", "2"],
        &["--nodes", "redis or memcached", "postgresql"],
    );
    refuses(
        &["serve", "--coordinator", "memcached", "--dir", "x"],
        &["--dir", "redis, zookeeper, postgresql, mysql, etcd or chubby", "memcached"],
    );
    refuses(
        &["--coordinator", "zookeeper", "--client", "redlock"],
        &["client 'redlock' uses redis, not zookeeper", "curator-mutex", "kazoo-lock"],
    );
    refuses(
        &["--coordinator", "chubby", "--client", "redlock"],
        &["client 'redlock' uses redis, not chubby", "chubby-sequencer"],
    );
    refuses(
        &["--client", "chubby", "--set", "lock-delay=61s"],
        &["lock-delay '61s': expected up to 60s"],
    );
    let part = "expected a range like 5s..10s, with a maximum of at most 10m";
    refuses(&["--set", "sync-fails=5s"], &["sync-fails '5s'", part]);
    refuses(&["--set", "sync-fails=5s..20m"], &["sync-fails '5s..1200s'", part]);
    refuses(&["--set", "sync-fails=soon"], &["sync-fails", "'soon'", "250us, 20ms, 10s"]);
    refuses(&["--set", "sync-error=ebad"], &["ebad", "eio", "enospc"]);
    refuses(&["--set", "unsynced-writes=half"], &["half", "lost", "torn"]);
    refuses(
        &["serve", "--coordinator", "chubby", "--nodes", "2"],
        &["--nodes", "redis or memcached", "chubby"],
    );
    refuses(
        &["--coordinator", "gemfire", "--client", "chubby"],
        &["client 'chubby' uses chubby, not gemfire", "gemfire-lease"],
    );
    refuses(
        &["serve", "--coordinator", "gemfire", "--dir", "x"],
        &["--dir", "redis, zookeeper", "gemfire"],
    );
    refuses(
        &["serve", "--coordinator", "gemfire", "--servers", "4"],
        &["value '4' for '--servers", "1, 3 or 5"],
    );
    refuses(&["--client", "curator-mutex", "--set", "ensemble=0"], &["ensemble '0'", "1 to 31"]);
    refuses(
        &["--client", "jdbc-5", "--set", "standby=sometimes"],
        &["sometimes", "asynchronous", "synchronous"],
    );
    refuses(
        &["--client", "redlock", "--set", "standby=synchronous"],
        &["standby 'synchronous' works only with locks on postgresql", "redlock uses redis"],
    );
    refuses(
        &["--client", "curator-mutex", "--set", "old-primary=stopped"],
        &[
            "old-primary 'stopped' works only with locks on postgresql",
            "curator-mutex uses zookeeper",
        ],
    );
    refuses(&["--set", "redis-version=7.1"], &["7.1", "6.2", "7.0", "7.2", "8.4"]);
    refuses(
        &["--client", "curator-mutex", "--set", "redis-version=7.2"],
        &["redis-version '7.2' works only with locks on redis", "curator-mutex uses zookeeper"],
    );
    refuses(
        &["--set", "failover-by=earthquake"],
        &["earthquake", "drawn", "crash", "isolation", "pause"],
    );
    refuses(
        &["--client", "redlock", "--set", "failover-by=crash"],
        &["failover-by 'crash': expected drawn for redlock"],
    );
    refuses(
        &["serve", "--coordinator", "memcached", "--sentinels", "3"],
        &["--sentinels", "redis", "memcached"],
    );
    refuses(
        &["serve", "--coordinator", "memcached", "--bind", "0.0.0.0"],
        &["0.0.0.0", "loopback", "--no-protected-mode"],
    );
}

#[test]
fn a_lock_that_waits_for_replicas_has_them_without_faults() {
    let run = ["--client", "single-node", "--fault", "none", "--cycles", "3"];
    for setting in ["wait-replicas=1", "min-replicas=1"] {
        let answer = fencepost(&[&run[..], &["--set", setting]].concat());
        assert_eq!(answer.status, 0, "{setting}: {}", answer.stdout);
    }
}

#[test]
fn more_replicas_than_the_run_has_are_refused() {
    refuses(
        &["--client", "single-node", "--fault", "none", "--set", "wait-replicas=3"],
        &["wait-replicas '3': expected 0 to 2", "single-node under none has 2 replicas"],
    );
    refuses(
        &["--client", "redlock", "--fault", "pause", "--set", "min-replicas=1"],
        &["min-replicas '1': expected 0, because a run of redlock under pause has no replicas"],
    );
    refuses(
        &["--client", "single-node", "--fault", "failover", "--set", "min-replicas=3"],
        &["min-replicas '3': expected 0 to 2", "single-node under failover has 2 replicas"],
    );
}

#[test]
fn replicas_of_a_redis_primary_are_refused_on_other_coordinators() {
    for (setting, client, coordinator) in [
        ("min-replicas", "curator-mutex", "zookeeper"),
        ("wait-replicas", "jdbc-5", "postgresql"),
        ("min-replicas", "memcached-add", "memcached"),
    ] {
        refuses(
            &["--client", client, "--fault", "none", "--set", &format!("{setting}=1")],
            &[&format!(
                "{setting} '1' works only with locks on redis, but {client} uses {coordinator}"
            )],
        );
    }
}

#[test]
fn what_another_coordinator_serves_with_is_refused() {
    let zookeeper = |more: [&'static str; 2]| {
        ["serve", "--coordinator", "zookeeper"].into_iter().chain(more).collect::<Vec<_>>()
    };
    for count in ["0", "2", "4", "6", "x"] {
        refuses(&zookeeper(["--servers", count]), &[count, "expected 1, 3 or 5"]);
    }
    refuses(&["serve", "--servers", "3"], &["--servers", "zookeeper", "redis"]);
    refuses(&zookeeper(["--nodes", "3"]), &["--nodes", "redis or memcached", "zookeeper"]);
    let expected = "zookeeper: expected --coordinator redis";
    refuses(&zookeeper(["--requirepass", "secret"]), &["--requirepass", expected]);
    let expected = "zookeeper: expected --coordinator redis or memcached";
    refuses(&zookeeper(["--maxmemory", "9"]), &["--maxmemory", expected]);
    refuses(&zookeeper(["--max-clients", "0"]), &["--max-clients", "from 1 to 1000000"]);
    let ports = ["serve", "--coordinator", "zookeeper", "--servers", "5", "--port", "65533"];
    refuses(&ports, &["65535", "smaller port"]);
    refuses(
        &["serve", "--coordinator", "memcached", "--dir", "here"],
        &["--dir does not work with --coordinator memcached: expected --coordinator redis, "],
    );
}
