#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod coordinators;
mod entries;
mod leases;
mod locks;
mod real_servers;
mod workers;

use fencepost::hosts::programs::Program;
use fencepost::run::verdicts::FinishedRun;
use fencepost::setup::scenario::Strategy;
use fencepost::{Engine, RunOutcome, RunSpec, Scenario};
use fencepost_faults::{Node, Seed};
use fencepost_reports::{RunFacts, Verdict, What};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use workers::{plain_c, program};

const FAULTS: &[&str] = &[
    "none", "pause", "failover", "restart", "clock-jump", "partition", "lost-reply", "client-crash",
];

/// `true` if the tests run all faults, seeds and cycles, as `ci/nightly.sh` does.
fn is_thorough() -> bool {
    std::env::var_os("FENCEPOST_PROGRAMS").is_some_and(|which| which == "all")
}

/// The shell script starts a process for each command, and tracing a process is slow.
fn cycles_of(worker: &str) -> u32 {
    if worker == "redis-cli" && !is_thorough() { 2 } else { 6 }
}

fn faults_of(worker: &str) -> &'static [&'static str] {
    match worker {
        _ if is_thorough() => FAULTS,
        "cc -static" => FAULTS,
        // Starting the Java virtual machine takes most of a run.
        "javac" => &["none", "restart"],
        _ => &["none", "pause", "restart"],
    }
}

fn script(folder: &Path, text: &str) -> Program {
    let path: PathBuf = folder.join("worker.sh");
    std::fs::write(&path, text).unwrap();
    program(&format!("script=/bin/sh {}", path.display()))
}

fn spec(program: &Program, fault: &str, seed: u64, cycles: u32) -> RunSpec {
    let programs = vec![program.clone()];
    let scenario = Rc::new(Scenario { programs, cycles, ..Scenario::default() });
    RunSpec::draw(Seed(seed), program.definition(), &fault.parse().unwrap(), scenario)
}

fn run(spec: &RunSpec) -> (RunOutcome, RunFacts) {
    let outcome = spec.run(Engine::Fast).unwrap();
    let facts = FinishedRun { spec, outcome: &outcome }.facts();
    (outcome, facts)
}

/// Makes the run up to five times, until one has no preemptions, which are not reproducible.
fn undisturbed(spec: &RunSpec) -> (RunOutcome, RunFacts) {
    let mut ran = (0..5).map(|_| run(spec));
    let is_undisturbed = |facts: &RunFacts| facts.programs.iter().all(|life| life.preempted == 0);
    ran.find(|(_, facts)| is_undisturbed(facts)).expect("a run without interruption")
}

fn repeats_itself(
    (name, make): (&str, fn(&Path) -> Option<Program>),
    files: &[&str],
    versions: &[&str],
) {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = make(folder.path()) else {
        eprintln!("skipped: {name} is not installed");
        return;
    };
    for fault in faults_of(name) {
        let spec = spec(&program, fault, 3, cycles_of(name));
        let ((first, facts), (second, again)) = (undisturbed(&spec), undisturbed(&spec));
        assert_eq!(facts.history_digest, again.history_digest, "{name} under {fault}");
        let same = first.programs.iter().zip(&second.programs).all(|(a, b)| a.calls == b.calls);
        let lives = || format!("{name} under {fault}: {:?}, {:?}", facts.programs, again.programs);
        assert!(same && first.programs.len() == second.programs.len(), "{}", lives());
        assert_eq!(facts.ran, again.ran, "{name} under {fault}");
        let is_recorded = |file: &str| facts.ran.files.keys().any(|ran| ran.ends_with(file));
        assert!(files.iter().all(|file| is_recorded(file)), "{name}: {:?}", facts.ran);
        let has_version =
            |name: &&str| facts.ran.versions.keys().any(|told| told.starts_with(*name));
        assert!(versions.iter().all(has_version), "{name}: {:?}", facts.ran.versions);
        assert!(facts.acquisitions >= 6, "{name} under {fault}: {:?}", facts.programs);
        if *fault == "none" {
            assert_eq!(facts.verdict, Verdict::Valid, "{:?}", facts.programs);
            assert!(facts.programs.iter().all(|life| !life.failed), "{:?}", facts.programs);
        }
    }
}

