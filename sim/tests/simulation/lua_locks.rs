use crate::drawn::drawn_of;
use fencepost::clients::lua::Script;
use fencepost::setup::scenario::LockScript;
use fencepost::{Engine, RunSpec, Scenario};
use fencepost_clients::{Definition, find};
use fencepost_reports::{What, digest};
use rayon::prelude::*;
use std::path::Path;

const TWINS: &[(&str, &str, &[&str])] = &[
    ("single-node", "single-node", &["pause", "failover", "lost-reply", "client-crash"]),
    ("fencing", "fencing", &["pause", "failover", "lost-reply", "restart"]),
    ("watchdog", "watchdog", &["pause", "failover", "lost-reply", "client-crash"]),
    ("redlock", "redlock", &["restart", "lost-reply", "clock-jump", "partition"]),
    ("memcached-add", "memcached-add", &["pause", "lost-reply", "restart", "partition"]),
    ("pg-advisory", "pg-advisory", &["pause", "lost-reply", "restart", "partition"]),
    ("pg-row", "shedlock-db-time", &["pause", "lost-reply", "restart", "failover"]),
    ("zookeeper-queue", "zookeeper-naive", &["pause", "lost-reply", "restart", "partition"]),
    ("etcd-mutex", "etcd-mutex", &["pause", "lost-reply", "restart", "partition"]),
];

fn example(name: &str) -> LockScript {
    let file = format!("examples/locks/{name}.lua");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(&file);
    let text = std::fs::read_to_string(path).unwrap();
    LockScript { name: format!("{name}.lua"), script: Script::read(&file, &text).unwrap() }
}

fn spec(client: &'static Definition, script: &LockScript, fault: &str, seed: u64) -> RunSpec {
    let scenario = Scenario { scripts: vec![script.clone()], cycles: 8, ..Scenario::default() };
    drawn_of(client, fault, seed, scenario)
}

fn history(spec: &RunSpec, engine: Engine) -> String {
    let history = spec.run(engine).unwrap().history;
    for event in &history.events {
        if let What::Info { reason, .. } = &event.what {
            assert!(!reason.starts_with("examples/"), "{reason}");
        }
    }
    digest(&history)
}

fn compare(seeds: u64) {
    let cells = TWINS.iter().flat_map(|(name, twin, faults)| {
        let faults = faults.iter();
        faults.flat_map(move |fault| (0..seeds).map(move |seed| (*name, *twin, *fault, seed)))
    });
    let cells: Vec<_> = cells.collect();
    cells.par_iter().for_each(|(name, twin, fault, seed)| {
        let script = example(name);
        let lua = history(&spec(script.definition(), &script, fault, *seed), Engine::Fast);
        let rust = history(&spec(find(twin).unwrap(), &script, fault, *seed), Engine::Fast);
        assert_eq!(lua, rust, "{name} and {twin} under {fault}, seed {seed}");
    });
}

#[test]
fn an_example_gives_the_histories_of_its_rust_twin() {
    compare(2);
}

#[test]
#[ignore = "long: each of four faults over 1,000 seeds"]
fn an_example_gives_the_histories_of_its_rust_twin_over_a_thousand_seeds() {
    compare(1_000);
}

#[test]
fn both_engines_tell_the_same_history_of_a_lock_in_lua() {
    for (name, _, faults) in TWINS {
        let script = example(name);
        let spec = spec(script.definition(), &script, faults[0], 3);
        assert_eq!(history(&spec, Engine::Fast), history(&spec, Engine::Turmoil), "{name}");
    }
}

#[test]
fn what_an_earlier_run_left_in_a_global_is_not_seen() {
    let text = "
        taken = 0
        function acquire(key, ttl)
          taken = taken + 1
          local owner = random_hex(20) .. '-' .. taken
          if redis.call('SET', key, owner, 'NX', 'PX', ttl) then return owner end
        end
        function release(key) return redis.call('DEL', key) == 1 end";
    let script = Script::read("counting.lua", text).unwrap();
    let script = LockScript { name: "counting.lua".to_owned(), script };
    let digest = || history(&spec(script.definition(), &script, "pause", 1), Engine::Fast);
    let first = digest();
    assert_eq!(digest(), first);
    assert_eq!(std::thread::scope(|scope| scope.spawn(digest).join().unwrap()), first);
}
