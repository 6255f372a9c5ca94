use crate::answer::{Answer, fencepost, without_measured};
use crate::drawn::{drawn_of, history};
use fencepost::run::Recording;
use fencepost::{Engine, Scenario};
use fencepost_reports::digest;
use std::rc::Rc;

const RUN: &[&str] =
    &["--seed", "11", "--fault", "all", "--cycles", "6", "--format", "json", "--with-history"];

#[test]
fn two_processes_print_the_same_bytes() {
    let (first, second) = (fencepost(RUN), fencepost(RUN));
    assert!(first.stdout.len() > 10_000, "a report was printed: {}", first.stderr);
    assert_eq!(first.stdout, second.stdout);
}

#[test]
fn one_process_runs_the_same_seed_twice_alike() {
    let scenario = Rc::new(Scenario { cycles: 6, ..Scenario::default() });
    for client in fencepost_clients::CLIENTS {
        let run = |seed| drawn_of(client, "all", seed, scenario.clone()).run(Engine::Fast).unwrap();
        let first = run(11);
        run(12);
        assert_eq!(first, run(11), "{}", client.name);
    }
}

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn a_run_whose_messages_are_written_down_is_the_same_run() {
    let scenario = Rc::new(Scenario { cycles: 6, ..Scenario::default() });
    for client in fencepost_clients::CLIENTS {
        let spec = drawn_of(client, "all", 11, scenario.clone());
        let plain = spec.run(Engine::Fast).unwrap();
        for engine in [Engine::Fast, Engine::Turmoil] {
            let recorded = spec.run_recording(engine, Recording::Wire).unwrap();
            assert_eq!(digest(&plain.history), digest(&recorded.history), "{}", client.name);
            assert_eq!(plain.history, recorded.history, "{}", client.name);
            let trace = recorded.trace.unwrap();
            assert_eq!(
                trace.messages.len() as u64 + trace.left_out,
                plain.messages,
                "{}: every message",
                client.name
            );
        }
        assert_eq!(plain.trace, None);
    }
}

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn a_sweep_does_not_depend_on_the_number_of_threads() {
    let sweep = |jobs: &str| {
        let answer = fencepost(&[
            "sweep", "--seeds", "0..16", "--fault", "pause,failover", "--cycles", "4", "--format",
            "json", "--jobs", jobs,
        ]);
        without_measured(&answer.stdout)
    };
    let alone = sweep("1");
    assert_eq!(alone, sweep("2"));
    assert_eq!(alone, sweep("7"));
}

#[test]
fn a_replay_gives_the_same_history() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let run =
        fencepost(&["--seed", "5", "--fault", "failover", "--cycles", "5", "--format", "json"]);
    std::fs::write(&path, &run.stdout).unwrap();
    let replay = fencepost(&["replay", path.to_str().unwrap(), "--format", "json"]);
    assert_eq!(replay.stderr, "");
    let digests = |answer: &Answer| -> Vec<String> {
        let report = answer.json();
        let runs = report["runs"].as_array().unwrap().iter();
        runs.map(|run| run["history_digest"].to_string()).collect()
    };
    assert_eq!(digests(&run), digests(&replay));
    assert_eq!(digests(&run).len(), 3);
}

mod leaky {
    use fencepost_clients::{Acquisition, Algorithm, Definition, Env, Lease, Lock, Release, find};
    use std::cell::Cell;
    use std::time::Duration;

    #[derive(Clone, Copy, Debug)]
    pub(crate) enum Leak {
        WallClock,
        HashOrder,
        AmbientRandomness,
    }

    thread_local! {
        pub(crate) static LEAK: Cell<Leak> = const { Cell::new(Leak::WallClock) };
    }

    struct Leaky {
        env: Env,
        inner: Box<dyn Lock>,
    }

    #[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "a planted leak")]
    fn leaked() -> u64 {
        use std::hash::{BuildHasher, RandomState};
        match LEAK.get() {
            Leak::WallClock => {
                let now =
                    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
                u64::from(now.subsec_nanos()) / 7
            }
            Leak::HashOrder => {
                let set: std::collections::HashSet<u64> = (0..1_000).collect();
                set.iter().next().copied().unwrap()
            }
            Leak::AmbientRandomness => RandomState::new().hash_one(1),
        }
    }

    impl Algorithm for Leaky {
        async fn acquire(&mut self, resource: &str) -> Acquisition {
            self.env.sleep(Duration::from_millis(leaked() % 1_000)).await;
            self.inner.acquire(resource).await
        }

        async fn release(&mut self, lease: Lease) -> Release {
            self.inner.release(lease).await
        }
    }

    pub(crate) fn definition() -> &'static Definition {
        let sound = find("single-node").unwrap();
        Box::leak(Box::new(Definition {
            name: "leaky",
            build: |env, servers, settings| {
                let inner = (find("single-node").unwrap().build)(env.clone(), servers, settings);
                Box::new(Leaky { env, inner })
            },
            ..*sound
        }))
    }
}