#[test]
fn static_c_repeats_itself_under_faults() {
    repeats_itself(("cc -static", plain_c), &["/plain-c"], &[]);
}

#[test]
fn rust_repeats_itself_under_faults() {
    repeats_itself(("rustc", workers::plain_rust), &["/plain-rust"], &[]);
}

#[test]
fn go_with_redigo_repeats_itself_under_faults() {
    repeats_itself(("go with redigo", workers::redigo), &["/redigo"], &["go"]);
}

#[test]
fn java_repeats_itself_under_faults() {
    repeats_itself(("javac", workers::plain_java), &["/Plain.class"], &["java"]);
}

#[test]
fn redis_py_repeats_itself_under_faults() {
    repeats_itself(("redis-py", workers::redis_py), &["/redis_py.py"], &["python", "redis"]);
}

#[test]
fn asyncio_repeats_itself_under_faults() {
    let versions = &["python", "redis"];
    repeats_itself(("redis-py", workers::asyncio), &["/redis_py_asyncio.py"], versions);
}

#[test]
fn python_redis_lock_repeats_itself_under_faults() {
    let versions = &["python", "python-redis-lock"];
    let files = &["/python_redis_lock.py"];
    repeats_itself(("python-redis-lock", workers::python_redis_lock), files, versions);
}

#[test]
fn redlock_py_repeats_itself_under_faults() {
    let versions = &["python", "redlock-py"];
    repeats_itself(("redlock-py", workers::redlock_py), &["/redlock_py.py"], versions);
}

#[test]
fn dramatiq_repeats_itself_under_faults() {
    let versions = &["python", "dramatiq"];
    repeats_itself(("dramatiq", workers::dramatiq), &["/dramatiq_mutex.py"], versions);
}

#[test]
fn ruby_repeats_itself_under_faults() {
    repeats_itself(("redis-rb", workers::redis_rb), &["/redis_rb.rb"], &["ruby"]);
}

#[test]
fn pottery_repeats_itself_under_faults() {
    let versions = &["python", "pottery"];
    repeats_itself(("pottery", workers::pottery), &["/pottery_redlock.py"], versions);
}

#[test]
fn ioredis_repeats_itself_under_faults() {
    repeats_itself(("ioredis", workers::ioredis), &["/ioredis.js"], &["node", "ioredis"]);
}

#[test]
fn node_redlock_4_repeats_itself_under_faults() {
    repeats_itself(("redlock4", workers::redlock_4), &["/redlock4.js"], &["node", "redlock"]);
}

#[test]
fn node_redlock_5_repeats_itself_under_faults() {
    repeats_itself(("redlock5", workers::redlock_5), &["/redlock5.js"], &["node", "redlock"]);
}

#[test]
fn redis_semaphore_repeats_itself_under_faults() {
    let versions = &["node", "redis-semaphore"];
    let name = "redis-semaphore";
    repeats_itself((name, workers::redis_semaphore), &["/redis_semaphore.js"], versions);
}

#[test]
fn a_shell_script_with_redis_cli_repeats_itself_under_faults() {
    repeats_itself(("redis-cli", workers::redis_cli), &["/redis_cli.sh", "/redis-cli"], &[]);
}

fn endings_of(word: &str) -> Vec<&'static str> {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"exec 0<>/dev/tcp/judge/9001
        say() {
            printf '*%d\r\n' $# >&0
            for word; do printf '$%d\r\n%s\r\n' ${#word} "$word" >&0; done
            read -r answer
        }
        say ACQUIRING orders; say $WORD orders
        say ACQUIRING orders; say ACQUIRED orders; say RELEASING orders; say $WORD orders
        say RELEASED orders"#;
    let path = folder.path().join("worker.sh");
    std::fs::write(&path, text).unwrap();
    let mut worker = program(&format!("script=/bin/bash {}", path.display()));
    worker.environment.insert("WORD".to_owned(), word.to_owned());
    let (outcome, facts) = run(&spec(&worker, "none", 1, 2));
    let of_first = |event: &&fencepost_reports::Event| event.node == Node::Client(1);
    let events = outcome.history.events.iter().filter(of_first);
    let endings: Vec<_> = events
        .filter_map(|event| match &event.what {
            What::Ok { .. } => Some("ok"),
            What::Fail { .. } => Some("fail"),
            What::Info { .. } => Some("info"),
            _ => None,
        })
        .collect();
    assert!(!endings.is_empty(), "{:?}", facts.programs);
    endings
}

