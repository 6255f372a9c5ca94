use crate::answer::{fencepost, fencepost_in, without_measured};
use crate::refusal::{is_refused, refuses};
use fencepost_testing::skip;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) fn redis() -> Option<PathBuf> {
    let path = std::env::var("PATH").unwrap();
    let found = path.split(':').map(|folder| Path::new(folder).join("redis-server"));
    let found = found.filter(|path| path.is_file()).find(|path| {
        let said = Command::new(path).arg("--version").output();
        said.is_ok_and(|said| said.stdout.starts_with(b"Redis server v="))
    });
    if found.is_none() {
        skip("FENCEPOST_REAL_REDIS", "redis-server");
    }
    found
}

pub(crate) fn broken(run: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = run["violations"].as_array().unwrap().iter();
    all.map(|one| (text(&one["kind"]), text(&one["cause"]))).collect()
}

pub(crate) fn run_of(report: &Value) -> &Value {
    &report["runs"][0]
}

/// Runs the same seed with real and with fake servers. Returns the run with real servers.
fn agrees(words: &[&str], servers: &str) -> Value {
    let asked = |servers: &str| fencepost(&[words, &["--servers", servers]].concat()).json();
    let (report, fake) = (asked(servers), asked("fake"));
    let (run, fake) = (run_of(&report), run_of(&fake));
    assert_eq!(run["plan"], fake["plan"], "{words:?}: the same plan");
    assert_eq!(run["not_reproducible"], Value::Null, "{words:?}");
    assert_eq!(run["failure"], Value::Null, "{words:?}");
    assert_eq!((&run["verdict"], broken(run)), (&fake["verdict"], broken(fake)), "{words:?}");
    run.clone()
}