#[test]
fn a_planted_leak_of_nondeterminism_is_caught() {
    use leaky::{LEAK, Leak};
    let client = leaky::definition();
    let scenario = Rc::new(Scenario { cycles: 4, ..Scenario::default() });
    let digest = || digest(&history(&drawn_of(client, "none", 3, scenario.clone())));
    for leak in [Leak::WallClock, Leak::HashOrder, Leak::AmbientRandomness] {
        LEAK.set(leak);
        let first = digest();
        assert!((0..5).any(|_| digest() != first), "{leak:?} leaks and nobody notices");
    }
}

/// A lock whose scripts try to leave data in the Lua state, which the runs of a thread share.
mod scripted {
    use fencepost_clients::{
        Acquisition, Algorithm, Definition, Env, Lease, Lock, Release, Reply, Script, Session, find,
    };
    use std::time::Duration;

    static COUNT: Script = Script::new(
        "local sum = 0 local function count(t) pcall(function() rawset(t, 'n', (rawget(t, 'n') or \
         0) + 1) end) pcall(function() t.n = (t.n or 0) + 1 end) sum = sum + (rawget(t, 'n') or \
         0) end local _, shown = pairs(redis) count(shown) _, shown = pairs(_G) count(shown) for \
         _, name in ipairs({'string', 'table', 'math', 'cjson', 'bit', 'cmsgpack', \
         'coroutine'}) do _, shown = pairs(_G[name]) count(shown) end count(KEYS) \
         count(getmetatable('')) count(getmetatable('').__index) count(getmetatable(_G)) return \
         sum",
    );

    static LOOK: Script = Script::new(
        "local t, weak, sum = {}, setmetatable({}, {__mode = 'kv'}), 0 for i = 1, 50 do t[{}] = i \
         weak[i] = {} end for _, i in pairs(t) do sum = (sum * 7 + i) % 997 end for _ in \
         pairs(weak) do sum = sum + 1 end return sum + #tostring(t) + collectgarbage('count')",
    );

    struct Scripted {
        env: Env,
        redis: Session,
        inner: Box<dyn Lock>,
    }

    impl Algorithm for Scripted {
        async fn acquire(&mut self, resource: &str) -> Acquisition {
            for script in [&COUNT, &LOOK] {
                let answer = script.call(&mut self.redis, &[resource.as_bytes()], &[]).await;
                if let Ok(Reply::Integer(sum)) = answer {
                    self.env.sleep(Duration::from_micros(sum.unsigned_abs())).await;
                }
            }
            self.inner.acquire(resource).await
        }

        async fn release(&mut self, lease: Lease) -> Release {
            self.inner.release(lease).await
        }
    }

    pub(crate) fn definition() -> &'static Definition {
        Box::leak(Box::new(Definition {
            name: "scripted",
            build: |env, servers, settings| {
                let inner = (find("single-node").unwrap().build)(env.clone(), servers, settings);
                let redis = Session::primary(&env, servers, settings);
                Box::new(Scripted { env, redis, inner })
            },
            ..*find("single-node").unwrap()
        }))
    }
}

fn apart_and_together(prepare: fn()) -> [Vec<String>; 2] {
    let client = scripted::definition();
    let on_a_thread = move |seeds: std::ops::Range<u64>| {
        let run = move |seed| {
            let scenario = Scenario { cycles: 4, ..Scenario::default() };
            digest(&history(&drawn_of(client, "none", seed, scenario)))
        };
        let runs = move || {
            prepare();
            seeds.map(run).collect::<Vec<_>>()
        };
        std::thread::spawn(runs).join().unwrap()
    };
    [(0..4).flat_map(|seed| on_a_thread(seed..seed + 1)).collect(), on_a_thread(0..4)]
}

#[test]
fn what_scripts_leave_on_a_thread_does_not_reach_the_next_run() {
    let [apart, together] = apart_and_together(|| {});
    assert_eq!(apart, together, "a run depends on those before it on its thread");
}

#[test]
fn a_planted_leak_between_scripts_is_caught() {
    let [apart, together] = apart_and_together(fake_redis::planted_bugs::allow_shared_tables);
    assert_eq!(apart[0], together[0], "nothing ran before the first run");
    assert_ne!(apart[1..], together[1..], "scripts leak and nobody notices");
}

/// `ci/digests.sh` checks the same digests in another build profile.
const PINNED: &str = include_str!("../pinned-digests.txt");

#[test]
fn the_digests_of_seed_7_are_the_pinned_ones_in_this_build_profile() {
    let report = fencepost(&["--seed", "7", "--fault", "failover", "--format", "json"]).json();
    let line = |run: &serde_json::Value| {
        format!("{} {}\n", run["client"].as_str().unwrap(), run["history_digest"].as_str().unwrap())
    };
    let digests: String = report["runs"].as_array().unwrap().iter().map(line).collect();
    assert_eq!(digests, PINNED);
}