#[test]
fn a_worker_may_say_that_it_does_not_know_what_became_of_a_call() {
    if !Path::new("/bin/bash").exists() {
        eprintln!("skipped: no bash");
        return;
    }
    assert_eq!(endings_of("UNKNOWN"), ["info", "ok", "info"]);
    assert_eq!(endings_of("REFUSED"), ["fail", "ok", "ok"]);
    assert_eq!(endings_of("LOST"), ["info", "ok", "fail"]);
}

#[test]
fn faults_are_aimed_at_the_commands_of_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = plain_c(folder.path()) else {
        eprintln!("skipped: cc -static is not installed");
        return;
    };
    for family in ["lost-reply", "lost-request"] {
        let moved = moved_to_commands(&program, family);
        assert!(moved >= 5, "{family}: {moved}");
    }
}

fn moved_to_commands(program: &Program, family: &str) -> u32 {
    let mut moved = 0;
    for seed in 0..8 {
        let drawn = |strategy| {
            let uniform = spec(program, family, seed, 8);
            let scenario = Scenario { strategy, ..(*uniform.scenario).clone() };
            RunSpec::draw(Seed(seed), uniform.client, &uniform.families, Rc::new(scenario))
        };
        let (uniform, aimed) = (drawn(Strategy::Uniform).plan, drawn(Strategy::Aimed));
        let was_drawn = |at| uniform.faults.iter().any(|timed| timed.at_us == at);
        let outcome = aimed.run(Engine::Fast).unwrap();
        for timed in aimed.plan.faults.iter().filter(|timed| !was_drawn(timed.at_us)) {
            moved += 1;
            let began = outcome.history.events.iter().find(
                |event| matches!(event.what, What::FaultBegan { fault, .. } if fault == timed.id),
            );
            let began_us = began.map(|event| event.time_us);
            assert_eq!(began_us, Some(timed.at_us), "{family}, seed {seed}");
        }
    }
    moved
}

#[test]
fn whoever_sends_no_more_is_answered_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"import os, socket, sys
from urllib.parse import urlparse
def ask(place, text):
    url = urlparse(os.environ["FENCEPOST_" + place])
    with socket.create_connection((url.hostname, url.port)) as asked:
        asked.sendall(text.encode())
        asked.shutdown(socket.SHUT_WR)
        said = b""
        while more := asked.recv(100): said += more
        print(place, said.decode().replace("\r\n", " "))
ask("REDIS", "SET other 1\r\nINCR other\r\nGET other\r\n")
ask("STORAGE", "*2\r\n$3\r\nGET\r\n$6\r\norders\r\n")
ask("JUDGE", "*2\r\n$9\r\nACQUIRING\r\n$6\r\norders\r\n*2\r\n$4\r\nWORK\r\n$3\r\n300\r\n")
"#;
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: python3 is not installed");
        return;
    }
    let path = folder.path().join("worker.py");
    std::fs::write(&path, text).unwrap();
    let worker = program(&format!("script=python3 {}", path.display()));
    let (_, facts) = run(&spec(&worker, "none", 1, 2));
    let life = &facts.programs[0];
    let said: Vec<&str> = life.output.iter().map(|line| line.text.trim_end()).collect();
    let expected = ["REDIS +OK :2 $1 2", "STORAGE $1 0", "JUDGE +OK +OK"];
    assert_eq!(said, expected, "{life:?}");
    assert!(life.ended_us.unwrap().0 >= 300_000, "the judge answers once the work is done");
}

