//! Elections, failovers and restarts of groups of real servers.

use crate::answer::fencepost;
use crate::real_servers::{broken, redis, run_of};
use fencepost_testing::skip;
use serde_json::Value;
use std::path::Path;

fn real_run(words: &[&str]) -> Value {
    let rest = ["--no-shrink", "--engine", "fast", "--with-history", "--format", "json"];
    let report = fencepost(&[words, &rest].concat()).json();
    let run = run_of(&report);
    assert_eq!((&run["not_reproducible"], &run["failure"]), (&Value::Null, &Value::Null));
    run.clone()
}

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn real_sentinels_elect_a_leader_although_they_start_at_the_same_time() {
    let Some(redis) = redis() else { return };
    let redis = format!("redis={}", redis.display());
    for seed in ["6", "17"] {
        let words = ["--seed", seed, "--fault", "failover", "--set", "failover-by=crash"];
        let client = ["--client", "single-node", "--servers", &redis];
        let run = real_run(&[&words[..], &client].concat());
        let events = run["history"]["events"].as_array().unwrap();
        let time = |event: &&Value| event["time_us"].as_u64().unwrap();
        let is_crash = |event: &&Value| event["kind"] == "crash" && event["node"] == "redis-1";
        let crash = events.iter().find(is_crash).map(|event| time(&event)).unwrap();
        let is_promotion = |event: &&Value| event["turn"] == "promoted" && time(event) > crash;
        let promotion = events.iter().find(is_promotion).map(|event| time(&event)).unwrap();
        assert!(promotion < crash + 4_000_000, "seed {seed}: {crash} {promotion}");
    }
}

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn a_demoted_primary_waits_for_a_snapshot_as_long_as_the_simulated_one() {
    let Some(redis) = redis() else { return };
    let words = ["--seed", "1", "--fault", "failover", "--client", "single-node"];
    let waited_us = |servers: &str| {
        let sets = ["--set", "failover-by=crash", "--servers", servers];
        let run = real_run(&[&words[..], &sets].concat());
        let events = run["history"]["events"].as_array().unwrap().clone();
        let is_demotion = |event: &Value| event["turn"] == "demoted";
        let demoted = events.iter().position(is_demotion).expect("a primary is demoted");
        let is_copy = |event: &&Value| {
            let copied = event["change"] == "granted" || event["change"] == "restored";
            copied && event["node"] == events[demoted]["node"]
        };
        let copied = events[demoted..].iter().find(is_copy).expect("the lock is copied");
        copied["time_us"].as_u64().unwrap() - events[demoted]["time_us"].as_u64().unwrap()
    };
    let (fake, real) = (waited_us("fake"), waited_us(&format!("redis={}", redis.display())));
    assert!(fake.abs_diff(real) < 1_500_000, "simulated: {fake} us, real: {real} us");
}

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn a_zookeeper_server_keeps_the_files_that_it_wrote_before_the_run() {
    let zookeeper = "/usr/share/java/zookeeper.jar";
    if !Path::new(zookeeper).exists() {
        skip("FENCEPOST_REAL_ZOOKEEPER", "zookeeper");
        return;
    }
    let sets = ["ttl=4s", "retry=1s", "ensemble=1", "restart-delay=6s..10s"];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let words = ["--seed", "0", "--fault", "restart", "--client", "curator-mutex", "--servers"];
    let run = |servers: &str| real_run(&[&words[..], &[servers], &sets].concat());
    let (real, fake) = (run(&format!("zookeeper={zookeeper}")), run("fake"));
    assert_eq!(real["verdict"], "violated", "it starts again after the power loss");
    let overlap = ("overlap".to_owned(), "session-expired".to_owned());
    assert!(broken(&real).contains(&overlap) && broken(&fake).contains(&overlap), "{real}");
}

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn a_cluster_of_real_servers_has_a_leader_when_the_run_begins() {
    let etcd = "/usr/bin/etcd";
    if !Path::new(etcd).exists() {
        skip("FENCEPOST_REAL_ETCD", "etcd");
        return;
    }
    let etcd = format!("etcd={etcd}");
    let words = ["--seed", "1", "--fault", "none", "--client", "etcd-mutex", "--processes", "2"];
    let run = real_run(&[&words[..], &["--cycles", "2", "--servers", &etcd]].concat());
    let events = run["history"]["events"].as_array().unwrap();
    let first = events.iter().find(|event| event["change"] == "granted").unwrap();
    assert!(first["time_us"].as_u64() < Some(1_000_000), "{first}");
    assert!(events.iter().all(|event| event["event"] != "fail"), "no acquire fails");
}

fn shedlock_run(seed: &str) -> Option<Value> {
    let postgresql = "/usr/lib/postgresql/15/bin/postgres";
    if !Path::new(postgresql).exists() {
        skip("FENCEPOST_REAL_POSTGRESQL", "postgresql");
        return None;
    }
    let servers = format!("postgresql={postgresql}");
    let words = ["--seed", seed, "--fault", "failover", "--client", "shedlock-db-time"];
    let sets = ["--cycles", "8", "--set", "old-primary=stopped", "--servers", &servers];
    Some(real_run(&[&words[..], &sets].concat()))
}

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn a_session_that_waited_for_a_release_is_not_the_one_that_released() {
    let Some(run) = shedlock_run("22") else { return };
    assert_eq!(broken(&run), [], "{run}");
}

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn the_release_that_a_standby_has_applied_is_read_before_its_promotion() {
    let Some(run) = shedlock_run("17") else { return };
    let foreign = ("foreign-release".to_owned(), "stale-takeover".to_owned());
    assert!(!broken(&run).contains(&foreign), "{run}");
}