/// A lock, a fault family and a seed.
type Pair = (&'static str, &'static str, &'static str);

fn redis_agrees(pairs: &[Pair]) {
    let Some(redis) = redis() else { return };
    let redis = format!("redis={}", redis.display());
    for (client, fault, seed) in pairs {
        let words = ["--seed", seed, "--fault", fault, "--client", client, "--no-shrink"];
        agrees(&[&words[..], &["--format", "json"]].concat(), &redis);
    }
}

#[test]
fn the_real_server_breaks_where_the_fake_does_and_two_runs_are_equal() {
    redis_agrees(&[("single-node", "restart", "3"), ("fencing", "pause", "3")]);
}

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn real_groups_of_servers_break_where_the_simulated_ones_do() {
    redis_agrees(&[
        ("single-node", "failover", "7"),
        ("redlock", "restart", "1"),
        ("redisson", "clock-jump", "3"),
        ("watchdog", "eviction+operator", "2"),
    ]);
}

#[test]
fn a_lock_in_lua_runs_on_the_real_server_as_its_twin_in_rust_does() {
    let Some(_) = redis() else { return };
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/locks/single-node.lua");
    let run = |words: [&str; 2]| {
        let more = ["--seed", "3", "--fault", "restart", "--servers", "real", "--no-shrink"];
        let answer = fencepost(&[&words[..], &more, &["--format", "json"]].concat());
        let report = answer.json();
        let run = run_of(&report);
        assert_eq!(run["not_reproducible"], Value::Null, "{words:?}");
        (run["verdict"].clone(), run["history_digest"].clone(), broken(run))
    };
    let (verdict, digest, broken) = run(["--lock", lock.to_str().unwrap()]);
    assert_eq!(verdict, "violated");
    assert_eq!((verdict, digest, broken), run(["--client", "single-node"]));
}

#[test]
fn each_persistence_keeps_what_it_says() {
    let Some(_) = redis() else { return };
    let verdict = |persistence: &str| {
        let words = ["--seed", "3", "--fault", "restart", "--client", "single-node"];
        let more = ["--servers", "real", "--persistence", persistence, "--format", "json"];
        let answer = fencepost(&[&words[..], &more].concat());
        let report = answer.json();
        let run = run_of(&report);
        assert_eq!(run["not_reproducible"], Value::Null, "{persistence}");
        run["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(verdict("none"), "violated");
    assert_eq!(verdict("aof-always"), "valid");
    let everysec = ["--seed", "3", "--fault", "restart", "--client", "single-node"];
    let fake = fencepost(
        &[&everysec[..], &["--persistence", "aof-everysec", "--format", "json"]].concat(),
    );
    assert_eq!(verdict("aof-everysec"), run_of(&fake.json())["verdict"].as_str().unwrap());
}

#[test]
fn a_report_names_the_server_and_is_replayed_with_no_other() {
    let Some(redis) = redis() else { return };
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("redis-server");
    fs::copy(redis, &own).unwrap();
    let words = ["--seed", "3", "--fault", "restart", "--client", "single-node"];
    let asked = ["--servers", "redis=./redis-server", "--format", "json"];
    let answer = fencepost_in(folder.path(), &[&words[..], &asked].concat());
    assert_eq!(answer.status, 1, "{}", answer.stderr);
    fs::write(folder.path().join("report.json"), &answer.stdout).unwrap();
    let report = answer.json();
    let binary = &report["config"]["scenario"]["binaries"]["redis"];
    let path = binary["path"].as_str().unwrap();
    assert!(path.ends_with("/redis-server"), "{path}");
    assert_eq!(run_of(&report)["ran"]["files"][path], binary["sha256"]);
    let note = run_of(&report)["note"].as_str().unwrap();
    assert!(note.contains(binary["version"].as_str().unwrap()), "{note}");
    let replay = |more: &[&str]| {
        fencepost_in(folder.path(), &[&["replay"], more, &["report.json"]].concat())
    };
    assert_eq!(replay(&[]).status, 1, "{}", replay(&[]).stderr);
    let shrunk = fencepost_in(folder.path(), &["shrink", "report.json", "--format", "json"]).json();
    let minimal = &run_of(&shrunk)["violations"][0]["minimal_plan"]["faults"];
    assert_eq!(minimal.as_array().map(Vec::len), Some(1), "{minimal}");
    let mut bytes = fs::read(&own).unwrap();
    bytes.push(0);
    fs::write(&own, bytes).unwrap();
    is_refused(&replay(&[]), &["has changed since the report"]);
    let allowed = replay(&["--allow-changed"]);
    assert_eq!(allowed.status, 1, "{}", allowed.stderr);
    assert!(allowed.stderr.contains("the histories are not compared"), "{}", allowed.stderr);
}

#[test]
fn a_sweep_is_the_same_on_any_number_of_threads() {
    if redis().is_none() {
        return;
    }
    let sum = |jobs: &str| {
        let words = ["sweep", "--seeds", "0..4", "--fault", "restart", "--client", "single-node"];
        let more = ["--servers", "real", "--jobs", jobs, "--format", "json", "--quiet"];
        without_measured(&fencepost(&[&words[..], &more].concat()).stdout)
    };
    let one = sum("1");
    assert_eq!(one, sum("2"));
    assert!(one["cells"][0]["violated"].as_u64() > Some(0), "{one}");
}

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn the_threshold_of_a_real_server_is_that_of_the_fake() {
    let Some(redis) = redis() else { return };
    let redis = format!("redis={}", redis.display());
    let search = |servers: &str, jobs: &str| {
        let words = ["boundary", "--client", "single-node", "--fault", "pause", "--vary", "pause"];
        let range = ["--between", "1s..13s", "--parts", "2", "--step", "3s", "--seeds", "0..5"];
        let more = ["--cycles", "6", "--servers", servers, "--jobs", jobs, "--format", "json"];
        fencepost(&[&words[..], &range, &more].concat())
    };
    let (real, fake) = (search(&redis, "2"), search("fake", "2"));
    assert_eq!(real.status, 1, "{}", real.stderr);
    let (report, fake) = (real.json(), fake.json());
    assert_eq!(report["found"], fake["found"], "{}", report["probes"]);
    assert!(report["found"].is_object(), "{}", report["probes"]);
    assert_eq!(report["bounds"], fake["bounds"]);
    let said = report["explanation"].as_str().unwrap();
    assert!(said.contains("real redis servers: Redis "), "{said}");
    assert_eq!(report, search(&redis, "1").json(), "on one thread");
}

#[test]
fn a_program_runs_against_the_real_server() {
    let Some(_) = redis() else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/programs/plain.c");
    let worker = folder.path().join("plain-c");
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-w", "-static", "-o"]).arg(&worker).arg(source);
    if !compiler.status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: no C compiler");
        return;
    }
    for (deployment, fault) in [("single", "pause"), ("sentinel", "failover")] {
        let words = ["--seed", "3", "--fault", fault, "--cycles", "4", "--program", "./plain-c"];
        let more = ["--deployment", deployment, "--servers", "real", "--format", "json"];
        let answer = fencepost_in(folder.path(), &[&words[..], &more].concat());
        let report = answer.json();
        let run = run_of(&report);
        assert_eq!(run["not_reproducible"], Value::Null, "{deployment}");
        assert_eq!(run["failure"], Value::Null, "{deployment}");
        assert!(run["acquisitions"].as_u64() > Some(3), "{deployment}: {}", run["acquisitions"]);
    }
}

fn pretender(folder: &Path, name: &str, does: &str) {
    let says = "#!/bin/sh\n[ \"$1\" = --version ] && echo 'Redis server v=9.9.9 sha=0' && exit\n";
    fs::write(folder.join(name), format!("{says}{does}\n")).unwrap();
    fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

fn elf(folder: &Path, name: &str, (class, machine): (u8, u8)) {
    let mut head = [0; 64];
    head[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', class, 1, 1]);
    (head[16], head[18]) = (2, machine);
    fs::write(folder.join(name), head).unwrap();
    fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn what_cannot_serve_is_an_error_of_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    pretender(at, "dies", "echo 'Fatal: no licence' >&2; exit 3");
    pretender(at, "sleeps", "sleep 100000");
    pretender(at, "prints", "while :; do echo 0123456789; done");
    elf(at, "arm", (2, 0xb7));
    elf(at, "i386", (1, 3));
    fs::write(at.join("plain"), "").unwrap();
    for (servers, expected) in [
        ("reel", "expected fake, real, or NAME=PATH, where NAME is redis, memcached,"),
        ("redis=", "expected fake, real, or NAME=PATH"),
        ("chubby=/bin/ls", "cannot run a real 'chubby' server: expected redis, memcached,"),
        ("etcd=/bin/ls", "expected an etcd server"),
        ("memcached=/bin/ls", "expected a memcached server"),
        ("mysql=/bin/ls", "expected a MariaDB server"),
        ("postgresql=/bin/ls", "expected a PostgreSQL server"),
        ("zookeeper=./nowhere.jar", "program './nowhere.jar' not found"),
        ("redis=/nowhere", "program '/nowhere' not found"),
        ("redis=./plain", "is not executable"),
        ("redis=/bin/ls", "expected a Redis, Valkey or KeyDB server"),
        ("redis=./dies", "exited with status 3 before it was ready: Fatal: no licence"),
        ("redis=./sleeps", "did not listen on port 6379"),
        ("redis=./prints", "before it was ready"),
        ("redis=./arm", "a program for another processor"),
        ("redis=./i386", "a 32-bit program"),
    ] {
        let answer = fencepost_in(at, &["--client", "single-node", "--servers", servers]);
        is_refused(&answer, &[expected]);
    }
}

#[test]
fn a_lock_whose_servers_are_not_real_ones_is_refused() {
    let Some(redis) = redis() else { return };
    let redis = format!("redis={}", redis.display());
    for (servers, client, expected) in [
        (
            redis.as_str(),
            "pg-advisory",
            "uses postgresql, but --servers names no real server for postgresql",
        ),
        ("real", "chubby", "cannot run a real 'chubby' server"),
    ] {
        refuses(&["--client", client, "--servers", servers], &[expected]);
    }
}

struct Comparison {
    coordinator: &'static str,
    variable: &'static str,
    program: &'static str,
    runs: &'static [Pair],
}

const LIGHT: &[Comparison] = &[
    Comparison {
        coordinator: "memcached",
        variable: "FENCEPOST_REAL_MEMCACHED",
        program: "/usr/bin/memcached",
        runs: &[("memcached-add", "pause", "3")],
    },
    Comparison {
        coordinator: "mysql",
        variable: "FENCEPOST_REAL_MYSQL",
        program: "/usr/sbin/mariadbd",
        runs: &[("mysql-get-lock", "restart", "1")],
    },
];

const HEAVY: &[Comparison] = &[
    Comparison {
        coordinator: "postgresql",
        variable: "FENCEPOST_REAL_POSTGRESQL",
        program: "/usr/lib/postgresql/15/bin/postgres",
        runs: &[("pg-advisory", "restart", "1"), ("shedlock-db-time", "pause", "2")],
    },
    Comparison {
        coordinator: "etcd",
        variable: "FENCEPOST_REAL_ETCD",
        program: "/usr/bin/etcd",
        runs: &[("etcd-mutex", "pause", "3")],
    },
    Comparison {
        coordinator: "zookeeper",
        variable: "FENCEPOST_REAL_ZOOKEEPER",
        program: "/usr/share/java/zookeeper.jar",
        runs: &[("curator-mutex", "pause", "3")],
    },
];

const SHORT: &[&str] = &["--cycles", "4", "--set", "ensemble=1", "--no-shrink", "--format", "json"];

fn coordinators_agree(comparisons: &[Comparison]) {
    for Comparison { coordinator, variable, program, runs } in comparisons {
        if !Path::new(program).exists() {
            skip(variable, coordinator);
            continue;
        }
        let servers = format!("{coordinator}={program}");
        for (client, fault, seed) in *runs {
            let words = ["--seed", seed, "--fault", fault, "--client", client];
            let run = agrees(&[&words[..], SHORT].concat(), &servers);
            assert!(run["acquisitions"].as_u64() > Some(3), "{words:?}: {}", run["acquisitions"]);
        }
    }
}

#[test]
fn real_servers_of_other_coordinators_serve_their_locks_and_two_runs_are_equal() {
    coordinators_agree(LIGHT);
}

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn slow_real_servers_serve_their_locks_and_two_runs_are_equal() {
    coordinators_agree(HEAVY);
}

#[test]
fn violations_of_simulated_servers_are_those_of_real_ones() {
    let memcached = "/usr/bin/memcached";
    if !Path::new(memcached).exists() {
        skip("FENCEPOST_REAL_MEMCACHED", "memcached");
        return;
    }
    let Some(redis) = redis() else { return };
    let servers = [format!("redis={}", redis.display()), format!("memcached={memcached}")];
    let pages = "overlap-by-pause,random-tokens,memcached-flushed,memcached-eviction";
    let words = ["reality", "--page", pages, "--format", "json", "--servers"];
    let answer = fencepost(&[&words[..], &[&servers[0], "--servers", &servers[1]]].concat());
    let reality = answer.json();
    let counts = &reality["counts"];
    assert_eq!(counts["same"], 4, "{}", answer.stdout);
    assert_eq!(answer.status, 0, "{counts}");
    for row in reality["rows"].as_array().unwrap() {
        for side in ["simulated", "real"] {
            let events = row["timelines"][side].as_array().unwrap();
            assert!(!events.is_empty(), "{}: {side}", row["page"]);
        }
    }
}

const FAILING_DISK: &[&str] = &[
    "--seed", "3", "--fault", "pause", "--client", "single-node", "--no-shrink", "--set",
    "persistence=aof-everysec", "--set", "sync-fails=5s..30s", "--set", "sync-error=enospc",
];

/// Returns the report and checks its cause.
fn disk_failure(servers: &str) -> Value {
    let rest = ["--servers", servers, "--format", "json"];
    let report = fencepost(&[FAILING_DISK, &rest].concat()).json();
    assert_eq!(broken(run_of(&report)), [("stuck".to_owned(), "disk-failure".to_owned())]);
    report
}

#[test]
fn a_disk_that_does_not_sync_is_the_cause() {
    let report = disk_failure("fake");
    assert_eq!(report["config"]["scenario"]["sync-fails"], "5s..30s");
    let text = fencepost(FAILING_DISK).stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts = [
        "A server's disk failed to sync",
        "redis-1 refuses every write from now on, because its disk failed",
        "No space left on device",
        "sync-fails=5s..30s",
    ];
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn a_disk_that_does_not_sync_is_the_cause_on_a_real_server() {
    let Some(redis) = redis() else { return };
    let report = disk_failure(&format!("redis={}", redis.display()));
    assert_eq!(run_of(&report)["not_reproducible"], Value::Null);
}