#[test]
fn both_engines_tell_the_same_history() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = plain_c(folder.path()) else {
        eprintln!("skipped: no C compiler");
        return;
    };
    let (cycles, more): (u32, &[&str]) = if is_thorough() { (6, &["pause"]) } else { (3, &[]) };
    for fault in ["none", "failover", "client-crash"].iter().chain(more) {
        let spec = spec(&program, fault, 5, cycles);
        let (fast, turmoil) = (spec.run(Engine::Fast).unwrap(), spec.run(Engine::Turmoil).unwrap());
        assert_eq!(fast.history, turmoil.history, "{fault}");
    }
}

#[test]
fn a_worker_that_never_talks_to_the_judge_makes_the_run_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let (_, facts) = run(&spec(&script(folder.path(), "echo hello; sleep 2"), "none", 1, 2));
    let Verdict::Unknown { .. } = &facts.verdict else { panic!("{:?}", facts.verdict) };
    let life = &facts.programs[0];
    assert_eq!(life.output[0].text, "hello");
    assert_eq!(life.ending.as_deref(), Some("exited with status 0"));
    assert!(life.failed && life.ended_us.unwrap().0 >= 2_000_000);
}

#[test]
fn a_machine_keeps_its_id_when_its_program_starts_again() {
    let folder = tempfile::tempdir().unwrap();
    let worker = script(folder.path(), "cat /etc/machine-id; sleep 100");
    let (_, facts) = run(&spec(&worker, "client-crash", 3, 2));
    let lives = facts.programs.iter();
    let ids: BTreeSet<(String, &str)> = lives
        .clone()
        .map(|life| (life.process.to_string(), life.output[0].text.as_str()))
        .collect();
    let different: BTreeSet<&str> = ids.iter().map(|(_, id)| *id).collect();
    let nodes: BTreeSet<String> = lives.map(|life| life.process.to_string()).collect();
    assert!(facts.programs.len() > nodes.len(), "no program started again: {:?}", facts.programs);
    assert_eq!((ids.len(), different.len()), (nodes.len(), nodes.len()), "{ids:?}");
}

#[test]
fn a_worker_that_fails_is_told_in_its_own_words() {
    let folder = tempfile::tempdir().unwrap();
    let worker = script(folder.path(), "echo it went wrong >&2; exit 3");
    let (_, facts) = run(&spec(&worker, "none", 1, 2));
    let life = &facts.programs[0];
    assert_eq!(life.ending.as_deref(), Some("exited with status 3"));
    assert!(life.output[0].is_error && life.output[0].text == "it went wrong");
    assert!(matches!(facts.verdict, Verdict::Unknown { .. }));
}

#[test]
fn a_long_pause_in_the_middle_of_a_hold_loses_an_update() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = plain_c(folder.path()) else {
        eprintln!("skipped: no C compiler");
        return;
    };
    let found = (0..12).any(|seed| {
        let (_, facts) = run(&spec(&program, "pause", seed, 12));
        facts.verdict == Verdict::Violated
    });
    assert!(found, "a lock without fencing is broken by pauses within twelve seeds");
}

#[test]
fn a_run_that_is_killed_leaves_no_process_and_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let (temporary, started) = (folder.path().join("temporary"), folder.path().join("started"));
    std::fs::create_dir(&temporary).unwrap();
    let text = format!(": > {}; while :; do :; done", started.display());
    let path = folder.path().join("busy-9731.sh");
    std::fs::write(&path, text).unwrap();
    let command = format!("/bin/sh {}", path.display());
    let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(["run", "--fault", "none", "--program", &command])
        .env("TMPDIR", &temporary)
        .spawn()
        .unwrap();
    let is_running = || {
        std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            line.starts_with(b"/bin/sh\0") && line.ends_with(b"/busy-9731.sh\0")
        })
    };
    while !started.exists() {
        std::thread::yield_now();
    }
    assert!(is_running());
    run.kill().unwrap();
    run.wait().unwrap();
    while is_running() {
        std::thread::yield_now();
    }
    let left: Vec<_> = std::fs::read_dir(&temporary).unwrap().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}
